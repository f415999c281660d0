//! Schemas: what a resource type, a data source or a provider accepts and returns.

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

/// The schema of a resource type, a data source, an ephemeral resource type or a provider's configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// The version of the shape of stored objects; grows when an upgrade is needed.
    pub version: u64,
    /// What it holds.
    pub block: Arc<Block>,
    /// What names one remote object of the type, where the type has an identity (LC-31).
    pub identity: Option<Arc<IdentitySchema>>,
}

impl Schema {
    /// A schema of version 0 without identity.
    pub fn new(block: Block) -> Self {
        Self { version: 0, block: Arc::new(block), identity: None }
    }

    /// The same with another version.
    #[must_use]
    pub fn versioned(mut self, version: u64) -> Self {
        self.version = version;
        self
    }

    /// The same with an identity.
    #[must_use]
    pub fn identified_by(mut self, identity: IdentitySchema) -> Self {
        self.identity = Some(Arc::new(identity));
        self
    }

    /// The type of the identity's values, where there is an identity.
    pub fn identity_type(&self) -> Option<Type> {
        self.identity.as_ref().map(|identity| identity.implied_type())
    }
}

/// The schema of what names a remote object (LC-31).
#[derive(Clone, Debug, PartialEq)]
pub struct IdentitySchema {
    /// The version of the shape of stored identities.
    pub version: u64,
    /// The attributes, in order of their names.
    pub attributes: std::collections::BTreeMap<Name, IdentityAttribute>,
}

impl IdentitySchema {
    /// The type of its values.
    pub fn implied_type(&self) -> Type {
        Type::object(self.attributes.iter().map(|(name, attribute)| (name.clone(), attribute.ty.clone())))
    }
}

/// One attribute of an identity.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentityAttribute {
    /// Its type: a primitive, or a list of one.
    pub ty: Type,
    /// What an import must or may say about it.
    pub import: IdentityImport,
    /// The description; empty when there is none.
    pub description: String,
}

/// What an import by identity says about an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdentityImport {
    /// It must be given.
    Required,
    /// It may be given.
    Optional,
    /// It is found out by the provider.
    Computed,
}

/// That something should no longer be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deprecation {
    /// What to use instead; empty when the provider does not say.
    pub message: String,
}

/// A text about a part of a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The text.
    pub text: String,
    /// How it is written.
    pub format: TextFormat,
}

impl Description {
    /// A text without markup.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), format: TextFormat::Plain }
    }

    /// A text in Markdown.
    pub fn markdown(text: impl Into<String>) -> Self {
        Self { text: text.into(), format: TextFormat::Markdown }
    }
}

/// How a description is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TextFormat {
    /// Without markup.
    #[default]
    Plain,
    /// In Markdown.
    Markdown,
}
