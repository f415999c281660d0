//! Provider schemas in JSON documents.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use groma_provider::{
    Attribute, AttributeType, Block, Deprecation, Description, FunctionSignature, IdentityImport, IdentitySchema, Name,
    NestedBlock, Nesting, ObjectNesting, ObjectSchema, Parameter, Provider, ProviderDiagnostics, Schema, TextFormat,
    TypeCategory, Use,
};
use groma_value::Type;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::views::json::{type_json, write_compact};

/// The JSON text of all schemas of a provider, in the sections of the document.
///
/// The text is complete before anything is written, so that a provider that fails leaves no half document. It is made while
/// the schemas are visited: some providers have thousands of types, whose schemas need much more memory than their text.
#[derive(Debug)]
pub struct ProviderSchemas {
    /// The schema of the provider's own configuration.
    config: Vec<u8>,
    sections: Vec<(&'static str, Vec<Member>)>,
}

/// A name with its JSON text.
type Member = (Name, Vec<u8>);

impl ProviderSchemas {
    /// Requests all schemas of `provider`.
    ///
    /// # Errors
    ///
    /// The provider fails to return a schema.
    pub fn of(provider: &dyn Provider) -> Result<Self, ProviderDiagnostics> {
        let config = json(&SchemaJson(&provider.schema()?.config));
        let types = TypeSections::default();
        provider.visit_schemas(&|category, name, schema| types.add(category, name, schema))?;
        let functions = Section::default();
        for name in provider.type_names().functions {
            if let Some(function) = provider.function(&name) {
                functions.add(&name, &FunctionJson(&function));
            }
        }
        let TypeSections { resources, data_sources, ephemeral, lists, identities, actions, stores } = types;
        let all = [
            ("resource_schemas", resources),
            ("data_source_schemas", data_sources),
            ("ephemeral_resource_schemas", ephemeral),
            ("list_resource_schemas", lists),
            ("functions", functions),
            ("resource_identity_schemas", identities),
            ("action_schemas", actions),
            ("state_store_schemas", stores),
        ];
        Ok(Self { config, sections: all.map(|(name, section)| (name, section.into_sorted())).into() })
    }

    /// Writes the JSON object.
    ///
    /// # Errors
    ///
    /// Writing to `out` fails.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"{\"provider\":")?;
        out.write_all(&self.config)?;
        // As in Terraform, empty members are left out.
        for (name, members) in self.sections.iter().filter(|(_, members)| !members.is_empty()) {
            write!(out, ",\"{name}\":")?;
            for (number, (name, text)) in members.iter().enumerate() {
                out.write_all(if number == 0 { b"{" } else { b"," })?;
                write_compact(&**name, out)?;
                out.write_all(b":")?;
                out.write_all(text)?;
            }
            out.write_all(b"}")?;
        }
        out.write_all(b"}")
    }
}

/// The members of the document with the schemas of types.
#[derive(Default)]
struct TypeSections {
    resources: Section,
    data_sources: Section,
    ephemeral: Section,
    lists: Section,
    identities: Section,
    actions: Section,
    stores: Section,
}

impl TypeSections {
    fn add(&self, category: TypeCategory, name: &Name, schema: &Arc<Schema>) {
        match category {
            TypeCategory::Resource => {
                self.resources.add(name, &SchemaJson(schema));
                // Identities are part of the resource schemas, but a member of their own in the document.
                if let Some(identity) = &schema.identity {
                    self.identities.add(name, &IdentityJson(identity));
                }
            }
            TypeCategory::DataSource => self.data_sources.add(name, &SchemaJson(schema)),
            TypeCategory::EphemeralResource => self.ephemeral.add(name, &SchemaJson(schema)),
            TypeCategory::List => self.lists.add(name, &SchemaJson(schema)),
            TypeCategory::Action => self.actions.add(name, &ActionJson(schema)),
            TypeCategory::StateStore => self.stores.add(name, &SchemaJson(schema)),
        }
    }
}

/// A member of the document. Threads add to it in any order.
#[derive(Default)]
struct Section(Mutex<Vec<Member>>);

impl Section {
    fn add(&self, name: &Name, value: &impl Serialize) {
        let member = (name.clone(), json(value));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(member);
    }

    /// Returns the members sorted by name, as Terraform writes them.
    fn into_sorted(self) -> Vec<Member> {
        let mut members = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        members
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    let mut text = Vec::new();
    // Writing to memory cannot fail, and all map keys are strings.
    let _ = write_compact(value, &mut text);
    // A section has thousands of texts, whose spare capacity would double its memory.
    text.shrink_to_fit();
    text
}

/// A schema with its version.
struct SchemaJson<'a>(&'a Arc<Schema>);

impl Serialize for SchemaJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", &self.0.version)?;
        map.serialize_entry("block", &BlockJson(&self.0.block))?;
        map.end()
    }
}

/// An action schema, without a version because actions store nothing.
struct ActionJson<'a>(&'a Arc<Schema>);

impl Serialize for ActionJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("block", &BlockJson(&self.0.block))?;
        map.end()
    }
}

struct BlockJson<'a>(&'a Block);

impl Serialize for BlockJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if self.0.attributes().next().is_some() {
            map.serialize_entry("attributes", &AttributesJson(self.0))?;
        }
        if self.0.blocks().next().is_some() {
            map.serialize_entry("block_types", &BlockTypesJson(self.0))?;
        }
        describe(self.0.description(), &mut map)?;
        serialize_deprecation(self.0.deprecation(), &mut map)?;
        map.end()
    }
}

struct AttributesJson<'a>(&'a Block);

impl Serialize for AttributesJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.attributes().map(|(name, attribute)| (&**name, AttributeJson(attribute))))
    }
}

struct BlockTypesJson<'a>(&'a Block);

impl Serialize for BlockTypesJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.blocks().map(|(name, nested)| (&**name, NestedJson(nested))))
    }
}

struct NestedJson<'a>(&'a NestedBlock);

impl Serialize for NestedJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let nesting = match self.0.nesting() {
            Nesting::Single => "single",
            Nesting::Group => "group",
            Nesting::List => "list",
            Nesting::Set => "set",
            Nesting::Map => "map",
        };
        map.serialize_entry("nesting_mode", nesting)?;
        map.serialize_entry("block", &BlockJson(self.0.block()))?;
        // Zero is the default, and is omitted like in Terraform.
        if self.0.min() > 0 {
            map.serialize_entry("min_items", &self.0.min())?;
        }
        if let Some(max) = self.0.max() {
            map.serialize_entry("max_items", &max)?;
        }
        map.end()
    }
}

struct AttributeJson<'a>(&'a Attribute);

impl Serialize for AttributeJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.0.kind() {
            AttributeType::Type(ty) => map.serialize_entry("type", &TypeJson(ty))?,
            AttributeType::Nested(schema) => map.serialize_entry("nested_type", &ObjectJson(schema))?,
        }
        describe(self.0.description(), &mut map)?;
        serialize_deprecation(self.0.deprecation(), &mut map)?;
        let flags: &[&str] = match self.0.usage() {
            Use::Required => &["required"],
            Use::Optional => &["optional"],
            Use::OptionalComputed => &["optional", "computed"],
            Use::Computed => &["computed"],
        };
        // These flags combine with any usage.
        let secret = self.0.is_sensitive().then_some("sensitive");
        let write_only = self.0.is_write_only().then_some("write_only");
        for flag in flags.iter().copied().chain(secret).chain(write_only) {
            map.serialize_entry(flag, &true)?;
        }
        map.end()
    }
}

struct ObjectJson<'a>(&'a ObjectSchema);

impl Serialize for ObjectJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("attributes", &AttributesJson(self.0.object()))?;
        let nesting = match self.0.nesting() {
            ObjectNesting::Single => "single",
            ObjectNesting::List => "list",
            ObjectNesting::Set => "set",
            ObjectNesting::Map => "map",
        };
        map.serialize_entry("nesting_mode", nesting)?;
        map.end()
    }
}

/// A type. Simple ones, which most attributes have, are written without a document in between.
struct TypeJson<'a>(&'a Type);

impl Serialize for TypeJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let collection = |serializer: S, kind: &str, element: &Type| {
            let mut pair = serializer.serialize_seq(Some(2))?;
            pair.serialize_element(kind)?;
            pair.serialize_element(&TypeJson(element))?;
            pair.end()
        };
        match self.0 {
            Type::Bool => serializer.serialize_str("bool"),
            Type::Number => serializer.serialize_str("number"),
            Type::String => serializer.serialize_str("string"),
            Type::List(element) => collection(serializer, "list", element),
            Type::Set(element) => collection(serializer, "set", element),
            Type::Map(element) => collection(serializer, "map", element),
            other => type_json(other).serialize(serializer),
        }
    }
}

/// Writes a description with its format.
fn describe<M: SerializeMap>(description: &Description, map: &mut M) -> Result<(), M::Error> {
    if !description.text.is_empty() {
        map.serialize_entry("description", &description.text)?;
    }
    let kind = match description.format {
        TextFormat::Plain => "plain",
        TextFormat::Markdown => "markdown",
    };
    map.serialize_entry("description_kind", kind)
}

/// Writes the deprecation flag and message.
fn serialize_deprecation<M: SerializeMap>(deprecation: Option<&Deprecation>, map: &mut M) -> Result<(), M::Error> {
    let Some(deprecation) = deprecation else { return Ok(()) };
    map.serialize_entry("deprecated", &true)?;
    if !deprecation.message.is_empty() {
        map.serialize_entry("deprecation_message", &deprecation.message)?;
    }
    Ok(())
}

struct IdentityJson<'a>(&'a IdentitySchema);

impl Serialize for IdentityJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let attributes: serde_json::Map<String, serde_json::Value> = self
            .0
            .attributes
            .iter()
            .map(|(name, attribute)| {
                let mut json = serde_json::Map::new();
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
                (name.to_string(), json.into())
            })
            .collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", &self.0.version)?;
        map.serialize_entry("attributes", &attributes)?;
        map.end()
    }
}

struct FunctionJson<'a>(&'a FunctionSignature);

impl Serialize for FunctionJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.0.description.text.is_empty() {
            map.serialize_entry("description", &self.0.description.text)?;
        }
        if !self.0.summary.is_empty() {
            map.serialize_entry("summary", &self.0.summary)?;
        }
        map.serialize_entry("return_type", &TypeJson(&self.0.return_type))?;
        if !self.0.parameters.is_empty() {
            let parameters: Vec<ParameterJson<'_>> = self.0.parameters.iter().map(ParameterJson).collect();
            map.serialize_entry("parameters", &parameters)?;
        }
        if let Some(variadic) = &self.0.variadic {
            map.serialize_entry("variadic_parameter", &ParameterJson(variadic))?;
        }
        map.end()
    }
}

struct ParameterJson<'a>(&'a Parameter);

impl Serialize for ParameterJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &*self.0.name)?;
        if !self.0.description.text.is_empty() {
            map.serialize_entry("description", &self.0.description.text)?;
        }
        if self.0.allow_null {
            map.serialize_entry("is_nullable", &true)?;
        }
        map.serialize_entry("type", &TypeJson(&self.0.ty))?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn document(value: &impl Serialize) -> Json {
        serde_json::to_value(value).unwrap()
    }

    #[test]
    fn schema_contains_deprecation_message() {
        let deprecation = |message: &str| {
            let deprecation = Deprecation { message: message.to_owned() };
            document(&AttributeJson(&Attribute::optional(Type::String).deprecated(deprecation)))
        };
        assert_eq!(deprecation("Use other.")["deprecated"], json!(true));
        assert_eq!(deprecation("Use other.")["deprecation_message"], json!("Use other."));
        assert_eq!(deprecation("").get("deprecation_message"), None);
        let block = Block::default().deprecated(Deprecation { message: "Use others.".to_owned() });
        assert_eq!(document(&BlockJson(&block))["deprecation_message"], json!("Use others."));
    }
}
