//! Generated values fit the patterns of the properties that refer to them: `InstanceArn` of many types is the `Arn` of a
//! `Connect::Instance`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};

use super::{Context, Source, complete};
use crate::schema::{Catalogue, JsonTypes, Keyword, NodeId, Step, TypeSchema};

/// Properties with a pattern by their name, each with its type.
type Referring = BTreeMap<String, Vec<(&'static str, NodeId)>>;

/// Pairs of a property and a type with a property of this name that means something else.
const UNRELATED: [(&str, &str); 10] = [
    ("AWS::BedrockAgentCore::ApiKeyCredentialProvider/CredentialProviderArn", "AWS::BedrockAgentCore::ConsentPortal"),
    ("AWS::BedrockAgentCore::PaymentCredentialProvider/CredentialProviderArn", "AWS::BedrockAgentCore::ConsentPortal"),
    ("AWS::CloudFormation::PublicTypeVersion/TypeVersionArn", "AWS::CloudFormation::HookDefaultVersion"),
    ("AWS::CloudFormation::PublicTypeVersion/TypeVersionArn", "AWS::CloudFormation::ResourceDefaultVersion"),
    ("AWS::CloudFormation::ResourceVersion/TypeArn", "AWS::CloudFormation::HookTypeConfig"),
    ("AWS::Connect::Instance/Id", "AWS::Connect::ApprovedOrigin"),
    ("AWS::Connect::Instance/Id", "AWS::Connect::IntegrationAssociation"),
    ("AWS::Connect::Instance/Id", "AWS::Connect::SecurityKey"),
    ("AWS::WellArchitected::Profile/ProfileArn", "AWS::WellArchitected::AgentContext"),
    ("AWS::WellArchitected::Profile/ProfileArn", "AWS::WellArchitected::AgentGoal"),
];

/// Property names that say little about their meaning, unless the name of the resource precedes them.
const GENERIC: [&str; 5] = ["Arn", "ARN", "Id", "Name", "Identifier"];

fn collect(
    (type_name, schema): (&'static str, &TypeSchema),
    id: NodeId,
    is_top: bool,
    seen: &mut BTreeSet<NodeId>,
    found: &mut Referring,
) {
    if !seen.insert(id) {
        return;
    }
    let node = schema.node(id);
    for (name, below) in &node.properties {
        let property = schema.node(*below);
        let is_read_only = is_top && schema.read_only.property(name).is_some_and(|set| set.contains_here());
        let has_fact = property.pattern.is_some() && !property.hints.contains(Keyword::Pattern);
        if property.types == JsonTypes::STRING && !is_read_only && has_fact {
            found.entry(name.to_string()).or_default().push((type_name, *below));
        }
        collect((type_name, schema), *below, false, seen, found);
    }
    if let Some(items) = node.items {
        collect((type_name, schema), items, false, seen, found);
    }
}

fn types() -> Vec<&'static str> {
    // The schemas of QuickSight take seconds each.
    Catalogue::shipped().type_names().into_iter().filter(|name| !name.starts_with("AWS::QuickSight")).collect()
}

/// Returns a text that a configuration could give for a property.
pub fn given_text(property: &str) -> &'static str {
    match property {
        "InstanceArn" => "arn:aws:connect:us-east-1:123456789012:instance/7b7e6f0a-0000-4000-8000-000000000001",
        "Type" => "BUILD",
        "Version" => "1.0.0",
        _ => "sample",
    }
}

/// Returns the values that the emulator generates for an object that has its required texts.
fn generated(schema: &TypeSchema) -> Json {
    let source = Source::new(7, 1);
    let context = Context { region: "us-east-1", account: "123456789012", source: &source };
    let mut given = Map::new();
    for (name, id) in &schema.root().properties {
        let is_text = schema.node(*id).types == JsonTypes::STRING;
        if is_text && !schema.read_only.property(name).is_some_and(|set| set.contains_here()) {
            given.insert(name.to_string(), given_text(name).into());
        }
    }
    let mut model = Json::Object(given);
    complete(schema, &mut model, &context);
    model
}

#[test]
fn cc_61_generated_values_fit_the_properties_that_refer_to_them() {
    let catalogue = Catalogue::shipped();
    let mut referring = Referring::new();
    for name in types() {
        let schema = catalogue.get(name).unwrap().unwrap();
        collect((name, &schema), schema.root_id(), true, &mut BTreeSet::new(), &mut referring);
    }
    let mut wrong = Vec::new();
    for name in types() {
        let schema = catalogue.get(name).unwrap().unwrap();
        let references = references(name, &schema, &referring);
        if references.is_empty() {
            continue;
        }
        let model = generated(&schema);
        for (property, by, id) in references {
            let Some(value) = model.get(&property).and_then(Json::as_str) else { continue };
            let other = catalogue.get(by).unwrap().unwrap();
            let pattern = other.node(id).pattern.as_ref().unwrap();
            if !pattern.matches(value) {
                wrong.push(format!("{name}/{property} {value:?}, {by}: {}", pattern.text()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}

/// Returns the read-only properties of a type that others of its service refer to, each with a property of another type.
fn references(name: &str, schema: &TypeSchema, referring: &Referring) -> Vec<(String, &'static str, NodeId)> {
    let mut parts = name.split("::").skip(1);
    let (service, resource) = (parts.next().unwrap(), parts.next().unwrap());
    let mut found = Vec::new();
    for pointer in &schema.read_only_list {
        let [Step::Property(property)] = pointer.steps() else { continue };
        if !["Id", "Arn", "ARN"].iter().any(|end| property.ends_with(end)) {
            continue;
        }
        let is_generic = GENERIC.contains(&&**property);
        let full_name = if is_generic { format!("{resource}{property}") } else { property.to_string() };
        for (by, id) in referring.get(&full_name).into_iter().flatten() {
            let is_own_service = by.split("::").nth(1) == Some(service);
            let is_unrelated = UNRELATED.contains(&(&format!("{name}/{property}"), by));
            if *by != name && is_own_service && !is_unrelated {
                found.push((property.to_string(), *by, *id));
            }
        }
    }
    found
}
