//! Configurations in a single text, and printing of diagnostics.

#![allow(dead_code, reason = "every test file uses its part")]

use groma_config::{Configuration, LoadOptions, MemoryFiles, load};
use groma_diagnostics::{Diagnostic, Diagnostics, Severity, Sources};

/// Splits a text into files at lines `-- path --`; text before the first is `main.tf`.
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

/// Returns the files of a text as an in-memory file system.
pub fn files(text: &str) -> MemoryFiles {
    texts(text).into_iter().collect()
}

/// Loads the configuration in `text`.
pub fn load_text(text: &str) -> (Option<Configuration>, Diagnostics, Sources) {
    let sources = Sources::new();
    let (configuration, diagnostics) = load(&LoadOptions::default(), &sources, &files(text));
    (configuration, diagnostics, sources)
}

/// Loads the configuration in `text`, and asserts that it has no diagnostics.
pub fn load_fine(text: &str) -> Configuration {
    let (configuration, diagnostics, sources) = load_text(text);
    assert!(diagnostics.is_empty(), "{}", print(&diagnostics, &sources));
    configuration.unwrap()
}

/// Prints all diagnostics, each with its location and the text at fault.
pub fn print(diagnostics: &Diagnostics, sources: &Sources) -> String {
    let printed: Vec<String> = diagnostics.iter().map(|diagnostic| print_one(diagnostic, sources)).collect();
    printed.join("\n")
}

fn print_one(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let location = diagnostic.subject.and_then(|span| sources.locate(span)).map_or_else(String::new, |at| {
        let text = sources.text(diagnostic.subject.unwrap_or_default()).unwrap_or_default();
        let first_line = text.lines().next().unwrap_or_default().to_owned();
        format!(" {}:{}:{} `{first_line}`", at.file.name(), at.start.line, at.start.column)
    });
    format!("{severity}{location}\n  {}\n  {}\n", diagnostic.summary, diagnostic.detail.replace('\n', "\n  "))
}
