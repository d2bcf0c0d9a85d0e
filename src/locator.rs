//! The full nested address of a thing: `app.whl › lib/a.so @0x498c70`.
//!
//! Names inside archives are bytes, never paths of this machine; they are shown losslessly.

use std::fmt::{self, Write as _};

use serde::{Serialize, Serializer};

/// The name of an archive member, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberName {
    /// As shown: UTF-8 as it is, every other byte as `\xNN`, a backslash before such an escape doubled.
    shown: String,
    /// The raw bytes, only where they are not the shown text.
    raw: Option<Vec<u8>>,
}

impl MemberName {
    /// A name from the bytes that the archive stores.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self {
                shown: text.to_owned(),
                raw: None,
            },
            Err(_) => Self {
                shown: show_bytes(bytes),
                raw: Some(bytes.to_vec()),
            },
        }
    }

    /// The raw bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.raw.as_deref().unwrap_or(self.shown.as_bytes())
    }

    /// The name as shown to people and in JSON.
    pub fn as_str(&self) -> &str {
        &self.shown
    }

    /// The last component of the name.
    pub fn file_name(&self) -> &str {
        self.shown.rsplit('/').next().unwrap_or(&self.shown)
    }
}

fn show_bytes(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        shown.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            let _infallible = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

impl From<&str> for MemberName {
    fn from(text: &str) -> Self {
        Self {
            shown: text.to_owned(),
            raw: None,
        }
    }
}

impl fmt::Display for MemberName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl Serialize for MemberName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.shown)
    }
}

/// One step further into an artifact.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// A layer of an image, counted from 1.
    Layer(u32),
    /// A member of an archive, or a file below a directory.
    Member(MemberName),
    /// A byte offset in what the steps before name.
    Offset(u64),
}

/// The full nested address of a thing. Its order is the order of reports.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locator {
    /// Place of the artifact on the command line.
    index: usize,
    /// The artifact as the user named it.
    root: String,
    steps: Vec<Step>,
}

impl Locator {
    /// The address of the `index`th artifact, which the user named `root`.
    pub fn root(index: usize, root: impl Into<String>) -> Self {
        Self {
            index,
            root: root.into(),
            steps: Vec::new(),
        }
    }

    /// The address of a member of this.
    #[must_use]
    pub fn member(&self, name: &MemberName) -> Self {
        self.step(Step::Member(name.clone()))
    }

    /// The address of a layer of this image, counted from 1.
    #[must_use]
    pub fn layer(&self, number: u32) -> Self {
        self.step(Step::Layer(number))
    }

    /// The same place below `root`, in place of the artifact that it is in.
    #[must_use]
    pub fn below(&self, root: &Self) -> Self {
        let mut at = root.clone();
        at.steps.extend(self.steps.iter().cloned());
        at
    }

    /// The address of a byte of this.
    #[must_use]
    pub fn offset(&self, offset: u64) -> Self {
        self.step(Step::Offset(offset))
    }

    fn step(&self, step: Step) -> Self {
        let mut steps = self.steps.clone();
        steps.push(step);
        Self {
            index: self.index,
            root: self.root.clone(),
            steps,
        }
    }

    /// The address below this artifact that a report shows as `shown`.
    #[must_use]
    pub fn reported(&self, shown: &str) -> Self {
        self.inside(self.without_root(shown))
    }

    /// The same of an image, whose layers are steps of their own.
    #[must_use]
    pub fn reported_in_image(&self, shown: &str) -> Self {
        let inner = self.without_root(shown);
        let rest = inner.strip_prefix("layer ").unwrap_or_default();
        let (number, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        match number.parse() {
            Ok(number) => self.layer(number).inside(trimmed(rest)),
            Err(_) => self.inside(inner),
        }
    }

    /// What a report shows behind the name of this artifact.
    fn without_root<'s>(&self, shown: &'s str) -> &'s str {
        trimmed(shown.strip_prefix(self.root.as_str()).unwrap_or(shown))
    }

    /// The address that is shown as `inner` below this.
    fn inside(&self, inner: &str) -> Self {
        let offset = |text: &str| u64::from_str_radix(text.strip_prefix("@0x")?, 16).ok();
        let (path, offset) = match inner.rsplit_once(' ') {
            Some((path, last)) if offset(last).is_some() => (path, offset(last)),
            _ if offset(inner).is_some() => ("", offset(inner)),
            _ => (inner, None),
        };
        let mut at = self.clone();
        if !path.is_empty() {
            at = at.member(&path.into());
        }
        offset.map_or(at.clone(), |offset| at.offset(offset))
    }

    /// The part below the artifact without offsets, `lib/a.so`; none for the artifact itself.
    pub fn path(&self) -> Option<String> {
        let members = self
            .steps
            .iter()
            .filter(|step| matches!(step, Step::Member(_)));
        let inner = Self {
            steps: members.cloned().collect(),
            ..self.clone()
        }
        .inner();
        (!inner.is_empty()).then_some(inner)
    }

    /// The artifact as the user named it.
    pub fn artifact(&self) -> &str {
        &self.root
    }

    /// Place of the artifact on the command line.
    pub fn artifact_index(&self) -> usize {
        self.index
    }

    /// The part below the artifact, `lib/a.so @0x10`; empty for the artifact itself.
    pub fn inner(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            let between = if matches!(step, Step::Offset(_)) {
                " "
            } else {
                " › "
            };
            if !text.is_empty() {
                text.push_str(between);
            }
            let _infallible = match step {
                Step::Layer(number) => write!(text, "layer {number}"),
                Step::Member(name) => write!(text, "{name}"),
                Step::Offset(offset) => write!(text, "@{offset:#x}"),
            };
        }
        text
    }
}

/// Without what stands between two steps.
fn trimmed(shown: &str) -> &str {
    shown.trim_start_matches([' ', '›'])
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root)?;
        let inner = self.inner();
        match (inner.is_empty(), inner.starts_with('@')) {
            (true, _) => Ok(()),
            (false, true) => write!(f, " {inner}"),
            (false, false) => write!(f, " › {inner}"),
        }
    }
}

impl Serialize for Locator {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_nesting_and_the_offset() {
        let at = Locator::root(0, "app.whl")
            .member(&"lib/a.so".into())
            .offset(0x49_8c70);
        assert_eq!(at.to_string(), "app.whl › lib/a.so @0x498c70");
        assert_eq!(
            Locator::root(0, "a.fatbin").offset(16).to_string(),
            "a.fatbin @0x10"
        );
        assert_eq!(Locator::root(0, "a.whl").to_string(), "a.whl");
    }

    #[test]
    fn a_layer_is_no_part_of_the_path() {
        let inside = Locator::root(7, "").member(&"lib/a.so".into()).offset(16);
        let at = inside.below(&Locator::root(1, "app.tar").layer(3));
        assert_eq!(at.to_string(), "app.tar › layer 3 › lib/a.so @0x10");
        assert_eq!(at.path().as_deref(), Some("lib/a.so"));
        assert_eq!(at.artifact_index(), 1);
    }

    #[test]
    fn names_that_are_not_text_stay_distinct_and_lossless() {
        let name = MemberName::from_bytes(b"a\xff\\b");
        assert_eq!(name.as_str(), "a\\xff\\\\b");
        assert_eq!(name.as_bytes(), b"a\xff\\b");
        assert_ne!(name, MemberName::from_bytes(b"a\\xff\\b"));
        assert_eq!(MemberName::from_bytes(b"d/e.so").file_name(), "e.so");
    }

    #[test]
    fn a_shown_address_can_be_read_back() {
        let root = Locator::root(3, "a b.whl");
        for at in [
            root.clone(),
            root.offset(16),
            root.member(&"lib/x y.so".into()),
            root.member(&"lib/a.so".into()).offset(0x1f),
        ] {
            assert_eq!(root.reported(&at.to_string()), at);
        }
        let nested = root
            .member(&"x.zip".into())
            .member(&"a.so".into())
            .offset(1);
        assert_eq!(
            root.reported(&nested.to_string()).to_string(),
            nested.to_string()
        );
        assert_eq!(nested.path().as_deref(), Some("x.zip › a.so"));
        assert_eq!(root.offset(1).path(), None);
    }

    #[test]
    fn layers_of_images_are_found_again_in_what_a_report_shows() {
        let root = Locator::root(2, "image");
        for at in [
            root.clone(),
            root.layer(12),
            root.layer(3).offset(16),
            root.layer(1).member(&"image/a.so".into()),
            root.layer(1).member(&"lib/a.so".into()).offset(16),
            root.member(&"blobs/sha256/0".into()),
            root.member(&"layer x".into()),
        ] {
            assert_eq!(root.reported_in_image(&at.to_string()), at);
        }
        // elsewhere it is a name as any other
        let named = root.member(&"layer 3".into());
        assert_eq!(root.reported("image › layer 3"), named);
    }

    #[test]
    fn orders_by_argument_first() {
        let b_first = Locator::root(0, "b").member(&"z".into());
        let a_second = Locator::root(1, "a").member(&"a".into());
        assert!(b_first < a_second);
    }
}
