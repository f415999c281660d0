//! Checks of a configuration against the schema, before any call (CC-20, CC-21, CC-34). What is unknown is fine. Messages
//! never repeat a value: it may be a secret.

use groma_provider::{ProviderDiagnostic, ProviderDiagnostics};
use groma_value::{Kind, Number, Path, PathStep, Value};
use serde_json::Value as Json;

use super::fields::{Field, Fields, Shape};
use super::instant::instant;
use crate::Name;
use crate::schema::{Node, NodeId, TypeSchema};

/// Validates a configuration.
pub fn check(schema: &TypeSchema, fields: &Fields, config: &Value) -> ProviderDiagnostics {
    let mut check = Check { schema, path: Path::root(), found: ProviderDiagnostics::new() };
    check.object(fields, config);
    check.found
}

struct Check<'a> {
    schema: &'a TypeSchema,
    path: Path,
    found: ProviderDiagnostics,
}

impl Check<'_> {
    fn problem(&mut self, summary: &str, detail: String) {
        let detail = if self.path.is_empty() { detail } else { format!("Attribute {} {detail}", shown(&self.path)) };
        self.found.push(ProviderDiagnostic::error(summary, detail).at(self.path.clone()));
    }

    fn invalid(&mut self, detail: String) {
        self.problem("Invalid Attribute Value", detail);
    }

    fn object(&mut self, fields: &Fields, config: &Value) {
        let Some(view) = config.as_object() else { return };
        for (field, value) in fields.list.iter().zip(view.values()) {
            self.path.push(PathStep::Attribute(field.attribute.clone()));
            self.field(field, value);
            self.path.pop();
        }
        self.combinations(fields, view.values());
    }

    fn field(&mut self, field: &Field, value: &Value) {
        if field.needed && value.is_null() {
            self.problem("Missing Attribute Value", "must be set, because the object it belongs to is.".to_owned());
        }
        if field.property.is_some() && !field.read_only() {
            self.value(field.node, &field.shape, value);
        }
    }

    fn value(&mut self, node: NodeId, shape: &Shape, value: &Value) {
        let schema = self.schema;
        let rules = schema.node(node);
        match (shape, value.kind()) {
            (_, Kind::Null | Kind::Unknown(_)) => {}
            (Shape::Integer, Kind::Number(number)) => self.integer(rules, number),
            (_, Kind::Number(number)) => self.number(rules, number),
            (Shape::Json, Kind::String(text)) => self.json(text, rules),
            (Shape::Time, Kind::String(text)) => self.time(text),
            (_, Kind::String(text)) => self.text(rules, text),
            (Shape::List(element, _) | Shape::Set(element), Kind::List(values) | Kind::Set(values)) => {
                self.size(rules, values.len());
                if rules.unique {
                    self.unique(values);
                }
                if let Some(items) = rules.items {
                    for (index, value) in values.iter().enumerate() {
                        let key = if matches!(shape, Shape::Set(_)) { value.clone() } else { Value::number(index) };
                        self.inside(key, items, element, value);
                    }
                }
            }
            (Shape::Map(element), Kind::Map(view)) => {
                for (key, value) in view.iter() {
                    self.key(rules, key);
                    if let Some((_, node)) = rules.patterns.first() {
                        self.inside(Value::from(key), *node, element, value);
                    }
                }
            }
            (Shape::Object(fields), Kind::Object(_)) => self.object(fields, value),
            _ => {}
        }
    }

    fn inside(&mut self, key: Value, node: NodeId, element: &Shape, value: &Value) {
        self.path.push(PathStep::Index(key));
        self.value(node, element, value);
        self.path.pop();
    }

    fn integer(&mut self, rules: &Node, number: &Number) {
        if !number.is_integer() {
            self.invalid("must be a whole number.".to_owned());
        }
        self.number(rules, number);
    }

    fn number(&mut self, rules: &Node, number: &Number) {
        let value = number.to_f64();
        match (rules.minimum, rules.maximum) {
            (Some(least), Some(most)) if value < least || value > most => {
                self.invalid(format!("value must be between {least} and {most}."));
            }
            (Some(least), None) if value < least => self.invalid(format!("value must be at least {least}.")),
            (None, Some(most)) if value > most => self.invalid(format!("value must be at most {most}.")),
            _ => {}
        }
        let equal = |allowed: &Json| allowed.as_f64() == Some(value);
        if !rules.enumeration.is_empty() && !rules.enumeration.iter().any(equal) {
            self.invalid(format!("value must be one of: {}.", listed(&rules.enumeration)));
        }
    }

    fn text(&mut self, rules: &Node, text: &Name) {
        let length = text.chars().count() as u64;
        let too_short = rules.min_length.is_some_and(|least| length < least);
        let too_long = rules.max_length.is_some_and(|most| length > most);
        if too_short || too_long {
            let wanted = bounds(rules.min_length, rules.max_length);
            self.invalid(format!("string length must be {wanted}, got: {length}."));
        }
        let allowed = |allowed: &Json| match allowed {
            Json::String(allowed) if rules.case_insensitive => allowed.eq_ignore_ascii_case(text),
            Json::String(allowed) => **allowed == **text,
            _ => false,
        };
        if !rules.enumeration.is_empty() && !rules.enumeration.iter().any(allowed) {
            self.invalid(format!("value must be one of: {}.", listed(&rules.enumeration)));
        }
        if let Some(pattern) = &rules.pattern
            && !pattern.matches(text)
        {
            self.problem(
                "Invalid Attribute Value Match",
                format!("value must match the regular expression '{}'.", pattern.text()),
            );
        }
    }

    fn json(&mut self, text: &str, rules: &Node) {
        // Where a service takes objects only, other text cannot mean anything.
        let only_documents = !rules.types.is_empty() && !rules.types.allow(&Json::String(String::new()));
        if only_documents && let Err(error) = serde_json::from_str::<Json>(text) {
            self.problem("Invalid JSON String Value", format!("must be a JSON document: {error}."));
        }
    }

    fn time(&mut self, text: &str) {
        if instant(text).is_none() {
            self.problem(
                "Invalid RFC3339 String Value",
                "must be an RFC 3339 timestamp such as 2026-01-31T12:00:00Z.".to_owned(),
            );
        }
    }

    fn size(&mut self, rules: &Node, count: usize) {
        let count = count as u64;
        let too_few = rules.min_items.is_some_and(|least| count < least);
        let too_many = rules.max_items.is_some_and(|most| count > most);
        if too_few || too_many {
            let wanted = bounds(rules.min_items, rules.max_items);
            self.invalid(format!("must contain {wanted} elements, got: {count}."));
        }
    }

    #[allow(clippy::mutable_key_type)] // equality and hash of a value do not look at what it caches
    fn unique(&mut self, values: &[Value]) {
        let mut seen = std::collections::HashSet::new();
        if !values.iter().filter(|value| value.is_wholly_known()).all(|value| seen.insert(value)) {
            self.problem("Duplicate List Value", "must not contain the same value twice.".to_owned());
        }
    }

    fn key(&mut self, rules: &Node, key: &Name) {
        if !rules.patterns.is_empty() && !rules.patterns.iter().any(|(pattern, _)| pattern.matches(key)) {
            let patterns: Vec<&str> = rules.patterns.iter().map(|(pattern, _)| pattern.text()).collect();
            self.invalid(format!("key {key:?} must match the regular expression '{}'.", patterns.join("' or '")));
        }
    }

    /// Checks the allowed combinations of properties (CC-21).
    fn combinations(&mut self, fields: &Fields, values: &[Value]) {
        let schema = self.schema;
        let rules = schema.node(fields.node);
        let given = Given { fields, values };
        for (name, needs) in &rules.dependent_required {
            for needed in needs.iter().filter(|needed| given.is_set(name) && given.is_absent(needed)) {
                let (name, needed) = (given.attribute(name), given.attribute(needed));
                self.combination(format!("{needed} must be set where {name} is."));
            }
        }
        if !rules.required_xor.is_empty() {
            let set = rules.required_xor.iter().filter(|name| given.is_set(name)).count();
            let open = rules.required_xor.iter().filter(|name| given.is_unknown(name)).count();
            if set > 1 || set + open == 0 {
                self.combination(format!("exactly one of {} must be set.", given.attributes(&rules.required_xor)));
            }
        }
        if !rules.required_or.is_empty() && rules.required_or.iter().all(|name| given.is_absent(name)) {
            self.combination(format!("at least one of {} must be set.", given.attributes(&rules.required_or)));
        }
        self.branches(rules, &given);
    }

    /// `anyOf` and `oneOf` whose branches only say which properties are required.
    fn branches(&mut self, rules: &Node, given: &Given<'_>) {
        let schema = self.schema;
        for branches in [&rules.any_of, &rules.one_of] {
            let required: Option<Vec<&Vec<Name>>> = branches
                .iter()
                .map(|branch| Some(schema.node(*branch)).filter(|node| only_requires(node)).map(|node| &node.required))
                .collect();
            let Some(required) = required.filter(|required| !required.is_empty()) else { continue };
            let possible = required.iter().any(|names| names.iter().all(|name| !given.is_absent(name)));
            if !possible {
                let choices: Vec<String> = required.iter().map(|names| given.attributes(names)).collect();
                self.combination(format!("one of these must be set: {}.", choices.join("; or ")));
            }
        }
    }

    fn combination(&mut self, detail: String) {
        self.problem("Invalid Attribute Combination", detail);
    }
}

fn only_requires(node: &Node) -> bool {
    !node.required.is_empty() && node.properties.is_empty() && node.patterns.is_empty()
}

struct Given<'a> {
    fields: &'a Fields,
    values: &'a [Value],
}

impl Given<'_> {
    fn value(&self, property: &str) -> Option<(&Field, &Value)> {
        let index = self.fields.list.iter().position(|field| field.property.as_deref() == Some(property))?;
        Some((self.fields.list.get(index)?, self.values.get(index)?))
    }

    fn is_set(&self, property: &str) -> bool {
        self.value(property).is_some_and(|(_, value)| value.is_known() && !value.is_null())
    }

    fn is_unknown(&self, property: &str) -> bool {
        self.value(property).is_some_and(|(_, value)| !value.is_known())
    }

    /// Nobody gives it: a value of the service's own is not in question.
    fn is_absent(&self, property: &str) -> bool {
        self.value(property).is_some_and(|(field, value)| value.is_null() && !field.read_only())
    }

    fn attribute(&self, property: &str) -> String {
        self.value(property).map_or_else(|| property.to_owned(), |(field, _)| field.attribute.to_string())
    }

    fn attributes(&self, properties: &[Name]) -> String {
        properties.iter().map(|property| self.attribute(property)).collect::<Vec<_>>().join(", ")
    }
}

fn bounds(least: Option<u64>, most: Option<u64>) -> String {
    match (least, most) {
        (Some(least), Some(most)) if least == most => format!("exactly {least}"),
        (Some(least), Some(most)) => format!("between {least} and {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => "anything".to_owned(),
    }
}

fn listed(values: &[Json]) -> String {
    values.iter().map(Json::to_string).collect::<Vec<_>>().join(", ")
}

/// A path as people write it: without the leading dot.
pub fn shown(path: &Path) -> String {
    path.to_string().trim_start_matches('.').to_owned()
}
