//! Decoding of bodies without a schema: unconditional attributes, and overrides of bodies.

use std::sync::Arc;

use crate::ast::{Expression, ExpressionKind, Name, ObjectItem};
use crate::body::{Body, Hidden, MergedBody, NativeBody, Source};
use crate::depth::with_stack;

/// The condition under which an expression of a body is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluated {
    /// Evaluated whenever the body is.
    Always,
    /// In the content of a `dynamic` block: evaluated only if its collection has elements.
    ForElements,
}

impl Body {
    /// Calls `visit` with every expression of this body and its nested blocks, except those in the content of `dynamic`
    /// blocks, which may never be evaluated: of them only the collection is visited.
    ///
    /// Used to report invalid references before the schema of the body is known. Items extracted by an earlier
    /// [`Body::partial_content`] or replaced by an override are skipped.
    pub fn for_each_unconditional_expression(&self, visit: &mut dyn FnMut(&Expression)) {
        self.for_each_evaluated_expression(&mut |expression, evaluated| {
            if evaluated == Evaluated::Always {
                visit(expression);
            }
        });
    }

    /// Calls `visit` with every expression, including the content of `dynamic` blocks, and whether it is always
    /// evaluated.
    pub fn for_each_evaluated_expression(&self, visit: &mut dyn FnMut(&Expression, Evaluated)) {
        match &self.source {
            Source::Native(body) => native(body, self.hidden(), visit),
            Source::Json(body) => json_object(&body.value, Some(self.hidden()), visit),
            Source::Merged(body) => {
                body.kept().for_each_evaluated_expression(visit);
                body.other.for_each_evaluated_expression(visit);
            }
        }
    }
}

fn native(body: &NativeBody, hidden: &Hidden, visit: &mut dyn FnMut(&Expression, Evaluated)) {
    for attribute in body.attributes() {
        if !hidden.has_attribute(&attribute.name.name) {
            visit(&attribute.expression, Evaluated::Always);
        }
    }
    for block in &body.blocks {
        if hidden.hides(block) {
            continue;
        }
        match &block.body.source {
            Source::Native(body) if &*block.kind.name == DYNAMIC => dynamic(body, visit),
            _ if &*block.kind.name == DYNAMIC => {}
            _ => block.body.for_each_evaluated_expression(visit),
        }
    }
}

fn dynamic(body: &NativeBody, visit: &mut dyn FnMut(&Expression, Evaluated)) {
    if let Some(collection) = body.attributes().iter().find(|attribute| &*attribute.name.name == "for_each") {
        visit(&collection.expression, Evaluated::Always);
    }
    for content in &body.blocks {
        // An inner `dynamic` block depends on the elements of the outer one, so all expressions are alike here.
        content.body.for_each_expression(&mut |expression| visit(expression, Evaluated::ForElements));
    }
}

/// Visits a JSON value. Without a schema, every property named `dynamic` may be a `dynamic` block.
fn json_object(value: &Expression, hidden: Option<&Hidden>, visit: &mut dyn FnMut(&Expression, Evaluated)) {
    match &value.kind {
        ExpressionKind::Tuple(elements) => {
            elements.iter().for_each(|element| with_stack(|| json_object(element, hidden, visit)));
        }
        ExpressionKind::Object(items) => {
            for item in items.iter() {
                let name = property_name(item).map(|name| &**name);
                let is_hidden =
                    |hidden: &Hidden| name.is_some_and(|name| hidden.has_attribute(name) || hidden.has_block(name));
                match name {
                    _ if hidden.is_some_and(is_hidden) => {}
                    Some(COMMENT) => {}
                    Some(DYNAMIC) => json_dynamic(&item.value, hidden, visit),
                    // Names are hidden at the top level of a body only.
                    _ => with_stack(|| json_object(&item.value, None, visit)),
                }
            }
        }
        _ => visit(value, Evaluated::Always),
    }
}

fn json_dynamic(blocks: &Expression, hidden: Option<&Hidden>, visit: &mut dyn FnMut(&Expression, Evaluated)) {
    for kind in objects(blocks).flatten().filter(|kind| !hidden.is_some_and(|hidden| hidden.hides_kind(kind))) {
        for item in objects(&kind.value).flatten() {
            match property_name(item).map(|name| &**name) {
                Some("for_each") => visit(&item.value, Evaluated::Always),
                Some("content") => visit(&item.value, Evaluated::ForElements),
                _ => {}
            }
        }
    }
}

/// The block type that generates blocks of other types.
pub(crate) const DYNAMIC: &str = "dynamic";

/// The property name that marks comments in JSON bodies.
pub(crate) const COMMENT: &str = "//";

impl MergedBody {
    /// Returns the base body without the items that the override replaces.
    pub(crate) fn kept(&self) -> Body {
        let mut replaced = Hidden::default();
        self.other.names(&mut replaced);
        self.base.without(&replaced)
    }
}

impl Body {
    /// Collects the names of arguments and blocks. In the JSON syntax a name may be either.
    fn names(&self, into: &mut Hidden) {
        let hidden = self.hidden();
        match &self.source {
            Source::Native(body) => {
                let names = body.attributes().iter().map(|attribute| &attribute.name.name);
                into.attributes.extend(names.filter(|name| !hidden.has_attribute(name)).cloned());
                let blocks = body.blocks.iter().filter(|block| !hidden.has_block(&block.kind.name));
                into.blocks.extend(blocks.map(|block| Name::clone(block.effective_kind())));
            }
            Source::Json(body) => {
                for item in objects(&body.value).flatten() {
                    match property_name(item) {
                        Some(name) if hidden.has_attribute(name) || hidden.has_block(name) || &**name == COMMENT => {}
                        Some(name) if &**name == DYNAMIC => {
                            let kinds = objects(&item.value).flatten().filter_map(property_name);
                            into.blocks.extend(kinds.cloned());
                        }
                        name => {
                            into.attributes.extend(name.cloned());
                            into.blocks.extend(name.cloned());
                        }
                    }
                }
            }
            Source::Merged(body) => {
                body.base.names(into);
                body.other.names(into);
            }
        }
    }

    fn without(&self, names: &Hidden) -> Self {
        if let Source::Merged(body) = &self.source {
            let merged = MergedBody { base: body.base.without(names), other: body.other.without(names) };
            return Self { source: Source::Merged(Arc::new(merged)), hidden: None };
        }
        let mut hidden = self.hidden().clone();
        hidden.attributes.extend(names.attributes.iter().cloned());
        hidden.blocks.extend(names.blocks.iter().cloned());
        Self { source: self.source.clone(), hidden: Some(Arc::new(hidden)) }
    }
}

impl Hidden {
    /// Whether the blocks that a JSON `dynamic` property generates are hidden.
    pub(crate) fn hides_kind(&self, kind: &ObjectItem) -> bool {
        property_name(kind).is_some_and(|name| self.has_block(name))
    }
}

/// The name of a JSON property.
pub(crate) fn property_name(item: &ObjectItem) -> Option<&Name> {
    match &item.key.kind {
        ExpressionKind::String(name) => Some(name),
        ExpressionKind::JsonString(name) => Some(&name.text),
        _ => None,
    }
}

/// Iterates over the objects of an object or an array of objects.
pub(crate) fn objects(value: &Expression) -> impl Iterator<Item = &[ObjectItem]> {
    let several = match &value.kind {
        ExpressionKind::Tuple(elements) => &elements[..],
        _ => std::slice::from_ref(value),
    };
    several.iter().filter_map(Expression::as_object)
}

#[cfg(test)]
mod tests {
    use super::Evaluated;
    use crate::{File, parse_file, parse_json_file};
    use groma_diagnostics::Sources;

    fn visited((file, _): (File, groma_diagnostics::Diagnostics), sources: &Sources) -> Vec<String> {
        let mut texts = Vec::new();
        file.body.for_each_unconditional_expression(&mut |expression| texts.extend(sources.text(expression.span)));
        texts
    }

    #[test]
    fn content_of_dynamic_blocks_is_skipped() {
        let sources = Sources::new();
        let text =
            "a = 1\nb {\n  c = 2\n  dynamic \"d\" {\n    for_each = 3\n    content {\n      e = 4\n    }\n  }\n}\n";
        let file = sources.add("a.tf", text).unwrap();
        assert_eq!(visited(parse_file(&file), &sources), ["1", "2", "3"]);
    }

    #[test]
    fn dynamic_content_is_visited_as_conditional() {
        let sources = Sources::new();
        let native = "a = 1\ndynamic \"d\" {\n  for_each = 2\n  iterator = x\n  content {\n    e = 3\n    dynamic \"f\" {\n      for_each = 4\n    }\n  }\n}\n";
        let json = r#"{"a": 1, "dynamic": {"d": {"for_each": 2, "iterator": "x", "content": 3}}}"#;
        for (name, text, wanted) in [("a.tf", native, &["3", "4"][..]), ("a.tf.json", json, &["3"])] {
            let file = sources.add(name, text).unwrap();
            let (file, _) = if name.ends_with("json") { parse_json_file(&file) } else { parse_file(&file) };
            let (mut always, mut perhaps) = (Vec::new(), Vec::new());
            file.body.for_each_evaluated_expression(&mut |expression, evaluated| {
                let texts = if evaluated == Evaluated::Always { &mut always } else { &mut perhaps };
                texts.extend(sources.text(expression.span));
            });
            assert_eq!(
                (always, perhaps),
                (vec!["1".to_owned(), "2".to_owned()], wanted.iter().map(|text| (*text).to_owned()).collect())
            );
        }
    }

    #[test]
    fn json_dynamic_content_is_skipped() {
        let sources = Sources::new();
        let text = r#"{"a": 1, "b": [{"c": 2, "dynamic": {"d": {"for_each": 3, "content": {"e": 4}}}}]}"#;
        let file = sources.add("a.tf.json", text).unwrap();
        assert_eq!(visited(parse_json_file(&file), &sources), ["1", "2", "3"]);
    }

    /// The expressions visited in a base body with an override.
    fn merged(base: &str, other: &str) -> Vec<String> {
        let sources = Sources::new();
        let parse = |name: &str, text: &str| {
            let file = sources.add(name, text).unwrap();
            if text.starts_with('{') { parse_json_file(&file).0.body } else { parse_file(&file).0.body }
        };
        let body = parse("base", base).overridden_by(&parse("other", other));
        let mut texts = Vec::new();
        body.for_each_unconditional_expression(&mut |expression| texts.extend(sources.text(expression.span)));
        let mut all = 0;
        body.for_each_expression(&mut |_| all += 1);
        // No body of these tests has content in a `dynamic` block, so both walks visit the same expressions.
        assert_eq!(all, texts.len());
        texts
    }

    #[test]
    fn overridden_items_are_skipped() {
        let base = "a = 1\nb = 2\nc {\n  d = 3\n}\ndynamic \"e\" {\n  for_each = 4\n}\nf {\n  g = 5\n}\n";
        assert_eq!(merged(base, "a = 6\nc {\n}\ne {\n}\n"), ["2", "5", "6"]);
        let json = r#"{"a": 6, "c": 7, "dynamic": {"e": {"for_each": 8}}, "//": 9}"#;
        assert_eq!(merged(base, json), ["2", "5", "6", "7", "8"]);
    }

    #[test]
    fn overridden_json_items_are_skipped() {
        let base = r#"{"a": 1, "b": 2, "dynamic": {"c": {"for_each": 3}, "d": {"for_each": 4}}, "//": 5}"#;
        assert_eq!(merged(base, "a = 6\nc {\n}\n"), ["2", "4", "6"]);
    }
}
