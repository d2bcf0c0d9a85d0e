//! What the user has told uv of package indexes.
//!
//! Format: the settings reference of uv (`uv.toml`, `[tool.uv]` of `pyproject.toml`) and its list of variables.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Level;
use super::surroundings::{Surroundings, System, unusable};
use crate::Error;
use crate::source::index::{IndexSpec, Merge};

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case", default)]
struct Settings {
    index_url: Option<String>,
    extra_index_url: Vec<String>,
    find_links: Vec<String>,
    no_index: bool,
    index_strategy: Option<String>,
    index: Vec<Index>,
}

#[derive(Deserialize)]
struct Index {
    name: Option<String>,
    url: String,
    #[serde(default)]
    default: bool,
    #[serde(default)]
    explicit: bool,
    #[serde(default)]
    format: Option<String>,
}

#[derive(Deserialize)]
struct Project {
    tool: Option<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    uv: Option<Settings>,
}

/// What the environment says: `UV_INDEX`, `UV_DEFAULT_INDEX`, and their older names.
pub(super) fn environment(around: &Surroundings<'_>) -> Level {
    let spec = |text: &str, named_by: &str| {
        let (name, address) = named(text);
        let mut spec = IndexSpec::simple(around.place(address, None), format!("`{named_by}`"));
        spec.name = name.map(str::to_owned);
        spec
    };
    let mut main = ["UV_DEFAULT_INDEX", "UV_INDEX_URL"].iter();
    let main = main.find_map(|name| Some(spec(&around.text(name)?, name)));
    let mut extra = Vec::new();
    for name in ["UV_INDEX", "UV_EXTRA_INDEX_URL"] {
        let all = around.text(name).unwrap_or_default();
        extra.extend(all.split_whitespace().map(|text| spec(text, name)));
    }
    let pages = around.text("UV_FIND_LINKS").unwrap_or_default();
    let pages = pages.split([',', ' ']).filter(|page| !page.is_empty());
    let flat: Vec<IndexSpec> = pages
        .map(|page| IndexSpec::flat(around.place(page, None), "`UV_FIND_LINKS`"))
        .collect();
    let strategy = around.text("UV_INDEX_STRATEGY");
    let says = main.is_some() || !extra.is_empty();
    Level {
        no_index: around.flag("UV_NO_INDEX"),
        merge: merge(strategy.as_deref(), says),
        main,
        extra,
        flat,
    }
}

/// `NAME=URL`, or an address alone.
fn named(text: &str) -> (Option<&str>, &str) {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    match text.split_once('=') {
        Some((name, address)) if !name.is_empty() && name.chars().all(is_name) => {
            (Some(name), address)
        }
        _ => (None, text),
    }
}

/// What is done with several indexes: what the user says, and where uv's own settings name any, what uv does.
fn merge(strategy: Option<&str>, names_any: bool) -> Option<Merge> {
    match strategy {
        Some("unsafe-best-match") => Some(Merge::Union),
        Some(_) => Some(Merge::FirstIndex),
        None => names_any.then_some(Merge::FirstIndex),
    }
}

/// What the files say: that of the project, of the user, of the system; or the one that `UV_CONFIG_FILE` names.
pub(super) fn files(around: &Surroundings<'_>) -> Result<Vec<Level>, Error> {
    if around.flag("UV_NO_CONFIG") {
        return Ok(Vec::new());
    }
    if let Some(path) = around.path("UV_CONFIG_FILE") {
        return Ok(uv_toml(&path, around)?.into_iter().collect());
    }
    let mut levels = Vec::new();
    for directory in around.here.ancestors() {
        let found = match uv_toml(&directory.join("uv.toml"), around)? {
            Some(level) => Some(level),
            None => pyproject(&directory.join("pyproject.toml"), around)?,
        };
        if let Some(level) = found {
            levels.push(level);
            break;
        }
    }
    for path in [of_user(around), of_system(around)].into_iter().flatten() {
        levels.extend(uv_toml(&path, around)?);
    }
    Ok(levels)
}

fn of_user(around: &Surroundings<'_>) -> Option<PathBuf> {
    let settings = match around.system {
        System::Windows => around.path("APPDATA"),
        _ => around.settings(),
    };
    Some(settings?.join("uv").join("uv.toml"))
}

fn of_system(around: &Surroundings<'_>) -> Option<PathBuf> {
    let settings = match around.system {
        System::Windows => around.path("PROGRAMDATA"),
        _ => Some("/etc".into()),
    };
    Some(settings?.join("uv").join("uv.toml"))
}

fn uv_toml(path: &Path, around: &Surroundings<'_>) -> Result<Option<Level>, Error> {
    let Some(text) = (around.read)(path)? else {
        return Ok(None);
    };
    let settings = toml::from_str(&text).map_err(|error| not_toml(path, &text, &error))?;
    Ok(Some(level(settings, path, around)))
}

fn pyproject(path: &Path, around: &Surroundings<'_>) -> Result<Option<Level>, Error> {
    let Some(text) = (around.read)(path)? else {
        return Ok(None);
    };
    let project: Project = toml::from_str(&text).map_err(|error| not_toml(path, &text, &error))?;
    let settings = project.tool.and_then(|tool| tool.uv);
    Ok(settings.map(|settings| level(settings, path, around)))
}

/// The text of the error would repeat the line, which may hold a password.
fn not_toml(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = before.map_or(1, |before| before.matches('\n').count() + 1);
    unusable(path, &format!("is not understood at line {line}"))
}

fn level(settings: Settings, path: &Path, around: &Surroundings<'_>) -> Level {
    let named_by = format!("`{}`", path.display());
    let base = path.parent();
    let place = |text: &str| around.place(text, base);
    let mut level = Level {
        no_index: settings.no_index,
        ..Level::default()
    };
    for index in settings.index {
        let address = place(&index.url);
        let mut spec = if index.format.as_deref() == Some("flat") {
            IndexSpec::flat(address, &named_by)
        } else {
            IndexSpec::simple(address, &named_by)
        };
        spec.name = index.name;
        spec.only_pinned = index.explicit;
        if index.default && level.main.is_none() {
            level.main = Some(spec);
        } else {
            level.extra.push(spec);
        }
    }
    let simple = |url: &String| IndexSpec::simple(place(url), &named_by);
    level
        .extra
        .extend(settings.extra_index_url.iter().map(simple));
    let old = settings.index_url.as_ref().map(simple);
    level.main = level.main.or(old);
    let pages = settings.find_links.iter();
    level.flat = pages
        .map(|page| IndexSpec::flat(place(page), &named_by))
        .collect();
    let says = level.main.is_some() || !level.extra.is_empty();
    level.merge = merge(settings.index_strategy.as_deref(), says);
    level
}
