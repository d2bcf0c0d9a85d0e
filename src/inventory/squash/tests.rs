//! Layers put on each other, by the words of the specification.

use super::*;

/// `f PATH`, `d PATH`, `s PATH TARGET`, `h PATH TARGET`, `w PATH`, `o PATH`.
fn layer(lines: &[&str]) -> Vec<Entry> {
    lines
        .iter()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let target = || words[2].as_bytes().into();
            Entry {
                path: words[1].as_bytes().into(),
                kind: match words[0] {
                    "f" => EntryKind::File,
                    "d" => EntryKind::Dir,
                    "s" => EntryKind::Symlink(target()),
                    "h" => EntryKind::HardLink(target()),
                    "w" => EntryKind::Whiteout,
                    _ => EntryKind::Opaque,
                },
            }
        })
        .collect()
}

fn run(layers: &[&[&str]]) -> (Vec<String>, Vec<(usize, usize)>, Squashed<'static>) {
    let layers: Vec<Vec<Entry>> = layers.iter().map(|lines| layer(lines)).collect();
    // the tree borrows them, for as long as the test runs
    let layers: &'static [Vec<Entry>] = layers.leak();
    let tree = squash(layers.iter().map(Vec::as_slice), 1000);
    let mut paths: Vec<String> = tree
        .visible(|_| true)
        .into_iter()
        .flat_map(|(file, paths)| {
            paths.into_iter().map(move |path| {
                format!(
                    "{} {}:{}",
                    String::from_utf8_lossy(&path),
                    file.layer,
                    file.entry
                )
            })
        })
        .collect();
    paths.sort();
    let mut gone: Vec<_> = tree
        .gone
        .iter()
        .map(|(file, by)| (file.layer * 10 + file.entry, *by))
        .collect();
    gone.sort_unstable();
    (paths, gone, tree)
}

#[test]
fn whiteouts_take_from_lower_layers_only() {
    let (paths, gone, _) = run(&[
        &["f a/x.so", "f a/y.so", "f b/z.so"],
        // the file that is made again stays, wherever its whiteout stands
        &["f a/x.so", "w a/x.so", "w b"],
    ]);
    assert_eq!(paths, ["a/x.so 1:0", "a/y.so 0:1"]);
    assert_eq!(gone, [(0, 1), (2, 1)]);
}

#[test]
fn an_opaque_directory_keeps_its_own_layers_files() {
    let (paths, ..) = run(&[
        &["f d/old.so", "f d/e/old.so", "f other"],
        &["f d/new.so", "o d", "f d/e/new.so"],
    ]);
    assert_eq!(paths, ["d/e/new.so 1:2", "d/new.so 1:0", "other 0:2"]);
}

#[test]
fn what_stands_at_a_path_is_replaced() {
    for (lower, upper, left) in [
        (&["f a/x"][..], &["f a"][..], &["a 1:0"][..]),
        (&["f a/x"], &["d a"], &["a/x 0:0"]),
        (&["f a"], &["f a/x"], &["a/x 1:0"]),
        (&["f a/x"], &["s a b"], &[]),
        (
            &["s a b", "f b/x"],
            &["d a", "f a/y"],
            &["a/y 1:1", "b/x 0:1"],
        ),
        (&["f a"], &["f a"], &["a 1:0"]),
    ] {
        assert_eq!(run(&[lower, upper]).0, left, "{lower:?} {upper:?}");
    }
}

#[test]
fn the_way_leads_through_links_of_directories() {
    let (paths, _, tree) = run(&[
        &["s lib usr/lib", "s usr/local/cuda /etc/alternatives/cuda"],
        &["s etc/alternatives/cuda /usr/local/cuda-12.4", "f lib/a.so"],
        &["f usr/local/cuda/lib64/b.so", "w lib/none"],
        &["s up ../../usr/lib", "f up/c.so"],
    ]);
    assert_eq!(
        paths,
        [
            "usr/lib/a.so 1:1",
            "usr/lib/c.so 3:1",
            "usr/local/cuda-12.4/lib64/b.so 2:0"
        ]
    );
    let canonical = |path: &str| {
        tree.canonical(path.as_bytes())
            .map(|path| String::from_utf8(path).unwrap())
    };
    assert_eq!(canonical("/lib/a.so").unwrap(), "usr/lib/a.so");
    assert_eq!(
        canonical("usr/local/cuda/lib64/../lib64/b.so").unwrap(),
        "usr/local/cuda-12.4/lib64/b.so"
    );
    assert_eq!(canonical("no/a.so"), None);
}

#[test]
fn a_whiteout_through_a_link_finds_the_file() {
    let (paths, ..) = run(&[&["s lib usr/lib", "f usr/lib/a.so"], &["w lib/a.so"]]);
    assert!(paths.is_empty());
}

#[test]
fn hard_links_are_one_file_and_outlive_the_first_name() {
    let (paths, _, tree) = run(&[
        &["f a.so", "h b.so a.so"],
        &["h c.so a.so", "w b.so"],
        &["w a.so"],
    ]);
    assert_eq!(paths, ["c.so 0:0"]);
    let file = FileId { layer: 0, entry: 0 };
    // gone in one place and there in another
    assert_eq!(tree.gone_by(file), Some(2));
    let (_, _, tree) = run(&[&["h b.so ../../etc/passwd"]]);
    assert_eq!(tree.stuck.len(), 1);
}

#[test]
fn circles_and_bombs_end() {
    let (paths, _, tree) = run(&[&["s a b", "s b a", "f a/x.so", "f c"]]);
    assert_eq!(paths, ["c 0:3"]);
    assert_eq!(tree.stuck[0].why, "the links on its way lead in a circle");
    let deep = format!("f {}", "d/".repeat(1500));
    let (_, _, tree) = run(&[&[&deep, "f later"]]);
    assert_eq!(tree.stuck.len(), 1, "{:?}", tree.stuck);
}

#[test]
fn the_work_of_all_ways_is_bounded() {
    // 39 links to go through for each file, each of which goes up and down a hundred times
    let target = format!("{}l", "d/../".repeat(100));
    let mut lines: Vec<String> = vec!["d d".to_owned(), "d l0".to_owned()];
    lines.extend((1..40).map(|n| format!("s l{n} {target}{}", n - 1)));
    lines.extend((0..20_000).map(|n| format!("f l39/{n}")));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let entries = layer(&lines);
    let tree = squash([entries.as_slice()], 1_000_000);
    let last = tree.stuck.last().unwrap();
    assert_eq!(
        last.why,
        "the image has more files, or longer ways to them, than a run may look at"
    );
}

#[test]
fn links_lead_to_files_or_are_none() {
    let (_, _, tree) = run(&[
        &[
            "f lib/a.so.1",
            "s lib/a.so a.so.1",
            "s usr/a.so ../lib/a.so",
            "s dir/lib /lib",
            "s usr/b.so ../dir/lib/a.so.1",
            "s usr/c.so /dir/lib",
            "s usr/d.so nowhere",
            "s usr/e.so e.so",
            "s usr/f.so ../lib/a.so.1/x",
            "s usr/gone.so ../lib/gone.so.1",
            "f lib/gone.so.1",
        ],
        &["w lib/gone.so.1"],
    ]);
    let links = tree.links_to_files(|path| path.ends_with(b".so"));
    let links: Vec<&str> = links
        .iter()
        .map(|path| str::from_utf8(path).unwrap())
        .collect();
    assert_eq!(links, ["lib/a.so", "usr/a.so", "usr/b.so"]);
}
