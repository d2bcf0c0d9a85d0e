//! An archive of images that passes once: its layers are read as they pass, and given to images at its end.

use std::collections::HashMap;
use std::io::BufReader;
use std::sync::Arc;

use crate::archive::{Fault, Kind, Sniffed, Tar, TarKind};
use crate::error::Error;
use crate::limits::{Metered, read_capped};
use crate::locator::MemberName;
use crate::source::ImageStream;
use crate::source::oci::{self, Blob, Passing};

use super::layer::{self, LayerScan, Stored};
use super::leaf::Means;
use super::progress::Counted;

/// Bytes moved at a time.
const CHUNK: usize = 256 << 10;

/// The images of a stream, each with its layers.
pub(super) type Streamed = Vec<(oci::Image, Vec<Arc<LayerScan>>)>;

/// Reads a stream to its end.
///
/// # Errors
///
/// What is no archive of images, or holds none that was asked for.
pub(super) fn read(stream: ImageStream, means: &Means<'_>) -> Result<Streamed, Error> {
    let (at, choice) = (stream.at.clone(), stream.choice.clone());
    let mut passing = Passing::new();
    let mut layers = HashMap::new();
    if let Err(fault) = walk(stream, &mut passing, &mut layers, means) {
        passing.broke(fault);
    }
    let images = passing.images(&at, &choice, means.budget.limits())?;
    let images = images.into_iter().map(|image| {
        let scans = image.layers.iter().map(|layer| match &layer.blob {
            Blob::Passed(name) => match layers.get(name) {
                Some(scan) => Arc::clone(scan),
                None => Arc::new(layer::absent(not_a_layer(name), means)),
            },
            other => {
                let open = || other.open();
                let stored = Stored::Again(&open);
                Arc::new(layer::scan(stored, layer.size, means))
            }
        });
        let scans = scans.collect();
        (image, scans)
    });
    Ok(images.collect())
}

fn not_a_layer(name: &MemberName) -> Fault {
    Fault::new(
        crate::ProblemKind::NotAnArchive,
        format!(
            "`{name}` is named as a layer, and is neither a tar archive nor a gzip or zstd stream"
        ),
    )
}

fn walk(
    stream: ImageStream,
    passing: &mut Passing,
    layers: &mut HashMap<MemberName, Arc<LayerScan>>,
    means: &Means<'_>,
) -> Result<(), Fault> {
    let fault = |error: std::io::Error| Fault::of(&error);
    // how much is packed is not known before its end
    let reader = Counted::new(stream.open()?, means.progress.as_ref());
    let reader = Metered::new(reader, &means.budget, u64::MAX);
    let mut tar = Tar::new(reader, means.budget.limits().members);
    while let Some(member) = tar.next_member()? {
        let name = MemberName::from_bytes(&member.name);
        match &member.kind {
            TarKind::Symlink(_) | TarKind::HardLink(_) => passing.link(&name, &member.kind),
            TarKind::File => {
                let body = Sniffed::new(tar.body()).map_err(fault)?;
                let kind = body.kind();
                if passing.wants(body.head(), member.size) {
                    let (bytes, _) = read_capped(body, member.size).map_err(fault)?;
                    passing.keep(&name, bytes);
                    continue;
                }
                // an empty layer begins as it ends, with zeros, or has not even these
                let zeros = body.head().iter().all(|byte| *byte == 0);
                let zeros = zeros && (member.size == 0 || member.size >= 1024);
                if matches!(kind, Some(Kind::Tar | Kind::Gzip | Kind::Zstd)) || zeros {
                    let body = BufReader::with_capacity(CHUNK, body);
                    let stored = Stored::Once(Box::new(body));
                    let scan = layer::scan(stored, Some(member.size), means);
                    passing.passed(&name, member.size);
                    layers.insert(name, Arc::new(scan));
                    if let Some(progress) = &means.progress {
                        progress.layer_done();
                    }
                }
            }
            TarKind::Dir | TarKind::Special | TarKind::Unsupported => {}
        }
    }
    // an answer that is cut behind the archive was cut all the same
    std::io::copy(&mut tar.into_inner(), &mut std::io::sink()).map_err(fault)?;
    Ok(())
}
