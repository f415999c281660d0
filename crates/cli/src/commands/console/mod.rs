//! `console`: evaluates expressions interactively.

mod completion;
mod input;

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

use super::backend::{StateOverrides, state_location, unless_off};
use super::configuration::{Purpose, load};
use super::context::Context;
use super::operation::{quiet_run as new_run, read_state_unlocked};
use super::outcome::{Outcome, fail};
use super::variables::{Missing, values};
use crate::arguments::{Console, Flag};
use crate::settings::Questions;
use completion::ConsoleCompleter;
use input::{Lines, Next, Source};

pub(super) fn run(context: &mut Context, arguments: &Console) -> Outcome {
    context.configure_view(&arguments.view);
    if !unless_off(arguments.input) {
        context.settings.questions = Questions::Forbidden;
    }
    if let Some(path) = &arguments.json_into {
        context.mirror_json(path)?;
    }
    // Warnings are shown later, together with those of planning.
    let (configuration, mut warnings) = load(context, Purpose::Inspect)?;
    context.filter_deprecations(&configuration);
    let overrides = StateOverrides { state: arguments.state.as_deref(), ..StateOverrides::default() };
    let location = state_location(context, &configuration.root, overrides)?;
    let (mut inputs, problems) = values(context, &configuration.root, &arguments.variables, Missing::Leave)?;
    warnings.append(problems);
    default_to_unknown(&configuration.root, &mut inputs);
    // The console changes nothing, so it must not wait for another run or block one.
    let state = read_state_unlocked(context, location)?;
    let root = Arc::clone(&configuration.root);
    let mut run = new_run(context, configuration, Arc::new(Silent), 10)?;
    let (inspection, problems) = match arguments.plan.is_some_and(Flag::is_on) {
        true => inspect_plan(&mut run, state, inputs)?,
        false => (run.inspect(&state, inputs)?, Diagnostics::new()),
    };
    let has_failed = problems.has_errors();
    warnings.append(problems);
    // A failed plan has already reported them.
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
    let console = ConsoleScope { module: &root, scope: &scope };
    let mut input = match context.streams.input_is_terminal {
        true => Source::prompt(ConsoleCompleter::of(&console))
            .map_err(|problem| fail("Cannot read expressions", format!("The terminal cannot be used: {problem}.")))?,
        false => Source::Pipe,
    };
    let outcome = evaluate_all(context, &console, &mut input);
    run.stop_providers();
    context.retain(run);
    outcome
}

/// Plans, and returns what expressions see after the plan, with its diagnostics.
fn inspect_plan(
    run: &mut Run,
    state: State,
    inputs: IndexMap<Name, Input>,
) -> Result<(Inspection, Diagnostics), Diagnostics> {
    let options = PlanOptions { inputs: inputs.clone(), ..PlanOptions::default() };
    let (plan, problems) = run.plan(state, &options);
    let inspection = match plan {
        Some(plan) => run.inspect_plan(&plan, inputs)?,
        // Without a plan nothing reliable is known about resources, so expressions see an empty state.
        None => run.inspect(&State::default(), inputs)?,
    };
    Ok((inspection, problems))
}

/// Makes required variables without a value unknown, so that the console works without them.
fn default_to_unknown(root: &Module, inputs: &mut IndexMap<Name, Input>) {
    for (name, variable) in root.variables.iter().filter(|(_, variable)| variable.is_required()) {
        let input = || Input { value: variable.any_value(), span: Span::NONE, origin: None };
        inputs.entry(name.clone()).or_insert_with(input);
    }
}

/// Module and scope that expressions are evaluated in.
struct ConsoleScope<'a> {
    module: &'a Module,
    scope: &'a dyn Scope,
}

/// Evaluates expressions until the input ends. Piped input ends at the first error, because nobody can correct it.
fn evaluate_all(context: &mut Context, console: &ConsoleScope<'_>, input: &mut Source<'_>) -> Outcome {
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
                    "Enter an expression to see its value. An expression with an unclosed bracket continues on the next line.\nTo leave the \
                     console, type \"exit\" or press Control-D. Control-C discards the current line, or leaves if it is empty.\n",
                );
                continue;
            }
            _ => {}
        }
        // A person corrects the expression, but the lines after an error in a script may depend on it.
        if !answer(context, console, text) && input.lines() == Lines::FromPipe {
            return Ok(1);
        }
    }
}

/// Prints the value of an expression, or its errors; returns whether there was a value.
fn answer(context: &Context, console: &ConsoleScope<'_>, mut text: String) -> bool {
    // The closing marker of a heredoc is only recognized with a line end.
    if text.contains("<<") {
        text.push('\n');
    }
    let Some(file) = context.sources.add("<console-input>", text) else { return false };
    let (expression, mut diagnostics) = parse_expression(&file);
    // An expression with syntax errors has unreliable references.
    if !diagnostics.has_errors() {
        diagnostics.append(check_references(console.module, &expression));
    }
    let is_sound = !diagnostics.has_errors();
    let text = is_sound.then(|| groma_lang::answer(&expression, console.scope, &mut diagnostics)).flatten();
    context.show(&diagnostics);
    if let Some(text) = &text {
        context.print_result(text);
    }
    text.is_some()
}
