//! Checks of a configuration against the schema, before any call (CC-20, CC-21, CC-34). What is unknown is fine. Messages
//! never repeat a value: it may be a secret.

use groma_provider::{ProviderDiagnostic, ProviderDiagnostics};
use groma_value::{Kind, Number, Path, PathStep, Value};
use serde_json::Value as Json;

use super::document::{Part, of_object};
use super::fields::{Field, Fields, Shape};
use super::same::instant;
use crate::Name;
use crate::schema::validate::{Broken, broken_combinations};
use crate::schema::{Keyword, Node, NodeId, Pattern, TypeSchema};

const COMBINATION: &str = "Invalid Attribute Combination";

/// Validates a configuration.
pub fn check(schema: &TypeSchema, fields: &Fields, config: &Value) -> ProviderDiagnostics {
    let mut check = Check { schema, path: Path::root(), found: ProviderDiagnostics::new() };
    check.object(fields, config);
    check.found
}

/// The authority of a rule of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// AWS publishes the rule.
    Published,
    /// cfn-lint has added the rule.
    Hint,
    /// AWS publishes the rule as a pattern in a dialect of its own, and does not enforce all of these.
    UnportablePattern,
}

impl Rule {
    fn of(rules: &Node, keyword: Keyword) -> Self {
        if rules.hints.contains(keyword) { Self::Hint } else { Self::Published }
    }

    /// Returns the reason why AWS may accept a value that breaks the rule.
    fn doubt(self) -> Option<&'static str> {
        match self {
            Self::Published => None,
            Self::Hint => Some(
                "This rule comes from cfn-lint and is not part of the schema that AWS publishes, so AWS may accept the value.",
            ),
            Self::UnportablePattern => Some(
                "Not every regular expression engine supports this pattern, and AWS does not enforce all such patterns, so it may \
                 accept the value.",
            ),
        }
    }
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

    /// Reports a value that breaks a rule: as a warning where AWS may accept the value.
    fn broken(&mut self, rule: Rule, summary: &str, detail: String) {
        let Some(doubt) = rule.doubt() else {
            return self.problem(summary, detail);
        };
        let subject = if self.path.is_empty() { String::new() } else { format!("Attribute {} ", shown(&self.path)) };
        let detail = format!("{subject}{detail} {doubt}");
        self.found.push(ProviderDiagnostic::warning(summary, detail).at(self.path.clone()));
    }

    fn invalid_by(&mut self, rules: &Node, keyword: Keyword, detail: String) {
        self.broken(Rule::of(rules, keyword), "Invalid Attribute Value", detail);
    }

    fn object(&mut self, fields: &Fields, config: &Value) {
        let Some(view) = config.as_object() else { return };
        for (field, value) in fields.list.iter().zip(view.values()) {
            self.path.push(PathStep::Attribute(field.attribute.clone()));
            self.field(field, value);
            self.path.pop();
        }
        self.twins(fields, view.values());
        self.combinations(fields, view.values());
        self.subschemas(fields, config);
    }

    /// A secret is given in one way: with or without a trace in the state.
    fn twins(&mut self, fields: &Fields, values: &[Value]) {
        let given = |name: &Name| {
            fields.list.iter().zip(values).any(|(field, value)| field.attribute == *name && !value.is_null())
        };
        for field in fields.list.iter().filter(|field| given(&field.attribute)) {
            if let Some(twin) = field.ephemeral_of.as_ref().filter(|twin| given(twin)) {
                self.combination(format!("only one of {twin} and {} may be set.", field.attribute));
            }
        }
    }

    /// Checks `oneOf`, `anyOf`, `if` and `not` with branches that say more than which properties are required, those in `allOf` too.
    fn subschemas(&mut self, fields: &Fields, config: &Value) {
        let schema = self.schema;
        let rules = schema.node(fields.node);
        let is_simple = |branches: &[NodeId]| branches.iter().all(|branch| only_requires(schema.node(*branch)));
        let has_conditions = |node: &Node| node.conditional.is_some() || node.negated.is_some();
        let is_complex = |node: &Node| has_conditions(node) || !is_simple(&node.one_of) || !is_simple(&node.any_of);
        let complex_parts: Vec<&Node> = parts(schema, rules).into_iter().filter(|part| is_complex(part)).collect();
        let has_rules = is_complex(rules) || !complex_parts.is_empty();
        if !has_rules || !config.is_wholly_known() {
            return;
        }
        let document = Json::Object(of_object(fields, config, Part::Given));
        for part in complex_parts {
            if !broken_combinations(schema, part, &document).is_empty() {
                let rule = Rule::of(rules, Keyword::AllOf);
                self.broken(rule, COMBINATION, "must obey a rule that its schema has for such values.".to_owned());
            }
        }
        for broken in broken_combinations(schema, rules, &document) {
            let detail = match broken {
                Broken::NoneOf(_) if is_simple(&rules.any_of) => continue,
                Broken::NotOneOf { .. } if is_simple(&rules.one_of) => continue,
                Broken::NoneOf(total) => format!("must match one of the {total} alternatives of its schema."),
                Broken::NotOneOf { matched: 0, total } => {
                    format!("must match one of the {total} alternatives of its schema.")
                }
                Broken::NotOneOf { matched, total } => format!(
                    "must match exactly one of the {total} alternatives of its schema, but matches {matched} of them."
                ),
                Broken::Conditional => "must obey a rule that its schema has for such values.".to_owned(),
                Broken::Negated => "has a combination of values that its schema excludes.".to_owned(),
            };
            self.combination(detail);
        }
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
            (Shape::Object(fields), Kind::Object(view)) => {
                // Members that are unknown may be null.
                if view.values().iter().all(Value::is_known) {
                    let members = fields.list.iter().zip(view.values());
                    self.members(
                        rules,
                        members.filter(|(field, value)| !field.read_only() && !value.is_null()).count(),
                    );
                }
                self.object(fields, value);
            }
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
        let too_small = rules.minimum.is_some_and(|least| value < least);
        if too_small || rules.maximum.is_some_and(|most| value > most) {
            let keyword = if too_small { Keyword::Minimum } else { Keyword::Maximum };
            let wanted = bounds(rules.minimum, rules.maximum);
            self.invalid_by(rules, keyword, format!("value must be {wanted}."));
        }
        if let Some(rule) = rules.numbers.broken_by(value) {
            self.invalid(format!("value must be {rule}."));
        }
        let equal = |allowed: &Json| allowed.as_f64() == Some(value);
        if !rules.enumeration.is_empty() && !rules.enumeration.iter().any(equal) {
            self.not_listed(rules);
        }
    }

    fn not_listed(&mut self, rules: &Node) {
        let detail = format!("value must be one of: {}.", listed(&rules.enumeration));
        let rule = if rules.has_enumeration_hint() { Rule::Hint } else { Rule::Published };
        self.broken(rule, "Invalid Attribute Value", detail);
    }

    fn text(&mut self, rules: &Node, text: &Name) {
        let length = text.chars().count() as u64;
        let too_short = rules.min_length.is_some_and(|least| length < least);
        if too_short || rules.max_length.is_some_and(|most| length > most) {
            let keyword = if too_short { Keyword::MinLength } else { Keyword::MaxLength };
            let wanted = bounds(rules.min_length, rules.max_length);
            self.invalid_by(rules, keyword, format!("string length must be {wanted}, got: {length}."));
        }
        let allowed = |allowed: &Json| match allowed {
            Json::String(allowed) if rules.case_insensitive => allowed.eq_ignore_ascii_case(text),
            Json::String(allowed) => **allowed == **text,
            _ => false,
        };
        if !rules.enumeration.is_empty() && !rules.enumeration.iter().any(allowed) {
            self.not_listed(rules);
        }
        if let Some(pattern) = &rules.pattern
            && !pattern.matches(text)
        {
            self.broken(
                pattern_rule(rules, pattern),
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
        if too_few || rules.max_items.is_some_and(|most| count > most) {
            let keyword = if too_few { Keyword::MinItems } else { Keyword::MaxItems };
            let wanted = bounds(rules.min_items, rules.max_items);
            self.invalid_by(rules, keyword, format!("must contain {wanted} elements, got: {count}."));
        }
    }

    /// Checks the number of members of an object.
    fn members(&mut self, rules: &Node, count: usize) {
        let (count, (least, most)) = (count as u64, rules.sizes);
        if least.is_some_and(|least| count < least) || most.is_some_and(|most| count > most) {
            self.invalid(format!("must set {} of its arguments, got: {count}.", bounds(least, most)));
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
        if rules.patterns.is_empty() || rules.patterns.iter().any(|(pattern, _)| pattern.matches(key)) {
            return;
        }
        let is_portable = rules.patterns.iter().all(|(pattern, _)| pattern.is_portable());
        let rule = if is_portable { Rule::Published } else { Rule::UnportablePattern };
        let patterns: Vec<&str> = rules.patterns.iter().map(|(pattern, _)| pattern.text()).collect();
        let detail = format!("key {key:?} must match the regular expression '{}'.", patterns.join("' or '"));
        self.broken(rule, "Invalid Attribute Value", detail);
    }

    /// Checks the allowed combinations of properties (CC-21).
    fn combinations(&mut self, fields: &Fields, values: &[Value]) {
        let schema = self.schema;
        let rules = schema.node(fields.node);
        let given = Given { fields, values };
        self.combinations_of(rules, &given);
        let rule = Rule::of(rules, Keyword::AllOf);
        for part in parts(schema, rules) {
            let missing: Vec<Name> = part.required.iter().filter(|name| given.is_absent(name)).cloned().collect();
            if !missing.is_empty() {
                self.broken(rule, COMBINATION, format!("{} must be set.", given.attributes(&missing)));
            }
            if rule == Rule::Published {
                self.combinations_of(part, &given);
            }
        }
    }

    fn combinations_of(&mut self, rules: &Node, given: &Given<'_>) {
        for (name, needs) in &rules.dependent_required {
            for needed in needs.iter().filter(|needed| given.is_set(name) && given.is_absent(needed)) {
                let (name, needed) = (given.attribute(name), given.attribute(needed));
                self.combination(format!("{needed} must be set where {name} is."));
            }
        }
        for (name, others) in &rules.dependent_excluded {
            for other in others.iter().filter(|other| given.is_set(name) && given.is_set(other)) {
                let (name, other) = (given.attribute(name), given.attribute(other));
                self.hinted_combination(format!("{other} must not be set where {name} is."));
            }
        }
        if !rules.required_xor.is_empty() {
            let set = rules.required_xor.iter().filter(|name| given.is_set(name)).count();
            let open = rules.required_xor.iter().filter(|name| given.is_unknown(name)).count();
            if set > 1 || set + open == 0 {
                let names = given.attributes(&rules.required_xor);
                self.hinted_combination(format!("exactly one of {names} must be set."));
            }
        }
        if !rules.required_or.is_empty() && rules.required_or.iter().all(|name| given.is_absent(name)) {
            self.hinted_combination(format!("at least one of {} must be set.", given.attributes(&rules.required_or)));
        }
        self.branches(rules, given);
    }

    /// `anyOf` and `oneOf` whose branches only say which properties are required.
    fn branches(&mut self, rules: &Node, given: &Given<'_>) {
        let schema = self.schema;
        let all = [(Keyword::AnyOf, &rules.any_of), (Keyword::OneOf, &rules.one_of)];
        for (keyword, branches) in all {
            let required: Option<Vec<&Vec<Name>>> = branches
                .iter()
                .map(|branch| Some(schema.node(*branch)).filter(|node| only_requires(node)).map(|node| &node.required))
                .collect();
            let Some(required) = required.filter(|required| !required.is_empty()) else { continue };
            let rule = Rule::of(rules, keyword);
            let choices = || required.iter().map(|names| given.attributes(names)).collect::<Vec<_>>().join("; or ");
            if !required.iter().any(|names| names.iter().all(|name| !given.is_absent(name))) {
                self.broken(rule, COMBINATION, format!("one of these must be set: {}.", choices()));
            }
            let set = required.iter().filter(|names| names.iter().all(|name| given.is_set(name))).count();
            if keyword == Keyword::OneOf && set > 1 {
                self.broken(rule, COMBINATION, format!("only one of these may be set: {}.", choices()));
            }
        }
    }

    fn hinted_combination(&mut self, detail: String) {
        self.broken(Rule::Hint, COMBINATION, detail);
    }

    fn combination(&mut self, detail: String) {
        self.problem(COMBINATION, detail);
    }
}

fn pattern_rule(rules: &Node, pattern: &Pattern) -> Rule {
    match Rule::of(rules, Keyword::Pattern) {
        Rule::Published if !pattern.is_portable() => Rule::UnportablePattern,
        rule => rule,
    }
}

/// Returns the parts of `allOf`, and their parts.
fn parts<'a>(schema: &'a TypeSchema, rules: &'a Node) -> Vec<&'a Node> {
    let mut found: Vec<&Node> = rules.all_of.iter().map(|part| schema.node(*part)).collect();
    let nested = found.iter().flat_map(|part| &part.all_of).map(|part| schema.node(*part));
    let nested: Vec<&Node> = nested.collect();
    found.extend(nested);
    found
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

fn bounds<T: PartialEq + std::fmt::Display>(least: Option<T>, most: Option<T>) -> String {
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
