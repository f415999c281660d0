//! `console`: expressions, each with its value.

mod completion;
mod input;
mod unfinished;

use std::sync::Arc;

use groma_address::Name;
use groma_config::{Module, check_references};
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_engine::hooks::Silent;
use groma_engine::{Input, Inspection, PlanOptions, Run};
use groma_hcl::parse_expression;
use groma_lang::Scope;
use groma_state::State;
use indexmap::IndexMap;

use super::backend::{Elsewhere, state_paths, unless_off};
use super::configuration::load_to_look;
use super::context::Context;
use super::operation::{look_at_state, quiet_run as new_run};
use super::outcome::{Outcome, fail};
use super::variables::{Missing, values};
use crate::arguments::{Console, Flag};
use crate::settings::Questions;
use completion::Words;
use input::{Lines, Next, Source};

pub(super) fn run(context: &mut Context, arguments: &Console) -> Outcome {
    context.view(&arguments.view);
    if !unless_off(arguments.input) {
        context.settings.questions = Questions::Forbidden;
    }
    if let Some(path) = &arguments.json_into {
        context.speak_into(path)?;
    }
    let (configuration, mut warnings) = load_to_look(context)?;
    context.tell_deprecations(&configuration);
    let elsewhere = Elsewhere { state: arguments.state.as_deref(), ..Elsewhere::default() };
    let paths = state_paths(context, &configuration.root, elsewhere)?;
    let (mut inputs, problems) = values(context, &configuration.root, &arguments.variables, Missing::Leave)?;
    warnings.append(problems);
    leave_open(&configuration.root, &mut inputs);
    let state = look_at_state(context, paths)?;
    let root = Arc::clone(&configuration.root);
    let mut run = new_run(context, configuration, Arc::new(Silent), 10)?;
    let (inspection, problems) = match arguments.plan.is_some_and(Flag::is_on) {
        true => inspect_plan(&mut run, state, inputs)?,
        false => (run.inspect(&state, inputs)?, Diagnostics::new()),
    };
    let has_failed = problems.has_errors();
    warnings.append(problems);
    // A plan that has failed has told them.
    if !has_failed {
        warnings.append(inspection.mistakes().iter().cloned());
    }
    if warnings.has_errors() {
        warnings.push(Diagnostic::warning(
            "Due to the problems above, some expressions may produce unexpected results.",
            "",
        ));
    }
    context.show(&warnings);
    let scope = inspection.scope();
    let asked = Asked { module: &root, scope: &scope };
    let mut input = match context.streams.input_is_terminal {
        true => Source::prompt(Words::of(&asked))
            .map_err(|problem| fail("Cannot read expressions", format!("The terminal cannot be used: {problem}.")))?,
        false => Source::Pipe,
    };
    let outcome = converse(context, &asked, &mut input);
    run.leave();
    outcome
}

/// Plans as far as possible, and returns the values with the diagnostics.
fn inspect_plan(
    run: &mut Run,
    state: State,
    inputs: IndexMap<Name, Input>,
) -> Result<(Inspection, Diagnostics), Diagnostics> {
    let options = PlanOptions { inputs: inputs.clone(), ..PlanOptions::default() };
    let (plan, problems) = run.plan(state, &options);
    let inspection = match plan {
        Some(plan) => run.inspect_plan(&plan, inputs)?,
        // No block of a resource can be relied on: nothing is known of the objects.
        None => run.inspect(&State::default(), inputs)?,
    };
    Ok((inspection, problems))
}

/// For looking, a variable that nobody has given a value is just not known.
fn leave_open(root: &Module, inputs: &mut IndexMap<Name, Input>) {
    for (name, variable) in root.variables.iter().filter(|(_, variable)| variable.is_required()) {
        let input = || Input { value: variable.any_value(), span: Span::NONE, origin: None };
        inputs.entry(name.clone()).or_insert_with(input);
    }
}

/// The values that expressions refer to.
struct Asked<'a> {
    module: &'a Module,
    scope: &'a dyn Scope,
}

/// Evaluates expressions until the input ends. Without an interactive user the first error is the end.
fn converse(context: &mut Context, asked: &Asked<'_>, input: &mut Source<'_>) -> Outcome {
    loop {
        let text = match input.next() {
            Next::Text(text) => text,
            Next::End => return Ok(0),
        };
        match text.trim() {
            "" => continue,
            "exit" => return Ok(0),
            "help" => {
                context.streams.print(
                    "Type an expression and see its value; one with an open bracket goes on in the next line.\nLeave with exit, \
                     Control-D or Control-C, which gives up a line that has been begun.\n",
                );
                continue;
            }
            _ => {}
        }
        if !answer(context, asked, text) && input.lines() == Lines::FromPipe {
            return Ok(1);
        }
    }
}

/// Prints the value of an expression, or what is wrong with it; returns whether there was a value.
fn answer(context: &Context, asked: &Asked<'_>, mut text: String) -> bool {
    // The last line of a heredoc needs its end.
    if text.contains("<<") {
        text.push('\n');
    }
    let Some(file) = context.sources.add("<console-input>", text) else { return false };
    let (expression, mut diagnostics) = parse_expression(&file);
    if !diagnostics.has_errors() {
        diagnostics.append(check_references(asked.module, &expression));
    }
    let is_sound = !diagnostics.has_errors();
    let text = is_sound.then(|| groma_lang::answer(&expression, asked.scope, &mut diagnostics)).flatten();
    context.show(&diagnostics);
    if let Some(text) = &text {
        context.answer(text);
    }
    text.is_some()
}
