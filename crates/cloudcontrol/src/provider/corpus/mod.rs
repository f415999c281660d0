//! The corpus: configurations of many types, each taken through its life against the emulator.
//!
//! `GROMA_CORPUS=300` sets the number of generated configurations, one for each type; 40 by default. Files in the folder
//! `corpus` of this crate are written by hand for the types that people use most.

mod generator;
mod life;
mod sdk;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use self::generator::{block, generate};
use self::life::{Failed, Imported, Step, live};
use super::interpreted::Types;
use crate::names;
use crate::schema::Catalogue;

const PROVIDER: &str = "provider \"awscc\" {\n  region = \"eu-central-1\"\n}\n";

/// Types whose schemas take seconds each in a build for tests.
const SLOW: &str = "AWS::QuickSight";

#[derive(Debug, Default)]
struct Report {
    passed: usize,
    imported_unchanged: usize,
    without_configuration: Vec<String>,
    failed: BTreeMap<Step, Vec<String>>,
}

impl Report {
    fn add(&mut self, name: &str, outcome: Result<Imported, Failed>) {
        match outcome {
            Ok(imported) => {
                self.passed += 1;
                self.imported_unchanged += usize::from(imported == Imported::Unchanged);
            }
            Err(Failed { step, reason }) => {
                self.failed.entry(step).or_default().push(format!("{name}: {reason}"));
            }
        }
    }
}

/// Returns the number of types to try.
fn wanted() -> usize {
    std::env::var("GROMA_CORPUS").ok().and_then(|number| number.parse().ok()).unwrap_or(40)
}

/// Returns types with all handlers, each with its position, spread over the catalogue. `GROMA_CORPUS_TYPES` names some.
fn full_types(wanted: usize) -> Vec<(usize, &'static str)> {
    let named = std::env::var("GROMA_CORPUS_TYPES").unwrap_or_default();
    let is_full = |name: &&'static str| {
        let schema = Catalogue::shipped().get(name).unwrap().unwrap();
        let handlers = &schema.handlers;
        !name.starts_with(SLOW) && handlers.read.is_some() && handlers.update.is_some() && handlers.delete.is_some()
    };
    let full: Vec<&'static str> = Catalogue::shipped().type_names().into_iter().filter(is_full).collect();
    let step = (full.len() / wanted).max(1);
    let numbered = full.into_iter().enumerate();
    if named.is_empty() {
        return numbered.step_by(step).take(wanted).collect();
    }
    numbered.filter(|(_, name)| named.split(',').any(|wanted| wanted == *name)).collect()
}

/// Runs a life; a panic is a failure of this life alone.
fn attempt(before: &str, after: &str) -> Result<Imported, Failed> {
    let outcome = catch_unwind(AssertUnwindSafe(|| live(before, after)));
    outcome.unwrap_or_else(|_| Err(Failed { step: Step::Validate, reason: "panic".to_owned() }))
}

#[test]
fn generated_configurations_live_through_all_steps() {
    let types = Types::new(Catalogue::shipped().clone());
    let mut report = Report::default();
    for (number, cloud_name) in full_types(wanted()) {
        let name = names::resource_type(cloud_name).unwrap();
        let Ok(Some(interpreted)) = types.one(&name) else { continue };
        let Some(generated) = generate(&interpreted, number as u64 * 1_009) else {
            report.without_configuration.push(cloud_name.to_owned());
            continue;
        };
        let text = |config| format!("{PROVIDER}{}", block(&name, config));
        report.add(cloud_name, attempt(&text(&generated.minimal), &text(&generated.extended)));
    }
    println!("{report:#?}");
    let failed: usize = report.failed.values().map(Vec::len).sum::<usize>() + report.without_configuration.len();
    assert!(failed * 50 <= report.passed, "{report:#?}");
}

#[test]
fn handwritten_configurations_live_through_all_steps() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut report = Report::default();
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 40, "{}", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        // The second revision of each file changes something in place.
        let revision = |number: u8| format!("{PROVIDER}variable \"revision\" {{\n  default = {number}\n}}\n{text}");
        report.add(&file.file_stem().unwrap().to_string_lossy(), attempt(&revision(1), &revision(2)));
    }
    assert!(report.failed.is_empty(), "{report:#?}");
}
