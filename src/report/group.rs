//! Findings that say the same, gathered: a list of forty equal sentences hides the one that differs.
//!
//! Two findings are gathered only where every sentence of theirs is equal but for the names of target and
//! GPU. Their next steps may differ; each is shown.

use std::collections::BTreeSet;

use crate::rule::Code;
use crate::verdict::Finding;

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
    for finding in findings {
        match groups.iter_mut().find(|group| alike(group.first, finding)) {
            Some(group) => group.others.push(finding),
            None => groups.push(Group {
                first: finding,
                others: Vec::new(),
                copies: Vec::new(),
            }),
        }
    }
    let mut merged: Vec<Group<'e>> = Vec::new();
    for group in groups {
        match merged.iter_mut().find(|other| is_copy(other, &group)) {
            Some(other) => other.copies.extend(group.first.library.as_deref()),
            None => merged.push(group),
        }
    }
    merged
}

/// Whether two findings say the same: of other GPUs, or of other places that could not be read.
fn alike(a: &Finding, b: &Finding) -> bool {
    let kind = (a.code, a.level, &a.waived) == (b.code, b.level, &b.waived);
    kind && match a.code {
        Code::Unreadable | Code::NotLocked | Code::BuiltAtInstall | Code::NoFileForTarget
            if is_entry(a) && is_entry(b) =>
        {
            a.message == b.message
        }
        Code::Unreadable => a.package == b.package && a.message == b.message,
        // it is of the policy's targets, whatever the package
        Code::DriverNotGiven => true,
        _ => {
            a.target.is_some()
                && (&a.package, &a.library, &a.layer) == (&b.package, &b.library, &b.layer)
                && spoken(a, &a.message) == spoken(b, &b.message)
                && a.evidence.len() == b.evidence.len()
                && a.evidence
                    .iter()
                    .zip(&b.evidence)
                    .all(|(one, other)| spoken(a, one) == spoken(b, other))
        }
    }
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

/// Whether all that `a` says of its library, `b` says of another.
fn is_copy(a: &Group<'_>, b: &Group<'_>) -> bool {
    let same = |one: &Finding, other: &Finding| {
        one.library.is_some()
            && other.library.is_some()
            && (one.code, one.level, &one.waived) == (other.code, other.level, &other.waived)
            && (&one.package, &one.target, &one.gpu) == (&other.package, &other.target, &other.gpu)
            && (&one.message, &one.evidence, &one.layer, &one.next_step)
                == (
                    &other.message,
                    &other.evidence,
                    &other.layer,
                    &other.next_step,
                )
    };
    a.first.code != Code::Unreadable
        && same(a.first, b.first)
        && a.others.len() == b.others.len()
        && a.others
            .iter()
            .zip(&b.others)
            .all(|(one, other)| same(one, other))
}

impl<'e> Group<'e> {
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
        for other in &self.others {
            let said = spoken(other, &other.next_step);
            if steps
                .iter()
                .all(|step| spoken(step, &step.next_step) != said)
            {
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
