//! Servers of files and package indexes on this machine, and lock files that name them.

use std::fmt::Write as _;

use serde_json::json;

use super::registry::digest;
use super::registry::stub::{Reply, Seen, Stub, part};

/// Files by path: `/NAME`.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// A file for a server.
pub(crate) fn served(name: &str, bytes: &[u8]) -> (String, Vec<u8>) {
    (format!("/{name}"), bytes.to_vec())
}

fn found<'f>(files: &'f Files, seen: &Seen) -> Option<&'f [u8]> {
    let file = files.iter().find(|(path, _)| *path == seen.path)?;
    Some(&file.1)
}

/// A server that gives these files by ranges, and nothing else.
pub(crate) fn by_ranges(files: Files) -> Stub {
    Stub::start(move |seen, _| match found(&files, seen) {
        Some(bytes) => part(bytes, seen),
        None => Reply::new(404),
    })
}

/// A server that gives these files as a whole, and nothing else.
pub(crate) fn whole(files: Files) -> Stub {
    Stub::start(move |seen, _| match found(&files, seen) {
        Some(bytes) => Reply::new(200).body(bytes),
        None => Reply::new(404),
    })
}

/// A server that wants `me` with the password `s3cret` for everything.
pub(crate) fn with_login(files: Files) -> Stub {
    Stub::start(move |seen, _| {
        // `me:s3cret` in Base64
        if seen.header("authorization") != Some("Basic bWU6czNjcmV0") {
            return Reply::new(401).header("www-authenticate", "Basic realm=\"files\"");
        }
        match found(&files, seen) {
            Some(bytes) => part(bytes, seen),
            None => Reply::new(404),
        }
    })
}

/// How an index answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    Json,
    Html,
}

/// An index (simple API) with one project, `/simple/PROJECT/`, and its files at `/files/NAME`.
pub(crate) fn index(project: &str, files: Vec<(String, Vec<u8>)>, page: Page) -> Stub {
    let at = format!("/simple/{project}/");
    let project = project.to_owned();
    Stub::start(move |seen, _| {
        if seen.path == at {
            return list(&project, &files, page);
        }
        let name = seen.path.strip_prefix("/files/");
        let file = files.iter().find(|(known, _)| Some(known.as_str()) == name);
        file.map_or(Reply::new(404), |(_, bytes)| part(bytes, seen))
    })
}

fn list(project: &str, files: &[(String, Vec<u8>)], page: Page) -> Reply {
    let hex = |bytes: &[u8]| digest(bytes).replace("sha256:", "");
    if page == Page::Json {
        let rows = files.iter().map(|(name, bytes)| {
            json!({
                "filename": name, "url": format!("/files/{name}"), "size": bytes.len(),
                "hashes": {"sha256": hex(bytes)},
            })
        });
        let rows: Vec<_> = rows.collect();
        let text =
            json!({"meta": {"api-version": "1.1"}, "name": project, "versions": [], "files": rows});
        return Reply::new(200)
            .header("content-type", "application/vnd.pypi.simple.v1+json")
            .body(text.to_string());
    }
    let mut text = "<!DOCTYPE html><html><body>\n".to_owned();
    for (name, bytes) in files {
        let hex = hex(bytes);
        writeln!(
            text,
            "<a href=\"/files/{name}#sha256={hex}\">{name}</a><br>"
        )
        .unwrap();
    }
    text += "</body></html>\n";
    Reply::new(200)
        .header("content-type", "text/html")
        .body(text)
}

/// A package of a `uv.lock`: name, version, and its wheels by address, with hash and size.
pub(crate) type UvPackage = (String, String, Vec<(String, String, usize)>);

/// A package with one wheel, `NAME-VERSION-…`, which lies at `base`.
pub(crate) fn uv_package(base: &str, file: &str, bytes: &[u8]) -> UvPackage {
    let mut parts = file.split('-');
    let [name, version] = [parts.next().unwrap(), parts.next().unwrap()].map(str::to_owned);
    let wheel = (format!("{base}/{file}"), digest(bytes), bytes.len());
    (name.replace('_', "-"), version, vec![wheel])
}

/// A `uv.lock` of a project that needs these packages. The first is at line 10, and each that has one wheel takes 8
/// lines.
pub(crate) fn uv_lock(packages: &[UvPackage]) -> String {
    let needs: Vec<String> = packages
        .iter()
        .map(|(name, _, _)| format!("{{ name = \"{name}\" }}"))
        .collect();
    let mut text = format!(
        "version = 1\nrequires-python = \">=3.12\"\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\n\
         source = {{ virtual = \".\" }}\ndependencies = [{}]\n",
        needs.join(", ")
    );
    for (name, version, wheels) in packages {
        write!(
            text,
            "\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n\
             source = {{ registry = \"https://index.example/simple\" }}\nwheels = [\n"
        )
        .unwrap();
        for (url, hash, size) in wheels {
            writeln!(
                text,
                "    {{ url = \"{url}\", hash = \"{hash}\", size = {size} }},"
            )
            .unwrap();
        }
        text += "]\n";
    }
    text
}
