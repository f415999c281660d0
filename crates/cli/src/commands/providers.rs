//! `providers`: which providers the modules and the state need.

use std::collections::BTreeSet;

use groma_config::{Module, module_requirements};
use groma_install::providers::constraints_text;

use super::backend::{Elsewhere, state_paths};
use super::configuration::{Empty, load_blocks};
use super::context::Context;
use super::operation::look_at_state;
use super::outcome::Outcome;
use super::{provider_packages, schema};
use crate::arguments::{Providers, ProvidersTask};

pub(super) fn run(context: &mut Context, arguments: &Providers) -> Outcome {
    context.view(&arguments.common.view);
    match &arguments.task {
        Some(ProvidersTask::Schema(arguments)) => return schema::run(context, arguments),
        Some(ProvidersTask::Lock(arguments)) => return provider_packages::lock(context, arguments),
        Some(ProvidersTask::Mirror(arguments)) => return provider_packages::mirror(context, arguments),
        None => {}
    }
    let (configuration, warnings) = load_blocks(context, Empty::Nothing)?;
    let mut out = "\nProviders required by configuration:\n.\n".to_owned();
    write_module(&configuration.root, "", &mut out);
    out.push('\n');
    let paths = state_paths(context, &configuration.root, Elsewhere::default())?;
    let state = look_at_state(context, paths)?;
    let in_state: BTreeSet<String> = state.resources().map(|(_, entry)| entry.provider.provider.to_string()).collect();
    if !in_state.is_empty() {
        out.push_str("Providers required by state:\n\n");
        in_state.iter().for_each(|address| out.push_str(&format!("    provider[{address}]\n\n")));
    }
    context.streams.print(&out);
    context.show(&warnings);
    Ok(0)
}

/// The providers of a module and, below, those of its children.
fn write_module(module: &Module, margin: &str, out: &mut String) {
    let requirements = module_requirements(module);
    let last = requirements.len() + module.children.len();
    let branch = |position: usize| if position == last { ("└── ", "    ") } else { ("├── ", "│   ") };
    for (position, (address, requirement)) in (1..).zip(&requirements) {
        let constraints = constraints_text(&requirement.constraints);
        let gap = if constraints.is_empty() { "" } else { " " };
        out.push_str(&format!("{margin}{}provider[{address}]{gap}{constraints}\n", branch(position).0));
    }
    for (position, (name, child)) in (requirements.len() + 1..).zip(&module.children) {
        let (corner, below) = branch(position);
        out.push_str(&format!("{margin}{corner}module.{name}\n"));
        write_module(child, &format!("{margin}{below}"), out);
    }
}
