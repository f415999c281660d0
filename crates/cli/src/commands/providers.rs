//! `providers`: shows the providers that the modules and the state require; `providers schema`: prints their schemas.

use std::collections::BTreeSet;
use std::io::{self, Write};

use groma_address::ProviderAddress;
use groma_config::{Configuration, Module, TestFile, module_requirements};
use groma_diagnostics::Diagnostics;
use groma_install::providers::constraints_text;
use groma_provider::ProviderDiagnostics;

use super::backend::{StateOverrides, state_location};
use super::configuration::{Purpose, load, load_with_tests, test_folder};
use super::context::Context;
use super::lookup::Lookup;
use super::operation::read_state_unlocked;
use super::outcome::{Outcome, fail};
use super::provider_packages;
use crate::arguments::{Flag, Providers, ProvidersTask, Schema};
use crate::views::document::ProviderSchemas;
use crate::views::json::write_compact;

pub(super) fn run(context: &mut Context, arguments: &Providers) -> Outcome {
    // Subcommands have their own view flags, which override these.
    context.configure_view(&arguments.common.view);
    match &arguments.task {
        Some(ProvidersTask::Schema(arguments)) => return schemas(context, arguments),
        Some(ProvidersTask::Lock(arguments)) => return provider_packages::lock(context, arguments),
        Some(ProvidersTask::Mirror(arguments)) => return provider_packages::mirror(context, arguments),
        None => {}
    }
    let tests = test_folder(arguments.test_directory.as_deref());
    let (configuration, warnings) = load_with_tests(context, Purpose::ListProviders, tests)?;
    let mut out = "\nProviders required by configuration:\n.\n".to_owned();
    Node::of_configuration(&configuration).write_below("", &mut out);
    out.push('\n');
    let location = state_location(context, &configuration.root, StateOverrides::default())?;
    let state = read_state_unlocked(context, location)?;
    // Sorted and without duplicates: several resources of a provider are one line.
    let in_state: BTreeSet<String> = state.resources().map(|(_, entry)| entry.provider.provider.to_string()).collect();
    if !in_state.is_empty() {
        out.push_str("Providers required by state:\n\n");
        in_state.iter().for_each(|address| out.push_str(&format!("    provider[{address}]\n\n")));
    }
    context.streams.print(&out);
    context.show(&warnings);
    Ok(0)
}

/// A node of the printed tree.
struct Node {
    text: String,
    below: Vec<Node>,
}

impl Node {
    fn of_configuration(configuration: &Configuration) -> Self {
        Self::of_module(String::new(), &configuration.root, &configuration.tests)
    }

    /// Returns the subtree of a module: its providers, test files and child modules.
    fn of_module(text: String, module: &Module, tests: &[TestFile]) -> Self {
        let mut below: Vec<Self> = module_requirements(module)
            .iter()
            .map(|(address, requirement)| {
                let constraints = constraints_text(&requirement.constraints);
                let gap = if constraints.is_empty() { "" } else { " " };
                Self { text: format!("provider[{address}]{gap}{constraints}"), below: Vec::new() }
            })
            .collect();
        // Test files come between providers and child modules, as in Terraform.
        below.extend(tests.iter().map(Self::of_test));
        let children = module.children.iter();
        below.extend(children.map(|(name, child)| Self::of_module(format!("module.{name}"), child, &[])));
        Self { text, below }
    }

    /// Returns the subtree of a test file: its runs that use a module.
    fn of_test(file: &TestFile) -> Self {
        let runs = file.runs.iter().filter_map(|run| {
            // Runs without a module test the root module, whose providers are listed already.
            let module = run.tested.module()?;
            Some(Self::of_module(format!("run.{}", run.name), &module.root, &[]))
        });
        Self { text: file.steps.join("."), below: runs.collect() }
    }

    fn write_below(&self, margin: &str, out: &mut String) {
        for (position, node) in (1..).zip(&self.below) {
            let is_last = position == self.below.len();
            // Terraform's tree uses no-break spaces.
            let (corner, below) = if is_last { ("└── ", "    ") } else { ("├── ", "│\u{a0}\u{a0} ") };
            out.push_str(&format!("{margin}{corner}{}\n", node.text));
            node.write_below(&format!("{margin}{below}"), out);
        }
    }
}

pub(super) fn schemas(context: &mut Context, arguments: &Schema) -> Outcome {
    context.configure_view(&arguments.common.view);
    if !arguments.json.is_some_and(Flag::is_on) {
        return Err(fail("The -json flag is required", "The schemas are only available as JSON. Add -json."));
    }
    let (configuration, _) = load(context, Purpose::Blocks)?;
    let mut lookup = Lookup::with_descriptions(context)?;
    let mut addresses: Vec<_> = configuration.provider_requirements().keys().cloned().collect();
    addresses.sort_by_key(|address| address.to_string());
    let mut schemas = Vec::with_capacity(addresses.len());
    for address in addresses {
        let provider = lookup.provider(&address)?;
        let sections = ProviderSchemas::of(&**provider).map_err(|problems| not_given(&address, &problems))?;
        schemas.push((address, sections));
    }
    context.streams.print_document_with(|out| write_document(&schemas, out));
    Ok(0)
}

fn write_document(schemas: &[(ProviderAddress, ProviderSchemas)], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"format_version\":\"1.0\"")?;
    for (number, (address, sections)) in schemas.iter().enumerate() {
        out.write_all(if number == 0 { b",\"provider_schemas\":{" } else { b"," })?;
        write_compact(&address.to_string(), out)?;
        out.write_all(b":")?;
        sections.write(out)?;
    }
    // Terraform omits the field if there is no provider.
    out.write_all(if schemas.is_empty() { b"}\n" } else { b"}}\n" })
}

fn not_given(address: &ProviderAddress, problems: &ProviderDiagnostics) -> Diagnostics {
    let reasons: String = problems.iter().map(|problem| format!("\n  - {problem}")).collect();
    fail(
        "Failed to read a provider's schemas",
        format!("The provider {address} failed to return its schemas:{reasons}"),
    )
}
