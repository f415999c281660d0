//! Conversion of schemas in both protocol versions.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_provider::{
    Attribute, AttributeType, Block, Deprecation, Description, IdentityAttribute, IdentityImport, IdentitySchema, Item,
    Name, NestedBlock, Nesting, ObjectNesting, ObjectSchema, Schema, TextFormat, Use,
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

// Schemas come from other programs, and their nesting must not overflow the stack.
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
        // Hosts reject such schemas, too: the flags contradict each other.
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
        // An unknown format is shown as it is.
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
            // A contradiction of both flags counts as required, the stricter one.
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

/// Encodes a schema for version 6.
pub fn schema_message(schema: &Schema) -> v6::Schema {
    v6::Schema { version: version(schema.version), block: Some(block_message(&schema.block)) }
}

/// Encodes a schema for version 5.
///
/// # Errors
///
/// The schema has a nested attribute, which version 5 cannot express.
pub fn schema_message_v5(schema: &Schema) -> Result<v5::Schema, WireError> {
    Ok(v5::Schema { version: version(schema.version), block: Some(downgrade_block(block_message(&schema.block))?) })
}

/// Encodes an identity schema.
pub fn identity_schema_message(schema: &IdentitySchema) -> v6::ResourceIdentitySchema {
    let attribute = |(name, attribute): (&Name, &IdentityAttribute)| v6::resource_identity_schema::IdentityAttribute {
        name: name.to_string(),
        r#type: json(&attribute.ty),
        required_for_import: attribute.import == IdentityImport::Required,
        optional_for_import: attribute.import == IdentityImport::Optional,
        description: attribute.description.clone(),
    };
    v6::ResourceIdentitySchema {
        version: version(schema.version),
        identity_attributes: schema.attributes.iter().map(attribute).collect(),
    }
}

fn version(version: u64) -> i64 {
    i64::try_from(version).unwrap_or(i64::MAX)
}

pub(super) fn json(ty: &Type) -> Bytes {
    ty.to_json().into_bytes().into()
}

pub(super) fn kind(description: &Description) -> i32 {
    match description.format {
        TextFormat::Plain => v6::StringKind::Plain,
        TextFormat::Markdown => v6::StringKind::Markdown,
    }
    .into()
}

fn deprecation(deprecated: Option<&Deprecation>) -> (bool, String) {
    (deprecated.is_some(), deprecated.map(|one| one.message.clone()).unwrap_or_default())
}

fn block_message(block: &Block) -> v6::schema::Block {
    let (mut attributes, mut block_types) = (Vec::new(), Vec::new());
    for slot in block.slots() {
        match &slot.item {
            Item::Attribute(one) => attributes.push(attribute_message(&slot.name, one)),
            Item::Block(one) => block_types.push(nested_message(&slot.name, one)),
        }
    }
    let (deprecated, deprecation_message) = deprecation(block.deprecation());
    v6::schema::Block {
        // The version of a block is unused; only the version of the schema counts.
        version: 0,
        attributes,
        block_types,
        description: block.description().text.clone(),
        description_kind: kind(block.description()),
        deprecated,
        deprecation_message,
        computed: false,
    }
}

fn attribute_message(name: &str, attribute: &Attribute) -> v6::schema::Attribute {
    let (ty, nested_type) = match attribute.kind() {
        AttributeType::Type(ty) => (json(ty), None),
        // The protocol requires that exactly one of type and nested type is set.
        AttributeType::Nested(nested) => (Bytes::new(), Some(object_message(nested))),
    };
    let (deprecated, deprecation_message) = deprecation(attribute.deprecation());
    v6::schema::Attribute {
        name: name.to_owned(),
        r#type: ty,
        description: attribute.description().text.clone(),
        required: attribute.usage() == Use::Required,
        optional: attribute.usage().is_optional(),
        computed: attribute.is_computed(),
        sensitive: attribute.is_sensitive(),
        description_kind: kind(attribute.description()),
        deprecated,
        nested_type,
        write_only: attribute.is_write_only(),
        deprecation_message,
    }
}

fn object_message(schema: &ObjectSchema) -> v6::schema::Object {
    use v6::schema::object::NestingMode;
    let nesting = match schema.nesting() {
        ObjectNesting::Single => NestingMode::Single,
        ObjectNesting::List => NestingMode::List,
        ObjectNesting::Set => NestingMode::Set,
        ObjectNesting::Map => NestingMode::Map,
    };
    v6::schema::Object {
        attributes: block_message(schema.object()).attributes,
        nesting: nesting.into(),
        ..Default::default()
    }
}

fn nested_message(name: &str, nested: &NestedBlock) -> v6::schema::NestedBlock {
    use v6::schema::nested_block::NestingMode;
    let nesting = match nested.nesting() {
        Nesting::Single => NestingMode::Single,
        Nesting::Group => NestingMode::Group,
        Nesting::List => NestingMode::List,
        Nesting::Set => NestingMode::Set,
        Nesting::Map => NestingMode::Map,
    };
    v6::schema::NestedBlock {
        type_name: name.to_owned(),
        block: Some(block_message(nested.block())),
        nesting: nesting.into(),
        min_items: version(nested.min()),
        max_items: nested.max().map(version).unwrap_or_default(),
    }
}

fn downgrade_block(message: v6::schema::Block) -> Result<v5::schema::Block, WireError> {
    Ok(v5::schema::Block {
        version: message.version,
        attributes: message.attributes.into_iter().map(downgrade_attribute).collect::<Result<_, _>>()?,
        block_types: message.block_types.into_iter().map(downgrade_nested).collect::<Result<_, _>>()?,
        description: message.description,
        description_kind: message.description_kind,
        deprecated: message.deprecated,
        deprecation_message: message.deprecation_message,
        computed: message.computed,
    })
}

fn downgrade_attribute(message: v6::schema::Attribute) -> Result<v5::schema::Attribute, WireError> {
    if message.nested_type.is_some() {
        let text = "nested attributes require protocol version 6, but the host uses version 5";
        return Err(WireError::new(text).within(&message.name));
    }
    Ok(v5::schema::Attribute {
        name: message.name,
        r#type: message.r#type.into(),
        description: message.description,
        required: message.required,
        optional: message.optional,
        computed: message.computed,
        sensitive: message.sensitive,
        description_kind: message.description_kind,
        deprecated: message.deprecated,
        write_only: message.write_only,
        deprecation_message: message.deprecation_message,
    })
}

fn downgrade_nested(message: v6::schema::NestedBlock) -> Result<v5::schema::NestedBlock, WireError> {
    Ok(v5::schema::NestedBlock {
        type_name: message.type_name,
        block: message.block.map(downgrade_block).transpose()?,
        nesting: message.nesting,
        min_items: message.min_items,
        max_items: message.max_items,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Block {
        let inner =
            Block::new([("size", Attribute::optional(Type::Number))], std::iter::empty::<(&str, NestedBlock)>());
        Block::new(
            [
                ("id", Attribute::computed(Type::String)),
                ("secret", Attribute::optional(Type::String).write_only().sensitive()),
                ("old", Attribute::optional_computed(Type::Bool).deprecated(Deprecation { message: "use new".into() })),
            ],
            [("disk", NestedBlock::new(Nesting::List, inner).at_least(1).at_most(2))],
        )
        .described(Description::markdown("*a thing*"))
    }

    #[test]
    fn schemas_survive_both_versions() {
        let schema = Schema::new(plain()).versioned(3);
        let six = schema_message(&schema).encode_to_vec();
        assert_eq!(schema_of(&six, Protocol::V6).unwrap(), schema);
        let five = schema_message_v5(&schema).unwrap().encode_to_vec();
        assert_eq!(schema_of(&five, Protocol::V5).unwrap(), schema);
    }

    #[test]
    fn nested_attributes_require_version_6() {
        let nested = ObjectSchema::new(ObjectNesting::Map, [("x", Attribute::required(Type::String))]);
        let block = Block::new([("n", Attribute::nested(nested, Use::Optional))], [] as [(&str, NestedBlock); 0]);
        let schema = Schema::new(block);
        assert_eq!(schema_of(&schema_message(&schema).encode_to_vec(), Protocol::V6).unwrap(), schema);
        assert!(schema_message_v5(&schema).unwrap_err().to_string().contains("protocol version 6"));
    }

    #[test]
    fn invalid_schema_is_an_error() {
        assert!(schema_of(&[0xff, 0xff], Protocol::V6).is_err());
        // "a: " is the name of the attribute in the error.
        let odd = v6::schema::Attribute { required: true, computed: true, ..unsaid() };
        assert!(of_one(odd).unwrap_err().to_string().starts_with("a: "));
    }

    /// A schema written by hand may lack the flags; the attribute is then accepted as an optional one.
    #[test]
    fn attribute_without_usage_flags_is_optional() {
        let schema = of_one(unsaid()).unwrap();
        assert_eq!(schema.block.attribute("a").map(Attribute::usage), Some(Use::Optional));
    }

    fn unsaid() -> v6::schema::Attribute {
        v6::schema::Attribute { name: "a".into(), r#type: json(&Type::String), ..Default::default() }
    }

    fn of_one(attribute: v6::schema::Attribute) -> Result<Schema, WireError> {
        let block = v6::schema::Block { attributes: vec![attribute], ..Default::default() };
        schema_of(&v6::Schema { version: 0, block: Some(block) }.encode_to_vec(), Protocol::V6)
    }
}
