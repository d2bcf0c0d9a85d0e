//! Suggestions for names that no table has.

/// How much two names must be alike to be suggested for each other.
const LIKE: f64 = 0.6;
/// How many names are suggested.
const SUGGESTED: usize = 3;

/// Bytes of a name that is compared: comparing is quadratic, and no name of a table is as long.
const COMPARED: usize = 256;

/// How much two names are alike, from 0 to 1.
pub(super) fn likeness(a: &str, b: &str) -> f64 {
    if a.len().max(b.len()) > COMPARED {
        return 0.0;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_longer_than_any_is_like_none() {
        let near = likeness("geforce rtx 5090", "geforce rtx 5080");
        assert!(near > LIKE, "{near}");
        let long = "x".repeat(COMPARED + 1);
        assert!(likeness(&long, &long).abs() < f64::EPSILON);
    }
}
