//! Whether what is read back agrees with itself: who edits a saved inventory must not get a pass by it unnoticed.
//!
//! A contradiction is an error. A file that is wrong throughout is not found out here.

use crate::inventory::{Code, Library, Seen};

use super::ImageSum;
use super::write::sum_images;

/// The counts of files, against the libraries and, of an image, the files that are hidden in it.
pub(super) fn seen(seen: Seen, libraries: &[Library], hidden: usize) -> Result<(), String> {
    let listed = libraries.iter().filter(|library| library.has_device_code());
    let listed = (listed.count() + hidden) as u64;
    let Seen {
        files,
        with_device_code,
        unopened,
        left_out: _,
    } = seen;
    if with_device_code != listed {
        return Err(format!(
            "`with_device_code` is {with_device_code}, and {listed} of `libraries` have classes of device code{}",
            if hidden > 0 { " or are `hidden`" } else { "" }
        ));
    }
    if with_device_code.saturating_add(unopened) > files {
        return Err(format!(
            "of {files} files, {with_device_code} hold device code and {unopened} were not opened"
        ));
    }
    Ok(())
}

/// The classes of a library, and its sums against them: the place, and what is wrong there.
pub(super) fn library(
    library: &Library,
    fatbins: u64,
    images: &[ImageSum],
) -> Result<(), (String, String)> {
    for (index, code) in library.code.iter().enumerate() {
        class(code).map_err(|(field, what)| (format!("classes[{index}]{field}"), what))?;
    }
    let counted = library.fatbins();
    if counted != fatbins {
        let what = format!("it is {fatbins}, and the classes hold {counted}");
        return Err(("fatbins".to_owned(), what));
    }
    let counted = sum_images(library);
    let differs = |one: &ImageSum| {
        let same = images.iter().filter(|other| *other == one).count();
        same != 1
    };
    if let Some(sum) = counted.iter().find(|sum| differs(sum)) {
        let what = format!(
            "the classes hold {} images of kind {}{} with {} bytes, and no sum says so",
            sum.count,
            sum.kind,
            for_target(sum),
            sum.bytes
        );
        return Err(("images".to_owned(), what));
    }
    if let Some(sum) = images.iter().find(|sum| !counted.contains(sum)) {
        let what = format!(
            "{} images of kind {}{} are in no class",
            sum.count,
            sum.kind,
            for_target(sum)
        );
        return Err(("images".to_owned(), what));
    }
    Ok(())
}

fn for_target(sum: &ImageSum) -> String {
    let target = sum.target.as_ref();
    target.map_or_else(String::new, |target| format!(" for {target}"))
}

fn class(code: &Code) -> Result<(), (String, String)> {
    if code.class.count == 0 {
        return Err((".count".to_owned(), "it is 0".to_owned()));
    }
    if code.own == code.component.is_some() {
        let what = match &code.component {
            Some(component) => format!("it is the package's own, and of `{component}`"),
            None => "it is not the package's own, and no component says whose".to_owned(),
        };
        return Err((".own".to_owned(), what));
    }
    let images = code.class.images.iter();
    match images.enumerate().find(|(_, image)| image.per_fatbin == 0) {
        Some((image, _)) => Err((format!(".images[{image}].per_fatbin"), "it is 0".to_owned())),
        None => Ok(()),
    }
}
