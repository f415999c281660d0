//! Effects of test files on loading: modules of runs, providers, overrides.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod support;

use std::path::PathBuf;

use groma_config::{
    Configuration, LoadOptions, LoadStatus, ModuleLocator, ModuleRequest, TestDirectory, check_overrides,
    has_test_files, load_with,
};
use groma_diagnostics::{Diagnostic, Diagnostics, Sources};

/// Records the requested modules, and locates registry modules in the directory `fetched`.
#[derive(Default)]
struct RecordingLocator(Vec<String>);

impl ModuleLocator for RecordingLocator {
    fn locate(&mut self, request: &ModuleRequest<'_>) -> Result<PathBuf, Box<Diagnostic>> {
        self.0.push(request.path.steps().join("."));
        Ok(request.local.map_or_else(|| PathBuf::from("fetched"), ToOwned::to_owned))
    }
}

struct Loaded {
    configuration: Configuration,
    diagnostics: Diagnostics,
    located: Vec<String>,
    sources: Sources,
}

fn load(text: &str) -> Loaded {
    let sources = Sources::new();
    let options = LoadOptions { tests: Some(TestDirectory::Default), ..LoadOptions::default() };
    let mut locator = RecordingLocator::default();
    let (configuration, diagnostics) = load_with(&options, &sources, &support::files(text), &mut locator);
    Loaded { configuration: configuration.unwrap(), diagnostics, located: locator.0, sources }
}

impl Loaded {
    fn summaries(&self) -> Vec<String> {
        let line = |problem: &Diagnostic| {
            let at = problem.subject.and_then(|span| self.sources.locate(span)).unwrap();
            format!("{}:{} {}", at.file.name(), at.start.line, problem.summary)
        };
        self.diagnostics.iter().map(line).collect()
    }
}

const RUNS: &str = r#"
terraform {
  required_providers {
    tool = { source = "example.com/acme/tool", version = ">= 1.0.0" }
  }
}
module "m" {
  source = "./m"
}
-- m/main.tf --
-- main.tftest.hcl --
run "first" {
  module {
    source = "./setup"
  }
}
run "plain" {}
-- tests/deep.er.tftest.hcl --
run "far" {
  module {
    source  = "example.com/acme/far/any"
    version = "~> 1.0"
  }
}
-- tests/other.tftest.json --
{"run": {"again": {"module": {"source": "./setup"}}}}
-- setup/main.tf --
terraform {
  required_providers {
    tool = { source = "example.com/acme/tool", version = "< 2.0.0" }
    mine = { source = "example.com/acme/mine" }
  }
}
module "in" {
  source = "./in"
}
-- setup/in/main.tf --
-- fetched/main.tf --
"#;

#[test]
fn modules_of_runs_are_located_like_root_calls() {
    let loaded = load(RUNS);
    assert!(loaded.diagnostics.is_empty(), "{}", support::print(&loaded.diagnostics, &loaded.sources));
    let expected = [
        "m",
        "test.main.first",
        "test.main.first.in",
        "test.tests.deep.er.far",
        "test.tests.other.tftest.json.again",
        "test.tests.other.tftest.json.again.in",
    ];
    assert_eq!(loaded.located, expected);
    let files = &loaded.configuration.tests;
    assert_eq!(files[0].steps, ["test", "main"]);
    let first = files[0].runs[0].tested.module().unwrap();
    assert!(first.root.path.is_root());
    assert_eq!(first.root.children["in"].path.to_string(), "module.in");
    assert!(files[0].runs[1].tested.module().is_none());
    assert!(loaded.configuration.module(&first.root.path).unwrap().children.contains_key("m"));
}

#[test]
fn modules_of_runs_add_provider_requirements() {
    let configuration = load(RUNS).configuration;
    let needed: Vec<String> = configuration
        .provider_requirements()
        .iter()
        .map(|(address, needed)| format!("{address} {}", needed.constraints))
        .collect();
    assert_eq!(needed, ["example.com/acme/mine ", "example.com/acme/tool >= 1.0.0, < 2.0.0"]);
}

#[test]
fn tests_are_not_loaded_by_default() {
    let mut locator = RecordingLocator::default();
    let files = support::files(RUNS);
    let (configuration, _) = load_with(&LoadOptions::default(), &Sources::new(), &files, &mut locator);
    assert_eq!(locator.0, ["m"]);
    assert!(configuration.unwrap().tests.is_empty());
}

#[test]
fn directory_with_only_test_files_is_a_configuration() {
    let loaded =
        load("-- tests/a.tftest.hcl --\nrun \"a\" {\n  module {\n    source = \"./s\"\n  }\n}\n-- s/main.tf --\n");
    assert!(loaded.diagnostics.is_empty());
    assert!(loaded.configuration.calls_modules());
    let files = support::files("-- tests/a.tftest.hcl --\n");
    let has = |folder| has_test_files(&LoadOptions::default(), &folder, &files);
    assert!(has(TestDirectory::Default) && !has(TestDirectory::Named("other".into())));
}

#[test]
fn errors_of_shared_test_modules_are_reported_once() {
    let loaded = load(
        r#"
output "o" {
  value = var.nope
}
-- tests/a.tftest.hcl --
run "a" {
  module {
    source = "./s"
  }
}
run "b" {
  module {
    source = "./s"
  }
}
run "b" {
  module {
    source = "./t"
  }
}
bogus {
}
-- s/main.tf --
output "o" {
  value = var.neither
}
import {
  to = terraform_data.a
  id = "a"
}
resource "terraform_data" "a" {
}
-- t/main.tf --
"#,
    );
    let expected = [
        "main.tf:3 Reference to undeclared input variable",
        "tests/a.tftest.hcl:16 Unsupported block type",
        "tests/a.tftest.hcl:11 Duplicate \"run\" block names",
        "s/main.tf:4 Invalid import configuration",
        "s/main.tf:2 Reference to undeclared input variable",
    ];
    assert_eq!(loaded.summaries(), expected);
    assert_eq!(loaded.located, ["test.tests.a.a", "test.tests.a.b"]);
    // Errors of tests do not affect the status of the configuration.
    assert_eq!(loaded.configuration.status, LoadStatus::InvalidReferences);
}

/// The installer makes the name a part of a file path.
#[test]
fn modules_with_invalid_names_are_not_located() {
    let module = "\" {\n  source = \"example.com/acme/far/any\"\n}\n";
    let run = "\" {\n  module {\n    source = \"example.com/acme/far/any\"\n  }\n}\n";
    let text = format!(
        "module \"../../m{module}-- tests/a.tftest.hcl --\nrun \"../../a{run}run \"{run}-- fetched/main.tf --\n"
    );
    let loaded = load(&text);
    let expected = [
        "main.tf:1 Invalid module instance name",
        "tests/a.tftest.hcl:1 Invalid run block name",
        "tests/a.tftest.hcl:6 Invalid run block name",
    ];
    assert_eq!(loaded.summaries(), expected);
    assert!(loaded.located.is_empty(), "{:?}", loaded.located);
}

#[test]
fn backends_of_test_modules_are_ignored() {
    let loaded = load(
        r#"
-- tests/a.tftest.hcl --
run "a" {
  module {
    source = "./s"
  }
}
-- s/main.tf --
terraform {
  backend "nowhere" {
  }
}
"#,
    );
    assert_eq!(loaded.summaries(), ["s/main.tf:2 Backend configuration ignored"]);
    assert!(!loaded.diagnostics.has_errors());
}

#[test]
fn mock_data_directories_are_relative_to_the_root_module() {
    let loaded = load(
        r#"
-- tests/a.tftest.hcl --
mock_provider "a" {
  source = "./mocks"
}
mock_provider "b" {
  source = "mocks"
}
mock_provider "c" {
  source = "./tests/nowhere"
}
mock_provider "d" {
  source = ""
}
-- mocks/a.tfmock.hcl --
mock_resource "x" {
  default = {}
}
override_resource {
  target = x.y
}
-- mocks/b.tfmock.hcl --
mock_resource "x" {
}
override_resource {
  target = x.y
}
override_module {
}
-- mocks/ignored.hcl --
bogus {
}
"#,
    );
    let expected = [
        "mocks/a.tfmock.hcl:2 Unsupported argument",
        "mocks/b.tfmock.hcl:6 Unsupported block type",
        "mocks/b.tfmock.hcl:1 Duplicate mock resource block",
        "mocks/b.tfmock.hcl:3 Duplicate override block",
        "tests/a.tftest.hcl:7 Failed to read mock data directory",
    ];
    assert_eq!(loaded.summaries(), expected);
}

#[test]
fn undeclared_override_targets_are_warnings() {
    let loaded = load(
        r#"
resource "terraform_data" "here" {
}
module "m" {
  source = "./m"
}
-- m/main.tf --
-- tests/a.tftest.hcl --
override_resource {
  target = terraform_data.here[0]
}
override_resource {
  target = terraform_data.there
}
override_resource {
  target = module.m.terraform_data.here
}
override_module {
  target = module.m
}
override_module {
  target = module.m[0].module.n
}
mock_provider "terraform" {
  override_resource {
    target = terraform_data.nowhere
  }
}
run "a" {
  override_resource {
    target = terraform_data.there
  }
}
run "b" {
  module {
    source = "./s"
  }
  override_resource {
    target = terraform_data.there
  }
  override_resource {
    target = terraform_data.here
  }
}
-- s/main.tf --
resource "terraform_data" "there" {
}
"#,
    );
    assert!(loaded.diagnostics.is_empty());
    let warned = Loaded { diagnostics: check_overrides(&loaded.configuration), ..loaded };
    let lines = [8, 14, 18, 23, 34].map(|line| format!("tests/a.tftest.hcl:{line} Invalid override target"));
    let mut summaries = warned.summaries();
    summaries.sort_by_key(|text| text.split([':', ' ']).nth(1).unwrap().parse::<u32>().unwrap());
    assert_eq!(summaries, lines);
    assert!(!warned.diagnostics.has_errors());
    assert!(support::print(&warned.diagnostics, &warned.sources).contains("module.m[0].module.n"));
}

const TWO_PROVIDERS: &str = r#"
terraform {
  required_providers {
    tool = { source = "example.com/acme/tool" }
  }
}
-- s/main.tf --
terraform {
  required_providers {
    tool = { source = "example.com/acme/other" }
  }
}
-- tests/a.tftest.hcl --
"#;

const OTHER: &str = "run \"other\" {\n  module {\n    source = \"./s\"\n  }\n}\n";

#[test]
fn provider_type_mismatches_in_test_files_are_errors() {
    let summaries = |tests: &str| load(&format!("{TWO_PROVIDERS}{tests}")).summaries();
    let mismatch = |line| [format!("tests/a.tftest.hcl:{line} Provider type mismatch")];
    let plain = "provider \"tool\" {\n}\n";
    let root = "run \"root\" {\n}\nrun \"again\" {\n}\n";
    assert_eq!(summaries(&format!("{plain}{OTHER}{root}")), mismatch(1));
    let passed = "provider \"tool\" {\n  alias = \"x\"\n}\n";
    let given = "run \"root\" {\n  providers = {\n    tool = tool.x\n  }\n}\n";
    assert_eq!(summaries(&format!("{passed}{OTHER}{given}")), mismatch(11));
    let two = "run \"root\" {\n  providers = {\n    tool = tool.x\n    mine = tool.x\n  }\n}\n";
    assert_eq!(summaries(&format!("{passed}{two}")), mismatch(7));
}

/// Terraform accepts runs in these orders.
#[test]
fn first_run_determines_the_provider_of_a_local_name() {
    let plain = "mock_provider \"tool\" {\n}\n";
    for tests in [format!("{plain}run \"root\" {{\n}}\n{OTHER}"), format!("{plain}{OTHER}"), OTHER.to_owned()] {
        assert_eq!(load(&format!("{TWO_PROVIDERS}{tests}")).summaries(), Vec::<String>::new(), "{tests}");
    }
}
