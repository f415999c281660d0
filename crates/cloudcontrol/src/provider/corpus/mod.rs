//! The corpus: configurations of many types, each taken through its lifecycle against the emulator.
//!
//! `GROMA_CORPUS=300` sets the number of generated configurations, one for each type; 40 by default. Files in the folder
//! `corpus` of this crate are written by hand for the types that people use most.

mod exceptions;
mod generator;
mod lifecycle;
mod sdk;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use groma_value::Value;

use self::exceptions::{FAILING, differences};
use self::generator::{block, generate};
use self::lifecycle::{FailedStep, Revisions, Step, run};
use super::interpreted::Types;
use super::offered::type_names;
use crate::names;
use crate::schema::Catalogue;

const PROVIDER: &str = "provider \"awscc\" {\n  region = \"eu-central-1\"\n}\n";

/// Types whose schemas take seconds each in a build for tests.
const SLOW: &str = "AWS::QuickSight";

#[derive(Debug, Default)]
struct Report {
    tried: BTreeSet<String>,
    failed: BTreeMap<String, String>,
}

impl Report {
    fn add(&mut self, name: &str, outcome: Result<(), FailedStep>) {
        self.tried.insert(name.to_owned());
        if let Err(FailedStep { step, reason }) = outcome {
            self.failed.insert(name.to_owned(), format!("{step:?}: {reason}"));
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
    let offered = type_names(Catalogue::shipped());
    let is_full = |name: &&'static str| {
        let schema = Catalogue::shipped().get(name).unwrap().unwrap();
        let handlers = &schema.handlers;
        let has_all = handlers.read.is_some() && handlers.update.is_some() && handlers.delete.is_some();
        let resource = names::resource_type(name).unwrap_or_default();
        !name.starts_with(SLOW) && has_all && offered.resources.binary_search(&resource.as_str().into()).is_ok()
    };
    let full: Vec<&'static str> = Catalogue::shipped().type_names().into_iter().filter(is_full).collect();
    let step = (full.len() / wanted).max(1);
    let numbered = full.into_iter().enumerate();
    if named.is_empty() {
        return numbered.step_by(step).take(wanted).collect();
    }
    numbered.filter(|(_, name)| named.split(',').any(|wanted| wanted == *name)).collect()
}

/// Runs a lifecycle; a panic is a failure of this lifecycle alone.
fn attempt(revisions: &Revisions) -> Result<(), FailedStep> {
    let outcome = catch_unwind(AssertUnwindSafe(|| run(revisions)));
    outcome.unwrap_or_else(|_| Err(FailedStep { step: Step::Validate, reason: "panic".to_owned() }))
}

#[test]
fn generated_configurations_pass_their_lifecycle() {
    let types = Types::new(Catalogue::shipped().clone());
    let mut report = Report::default();
    for (number, cloud_name) in full_types(wanted()) {
        let name = names::resource_type(cloud_name).unwrap();
        let interpreted = types.one(&name).unwrap().unwrap();
        let outcome = match generate(&interpreted, number as u64 * 1_009) {
            Some(generated) => {
                let text = |config: &Value| format!("{PROVIDER}{}", block(&name, config));
                attempt(&Revisions { created: text(&generated.minimal), updated: text(&generated.extended) })
            }
            None => Err(FailedStep { step: Step::Validate, reason: "no valid configuration was found".to_owned() }),
        };
        report.add(cloud_name, outcome);
    }
    let Report { tried, failed } = &report;
    println!("{} types, {} failed: {failed:#?}", tried.len(), failed.len());
    let unexpected = differences(FAILING, tried, failed);
    assert!(unexpected.is_empty(), "{unexpected:#?}");
}

#[test]
fn handwritten_configurations_pass_their_lifecycle() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut report = Report::default();
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 40, "{}", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        // The second revision of each file changes something in place.
        let revision = |number: u8| format!("{PROVIDER}variable \"revision\" {{\n  default = {number}\n}}\n{text}");
        let revisions = Revisions { created: revision(1), updated: revision(2) };
        report.add(&file.file_stem().unwrap().to_string_lossy(), attempt(&revisions));
    }
    assert!(report.failed.is_empty(), "{report:#?}");
}
