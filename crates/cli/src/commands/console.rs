//! `console`: expressions, one a line.

use std::sync::Arc;

use groma_diagnostics::Diagnostics;
use groma_engine::Hooks;
use groma_engine::hooks::Silent;
use groma_hcl::parse_expression;
use groma_lang::{EmptyScope, FunctionContext, console, evaluate};
use groma_state::Locking;

use super::backend::{Elsewhere, state_paths};
use super::configuration::{Empty, load_directory};
use super::operation::{open_state, run as new_run};
use super::variables::{Missing, values};
use super::{Context, Outcome};
use crate::arguments::Console;
use crate::terminal::Answer;

pub(super) fn run(context: &mut Context, arguments: &Console) -> Outcome {
    context.view(&arguments.view);
    let (configuration, warnings) = load_directory(context, Empty::Fine)?;
    let elsewhere = Elsewhere { state: arguments.state.as_deref(), ..Elsewhere::default() };
    let paths = state_paths(context, &configuration.root, elsewhere)?;
    let (inputs, problems) = values(context, &configuration.root, &arguments.variables, Missing::Leave)?;
    let (_, state) = open_state(context, paths, &Locking::Off)?;
    context.show(&warnings);
    context.show(&problems);
    let _ = (state, inputs);
    let hooks: Arc<dyn Hooks> = Arc::new(Silent);
    let _ = new_run(context, configuration, hooks, 10)?;
    let scope = EmptyScope::new(FunctionContext::new(".", Arc::clone(&context.sources)));
    let prompter = context.prompter();
    let mut failed = false;
    loop {
        if context.streams.input_is_terminal {
            context.streams.print("> ");
        }
        let line = match prompter.line() {
            Answer::Line(line) => line,
            Answer::End | Answer::Interrupted => {
                if context.streams.input_is_terminal {
                    context.streams.print("\n");
                }
                break;
            }
        };
        match line.trim() {
            "" => continue,
            "exit" => break,
            "help" => {
                context.streams.print("Type an expression and see its value. Leave with exit, or with Control-D.\n");
                continue;
            }
            _ => {}
        }
        let Some(file) = context.sources.add("<console-input>", line) else { break };
        let (expression, mut diagnostics) = parse_expression(&file);
        let value = if diagnostics.has_errors() { None } else { Some(evaluate(&expression, &scope, &mut diagnostics)) };
        failed |= diagnostics.has_errors();
        context.show(&diagnostics);
        if let Some(value) = value.filter(|_| !diagnostics.has_errors()) {
            context.streams.print(&format!("{}\n", console::format(&value)));
        }
    }
    let _ = Diagnostics::new();
    Ok(u8::from(failed && !context.streams.input_is_terminal))
}
