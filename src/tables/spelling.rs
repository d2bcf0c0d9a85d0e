//! Suggestions for names that no table has.

/// How much two names must be alike to be suggested for each other.
const LIKE: f64 = 0.6;
/// How many names are suggested.
const SUGGESTED: usize = 3;

/// How much two names are alike, from 0 to 1.
pub(super) fn likeness(a: &str, b: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(a, b)
}

/// The names whose key is most like `name`: pairs of a name as it is shown, and its key.
pub(crate) fn nearest(
    name: &str,
    known: impl IntoIterator<Item = (String, String)>,
) -> Vec<String> {
    let scored = known.into_iter();
    best(scored.map(|(shown, key)| (likeness(name, &key), shown)))
}

/// The best of names with their likeness, without repetitions.
pub(super) fn best(scored: impl IntoIterator<Item = (f64, String)>) -> Vec<String> {
    let mut scored: Vec<_> = scored
        .into_iter()
        .filter(|(like, _)| *like >= LIKE)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut best: Vec<String> = Vec::new();
    for (_, name) in scored {
        if best.len() < SUGGESTED && !best.contains(&name) {
            best.push(name);
        }
    }
    best
}
