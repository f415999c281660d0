//! Parses the files named on the command line and prints their diagnostics, one a line:
//! `file:line:column: severity: summary`.

use groma_diagnostics::{Severity, Sources};

fn main() -> std::io::Result<()> {
    let sources = Sources::new();
    for path in std::env::args().skip(1) {
        let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
        let Some(file) = sources.add(path.as_str(), text) else { continue };
        let (_, diagnostics) = match path.ends_with(".json") {
            true => groma_hcl::parse_json_file(&file),
            false => groma_hcl::parse_file(&file),
        };
        for diagnostic in &diagnostics {
            let severity = match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            let position = diagnostic.subject.map(|span| file.position(span.start()));
            let (line, column) = position.map_or((0, 0), |position| (position.line, position.column));
            println!("{path}:{line}:{column}: {severity}: {}", diagnostic.summary);
        }
    }
    Ok(())
}
