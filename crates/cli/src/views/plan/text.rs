//! The complete text of a plan: drift, changes and outputs.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use groma_address::{AbsResource, InstanceKey};
use groma_engine::plan::RelevantAttribute;
use groma_engine::{Action, Mode, OutputChange, Plan, ResourceChange};
use groma_value::{PathStep, Value};

use super::deferred::{Deferral, count, deferrals, requested, write_around, write_requested};
use super::patches::PlanPatches;
use super::resource::{Cause, ChangeOptions, is_shown, symbol, write};
use crate::terminal::{Palette, Tone, word_wrap};
use crate::views::difference::{
    Change, Difference, Paths, Relevance, RenderOptions, Writer, attribute_key, compare_objects, compare_values,
};
use crate::views::redaction::Redaction;
use crate::views::wording::Wording;

/// Renders plans as text, in Terraform's layout.
///
/// [`PlanText::write`] writes drift, planned changes, deferrals, the summary and changed outputs; [`PlanText::write_next_step`] the
/// advice after the `plan` command. Changes are rendered one at a time, so that the text of a large plan is never in memory as a
/// whole. Sensitive values are hidden unless `redaction` reveals them. The text is stable: wrappers match its sentences.
#[derive(Clone, Debug)]
pub struct PlanText {
    /// Colors of the output.
    pub palette: Palette,
    /// Width of the output, for wrapping.
    pub columns: usize,
    /// Names of the product and its command.
    pub wording: Wording,
    /// Audience of the advice.
    pub reader: Reader,
    /// Treatment of sensitive values.
    pub redaction: Redaction,
    /// The patches to show below updates.
    pub patches: PlanPatches,
}

/// Result of configuration generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Generated {
    /// No configuration was generated.
    Nothing,
    /// Configuration was written to this file.
    At(String),
}

/// Audience of advice about next steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// An interactive user, who gets the next command to run.
    Person,
    /// A script, which gets no advice: `TF_IN_AUTOMATION`.
    Automation,
}

impl PlanText {
    /// Returns the renderer with these patches below updates.
    #[must_use]
    pub fn with_patches(self, patches: PlanPatches) -> Self {
        Self { patches, ..self }
    }

    /// Writes the plan: drift, changes, deferrals, the summary and changed outputs.
    ///
    /// # Errors
    ///
    /// Writing to `out` fails.
    pub fn write(&self, plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
        let shown: Vec<&ResourceChange> = plan.changes.iter().filter(|change| is_shown(change)).collect();
        let outputs = render(plan, self.palette, self.redaction);
        let nothing_planned = shown.is_empty() && outputs.is_empty() && plan.invocations.is_empty();
        let deferred = deferrals(plan);
        // Without planned changes, drift is irrelevant unless it is the subject of the plan.
        let drift = if nothing_planned && plan.mode != Mode::RefreshOnly { Vec::new() } else { shown_drift(plan) };
        if !drift.is_empty() {
            self.write_drift(plan.mode, &drift, out)?;
        }
        if nothing_planned && !deferred.is_empty() && !plan.errored {
            return self.write_partial(&deferred, out);
        }
        if nothing_planned {
            return self.write_nothing(plan, &drift, out);
        }
        if !drift.is_empty() {
            self.rule(out)?;
        }
        let summary = Summary::of(&shown);
        if summary.has_actions() {
            self.legend(&summary, out)?;
        }
        if !shown.is_empty() || !plan.invocations.is_empty() {
            self.write_changes(plan, &shown, &summary, out)?;
        }
        if !outputs.is_empty() {
            writeln!(out, "\nChanges to Outputs:\n{outputs}")?;
            if !summary.has_actions() {
                let text = format!(
                    "\nYou can apply this plan to save these new output values to the {} state, without changing any real infrastructure.",
                    self.wording.product
                );
                writeln!(out, "{}", word_wrap(&text, self.columns))?;
            }
        }
        if deferred.is_empty() { Ok(()) } else { self.write_partial(&deferred, out) }
    }

    /// Writes the deferrals.
    fn write_partial(&self, deferred: &[Deferral<'_>], out: &mut dyn Write) -> io::Result<()> {
        let note = self.palette.paint(Tone::BoldCyan, "Note:");
        let title = " This is a partial plan, because some changes depend on values that are only known after apply.";
        writeln!(out, "\n{note}{}", self.palette.paint(Tone::Bold, title))?;
        // One buffer for all changes: each is written before the next is rendered.
        let mut text = String::new();
        for deferred in deferred {
            text.clear();
            deferred.write(self.change_options(), &mut text);
            write!(out, "\n{text}")?;
        }
        let command = &self.wording.command;
        let count = count(deferred);
        let text = format!(
            "\n{count} deferred. After applying this plan, run \"{command} apply -allow-deferral\" again to continue."
        );
        writeln!(out, "{}", word_wrap(&text, self.columns))
    }

    /// Writes the advice after the `plan` command: how to apply the saved plan, or that the plan was not saved.
    ///
    /// # Errors
    ///
    /// Writing to `out` fails.
    pub fn write_next_step(
        &self,
        saved_as: Option<&str>,
        generated: &Generated,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if self.reader == Reader::Automation {
            return Ok(());
        }
        self.rule(out)?;
        let Wording { product, command } = &self.wording;
        if let Generated::At(path) = generated {
            let text = format!(
                "\n{product} has generated configuration and written it to {path}. Please review the configuration and edit it as \
                 necessary before adding it to version control."
            );
            writeln!(out, "{}", word_wrap(&text, self.columns))?;
        }
        let text = match saved_as {
            Some(path) => format!(
                "Saved the plan to: {path}\n\nTo perform exactly these actions, run the following command to apply:\n    {command} apply {path:?}"
            ),
            None => format!(
                "Note: You didn't use the -out option to save this plan, so {product} can't guarantee to take exactly these actions if \
                 you run \"{command} apply\" now."
            ),
        };
        writeln!(out, "\n{}", word_wrap(&text, self.columns))
    }

    fn write_changes(
        &self,
        plan: &Plan,
        shown: &[&ResourceChange],
        summary: &Summary,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let product = &self.wording.product;
        if plan.errored {
            writeln!(out, "\n{product} planned the following actions, but then encountered a problem:")?;
        } else {
            writeln!(out, "\n{product} will perform the following actions:")?;
        }
        let mut text = String::new();
        for change in shown {
            text.clear();
            write(change, Cause::Planned, None, self.change_options(), &mut text);
            text.push('\n');
            self.patches.write(change, &mut text);
            write_around(plan, change, self.palette, &mut text);
            write!(out, "\n{text}")?;
        }
        summary.write_counts(plan.invocations.len(), self.palette, out)?;
        let mut requested = requested(plan).peekable();
        if requested.peek().is_some() {
            writeln!(out, "\n{product} will invoke the following action(s):")?;
        }
        for invocation in requested {
            text.clear();
            write_requested(invocation, self.palette, &mut text);
            writeln!(out, "\n{text}")?;
        }
        Ok(())
    }

    fn write_drift(&self, mode: Mode, drift: &[Drifted<'_>], out: &mut dyn Write) -> io::Result<()> {
        let Wording { product, command } = &self.wording;
        let note = self.palette.paint(Tone::BoldCyan, "Note:");
        let title = format!(" Objects have changed outside of {product}");
        writeln!(out, "\n{note}{}\n", self.palette.paint(Tone::Bold, title))?;
        let introduction = format!(
            "{product} detected the following changes made outside of {product} since the last \"{command} apply\" which may have \
             affected this plan:"
        );
        writeln!(out, "{}", word_wrap(&introduction, self.columns))?;
        let mut text = String::new();
        for drifted in drift {
            text.clear();
            write(drifted.change, Cause::Detected, Some(drifted.paths.clone()), self.change_options(), &mut text);
            writeln!(out, "\n{text}")?;
        }
        let conclusion = match mode {
            Mode::RefreshOnly => format!(
                "\n\nThis is a refresh-only plan, so {product} will not take any actions to undo these. If you were expecting these \
                 changes then you can apply this plan to record the updated values in the {product} state without changing any remote \
                 objects."
            ),
            Mode::Normal | Mode::Destroy => "\n\nUnless you have made equivalent changes to your configuration, or ignored the relevant \
                                             attributes using ignore_changes, the following plan may include actions to undo or respond \
                                             to these changes."
                .to_owned(),
        };
        writeln!(out, "{}", word_wrap(&conclusion, self.columns))
    }

    fn write_nothing(&self, plan: &Plan, drift: &[Drifted<'_>], out: &mut dyn Write) -> io::Result<()> {
        let product = &self.wording.product;
        if plan.errored {
            if !drift.is_empty() {
                self.rule(out)?;
            }
            let failed = self.palette.paint(Tone::BoldRed, "Planning failed.");
            let rest = format!(" {product} encountered an error while generating this plan.");
            return writeln!(out, "\n{failed}{}\n", self.palette.paint(Tone::Bold, rest));
        }
        let (title, text) = match plan.mode {
            // The drift has already been written.
            Mode::RefreshOnly if !drift.is_empty() => return Ok(()),
            Mode::RefreshOnly => (
                "Your infrastructure still matches the configuration.",
                format!(
                    "{product} has checked that the real remote objects still match the result of your most recent changes, and found no \
                     differences."
                ),
            ),
            Mode::Destroy => (
                "No objects need to be destroyed.",
                format!(
                    "Either you have not created any objects yet or the existing objects were already deleted outside of {product}."
                ),
            ),
            Mode::Normal => (
                "Your infrastructure matches the configuration.",
                format!(
                    "{product} has compared your real infrastructure against your configuration and found no differences, so no changes \
                     are needed."
                ),
            ),
        };
        let no_changes = self.palette.paint(Tone::BoldGreen, "No changes.");
        writeln!(out, "\n{no_changes} {}\n", self.palette.paint(Tone::Bold, title))?;
        writeln!(out, "{}", word_wrap(&text, self.columns))
    }

    fn legend(&self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let text = format!(
            "\n{} used the selected providers to generate the following execution plan. Resource actions are indicated with the following \
             symbols:",
            self.wording.product
        );
        writeln!(out, "{}", word_wrap(&text, self.columns))?;
        summary.write_legend(self.palette, out)
    }

    fn change_options(&self) -> ChangeOptions<'_> {
        ChangeOptions { palette: self.palette, product: self.wording.product, redaction: self.redaction }
    }

    /// Writes a horizontal rule.
    fn rule(&self, out: &mut dyn Write) -> io::Result<()> {
        // An unusable width falls back to 79 columns.
        let width = if self.columns <= 1 { 79 } else { self.columns - 1 };
        writeln!(out, "{}\n{}{}", self.palette.open(Tone::Gray), "─".repeat(width), self.palette.close())
    }
}

/// Renders the changed outputs, one per line. Returns an empty string without changed outputs.
pub(super) fn render(plan: &Plan, palette: Palette, redaction: Redaction) -> String {
    let changed: Vec<(String, Difference)> = plan
        .outputs
        .iter()
        .filter(|output| output.action != Action::NoOp)
        .map(|output| (attribute_key(&output.name), compare(output, redaction)))
        .filter(|(_, difference)| difference.change != Change::None)
        .collect();
    // As in Terraform, unchanged outputs also determine the width of the name column.
    let width = plan.outputs.iter().map(|output| attribute_key(&output.name).len()).max().unwrap_or_default();
    let mut out = String::new();
    for (index, (key, difference)) in changed.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        Writer::new(palette, &mut out).symbol(difference.change);
        let _ = write!(out, "{key:<width$} = ");
        Writer::new(palette, &mut out).difference(difference, 0, RenderOptions::default());
    }
    out
}

fn compare(output: &OutputChange, redaction: Redaction) -> Difference {
    let shown = |value| if output.sensitive { redaction.of_sensitive(value) } else { redaction.of(value) };
    let (before, after) = (shown(&output.before), shown(&output.after));
    // A null output is absent: the state does not store it.
    let there = |value: &'_ Value| !value.is_null();
    compare_values(there(&before).then_some(&before), there(&after).then_some(&after))
}

/// Drift of an object, with the relevant paths.
#[derive(Clone, Debug)]
pub(super) struct Drifted<'p> {
    pub change: &'p ResourceChange,
    pub paths: Paths<'p>,
}

/// Returns the drift to show: all drift for a refresh-only plan, else only attributes that planned changes depend on
/// ([`Plan::relevant_attributes`]).
pub(super) fn shown_drift(plan: &Plan) -> Vec<Drifted<'_>> {
    if plan.mode == Mode::RefreshOnly {
        let everything = || Paths::new([&[][..]]);
        return plan.drift.iter().map(|change| Drifted { change, paths: everything() }).collect();
    }
    // Indexing the relevant attributes is only worth it with drift.
    if plan.drift.is_empty() {
        return Vec::new();
    }
    let mut attributes: HashMap<&AbsResource, Vec<&RelevantAttribute>> = HashMap::new();
    for attribute in &plan.relevant_attributes {
        attributes.entry(&attribute.resource).or_default().push(attribute);
    }
    let drifted = plan.drift.iter().filter_map(|change| {
        let resource = change.address.abs_resource();
        let paths = attributes
            .get(&resource)?
            .iter()
            .filter_map(|attribute| below(attribute.path.steps(), &change.address.key));
        let paths = Paths::new(paths);
        (!paths.is_empty()).then_some(Drifted { change, paths })
    });
    drifted.filter(is_visible).collect()
}

/// Returns the part of `path` below the instance `key`; `None` if the path starts with the key of another instance.
fn below<'p>(path: &'p [PathStep], key: &InstanceKey) -> Option<&'p [PathStep]> {
    match path.split_first() {
        Some((PathStep::Index(step), rest)) => {
            let is_this = match key {
                InstanceKey::None => false,
                InstanceKey::Int(index) => step.as_number().and_then(|number| number.to_u64()) == Some(*index),
                InstanceKey::String(name) => step.as_str() == Some(name),
            };
            is_this.then_some(rest)
        }
        _ => Some(path),
    }
}

fn is_visible(drifted: &Drifted<'_>) -> bool {
    let change = drifted.change;
    if change.action == Action::NoOp {
        return false;
    }
    let relevance = Relevance::Only(drifted.paths.clone());
    let difference = compare_objects(&change.schema.block, &change.before, &change.after, Paths::default(), relevance);
    difference.change != Change::None
}

/// Number of planned changes by action.
#[derive(Debug, Default)]
pub(super) struct Summary {
    import: usize,
    create: usize,
    update: usize,
    delete: usize,
    delete_then_create: usize,
    create_then_delete: usize,
    read: usize,
    forget: usize,
    forget_then_create: usize,
}

impl Summary {
    pub fn of(changes: &[&ResourceChange]) -> Self {
        let mut summary = Self::default();
        for change in changes {
            summary.import += usize::from(change.importing.is_some());
            match change.action {
                Action::NoOp => {}
                Action::Create => summary.create += 1,
                Action::Read => summary.read += 1,
                Action::Update => summary.update += 1,
                Action::Delete => summary.delete += 1,
                Action::DeleteThenCreate => summary.delete_then_create += 1,
                Action::CreateThenDelete => summary.create_then_delete += 1,
                Action::Forget => summary.forget += 1,
                Action::ForgetThenCreate => summary.forget_then_create += 1,
            }
        }
        summary
    }

    /// Whether any object is changed or read.
    pub fn has_actions(&self) -> bool {
        let replaced = self.delete_then_create + self.create_then_delete + self.forget_then_create;
        self.create + self.update + self.delete + replaced + self.read + self.forget > 0
    }

    /// Writes the meanings of the symbols in the plan.
    pub fn write_legend(&self, palette: Palette, out: &mut dyn Write) -> io::Result<()> {
        let lines = [
            (self.create, Action::Create, "create"),
            (self.update, Action::Update, "update in-place"),
            (self.delete, Action::Delete, "destroy"),
            (self.delete_then_create, Action::DeleteThenCreate, "destroy and then create replacement"),
            (self.create_then_delete, Action::CreateThenDelete, "create replacement and then destroy"),
            (self.forget_then_create, Action::ForgetThenCreate, "create replacement and leave the old object"),
            (self.read, Action::Read, "read (data resources)"),
        ];
        for (count, action, meaning) in lines {
            if count > 0 {
                writeln!(out, "{} {meaning}", symbol(action, palette))?;
            }
        }
        Ok(())
    }

    /// Writes the summary line; `invoked` is the number of action invocations.
    pub fn write_counts(&self, invoked: usize, palette: Palette, out: &mut dyn Write) -> io::Result<()> {
        let replaced = self.delete_then_create + self.create_then_delete;
        let import = if self.import > 0 { format!("{} to import, ", self.import) } else { String::new() };
        let actions = if invoked > 0 { format!(" Actions: {invoked} to invoke.") } else { String::new() };
        writeln!(
            out,
            "\n{} {import}{} to add, {} to change, {} to destroy.{actions}",
            palette.paint(Tone::Bold, "Plan:"),
            // A replacement counts as one added and one destroyed object.
            self.create + replaced + self.forget_then_create,
            self.update,
            self.delete + replaced
        )
    }
}
