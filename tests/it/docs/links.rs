//! Links of pages: they lead somewhere, and from the README to every page.

use std::collections::BTreeSet;

use super::{Page, page, pages, root};

/// The targets of the links of a page, as written; images too.
fn links(page: &Page) -> Vec<&str> {
    let links = page.text.split("](").skip(1);
    links
        .map(|rest| rest.split([')', ' ']).next().unwrap())
        .collect()
}

/// A relative link of a page as a path from the root, and the heading that it names.
fn resolved(page: &Page, link: &str) -> (String, Option<String>) {
    let (path, heading) = match link.split_once('#') {
        Some((path, heading)) => (path, Some(heading.to_owned())),
        None => (link, None),
    };
    if path.is_empty() {
        return (page.path.clone(), heading);
    }
    let mut parts: Vec<&str> = page.path.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => assert!(parts.pop().is_some(), "{}: {link} leaves", page.path),
            "." | "" => {}
            _ => parts.push(part),
        }
    }
    (parts.join("/"), heading)
}

/// The names by which headings of a page can be linked to.
fn headings(page: &Page) -> BTreeSet<String> {
    let mut in_code = false;
    let mut names = BTreeSet::new();
    for line in page.text.lines() {
        in_code ^= line.starts_with("```");
        if line.starts_with('#') && !in_code {
            let text = line.trim_start_matches('#').trim().to_lowercase();
            let kept = text
                .chars()
                .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            names.insert(kept.collect::<String>().replace(' ', "-"));
        }
    }
    names
}

fn is_relative(link: &str) -> bool {
    !link.contains("://") && !link.starts_with("mailto:")
}

#[test]
fn what_pages_link_to_exists() {
    let mut checked = 0;
    for from in pages() {
        for link in links(&from).into_iter().filter(|link| is_relative(link)) {
            checked += 1;
            let (path, heading) = resolved(&from, link);
            assert!(root().join(&path).exists(), "{}: {link}", from.path);
            if let Some(heading) = heading {
                let found = headings(&page(&path)).contains(&heading);
                assert!(found, "{}: {link}", from.path);
            }
        }
    }
    assert!(checked > 50, "only {checked}");
}

#[test]
fn every_page_can_be_reached_from_the_readme() {
    let all: BTreeSet<String> = pages().into_iter().map(|page| page.path).collect();
    let mut reached = BTreeSet::new();
    let mut open = vec!["README.md".to_owned()];
    while let Some(path) = open.pop() {
        if reached.insert(path.clone()) {
            let from = page(&path);
            let targets = links(&from).into_iter().filter(|link| is_relative(link));
            let targets = targets.map(|link| resolved(&from, link).0);
            open.extend(targets.filter(|path| all.contains(path)));
        }
    }
    let lost: Vec<&String> = all.difference(&reached).collect();
    assert!(lost.is_empty(), "no way from the README to {lost:?}");
}

#[test]
fn headings_become_the_names_that_web_pages_give_them() {
    let page = Page {
        path: String::new(),
        text: "# `smgate check`\n## What it's for, in 2 words\n```\n# no heading\n```\n".to_owned(),
    };
    let expected = ["smgate-check", "what-its-for-in-2-words"];
    assert_eq!(headings(&page), expected.map(str::to_owned).into());
}
