//! Prints the diagnostics of a configuration, one on each line, to compare with another program's:
//! `cargo run -p groma-config --example diagnostics -- DIRECTORY`.

use groma_config::{DiskFiles, LoadOptions, load};
use groma_diagnostics::{Diagnostic, Severity, Sources};

fn main() {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let sources = Sources::new();
    let started = std::time::Instant::now();
    let (_, diagnostics) = load(&LoadOptions::default(), &sources, &DiskFiles::new(folder));
    for diagnostic in &diagnostics {
        println!("{}", line(diagnostic, &sources));
    }
    eprintln!("{} diagnostics, {} ms", diagnostics.len(), started.elapsed().as_millis());
}

fn line(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let location = diagnostic.subject.and_then(|span| sources.locate(span)).map_or_else(
        || "-".to_owned(),
        |at| {
            let (start, end) = (at.start, at.end);
            format!("{}:{},{}-{},{}", at.file.name(), start.line, start.column, end.line, end.column)
        },
    );
    format!("{severity} | {} | {location} | {}", diagnostic.summary, diagnostic.detail)
}
