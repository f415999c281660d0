//! Looking at the expressions of a body that are evaluated whatever happens.

use crate::ast::{Expression, ExpressionKind, ObjectItem};
use crate::body::NativeBody;
use crate::body::{Block, Body, Hidden, Source};

/// The kind of block that stands for any number of others.
const DYNAMIC: &str = "dynamic";

impl Body {
    /// Calls `visit` with every expression in this body and in the blocks inside it, but not with those in the content of
    /// `dynamic` blocks, which may come to nothing: of them only the collection is visited.
    ///
    /// For whoever reports references to things that are not there before the body's schema is known. What an earlier
    /// [`Body::partial_content`] took out is left out.
    pub fn for_each_unconditional_expression(&self, visit: &mut dyn FnMut(&Expression)) {
        match &self.source {
            Source::Native(body) => native(body, self.hidden(), visit),
            Source::Json(body) => json_object(&body.value, Some(self.hidden()), visit),
            Source::Merged(body) => {
                body.base.for_each_unconditional_expression(visit);
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
        if hidden.has_block(&block.kind.name) {
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
                let name = property_name(item);
                let is_hidden =
                    |hidden: &Hidden| name.is_some_and(|name| hidden.has_attribute(name) || hidden.has_block(name));
                match name {
                    _ if hidden.is_some_and(is_hidden) => {}
                    // A comment.
                    Some("//") => {}
                    Some(DYNAMIC) => json_dynamic(&item.value, visit),
                    _ => json_object(&item.value, None, visit),
                }
            }
        }
        _ => visit(value),
    }
}

fn property_name(item: &ObjectItem) -> Option<&str> {
    match &item.key.kind {
        ExpressionKind::String(name) => Some(name),
        ExpressionKind::JsonString(name) => Some(&name.text),
        _ => None,
    }
}

fn json_dynamic(blocks: &Expression, visit: &mut dyn FnMut(&Expression)) {
    for kind in objects(blocks).flatten() {
        for item in objects(&kind.value).flatten() {
            if property_name(item) == Some("for_each") {
                visit(&item.value);
            }
        }
    }
}

/// The objects that an object, or an array of objects, is.
fn objects(value: &Expression) -> impl Iterator<Item = &[ObjectItem]> {
    let several = match &value.kind {
        ExpressionKind::Tuple(elements) => &elements[..],
        _ => std::slice::from_ref(value),
    };
    several.iter().filter_map(Expression::as_object)
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
}
