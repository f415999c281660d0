//! Dynamic blocks: `dynamic "kind" { for_each = … content { … } }`.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::{BodySchema, Expression, ExpressionKind, Traversal};
use groma_lang::{ChildScope, Scope, evaluate};
use groma_value::{Kind, Marks, Type, Value, convert::convert};

use super::node::Dynamic;
use super::structure::{Around, Reader};
use crate::Name;
use crate::schema::{NestedBlock, Nesting};

/// The blocks that a dynamic block makes.
pub(super) enum Expansion {
    /// So many are not known yet.
    Unknown(Marks),
    /// These: label and value, with the marks that what their arguments set has already.
    Blocks(Vec<(Option<Name>, Value)>, Marks),
}

impl Reader {
    /// Reads a dynamic block for blocks of the kind `kind`; nothing when it makes no sense.
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
            let detail = "A dynamic block needs a block of type \"content\" that says what each of the blocks holds.";
            self.diagnostics.push(Diagnostic::error("Missing dynamic content block", detail).at(content.missing_item));
            return None;
        };
        if let Some(extra) = bodies.next() {
            let detail = "A dynamic block can have only one \"content\" block. Remove all but one of them.";
            self.diagnostics.push(Diagnostic::error("Extraneous dynamic content block", detail).at(extra.header));
            return None;
        }
        // What is wrong in a dynamic block inside of another one is a part of what is wrong in that.
        let is_outermost = self.around.is_empty();
        let outside = if is_outermost { std::mem::take(&mut self.diagnostics) } else { Diagnostics::new() };
        self.around.push(Around { iterator: iterator.clone(), named: Vec::new() });
        let label = match content.get("labels") {
            Some(argument) => self.label(&argument.expression, kind),
            None => None,
        };
        let node = self.node(&body.body, nested.block());
        let named = self.around.pop().map(|around| around.named).unwrap_or_default();
        let collections = if is_outermost { std::mem::take(&mut self.collections) } else { Vec::new() };
        let problems = if is_outermost { std::mem::replace(&mut self.diagnostics, outside) } else { outside };
        if labelled && label.is_none() {
            self.diagnostics.append(problems);
            return None;
        }
        let header = found.header;
        Some(Dynamic { iterator, for_each, label, content: node, problems, named, collections, header })
    }

    fn iterator_name(&mut self, expression: &Expression) -> Option<Name> {
        // Elsewhere old configurations have references in quotes; a name never had any.
        let is_quoted = matches!(expression.kind, ExpressionKind::String(_));
        let summary = match expression.as_traversal().filter(|_| !is_quoted) {
            Some(traversal) if traversal.steps().is_empty() => return Some(traversal.root.name.clone()),
            Some(_) => "Invalid dynamic iterator name",
            None => "Invalid expression",
        };
        let detail = "The iterator of a dynamic block is a name of your choice without quotes, such as item.";
        self.diagnostics.push(Diagnostic::error(summary, detail).at(expression.span));
        None
    }

    /// The only label that there can be: the key of a block in a map of blocks.
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
    /// The blocks in `scope`; nothing when they cannot be told because of an error.
    pub(super) fn expand(&self, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Option<Expansion> {
        let before = diagnostics.len();
        diagnostics.append(wrong(&self.collections, scope));
        let collection = evaluate(&self.for_each, scope, diagnostics);
        if diagnostics.iter().skip(before).any(Diagnostic::is_error) {
            return None;
        }
        let (collection, marks) = collection.unmark();
        if let Some(detail) = unfit(&collection, &marks) {
            let error = Diagnostic::error("Invalid dynamic for_each value", detail).at(self.for_each.span);
            diagnostics.push(error);
            return None;
        }
        if !collection.is_known() {
            // The content may come to nothing, and public modules have values that are wrong in some: these are told for the first element.
            diagnostics.append(self.problems.clone());
            return Some(Expansion::Unknown(marks));
        }
        let mut blocks = Vec::new();
        for (index, (key, element)) in collection.elements().enumerate() {
            let inner = self.iteration(scope, key, element);
            if index == 0 {
                diagnostics.append(self.problems.clone());
                // Evaluation would pass over some of it, and say the rest once more.
                let wrong = wrong(&self.named, scope);
                if wrong.has_errors() {
                    diagnostics.append(wrong);
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
        static NAMES: std::sync::LazyLock<Arc<groma_value::Shape>> =
            std::sync::LazyLock::new(|| Arc::new(groma_value::Shape::new(["key", "value"])));
        let iteration = Value::object_shaped(&NAMES, vec![key, value]);
        ChildScope::new(scope, vec![(self.iterator.clone(), iteration)])
    }
}

/// What is wrong with references whatever the values are, as it is told of those outside of dynamic blocks when the configuration is loaded.
fn wrong(references: &[Traversal], scope: &dyn Scope) -> Diagnostics {
    references.iter().filter_map(|reference| scope.check(reference)).collect()
}

/// Why `collection` cannot be iterated over.
fn unfit(collection: &Value, marks: &Marks) -> Option<String> {
    if marks.is_ephemeral() {
        return Some(
            "The value is ephemeral, so the number of blocks would differ from run to run. Use a value that is kept."
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
        return Some(format!("\"for_each\" needs a collection, one element for each block, but this is a {name}."));
    }
    collection.is_null().then(|| "\"for_each\" is null. For no blocks, give it an empty list.".into())
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
            "A label is shown and kept everywhere, so that it cannot come from a sensitive or ephemeral value.".into()
        }
        Ok(text) => match text.kind() {
            Kind::String(text) => return Some(text.clone()),
            Kind::Null => "A label of a dynamic block must be a string, and this is null.".into(),
            _ => "The value is not yet known. Labels of dynamic blocks must be known at once.".to_owned(),
        },
    };
    diagnostics.push(Diagnostic::error("Invalid dynamic block label", detail).at(expression.span));
    None
}
