//! Interpretation of CLI configuration files.

use std::cell::LazyCell;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use groma_address::ProviderAddress;
use groma_diagnostics::{Diagnostic, Diagnostics, io_reason};
use serde_json::{Map, Value};

use super::text::{Entry, Setting, parse};
use super::{CliConfiguration, ConfigSources, HelperSetting};
use crate::credentials::Token;
use crate::discovery::Services;
use crate::http::Url;
use crate::providers::{Method, Pattern, RepositoryTemplate, Source};

/// Reads all files of the CLI configuration. An error in one file does not prevent reading the others. `registry` is
/// called once, and only if needed, to find the default host of provider addresses.
pub fn read(sources: &ConfigSources, registry: &dyn Fn() -> String) -> (CliConfiguration, Diagnostics) {
    let registry = LazyCell::new(registry);
    let mut reader = Reader { sources, registry, found: CliConfiguration::default(), problems: Diagnostics::new() };
    if let Some(file) = &sources.file {
        reader.file(file);
    }
    for file in folder_files(sources.folder.as_deref()) {
        reader.file(&file);
    }
    (reader.found, reader.problems)
}

fn folder_files(folder: Option<&Path>) -> Vec<PathBuf> {
    let Some(entries) = folder.and_then(|folder| std::fs::read_dir(folder).ok()) else { return Vec::new() };
    // The names of both Terraform and OpenTofu.
    let endings = [".tfrc", ".tfrc.json", ".tofurc", ".tofurc.json"];
    let is_file = |path: &PathBuf| {
        path.file_name().is_some_and(|name| endings.iter().any(|end| name.to_string_lossy().ends_with(end)))
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_file).collect();
    // Single-valued settings of later files win, so the order must not depend on the file system.
    files.sort();
    files
}

/// The position of the first byte that is not UTF-8, in Terraform's words. Terraform refuses such bytes in comments of
/// this file too.
fn not_utf8(error: &FromUtf8Error) -> String {
    let (before, rest) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    let column = 1 + before.iter().rev().take_while(|byte| **byte != b'\n').count();
    let byte = rest.first().copied().unwrap_or_default();
    format!("At {line}:{column}: illegal UTF-8 encoding (byte 0x{byte:02X})")
}

/// The settings read so far.
pub(super) struct Reader<'a> {
    sources: &'a ConfigSources,
    pub(super) registry: LazyCell<String, &'a dyn Fn() -> String>,
    pub(super) found: CliConfiguration,
    problems: Diagnostics,
}

impl Reader<'_> {
    fn file(&mut self, path: &Path) {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // Only a warning, as in Terraform.
                self.problems.push(Diagnostic::warning(
                    "Unable to open CLI configuration file",
                    format!("The CLI configuration file at {path:?} does not exist."),
                ));
                return;
            }
            Err(error) => {
                self.problems.push(Diagnostic::error(
                    format!("Error reading {}: {error}", path.display(), error = io_reason(&error)),
                    "",
                ));
                return;
            }
        };
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let summary = format!("Error parsing {}: {}", path.display(), not_utf8(&error));
                self.problems.push(Diagnostic::error(summary, "Convert the file to UTF-8."));
                return;
            }
        };
        match parse(&text) {
            Ok(entries) => entries.iter().for_each(|entry| self.entry(path, entry)),
            Err(problem) => {
                self.problems.push(Diagnostic::error(format!("Error parsing {}: {problem}", path.display()), ""));
            }
        }
    }

    pub(super) fn wrong(&mut self, path: &Path, line: usize, summary: &str, detail: &str) {
        self.problems.push(Diagnostic::error(summary, format!("{}:{line}: {detail}", path.display())));
    }

    fn entry(&mut self, path: &Path, entry: &Entry) {
        match (&entry.key[..], &entry.value) {
            // Like a missing setting: wrappers write an empty one.
            ("plugin_cache_dir", Setting::Text(text)) if text.is_empty() => {}
            ("plugin_cache_dir", Setting::Text(text)) => {
                let folder = self.path(text);
                match std::fs::metadata(&folder) {
                    Ok(_) => self.found.plugin_cache = Some(folder),
                    Err(error) => {
                        let folder = folder.display();
                        let summary = format!(
                            "The specified plugin cache dir {folder} cannot be opened: {error}",
                            error = io_reason(&error)
                        );
                        self.wrong(path, entry.line, &summary, "create the directory, or correct plugin_cache_dir");
                    }
                }
            }
            ("plugin_cache_may_break_dependency_lock_file", Setting::Bool(value)) => {
                self.found.cache_may_break_lock_file = *value;
            }
            ("disable_checkpoint", Setting::Bool(value)) => self.found.disable_checkpoint = *value,
            ("credentials", _) => self.each_labelled(path, entry, Self::credentials),
            ("host", _) => self.each_labelled(path, entry, Self::host),
            ("credentials_helper", _) => self.each_labelled(path, entry, Self::helper),
            ("provider_installation", Setting::Object(entries)) => self.installation(path, entry, entries),
            // Settings of older and newer versions are ignored.
            _ => {}
        }
    }

    /// Returns blocks with a label, also in the JSON form in which the label is a key.
    fn each_labelled(&mut self, path: &Path, entry: &Entry, take: fn(&mut Self, &Path, usize, &str, &[Entry])) {
        match (&entry.labels[..], &entry.value) {
            ([label], Setting::Object(content)) => take(self, path, entry.line, label, content),
            // The JSON form: the label is a key of an object.
            ([], Setting::Object(inner)) => {
                for labelled in inner {
                    if let Setting::Object(content) = &labelled.value {
                        take(self, path, labelled.line, &labelled.key, content);
                    }
                }
            }
            _ => self.wrong(path, entry.line, &format!("Invalid {} block", entry.key), "it needs one label and a body"),
        }
    }

    fn credentials(&mut self, path: &Path, line: usize, host: &str, content: &[Entry]) {
        // Only the host name is validated; the services are not used.
        if Services::of(host, Map::new()).is_err() {
            let summary = format!("The credentials {host:?} block has an invalid hostname");
            self.wrong(path, line, &summary, "a label such as app.example.com is expected");
            return;
        }
        if let Some(token) = text(content, "token") {
            self.found.tokens.push((host.to_owned(), Token::new(token)));
        }
    }

    fn host(&mut self, path: &Path, line: usize, host: &str, content: &[Entry]) {
        let mut services = Map::new();
        for entry in content.iter().filter(|entry| entry.key == "services") {
            if let Value::Object(object) = json(&entry.value) {
                services.extend(object);
            }
        }
        match Services::of(host, services) {
            Ok(services) => self.found.services.push(services),
            Err(_) => {
                let summary = format!("The host {host:?} block has an invalid hostname");
                self.wrong(path, line, &summary, "a label such as app.example.com is expected");
            }
        }
    }

    fn helper(&mut self, path: &Path, line: usize, name: &str, content: &[Entry]) {
        if self.found.helper.is_some() {
            let summary = "No more than one credentials_helper block may be specified";
            self.wrong(path, line, summary, "this is the second one");
            return;
        }
        self.found.helper = Some(HelperSetting { name: name.to_owned(), arguments: texts(content, "args") });
    }

    /// Expands `~` and `$NAME` in a path.
    pub(super) fn path(&self, written: &str) -> PathBuf {
        let value = |name: &str| {
            let found = self.sources.environment.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str()).unwrap_or_default()
        };
        let mut expanded = String::new();
        let mut rest = written;
        while let Some((before, after)) = rest.split_once('$') {
            expanded.push_str(before);
            let (name, behind) = variable(after);
            // A lone dollar sign stays; an unset variable is empty, as in a shell.
            expanded.push_str(if name.is_empty() { "$" } else { value(name) });
            rest = behind;
        }
        expanded.push_str(rest);
        match (expanded.strip_prefix("~/"), &self.sources.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => PathBuf::from(expanded),
        }
    }
}

/// Splits the variable name after a dollar sign, with or without braces, from the rest.
fn variable(after: &str) -> (&str, &str) {
    // An unclosed brace is no variable, and the text stays as it is.
    if let Some((name, rest)) = after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
        return (name, rest);
    }
    let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
    after.split_at(end)
}

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
                // Read even in the wrong place, so that its own mistakes are reported in the same run.
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
                // Mirrors sign nothing, so only the encryption protects their documents.
                match url.filter(|url| url.scheme() == "https") {
                    Some(mut url) => {
                        // Without the final slash the last segment would be replaced when paths are joined.
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
        // Forms that JSON does not have, such as `.5`, stay text.
        Setting::Number(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str())),
        Setting::Bool(value) => Value::from(*value),
        Setting::List(items) => items.iter().map(json).collect(),
        Setting::Object(entries) => {
            Value::Object(entries.iter().map(|entry| (entry.key.clone(), json(&entry.value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Url;
    use crate::providers::Source;
    use groma_address::DEFAULT_PROVIDER_HOST;

    fn of(text: impl AsRef<[u8]>) -> (CliConfiguration, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rc");
        std::fs::write(&file, text).unwrap();
        let sources = ConfigSources {
            file: Some(file),
            home: Some(PathBuf::from("/home/me")),
            environment: vec![("BASE".to_owned(), "/base".to_owned())],
            ..ConfigSources::default()
        };
        let (found, problems) = read(&sources, &|| DEFAULT_PROVIDER_HOST.to_owned());
        (found, problems.iter().map(|problem| format!("{}: {}", problem.summary, problem.detail)).collect())
    }

    #[test]
    fn invalid_utf8_is_reported_with_its_position() {
        let (_, problems) = of(b"disable_checkpoint = true\n# \xe9\n");
        assert!(problems[0].contains("At 2:3: illegal UTF-8 encoding (byte 0xE9)"), "{problems:?}");
    }

    #[test]
    fn default_registry_is_requested_once_and_only_if_needed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rc");
        let addresses = "\"acme/tool\" = \"/bin\"\n \"acme/other\" = \"/bin\"";
        // The answer may require a request, so it is not computed without need.
        for (overrides, times) in [("", 0), (addresses, 1)] {
            std::fs::write(&file, format!("provider_installation {{\n dev_overrides {{\n {overrides}\n }}\n}}\n"))
                .unwrap();
            let asked = std::cell::Cell::new(0);
            let ask = || {
                asked.set(asked.get() + 1);
                "registry.example.com".to_owned()
            };
            let (found, problems) = read(&ConfigSources { file: Some(file.clone()), ..ConfigSources::default() }, &ask);
            let hosts: Vec<String> = found.overrides.keys().map(|address| address.hostname.to_string()).collect();
            assert_eq!((problems.len(), asked.get()), (0, times), "{overrides}");
            assert!(hosts.iter().all(|host| host == "registry.example.com"), "{hosts:?}");
        }
    }

    #[test]
    fn installation_methods_keep_their_order_and_patterns() {
        let (found, problems) = of(
            "provider_installation {\n  dev_overrides { \"acme/tool\" = \"~/bin\" }\n  filesystem_mirror {\n    path = \"${BASE}/m\"\n    \
             include = [\"example.com/*/*\"]\n  }\n  network_mirror { url = \"https://m.example.com/p\" }\n  direct { exclude = [\"acme/*\"] }\n}\n\
             credentials \"app.example.com\" { token = \"t\" }\nhost \"x.example.com\" { services = { \"providers.v1\" = \"https://y.example.com/\" } }\n",
        );
        assert_eq!(problems, Vec::<String>::new());
        let methods = found.methods.unwrap();
        assert_eq!(methods[0].source, Source::Filesystem("/base/m".into()));
        assert_eq!(methods[0].include.len(), 1);
        assert_eq!(methods[1].source, Source::Network(Url::parse("https://m.example.com/p/").unwrap()));
        assert_eq!(methods[2].source, Source::Direct);
        assert_eq!(found.overrides.values().next().unwrap(), Path::new("/home/me/bin"));
        assert_eq!(found.tokens[0].1.secret(), "t");
        assert_eq!(found.services[0].url("providers.v1").unwrap().as_str(), "https://y.example.com/");
    }

    #[test]
    fn errors_name_file_and_line() {
        let (_, problems) = of(
            "provider_installation {\n  network_mirror { url = \"http://m\" }\n  magic {}\n}\nplugin_cache_dir = \"/no/such\"\n",
        );
        assert!(problems[0].contains("rc:2") && problems[0].contains("https:"), "{problems:?}");
        assert!(problems[1].contains("Unknown provider installation method \"magic\""), "{problems:?}");
        assert!(problems[2].starts_with("The specified plugin cache dir /no/such cannot be opened"), "{problems:?}");
        let (found, problems) = of("plugin_cache_dir = \"\"\n");
        assert!(found.plugin_cache.is_none() && problems.is_empty(), "no folder is none: {problems:?}");
    }
}
