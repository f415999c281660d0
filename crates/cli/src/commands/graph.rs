//! `graph`: prints the dependencies of resources, or the whole graph of an operation, for drawing programs.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use groma_address::{ConfigResource, ModulePath};
use groma_config::Configuration;
use groma_diagnostics::Diagnostics;
use groma_engine::{
    CycleMode, DrawnObject, Operation, OperationNode, ResourceDependencies, operation_graph, resource_dependencies,
};
use groma_state::State;

use super::backend::{StateOverrides, state_location};
use super::configuration::{Purpose, load};
use super::context::Context;
use super::operation::read_state_unlocked;
use super::outcome::{Outcome, misuse};
use super::show::saved_plan;
use super::variables::check_given;
use crate::arguments::Graph;

pub(super) fn run(context: &mut Context, arguments: &Graph) -> Outcome {
    context.configure_view(&arguments.common.view);
    let format = match arguments.format.as_deref() {
        None | Some("dot") => Format::Dot,
        Some("mermaid") => Format::Mermaid,
        Some(other) => {
            return Err(misuse(
                &context.wording.command,
                "graph",
                "Unknown graph format",
                format!("Unknown format {other:?}. Use -format=dot or -format=mermaid."),
            ));
        }
    };
    let cycle_mode = match arguments.draw_cycles {
        Some(flag) if flag.is_on() => CycleMode::Drawn,
        _ => CycleMode::Refused,
    };
    let drawing = Drawing { format, cycle_mode };
    let text = match (&arguments.plan, arguments.kind.as_deref().filter(|kind| !kind.is_empty())) {
        // A saved plan is an apply unless -type says otherwise.
        (Some(path), None | Some("apply")) => planned(context, path, drawing)?,
        (None, None) => {
            let (configuration, state) = load_inputs(context)?;
            let resources = resource_dependencies(&configuration, &state)?;
            match format {
                Format::Dot => dot(&resources, &context.wording.command),
                Format::Mermaid => mermaid(&resources),
            }
        }
        (plan, Some(kind)) => match operation(kind) {
            Some(operation) => drawn(context, plan.as_deref(), operation, drawing)?,
            None => return Err(unknown_type(kind, context)),
        },
    };
    context.streams.print_document(&text);
    Ok(0)
}

/// Parses the value of `-type`.
fn operation(kind: &str) -> Option<fn(&State) -> Operation<'_>> {
    match kind {
        "plan" | "plan-refresh-only" => Some(|state| Operation::Plan(state)),
        "apply" => Some(|state| Operation::Apply(state)),
        "plan-destroy" => Some(|state| Operation::Destroy(state)),
        _ => None,
    }
}

fn unknown_type(kind: &str, context: &Context) -> Diagnostics {
    let summary = match kind {
        // Terraform has removed these two types, and reports that.
        "validate" | "eval" => "Graph type no longer available",
        _ => "Unsupported graph type",
    };
    let detail = format!("Unknown graph type {kind:?}. Set -type to plan, plan-refresh-only, plan-destroy or apply.");
    misuse(&context.wording.command, "graph", summary, detail)
}

/// Format and treatment of cycles for the graph of an operation.
#[derive(Clone, Copy)]
struct Drawing {
    format: Format,
    cycle_mode: CycleMode,
}

impl Drawing {
    fn of(self, configuration: &Arc<Configuration>, operation: Operation<'_>) -> Result<String, Diagnostics> {
        let nodes = operation_graph(configuration, operation, self.cycle_mode)?;
        Ok(match self.format {
            Format::Dot => operation_dot(&nodes),
            Format::Mermaid => operation_mermaid(&nodes),
        })
    }
}

fn planned(context: &mut Context, path: &Path, drawing: Drawing) -> Result<String, Diagnostics> {
    let (run, plan) = saved_plan(context, path)?;
    drawing.of(&run.session().configuration, Operation::Planned(&plan))
}

/// Draws the graph of an operation in the working directory, or on the prior state of a saved plan.
fn drawn(
    context: &mut Context,
    plan: Option<&Path>,
    operation: fn(&State) -> Operation<'_>,
    drawing: Drawing,
) -> Result<String, Diagnostics> {
    // The plan has its own configuration, which may differ from that of the working directory.
    if let Some(path) = plan {
        let (run, plan) = saved_plan(context, path)?;
        return drawing.of(&run.session().configuration, operation(&plan.prior_state));
    }
    let (configuration, state) = load_inputs(context)?;
    drawing.of(&configuration, operation(&state))
}

fn load_inputs(context: &mut Context) -> Result<(Arc<Configuration>, State), Diagnostics> {
    let (configuration, _) = load(context, Purpose::Inspect)?;
    // Invalid values are errors, although the graph shows none of them.
    check_given(context, &configuration.root)?;
    let configuration = Arc::new(configuration);
    let location = state_location(context, &configuration.root, StateOverrides::default())?;
    // Drawing changes nothing, so no lock is needed.
    let state = read_state_unlocked(context, location)?;
    Ok((configuration, state))
}

/// Language of the output.
#[derive(Clone, Copy)]
enum Format {
    Dot,
    Mermaid,
}

/// Writes the graph of an operation in the DOT language, in Terraform's layout.
fn operation_dot(nodes: &[OperationNode]) -> String {
    let mut text = "digraph {\n\tcompound = \"true\"\n\tnewrank = \"true\"\n\tsubgraph \"root\" {\n".to_owned();
    let root = |node: &OperationNode| quoted(&format!("[root] {}", node.name));
    for node in nodes {
        // Nodes without an object have no shape of their own: they only take part in edges.
        let Some(object) = &node.object else { continue };
        let (label, shape) = match object {
            DrawnObject::Resource(name) => (name, "box"),
            DrawnObject::Provider(name) => (name, "diamond"),
            DrawnObject::Variable(name) | DrawnObject::Output(name) => (name, "note"),
        };
        text.push_str(&format!("\t\t{} [label = {}, shape = \"{shape}\"]\n", root(node), quoted(label)));
    }
    let needed = |node: &OperationNode| -> Vec<String> {
        let edge = |at: &usize| format!("\t\t{} -> {}{}\n", root(node), root(&nodes[*at]), mark(node, *at, nodes));
        node.depends_on.iter().map(edge).collect()
    };
    let mut edges: Vec<String> = nodes.iter().flat_map(needed).collect();
    // The order of edges must not depend on hash maps: graphs are compared as text.
    edges.sort();
    text.push_str(&edges.concat());
    text.push_str("\t}\n}\n");
    text
}

/// Returns the DOT attributes that highlight an edge of a cycle between objects.
fn mark(node: &OperationNode, to: usize, nodes: &[OperationNode]) -> &'static str {
    let is_drawn = node.object.is_some() && nodes[to].object.is_some();
    if is_drawn && node.circular.contains(&to) { " [color = \"red\", penwidth = \"2.0\"]" } else { "" }
}

fn operation_mermaid(nodes: &[OperationNode]) -> String {
    let mut text = "flowchart RL\n".to_owned();
    for (at, node) in nodes.iter().enumerate() {
        // Mermaid escapes characters as HTML entities with `#`.
        text.push_str(&format!("  n{at}[\"{}\"]\n", node.name.replace('"', "#quot;")));
    }
    for (at, node) in nodes.iter().enumerate() {
        for needed in &node.depends_on {
            text.push_str(&format!("  n{at} --> n{needed}\n"));
        }
    }
    text
}

/// Writes the dependencies of resources in the DOT language of Graphviz.
fn dot(resources: &[ResourceDependencies], command: &str) -> String {
    let mut text = "digraph G {\n  rankdir = \"RL\";\n  node [shape = rect, fontname = \"sans-serif\"];\n".to_owned();
    if resources.is_empty() {
        // Terraform also prints a comment of two padded lines here.
        let all = format!("For the graph of all objects, run: {command} graph -type=plan");
        let lines = ["There are no resources in this configuration.", &all];
        let width = lines.iter().map(|line| line.len()).max().unwrap_or_default();
        lines.iter().for_each(|line| text.push_str(&format!("  /* {line:width$} */\n")));
    }
    // Terraform lists root resources first, then one cluster per module.
    let (in_root, in_modules): (Vec<_>, Vec<_>) = resources.iter().partition(|one| one.resource.module.is_root());
    for one in in_root {
        text.push_str(&format!("  {} [label={}];\n", quoted(&one.resource), quoted(&one.resource.resource)));
    }
    let mut current: Option<&ModulePath> = None;
    for one in in_modules {
        let module = &one.resource.module;
        // Resources of a module are adjacent, so each cluster is written in one go.
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
    // DOT strings escape backslashes and quotes only.
    format!("\"{}\"", what.to_string().replace('\\', "\\\\").replace('"', "\\\""))
}

/// Writes the dependencies of resources as a Mermaid flowchart.
fn mermaid(resources: &[ResourceDependencies]) -> String {
    let mut text = "flowchart RL\n".to_owned();
    // Mermaid identifiers must not contain dots or brackets, so nodes are numbered.
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
