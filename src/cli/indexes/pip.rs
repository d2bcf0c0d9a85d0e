//! What the user has told pip of package indexes, and what pip says by itself.
//!
//! Format: the topics "Configuration" and "HTTPS certificates" of pip's guide; places and order as in its module
//! `configuration`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use configparser::ini::{Ini, IniDefault};

use super::Level;
use super::surroundings::{Surroundings, System, is_yes, unusable};
use crate::Error;
use crate::source::index::{IndexSpec, Merge};

/// Sections that count for `pip install`, the first one most.
const SECTIONS: [&str; 2] = ["install", "global"];

/// How pip is asked what its default is. Python is kept from taking a `pip` of the working directory (`-I`).
const ASK: [(&str, &[&str]); 5] = [
    ("pip", &["install", "--help"]),
    ("pip3", &["install", "--help"]),
    ("python3", &["-I", "-m", "pip", "install", "--help"]),
    ("python", &["-I", "-m", "pip", "install", "--help"]),
    ("py", &["-I", "-m", "pip", "install", "--help"]),
];

/// What the files of pip say: by section and key, each with the file.
#[derive(Debug, Default)]
pub(super) struct Settings(BTreeMap<(String, String), (String, PathBuf)>);

impl Settings {
    /// Reads the files; the later ones count more.
    pub(super) fn read(around: &Surroundings<'_>) -> Result<Self, Error> {
        let mut all = Self::default();
        for path in places(around) {
            let Some(text) = (around.read)(&path)? else {
                continue;
            };
            let mut format = IniDefault::default();
            format.case_sensitive = true;
            format.multiline = true;
            format.enable_inline_comments = false;
            let mut ini = Ini::new_from_defaults(format);
            let sections = ini
                .read(text)
                .map_err(|why| unusable(&path, &format!("is not understood: {why}")))?;
            let sections = sections.into_iter().collect::<BTreeMap<_, _>>();
            for (section, keys) in sections {
                for (key, value) in keys.into_iter().collect::<BTreeMap<_, _>>() {
                    let key = key.to_lowercase().replace('_', "-");
                    let value = value.filter(|value| !value.trim().is_empty());
                    if let Some(value) = value {
                        all.0.insert((section.clone(), key), (value, path.clone()));
                    }
                }
            }
        }
        Ok(all)
    }

    fn get(&self, key: &str) -> Option<(&str, &Path)> {
        let mut sections = SECTIONS.iter();
        let found =
            sections.find_map(|section| self.0.get(&((*section).to_owned(), key.to_owned())));
        found.map(|(value, path)| (value.as_str(), path.as_path()))
    }

    /// The file of certificate authorities.
    pub(super) fn cert(&self, around: &Surroundings<'_>) -> Option<PathBuf> {
        let (path, _) = self.get("cert")?;
        Some(around.place(path, None).into())
    }

    /// What the files say that no variable says instead.
    pub(super) fn files(&self, around: &Surroundings<'_>) -> Level {
        let value = |key: &str| {
            if around.text(&variable(key)).is_some() {
                return None;
            }
            let (value, path) = self.get(key)?;
            Some((value.to_owned(), format!("`{}`", path.display())))
        };
        level(&value, around)
    }
}

/// What the environment says.
pub(super) fn environment(around: &Surroundings<'_>) -> Level {
    let value = |key: &str| {
        let name = variable(key);
        Some((around.text(&name)?, format!("`{name}`")))
    };
    level(&value, around)
}

/// The variable that says what a key of the files says.
fn variable(key: &str) -> String {
    format!("PIP_{}", key.to_uppercase().replace('-', "_"))
}

fn level(value: &dyn Fn(&str) -> Option<(String, String)>, around: &Surroundings<'_>) -> Level {
    let list = |key: &str, spec: &dyn Fn(String, &str) -> IndexSpec| {
        let (text, named_by) = value(key).unwrap_or_default();
        let places = text.split_whitespace();
        let specs = places.map(|place| spec(around.place(place, None), &named_by));
        specs.collect::<Vec<_>>()
    };
    let main = value("index-url");
    let main = main.map(|(url, by)| IndexSpec::simple(around.place(&url, None), by));
    let extra = list("extra-index-url", &|url, by| IndexSpec::simple(url, by));
    let says = main.is_some() || !extra.is_empty();
    Level {
        main,
        extra,
        flat: list("find-links", &|url, by| IndexSpec::flat(url, by)),
        no_index: value("no-index").is_some_and(|(text, _)| is_yes(&text)),
        merge: says.then_some(Merge::Union),
    }
}

/// The files of pip, the one that counts most last: of the system, of the user, of the virtual environment, and the
/// one that `PIP_CONFIG_FILE` names, which stands for that of the user.
fn places(around: &Surroundings<'_>) -> Vec<PathBuf> {
    let named = around.text("PIP_CONFIG_FILE");
    if named
        .as_deref()
        .is_some_and(|path| path == "/dev/null" || path.eq_ignore_ascii_case("nul"))
    {
        return Vec::new();
    }
    let file = match around.system {
        System::Windows => "pip.ini",
        _ => "pip.conf",
    };
    let named = around.path("PIP_CONFIG_FILE");
    let home = around.home();
    let below_home = |rest: &str| home.as_ref().map(|home| home.join(rest));
    let mut places: Vec<Option<PathBuf>> = Vec::new();
    let mut user: Vec<Option<PathBuf>> = Vec::new();
    match around.system {
        System::Linux => {
            let directories = around.text("XDG_CONFIG_DIRS");
            let directories = directories.as_deref().unwrap_or("/etc/xdg");
            let directories = directories.split(':').filter(|path| !path.is_empty());
            places.extend(directories.map(|path| Some(Path::new(path).join("pip"))));
            places.push(Some("/etc".into()));
            user.push(below_home(".pip"));
            user.push(around.settings().map(|path| path.join("pip")));
        }
        System::MacOs => {
            places.push(Some("/Library/Application Support/pip".into()));
            user.push(below_home(".pip"));
            // pip looks into the second only where the first does not exist; there is one or the other
            user.push(below_home(".config/pip"));
            user.push(below_home("Library/Application Support/pip"));
        }
        System::Windows => {
            places.push(around.path("PROGRAMDATA").map(|path| path.join("pip")));
            user.push(below_home("pip"));
            user.push(around.path("APPDATA").map(|path| path.join("pip")));
        }
    }
    let replaced = named.as_ref().is_some_and(|path| (around.is_file)(path));
    if !replaced {
        places.append(&mut user);
    }
    places.push(
        around
            .path("VIRTUAL_ENV")
            .or_else(|| around.path("CONDA_PREFIX")),
    );
    let directories = places.into_iter().flatten();
    directories
        .map(|path| path.join(file))
        .chain(named)
        .collect()
}

/// The index that the user's own pip asks where nothing is configured, as its help says.
pub(super) fn default_index(around: &Surroundings<'_>) -> Option<String> {
    ASK.iter().find_map(|(program, arguments)| {
        let help = (around.run)(program, arguments)?;
        in_help(&help)
    })
}

/// `-i, --index-url <url>  Base URL … (default https://…).`
fn in_help(help: &str) -> Option<String> {
    let (_, option) = help.split_once("--index-url <")?;
    let (_, default) = option.split_once("(default")?;
    let (default, _) = default.split_once(')')?;
    // the line may be broken, even in the address
    let address: String = default.split_whitespace().collect();
    let (scheme, rest) = address.split_once("://")?;
    if !matches!(scheme, "https" | "http") {
        return None;
    }
    // pip hides a password, and what it shows instead is none
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit('@').next().unwrap_or(host);
    Some(format!("{scheme}://{host}/{path}"))
}
