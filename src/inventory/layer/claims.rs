//! What a manifest says of a layer, compared with what the layer is.

use crate::archive::Fault;
use crate::problem::ProblemKind;
use crate::source::oci::ImageLayer;

use super::LayerScan;

/// Where a layer is not what its manifest and its image's configuration say.
pub(in crate::inventory) fn compare(layer: &ImageLayer, scan: &LayerScan) -> Vec<Fault> {
    let Some(sums) = &scan.sums else {
        return Vec::new();
    };
    let mut wrong = Vec::new();
    if let Some(size) = layer.size.filter(|size| *size != sums.packed_len) {
        let detail = format!("it has {} bytes, where {size} are stated", sums.packed_len);
        wrong.push(Fault::new(ProblemKind::SizeMismatch, detail));
    }
    for (claim, is, of) in [
        (&layer.digest, &sums.packed, "the stored bytes"),
        (&layer.diff_id, &sums.plain, "the unpacked bytes"),
    ] {
        let Some(claim) = claim else { continue };
        match claim.split_once(':') {
            Some(("sha256", hex)) if hex == is => {}
            Some(("sha256", _)) => wrong.push(Fault::new(
                ProblemKind::ChecksumMismatch,
                format!("the digest of {of} is sha256:{is}, where {claim} is stated"),
            )),
            _ => wrong.push(Fault::new(
                ProblemKind::UnsupportedCompression,
                format!("the digest `{claim}` of {of} is of a kind that is not computed"),
            )),
        }
    }
    // what its author made so and hashed is whole
    if scan.unmarked && layer.diff_id.is_none() {
        let detail = "the archive ends without its two blocks of zeros";
        wrong.push(Fault::new(ProblemKind::Truncated, detail));
    }
    wrong
}
