//! Schemas with behavior: the declaration of an author, split into the schema for the engine and the rules of the
//! framework.

mod attribute;
mod rules;
pub mod validators;

use std::sync::Arc;

use groma_provider::{
    Block, Description, IdentityAttribute, IdentityImport, IdentitySchema, Schema, SchemaProblem, Use,
};
use groma_value::Type;

use crate::Name;
use crate::model::Model;

pub use attribute::{Attribute, DefaultRequest, DefaultValue, NestedBlock, SemanticEquality};
pub use validators::{Validator, ValidatorRequest, validator};

pub(crate) use rules::{RuleSet, SlotRules};

/// Declares the schema of a resource, a data source or a provider's configuration.
#[derive(Clone, Default)]
#[must_use]
pub struct SchemaBuilder {
    version: u64,
    attributes: Vec<(Name, Attribute)>,
    blocks: Vec<(Name, NestedBlock)>,
    description: Description,
    identity: Option<IdentitySchema>,
}

impl SchemaBuilder {
    /// Creates a schema without attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the attribute `name`.
    pub fn attribute(mut self, name: impl Into<Name>, attribute: Attribute) -> Self {
        self.attributes.push((name.into(), attribute));
        self
    }

    /// Adds the nested block type `name`.
    pub fn block(mut self, name: impl Into<Name>, block: NestedBlock) -> Self {
        self.blocks.push((name.into(), block));
        self
    }

    /// Sets the version of the stored format of objects.
    pub fn version(mut self, version: u64) -> Self {
        self.version = version;
        self
    }

    /// Sets the description in Markdown.
    pub fn described(mut self, text: impl Into<String>) -> Self {
        self.description = Description::markdown(text);
        self
    }

    /// Sets the identity schema (LC-31).
    pub fn identity(mut self, identity: IdentitySchema) -> Self {
        self.identity = Some(identity);
        self
    }

    /// Sets the identity to the fields of `M`: a plain field is required for an import by identity, an `Option` is
    /// optional, and a computed field is set by the provider.
    ///
    /// ```
    /// use groma_framework::{Maybe, Model};
    ///
    /// #[derive(Model)]
    /// struct Pet {
    ///     name: String,
    /// }
    ///
    /// #[derive(Model)]
    /// struct PetIdentity {
    ///     /// What it is called.
    ///     name: String,
    ///     /// The shelter it is from; the one at home unless it is given.
    ///     shelter: Option<String>,
    /// }
    ///
    /// let schema = Pet::schema().identified_by::<PetIdentity>().build();
    /// # assert!(schema.is_ok_and(|schema| schema.schema().identity.is_some()));
    /// ```
    pub fn identified_by<M: Model>(self) -> Self {
        let attributes = M::attributes().into_iter().map(|(name, attribute)| {
            let import = match attribute.usage {
                Use::Required => IdentityImport::Required,
                // The provider fills in what an import by identity leaves out.
                Use::Optional | Use::OptionalComputed => IdentityImport::Optional,
                Use::Computed => IdentityImport::Computed,
            };
            let ty = M::object_type().attribute(&name).cloned().unwrap_or(Type::Dynamic);
            (name, IdentityAttribute { ty, import, description: attribute.description.text })
        });
        self.identity(IdentitySchema { version: M::version(), attributes: attributes.collect() })
    }

    /// Checks the declaration and builds the schema.
    ///
    /// # Errors
    ///
    /// Returns all problems of the declaration (FW-16, FW-18).
    pub fn build(self) -> Result<ResourceSchema, Vec<SchemaProblem>> {
        let mut problems = Vec::new();
        let (block, rules) = rules::split(&self.attributes, &self.blocks, "", &mut problems);
        let block: Block = block.described(self.description);
        let mut schema = Schema::new(block).versioned(self.version);
        if let Some(identity) = self.identity {
            schema = schema.identified_by(identity);
        }
        // The rules of the engine for schemas of any provider, in addition to those of the framework.
        problems.extend(schema.problems());
        if problems.is_empty() {
            Ok(ResourceSchema { schema: Arc::new(schema), rules: Arc::new(rules) })
        } else {
            Err(problems)
        }
    }
}

/// A schema with the framework's rules. Cheap to clone.
#[derive(Clone)]
pub struct ResourceSchema {
    schema: Arc<Schema>,
    rules: Arc<RuleSet>,
}

impl ResourceSchema {
    /// Returns the schema for the engine.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Returns the block of one object.
    pub fn block(&self) -> &Arc<Block> {
        &self.schema.block
    }

    pub(crate) fn rules(&self) -> &RuleSet {
        &self.rules
    }
}

impl std::fmt::Debug for ResourceSchema {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("ResourceSchema").field(&self.schema).finish()
    }
}
