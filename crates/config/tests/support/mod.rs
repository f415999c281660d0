//! Configurations written in one text, and diagnostics as a person reads them.

#![allow(dead_code, reason = "every test file uses its part")]

use groma_config::{Configuration, LoadOptions, MemoryFiles, load};
use groma_diagnostics::{Diagnostic, Diagnostics, Severity, Sources};

/// The files of a text that names each with a line `-- path --`; text before the first is `main.tf`.
pub fn texts(text: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = vec![("main.tf".to_owned(), String::new())];
    for line in text.lines() {
        match line.strip_prefix("-- ").and_then(|rest| rest.strip_suffix(" --")) {
            Some(path) => files.push((path.to_owned(), String::new())),
            None => {
                let (_, content) = files.last_mut().unwrap();
                content.push_str(line);
                content.push('\n');
            }
        }
    }
    files.retain(|(path, content)| path != "main.tf" || !content.trim().is_empty());
    files
}

/// The same files in memory.
pub fn files(text: &str) -> MemoryFiles {
    texts(text).into_iter().collect()
}

/// Loads the configuration in `text`.
pub fn load_text(text: &str) -> (Option<Configuration>, Diagnostics, Sources) {
    let sources = Sources::new();
    let (configuration, diagnostics) = load(&LoadOptions::default(), &sources, &files(text));
    (configuration, diagnostics, sources)
}

/// Loads the configuration in `text`, which has nothing wrong with it.
pub fn load_fine(text: &str) -> Configuration {
    let (configuration, diagnostics, sources) = load_text(text);
    assert!(diagnostics.is_empty(), "{}", print(&diagnostics, &sources));
    configuration.unwrap()
}

/// All diagnostics, each with its place and the text at fault.
pub fn print(diagnostics: &Diagnostics, sources: &Sources) -> String {
    let printed: Vec<String> = diagnostics.iter().map(|diagnostic| print_one(diagnostic, sources)).collect();
    printed.join("\n")
}

fn print_one(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = diagnostic.subject.and_then(|span| sources.locate(span)).map_or_else(String::new, |at| {
        let text = sources.text(diagnostic.subject.unwrap_or_default()).unwrap_or_default();
        let first_line = text.lines().next().unwrap_or_default().to_owned();
        format!(" {}:{}:{} `{first_line}`", at.file.name(), at.start.line, at.start.column)
    });
    format!("{severity}{place}\n  {}\n  {}\n", diagnostic.summary, diagnostic.detail.replace('\n', "\n  "))
}
