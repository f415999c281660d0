//! `modules`: lists the module calls of the configuration with their installed versions.

use groma_config::{DiskFiles, Module, ModuleManifest};
use serde_json::{Value, json};

use super::configuration::{Purpose, load, load_options};
use super::context::Context;
use super::outcome::{Outcome, fail};
use crate::arguments::{Flag, Modules};
use crate::views::json::compact;

/// A module call.
struct Called {
    name: String,
    source: String,
    version: String,
    constraint: String,
    children: Vec<Called>,
}

pub(super) fn run(context: &mut Context, arguments: &Modules) -> Outcome {
    context.configure_view(&arguments.common.view);
    let (configuration, _) = load(context, Purpose::Blocks)?;
    let options = load_options(context);
    let manifest = ModuleManifest::read(&options.data_directory, &DiskFiles::new(".")).map_err(|problem| {
        fail("Unreadable module manifest", format!("{problem}. Run init to install the modules again."))
    })?;
    // The manifest has the versions, which the configuration does not.
    let called = called(&configuration.root, &manifest, &options.default_registry);
    match (arguments.json.is_some_and(Flag::is_on), called.is_empty()) {
        (true, _) => context.streams.print_document(&document(&called)),
        (false, true) => context.streams.print("No modules found in configuration.\n"),
        (false, false) => context.streams.print(&tree(&called)),
    }
    Ok(0)
}

/// Returns the module calls of `module` and its children, sorted by name.
fn called(module: &Module, manifest: &ModuleManifest, registry: &str) -> Vec<Called> {
    let mut calls: Vec<Called> = module
        .calls
        .iter()
        .map(|(name, call)| {
            let child = module.children.get(name);
            // Local modules have no version.
            let version = child.and_then(|child| manifest.get(&child.path)?.version.as_ref().map(ToString::to_string));
            Called {
                name: name.to_string(),
                source: call.source.as_ref().map(|source| source.address(registry)).unwrap_or_default(),
                version: version.unwrap_or_default(),
                constraint: if call.version.is_empty() { String::new() } else { call.version.to_string() },
                children: child.map(|child| called(child, manifest, registry)).unwrap_or_default(),
            }
        })
        .collect();
    // Terraform's order depends on a map; ours is stable.
    calls.sort_by(|a, b| a.name.cmp(&b.name));
    calls
}

fn document(called: &[Called]) -> String {
    let mut records = Vec::new();
    collect(called, &mut records);
    // Terraform writes null instead of an empty list.
    let records = (!records.is_empty()).then_some(records);
    format!("{}\n", compact(&json!({ "format_version": "1.0", "modules": records })))
}

fn collect(called: &[Called], records: &mut Vec<Value>) {
    for module in called {
        records.push(json!({ "key": module.name, "source": module.source, "version": module.version }));
        collect(&module.children, records);
    }
}

fn tree(called: &[Called]) -> String {
    let mut text = "\nModules declared by configuration:\n.\n".to_owned();
    branches(called, "", &mut text);
    text.push('\n');
    text
}

fn branches(called: &[Called], indent: &str, text: &mut String) {
    for (index, module) in called.iter().enumerate() {
        let is_last = index + 1 == called.len();
        // Terraform's tree uses no-break spaces.
        let (branch, below) = if is_last { ("└── ", "    ") } else { ("├── ", "│\u{a0}\u{a0} ") };
        let version = if module.version.is_empty() { String::new() } else { format!(" {}", module.version) };
        let constraint = if module.constraint.is_empty() { String::new() } else { format!(" ({})", module.constraint) };
        text.push_str(&format!("{indent}{branch}\"{}\"[{}]{version}{constraint}\n", module.name, module.source));
        branches(&module.children, &format!("{indent}{below}"), text);
    }
}
