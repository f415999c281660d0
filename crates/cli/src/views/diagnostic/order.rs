//! The order of several diagnostics.

use groma_diagnostics::{Diagnostic, Diagnostics, Severity, Sources};

/// Warnings first; then what has no place; then by place, files of outer folders before those of inner ones. What is at
/// the same place keeps its order. So the order does not depend on which provider answered first.
pub fn in_order<'d>(diagnostics: &'d Diagnostics, sources: &Sources) -> Vec<&'d Diagnostic> {
    let mut ordered: Vec<&Diagnostic> = diagnostics.iter().collect();
    if ordered.len() > 1 {
        ordered.sort_by_cached_key(|diagnostic| {
            let span = diagnostic.subject.filter(|span| !span.is_none());
            let place = span.and_then(|span| {
                let located = sources.locate(span)?;
                let name = located.file.name().to_owned();
                Some((name.matches(std::path::MAIN_SEPARATOR).count(), name, span.start(), span.end()))
            });
            (diagnostic.severity == Severity::Error, place)
        });
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_are_told_by_place_and_warnings_first() {
        let sources = Sources::new();
        let inner = sources.add("m/main.tf", "abcdef").unwrap();
        let outer = sources.add("main.tf", "abcdef").unwrap();
        let at = |summary: &str, file: &groma_diagnostics::SourceFile, from: u32, to: u32| {
            Diagnostic::error(summary, "").at(file.span(from as usize, to as usize))
        };
        let mut all = Diagnostics::new();
        all.push(at("inner", &inner, 0, 1));
        all.push(at("second", &outer, 2, 3));
        all.push(at("first", &outer, 1, 5));
        all.push(Diagnostic::error("nowhere", ""));
        all.push(Diagnostic::warning("warning", "").at(inner.span(3, 4)));
        let told: Vec<&str> = in_order(&all, &sources).iter().map(|one| one.summary.as_str()).collect();
        assert_eq!(told, ["warning", "nowhere", "first", "second", "inner"]);
    }
}
