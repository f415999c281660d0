//! `console`: expressions, one a line.

use std::sync::Arc;

use groma_engine::hooks::Silent;
use groma_hcl::parse_expression;
use groma_lang::{Scope, console};
use groma_state::Locking;

use super::backend::{Elsewhere, state_paths};
use super::configuration::{Empty, load_directory};
use super::context::Context;
use super::operation::{open_state, run as new_run};
use super::outcome::Outcome;
use super::variables::{Missing, values};
use crate::arguments::Console;
use crate::terminal::Answer;

pub(super) fn run(context: &mut Context, arguments: &Console) -> Outcome {
    context.view(&arguments.view);
    let (configuration, mut warnings) = load_directory(context, Empty::Fine)?;
    let elsewhere = Elsewhere { state: arguments.state.as_deref(), ..Elsewhere::default() };
    let paths = state_paths(context, &configuration.root, elsewhere)?;
    let (inputs, problems) = values(context, &configuration.root, &arguments.variables, Missing::Leave)?;
    warnings.append(problems);
    let (_, state) = open_state(context, paths, &Locking::Off)?;
    context.show(&warnings);
    let mut run = new_run(context, configuration, Arc::new(Silent), 1)?;
    let inspection = run.inspect(&state, inputs)?;
    converse(context, &inspection.scope())
}

/// Reads lines until there is no more; where nobody is there to try again, the first mistake is the end.
fn converse(context: &mut Context, scope: &dyn Scope) -> Outcome {
    let prompter = context.prompter();
    let is_seen = context.streams.input_is_terminal;
    loop {
        if is_seen {
            context.streams.print("> ");
        }
        let Answer::Line(line) = prompter.line() else { break };
        match line.trim() {
            "" => continue,
            "exit" => return Ok(0),
            "help" => {
                context.streams.print("Type an expression and see its value. Leave with exit, or with Control-D.\n");
                continue;
            }
            _ => {}
        }
        if !answer(context, scope, line) && !is_seen {
            return Ok(1);
        }
    }
    if is_seen {
        context.streams.print("\n");
    }
    Ok(0)
}

/// Prints the value of one line, or what is wrong with it; returns whether there was a value.
fn answer(context: &Context, scope: &dyn Scope, line: String) -> bool {
    let Some(file) = context.sources.add("<console-input>", line) else { return false };
    let (expression, mut diagnostics) = parse_expression(&file);
    let text = if diagnostics.has_errors() { None } else { console::answer(&expression, scope, &mut diagnostics) };
    context.show(&diagnostics);
    if let Some(text) = &text {
        context.streams.print(&format!("{text}\n"));
    }
    text.is_some()
}
