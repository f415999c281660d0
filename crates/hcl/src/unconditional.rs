//! Looking at the expressions of a body, and whether they are evaluated whatever happens.

use crate::ast::{Expression, ExpressionKind};
use crate::body::NativeBody;
use crate::body::{Body, Hidden, Source};
use crate::depth::with_stack;
use crate::overriding::{COMMENT, DYNAMIC, objects, property_name};

/// Whether an expression of a body is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluated {
    /// Evaluated in any case.
    Always,
    /// In the content of a `dynamic` block: if that has an element.
    ForElements,
}

impl Body {
    /// Calls `visit` with every expression in this body and in the blocks inside it, but not with those in the content of
    /// `dynamic` blocks, which may come to nothing: of them only the collection is visited.
    ///
    /// For checks of references before the body's schema is known. Items that an earlier
    /// [`Body::partial_content`] returned are left out, and so are those that an override replaces.
    pub fn for_each_unconditional_expression(&self, visit: &mut dyn FnMut(&Expression)) {
        self.for_each_evaluated_expression(&mut |expression, evaluated| {
            if evaluated == Evaluated::Always {
                visit(expression);
            }
        });
    }

    /// Visits all expressions, content of `dynamic` blocks included, with whether each is evaluated.
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
        content.body.for_each_expression(&mut |expression| visit(expression, Evaluated::ForElements));
    }
}

/// In the JSON syntax any property of that name may be such a block.
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

#[cfg(test)]
mod tests {
    use groma_diagnostics::Sources;

    use super::Evaluated;
    use crate::{File, parse_file, parse_json_file};

    fn visited((file, _): (File, groma_diagnostics::Diagnostics), sources: &Sources) -> Vec<String> {
        let mut texts = Vec::new();
        file.body.for_each_unconditional_expression(&mut |expression| texts.extend(sources.text(expression.span)));
        texts
    }

    #[test]
    fn the_content_of_dynamic_blocks_is_left_out() {
        let sources = Sources::new();
        let text =
            "a = 1\nb {\n  c = 2\n  dynamic \"d\" {\n    for_each = 3\n    content {\n      e = 4\n    }\n  }\n}\n";
        let file = sources.add("a.tf", text).unwrap();
        assert_eq!(visited(parse_file(&file), &sources), ["1", "2", "3"]);
    }

    #[test]
    fn with_it_all_but_names_of_elements_is_seen() {
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
    fn in_json_too() {
        let sources = Sources::new();
        let text = r#"{"a": 1, "b": [{"c": 2, "dynamic": {"d": {"for_each": 3, "content": {"e": 4}}}}]}"#;
        let file = sources.add("a.tf.json", text).unwrap();
        assert_eq!(visited(parse_json_file(&file), &sources), ["1", "2", "3"]);
    }

    /// Visits a base with an override.
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
        assert_eq!(all, texts.len());
        texts
    }

    #[test]
    fn what_an_override_replaces_is_left_out() {
        let base = "a = 1\nb = 2\nc {\n  d = 3\n}\ndynamic \"e\" {\n  for_each = 4\n}\nf {\n  g = 5\n}\n";
        assert_eq!(merged(base, "a = 6\nc {\n}\ne {\n}\n"), ["2", "5", "6"]);
        let json = r#"{"a": 6, "c": 7, "dynamic": {"e": {"for_each": 8}}, "//": 9}"#;
        assert_eq!(merged(base, json), ["2", "5", "6", "7", "8"]);
    }

    #[test]
    fn what_replaces_a_part_of_json_too() {
        let base = r#"{"a": 1, "b": 2, "dynamic": {"c": {"for_each": 3}, "d": {"for_each": 4}}, "//": 5}"#;
        assert_eq!(merged(base, "a = 6\nc {\n}\n"), ["2", "4", "6"]);
    }
}
