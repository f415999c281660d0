//! Objects drawn from the schema of a type, for tests.

use groma_value::Value;

use super::fields::{Change, Fields, Shape};
use crate::schema::{Draw, JsonTypes, Node, NodeId, TypeSchema, sample};

const TEXTS: [&str; 22] = [
    "abcdef",
    "Name1",
    "arn:aws:iam::123456789012:role/name",
    "arn:aws:s3:::bucket",
    "arn:aws:kms:eu-central-1:123456789012:key/12345678-1234-4234-8234-123456789012",
    "arn:aws:lambda:eu-central-1:123456789012:function:name",
    "arn:aws:sns:eu-central-1:123456789012:topic",
    "12345678-1234-4234-8234-123456789012",
    "123456789012",
    "10.0.0.0/16",
    "10.0.0.1",
    "eu-central-1",
    "eu-central-1a",
    "https://example.com/path",
    "example.com",
    "someone@example.com",
    "/path/name",
    "1.0",
    "7",
    "true",
    "subnet-0123456789abcdef0",
    "*",
];

/// Draws values that a schema allows.
pub struct Sampler<'a> {
    /// The schema of the type.
    pub schema: &'a TypeSchema,
    /// The source of numbers.
    pub draw: Draw,
}

impl Sampler<'_> {
    /// Returns an object with the required properties and some of the others, for one branch of a `oneOf` or `anyOf`.
    pub fn object(&mut self, fields: &Fields, depth: u64) -> Value {
        let node = self.schema.node(fields.node);
        let branches = if node.one_of.is_empty() { &node.any_of } else { &node.one_of };
        let index = if branches.is_empty() { 0 } else { self.draw.index(branches.len()) };
        let branch = branches.get(index).map(|branch| self.schema.node(*branch));
        let values = fields.list.iter().map(|field| {
            let property = field.property.as_deref().filter(|_| !field.read_only());
            let wanted = property.is_some_and(|property| {
                let in_branch = branch.is_some_and(|branch| branch.requires(property));
                // The attributes of an object without properties of its own are those of all its branches.
                let is_foreign =
                    branch.is_some_and(|one| node.properties.is_empty() && one.property(property).is_none());
                let required = field.usage == groma_provider::Use::Required || field.needed || in_branch;
                // Optional properties become rarer with the depth, so that objects of recursive types end.
                !is_foreign && (required || (depth < 4 && self.draw.below(3 + depth) == 0))
            });
            let value = if wanted { self.value(field.node, &field.shape, depth + 1) } else { None };
            value.unwrap_or_else(|| Value::null(field.shape.ty()))
        });
        let values = values.collect();
        fields.block.object(values)
    }

    /// Returns a value of a schema node.
    pub fn value(&mut self, id: NodeId, shape: &Shape, depth: u64) -> Option<Value> {
        let schema = self.schema;
        let node = schema.node(id);
        Some(match shape {
            Shape::Bool => Value::bool(self.draw.below(2) == 0),
            Shape::Integer | Shape::Number => Value::number(self.number(node)),
            Shape::Time => Value::string("2026-01-01T00:00:00Z"),
            Shape::Json => {
                let mut branches = node.all_of.iter().chain(&node.any_of).map(|branch| schema.node(*branch));
                let text = branches.find(|branch| branch.types.contains(JsonTypes::STRING));
                match text.and_then(|branch| self.text(branch)) {
                    Some(text) => Value::string(text),
                    None => Value::string(self.document(node)),
                }
            }
            Shape::Text => Value::string(self.text(node)?),
            Shape::List(element, _) | Shape::Set(element) => {
                let items = node.items?;
                let count =
                    node.min_items.unwrap_or(0).max(1 + self.draw.below(2)).min(node.max_items.unwrap_or(3)).min(4);
                let elements: Option<Vec<Value>> = (0..count).map(|_| self.value(items, element, depth)).collect();
                match shape {
                    Shape::Set(_) => Value::set(element.ty(), elements?),
                    _ => Value::list(element.ty(), elements?),
                }
            }
            Shape::Map(element) => {
                let (pattern, below) = node.patterns.first()?;
                let known = TEXTS.iter().find(|text| pattern.matches(text)).map(|text| (*text).to_owned());
                let key = known.or_else(|| {
                    let mut draw = |limit: usize| self.draw.index(limit);
                    sample(pattern.text(), 0, 100, &mut draw).filter(|text| pattern.matches(text))
                })?;
                Value::map(element.ty(), [(key, self.value(*below, element, depth)?)])
            }
            Shape::Object(fields) => self.object(fields, depth),
        })
    }

    /// Returns a JSON document: an object with the members that the node names, or with any if it names none.
    fn document(&mut self, node: &Node) -> String {
        if node.properties.is_empty() && node.patterns.is_empty() {
            return r#"{ "b": [1, true],  "a": "x" }"#.to_owned();
        }
        let named = node.properties.iter().map(|(name, id)| (name.to_string(), *id));
        let any = node.patterns.first().map(|(_, id)| ("Name1".to_owned(), *id));
        let members: Vec<(String, NodeId)> = named.chain(any).collect();
        let members = members.into_iter().filter_map(|(name, id)| Some((name, self.scalar(id)?)));
        serde_json::Value::Object(members.collect()).to_string()
    }

    /// Returns a member of a JSON document; none if it is not a scalar.
    fn scalar(&mut self, id: NodeId) -> Option<serde_json::Value> {
        let node = self.schema.node(id);
        Some(match node.type_order.first().copied()? {
            JsonTypes::BOOLEAN => true.into(),
            JsonTypes::INTEGER | JsonTypes::NUMBER => self.number(node).into(),
            JsonTypes::STRING => self.text(node)?.into(),
            _ => return None,
        })
    }

    fn number(&mut self, node: &Node) -> i64 {
        match node.enumeration.first().and_then(serde_json::Value::as_i64) {
            Some(number) => number,
            None => node.minimum.map_or(3, |least| least.ceil() as i64),
        }
    }

    fn text(&mut self, node: &Node) -> Option<String> {
        if !node.enumeration.is_empty() {
            let index = self.draw.below(node.enumeration.len() as u64);
            return node.enumeration.get(usize::try_from(index).ok()?)?.as_str().map(str::to_owned);
        }
        let fits = |text: &str| {
            let length = text.chars().count() as u64;
            node.pattern.as_ref().is_none_or(|pattern| pattern.matches(text))
                && node.min_length.is_none_or(|least| length >= least)
                && node.max_length.is_none_or(|most| length <= most)
        };
        let start = usize::try_from(self.draw.below(3)).ok()?;
        let padded = "a".repeat(usize::try_from(node.min_length.unwrap_or(1)).ok()?.max(1));
        let known = TEXTS[start..].iter().chain(&TEXTS).map(|text| (*text).to_owned()).chain([padded]);
        let found = known.into_iter().find(|text| fits(text));
        found.or_else(|| {
            let bound =
                |bound: Option<u64>, otherwise| bound.and_then(|length| length.try_into().ok()).unwrap_or(otherwise);
            let (least, most) = (bound(node.min_length, 0), bound(node.max_length, usize::MAX));
            let mut draw = |limit: usize| self.draw.index(limit);
            sample(node.pattern.as_ref()?.text(), least, most, &mut draw).filter(|text| fits(text))
        })
    }
}

/// Returns the object with everything from `fixed` that cannot change after creation.
pub fn with_fixed(fields: &Fields, object: &Value, fixed: &Value) -> Value {
    let (Some(view), Some(fixed)) = (object.as_object(), fixed.as_object()) else { return object.clone() };
    let pairs = view.values().iter().zip(fixed.values());
    let values = fields.list.iter().zip(pairs).map(|(field, (value, fixed))| match &field.shape {
        _ if field.change != Change::InPlace => fixed.clone(),
        Shape::Object(inner) => with_fixed(inner, value, fixed),
        _ => value.clone(),
    });
    fields.block.object(values.collect())
}
