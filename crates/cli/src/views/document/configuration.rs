//! Configurations in JSON documents.

use groma_address::Mode;
use groma_config::{ActionBlock, Configuration, Module, ModuleCall, Output, Provisioner, Resource, Variable};
use groma_hcl::{Expression, ExpressionKind, Traversal};
use groma_lang::parse_reference;
use groma_value::Type;
use serde_json::{Map, Value as Json};

use super::body::{Schemas, attributes_json, body_json, expression_json, reference_names};
use super::provider_config::ProviderConfigs;
use crate::views::json::{type_json, value_json};
use crate::views::state::mode_word;

/// Inputs shared by the descriptions of all modules.
struct Known<'a> {
    schemas: &'a Schemas,
    providers: &'a ProviderConfigs,
    detail: Detail,
}

/// Level of detail of a description.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// The `configuration` of a plan, as in Terraform.
    Plan,
    /// Also types, `required`, `ephemeral` and `deprecated` of variables and outputs, as in OpenTofu's `show -config`.
    Configuration,
    /// The interface of a single module, without expressions and called modules, as in OpenTofu's `show -module`.
    Module,
}

/// Returns the `configuration` of a plan document.
pub(super) fn configuration_json(configuration: &Configuration, schemas: &Schemas) -> Json {
    described(&configuration.root, schemas, Detail::Plan)
}

/// Returns the document of `show -config`.
pub fn whole_configuration_json(configuration: &Configuration, schemas: &Schemas) -> Json {
    described(&configuration.root, schemas, Detail::Configuration)
}

/// Returns the document of `show -module`.
pub fn lone_module_json(module: &Module) -> Json {
    described(module, &Schemas::new(), Detail::Module)
}

fn described(root: &Module, schemas: &Schemas, detail: Detail) -> Json {
    let providers = ProviderConfigs::of(root, schemas);
    let root = module_json(root, &Known { schemas, providers: &providers, detail });
    let providers = providers.into_json();
    let mut json = Map::new();
    if !providers.is_empty() {
        json.insert("provider_config".into(), Json::Object(providers));
    }
    json.insert("root_module".into(), root);
    Json::Object(json)
}

fn module_json(module: &Module, known: &Known<'_>) -> Json {
    let mut json = Map::new();
    let mut outputs: Vec<&Output> = module.outputs.values().collect();
    outputs.sort_by(|a, b| a.name.cmp(&b.name));
    if !outputs.is_empty() {
        let outputs = outputs.iter().map(|output| (output.name.to_string(), output_json(output, known.detail)));
        json.insert("outputs".into(), Json::Object(outputs.collect()));
    }
    // As in Terraform, ephemeral resources are not described.
    let mut resources: Vec<&Resource> =
        module.resources.values().filter(|resource| resource.address.mode != Mode::Ephemeral).collect();
    // Managed resources come before data sources, as in Terraform.
    resources.sort_by_key(|resource| (resource.address.mode != Mode::Managed, resource.address.to_string()));
    if !resources.is_empty() {
        json.insert(
            "resources".into(),
            resources.iter().map(|resource| resource_json(resource, module, known)).collect(),
        );
    }
    let mut calls: Vec<&ModuleCall> = module.calls.values().collect();
    calls.sort_by(|a, b| a.name.cmp(&b.name));
    if !calls.is_empty() {
        let calls = calls.iter().map(|call| (call.name.to_string(), call_json(call, module, known)));
        json.insert("module_calls".into(), Json::Object(calls.collect()));
    }
    let mut variables: Vec<&Variable> = module.variables.values().collect();
    variables.sort_by(|a, b| a.name.cmp(&b.name));
    if !variables.is_empty() {
        let variables =
            variables.iter().map(|variable| (variable.name.to_string(), variable_json(variable, known.detail)));
        json.insert("variables".into(), Json::Object(variables.collect()));
    }
    let mut actions: Vec<&ActionBlock> = module.actions.values().collect();
    actions.sort_by(|a, b| (&a.type_name, &a.name).cmp(&(&b.type_name, &b.name)));
    if !actions.is_empty() {
        json.insert("actions".into(), actions.iter().map(|action| action_json(action, module, known)).collect());
    }
    Json::Object(json)
}

fn action_json(action: &ActionBlock, module: &Module, known: &Known<'_>) -> Json {
    let mut json = Map::new();
    json.insert("address".into(), format!("action.{}.{}", action.type_name, action.name).into());
    json.insert("type".into(), action.type_name.to_string().into());
    json.insert("name".into(), action.name.to_string().into());
    json.insert("provider_config_key".into(), known.providers.key(module, &action.local_provider()).into());
    for (name, expression) in [("count_expression", &action.count), ("for_each_expression", &action.for_each)] {
        let expression = expression.as_ref().map(expression_json);
        if let Some(expression) = expression.filter(|json| json.as_object().is_some_and(|object| !object.is_empty())) {
            json.insert(name.into(), expression);
        }
    }
    Json::Object(json)
}

fn output_json(output: &Output, detail: Detail) -> Json {
    let mut json = Map::new();
    if output.sensitive {
        json.insert("sensitive".into(), true.into());
    }
    if detail != Detail::Plan {
        insert_for_users(output.ephemeral, output.deprecated.as_deref(), &mut json);
    }
    if detail != Detail::Module {
        json.insert("expression".into(), expression_json(&output.expression));
    }
    if !output.depends_on.is_empty() {
        json.insert("depends_on".into(), depends_on(&output.depends_on));
    }
    if let Some(description) = &output.description {
        json.insert("description".into(), description.to_string().into());
    }
    Json::Object(json)
}

/// Inserts the flags that callers of a module need to know.
fn insert_for_users(ephemeral: bool, deprecated: Option<&str>, json: &mut Map<String, Json>) {
    if ephemeral {
        json.insert("ephemeral".into(), true.into());
    }
    if let Some(message) = deprecated {
        json.insert("deprecated".into(), message.into());
    }
}

fn variable_json(variable: &Variable, detail: Detail) -> Json {
    let mut json = Map::new();
    if detail != Detail::Plan {
        let ty = &variable.constraint.ty;
        if *ty != Type::Dynamic {
            json.insert("type".into(), type_json(ty));
        }
        if variable.is_required() {
            json.insert("required".into(), true.into());
        }
        insert_for_users(variable.ephemeral, variable.deprecated.as_deref(), &mut json);
    }
    if let Some(default) = &variable.default {
        json.insert("default".into(), value_json(default));
    }
    if let Some(description) = &variable.description {
        json.insert("description".into(), description.to_string().into());
    }
    if variable.sensitive {
        json.insert("sensitive".into(), true.into());
    }
    Json::Object(json)
}

fn resource_json(resource: &Resource, module: &Module, known: &Known<'_>) -> Json {
    let address = &resource.address;
    let schema = known.schemas.of_type(address);
    let mut json = Map::new();
    json.insert("address".into(), address.to_string().into());
    json.insert("mode".into(), mode_word(address.mode).into());
    json.insert("type".into(), address.type_name.to_string().into());
    json.insert("name".into(), address.name.to_string().into());
    json.insert("provider_config_key".into(), known.providers.key(module, &resource.local_provider()).into());
    if !resource.provisioners.is_empty() {
        json.insert(
            "provisioners".into(),
            resource.provisioners.iter().map(|one| provisioner_json(one, known.detail)).collect(),
        );
    }
    if let Some(schema) = schema {
        let expressions = body_json(&resource.body, &schema.block);
        if !expressions.is_empty() {
            json.insert("expressions".into(), Json::Object(expressions));
        }
        json.insert("schema_version".into(), schema.version.into());
    }
    if known.detail != Detail::Module {
        insert_repetition("count_expression", resource.count.as_ref(), &mut json);
        insert_repetition("for_each_expression", resource.for_each.as_ref(), &mut json);
    }
    if !resource.depends_on.is_empty() {
        json.insert("depends_on".into(), depends_on(&resource.depends_on));
    }
    Json::Object(json)
}

fn provisioner_json(provisioner: &Provisioner, detail: Detail) -> Json {
    let mut json = Map::new();
    json.insert("type".into(), provisioner.kind.to_string().into());
    let expressions = attributes_json(&provisioner.body);
    if !expressions.is_empty() && detail != Detail::Module {
        json.insert("expressions".into(), Json::Object(expressions));
    }
    Json::Object(json)
}

fn call_json(call: &ModuleCall, module: &Module, known: &Known<'_>) -> Json {
    let mut json = Map::new();
    // Terraform describes source and version as written, before normalization.
    let source = written(call.source_expression.as_ref()).or_else(|| Some(call.source.as_ref()?.to_string()));
    json.insert("source".into(), source.unwrap_or_default().into());
    let constrained = || (!call.version.is_empty()).then(|| call.version.to_string());
    if let Some(version) = written(call.version_expression.as_ref()).or_else(constrained) {
        json.insert("version_constraint".into(), version.into());
    }
    if known.detail != Detail::Module {
        let expressions = attributes_json(&call.body);
        if !expressions.is_empty() {
            json.insert("expressions".into(), Json::Object(expressions));
        }
        insert_repetition("count_expression", call.count.as_ref(), &mut json);
        insert_repetition("for_each_expression", call.for_each.as_ref(), &mut json);
    }
    if let Some(child) = module.children.get(&call.name) {
        json.insert("module".into(), module_json(child, known));
    }
    if !call.depends_on.is_empty() {
        json.insert("depends_on".into(), depends_on(&call.depends_on));
    }
    Json::Object(json)
}

/// Returns the string of an argument without evaluating it, if it is static.
fn written(expression: Option<&Expression>) -> Option<String> {
    let expression = expression?;
    let text = expression.as_static_string()?;
    // In JSON syntax every string is a template.
    let has_sequences = text.contains("${") || text.contains("%{");
    (!has_sequences || !matches!(expression.kind, ExpressionKind::JsonString(_))).then(|| text.to_string())
}

/// Inserts the `count` or `for_each` expression, if it has a description.
fn insert_repetition(name: &str, expression: Option<&Expression>, json: &mut Map<String, Json>) {
    let described = expression.map(expression_json);
    let described = described.filter(|json| json.as_object().is_some_and(|object| !object.is_empty()));
    if let Some(described) = described {
        json.insert(name.into(), described);
    }
}

fn depends_on(traversals: &[Traversal]) -> Json {
    let names = traversals.iter().filter_map(|traversal| parse_reference(traversal).ok());
    names.filter_map(|reference| reference_names(&reference).into_iter().next()).map(Json::String).collect()
}
