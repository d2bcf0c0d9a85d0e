//! Which artifact is compared with which, and which package with which.

use std::collections::BTreeMap;

use crate::inventory::{Artifact, Inventory};
use crate::policy::normal_package;

use super::content::{Content, Key};

/// Two of a kind, of which one may be missing.
pub(super) type Two<T> = (Option<T>, Option<T>);

/// A way to tell artifacts apart.
type Tell = fn(&Artifact) -> Option<Vec<String>>;

/// What tells an artifact from the others, the strictest first; none where it has no such thing.
const TELLS: &[Tell] = &[
    |artifact| {
        let image = artifact.image.as_deref()?;
        let platform = image.platform.clone()?;
        Some(vec![repository(image.names.first()?).to_owned(), platform])
    },
    |artifact| Some(vec![artifact.image.as_deref()?.platform.clone()?]),
    |artifact| Some(vec![artifact.lock.as_deref()?.title()]),
    |artifact| {
        let lock = artifact.lock.as_deref()?;
        Some(vec![lock.environment.platform.to_string()])
    },
    |artifact| {
        let mut tells = vec![normal_package(artifact.name.as_deref()?)];
        tells.extend(artifact.python_tags.iter().cloned());
        tells.extend(artifact.platforms.iter().map(ToString::to_string));
        Some(tells)
    },
    |artifact| {
        let mut tells = vec![normal_package(artifact.name.as_deref()?)];
        tells.extend(artifact.platforms.iter().map(ToString::to_string));
        Some(tells)
    },
    |artifact| Some(vec![normal_package(artifact.name.as_deref()?)]),
    |artifact| {
        let name = artifact.input.rsplit(['/', '\\']).next()?;
        artifact.name.is_none().then(|| vec![name.to_owned()])
    },
];

/// The name of an image without its tag and digest: `registry.example:5000/app` of
/// `registry.example:5000/app:1.0`.
fn repository(name: &str) -> &str {
    let name = name.split('@').next().unwrap_or(name);
    match name.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => repository,
        _ => name,
    }
}

/// Pairs the artifacts of two inventories: one with one, else by what tells them apart. In the order of `after`;
/// those that are in `before` only come last.
pub(super) fn of_artifacts(before: &Inventory, after: &Inventory) -> Vec<Two<usize>> {
    let mut partner: Vec<Option<usize>> = vec![None; after.artifacts.len()];
    let mut left: Vec<usize> = (0..before.artifacts.len()).collect();
    for tell in TELLS {
        let here = |index: &usize| before.artifacts.get(*index).and_then(tell);
        let by_tell = unique(left.iter().copied(), here);
        let open = (0..after.artifacts.len()).filter(|index| partner.get(*index) == Some(&None));
        let wanted = unique(open, |index| after.artifacts.get(*index).and_then(tell));
        for (told, index) in wanted {
            if let (Some(of_before), Some(slot)) = (by_tell.get(&told), partner.get_mut(index)) {
                *slot = Some(*of_before);
                left.retain(|one| one != of_before);
            }
        }
    }
    // one that is left on each side is meant to be compared, whatever it is called
    let mut open = partner.iter_mut().filter(|partner| partner.is_none());
    if let (Some(slot), None, [one]) = (open.next(), open.next(), left.as_slice()) {
        *slot = Some(*one);
        left.clear();
    }
    let of_after = partner.into_iter().enumerate();
    let of_after = of_after.map(|(index, partner)| (partner, Some(index)));
    let gone = left.into_iter().map(|index| (Some(index), None));
    of_after.chain(gone).collect()
}

/// What one index alone has, by that.
fn unique(
    indices: impl Iterator<Item = usize>,
    tell: impl Fn(&usize) -> Option<Vec<String>>,
) -> BTreeMap<Vec<String>, usize> {
    let mut found: BTreeMap<Vec<String>, Option<usize>> = BTreeMap::new();
    for index in indices {
        if let Some(told) = tell(&index) {
            let only = found.entry(told);
            only.and_modify(|only| *only = None).or_insert(Some(index));
        }
    }
    let found = found.into_iter();
    found
        .filter_map(|(told, only)| Some((told, only?)))
        .collect()
}

/// Pairs the packages of two artifacts: by name, and what each artifact mainly is whatever it is called.
pub(super) fn of_packages(
    before: Option<(&Artifact, &BTreeMap<Key, Content>)>,
    after: Option<(&Artifact, &BTreeMap<Key, Content>)>,
) -> Vec<Two<Key>> {
    let keys = |side: Option<(&Artifact, &BTreeMap<Key, Content>)>| -> Vec<Key> {
        side.map_or_else(Vec::new, |(_, contents)| contents.keys().cloned().collect())
    };
    let mains = before
        .and_then(|(artifact, contents)| main(artifact, contents))
        .zip(after.and_then(|(artifact, contents)| main(artifact, contents)));
    let mut gone = keys(before);
    let mut pairs = Vec::new();
    for key in keys(after) {
        let partner = match &mains {
            Some((before, after)) if *after == key => Some(before.clone()),
            Some((before, _)) if *before == key => None,
            _ => gone.contains(&key).then(|| key.clone()),
        };
        if let Some(partner) = &partner {
            gone.retain(|one| one != partner);
        }
        pairs.push((partner, Some(key)));
    }
    pairs.extend(gone.into_iter().map(|key| (Some(key), None)));
    pairs
}

/// The package that an artifact mainly is: the one that it is named after, or its only one.
fn main(artifact: &Artifact, contents: &BTreeMap<Key, Content>) -> Option<Key> {
    let named = artifact
        .name
        .as_deref()
        .map(|name| Some(normal_package(name)));
    named.filter(|key| contents.contains_key(key)).or_else(|| {
        contents
            .keys()
            .next()
            .filter(|_| contents.len() == 1)
            .cloned()
    })
}
