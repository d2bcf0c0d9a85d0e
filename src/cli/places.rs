//! Directories of the user that the environment names.

use std::ffi::OsString;
use std::path::PathBuf;

/// Where results are kept between runs: `SMGATE_CACHE_DIR`, else a directory of the user's caches (`XDG_CACHE_HOME`,
/// `~/.cache`, `~/Library/Caches`, `%LOCALAPPDATA%`); none where there is no such directory.
pub(super) fn cache_dir() -> Option<PathBuf> {
    cache_dir_of(&|name| std::env::var_os(name))
}

fn cache_dir_of(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| {
        let value = variable(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    };
    if let Some(given) = path("SMGATE_CACHE_DIR") {
        return Some(given);
    }
    if cfg!(windows) {
        return Some(path("LOCALAPPDATA")?.join("smgate").join("cache"));
    }
    let caches = match path("XDG_CACHE_HOME").filter(|path| path.is_absolute()) {
        Some(caches) => caches,
        None if cfg!(target_os = "macos") => path("HOME")?.join("Library/Caches"),
        None => path("HOME")?.join(".cache"),
    };
    Some(caches.join("smgate"))
}

#[cfg(all(test, not(windows)))]
mod tests {
    use super::*;

    #[test]
    fn results_are_kept_where_the_user_says_or_below_the_caches() {
        let of = |variables: &[(&str, &str)]| {
            cache_dir_of(&|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            })
        };
        let all = [
            ("SMGATE_CACHE_DIR", "/own"),
            ("XDG_CACHE_HOME", "/x"),
            ("HOME", "/h"),
        ];
        assert_eq!(of(&all), Some("/own".into()));
        assert_eq!(of(&all[1..]), Some("/x/smgate".into()));
        // what is not absolute is to be ignored, as the XDG base directory specification says
        let relative = [("XDG_CACHE_HOME", "x"), ("HOME", "/h")];
        let home = if cfg!(target_os = "macos") {
            "/h/Library/Caches/smgate"
        } else {
            "/h/.cache/smgate"
        };
        assert_eq!(of(&relative), Some(home.into()));
        assert_eq!(of(&[("SMGATE_CACHE_DIR", "")]), None);
    }
}
