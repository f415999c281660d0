//! Telling where something deprecated is used.
//!
//! Deprecated values carry a mark. Where a marked value is used, the deprecation is reported and the mark removed:
//! once for each use. Marks inside a local value or an argument of a module are reported where the value is taken out of it.

use std::collections::{BTreeSet, HashSet};

use groma_address::Name;
use groma_config::Module;
use groma_diagnostics::{Diagnostic, DiagnosticKind, Diagnostics, Span};
use groma_hcl::Expression;
use groma_lang::span_within;
use groma_provider::BodyDecoder;
use groma_value::{Deprecation, Marks, Path, Value};
use indexmap::IndexMap;

use crate::options::Input;

/// Whether a warning is about the use of what a module has deprecated, not a provider.
pub fn is_about_modules(diagnostic: &Diagnostic) -> bool {
    diagnostic.kind == DiagnosticKind::DeprecatedVariable
        || diagnostic.origin.as_ref().is_some_and(|origin| origin.is_of_module())
}

/// Tells what is deprecated about `value` itself, which `expression` gave.
pub fn report_own_deprecation(value: &Value, expression: &Expression, diagnostics: &mut Diagnostics) {
    diagnostics.extend(of_marks(value.marks(), expression.span));
}

/// Tells what is deprecated about a value or anything inside it, each at the part of `expression` that gave it.
pub fn report_deprecation(value: Value, expression: &Expression, diagnostics: &mut Diagnostics) -> Value {
    report_nested_deprecations(value, |path| span_within(expression, path.steps()), diagnostics)
}

/// Reports deprecated values in the decoded value of a body, and returns the value without those marks.
pub fn report_deprecated_body(value: Value, body: &BodyDecoder, diagnostics: &mut Diagnostics) -> Value {
    report_nested_deprecations(value, |path| body.span_of(path), diagnostics)
}

/// Reports values that were set for deprecated variables of the root module.
pub fn report_deprecated_inputs(root: &Module, inputs: &IndexMap<Name, Input>, diagnostics: &mut Diagnostics) {
    for variable in root.variables.values() {
        if let Some(message) = &variable.deprecated
            && inputs.get(&variable.name).is_some_and(|input| !input.value.is_null())
        {
            let warning = groma_config::deprecated_variable("configuration", &variable.name, message);
            diagnostics.push(warning.at(variable.deprecated_span));
        }
    }
}

/// Adds those of `others` that tell what nothing in `reported` does: a use of something deprecated elsewhere, or, of the same text, other words.
/// An instance has an address that its block has not.
pub fn complete(reported: &mut Diagnostics, others: Diagnostics) {
    let said = |diagnostic: &Diagnostic| match &diagnostic.origin {
        Some(_) => (diagnostic.subject, String::new(), String::new()),
        None => (diagnostic.subject, diagnostic.summary.clone(), diagnostic.detail.clone()),
    };
    let known: HashSet<_> = reported.iter().map(said).collect();
    reported.extend(others.into_iter().filter(|other| !known.contains(&said(other))));
}

fn report_nested_deprecations(value: Value, span_of: impl Fn(&Path) -> Span, diagnostics: &mut Diagnostics) -> Value {
    if !value.deep_marks().is_deprecated() {
        return value;
    }
    let (bare, mut all) = value.unmark_deep();
    let mut reported: BTreeSet<(Span, Deprecation)> = BTreeSet::new();
    for (path, marks) in &mut all {
        let span = span_of(path);
        for deprecation in marks.deprecations() {
            if reported.insert((span, deprecation.clone())) {
                diagnostics.push(warning(deprecation, span));
            }
        }
        *marks = marks.without_deprecations();
    }
    bare.mark_paths(&all)
}

fn of_marks(marks: &Marks, span: Span) -> impl Iterator<Item = Diagnostic> {
    marks.deprecations().map(move |deprecation| warning(deprecation, span))
}

fn warning(deprecation: &Deprecation, span: Span) -> Diagnostic {
    Diagnostic::warning("Deprecated value used", &*deprecation.message).at(span).originating(deprecation.origin.clone())
}
