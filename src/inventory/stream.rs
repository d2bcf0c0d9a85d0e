//! An archive of images that passes once: its layers are read as they pass, and given to images at its end.

use std::collections::HashMap;
use std::io::BufReader;
use std::sync::Arc;

use crate::archive::{Fault, Kind, Sniffed, Tar, TarKind, decoder};
use crate::error::Error;
use crate::limits::{Budget, Metered, read_capped};
use crate::locator::MemberName;
use crate::problem::{Extent, Problem};
use crate::source::oci::{self, Blob, ImageStream, Passing};
use crate::tables::Tables;

use super::layer::{self, LayerScan, Stored};

/// Bytes moved at a time.
const CHUNK: usize = 256 << 10;

/// The images of a stream, each with its layers, and what concerns the stream as a whole.
pub(super) struct Streamed {
    pub(super) images: Vec<(oci::Image, Vec<Arc<LayerScan>>)>,
    pub(super) problems: Vec<Problem>,
}

/// Reads a stream to its end.
///
/// # Errors
///
/// What is no archive of images, or holds none that was asked for.
pub(super) fn read(
    stream: ImageStream,
    budget: &Budget,
    tables: &Tables,
) -> Result<Streamed, Error> {
    let ImageStream { at, reader, choice } = stream;
    let mut passing = Passing::new();
    let mut layers = HashMap::new();
    let walked = walk(reader, &mut passing, &mut layers, budget, tables);
    let problems = walked
        .err()
        .map(|fault| fault.at(at.clone(), Extent::RestOfArchive));
    let problems: Vec<Problem> = problems.into_iter().collect();
    let images = match passing.images(at, &choice, budget.limits()) {
        Ok(images) => images,
        // that it was cut says more than what it lacks for that
        Err(error) => {
            return Err(match problems.first() {
                Some(problem) => {
                    error.with_hint(format!("{}: {}", problem.detail, problem.kind.hint()))
                }
                None => error,
            });
        }
    };
    let images = images.into_iter().map(|image| {
        let scans = image.layers.iter().map(|layer| match &layer.blob {
            Blob::Passed(name) => layers.get(name).map_or_else(
                || Arc::new(layer::absent(not_a_layer(name), budget, tables)),
                Arc::clone,
            ),
            other => {
                let open = || other.open();
                Arc::new(layer::scan(
                    Stored::Again(&open),
                    layer.size,
                    budget,
                    tables,
                ))
            }
        });
        let scans = scans.collect();
        (image, scans)
    });
    Ok(Streamed {
        images: images.collect(),
        problems,
    })
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
    reader: Box<dyn std::io::Read + Send>,
    passing: &mut Passing,
    layers: &mut HashMap<MemberName, Arc<LayerScan>>,
    budget: &Budget,
    tables: &Tables,
) -> Result<(), Fault> {
    let fault = |error: std::io::Error| Fault::of(&error);
    let reader = Sniffed::new(BufReader::with_capacity(CHUNK, reader)).map_err(fault)?;
    let reader: Box<dyn std::io::Read + Send> = match reader.kind() {
        Some(Kind::Tar) | None => Box::new(reader),
        Some(kind) => {
            let packed = BufReader::with_capacity(CHUNK, reader);
            // how much is packed is not known before its end
            Box::new(Metered::new(decoder(kind, packed)?, budget, u64::MAX))
        }
    };
    let mut tar = Tar::new(reader, budget.limits().members);
    while let Some(member) = tar.next_member()? {
        let name = MemberName::from_bytes(&member.name);
        match &member.kind {
            TarKind::Symlink(target) | TarKind::HardLink(target) => passing.link(&name, target),
            TarKind::File => {
                let body = Sniffed::new(tar.body()).map_err(fault)?;
                let kind = body.kind();
                if passing.wants(body.head(), member.size) {
                    let (bytes, _) = read_capped(body, member.size).map_err(fault)?;
                    passing.keep(&name, bytes);
                    continue;
                }
                // an empty layer begins as it ends, with zeros
                let zeros = member.size >= 1024 && body.head().iter().all(|byte| *byte == 0);
                if matches!(kind, Some(Kind::Tar | Kind::Gzip | Kind::Zstd)) || zeros {
                    let body = BufReader::with_capacity(CHUNK, body);
                    let stored = Stored::Once(Box::new(body));
                    let scan = layer::scan(stored, Some(member.size), budget, tables);
                    passing.passed(&name, member.size);
                    layers.insert(name, Arc::new(scan));
                }
            }
            TarKind::Dir | TarKind::Special | TarKind::Unsupported => {}
        }
    }
    Ok(())
}
