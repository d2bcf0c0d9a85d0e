//! A policy out of a file and the files that it includes.
//!
//! Included files come first, in their order, and what includes them overrides them: a target takes the place of
//! one with its name, a level or threshold that of the same key; scopes, waivers, `expect-gpu` and `allow-jit`
//! are added. Reads nothing itself: the caller opens files.

use std::collections::BTreeSet;

use super::diag::{Diagnostics, Fault, File, Mistake, Source, quote};
use super::fields::Check;
use super::validate::{Part, SetThresholds, WRITE_TARGETS};
use super::waiver::unknown_target;
use super::yaml::{self, Span};
use super::{Policy, Thresholds, presets};
use crate::tables::Tables;

/// Files that include each other; more depth is more than a person follows.
const DEPTH: usize = 8;
/// Files of one policy.
const FILES: usize = 64;

/// A file that a policy includes.
#[derive(Debug, Clone)]
pub struct IncludedFile {
    /// Its name in messages.
    pub origin: String,
    /// What is the same for every name of the same file.
    pub id: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Opens an included file: the origin of the file that names it, and the relative path that it names, with `/`.
/// The error says why it cannot be read.
pub type ReadInclude<'r> = dyn FnMut(&str, &str) -> Result<IncludedFile, String> + 'r;

struct Loading<'a, 'r> {
    tables: &'a Tables,
    read: &'a mut ReadInclude<'r>,
    files: Vec<File>,
    mistakes: Vec<Mistake>,
    /// What was read, each after what it includes.
    parts: Vec<(usize, Part)>,
    /// The files whose includes are being read, outermost first.
    open: Vec<String>,
    done: BTreeSet<String>,
    /// How often a file was asked for.
    opened: usize,
    /// Whether everything could be read, so that what is missing is missing.
    complete: bool,
}

/// Reads a policy.
pub(super) fn load(
    origin: &str,
    bytes: &[u8],
    tables: &Tables,
    read: &mut ReadInclude<'_>,
) -> Result<Policy, Diagnostics> {
    let mut loading = Loading {
        tables,
        read,
        files: Vec::new(),
        mistakes: Vec::new(),
        parts: Vec::new(),
        open: Vec::new(),
        done: BTreeSet::new(),
        opened: 0,
        complete: true,
    };
    loading.file(origin, bytes);
    loading.policy(origin)
}

impl Loading<'_, '_> {
    /// Reads a file and what it includes.
    fn file(&mut self, origin: &str, bytes: &[u8]) {
        let index = self.files.len();
        let (source, fault) = decode(bytes);
        let part = match fault {
            Some(mistake) => {
                self.mistakes.push(mistake.in_file(index));
                None
            }
            None => self.part(index, origin, &source),
        };
        let origin = origin.to_owned();
        self.files.push(File {
            origin: origin.clone(),
            source,
        });
        let Some(part) = part else {
            self.complete = false;
            return;
        };
        for (name, span) in &part.includes {
            if let Err(fault) = self.include(&origin, name) {
                self.complete = false;
                self.mistakes.push(fault.at(span).in_file(index));
            }
        }
        self.parts.push((index, part));
    }

    fn part(&mut self, file: usize, origin: &str, source: &Source) -> Option<Part> {
        let mut check = Check {
            tables: self.tables,
            source,
            origin,
            file,
            mistakes: Vec::new(),
        };
        let root = yaml::parse(source.as_str(), &mut check.mistakes);
        let part = root.and_then(|root| check.part(&root));
        let mistakes = check.mistakes.into_iter();
        self.mistakes
            .extend(mistakes.map(|mistake| mistake.in_file(file)));
        part
    }

    fn include(&mut self, from: &str, name: &str) -> Result<(), Fault> {
        self.opened += 1;
        if self.opened > 4 * FILES {
            return Err(Fault::new(format!("a policy has more than {FILES} files"))
                .hint("include the base directly"));
        }
        let file = self.open(from, name)?;
        if self.open.contains(&file.id) {
            return Err(Fault::new(format!("{} includes itself", quote(name)))
                .hint("remove one `include` of the circle"));
        }
        // two files may include the same base
        if self.done.contains(&file.id) {
            return Ok(());
        }
        if self.open.len() >= DEPTH || self.files.len() >= FILES {
            return Err(Fault::new(format!(
                "more than {DEPTH} files include each other, or a policy has more than {FILES} files"
            ))
            .hint("include the base directly"));
        }
        self.open.push(file.id.clone());
        self.file(&file.origin, &file.bytes);
        self.open.pop();
        self.done.insert(file.id);
        Ok(())
    }

    fn open(&mut self, from: &str, name: &str) -> Result<IncludedFile, Fault> {
        if let Some(preset) = name.strip_prefix("preset:") {
            let known = presets::ALL.iter().find(|known| known.name == preset);
            let known = known.ok_or_else(|| presets::unknown(preset))?;
            return Ok(IncludedFile {
                origin: name.to_owned(),
                id: name.to_owned(),
                bytes: known.text.as_bytes().to_owned(),
            });
        }
        let is_relative = !name.is_empty() && !name.starts_with('/') && !name.contains([':', '\\']);
        if !is_relative {
            return Err(Fault::new(format!("{} is no relative path", quote(name)))
                .hint("write it from the folder of this file on, with `/`: `../base.yaml`; or `preset:NAME`"));
        }
        (self.read)(from, name).map_err(|why| {
            Fault::new(format!("{} cannot be included: {why}", quote(name)))
                .hint("the path is relative to the folder of this file")
        })
    }

    /// What the files say together.
    fn policy(mut self, origin: &str) -> Result<Policy, Diagnostics> {
        self.check_targets();
        if !self.mistakes.is_empty() {
            return Err(Diagnostics::new(self.files, self.mistakes));
        }
        let mut policy = Policy {
            targets: Vec::new(),
            thresholds: Thresholds::default(),
            expect_gpu: Vec::new(),
            indexes: Vec::new(),
            allow_jit: Vec::new(),
            scopes: Vec::new(),
            waivers: Vec::new(),
            origin: origin.to_owned(),
            levels: std::collections::BTreeMap::new(),
            set_thresholds: SetThresholds::default(),
            files: self.files,
        };
        for (_, part) in self.parts {
            policy.add(part);
        }
        policy.thresholds.apply(&policy.set_thresholds);
        Ok(policy)
    }

    /// There are targets, and those that scopes and waivers name are among them.
    fn check_targets(&mut self) {
        if !self.complete {
            return;
        }
        let root = self.parts.iter().find(|(index, _)| *index == 0);
        if let Some((_, root)) = root
            && !self.parts.iter().any(|(_, part)| part.has_targets)
        {
            let mistake = Mistake::new(root.start.clone(), "a policy needs `targets`");
            self.mistakes.push(mistake.hint(WRITE_TARGETS));
        }
        if self.parts.iter().any(|(_, part)| !part.names_known) {
            return;
        }
        let parts = self.parts.iter();
        let names: BTreeSet<&str> = parts.flat_map(|(_, part)| part.names()).collect();
        let named = self.parts.iter().flat_map(|(index, part)| {
            let named = part.named.iter();
            named.map(|(name, span): &(String, Span)| (*index, name, span))
        });
        let unknown: Vec<Mistake> = named
            .filter(|(_, name, _)| !names.contains(name.as_str()))
            .take(super::diag::MOST)
            .map(|(index, name, span)| unknown_target(name, &names).at(span).in_file(index))
            .collect();
        self.mistakes.extend(unknown);
    }
}

impl Policy {
    /// Adds what a file says, which overrides what is there.
    fn add(&mut self, part: Part) {
        for target in part.targets {
            let same = self
                .targets
                .iter_mut()
                .find(|known| known.name == target.name);
            match same {
                Some(known) => *known = target,
                None => self.targets.push(target),
            }
        }
        self.levels.extend(part.levels);
        let set = &mut self.set_thresholds;
        let SetThresholds {
            main_library,
            partial_coverage,
        } = part.thresholds;
        set.main_library = main_library.or(set.main_library.take());
        set.partial_coverage = partial_coverage.or(set.partial_coverage.take());
        self.expect_gpu.extend(part.expect_gpu);
        self.indexes.extend(part.indexes);
        self.allow_jit.extend(part.allow_jit);
        self.scopes.extend(part.scopes);
        self.waivers.extend(part.waivers);
    }
}

/// The text of a file, or as much of it as can be shown beside the mistake.
fn decode(bytes: &[u8]) -> (Source, Option<Mistake>) {
    if bytes.len() > Policy::MAX_BYTES {
        let message = format!("the file is larger than {} bytes", Policy::MAX_BYTES);
        let mistake = Mistake::new(0..0, message).hint("is this a policy?");
        return (Source::new(""), Some(mistake));
    }
    match str::from_utf8(bytes) {
        Ok(text) => (Source::new(text), None),
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let source = Source::new(str::from_utf8(valid).unwrap_or_default());
            let end = source.as_str().len();
            let message = "the file is not UTF-8 from here on";
            (
                source,
                Some(Mistake::new(end..end, message).hint("save it as UTF-8")),
            )
        }
    }
}
