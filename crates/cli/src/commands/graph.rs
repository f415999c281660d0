//! `graph`: the resources and what they depend on, for programs that draw.

use std::collections::HashMap;

use groma_address::{ConfigResource, ModulePath};
use groma_engine::{ResourceDependencies, resource_dependencies};

use super::configuration::{Empty, load_directory};
use super::context::Context;
use super::outcome::{Outcome, misuse};
use crate::arguments::Graph;

pub(super) fn run(context: &mut Context, arguments: &Graph) -> Outcome {
    context.view(&arguments.common.view);
    if arguments.kind.is_some() || arguments.plan.is_some() {
        return Err(misuse(
            &context.wording.command,
            "graph",
            "Graph not supported",
            "This version of Groma draws the resources of the configuration only: the options -type and -plan are not there yet.",
        ));
    }
    let draw = match arguments.format.as_deref() {
        None | Some("dot") => dot,
        Some("mermaid") => mermaid,
        Some(other) => {
            return Err(misuse(
                &context.wording.command,
                "graph",
                "Unknown graph format",
                format!("There is no format {other:?}. The formats are dot and mermaid."),
            ));
        }
    };
    let (configuration, _) = load_directory(context, Empty::Fine)?;
    let resources = resource_dependencies(&configuration)?;
    context.streams.print(&draw(&resources));
    Ok(0)
}

/// The DOT language, as GraphViz reads it.
fn dot(resources: &[ResourceDependencies]) -> String {
    let mut text = "digraph G {\n  rankdir = \"RL\";\n  node [shape = rect, fontname = \"sans-serif\"];\n".to_owned();
    let (in_root, in_modules): (Vec<_>, Vec<_>) = resources.iter().partition(|one| one.resource.module.is_root());
    for one in in_root {
        text.push_str(&format!("  {} [label={}];\n", quoted(&one.resource), quoted(&one.resource.resource)));
    }
    let mut current: Option<&ModulePath> = None;
    for one in in_modules {
        let module = &one.resource.module;
        if current != Some(module) {
            if current.is_some() {
                text.push_str("  }\n");
            }
            text.push_str(&format!(
                "  subgraph \"cluster_{module}\" {{\n    label = \"{module}\"\n    fontname = \"sans-serif\"\n"
            ));
            current = Some(module);
        }
        text.push_str(&format!("    {} [label={}];\n", quoted(&one.resource), quoted(&one.resource.resource)));
    }
    if current.is_some() {
        text.push_str("  }\n");
    }
    for one in resources {
        for needed in &one.depends_on {
            text.push_str(&format!("  {} -> {};\n", quoted(&one.resource), quoted(needed)));
        }
    }
    text.push_str("}\n");
    text
}

fn quoted(what: &impl ToString) -> String {
    format!("\"{}\"", what.to_string().replace('\\', "\\\\").replace('"', "\\\""))
}

/// A flow chart, as Mermaid reads it.
fn mermaid(resources: &[ResourceDependencies]) -> String {
    let mut text = "flowchart RL\n".to_owned();
    let numbers: HashMap<&ConfigResource, usize> =
        resources.iter().enumerate().map(|(at, one)| (&one.resource, at)).collect();
    for (at, one) in resources.iter().enumerate() {
        text.push_str(&format!("  n{at}[{}]\n", quoted(&one.resource)));
    }
    for (at, one) in resources.iter().enumerate() {
        for needed in one.depends_on.iter().filter_map(|needed| numbers.get(needed)) {
            text.push_str(&format!("  n{at} --> n{needed}\n"));
        }
    }
    text
}
