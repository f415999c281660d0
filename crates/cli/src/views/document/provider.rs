//! Provider schemas in JSON documents.

use std::sync::Arc;

use groma_provider::{
    Attribute, AttributeType, Block, Deprecation, Description, FunctionSignature, IdentityImport, IdentitySchema, Name,
    NestedBlock, Nesting, ObjectNesting, Parameter, Provider, ProviderDiagnostics, Schema, TextFormat, Use,
};
use serde_json::{Map, Value as Json};

use crate::views::json::type_json;

/// Returns all schemas of `provider`.
///
/// # Errors
///
/// The provider fails to return a schema.
pub fn provider_json(provider: &dyn Provider) -> Result<Json, ProviderDiagnostics> {
    let names = provider.type_names();
    let mut json = Map::new();
    json.insert("provider".into(), schema_json(&provider.schema()?.config));
    let resources = sorted_schemas(&names.resources, |name| provider.resource_schema(name))?;
    // Before `resources` are written: identities are part of the resource schemas, but a member of their own in the
    // document.
    let identities: Map<String, Json> = resources
        .iter()
        .filter_map(|(name, schema)| Some((name.to_string(), identity_json(schema.identity.as_ref()?))))
        .collect();
    insert("resource_schemas", &resources, schema_json, &mut json);
    let data = sorted_schemas(&names.data_sources, |name| provider.data_schema(name))?;
    insert("data_source_schemas", &data, schema_json, &mut json);
    let ephemeral = sorted_schemas(&names.ephemeral_resources, |name| provider.ephemeral_schema(name))?;
    insert("ephemeral_resource_schemas", &ephemeral, schema_json, &mut json);
    let lists = sorted_schemas(&names.lists, |name| provider.list_schema(name))?;
    insert("list_resource_schemas", &lists, schema_json, &mut json);
    let mut functions: Vec<&Name> = names.functions.iter().collect();
    functions.sort();
    let functions: Map<String, Json> = functions
        .into_iter()
        .filter_map(|name| Some((name.to_string(), function_json(&*provider.function(name)?))))
        .collect();
    // As in Terraform, empty members are left out.
    if !functions.is_empty() {
        json.insert("functions".into(), Json::Object(functions));
    }
    if !identities.is_empty() {
        json.insert("resource_identity_schemas".into(), Json::Object(identities));
    }
    let actions = sorted_schemas(&names.actions, |name| provider.action_schema(name))?;
    insert("action_schemas", &actions, action_json, &mut json);
    let stores = sorted_schemas(&names.state_stores, |name| provider.state_store_schema(name))?;
    insert("state_store_schemas", &stores, schema_json, &mut json);
    Ok(Json::Object(json))
}

/// Returns the schemas of one kind, sorted by name.
fn sorted_schemas(
    names: &[Name],
    schema: impl Fn(&str) -> Result<Option<Arc<Schema>>, ProviderDiagnostics>,
) -> Result<Vec<(Name, Arc<Schema>)>, ProviderDiagnostics> {
    let mut sorted: Vec<&Name> = names.iter().collect();
    // Terraform sorts types by name, and Go marshals maps in sorted order.
    sorted.sort();
    let known =
        sorted.into_iter().filter_map(|name| schema(name).map(|schema| Some((name.clone(), schema?))).transpose());
    known.collect()
}

fn insert(kind: &str, schemas: &[(Name, Arc<Schema>)], form: fn(&Schema) -> Json, json: &mut Map<String, Json>) {
    if !schemas.is_empty() {
        let schemas = schemas.iter().map(|(name, schema)| (name.to_string(), form(schema))).collect();
        json.insert(kind.into(), Json::Object(schemas));
    }
}

/// Returns an action schema, without a version because actions store nothing.
fn action_json(schema: &Schema) -> Json {
    Json::Object([("block".to_owned(), block_json(&schema.block))].into_iter().collect())
}

fn schema_json(schema: &Schema) -> Json {
    let mut json = Map::new();
    json.insert("version".into(), schema.version.into());
    json.insert("block".into(), block_json(&schema.block));
    Json::Object(json)
}

fn block_json(block: &Block) -> Json {
    let mut json = Map::new();
    let attributes: Map<String, Json> =
        block.attributes().map(|(name, attribute)| (name.to_string(), attribute_json(attribute))).collect();
    if !attributes.is_empty() {
        json.insert("attributes".into(), Json::Object(attributes));
    }
    let blocks: Map<String, Json> =
        block.blocks().map(|(name, nested)| (name.to_string(), nested_json(nested))).collect();
    if !blocks.is_empty() {
        json.insert("block_types".into(), Json::Object(blocks));
    }
    describe(block.description(), &mut json);
    insert_deprecation(block.deprecation(), &mut json);
    Json::Object(json)
}

fn nested_json(nested: &NestedBlock) -> Json {
    let mut json = Map::new();
    let nesting = match nested.nesting() {
        Nesting::Single => "single",
        Nesting::Group => "group",
        Nesting::List => "list",
        Nesting::Set => "set",
        Nesting::Map => "map",
    };
    json.insert("nesting_mode".into(), nesting.into());
    json.insert("block".into(), block_json(nested.block()));
    // Zero is the default, and is omitted like in Terraform.
    if nested.min() > 0 {
        json.insert("min_items".into(), nested.min().into());
    }
    if let Some(max) = nested.max() {
        json.insert("max_items".into(), max.into());
    }
    Json::Object(json)
}

fn attribute_json(attribute: &Attribute) -> Json {
    let mut json = Map::new();
    match attribute.kind() {
        AttributeType::Type(ty) => {
            json.insert("type".into(), type_json(ty));
        }
        AttributeType::Nested(schema) => {
            let mut nested = Map::new();
            let attributes =
                schema.object().attributes().map(|(name, attribute)| (name.to_string(), attribute_json(attribute)));
            nested.insert("attributes".into(), Json::Object(attributes.collect()));
            let nesting = match schema.nesting() {
                ObjectNesting::Single => "single",
                ObjectNesting::List => "list",
                ObjectNesting::Set => "set",
                ObjectNesting::Map => "map",
            };
            nested.insert("nesting_mode".into(), nesting.into());
            json.insert("nested_type".into(), Json::Object(nested));
        }
    }
    describe(attribute.description(), &mut json);
    insert_deprecation(attribute.deprecation(), &mut json);
    let flags: &[&str] = match attribute.usage() {
        Use::Required => &["required"],
        Use::Optional => &["optional"],
        Use::OptionalComputed => &["optional", "computed"],
        Use::Computed => &["computed"],
    };
    // These flags combine with any usage.
    let secret = attribute.is_sensitive().then_some("sensitive");
    let write_only = attribute.is_write_only().then_some("write_only");
    for flag in flags.iter().copied().chain(secret).chain(write_only) {
        json.insert(flag.into(), true.into());
    }
    Json::Object(json)
}

fn describe(description: &Description, json: &mut Map<String, Json>) {
    if !description.text.is_empty() {
        json.insert("description".into(), description.text.to_string().into());
    }
    let kind = match description.format {
        TextFormat::Plain => "plain",
        TextFormat::Markdown => "markdown",
    };
    json.insert("description_kind".into(), kind.into());
}

fn identity_json(identity: &IdentitySchema) -> Json {
    let attributes = identity.attributes.iter().map(|(name, attribute)| {
        let mut json = Map::new();
        json.insert("type".into(), type_json(&attribute.ty));
        if !attribute.description.is_empty() {
            json.insert("description".into(), attribute.description.as_str().into());
        }
        match attribute.import {
            IdentityImport::Required => json.insert("required_for_import".into(), true.into()),
            IdentityImport::Optional => json.insert("optional_for_import".into(), true.into()),
            // A computed attribute of an identity cannot be given for an import.
            IdentityImport::Computed => None,
        };
        (name.to_string(), Json::Object(json))
    });
    let mut json = Map::new();
    json.insert("version".into(), identity.version.into());
    json.insert("attributes".into(), Json::Object(attributes.collect()));
    Json::Object(json)
}

/// Inserts the deprecation flag and message.
fn insert_deprecation(deprecation: Option<&Deprecation>, json: &mut Map<String, Json>) {
    let Some(deprecation) = deprecation else { return };
    json.insert("deprecated".into(), true.into());
    if !deprecation.message.is_empty() {
        json.insert("deprecation_message".into(), deprecation.message.as_str().into());
    }
}

fn function_json(function: &FunctionSignature) -> Json {
    let mut json = Map::new();
    if !function.description.text.is_empty() {
        json.insert("description".into(), function.description.text.to_string().into());
    }
    if !function.summary.is_empty() {
        json.insert("summary".into(), function.summary.as_str().into());
    }
    json.insert("return_type".into(), type_json(&function.return_type));
    if !function.parameters.is_empty() {
        json.insert("parameters".into(), function.parameters.iter().map(parameter_json).collect());
    }
    if let Some(variadic) = &function.variadic {
        json.insert("variadic_parameter".into(), parameter_json(variadic));
    }
    Json::Object(json)
}

fn parameter_json(parameter: &Parameter) -> Json {
    let mut json = Map::new();
    json.insert("name".into(), parameter.name.to_string().into());
    if !parameter.description.text.is_empty() {
        json.insert("description".into(), parameter.description.text.to_string().into());
    }
    if parameter.allow_null {
        json.insert("is_nullable".into(), true.into());
    }
    json.insert("type".into(), type_json(&parameter.ty));
    Json::Object(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use groma_value::Type;
    use serde_json::json;

    #[test]
    fn schema_contains_deprecation_message() {
        let deprecation = |message: &str| {
            let deprecation = Deprecation { message: message.to_owned() };
            attribute_json(&Attribute::optional(Type::String).deprecated(deprecation))
        };
        assert_eq!(deprecation("Use other.")["deprecated"], json!(true));
        assert_eq!(deprecation("Use other.")["deprecation_message"], json!("Use other."));
        assert_eq!(deprecation("").get("deprecation_message"), None);
        let block = Block::default().deprecated(Deprecation { message: "Use others.".to_owned() });
        assert_eq!(block_json(&block)["deprecation_message"], json!("Use others."));
    }
}
