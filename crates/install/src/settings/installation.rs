//! The `provider_installation` block.

use std::path::Path;

use groma_address::ProviderAddress;
use serde_json::Value;

use super::read::Reader;
use super::text::{Entry, Setting};
use crate::http::Url;
use crate::providers::{Method, Pattern, RepositoryTemplate, Source};

const INVALID: &str = "Invalid provider_installation method block";

impl Reader<'_> {
    pub(super) fn installation(&mut self, path: &Path, entry: &Entry, content: &[Entry]) {
        if self.found.methods.is_some() {
            let summary = "No more than one provider_installation block may be specified";
            self.wrong(path, entry.line, summary, "this is the second one");
            return;
        }
        let mut methods = Vec::new();
        for (index, method) in content.iter().enumerate() {
            let Setting::Object(arguments) = &method.value else {
                self.wrong(
                    path,
                    method.line,
                    INVALID,
                    &format!("provider_installation contains only blocks, and {} is not a block", method.key),
                );
                continue;
            };
            if method.key == "dev_overrides" {
                if index > 0 {
                    self.wrong(
                        path,
                        method.line,
                        INVALID,
                        "dev_overrides must be the first of the installation methods",
                    );
                }
                self.overrides(path, arguments);
            } else if let Some(source) = self.source(path, method, arguments) {
                let include = self.patterns(path, method, arguments, "include");
                let exclude = self.patterns(path, method, arguments, "exclude");
                methods.push(Method { source, include, exclude });
            }
        }
        self.found.methods = Some(methods);
    }

    fn overrides(&mut self, path: &Path, arguments: &[Entry]) {
        for entry in arguments {
            let Setting::Text(folder) = &entry.value else {
                self.wrong(
                    path,
                    entry.line,
                    "Invalid provider development override",
                    &format!("{:?} must be the path of a directory", entry.key),
                );
                continue;
            };
            match ProviderAddress::parse(&entry.key, &self.registry) {
                Ok(address) => drop(self.found.overrides.insert(address, self.path(folder))),
                Err(error) => self.wrong(path, entry.line, "Invalid provider development override", &error.message),
            }
        }
    }

    fn source(&mut self, path: &Path, method: &Entry, arguments: &[Entry]) -> Option<Source> {
        match &method.key[..] {
            "direct" => Some(Source::Direct),
            "filesystem_mirror" => match text(arguments, "path") {
                Some(folder) => Some(Source::Filesystem(self.path(folder))),
                None => {
                    self.wrong(path, method.line, INVALID, "filesystem_mirror needs the argument \"path\"");
                    None
                }
            },
            "network_mirror" => {
                let url = text(arguments, "url").and_then(|text| Url::parse(text).ok());
                match url.filter(|url| url.scheme() == "https") {
                    Some(mut url) => {
                        if !url.path().ends_with('/') {
                            let folder = format!("{}/", url.path());
                            url.set_path(&folder);
                        }
                        Some(Source::Network(url))
                    }
                    None => {
                        self.wrong(
                            path,
                            method.line,
                            "Invalid URL for provider installation source",
                            "network_mirror needs the argument \"url\", an address that begins with https:",
                        );
                        None
                    }
                }
            }
            "oci_mirror" => {
                let template = text(arguments, "repository_template").and_then(RepositoryTemplate::parse);
                if template.is_none() {
                    self.wrong(
                        path,
                        method.line,
                        INVALID,
                        "oci_mirror needs the argument \"repository_template\", such as \"example.com/${namespace}/${type}\"",
                    );
                }
                template.map(Source::Oci)
            }
            other => {
                let known = "direct, filesystem_mirror, network_mirror, oci_mirror and dev_overrides";
                let detail = format!("Unknown provider installation method {other:?}; known are {known}");
                self.wrong(path, method.line, INVALID, &detail);
                None
            }
        }
    }

    fn patterns(&mut self, path: &Path, method: &Entry, arguments: &[Entry], name: &str) -> Vec<Pattern> {
        let mut patterns = Vec::new();
        for written in texts(arguments, name) {
            match Pattern::parse(&written, &self.registry) {
                Some(pattern) => patterns.push(pattern),
                None => self.wrong(
                    path,
                    method.line,
                    match name {
                        "include" => "Invalid provider source inclusion patterns",
                        _ => "Invalid provider source exclusion patterns",
                    },
                    &format!("{written:?} is not a valid pattern such as example.com/*/*"),
                ),
            }
        }
        patterns
    }
}

pub(super) fn text<'a>(entries: &'a [Entry], name: &str) -> Option<&'a str> {
    entries.iter().find(|entry| entry.key == name).and_then(|entry| match &entry.value {
        Setting::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

pub(super) fn texts(entries: &[Entry], name: &str) -> Vec<String> {
    let list = entries.iter().find(|entry| entry.key == name).map(|entry| &entry.value);
    let Some(Setting::List(items)) = list else { return Vec::new() };
    let texts = items.iter().filter_map(|item| match item {
        Setting::Text(text) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

pub(super) fn json(setting: &Setting) -> Value {
    match setting {
        Setting::Text(text) => Value::from(text.as_str()),
        Setting::Number(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str())),
        Setting::Bool(value) => Value::from(*value),
        Setting::List(items) => items.iter().map(json).collect(),
        Setting::Object(entries) => {
            Value::Object(entries.iter().map(|entry| (entry.key.clone(), json(&entry.value))).collect())
        }
    }
}
