//! Findings that say the same, gathered: a list of forty equal sentences hides the one that differs.
//!
//! Two findings are gathered only where every sentence of theirs is equal but for the names of target and
//! GPU. Their next steps may differ; each is shown.

use std::collections::{BTreeMap, BTreeSet};

use crate::rule::{Code, Level};
use crate::verdict::{Finding, FromLayer, PackageName, WaivedBy};

use super::text::listed;

/// Findings that say the same.
#[derive(Debug)]
pub(super) struct Group<'e> {
    pub(super) first: &'e Finding,
    /// The same of other GPUs or targets, or of other places that could not be read.
    pub(super) others: Vec<&'e Finding>,
    /// Other libraries of which all of this is true too, such as copies under another name.
    pub(super) copies: Vec<&'e str>,
}

/// Gathers `findings`, in the order of the first of each group.
pub(super) fn gather<'e>(findings: &[&'e Finding]) -> Vec<Group<'e>> {
    let mut groups: Vec<Group<'e>> = Vec::new();
    let mut known: BTreeMap<Alike<'e>, usize> = BTreeMap::new();
    for finding in findings {
        let at = match alike(finding) {
            Some(key) => *known.entry(key).or_insert(groups.len()),
            None => groups.len(),
        };
        match groups.get_mut(at) {
            Some(group) => group.others.push(finding),
            None => groups.push(Group {
                first: finding,
                others: Vec::new(),
                copies: Vec::new(),
            }),
        }
    }
    let mut merged: Vec<Group<'e>> = Vec::new();
    let mut known: BTreeMap<Vec<Copied<'e>>, usize> = BTreeMap::new();
    for group in groups {
        let at = match copied(&group) {
            Some(key) => *known.entry(key).or_insert(merged.len()),
            None => merged.len(),
        };
        match merged.get_mut(at) {
            Some(other) => other.copies.extend(group.first.library.as_deref()),
            None => merged.push(group),
        }
    }
    merged
}

/// What findings that say the same have in common.
type Alike<'e> = (Code, Level, Option<&'e WaivedBy>, Said<'e>);

/// What a finding says, but for the GPU, or the place that could not be read.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Said<'e> {
    /// Of entries of a lock file as such.
    Entry(&'e str),
    /// Of what could not be read of a package.
    Unreadable(Option<&'e PackageName>, &'e str),
    /// It is of the policy's targets, whatever the package.
    OfPolicy,
    /// Of a subject: the message and the evidence, spoken.
    Subject(
        Option<&'e PackageName>,
        Option<&'e str>,
        Option<&'e FromLayer>,
        String,
        Vec<String>,
    ),
}

/// What `finding` has in common with those that say the same of other GPUs, or of other places that could not be
/// read; nothing where it stands alone.
fn alike(finding: &Finding) -> Option<Alike<'_>> {
    let package = finding.package.as_ref();
    let said = match finding.code {
        Code::Unreadable | Code::NotLocked | Code::BuiltAtInstall | Code::NoFileForTarget
            if is_entry(finding) =>
        {
            Said::Entry(&finding.message)
        }
        Code::Unreadable => Said::Unreadable(package, &finding.message),
        Code::DriverNotGiven => Said::OfPolicy,
        _ => {
            finding.target.as_ref()?;
            let evidence = finding.evidence.iter();
            Said::Subject(
                package,
                finding.library.as_deref(),
                finding.layer.as_ref(),
                spoken(finding, &finding.message),
                evidence.map(|text| spoken(finding, text)).collect(),
            )
        }
    };
    Some((finding.code, finding.level, finding.waived.as_ref(), said))
}

/// Whether a finding is about an entry of a lock file as such, not about what is in its file.
fn is_entry(finding: &Finding) -> bool {
    finding.line.is_some() && finding.library.is_none() && finding.target.is_none()
}

/// A sentence of a finding without the names of its GPU and target.
pub(super) fn spoken(finding: &Finding, text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(gpu) = &finding.gpu {
        text = text.replace(gpu.as_str(), "\0gpu\0");
    }
    if let Some(target) = &finding.target {
        text = text.replace(&format!("`{target}`"), "\0target\0");
    }
    text
}

/// All of a finding but its library.
type Copied<'e> = (
    (Code, Level, Option<&'e WaivedBy>, Option<&'e FromLayer>),
    (Option<&'e PackageName>, Option<&'e str>, Option<&'e str>),
    (&'e str, &'e [String], &'e str),
);

/// All that a group says of its library, which it may say of another too; nothing where it is about none.
fn copied<'e>(group: &Group<'e>) -> Option<Vec<Copied<'e>>> {
    let of_finding = |finding: &'e Finding| {
        finding.library.as_ref()?;
        Some((
            (
                finding.code,
                finding.level,
                finding.waived.as_ref(),
                finding.layer.as_ref(),
            ),
            (
                finding.package.as_ref(),
                finding.target.as_deref(),
                finding.gpu.as_deref(),
            ),
            (
                finding.message.as_str(),
                finding.evidence.as_slice(),
                finding.next_step.as_str(),
            ),
        ))
    };
    let all = std::iter::once(group.first).chain(group.others.iter().copied());
    let is_unreadable = group.first.code == Code::Unreadable;
    (!is_unreadable).then(|| all.map(of_finding).collect())?
}

impl<'e> Group<'e> {
    /// In words, of what else the same is true.
    pub(super) fn same_elsewhere(&self) -> impl Iterator<Item = String> + use<> {
        let copies: Vec<String> = self.copies.iter().map(|path| (*path).to_owned()).collect();
        let all = [("in", copies), ("for", self.names())].into_iter();
        let all = all.filter(|(_, names)| !names.is_empty());
        all.map(|(word, names)| format!("the same {word} {}", listed(&names)))
    }

    /// The names of the others, as a person would list them, without those that the first has already said.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let mut said = BTreeSet::from([name(self.first)]);
        for other in &self.others {
            let name = name(other);
            if said.insert(name.clone()) {
                names.push(name);
            }
        }
        names
    }

    /// The next steps, each once, with the finding that first has it.
    pub(super) fn next_steps(&self) -> Vec<&'e Finding> {
        let mut steps: Vec<&'e Finding> = vec![self.first];
        let mut said = BTreeSet::from([spoken(self.first, &self.first.next_step)]);
        for other in &self.others {
            if said.insert(spoken(other, &other.next_step)) {
                steps.push(other);
            }
        }
        steps
    }
}

/// What a finding is about, beside others that say the same.
pub(super) fn name(finding: &Finding) -> String {
    if let (Some(line), true) = (finding.line, is_entry(finding)) {
        let package = finding.package.as_ref().map(ToString::to_string);
        let entry = package.or_else(|| finding.evidence.first().cloned());
        return format!("{} (line {line})", entry.unwrap_or_default());
    }
    let target = finding.target.as_deref().unwrap_or_default();
    let gpu = finding
        .gpu
        .as_ref()
        .filter(|gpu| finding.message.contains(gpu.as_str()));
    match (gpu, &finding.library) {
        // a target made of one GPU is often called by its name
        (Some(gpu), _) if gpu.contains(target) => gpu.clone(),
        (Some(gpu), _) => format!("{gpu} of {target}"),
        (None, Some(library)) if target.is_empty() => library.clone(),
        _ => target.to_owned(),
    }
}
