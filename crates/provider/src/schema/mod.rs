//! Schemas of resource types, data sources and provider configurations.

mod attribute;
mod block;
mod check;
mod deprecated;
mod paths;

use std::sync::Arc;

pub use attribute::{Attribute, AttributeType, ObjectNesting, ObjectSchema, Use};
pub use block::{Block, Item, NestedBlock, Nesting, Slot};
pub use check::SchemaProblem;
pub use deprecated::{DeprecatedPart, PartKind};

use groma_value::Type;

use crate::Name;

/// The schema of a resource type, a data source, an ephemeral resource type or a provider configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// The version of stored objects; higher versions require an upgrade of objects with lower ones.
    pub version: u64,
    /// The attributes and nested blocks.
    pub block: Arc<Block>,
    /// The schema of resource identities, if the type has them (LC-31).
    pub identity: Option<Arc<IdentitySchema>>,
}

impl Schema {
    /// Creates a schema of version 0 without an identity.
    pub fn new(block: Block) -> Self {
        Self { version: 0, block: Arc::new(block), identity: None }
    }

    /// Sets the schema version.
    #[must_use]
    pub fn versioned(mut self, version: u64) -> Self {
        self.version = version;
        self
    }

    /// Sets the schema of resource identities.
    #[must_use]
    pub fn identified_by(mut self, identity: IdentitySchema) -> Self {
        self.identity = Some(Arc::new(identity));
        self
    }

    /// Returns the type of resource identities, if the type has them.
    pub fn identity_type(&self) -> Option<Type> {
        self.identity.as_ref().map(|identity| identity.implied_type())
    }
}

/// The schema of a resource identity, which names one real object (LC-31).
#[derive(Clone, Debug, PartialEq)]
pub struct IdentitySchema {
    /// The version of stored identities.
    pub version: u64,
    /// The attributes by name.
    pub attributes: std::collections::BTreeMap<Name, IdentityAttribute>,
}

impl IdentitySchema {
    /// Returns the object type of the identities.
    pub fn implied_type(&self) -> Type {
        Type::object(self.attributes.iter().map(|(name, attribute)| (name.clone(), attribute.ty.clone())))
    }
}

/// An attribute of a resource identity.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentityAttribute {
    /// The type: a primitive type or a list of one.
    pub ty: Type,
    /// Whether an import by identity must set the attribute.
    pub import: IdentityImport,
    /// The description, which may be empty.
    pub description: String,
}

/// The role of an identity attribute in an import by identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdentityImport {
    /// The import must set it.
    Required,
    /// The import may set it.
    Optional,
    /// The provider determines it; the import cannot set it.
    Computed,
}

/// The deprecation of an attribute or block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deprecation {
    /// The recommended alternative; empty if the provider does not name one.
    pub message: String,
}

/// The description of a part of a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The description itself, in the format that `format` names.
    pub text: String,
    /// The markup of the text.
    pub format: TextFormat,
}

impl Description {
    /// Creates a description without markup.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), format: TextFormat::Plain }
    }

    /// Creates a description in Markdown.
    pub fn markdown(text: impl Into<String>) -> Self {
        Self { text: text.into(), format: TextFormat::Markdown }
    }
}

/// The markup of a description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TextFormat {
    /// No markup.
    #[default]
    Plain,
    /// CommonMark, which documentation generators render.
    Markdown,
}
