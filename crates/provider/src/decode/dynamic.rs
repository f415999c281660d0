//! Expansion of dynamic blocks: `dynamic "rule" { for_each = … content { … } }`.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::{BodySchema, Expression, ExpressionKind, Traversal};
use groma_lang::{ChildScope, Scope, evaluate};
use groma_value::{Kind, Marks, Type, Value, convert::convert};

use super::node::Dynamic;
use super::structure::{EnclosingDynamic, Reader};
use crate::Name;
use crate::schema::{NestedBlock, Nesting};

/// The blocks that a dynamic block generates in a scope.
pub(super) enum Expansion {
    /// The number of blocks is unknown; the marks are those of the collection.
    Unknown(Marks),
    /// Label and value of each block, and the marks of the collection, which the set arguments already carry.
    Blocks(Vec<(Option<Name>, Value)>, Marks),
}

impl Reader {
    /// Reads a dynamic block that generates blocks of type `kind`; `None` after structural errors.
    pub(super) fn dynamic(&mut self, found: &groma_hcl::Block, kind: &Name, nested: &NestedBlock) -> Option<Dynamic> {
        let labelled = nested.nesting() == Nesting::Map;
        let mut schema = BodySchema::new().required("for_each").optional("iterator").block("content", &[]);
        if labelled {
            schema = schema.required("labels");
        }
        let (content, problems) = found.body.content(&schema);
        let broken = problems.has_errors();
        self.diagnostics.append(problems);
        if broken {
            return None;
        }
        let for_each = content.get("for_each")?.expression.clone();
        self.check_collection(&for_each);
        let iterator = match content.get("iterator") {
            None => kind.clone(),
            Some(argument) => self.iterator_name(&argument.expression)?,
        };
        let mut bodies = content.blocks_of("content");
        let Some(body) = bodies.next() else {
            let detail = "A dynamic block requires a \"content\" block that defines the body of each generated block.";
            self.diagnostics.push(Diagnostic::error("Missing dynamic content block", detail).at(content.missing_item));
            return None;
        };
        if let Some(extra) = bodies.next() {
            let detail = "A dynamic block can have only one \"content\" block. Remove all but one of them.";
            self.diagnostics.push(Diagnostic::error("Extraneous dynamic content block", detail).at(extra.header));
            return None;
        }
        // Problems of a nested dynamic block are stored with the outermost one, and reported when that one is expanded.
        let is_outermost = self.enclosing.is_empty();
        let outside = if is_outermost { std::mem::take(&mut self.diagnostics) } else { Diagnostics::new() };
        self.enclosing.push(EnclosingDynamic { iterator: iterator.clone(), references: Vec::new() });
        let label = match content.get("labels") {
            Some(argument) => self.label(&argument.expression, kind),
            None => None,
        };
        let node = self.node(&body.body, nested.block());
        let references = self.enclosing.pop().map(|enclosing| enclosing.references).unwrap_or_default();
        let collections = if is_outermost { std::mem::take(&mut self.collections) } else { Vec::new() };
        let problems = if is_outermost { std::mem::replace(&mut self.diagnostics, outside) } else { outside };
        // The label error was collected with the problems of the content, which would otherwise be reported only on
        // expansion.
        if labelled && label.is_none() {
            self.diagnostics.append(problems);
            return None;
        }
        let header = found.header;
        Some(Dynamic { iterator, for_each, label, content: node, problems, references, collections, header })
    }

    fn iterator_name(&mut self, expression: &Expression) -> Option<Name> {
        // Quoted references are accepted in other positions for old configurations, but a quoted iterator was never
        // valid.
        let is_quoted = matches!(expression.kind, ExpressionKind::String(_));
        let summary = match expression.as_traversal().filter(|_| !is_quoted) {
            Some(traversal) if traversal.steps().is_empty() => return Some(traversal.root.name.clone()),
            Some(_) => "Invalid dynamic iterator name",
            None => "Invalid expression",
        };
        let detail = "The iterator of a dynamic block must be a single unquoted name, for example item.";
        self.diagnostics.push(Diagnostic::error(summary, detail).at(expression.span));
        None
    }

    /// Returns the single label, which becomes the key in a map of blocks.
    fn label(&mut self, expression: &Expression, kind: &str) -> Option<Expression> {
        let detail = format!("Blocks of type \"{kind}\" require 1 label.");
        match expression.as_list() {
            Some([label]) => {
                self.check_collection(label);
                Some(label.clone())
            }
            Some([_, extra, ..]) => {
                self.diagnostics.push(Diagnostic::error("Extraneous dynamic block label", detail).at(extra.span));
                None
            }
            _ => {
                self.diagnostics
                    .push(Diagnostic::error("Insufficient dynamic block labels", detail).at(expression.span));
                None
            }
        }
    }
}

impl Dynamic {
    /// Generates the blocks in `scope`; `None` after an error.
    pub(super) fn expand(&self, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Option<Expansion> {
        // Only errors of this collection matter; earlier ones belong to other arguments.
        let before = diagnostics.len();
        diagnostics.append(invalid_references(&self.collections, scope));
        let collection = evaluate(&self.for_each, scope, diagnostics);
        if diagnostics.iter().skip(before).any(Diagnostic::is_error) {
            return None;
        }
        let (collection, marks) = collection.unmark();
        if let Some(detail) = for_each_problem(&collection, &marks) {
            let error = Diagnostic::error("Invalid dynamic for_each value", detail).at(self.for_each.span);
            diagnostics.push(error);
            return None;
        }
        if !collection.is_known() {
            // The collection may turn out empty, but Terraform reports structural problems of the content as if one
            // element existed.
            diagnostics.append(self.problems.clone());
            return Some(Expansion::Unknown(marks));
        }
        let mut blocks = Vec::new();
        for (index, (key, element)) in collection.elements().enumerate() {
            let inner = self.iteration(scope, key, element);
            if index == 0 {
                diagnostics.append(self.problems.clone());
                // Evaluation would skip some invalid references and report the others a second time.
                let invalid = invalid_references(&self.references, scope);
                if invalid.has_errors() {
                    diagnostics.append(invalid);
                    return None;
                }
            }
            let label = match &self.label {
                None => None,
                Some(label) => Some(evaluate_label(label, &inner, diagnostics)?),
            };
            blocks.push((label, self.content.evaluate_marked(&marks, &inner, diagnostics)));
        }
        Some(Expansion::Blocks(blocks, marks))
    }

    fn iteration<'a>(&self, scope: &'a dyn Scope, key: Value, value: Value) -> ChildScope<'a> {
        // One shared shape instead of an allocation for each iteration.
        static NAMES: std::sync::LazyLock<Arc<groma_value::Shape>> =
            std::sync::LazyLock::new(|| Arc::new(groma_value::Shape::new(["key", "value"])));
        let iteration = Value::object_shaped(&NAMES, vec![key, value]);
        ChildScope::new(scope, vec![(self.iterator.clone(), iteration)])
    }
}

/// Checks references that are invalid for all values. References outside of dynamic blocks are checked at load time.
fn invalid_references(references: &[Traversal], scope: &dyn Scope) -> Diagnostics {
    references.iter().filter_map(|reference| scope.check(reference)).collect()
}

/// Returns the error detail if `collection` cannot be iterated over.
fn for_each_problem(collection: &Value, marks: &Marks) -> Option<String> {
    if marks.is_ephemeral() {
        return Some(
            "The value is ephemeral, so the number of blocks would differ between runs. Use a value that is not ephemeral."
                .into(),
        );
    }
    let ty = collection.ty();
    let iterable = match &ty {
        Type::Dynamic | Type::List(_) | Type::Set(_) | Type::Map(_) | Type::Object(_) | Type::Tuple(_) => true,
        Type::Bool | Type::Number | Type::String => false,
    };
    if !iterable {
        let name = ty.friendly_name();
        return Some(format!(
            "\"for_each\" requires a collection with one element per block, but this value is a {name}."
        ));
    }
    collection.is_null().then(|| "\"for_each\" is null. Use an empty list to generate no blocks.".into())
}

fn evaluate_label(expression: &Expression, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Option<Name> {
    let before = diagnostics.len();
    let value = evaluate(expression, scope, diagnostics);
    if diagnostics.iter().skip(before).any(Diagnostic::is_error) {
        return None;
    }
    let detail = match convert(&value, &Type::String) {
        Err(problem) => format!("A label of a dynamic block must be a string: {}.", problem.message),
        Ok(text) if text.has_marks() => {
            "A block label is displayed and stored, so it cannot be derived from a sensitive or ephemeral value.".into()
        }
        Ok(text) => match text.kind() {
            Kind::String(text) => return Some(text.clone()),
            Kind::Null => "A label of a dynamic block must be a string, not null.".into(),
            _ => "The value is unknown until apply. Labels of dynamic blocks must be known during planning.".to_owned(),
        },
    };
    diagnostics.push(Diagnostic::error("Invalid dynamic block label", detail).at(expression.span));
    None
}
