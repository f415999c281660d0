//! Resource type schemas: the shipped blob, the model, and a cache of what was parsed.

mod blob;
mod model;
mod parse;
mod pattern;
mod pointer;
mod published;
mod sample;
pub(crate) mod validate;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

pub use blob::Blob;
pub use model::{
    Conditional, Definition, ElementOrder, Handler, Handlers, Hints, JsonTypes, Keyword, Node, NodeId, NumberRules,
    Tagging, TypeSchema,
};
pub use parse::parse;
pub(crate) use parse::parse_list_inputs;
pub use pattern::Pattern;
pub use pointer::{Pointer, PointerSet, Step};
pub use published::{PublishedError, published, save};
#[cfg(test)]
pub(crate) use sample::Draw;
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
    /// The descriptions and permissions of the shipped types; none where nobody asks for them.
    texts: Option<Blob>,
    given: BTreeMap<Name, String>,
    parsed: RwLock<HashMap<Name, Arc<TypeSchema>>>,
}

impl Catalogue {
    /// The schemas inside this binary, shared by everyone who asks.
    pub fn shipped() -> &'static Arc<Self> {
        static SHIPPED: OnceLock<Arc<Catalogue>> = OnceLock::new();
        SHIPPED.get_or_init(|| Arc::new(Self { shipped: Blob::shipped().ok(), ..Self::empty() }))
    }

    /// A catalogue of the given documents only, by type name.
    pub fn of_documents(documents: impl IntoIterator<Item = (Name, String)>) -> Self {
        Self { given: documents.into_iter().collect(), ..Self::empty() }
    }

    /// The schemas inside this binary, with those of a saved file in their place.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn with_file(path: &std::path::Path) -> Result<Self, PublishedError> {
        Ok(Self { shipped: Blob::shipped().ok(), given: published::load(path)?, ..Self::empty() })
    }

    /// Returns the types with their descriptions, which cost memory that a plan does not need. This catalogue keeps no parsed
    /// types: it serves a pass over all of them.
    #[must_use]
    pub fn described(&self) -> Self {
        let shipped = self.shipped.as_ref().and_then(|_| Blob::shipped().ok()).map(Blob::for_all_types);
        let texts = Blob::descriptions().ok().map(Blob::for_all_types);
        Self { shipped, texts, given: self.given.clone(), parsed: RwLock::default() }
    }

    /// The IAM actions that the handlers of a type need, by operation: `create`, `read`, `update`, `delete`, `list`.
    pub fn permissions(&self, type_name: &str) -> Result<BTreeMap<String, Vec<String>>, SchemaError> {
        if let Some(text) = self.given.get(type_name) {
            return Ok(actions_by_handler(&json(text)?["handlers"], |handler| handler.get("permissions")));
        }
        match Blob::descriptions()?.document(type_name)? {
            Some(text) => Ok(actions_by_handler(&json(&text)?["permissions"], Some)),
            None => Ok(BTreeMap::new()),
        }
    }

    fn empty() -> Self {
        Self { shipped: None, texts: None, given: BTreeMap::new(), parsed: RwLock::default() }
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
        names.dedup();
        names
    }

    /// Whether there is a type of this name.
    pub fn contains(&self, type_name: &str) -> bool {
        self.given.contains_key(type_name)
            || self.shipped.as_ref().is_some_and(|blob| blob.position(type_name).is_some())
    }

    /// The schema document of a type.
    pub fn document(&self, type_name: &str) -> Result<Option<String>, SchemaError> {
        match self.found(type_name)? {
            Some(Found::Shipped(_)) if self.texts.is_some() => {
                Ok(self.described_document(type_name)?.map(|document| document.to_string()))
            }
            found => Ok(found.map(Found::into_text)),
        }
    }

    /// Returns the schema document of a type with its descriptions.
    fn described_document(&self, type_name: &str) -> Result<Option<serde_json::Value>, SchemaError> {
        match self.found(type_name)? {
            None => Ok(None),
            Some(Found::Given(text)) => json(text).map(Some),
            Some(Found::Shipped(text)) => {
                let texts = self.texts.as_ref().map_or(Ok(None), |blob| blob.document(type_name))?;
                described(json(&text)?, texts.as_deref()).map(Some)
            }
        }
    }

    /// Returns the document of a type as it is stored: the given one, or else the shipped one.
    fn found(&self, type_name: &str) -> Result<Option<Found<'_>>, SchemaError> {
        if let Some(text) = self.given.get(type_name) {
            return Ok(Some(Found::Given(text)));
        }
        let shipped = self.shipped.as_ref().map_or(Ok(None), |blob| blob.document(type_name))?;
        Ok(shipped.map(Found::Shipped))
    }

    /// Returns the inputs that the list handler of a type needs; none if it has no list handler. Much faster than
    /// [`Self::get`].
    pub fn list_inputs(&self, type_name: &str) -> Result<Option<Vec<Name>>, SchemaError> {
        #[derive(Default, serde::Deserialize)]
        struct Handlers {
            list: Option<serde_json::Value>,
        }
        #[derive(serde::Deserialize)]
        struct Outline {
            #[serde(default)]
            handlers: Handlers,
        }
        let Some(found) = self.found(type_name)? else { return Ok(None) };
        let outline: Outline =
            serde_json::from_str(&found.into_text()).map_err(|error| SchemaError::Document(error.to_string()))?;
        Ok(outline.handlers.list.map(|list| parse_list_inputs(&list)))
    }

    /// Visits all schema documents.
    pub fn documents(&self, mut visit: impl FnMut(&str, &str)) -> Result<(), SchemaError> {
        for (name, text) in &self.given {
            visit(name, text);
        }
        let Some(shipped) = &self.shipped else { return Ok(()) };
        shipped.documents(|name, text| {
            if !self.given.contains_key(name) {
                visit(name, text);
            }
        })
    }

    /// The schema of a type, or none if there is no such type.
    pub fn get(&self, type_name: &str) -> Result<Option<Arc<TypeSchema>>, SchemaError> {
        if let Some(known) = self.parsed.read().unwrap_or_else(PoisonError::into_inner).get(type_name) {
            return Ok(Some(known.clone()));
        }
        if self.texts.is_some() {
            return self
                .described_document(type_name)?
                .map(parse::parse_document)
                .transpose()
                .map(|parsed| parsed.map(Arc::new));
        }
        let Some(text) = self.document(type_name)? else { return Ok(None) };
        let schema = Arc::new(parse(&text)?);
        let mut parsed = self.parsed.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Some(parsed.entry(type_name.into()).or_insert(schema).clone()))
    }
}

/// A document as it is stored, by its origin. Given documents have their descriptions.
enum Found<'a> {
    Given(&'a str),
    Shipped(String),
}

impl Found<'_> {
    fn into_text(self) -> String {
        match self {
            Self::Given(text) => text.to_owned(),
            Self::Shipped(text) => text,
        }
    }
}

/// Puts descriptions, which are recorded by JSON pointer, into a schema document.
fn described(mut document: serde_json::Value, texts: Option<&str>) -> Result<serde_json::Value, SchemaError> {
    let Some(serde_json::Value::Object(texts)) = texts.map(json).transpose()? else { return Ok(document) };
    for (pointer, text) in texts.into_iter().filter(|(_, text)| text.is_string()) {
        if let Some(serde_json::Value::Object(node)) = document.pointer_mut(&pointer) {
            node.insert("description".to_owned(), text);
        }
    }
    Ok(document)
}

/// Collects the IAM actions of each handler, which are in the list that `actions` returns.
fn actions_by_handler<'a>(
    handlers: &'a serde_json::Value,
    actions: impl Fn(&'a serde_json::Value) -> Option<&'a serde_json::Value>,
) -> BTreeMap<String, Vec<String>> {
    let handlers = handlers.as_object().into_iter().flatten();
    let named = handlers.map(|(name, handler)| {
        let list = actions(handler).and_then(serde_json::Value::as_array).into_iter().flatten();
        (name.clone(), list.filter_map(|action| action.as_str().map(str::to_owned)).collect())
    });
    named.collect()
}

fn json(text: &str) -> Result<serde_json::Value, SchemaError> {
    serde_json::from_str(text).map_err(|error| SchemaError::Document(error.to_string()))
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
    fn descriptions_and_permissions_are_kept_apart() {
        let plain = Catalogue::shipped().get("AWS::EC2::VPC").unwrap().unwrap();
        let described = Catalogue::shipped().described().get("AWS::EC2::VPC").unwrap().unwrap();
        let text = |schema: &TypeSchema| schema.node(schema.root().property("CidrBlock").unwrap()).description.clone();
        assert_eq!(text(&plain), None);
        assert!(text(&described).unwrap().contains("IPv4"));
        let permissions = Catalogue::shipped().permissions("AWS::EC2::VPC").unwrap();
        assert!(permissions["create"].iter().any(|action| action == "ec2:CreateVpc"));
    }

    #[test]
    fn constraints_of_the_registry_are_distinguished_from_hints() {
        let schema = Catalogue::shipped().get("AWS::ACMPCA::CertificateAuthority").unwrap().unwrap();
        let standard = schema.node(schema.root().property("KeyStorageSecurityStandard").unwrap());
        assert!(standard.hints.contains(Keyword::Enum) && !standard.enumeration.is_empty());
        let schema = Catalogue::shipped().get("AWS::EC2::VPC").unwrap().unwrap();
        let marked = schema.nodes.iter().filter(|node| node.hints != Hints::default()).count();
        assert!(marked < schema.node_count());
    }

    #[test]
    fn a_recursive_definition_is_a_loop() {
        let schema = Catalogue::shipped().get("AWS::WAFv2::WebACL").unwrap().unwrap();
        assert!(schema.node_count() < 1_000);
    }

    #[test]
    fn a_definition_decides_the_type_of_a_reference() {
        let schema = Catalogue::shipped().get("AWS::MemoryDB::Cluster").unwrap().unwrap();
        let discovery = schema.node(schema.root().property("IpDiscovery").unwrap());
        assert_eq!(discovery.type_order, [JsonTypes::STRING]);
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

    #[test]
    fn recursive_definitions_can_have_descriptions() {
        let described = Catalogue::shipped().described();
        assert!(described.get("AWS::IoTTwinMaker::ComponentType").unwrap().is_some());
    }
}
