//! Robustness of the loader against damaged configurations.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod support;

use std::fs;
use std::path::Path;

use groma_config::variables::{VariableSources, collect};
use groma_config::{LoadOptions, MemoryFiles, load};
use groma_diagnostics::Sources;
use proptest::prelude::*;

fn cases() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// Replaces a part of the text.
fn damage(text: &str, at: usize, length: usize, with: &str) -> String {
    let boundary =
        |wanted: usize| (0..=wanted.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (start, end) = (boundary(at % (text.len() + 1)), boundary((at % (text.len() + 1)) + length));
    format!("{}{with}{}", &text[..start], &text[end.max(start)..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_configurations_never_panic(
        case in 0usize..64,
        at in 0usize..4000,
        length in 0usize..40,
        with in prop_oneof![Just(""), Just("}"), Just("\""), Just("{"), Just("${"), Just("[0]"), Just("é"), Just("null"), Just(".x"), Just("\n")],
    ) {
        let cases = cases();
        let text = damage(&cases[case % cases.len()], at, length, with);
        let sources = Sources::new();
        let files = support::files(&text);
        let (configuration, diagnostics) = load(&LoadOptions::default(), &sources, &files);
        support::print(&diagnostics, &sources);
        if let Some(configuration) = configuration {
            for module in configuration.modules() {
                for resource in module.resources.values() {
                    let _ = configuration.provider_config(&module.path, resource);
                }
            }
            let variables = &configuration.root.variables;
            let (given, problems) = collect(variables, &VariableSources::default(), &sources, &files);
            support::print(&problems, &sources);
            for (name, given) in given {
                let _ = variables[&name].accept(&given.value).map_err(|problem| problem.diagnose(&variables[&name], given.span, Some(&given.origin)));
            }
        }
    }
}

/// Only the file itself is reported, not the references to its declarations.
#[test]
fn undecodable_file_suppresses_reference_errors() {
    let utf16: Vec<u8> =
        [0xFF, 0xFE].into_iter().chain("variable \"a\" {}\n".bytes().flat_map(|byte| [byte, 0])).collect();
    let files =
        MemoryFiles::new().with("main.tf", "output \"o\" {\n  value = [var.a, local.b]\n}\n").with("vars.tf", utf16);
    let (_, diagnostics) = load(&LoadOptions::default(), &Sources::new(), &files);
    let summaries: Vec<&str> = diagnostics.iter().map(|diagnostic| &*diagnostic.summary).collect();
    assert_eq!(summaries, ["Invalid character encoding"]);
}
