//! By what findings are known again: keys hang on what a finding is about, not on what else is checked, and how.

use std::collections::BTreeSet;

use serde_json::Value;

use super::check;
use crate::support_cli::{Place, library, simple, wheel};

/// The keys of the findings of which the description holds `about`.
fn keys(place: &Place, inputs: &[&str], about: &str) -> BTreeSet<String> {
    let more = ["--target", "H100", "--driver", "R580"];
    let run = check(place, "gitlab", inputs, &more);
    let issues: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    let issues = issues.iter().filter(|one| {
        let description = one["description"].as_str().unwrap();
        description.contains(about)
    });
    let keys = issues.map(|one| one["fingerprint"].as_str().unwrap().to_owned());
    keys.collect()
}

/// A wheel of the package `pkg` for a version of Python, with one finding that says `what`.
fn of_python(place: &Place, python: &str, code: &str) -> String {
    wheel("pkg", "1.0")
        .tag(&format!("{python}-{python}-manylinux_2_28_x86_64"))
        .member("pkg/_C.so", library(&[(code, 1)]))
        .write(place)
}

#[test]
fn wheels_of_one_package_keep_their_keys_when_they_change_places_and_when_one_is_repaired() {
    let place = Place::new();
    let one = of_python(&place, "cp311", "sm_70");
    let other = of_python(&place, "cp312", "sm_60");
    let [first, second] = ["sm_70", "sm_60"].map(|about| keys(&place, &[&one, &other], about));
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_ne!(first, second);
    assert_eq!(keys(&place, &[&other, &one], "sm_70"), first);
    assert_eq!(keys(&place, &[&other, &one], "sm_60"), second);
    // without the one, the other does not take its key
    assert_eq!(keys(&place, &[&other], "sm_60"), second);
    of_python(&place, "cp311", "sm_90");
    assert_eq!(keys(&place, &[&one, &other], "sm_60"), second);
}

#[test]
fn files_of_one_name_keep_their_keys_when_they_change_places() {
    let place = Place::new();
    place.write("x/b.so", library(&[("sm_70", 1)]));
    place.write("y/b.so", library(&[("sm_60", 1)]));
    let [first, second] =
        ["sm_70", "sm_60"].map(|about| keys(&place, &["x/b.so", "y/b.so"], about));
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_eq!(keys(&place, &["y/b.so", "x/b.so"], "sm_70"), first);
    assert_eq!(keys(&place, &["y/b.so", "x/b.so"], "sm_60"), second);
}

#[test]
fn what_could_not_be_read_has_one_key_by_whatever_path_and_in_every_version() {
    let place = Place::new();
    let cut = |version: &str| {
        let file = wheel("cut", version).member("cut/_C.so", library(&[("sm_90", 3)]));
        let name = format!("dist/{}", file.file_name());
        let whole = file.build();
        place.write(&name, &whole[..whole.len() / 2]);
        name
    };
    let name = cut("1.0");
    let key = keys(&place, &[&name], "");
    assert_eq!(key.len(), 1);
    let absolute = place.path().join(&name);
    let absolute = absolute.to_str().unwrap();
    assert_eq!(keys(&place, &[absolute], ""), key);
    assert_eq!(keys(&place, &[&format!("./{name}")], ""), key);
    assert_eq!(keys(&place, &[&cut("1.1")], ""), key);
    let other = simple("other", &[("sm_90", 3)]);
    let name = other.file_name();
    place.write(&name, &other.build()[..200]);
    assert_ne!(keys(&place, &[&name], ""), key);
}
