//! Looking at the expressions of a body that are evaluated whatever happens.

use crate::ast::{Expression, ExpressionKind};
use crate::body::NativeBody;
use crate::body::{Block, Body, Hidden, Source};
use crate::overriding::{COMMENT, DYNAMIC, objects, property_name};

impl Body {
    /// Calls `visit` with every expression in this body and in the blocks inside it, but not with those in the content of
    /// `dynamic` blocks, which may come to nothing: of them only the collection is visited.
    ///
    /// For whoever reports references to things that are not there before the body's schema is known. What an earlier
    /// [`Body::partial_content`] took out is left out, and so is what an override replaces.
    pub fn for_each_unconditional_expression(&self, visit: &mut dyn FnMut(&Expression)) {
        match &self.source {
            Source::Native(body) => native(body, self.hidden(), visit),
            Source::Json(body) => json_object(&body.value, Some(self.hidden()), visit),
            Source::Merged(body) => {
                body.kept().for_each_unconditional_expression(visit);
                body.other.for_each_unconditional_expression(visit);
            }
        }
    }
}

fn native(body: &NativeBody, hidden: &Hidden, visit: &mut dyn FnMut(&Expression)) {
    for attribute in &body.attributes {
        if !hidden.has_attribute(&attribute.name.name) {
            visit(&attribute.expression);
        }
    }
    for block in &body.blocks {
        if hidden.hides(block) {
            continue;
        }
        match collection(block) {
            Some(collection) => visit(collection),
            None if &*block.kind.name == DYNAMIC => {}
            None => block.body.for_each_unconditional_expression(visit),
        }
    }
}

/// What a `dynamic` block repeats over.
fn collection(block: &Block) -> Option<&Expression> {
    let Source::Native(body) = &block.body.source else { return None };
    let found = body.attributes.iter().find(|attribute| &*attribute.name.name == "for_each");
    found.map(|attribute| &attribute.expression).filter(|_| &*block.kind.name == DYNAMIC)
}

/// In the JSON syntax any property of that name may be such a block.
fn json_object(value: &Expression, hidden: Option<&Hidden>, visit: &mut dyn FnMut(&Expression)) {
    match &value.kind {
        ExpressionKind::Tuple(elements) => elements.iter().for_each(|element| json_object(element, hidden, visit)),
        ExpressionKind::Object(items) => {
            for item in items.iter() {
                let name = property_name(item).map(|name| &**name);
                let is_hidden =
                    |hidden: &Hidden| name.is_some_and(|name| hidden.has_attribute(name) || hidden.has_block(name));
                match name {
                    _ if hidden.is_some_and(is_hidden) => {}
                    Some(COMMENT) => {}
                    Some(DYNAMIC) => json_dynamic(&item.value, hidden, visit),
                    _ => json_object(&item.value, None, visit),
                }
            }
        }
        _ => visit(value),
    }
}

fn json_dynamic(blocks: &Expression, hidden: Option<&Hidden>, visit: &mut dyn FnMut(&Expression)) {
    for kind in objects(blocks).flatten().filter(|kind| !hidden.is_some_and(|hidden| hidden.hides_kind(kind))) {
        for item in objects(&kind.value).flatten() {
            if property_name(item).is_some_and(|name| &**name == "for_each") {
                visit(&item.value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use groma_diagnostics::Sources;

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
    fn in_json_too() {
        let sources = Sources::new();
        let text = r#"{"a": 1, "b": [{"c": 2, "dynamic": {"d": {"for_each": 3, "content": {"e": 4}}}}]}"#;
        let file = sources.add("a.tf.json", text).unwrap();
        assert_eq!(visited(parse_json_file(&file), &sources), ["1", "2", "3"]);
    }

    /// What is visited of a base with an override.
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
