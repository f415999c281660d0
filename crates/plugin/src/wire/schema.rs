//! Decoding of schemas.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_provider::{
    Attribute, AttributeType, Block, Deprecation, Description, IdentityAttribute, IdentityImport, IdentitySchema, Name,
    NestedBlock, Nesting, ObjectNesting, ObjectSchema, Schema, TextFormat, Use,
};
use groma_value::Type;
use prost::Message;
use prost::bytes::Bytes;

use super::WireError;
use crate::Protocol;
use crate::proto::{v5, v6};

/// The maximum nesting depth of schema blocks.
const MAX_DEPTH: usize = 100;

/// Decodes a schema message of the given version.
///
/// # Errors
///
/// The bytes are not a schema message, or the schema is invalid.
pub fn schema_of(bytes: &[u8], protocol: Protocol) -> Result<Schema, WireError> {
    match protocol {
        Protocol::V6 => schema(v6::Schema::decode(bytes).map_err(|error| WireError::new(error.to_string()))?),
        Protocol::V5 => {
            schema(upgrade_schema(v5::Schema::decode(bytes).map_err(|error| WireError::new(error.to_string()))?))
        }
    }
}

fn schema(message: v6::Schema) -> Result<Schema, WireError> {
    let version = u64::try_from(message.version).map_err(|_| WireError::new("the schema version is negative"))?;
    let block = block(message.block.unwrap_or_default(), MAX_DEPTH)?;
    Ok(Schema::new(block).versioned(version))
}

fn block(message: v6::schema::Block, deepest: usize) -> Result<Block, WireError> {
    let deeper = deepest.checked_sub(1).ok_or_else(|| WireError::new("the schema is nested too deeply"))?;
    let mut attributes = Vec::with_capacity(message.attributes.len());
    for one in message.attributes {
        let name = Name::from(one.name.as_str());
        attributes.push((Name::clone(&name), attribute(one, deeper).map_err(|error| error.within(&name))?));
    }
    let mut blocks = Vec::with_capacity(message.block_types.len());
    for one in message.block_types {
        let name = Name::from(one.type_name.as_str());
        blocks.push((Name::clone(&name), nested(one, deeper).map_err(|error| error.within(&name))?));
    }
    let built = Block::new(attributes, blocks).described(description(&message.description, message.description_kind));
    Ok(if message.deprecated { built.deprecated(Deprecation { message: message.deprecation_message }) } else { built })
}

fn attribute(message: v6::schema::Attribute, deeper: usize) -> Result<Attribute, WireError> {
    let usage = match (message.required, message.optional, message.computed) {
        (true, false, false) => Use::Required,
        (false, true, true) => Use::OptionalComputed,
        (false, false, true) => Use::Computed,
        // Some providers set none of the three flags; such an argument is then optional.
        (false, true | false, false) => Use::Optional,
        (true, _, _) => return Err(WireError::new("a required attribute cannot be optional or computed")),
    };
    let kind = match message.nested_type {
        Some(object) => AttributeType::Nested(Arc::new(object_schema(object, deeper)?)),
        None => AttributeType::Type(type_of(&message.r#type)?),
    };
    let mut built = Attribute::new(kind, usage).described(description(&message.description, message.description_kind));
    if message.sensitive {
        built = built.sensitive();
    }
    if message.write_only {
        built = built.write_only();
    }
    Ok(if message.deprecated { built.deprecated(Deprecation { message: message.deprecation_message }) } else { built })
}

fn object_schema(message: v6::schema::Object, deepest: usize) -> Result<ObjectSchema, WireError> {
    use v6::schema::object::NestingMode;
    let deeper = deepest.checked_sub(1).ok_or_else(|| WireError::new("the schema is nested too deeply"))?;
    let nesting = match message.nesting() {
        NestingMode::Single => ObjectNesting::Single,
        NestingMode::List => ObjectNesting::List,
        NestingMode::Set => ObjectNesting::Set,
        NestingMode::Map => ObjectNesting::Map,
        NestingMode::Invalid => return Err(WireError::new("its objects have an unknown nesting mode")),
    };
    let mut attributes = Vec::with_capacity(message.attributes.len());
    for one in message.attributes {
        let name = Name::from(one.name.as_str());
        attributes.push((Name::clone(&name), attribute(one, deeper).map_err(|error| error.within(&name))?));
    }
    Ok(ObjectSchema::new(nesting, attributes))
}

fn nested(message: v6::schema::NestedBlock, deeper: usize) -> Result<NestedBlock, WireError> {
    use v6::schema::nested_block::NestingMode;
    let nesting = match message.nesting() {
        NestingMode::Single => Nesting::Single,
        NestingMode::List => Nesting::List,
        NestingMode::Set => Nesting::Set,
        NestingMode::Map => Nesting::Map,
        NestingMode::Group => Nesting::Group,
        NestingMode::Invalid => return Err(WireError::new("its blocks have an unknown nesting mode")),
    };
    let limit = |number: i64| u64::try_from(number).map_err(|_| WireError::new("a block limit is negative"));
    let mut built = NestedBlock::new(nesting, block(message.block.unwrap_or_default(), deeper)?);
    built = built.at_least(limit(message.min_items)?);
    Ok(match limit(message.max_items)? {
        // The protocol uses zero for an absent limit.
        0 => built,
        max => built.at_most(max),
    })
}

/// Decodes a type in the protocol's JSON form.
pub(super) fn type_of(json: &Bytes) -> Result<Type, WireError> {
    Type::from_json(json).map_err(|error| WireError::new(format!("its type is invalid: {error}")))
}

pub(super) fn description(text: &str, kind: i32) -> Description {
    let format = match v6::StringKind::try_from(kind) {
        Ok(v6::StringKind::Markdown) => TextFormat::Markdown,
        _ => TextFormat::Plain,
    };
    Description { text: text.to_owned(), format }
}

/// Decodes an identity schema.
///
/// # Errors
///
/// A type cannot be decoded, or the version is negative.
pub fn identity_schema(message: &v6::ResourceIdentitySchema) -> Result<IdentitySchema, WireError> {
    let version =
        u64::try_from(message.version).map_err(|_| WireError::new("the identity schema version is negative"))?;
    let mut attributes = BTreeMap::new();
    for one in &message.identity_attributes {
        let import = match (one.required_for_import, one.optional_for_import) {
            (true, _) => IdentityImport::Required,
            (false, true) => IdentityImport::Optional,
            (false, false) => IdentityImport::Computed,
        };
        let ty = type_of(&one.r#type).map_err(|error| error.within(&one.name))?;
        let description = one.description.clone();
        attributes.insert(Name::from(one.name.as_str()), IdentityAttribute { ty, import, description });
    }
    Ok(IdentitySchema { version, attributes })
}

/// Converts a schema message from version 5 to version 6.
fn upgrade_schema(message: v5::Schema) -> v6::Schema {
    v6::Schema { version: message.version, block: message.block.map(upgrade_block) }
}

// The recursion is bounded, since prost limits the nesting of messages to a hundred levels.
fn upgrade_block(message: v5::schema::Block) -> v6::schema::Block {
    v6::schema::Block {
        version: message.version,
        attributes: message.attributes.into_iter().map(upgrade_attribute).collect(),
        block_types: message.block_types.into_iter().map(upgrade_nested).collect(),
        description: message.description,
        description_kind: message.description_kind,
        deprecated: message.deprecated,
        deprecation_message: message.deprecation_message,
        computed: message.computed,
    }
}

fn upgrade_attribute(message: v5::schema::Attribute) -> v6::schema::Attribute {
    v6::schema::Attribute {
        name: message.name,
        r#type: message.r#type.into(),
        description: message.description,
        required: message.required,
        optional: message.optional,
        computed: message.computed,
        sensitive: message.sensitive,
        description_kind: message.description_kind,
        deprecated: message.deprecated,
        // Version 5 has no nested attributes.
        nested_type: None,
        write_only: message.write_only,
        deprecation_message: message.deprecation_message,
    }
}

fn upgrade_nested(message: v5::schema::NestedBlock) -> v6::schema::NestedBlock {
    v6::schema::NestedBlock {
        type_name: message.type_name,
        block: message.block.map(upgrade_block),
        // The enum values are equal in both versions.
        nesting: message.nesting,
        min_items: message.min_items,
        max_items: message.max_items,
    }
}
