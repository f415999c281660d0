//! Attributes: arguments and results that hold a single value.

use std::sync::Arc;

use groma_value::{Type, Value};

use super::{Block, Deprecation, Description, NestedBlock, Nesting};
use crate::Name;

/// The source of an attribute's value: configuration, provider, or either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Use {
    /// The configuration must set the value.
    Required,
    /// The configuration may set the value; it is null otherwise.
    Optional,
    /// The configuration may set the value; the provider chooses it otherwise.
    OptionalComputed,
    /// The provider sets the value; the configuration cannot.
    Computed,
}

impl Use {
    /// Whether the provider may choose a value that the configuration does not set.
    pub const fn is_computed(self) -> bool {
        matches!(self, Self::OptionalComputed | Self::Computed)
    }

    /// Whether the configuration may set or omit the attribute.
    pub const fn is_optional(self) -> bool {
        matches!(self, Self::Optional | Self::OptionalComputed)
    }
}

/// The nesting mode of an attribute with nested objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectNesting {
    /// A single object or null.
    Single,
    /// Objects in order, identified by index.
    List,
    /// Objects without index or key, identified by value.
    Set,
    /// Objects identified by key.
    Map,
}

/// The schema of an attribute whose value consists of objects with attributes of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectSchema {
    object: Arc<Block>,
    nesting: ObjectNesting,
    ty: Type,
    config_type: Type,
}

impl ObjectSchema {
    /// Creates a schema for objects with `attributes` in the given nesting mode.
    pub fn new(nesting: ObjectNesting, attributes: impl IntoIterator<Item = (impl Into<Name>, Attribute)>) -> Self {
        Self::of_block(nesting, Arc::new(Block::new(attributes, std::iter::empty::<(Name, NestedBlock)>())))
    }

    /// Creates a schema for objects of a block without nested blocks.
    pub fn of_block(nesting: ObjectNesting, object: Arc<Block>) -> Self {
        let nest = |ty: Type| match nesting {
            ObjectNesting::Single => ty,
            ObjectNesting::List => Type::list(ty),
            ObjectNesting::Set => Type::set(ty),
            ObjectNesting::Map => Type::map(ty),
        };
        let (ty, config_type) = (nest(object.implied_type().clone()), nest(object.config_type().clone()));
        Self { object, nesting, ty, config_type }
    }

    /// Returns the schema of one object, as a block without nested blocks.
    pub fn object(&self) -> &Arc<Block> {
        &self.object
    }

    /// Returns the nesting mode.
    pub fn nesting(&self) -> ObjectNesting {
        self.nesting
    }
}

/// The type of an attribute: a type of the language, or nested objects.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeType {
    /// A type without schemas for its parts.
    Type(Type),
    /// Objects whose attributes have schemas of their own (protocol 6 only).
    Nested(Arc<ObjectSchema>),
}

/// The schema of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    kind: AttributeType,
    usage: Use,
    sensitive: bool,
    write_only: bool,
    deprecated: Option<Deprecation>,
    description: Description,
    empty: Value,
}

impl Attribute {
    /// Creates an attribute that is neither sensitive, write-only nor deprecated.
    pub fn new(kind: AttributeType, usage: Use) -> Self {
        let empty = Value::null(match &kind {
            AttributeType::Type(ty) => ty.without_optional_attributes(),
            AttributeType::Nested(nested) => nested.ty.clone(),
        });
        Self {
            kind,
            usage,
            sensitive: false,
            write_only: false,
            deprecated: None,
            description: Description::default(),
            empty,
        }
    }

    /// Creates a required attribute.
    pub fn required(ty: Type) -> Self {
        Self::new(AttributeType::Type(ty), Use::Required)
    }

    /// Creates an optional attribute.
    pub fn optional(ty: Type) -> Self {
        Self::new(AttributeType::Type(ty), Use::Optional)
    }

    /// Creates an attribute that the provider chooses unless the configuration sets it.
    pub fn optional_computed(ty: Type) -> Self {
        Self::new(AttributeType::Type(ty), Use::OptionalComputed)
    }

    /// Creates an attribute that only the provider sets.
    pub fn computed(ty: Type) -> Self {
        Self::new(AttributeType::Type(ty), Use::Computed)
    }

    /// Creates an attribute that consists of nested objects.
    pub fn nested(schema: ObjectSchema, usage: Use) -> Self {
        Self::new(AttributeType::Nested(Arc::new(schema)), usage)
    }

    /// Hides the value from people.
    #[must_use]
    pub fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    /// Makes the attribute write-only: its value is stored in neither plans nor states.
    #[must_use]
    pub fn write_only(mut self) -> Self {
        self.write_only = true;
        self
    }

    /// Deprecates the attribute, so that its use causes a warning.
    #[must_use]
    pub fn deprecated(mut self, deprecation: Deprecation) -> Self {
        self.deprecated = Some(deprecation);
        self
    }

    /// Sets the description for documentation.
    #[must_use]
    pub fn described(mut self, description: Description) -> Self {
        self.description = description;
        self
    }

    /// Returns the type: a type of the language, or nested objects.
    pub fn kind(&self) -> &AttributeType {
        &self.kind
    }

    /// Returns the schema of the nested objects, if there are any.
    pub fn nested_type(&self) -> Option<&Arc<ObjectSchema>> {
        match &self.kind {
            AttributeType::Type(_) => None,
            AttributeType::Nested(nested) => Some(nested),
        }
    }

    /// Returns which of configuration and provider sets the value.
    pub fn usage(&self) -> Use {
        self.usage
    }

    /// Whether the provider may choose a value that the configuration does not set.
    pub fn is_computed(&self) -> bool {
        self.usage.is_computed()
    }

    /// Whether the value is hidden from people.
    pub fn is_sensitive(&self) -> bool {
        self.sensitive
    }

    /// Whether the value is stored in neither plans nor states.
    pub fn is_write_only(&self) -> bool {
        self.write_only
    }

    /// Returns the deprecation, if the attribute is deprecated.
    pub fn deprecation(&self) -> Option<&Deprecation> {
        self.deprecated.as_ref()
    }

    /// Returns the description, which may be empty.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Returns the type of the values, without optional attributes.
    pub fn ty(&self) -> Type {
        match &self.kind {
            AttributeType::Type(ty) => ty.without_optional_attributes(),
            AttributeType::Nested(nested) => nested.ty.clone(),
        }
    }

    /// Returns the type that configured values are converted to: [`Attribute::ty`], with optional attributes where
    /// nested objects may omit them.
    pub fn config_type(&self) -> &Type {
        match &self.kind {
            AttributeType::Type(ty) => ty,
            AttributeType::Nested(nested) => &nested.config_type,
        }
    }

    /// Whether the configuration may use block syntax for this argument. Terraform accepts blocks for lists and sets of
    /// objects, since the SDK of old providers declares such arguments.
    pub fn may_be_blocks(&self) -> bool {
        match self.kind() {
            AttributeType::Type(ty @ (Type::List(element) | Type::Set(element))) => {
                // Blocks cannot express dynamic attributes, whose type depends on the value.
                matches!(**element, Type::Object(_)) && !ty.has_dynamic()
            }
            _ => false,
        }
    }

    /// Returns the nested block schema that corresponds to the argument, if [`Attribute::may_be_blocks`].
    pub fn as_blocks(&self) -> Option<NestedBlock> {
        if !self.may_be_blocks() {
            return None;
        }
        let (nesting, element) = match self.config_type() {
            Type::List(element) => (Nesting::List, element),
            Type::Set(element) => (Nesting::Set, element),
            _ => return None,
        };
        let attributes = element.as_object()?.iter().map(|(name, ty)| (name.clone(), Self::optional(ty.clone())));
        Some(NestedBlock::new(nesting, Block::new(attributes, std::iter::empty::<(Name, NestedBlock)>())))
    }

    /// Returns the null that represents an unset attribute.
    pub fn empty_value(&self) -> &Value {
        &self.empty
    }
}
