//! Values that the service adds to a created object: identifiers, ARNs, timestamps, and settings with a default
//! although nobody gave one.
//!
//! `data/computed.tsv` says it for the types that people use most; for the others it is guessed from the names, formats and
//! patterns of their read-only properties.

mod guess;
mod random;
#[cfg(test)]
mod references;
mod template;

use std::collections::HashMap;
use std::sync::OnceLock;

use serde_json::{Map, Value as Json};

pub use random::Source;
pub use template::Context;

use crate::schema::{Node, NodeId, Pointer, TypeSchema};

static TABLE: &str = include_str!("../../../data/computed.tsv");

/// A row of the table: what a property becomes when it is missing.
#[derive(Debug, Clone, Copy)]
struct Row {
    property: &'static str,
    /// Only where this property is there.
    condition: Option<&'static str>,
    template: &'static str,
}

fn table() -> &'static HashMap<&'static str, Vec<Row>> {
    static ROWS: OnceLock<HashMap<&'static str, Vec<Row>>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let mut rows: HashMap<&'static str, Vec<Row>> = HashMap::new();
        for line in TABLE.lines().skip(1) {
            let mut columns = line.splitn(3, '\t');
            if let (Some(type_name), Some(property), Some(value)) = (columns.next(), columns.next(), columns.next()) {
                let conditional = value.strip_prefix('?').and_then(|rest| rest.split_once('?'));
                let (condition, template) = conditional.map_or((None, value), |(needs, rest)| (Some(needs), rest));
                rows.entry(type_name).or_default().push(Row { property, condition, template });
            }
        }
        rows
    })
}

/// Completes the model of a new object: table, schema defaults, then guesses.
pub fn complete(schema: &TypeSchema, model: &mut Json, context: &Context<'_>) {
    rows(schema).iter().for_each(|row| row.complete(model, context));
    defaults(schema, schema.root_id(), model, 0);
    guess::identifiers(schema, model, context);
    // What the table says something about is not guessed, even where its condition is not met.
    let known = |pointer: &Pointer| {
        pointer.top_level().is_some_and(|name| rows(schema).iter().any(|row| *row.property == **name))
    };
    guess::read_only(schema, model, context, |pointer| !known(pointer));
}

/// Adds to a changed object what the change brings about: a stream has an ARN, and a removed setting its default.
pub fn follow(schema: &TypeSchema, model: &mut Json, context: &Context<'_>) {
    rows(schema).iter().for_each(|row| row.complete(model, context));
    defaults(schema, schema.root_id(), model, 0);
}

fn rows(schema: &TypeSchema) -> &'static [Row] {
    table().get(&*schema.type_name).map(Vec::as_slice).unwrap_or_default()
}

impl Row {
    fn complete(&self, model: &mut Json, context: &Context<'_>) {
        let met = |needed| model.get(needed).is_some_and(|value| *value != Json::Bool(false));
        if self.condition.is_none_or(met) && model.get(self.property).is_none() {
            let value = value_of(self, model, context);
            set(model, self.property, value);
        }
    }
}

fn value_of(row: &Row, model: &Json, context: &Context<'_>) -> Json {
    let filled = context.fill(row.template, row.property, model);
    match filled.strip_prefix('=') {
        Some(json) => serde_json::from_str(json).unwrap_or(Json::Null),
        None => Json::String(filled),
    }
}

fn set(model: &mut Json, property: &str, value: Json) {
    if let Json::Object(members) = model
        && !value.is_null()
    {
        members.insert(property.to_owned(), value);
    }
}

/// Schema defaults of properties that are missing, in every object that is there.
fn defaults(schema: &TypeSchema, id: NodeId, value: &mut Json, depth: usize) {
    if depth > 32 {
        return;
    }
    let node = schema.node(id);
    match value {
        Json::Object(members) => {
            for (name, property) in &node.properties {
                match members.get_mut(&**name) {
                    Some(present) => defaults(schema, *property, present, depth + 1),
                    None => add_default(schema, node, name, *property, members),
                }
            }
        }
        Json::Array(elements) => {
            if let Some(items) = node.items {
                elements.iter_mut().for_each(|element| defaults(schema, items, element, depth + 1));
            }
        }
        _ => {}
    }
}

/// Adds the default of a missing property, unless another property that is there rules it out.
fn add_default(schema: &TypeSchema, owner: &Node, name: &str, property: NodeId, members: &mut Map<String, Json>) {
    let node = schema.node(property);
    let Some(default) = node.default.as_ref().filter(|json| node.types.is_empty() || node.types.allow(json)) else {
        return;
    };
    let is_there = |group: &[crate::Name]| group.iter().all(|property| members.contains_key(&**property));
    if !owner.alternatives(schema, name).into_iter().any(is_there) {
        members.insert(name.to_owned(), default.clone());
    }
}

/// Puts a value at a pointer, in every object on the way that is there; what is there already stays.
fn put(model: &mut Json, steps: &[crate::schema::Step], value: &mut dyn FnMut(&Json) -> Option<Json>) {
    use crate::schema::Step;
    match (steps, model) {
        ([Step::Property(name)], Json::Object(members)) => {
            if !members.contains_key(&**name)
                && let Some(made) = value(&Json::Object(members.clone()))
            {
                members.insert(name.to_string(), made);
            }
        }
        ([Step::Property(name), rest @ ..], Json::Object(members)) => {
            if let Some(below) = members.get_mut(&**name) {
                put(below, rest, value);
            }
        }
        ([Step::Every, rest @ ..], Json::Object(members)) => {
            members.values_mut().for_each(|below| put(below, rest, value))
        }
        ([Step::Every, rest @ ..], Json::Array(elements)) => {
            elements.iter_mut().for_each(|below| put(below, rest, value))
        }
        (steps, Json::Array(elements)) => elements.iter_mut().for_each(|below| put(below, steps, value)),
        _ => {}
    }
}

/// The node a pointer leads to.
fn node_at(schema: &TypeSchema, pointer: &Pointer) -> Option<NodeId> {
    use crate::schema::Step;
    pointer.steps().iter().try_fold(schema.root_id(), |id, step| {
        let node = schema.node(id);
        match step {
            Step::Property(name) => node.property(name).or_else(|| schema.node(node.items?).property(name)),
            Step::Every => node.items.or_else(|| node.patterns.first().map(|(_, value)| *value)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Catalogue;
    use serde_json::json;

    fn made(type_name: &str, document: Json) -> Json {
        let schema = Catalogue::shipped().get(type_name).unwrap().unwrap();
        let source = Source::new(7, 1);
        let context = Context { region: "eu-central-1", account: "123456789012", source: &source };
        let mut model = document;
        complete(&schema, &mut model, &context);
        model
    }

    #[test]
    fn the_table_names_properties_that_exist() {
        for (type_name, rows) in table() {
            let schema = Catalogue::shipped().get(type_name).unwrap().unwrap_or_else(|| panic!("{type_name}"));
            for row in rows {
                assert!(schema.root().property(row.property).is_some(), "{type_name} {}", row.property);
            }
            let mut given = Map::new();
            for row in rows {
                for place in row.template.split("$(").skip(1) {
                    let name: String = place.chars().take_while(char::is_ascii_alphanumeric).collect();
                    if name.starts_with(|first: char| first.is_ascii_uppercase())
                        && !rows.iter().any(|row| row.property == name)
                    {
                        let text = references::given_text(&name);
                        given.insert(name, json!(text));
                    }
                }
            }
            let model = made(type_name, Json::Object(given));
            let wrong: Vec<String> = crate::schema::validate::model(&schema, &model)
                .into_iter()
                // What is wrong with the document as a whole is what nobody gave.
                .filter(|problem| !problem.starts_with("#:"))
                .collect();
            assert!(wrong.is_empty(), "{type_name}: {wrong:?}");
        }
    }

    #[test]
    fn cc_61_generated_values_look_real() {
        let vpc = made("AWS::EC2::VPC", json!({"CidrBlock": "10.0.0.0/16"}));
        assert!(vpc["VpcId"].as_str().unwrap().starts_with("vpc-"));
        assert_eq!(vpc["EnableDnsSupport"], true);
        let queue = made("AWS::SQS::Queue", json!({"QueueName": "jobs"}));
        assert_eq!(queue["QueueUrl"], "https://sqs.eu-central-1.amazonaws.com/123456789012/jobs");
        let role = made("AWS::IAM::Role", json!({"RoleName": "r", "Path": "/x/"}));
        assert_eq!(role["Arn"], "arn:aws:iam::123456789012:role/x/r");
    }

    #[test]
    fn every_type_gets_an_identifier() {
        let mut without = Vec::new();
        for type_name in Catalogue::shipped().type_names() {
            let schema = Catalogue::shipped().get(type_name).unwrap().unwrap();
            let mut document = Map::new();
            for pointer in &schema.primary_identifier {
                let given = pointer
                    .top_level()
                    .is_some_and(|name| !schema.read_only.property(name).is_some_and(|set| set.contains_here()));
                if !given && pointer.top_level().is_none() {
                    document.clear();
                    break;
                }
            }
            if schema.primary_identifier.iter().any(|pointer| pointer.top_level().is_none()) {
                continue;
            }
            let model = made(type_name, Json::Object(document));
            if schema.identifier_of(&model).is_none() {
                without.push(type_name);
            }
        }
        // A route has no identifier without one of three destinations, which no one can make up.
        assert_eq!(without, ["AWS::EC2::Route"]);
    }
}
