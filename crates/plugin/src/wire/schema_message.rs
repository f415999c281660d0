//! Encoding of schemas.

use groma_provider::{
    Attribute, AttributeType, Block, Deprecation, Description, IdentityImport, IdentitySchema, Item, NestedBlock,
    Nesting, ObjectNesting, ObjectSchema, Schema, TextFormat,
};
use groma_value::Type;

use super::WireError;
use crate::proto::{v5, v6};

/// Encodes a schema for version 6.
pub fn schema_message(schema: &Schema) -> v6::Schema {
    v6::Schema { version: version(schema.version), block: Some(block(&schema.block)) }
}

/// Encodes a schema for version 5.
///
/// # Errors
///
/// The schema has a nested attribute, which version 5 cannot express.
pub fn schema_message_v5(schema: &Schema) -> Result<v5::Schema, WireError> {
    Ok(v5::Schema { version: version(schema.version), block: Some(downgrade_block(block(&schema.block))?) })
}

/// Encodes an identity schema.
pub fn identity_schema_message(schema: &IdentitySchema) -> v6::ResourceIdentitySchema {
    let attribute = |(name, attribute): (&groma_provider::Name, &groma_provider::IdentityAttribute)| {
        v6::resource_identity_schema::IdentityAttribute {
            name: name.to_string(),
            r#type: json(&attribute.ty),
            required_for_import: attribute.import == IdentityImport::Required,
            optional_for_import: attribute.import == IdentityImport::Optional,
            description: attribute.description.clone(),
        }
    };
    v6::ResourceIdentitySchema {
        version: version(schema.version),
        identity_attributes: schema.attributes.iter().map(attribute).collect(),
    }
}

fn version(version: u64) -> i64 {
    i64::try_from(version).unwrap_or(i64::MAX)
}

pub(super) fn json(ty: &Type) -> prost::bytes::Bytes {
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

fn block(block: &Block) -> v6::schema::Block {
    let (mut attributes, mut block_types) = (Vec::new(), Vec::new());
    for slot in block.slots() {
        match &slot.item {
            Item::Attribute(one) => attributes.push(attribute(&slot.name, one)),
            Item::Block(one) => block_types.push(nested(&slot.name, one)),
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

fn attribute(name: &str, attribute: &Attribute) -> v6::schema::Attribute {
    use groma_provider::Use;
    let (ty, nested_type) = match attribute.kind() {
        AttributeType::Type(ty) => (json(ty), None),
        // The protocol requires that exactly one of type and nested type is set.
        AttributeType::Nested(nested) => (prost::bytes::Bytes::new(), Some(object(nested))),
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

fn object(schema: &ObjectSchema) -> v6::schema::Object {
    use v6::schema::object::NestingMode;
    let nesting = match schema.nesting() {
        ObjectNesting::Single => NestingMode::Single,
        ObjectNesting::List => NestingMode::List,
        ObjectNesting::Set => NestingMode::Set,
        ObjectNesting::Map => NestingMode::Map,
    };
    v6::schema::Object { attributes: block(schema.object()).attributes, nesting: nesting.into(), ..Default::default() }
}

fn nested(name: &str, nested: &NestedBlock) -> v6::schema::NestedBlock {
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
        block: Some(block(nested.block())),
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
    use crate::Protocol;
    use crate::wire::schema_of;
    use groma_provider::Use;
    use prost::Message;

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
        let odd = v6::schema::Attribute { required: true, computed: true, ..unsaid() };
        assert!(of_one(odd).unwrap_err().to_string().starts_with("a: "));
    }

    /// OpenTofu's Lua provider declares its argument like this, and hosts accept it.
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
