//! Directories built for the purpose.

use super::*;

/// A directory that holds `files`, of which each is a name and its content.
fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    dir
}

fn walk(dir: &Path) -> Dir {
    Dir::open(dir, Locator::root(0, "env"), &Limits::default())
}

fn names(dir: &Dir) -> Vec<&str> {
    dir.files.iter().map(|file| file.name.as_str()).collect()
}

/// Every file with the name of its package; `-` where it has none.
fn owners(dir: &Dir) -> Vec<(&str, &str)> {
    let owner = |file: &DirFile| {
        let package = file.package.map(|index| &dir.packages[index]);
        package.map_or("-", |package| package.name.as_str())
    };
    let files = dir.files.iter();
    files
        .map(|file| (file.name.as_str(), owner(file)))
        .collect()
}

#[test]
fn lists_every_file_sorted_by_bytes() {
    let dir = tree(&[
        ("b/a.so", "1"),
        ("b.so", "22"),
        ("a/z/y.txt", ""),
        ("é", ""),
    ]);
    let walked = walk(dir.path());
    assert_eq!(names(&walked), ["a/z/y.txt", "b.so", "b/a.so", "é"]);
    assert_eq!(walked.files[1].size, 2);
    assert_eq!(walked.files[2].path, dir.path().join("b").join("a.so"));
    assert!(walked.problems.is_empty() && walked.packages.is_empty());
}

#[test]
fn gives_files_to_the_packages_that_list_them() {
    let site = "lib/site-packages";
    let dir = tree(&[
        (&format!("{site}/a/x.so"), ""),
        (&format!("{site}/a/_vendor/v.py"), ""),
        (
            &format!("{site}/a/_vendor/v-9.dist-info/METADATA"),
            "Name: v\nVersion: 9\n",
        ),
        (
            &format!("{site}/a/_vendor/v-9.dist-info/RECORD"),
            "v.py,,\nv-9.dist-info/METADATA,,\n",
        ),
        (
            &format!("{site}/A_b-1.0.dist-info/METADATA"),
            "Name: a-b\nVersion: 1.0\nRequires-Dist: c\n",
        ),
        (
            &format!("{site}/A_b-1.0.dist-info/RECORD"),
            "a/x.so,sha256=x,1\na/_vendor/v.py,,\na/_vendor/v-9.dist-info/METADATA,,\n\
             a/_vendor/v-9.dist-info/RECORD,,\nA_b-1.0.dist-info/METADATA,,\n\
             A_b-1.0.dist-info/RECORD,,\n../../bin/tool,,\n../../../../../etc/passwd,,\n",
        ),
        (
            &format!("{site}/old.egg-info/PKG-INFO"),
            "Name: old\nVersion: 2\n",
        ),
        (
            &format!("{site}/old.egg-info/installed-files.txt"),
            "../old.py\nPKG-INFO\n",
        ),
        (&format!("{site}/old.py"), ""),
        (
            &format!("{site}/tiny-3-py3.12.egg-info"),
            "Metadata-Version: 1.0\n",
        ),
        (&format!("{site}/stray.so"), ""),
        ("bin/tool", ""),
    ]);
    let walked = walk(dir.path());
    assert!(walked.problems.is_empty(), "{:?}", walked.problems);
    let packages: Vec<_> = walked
        .packages
        .iter()
        .map(|package| {
            (
                package.name.as_str(),
                package.version.as_deref().unwrap_or("?"),
            )
        })
        .collect();
    assert_eq!(packages, [("a-b", "1.0"), ("old", "2"), ("tiny", "3")]);
    assert_eq!(walked.packages[0].requires, ["c"]);
    let strays: Vec<_> = owners(&walked)
        .into_iter()
        .filter(|(_, owner)| *owner == "-")
        .map(|(name, _)| name.rsplit('/').next().unwrap())
        .collect();
    assert_eq!(strays, ["installed-files.txt", "stray.so"]);
    let owner_of = |wanted: &str| {
        let all = owners(&walked);
        let found = all.iter().find(|(name, _)| name.ends_with(wanted)).unwrap();
        found.1.to_owned()
    };
    assert_eq!(owner_of("bin/tool"), "a-b");
    assert_eq!(
        owner_of("_vendor/v.py"),
        "a-b",
        "the outer package owns what it vendors"
    );
    assert_eq!(owner_of("old.py"), "old");
}

#[test]
fn a_package_without_a_list_still_has_a_name() {
    let dir = tree(&[("x_y-1.2.dist-info/METADATA", "nothing"), ("x_y/a.so", "")]);
    let walked = walk(dir.path());
    assert_eq!(walked.packages[0].name, "x_y");
    assert_eq!(walked.packages[0].version.as_deref(), Some("1.2"));
    assert_eq!(walked.files[1].package, None);
}

#[test]
fn stops_at_the_limit_of_files_and_says_so() {
    let dir = tree(&[("a", ""), ("b", ""), ("c", "")]);
    let limits = Limits {
        members: 2,
        ..Limits::default()
    };
    let walked = Dir::open(dir.path(), Locator::root(0, "env"), &limits);
    assert_eq!(walked.files.len(), 2);
    assert_eq!(walked.problems[0].kind, ProblemKind::LimitExceeded);
    assert_eq!(walked.problems[0].extent, Extent::RestOfArchive);
}

#[test]
fn lists_of_too_many_files_are_problems_of_those_files() {
    let dir = tree(&[
        ("e.egg-info/PKG-INFO", "Name: e\n"),
        ("e.egg-info/installed-files.txt", &"a\n".repeat(6)),
        ("r-1.dist-info/METADATA", "Name: r\n"),
        ("r-1.dist-info/RECORD", &"a,,\n".repeat(6)),
    ]);
    let limits = Limits {
        members: 5,
        ..Limits::default()
    };
    let walked = Dir::open(dir.path(), Locator::root(0, "env"), &limits);
    let reported: Vec<_> = walked
        .problems
        .iter()
        .map(|problem| (problem.at.inner(), problem.kind))
        .collect();
    let kind = ProblemKind::LimitExceeded;
    assert_eq!(
        reported,
        [
            ("e.egg-info/installed-files.txt".to_owned(), kind),
            ("r-1.dist-info/RECORD".to_owned(), kind)
        ]
    );
}

#[test]
fn metadata_beyond_the_limit_is_a_problem_of_that_file() {
    let dir = tree(&[("x-1.dist-info/METADATA", "Name: other\n")]);
    let limits = Limits {
        metadata_bytes: 4,
        ..Limits::default()
    };
    let walked = Dir::open(dir.path(), Locator::root(0, "env"), &limits);
    assert_eq!(walked.problems[0].kind, ProblemKind::LimitExceeded);
    assert_eq!(
        walked.problems[0].at.to_string(),
        "env › x-1.dist-info/METADATA"
    );
    assert_eq!(walked.packages[0].name, "x");
}

#[test]
fn a_directory_that_is_gone_is_a_problem() {
    let walked = walk(Path::new("no/such/directory"));
    assert_eq!(walked.problems[0].kind, ProblemKind::Io);
    assert_eq!(walked.problems[0].extent, Extent::Artifact);
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_inside_the_tree_are_skipped_and_counted() {
        let dir = tree(&[("lib/a.so.1", "x")]);
        symlink("a.so.1", dir.path().join("lib/a.so")).unwrap();
        symlink("lib", dir.path().join("lib64")).unwrap();
        symlink(".", dir.path().join("lib/loop")).unwrap();
        symlink("lib/a.so.1/x", dir.path().join("below-a-file.so")).unwrap();
        symlink("nowhere.so", dir.path().join("dangling.so")).unwrap();
        let walked = walk(dir.path());
        assert_eq!(names(&walked), ["lib/a.so.1"]);
        assert_eq!(walked.links_skipped, 5);
        assert!(walked.problems.is_empty(), "{:?}", walked.problems);
    }

    #[test]
    fn listed_paths_follow_links_of_directories() {
        let dir = tree(&[
            (
                "var/lib/dpkg/status",
                "Package: p\nStatus: install ok installed\nVersion: 1\n",
            ),
            (
                "var/lib/dpkg/info/p.list",
                "/lib64/a.so\n/lib/x86/b.so\n/opt/cuda/c.so\n",
            ),
            ("usr/lib/a.so", ""),
            ("usr/lib/x86-1/b.so", ""),
            ("opt/cuda-12/c.so", ""),
            ("opt/d.so", ""),
        ]);
        for (target, link) in [
            ("usr/lib", "lib"),
            ("lib", "lib64"),
            ("x86-1", "usr/lib/x86"),
            ("cuda-12", "opt/cuda"),
        ] {
            symlink(target, dir.path().join(link)).unwrap();
        }
        let walked = walk(dir.path());
        assert!(walked.problems.is_empty(), "{:?}", walked.problems);
        let owned: Vec<_> = owners(&walked)
            .into_iter()
            .filter(|(_, owner)| *owner == "p")
            .map(|(name, _)| name)
            .collect();
        assert_eq!(
            owned,
            [
                "opt/cuda-12/c.so",
                "usr/lib/a.so",
                "usr/lib/x86-1/b.so",
                "var/lib/dpkg/info/p.list"
            ]
        );
    }

    #[test]
    fn links_that_cannot_be_resolved_are_problems() {
        use std::os::unix::fs::PermissionsExt as _;

        let outside = tree(&[("closed/in/x.so", "")]);
        let dir = tree(&[("a.py", "")]);
        symlink("self.so", dir.path().join("self.so")).unwrap();
        symlink("n".repeat(300), dir.path().join("too-long")).unwrap();
        let target = outside.path().join("closed/in/x.so");
        symlink(&target, dir.path().join("x.so")).unwrap();
        let closed = outside.path().join("closed");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        let walked = walk(dir.path());
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
        let reported: Vec<_> = walked
            .problems
            .iter()
            .map(|problem| (problem.at.inner(), problem.kind))
            .collect();
        // whoever may read everything sees a library out of the tree instead: a problem as well
        let kind = ProblemKind::NotFollowed;
        assert_eq!(
            reported,
            ["self.so", "too-long", "x.so"].map(|name| (name.to_owned(), kind))
        );
        assert_eq!(walked.links_skipped, 0);
    }

    #[test]
    fn links_out_of_the_tree_are_problems_where_they_could_hide_code() {
        let outside = tree(&[
            ("x.so", ""),
            ("readme", ""),
            ("text/readme", ""),
            ("cu/d/k.fatbin", ""),
        ]);
        let dir = tree(&[]);
        for (target, link) in [
            ("x.so", "plain.so"),
            ("x.so", "renamed"),
            ("readme", "odd.so.1"),
            ("readme", "readme"),
            ("text", "text"),
            ("cu", "cu"),
        ] {
            symlink(outside.path().join(target), dir.path().join(link)).unwrap();
        }
        let walked = walk(dir.path());
        let reported: Vec<_> = walked
            .problems
            .iter()
            .map(|problem| problem.at.inner())
            .collect();
        assert_eq!(reported, ["cu", "odd.so.1", "plain.so", "renamed"]);
        assert_eq!(walked.problems[0].kind, ProblemKind::NotFollowed);
        assert_eq!(walked.links_skipped, 2);
        assert!(walked.files.is_empty());
    }

    #[test]
    fn a_tree_named_by_a_link_is_walked() {
        let dir = tree(&[("a.so", ""), ("b/c.so", "")]);
        symlink("a.so", dir.path().join("l.so")).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let link = elsewhere.path().join("env");
        symlink(dir.path(), &link).unwrap();
        let walked = walk(&link);
        assert_eq!(names(&walked), ["a.so", "b/c.so"]);
        assert_eq!((walked.links_skipped, walked.problems.len()), (1, 0));
    }

    #[test]
    fn names_that_are_no_text_keep_their_bytes() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(OsStr::from_bytes(b"a\xff.so")), "x").unwrap();
        let walked = walk(dir.path());
        assert_eq!(walked.files[0].name.as_bytes(), b"a\xff.so");
        assert!(fs::metadata(&walked.files[0].path).is_ok());
    }

    #[test]
    fn sockets_are_counted_and_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("s")).unwrap();
        let walked = walk(dir.path());
        assert_eq!((walked.special_skipped, walked.files.len()), (1, 0));
    }
}
