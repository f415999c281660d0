//! Resource type schemas: the shipped blob, the model, and a cache of what was parsed.

mod blob;
mod model;
mod parse;
mod pattern;
mod pointer;
mod sample;
pub(crate) mod validate;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

pub use blob::Blob;
pub use model::{
    Conditional, ElementOrder, Handler, Handlers, Hints, JsonTypes, Keyword, Node, NodeId, NumberRules, Tagging,
    TypeSchema,
};
pub use parse::parse;
pub(crate) use parse::parse_list_inputs;
pub use pattern::Pattern;
pub use pointer::{Pointer, PointerSet, Step};
pub(crate) use sample::sample;

use crate::Name;

/// The error of loading schemas.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The blob inside the binary is damaged.
    #[error("the schemas inside this program are damaged: {0}; install it again")]
    Blob(&'static str),
    /// A schema document cannot be used.
    #[error("the resource type schema cannot be used: {0}")]
    Document(String),
}

/// All the types there are, parsed when they are first asked for.
#[derive(Debug)]
pub struct Catalogue {
    shipped: Option<Blob>,
    given: BTreeMap<Name, String>,
    parsed: RwLock<HashMap<Name, Arc<TypeSchema>>>,
}

impl Catalogue {
    /// The schemas inside this binary, shared by everyone who asks.
    pub fn shipped() -> &'static Arc<Self> {
        static SHIPPED: OnceLock<Arc<Catalogue>> = OnceLock::new();
        SHIPPED.get_or_init(|| {
            Arc::new(Self { shipped: Blob::shipped().ok(), given: BTreeMap::new(), parsed: RwLock::default() })
        })
    }

    /// A catalogue of the given documents only, by type name.
    pub fn of_documents(documents: impl IntoIterator<Item = (Name, String)>) -> Self {
        Self { shipped: None, given: documents.into_iter().collect(), parsed: RwLock::default() }
    }

    /// Returns the origin of the schemas.
    pub fn source(&self) -> &str {
        self.shipped.as_ref().map_or("given documents", Blob::source)
    }

    /// The names of all types, sorted.
    pub fn type_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.given.keys().map(|name| &**name).collect();
        names.extend(self.shipped.iter().flat_map(Blob::type_names).map(|name| -> &str { name }));
        names.sort_unstable();
        names
    }

    /// Whether there is a type of this name.
    pub fn contains(&self, type_name: &str) -> bool {
        self.given.contains_key(type_name)
            || self.shipped.as_ref().is_some_and(|blob| blob.position(type_name).is_some())
    }

    /// The schema document of a type.
    pub fn document(&self, type_name: &str) -> Result<Option<String>, SchemaError> {
        if let Some(text) = self.given.get(type_name) {
            return Ok(Some(text.clone()));
        }
        self.shipped.as_ref().map_or(Ok(None), |blob| blob.document(type_name))
    }

    /// Visits all schema documents.
    pub fn documents(&self, mut visit: impl FnMut(&str, &str)) -> Result<(), SchemaError> {
        for (name, text) in &self.given {
            visit(name, text);
        }
        self.shipped.as_ref().map_or(Ok(()), |blob| blob.documents(visit))
    }

    /// The schema of a type, or none if there is no such type.
    pub fn get(&self, type_name: &str) -> Result<Option<Arc<TypeSchema>>, SchemaError> {
        if let Some(known) = self.parsed.read().unwrap_or_else(PoisonError::into_inner).get(type_name) {
            return Ok(Some(known.clone()));
        }
        let Some(text) = self.document(type_name)? else { return Ok(None) };
        let schema = Arc::new(parse(&text)?);
        let mut parsed = self.parsed.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Some(parsed.entry(type_name.into()).or_insert(schema).clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_type_parses() {
        let catalogue = Catalogue::shipped();
        for name in catalogue.type_names() {
            let schema = catalogue.get(name).unwrap().unwrap();
            assert!(!schema.primary_identifier.is_empty(), "{name} has no identifier");
            assert!(schema.handlers.create.is_some(), "{name} cannot be created");
        }
    }

    #[test]
    fn a_recursive_definition_is_a_loop() {
        let schema = Catalogue::shipped().get("AWS::WAFv2::WebACL").unwrap().unwrap();
        assert!(schema.node_count() < 1_000);
    }

    #[test]
    fn flags_and_shapes_of_a_type() {
        let schema = Catalogue::shipped().get("AWS::EC2::VPC").unwrap().unwrap();
        assert!(schema.read_only.property("VpcId").unwrap().contains_here());
        assert!(schema.create_only.property("CidrBlock").unwrap().contains_here());
        assert_eq!(schema.root().required_xor.len(), 2);
        let tags = schema.node(schema.root().property("Tags").unwrap());
        assert!(tags.order == ElementOrder::Insignificant && !tags.unique);
        let tag = schema.node(tags.items.unwrap());
        assert!(tag.requires("Key"));
    }

    #[test]
    fn damaged_documents_are_errors() {
        for text in ["", "[]", "{}", r##"{"typeName":"A::B::C","properties":{"X":{"$ref":"#/definitions/No"}}}"##] {
            assert!(parse(text).is_err(), "{text}");
        }
        let looped = r##"{"typeName":"A::B::C","properties":{"X":{"$ref":"#/definitions/A"}},"definitions":{"A":{"$ref":"#/definitions/A"}}}"##;
        assert!(parse(looped).is_ok());
    }
}
