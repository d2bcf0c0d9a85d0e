//! The client against servers on this machine.

mod logins;
mod pages;
mod several;

use std::path::PathBuf;
use std::sync::Arc;

use super::*;
use crate::source::http::Http;
use crate::source::http::stub::{Reply, options};

/// The indexes of a configuration.
fn open(config: &IndexConfig) -> Indexes {
    let http = Arc::new(Http::new(&options().0).unwrap());
    let credentials = Arc::new(IndexCredentials::new(config).unwrap());
    Indexes::new(config, http, credentials).unwrap()
}

/// One index at `address`, with the logins of `netrc`.
fn index(address: &str, netrc: Option<PathBuf>) -> Indexes {
    let mut config = IndexConfig::new(vec![IndexSpec::simple(address, "the test")]);
    config.credentials.netrc.extend(netrc);
    open(&config)
}

fn names(files: &[IndexFile]) -> Vec<&str> {
    files.iter().map(|file| file.name.as_str()).collect()
}

fn json(files: &str) -> Reply {
    let body = format!(r#"{{"meta":{{"api-version":"1.1"}},"name":"x","files":[{files}]}}"#);
    Reply::new(200)
        .header("content-type", "application/vnd.pypi.simple.v1+json")
        .body(body)
}

fn json_file(name: &str, sha256: &str) -> String {
    format!(r#"{{"filename":"{name}","url":"/f/{name}","hashes":{{"sha256":"{sha256}"}}}}"#)
}

fn html(body: &str) -> Reply {
    Reply::new(200)
        .header("content-type", "text/html; charset=utf-8")
        .body(format!("<!DOCTYPE html><body>{body}"))
}
