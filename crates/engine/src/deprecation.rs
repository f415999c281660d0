//! Telling where something deprecated is used.
//!
//! Deprecated values carry a mark. Where a marked value is used, the deprecation is reported and the mark removed:
//! once for each use. Marks inside a local value or an argument of a module are reported where the value is taken out of it.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use groma_address::{ConfigResource, DeprecationOrigin, InstanceKey, Name};
use groma_config::Module;
use groma_diagnostics::{Diagnostic, DiagnosticKind, Diagnostics, Span};
use groma_hcl::Expression;
use groma_lang::span_within;
use groma_provider::{BodyDecoder, DeprecatedPart, PartKind, Schema};
use groma_value::{Deprecation, Marks, Path, PathMarks, Type, Value};
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

/// Marks the objects of a resource.
#[derive(Debug)]
pub struct Marker {
    schema: Arc<Schema>,
    address: ConfigResource,
}

impl Marker {
    /// Returns the marks for objects of a resource with this schema; `None` if nothing about them is deprecated.
    pub fn of(schema: &Arc<Schema>, address: impl FnOnce() -> ConfigResource) -> Option<Box<Self>> {
        schema.block.contains_deprecated().then(|| Box::new(Self { schema: Arc::clone(schema), address: address() }))
    }

    /// The object of the instance `key`, with marks on what is deprecated about it.
    pub fn mark(&self, object: Value, key: &InstanceKey) -> Value {
        let object = spread(object);
        let marks: PathMarks =
            self.schema.block.deprecated_parts(&object).into_iter().map(|part| self.marks(part, key)).collect();
        object.mark_paths(&marks)
    }

    fn marks(&self, part: DeprecatedPart<'_>, key: &InstanceKey) -> (Path, Marks) {
        let within = part.path.to_string();
        let message = match (part.deprecation.message.trim(), part.kind) {
            ("", PartKind::Whole) => {
                "Resources of this type are deprecated. See the provider's documentation for a replacement.".to_owned()
            }
            ("", kind) => {
                let what = if kind == PartKind::Attribute { "attribute" } else { "block" };
                let name = within.strip_prefix('.').unwrap_or(&within);
                format!("The {what} {name:?} is deprecated. See the provider's documentation for a replacement.")
            }
            (message, _) => message.to_owned(),
        };
        let origin =
            DeprecationOrigin::Object { resource: self.address.clone(), key: key.clone(), path: within.into() };
        (part.path, Marks::deprecated(Deprecation { message: message.into(), origin }))
    }
}

/// An unknown object as one of unknown attributes: there is one in any case, and marks on a part say nothing of the rest.
fn spread(object: Value) -> Value {
    match (object.is_known(), object.ty()) {
        (false, Type::Object(ty)) => {
            let marks = object.marks().clone();
            Value::object_typed(&ty, ty.types().iter().map(|ty| Value::unknown(ty.clone())).collect())
                .with_marks(&marks)
        }
        _ => object,
    }
}
