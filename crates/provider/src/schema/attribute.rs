//! Attributes: arguments and results of a block that hold one value.

use std::sync::Arc;

use groma_value::{Type, Value};

use super::{Block, Deprecation, Description, NestedBlock, Nesting};
use crate::Name;

/// Who gives an attribute its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Use {
    /// The configuration, always.
    Required,
    /// The configuration; null when it does not.
    Optional,
    /// The configuration, or the provider when the configuration does not.
    OptionalComputed,
    /// The provider alone.
    Computed,
}

impl Use {
    /// Whether the provider may choose the value while the configuration has none.
    pub const fn is_computed(self) -> bool {
        matches!(self, Self::OptionalComputed | Self::Computed)
    }

    /// Whether a configuration may leave the attribute out.
    pub const fn is_optional(self) -> bool {
        matches!(self, Self::Optional | Self::OptionalComputed)
    }
}

/// How many objects a nested attribute holds, and how they are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectNesting {
    /// One object, or null.
    Single,
    /// Objects by position.
    List,
    /// Objects without position or key.
    Set,
    /// Objects by key.
    Map,
}

/// The schema of an attribute whose value is made of objects with attributes of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectSchema {
    object: Arc<Block>,
    nesting: ObjectNesting,
    ty: Type,
    config_type: Type,
}

impl ObjectSchema {
    /// Objects with `attributes`, nested in the manner of `nesting`.
    pub fn new(nesting: ObjectNesting, attributes: impl IntoIterator<Item = (impl Into<Name>, Attribute)>) -> Self {
        let object = Block::new(attributes, std::iter::empty::<(Name, NestedBlock)>());
        let nest = |ty: Type| match nesting {
            ObjectNesting::Single => ty,
            ObjectNesting::List => Type::list(ty),
            ObjectNesting::Set => Type::set(ty),
            ObjectNesting::Map => Type::map(ty),
        };
        let (ty, config_type) = (nest(object.implied_type().clone()), nest(object.config_type().clone()));
        Self { object: Arc::new(object), nesting, ty, config_type }
    }

    /// One object of it, as a block without nested blocks.
    pub fn object(&self) -> &Arc<Block> {
        &self.object
    }

    /// How the objects are nested.
    pub fn nesting(&self) -> ObjectNesting {
        self.nesting
    }
}

/// The type of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeType {
    /// A plain type.
    Type(Type),
    /// Objects whose attributes have schemas (protocol 6 only).
    Nested(Arc<ObjectSchema>),
}

/// The schema of one attribute.
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
    /// An attribute of the given kind and use.
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

    /// A required attribute.
    pub fn required(ty: Type) -> Self {
        Self::new(AttributeType::Type(ty), Use::Required)
    }

    /// An optional attribute.
    pub fn optional(ty: Type) -> Self {
        Self::new(AttributeType::Type(ty), Use::Optional)
    }

    /// An attribute that the provider chooses when the configuration does not.
    pub fn optional_computed(ty: Type) -> Self {
        Self::new(AttributeType::Type(ty), Use::OptionalComputed)
    }

    /// A result of the provider.
    pub fn computed(ty: Type) -> Self {
        Self::new(AttributeType::Type(ty), Use::Computed)
    }

    /// An attribute of nested objects.
    pub fn nested(schema: ObjectSchema, usage: Use) -> Self {
        Self::new(AttributeType::Nested(Arc::new(schema)), usage)
    }

    /// The same, and its value is hidden from people.
    #[must_use]
    pub fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    /// The same, and its value is never kept in a plan or a state.
    #[must_use]
    pub fn write_only(mut self) -> Self {
        self.write_only = true;
        self
    }

    /// The same, and its use draws a warning.
    #[must_use]
    pub fn deprecated(mut self, deprecation: Deprecation) -> Self {
        self.deprecated = Some(deprecation);
        self
    }

    /// The same, with a description.
    #[must_use]
    pub fn described(mut self, description: Description) -> Self {
        self.description = description;
        self
    }

    /// Plain type or nested objects.
    pub fn kind(&self) -> &AttributeType {
        &self.kind
    }

    /// The schema of its objects, when it is a nested attribute.
    pub fn nested_type(&self) -> Option<&Arc<ObjectSchema>> {
        match &self.kind {
            AttributeType::Type(_) => None,
            AttributeType::Nested(nested) => Some(nested),
        }
    }

    /// Who gives the value.
    pub fn usage(&self) -> Use {
        self.usage
    }

    /// Whether the provider may choose the value while the configuration has none.
    pub fn is_computed(&self) -> bool {
        self.usage.is_computed()
    }

    /// Whether the schema hides the value.
    pub fn is_sensitive(&self) -> bool {
        self.sensitive
    }

    /// Whether the value is never kept.
    pub fn is_write_only(&self) -> bool {
        self.write_only
    }

    /// The deprecation, if it is deprecated.
    pub fn deprecation(&self) -> Option<&Deprecation> {
        self.deprecated.as_ref()
    }

    /// The description; empty when there is none.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The type of its values.
    pub fn ty(&self) -> Type {
        match &self.kind {
            AttributeType::Type(ty) => ty.without_optional_attributes(),
            AttributeType::Nested(nested) => nested.ty.clone(),
        }
    }

    /// The type that configuration values are converted to: [`Attribute::ty`], with the attributes of nested objects
    /// optional where a configuration may leave them out.
    pub fn config_type(&self) -> &Type {
        match &self.kind {
            AttributeType::Type(ty) => ty,
            AttributeType::Nested(nested) => &nested.config_type,
        }
    }

    /// Whether blocks may be written in the place of an argument: old providers have arguments that are lists or sets of
    /// objects, for which Terraform accepts blocks too.
    pub fn may_be_blocks(&self) -> bool {
        match self.kind() {
            AttributeType::Type(ty @ (Type::List(element) | Type::Set(element))) => {
                matches!(**element, Type::Object(_)) && !ty.has_dynamic()
            }
            _ => false,
        }
    }

    /// The blocks that stand for the argument, where [`Attribute::may_be_blocks`].
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

    /// Its value when nothing sets it: null of its type.
    pub fn empty_value(&self) -> &Value {
        &self.empty
    }
}
