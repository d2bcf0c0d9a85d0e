//! TLS: ring, the certificate authorities of the operating system, and those of a file.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use crate::{Error, ErrorKind};

/// How servers prove who they are, with the authorities of `ca_pem` beside those of the system.
///
/// # Errors
///
/// A file without a certificate that can be used.
pub(super) fn config(ca_pem: Option<&[u8]>) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let own = ca_pem.map(certificates).transpose()?.unwrap_or_default();
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| cannot_start(error.to_string()))?;
    let Ok(verifier) = verifier(own.clone(), provider) else {
        // A system without any authority, as small images are, still has servers that need none. Every one
        // that does is refused.
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(own);
        return Ok(builder.with_root_certificates(roots).with_no_client_auth());
    };
    Ok(builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth())
}

fn verifier(
    own: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
) -> Result<Verifier, rustls::Error> {
    if own.is_empty() {
        Verifier::new(provider)
    } else {
        Verifier::new_with_extra_roots(own, provider)
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let mut certificates = found.unwrap_or_default();
    let mut usable = RootCertStore::empty();
    // the file of a whole system may hold one that this library does not take
    certificates.retain(|one| usable.add(one.clone()).is_ok());
    if certificates.is_empty() {
        let message = "the file of certificate authorities holds no certificate that can be read";
        return Err(Error::new(ErrorKind::Usage, message)
            .with_hint("give a PEM file: it has lines `-----BEGIN CERTIFICATE-----`"));
    }
    Ok(certificates)
}

fn cannot_start(why: String) -> Error {
    Error::new(ErrorKind::Input, "TLS could not be set up").with_source(why)
}
