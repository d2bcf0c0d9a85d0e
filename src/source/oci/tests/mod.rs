//! Which images there are and which layers they have, in every form in which images are saved.

mod archives;
mod hostile;
mod layouts;

use std::path::Path;

use super::fixture::{Files, Image as Built, digest};
use super::*;
use crate::archive::{Fault, Tar, TarKind};
use crate::limits::read_capped;
use crate::{MemberName, ProblemKind};

fn at() -> Locator {
    Locator::root(3, "x")
}

fn open_dir(dir: &Path, choice: &Choice) -> Result<Vec<Image>, Error> {
    open_layout(dir, &at(), choice, &Limits::default())
}

fn open_tar(files: &Files, choice: &Choice) -> Result<Vec<Image>, Error> {
    open_archive(&files.tar().into(), &at(), choice, &Limits::default())
}

/// Reads a tar archive as the inventory reads a stream.
fn open_stream(bytes: &[u8], choice: &Choice) -> Result<Vec<Image>, Error> {
    let mut passing = Passing::new();
    let mut tar = Tar::new(bytes, 10_000);
    let end = loop {
        let member = match tar.next_member() {
            Ok(Some(member)) => member,
            Ok(None) => break Ok(()),
            Err(fault) => break Err(fault),
        };
        let name = MemberName::from_bytes(&member.name);
        if member.kind != TarKind::File {
            passing.link(&name, &member.kind);
            continue;
        }
        let body = match read_capped(tar.body(), 1 << 20) {
            Ok((body, _)) => body,
            Err(error) => break Err(Fault::of(&error)),
        };
        if passing.wants(&body[..body.len().min(512)], member.size) {
            passing.keep(&name, body);
        } else {
            passing.passed(&name, member.size);
        }
    };
    if let Err(fault) = end {
        passing.broke(fault);
    }
    passing.images(&at(), choice, &Limits::default())
}

fn everything() -> Choice {
    Choice::default()
}

fn called(name: &str) -> Choice {
    Choice {
        name: Some(name.to_owned()),
        ..Choice::default()
    }
}

fn on(platform: &str) -> Choice {
    Choice {
        platform: Some(platform.to_owned()),
        ..Choice::default()
    }
}

/// An image as its names, its platform and the DiffIDs of its layers.
type Seen = (Vec<String>, Option<String>, Vec<String>);

fn seen(images: &[Image]) -> Vec<Seen> {
    let seen = images.iter().map(|image| {
        let layers = image
            .layers
            .iter()
            .map(|layer| layer.diff_id.clone().unwrap_or_default());
        (
            image.names.clone(),
            image.platform.clone(),
            layers.collect(),
        )
    });
    seen.collect()
}

fn expected(names: &[&str], platform: &str, image: &Built) -> Seen {
    (
        names.iter().map(|name| (*name).to_owned()).collect(),
        Some(platform.to_owned()),
        image.layers.iter().map(|layer| digest(layer)).collect(),
    )
}

/// The bytes of a layer that can be read.
fn bytes_of(layer: &ImageLayer) -> Vec<u8> {
    read_capped(layer.blob.open().unwrap(), 1 << 20).unwrap().0
}

fn kinds(image: &Image) -> Vec<ProblemKind> {
    image.problems.iter().map(|problem| problem.kind).collect()
}
