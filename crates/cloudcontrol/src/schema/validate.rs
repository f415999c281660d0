//! Validation of documents by their resource type schema. Problems are worded as the service words them.
//!
//! Hints about single values are not enforced, because the service does not know them. Hints about combinations of
//! properties are: handlers refuse what they rule out.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json};

use super::model::{Keyword, Node, NodeId, TypeSchema};
use super::pointer::PointerSet;
use crate::Name;

/// A document nested deeper than this is refused.
const DEEPEST: usize = 100;
/// More problems than this are not told.
const MOST: usize = 20;

/// The problems of a document a caller gives for creation, read-only properties included.
pub fn desired_state(schema: &TypeSchema, document: &Json) -> Vec<String> {
    let mut check = Check { schema, problems: Vec::new() };
    check.value(schema.root_id(), document, "#", 0);
    read_only(&schema.read_only, document, "#", &mut check.problems);
    check.problems
}

/// The problems of a whole model, which read-only properties are part of.
pub fn model(schema: &TypeSchema, document: &Json) -> Vec<String> {
    let mut check = Check { schema, problems: Vec::new() };
    check.value(schema.root_id(), document, "#", 0);
    check.problems
}

fn read_only(set: &PointerSet, value: &Json, at: &str, problems: &mut Vec<String>) {
    match value {
        Json::Object(members) => {
            for (name, member) in members {
                let here = format!("{at}/{name}");
                match set.property(name).or_else(|| set.entry()) {
                    Some(below) if below.contains_here() => {
                        problems.push(format!("{here}: is read-only and cannot be given"));
                    }
                    Some(below) => read_only(below, member, &here, problems),
                    None => {}
                }
            }
        }
        Json::Array(elements) => {
            if let Some(below) = set.element() {
                for (index, element) in elements.iter().enumerate() {
                    read_only(below, element, &format!("{at}/{index}"), problems);
                }
            }
        }
        _ => {}
    }
}

struct Check<'a> {
    schema: &'a TypeSchema,
    problems: Vec<String>,
}

impl Check<'_> {
    fn problem(&mut self, at: &str, text: std::fmt::Arguments<'_>) {
        if self.problems.len() < MOST {
            self.problems.push(format!("{at}: {text}"));
        }
    }

    fn value(&mut self, id: NodeId, value: &Json, at: &str, depth: usize) {
        if depth > DEEPEST {
            self.problem(at, format_args!("is nested too deeply"));
            return;
        }
        let schema = self.schema;
        let node = schema.node(id);
        // Some defaults break the rules of their own property.
        if node.default.as_ref() == Some(value) {
            return;
        }
        if !node.types.is_empty() && !node.types.allow(value) {
            self.problem(at, format_args!("expected type: {}, found: {}", node.types.describe(), describe(value)));
            return;
        }
        self.enumeration(node, value, at);
        match value {
            Json::Object(members) => self.object(node, members, at, depth),
            Json::Array(elements) => self.array(node, elements, at, depth),
            Json::String(text) => self.text(node, text, at),
            Json::Number(number) => self.number(node, number.as_f64(), at),
            Json::Null | Json::Bool(_) => {}
        }
        self.combinations(node, value, at, depth);
    }

    fn enumeration(&mut self, node: &Node, value: &Json, at: &str) {
        if node.enumeration.is_empty() || node.has_enumeration_hint() {
            return;
        }
        let found = node.enumeration.iter().any(|allowed| match (allowed, value) {
            // 1 and 1.0 are one value, but differ as JSON numbers.
            (Json::Number(allowed), Json::Number(given)) => allowed.as_f64() == given.as_f64(),
            _ => allowed == value,
        });
        if !found {
            let allowed: Vec<String> = node.enumeration.iter().map(Json::to_string).collect();
            self.problem(at, format_args!("{value} is not a valid enum value; allowed are {}", allowed.join(", ")));
        }
    }

    fn object(&mut self, node: &Node, members: &Map<String, Json>, at: &str, depth: usize) {
        let required = if node.hints.contains(Keyword::Required) { &[][..] } else { &node.required };
        for name in required {
            if !members.contains_key(&**name) {
                self.problem(at, format_args!("required key [{name}] not found"));
            }
        }
        for (name, needs) in &node.dependent_required {
            for needed in needs {
                if members.contains_key(&**name) && !members.contains_key(&**needed) {
                    self.problem(at, format_args!("key [{needed}] is required where [{name}] is given"));
                }
            }
        }
        for (name, others) in &node.dependent_excluded {
            for other in others {
                if members.contains_key(&**name) && members.contains_key(&**other) {
                    self.problem(at, format_args!("key [{other}] is not permitted where [{name}] is given"));
                }
            }
        }
        let count = members.len() as u64;
        if let Some(least) = node.sizes.0.filter(|least| count < *least) {
            self.problem(at, format_args!("minimum size: [{least}], found: [{count}]"));
        }
        if let Some(most) = node.sizes.1.filter(|most| count > *most) {
            self.problem(at, format_args!("maximum size: [{most}], found: [{count}]"));
        }
        self.choices(node, members, at);
        let mut here = String::with_capacity(at.len() + 24);
        for (name, member) in members {
            here.clear();
            // Writing to a string cannot fail.
            let _ = write!(here, "{at}/{name}");
            match member_node(node, name) {
                Some(id) => self.value(id, member, &here, depth + 1),
                None if node.closed && has_exact_members(node) => {
                    self.problem(at, format_args!("extraneous key [{name}] is not permitted"))
                }
                None => {}
            }
        }
    }

    fn choices(&mut self, node: &Node, members: &Map<String, Json>, at: &str) {
        let given = |names: &[Name]| names.iter().filter(|name| members.contains_key(&***name)).count();
        let xor = given(&node.required_xor);
        if !node.required_xor.is_empty() && xor != 1 {
            self.problem(
                at,
                format_args!("exactly one of [{}] must be given, found {xor}", node.required_xor.join(", ")),
            );
        }
        if !node.required_or.is_empty() && given(&node.required_or) == 0 {
            self.problem(at, format_args!("at least one of [{}] must be given", node.required_or.join(", ")));
        }
    }

    fn array(&mut self, node: &Node, elements: &[Json], at: &str, depth: usize) {
        let length = elements.len() as u64;
        if let Some(least) = fact(node, Keyword::MinItems, node.min_items).filter(|least| length < *least) {
            self.problem(at, format_args!("expected minimum item count: {least}, found: {length}"));
        }
        if let Some(most) = fact(node, Keyword::MaxItems, node.max_items).filter(|most| length > *most) {
            self.problem(at, format_args!("expected maximum item count: {most}, found: {length}"));
        }
        if node.unique && has_twins(elements) {
            self.problem(at, format_args!("array items are not unique"));
        }
        if let Some(items) = node.items {
            for (index, element) in elements.iter().enumerate() {
                self.value(items, element, &format!("{at}/{index}"), depth + 1);
            }
        }
    }

    fn text(&mut self, node: &Node, text: &str, at: &str) {
        if node.min_length.is_some() || node.max_length.is_some() {
            let length = text.chars().count() as u64;
            if let Some(least) = fact(node, Keyword::MinLength, node.min_length).filter(|least| length < *least) {
                self.problem(at, format_args!("expected minLength: {least}, actual: {length}"));
            }
            if let Some(most) = fact(node, Keyword::MaxLength, node.max_length).filter(|most| length > *most) {
                self.problem(at, format_args!("expected maxLength: {most}, actual: {length}"));
            }
        }
        if let Some(pattern) = fact(node, Keyword::Pattern, node.pattern.as_ref())
            && !pattern.matches(text)
            && pattern.is_portable()
        {
            self.problem(at, format_args!("string [{text}] does not match pattern {}", pattern.text()));
        }
    }

    fn number(&mut self, node: &Node, number: Option<f64>, at: &str) {
        let Some(number) = number else { return };
        if let Some(least) = fact(node, Keyword::Minimum, node.minimum).filter(|least| number < *least) {
            self.problem(at, format_args!("{number} is not greater or equal to {least}"));
        }
        if let Some(most) = fact(node, Keyword::Maximum, node.maximum).filter(|most| number > *most) {
            self.problem(at, format_args!("{number} is not less or equal to {most}"));
        }
        if let Some(rule) = node.numbers.broken_by(number) {
            self.problem(at, format_args!("{number} is not {rule}"));
        }
    }

    fn combinations(&mut self, node: &Node, value: &Json, at: &str, depth: usize) {
        for branch in &node.all_of {
            self.value(*branch, value, at, depth + 1);
        }
        for broken in self.broken_combinations(node, value, depth) {
            match broken {
                Broken::NoneOf(total) => {
                    self.problem(at, format_args!("no subschema matched out of the total {total} subschemas"));
                }
                Broken::NotOneOf { matched, total } => {
                    self.problem(at, format_args!("{matched} subschemas matched instead of one, out of {total}"));
                }
                Broken::Conditional => self.problem(at, format_args!("the rule of a conditional subschema is not met")),
                Broken::Negated => self.problem(at, format_args!("subject must not be valid against schema")),
            }
        }
    }

    fn broken_combinations(&self, node: &Node, value: &Json, depth: usize) -> Vec<Broken> {
        let mut broken = Vec::new();
        let fits = |branch: &NodeId| self.fits(*branch, value, depth);
        let any_of = !node.hints.contains(Keyword::AnyOf) && !node.any_of.is_empty();
        if any_of && !node.any_of.iter().any(fits) {
            broken.push(Broken::NoneOf(node.any_of.len()));
        }
        if !node.hints.contains(Keyword::OneOf) && !node.one_of.is_empty() {
            let matched = node.one_of.iter().filter(|branch| fits(branch)).count();
            if matched != 1 {
                broken.push(Broken::NotOneOf { matched, total: node.one_of.len() });
            }
        }
        if let Some(rule) = node.conditional.filter(|_| !node.hints.contains(Keyword::If)) {
            let wanted = if fits(&rule.condition) { rule.then } else { rule.otherwise };
            if wanted.is_some_and(|wanted| !fits(&wanted)) {
                broken.push(Broken::Conditional);
            }
        }
        if let Some(negated) = node.negated.filter(|_| !node.hints.contains(Keyword::Not))
            && fits(&negated)
        {
            broken.push(Broken::Negated);
        }
        broken
    }

    fn fits(&self, branch: NodeId, value: &Json, depth: usize) -> bool {
        // The problems of a branch are not those of the document, because another branch may match.
        let mut check = Check { schema: self.schema, problems: Vec::new() };
        check.value(branch, value, "#", depth + 1);
        check.problems.is_empty()
    }
}

/// The combination of subschemas that a value breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// `anyOf`: none of so many matches.
    NoneOf(usize),
    /// `oneOf`: another number than one matches.
    NotOneOf {
        /// The number of branches that match.
        matched: usize,
        /// The number of branches.
        total: usize,
    },
    /// `if`, `then` and `else`.
    Conditional,
    /// `not`.
    Negated,
}

/// Returns the combinations of subschemas at a node that a value breaks.
pub fn broken_combinations(schema: &TypeSchema, node: &Node, value: &Json) -> Vec<Broken> {
    Check { schema, problems: Vec::new() }.broken_combinations(node, value, 0)
}

/// The rule of a keyword, unless it is a hint.
fn fact<T>(node: &Node, keyword: Keyword, rule: Option<T>) -> Option<T> {
    rule.filter(|_| !node.hints.contains(keyword))
}

fn member_node(node: &Node, name: &str) -> Option<NodeId> {
    node.property(name)
        .or_else(|| node.patterns.iter().find(|(pattern, _)| pattern.matches(name)).map(|(_, value)| *value))
}

/// Whether a closed node refuses all members but those that it names.
fn has_exact_members(node: &Node) -> bool {
    let has_names = !node.properties.is_empty() || !node.patterns.is_empty();
    has_names && node.patterns.iter().all(|(pattern, _)| pattern.is_portable())
}

fn has_twins(elements: &[Json]) -> bool {
    let mut texts: Vec<String> = elements.iter().map(Json::to_string).collect();
    texts.sort_unstable();
    texts.windows(2).any(|pair| pair[0] == pair[1])
}

fn describe(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Catalogue;
    use serde_json::json;

    fn problems(type_name: &str, document: &Json) -> Vec<String> {
        desired_state(&Catalogue::shipped().get(type_name).unwrap().unwrap(), document)
    }

    #[test]
    fn cc_20_patterns_of_one_dialect_are_not_enforced() {
        let tagged = |key: &str| json!({"Name": "site", "Tags": [{"Key": key, "Value": "web"}]});
        assert_eq!(problems("AWS::Amplify::App", &tagged("Owned By")), Vec::<String>::new());
    }

    #[test]
    fn cc_61_documents_are_checked_against_the_schema() {
        assert_eq!(problems("AWS::EC2::VPC", &json!({"CidrBlock": "10.0.0.0/16"})), Vec::<String>::new());
        for (type_name, document, expected) in [
            ("AWS::EC2::VPC", json!({"CidrBlock": 5}), "expected type: string, found: number"),
            ("AWS::EC2::VPC", json!({"CidrBlock": "10.0.0.0/16", "Foo": 1}), "extraneous key [Foo] is not permitted"),
            ("AWS::EC2::VPC", json!({"CidrBlock": "10.0.0.0/16", "VpcId": "vpc-1"}), "#/VpcId: is read-only"),
            ("AWS::EC2::VPC", json!({}), "exactly one of [CidrBlock, Ipv4IpamPoolId]"),
            ("AWS::EC2::RouteTable", json!({}), "required key [VpcId] not found"),
            ("AWS::S3::Bucket", json!({"VersioningConfiguration": {"Status": "x"}}), "not a valid enum value"),
            (
                "AWS::EC2::VPC",
                json!({"CidrBlock": "10.0.0.0/16", "Tags": [{"Key": "a"}]}),
                "#/Tags/0: required key [Value]",
            ),
            ("AWS::SQS::Queue", json!({"QueueName": []}), "expected type: string, found: array"),
        ] {
            let found = problems(type_name, &document);
            assert!(found.iter().any(|problem| problem.contains(expected)), "{document}: {found:?}");
        }
    }
}
