//! Resource type schemas as attributes: names, types, usage, and the effect of changes.

use std::sync::{Arc, OnceLock};

use groma_provider::{Attribute, AttributeType, Block, Description, NestedBlock, ObjectNesting, ObjectSchema, Use};
use groma_value::{Type, Value};

use crate::Name;
use crate::schema::NodeId;

/// The type of an attribute.
#[derive(Debug, Clone)]
pub enum Shape {
    /// A boolean value.
    Bool,
    /// A whole number.
    Integer,
    /// A number with optional fraction.
    Number,
    /// A string value.
    Text,
    /// A string that is an RFC 3339 instant and compares as one.
    Time,
    /// A string that holds a JSON document and compares by meaning.
    Json,
    /// A list with its order.
    List(Box<Shape>, Order),
    /// A set of elements.
    Set(Box<Shape>),
    /// A map of strings to something.
    Map(Box<Shape>),
    /// An object with attributes.
    Object(Arc<Fields>),
}

/// Whether the order of a list means something (CC-12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The order is significant.
    Kept,
    /// The schema does not say. Authors may rely on the order they write, but the service may return another one: a read
    /// keeps the known order of the same elements.
    Unstated,
    /// It does not: two lists of the same elements are equal.
    Ignored,
}

impl Shape {
    /// The type of its values.
    pub fn ty(&self) -> Type {
        match self {
            Self::Bool => Type::Bool,
            Self::Integer | Self::Number => Type::Number,
            Self::Text | Self::Time | Self::Json => Type::String,
            Self::List(element, _) => Type::list(element.ty()),
            Self::Set(element) => Type::set(element.ty()),
            Self::Map(element) => Type::map(element.ty()),
            Self::Object(fields) => fields.block.implied_type().clone(),
        }
    }

    /// As [`Self::ty`], with everything in objects optional: what a configuration may write.
    pub fn written_type(&self) -> Type {
        match self {
            Self::List(element, _) => Type::list(element.written_type()),
            Self::Set(element) => Type::set(element.written_type()),
            Self::Map(element) => Type::map(element.written_type()),
            Self::Object(fields) => fields.block.config_type().clone(),
            other => other.ty(),
        }
    }

    /// The objects of an attribute whose value is made of objects directly.
    pub fn nested(&self) -> Option<(ObjectNesting, &Arc<Fields>)> {
        match self {
            Self::Object(fields) => Some((ObjectNesting::Single, fields)),
            Self::List(element, _) => element.as_object().map(|fields| (ObjectNesting::List, fields)),
            Self::Set(element) => element.as_object().map(|fields| (ObjectNesting::Set, fields)),
            Self::Map(element) => element.as_object().map(|fields| (ObjectNesting::Map, fields)),
            _ => None,
        }
    }

    fn has_objects(&self) -> bool {
        match self {
            Self::Object(_) => true,
            Self::List(element, _) | Self::Set(element) | Self::Map(element) => element.has_objects(),
            _ => false,
        }
    }

    fn attribute(&self, usage: Use) -> Attribute {
        match self.nested() {
            Some((nesting, fields)) => Attribute::new(AttributeType::Nested(fields.schema(nesting)), usage),
            None => Attribute::new(AttributeType::Type(self.written_type()), usage),
        }
    }

    fn as_object(&self) -> Option<&Arc<Fields>> {
        match self {
            Self::Object(fields) => Some(fields),
            _ => None,
        }
    }
}

/// The effect of a changed value on the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The object is updated in place.
    InPlace,
    /// The object is replaced if the new value is configured.
    ReplaceIfConfigured,
    /// The object is replaced.
    Replace,
}

/// An attribute of a resource type.
#[derive(Debug, Clone)]
pub struct Field {
    /// Our name for it.
    pub attribute: Name,
    /// The service's name; none for `id` and the like, which are no properties.
    pub property: Option<Name>,
    /// The type of the value.
    pub shape: Shape,
    /// The usage: required, optional or computed.
    pub usage: Use,
    /// The effect of a change.
    pub change: Change,
    /// Whether Cloud Control never returns the property (`writeOnlyProperties`, CC-33). Its value is stored in the state all the same:
    /// this is not a write-only argument of Terraform.
    pub write_only: bool,
    /// Whether its values are secret.
    pub sensitive: bool,
    /// For a write-only argument of Terraform such as `password_wo`: the attribute whose property it sets.
    pub ephemeral_of: Option<Name>,
    /// The value that is planned where the configuration sets none.
    pub default: Option<Value>,
    /// Groups of properties of the same object: if all of one group are configured, the default is not planned.
    pub alternatives: Vec<Vec<Name>>,
    /// It must be given where the object around it is configured (CC-34).
    pub needed: bool,
    /// Its objects are deeper than nested attributes go (lists of lists of objects): the value is planned as a whole, and
    /// what the service adds to it is none of its business.
    pub plain: bool,
    /// The schema node with its rules.
    pub node: NodeId,
    /// The attribute as declared.
    pub(super) declared: Attribute,
}

impl Field {
    /// An attribute that is no property of the service's documents, and that nobody configures.
    pub fn result(attribute: impl Into<Name>, shape: Shape) -> Self {
        Self::of(attribute, shape, Use::Computed)
    }

    /// An attribute of which nothing else is known.
    pub(super) fn of(attribute: impl Into<Name>, shape: Shape, usage: Use) -> Self {
        Self {
            attribute: attribute.into(),
            property: None,
            declared: shape.attribute(usage),
            plain: shape.nested().is_none() && shape.has_objects(),
            shape,
            usage,
            change: Change::InPlace,
            write_only: false,
            sensitive: false,
            ephemeral_of: None,
            default: None,
            alternatives: Vec::new(),
            needed: false,
            node: NodeId::default(),
        }
    }

    /// Creates a write-only argument that sets the property of the attribute `twin`.
    pub(super) fn ephemeral(attribute: impl Into<Name>, twin: Name) -> Self {
        let field = Self::of(attribute, Shape::Text, Use::Optional);
        let declared = field.declared.clone().sensitive().write_only();
        Self { sensitive: true, ephemeral_of: Some(twin), declared, ..field }
    }

    /// Marks the values as secret.
    pub(super) fn secret(self) -> Self {
        Self { sensitive: true, declared: self.declared.sensitive(), ..self }
    }

    /// Sets the description.
    pub(super) fn described(self, text: Option<&Name>) -> Self {
        let Some(text) = text else { return self };
        Self { declared: self.declared.described(Description::markdown(&**text)), ..self }
    }

    /// Returns the attribute of a data source: a result.
    pub(super) fn result_attribute(&self) -> Attribute {
        let kind = match self.shape.nested() {
            Some((nesting, inner)) => {
                AttributeType::Nested(Arc::new(ObjectSchema::of_block(nesting, inner.results().clone())))
            }
            None => AttributeType::Type(self.shape.ty()),
        };
        Attribute::new(kind, Use::Computed).described(self.declared.description().clone())
    }

    /// Whether only the service gives it a value.
    pub fn read_only(&self) -> bool {
        self.usage == Use::Computed
    }
}

/// The attributes of an object, sorted by name as the values of an object are.
#[derive(Debug)]
pub struct Fields {
    /// One for each slot of the block, in its order.
    pub list: Vec<Field>,
    /// The object as a block.
    pub block: Arc<Block>,
    /// The schema node of the object.
    pub node: NodeId,
    /// The position of the attribute that tells objects of a list apart, if one looks like it does.
    pub key: Option<usize>,
    /// The schemas of attributes that are such objects, by nesting: many attributes share them.
    schemas: [OnceLock<Arc<ObjectSchema>>; 4],
    /// The object of a data source.
    results: OnceLock<Arc<Block>>,
}

/// Properties that tell the elements of lists apart, the best first.
const KEYS: [&str; 10] = [
    "Key",
    "Id",
    "Name",
    "RuleName",
    "PolicyName",
    "IndexName",
    "AttributeName",
    "ParameterKey",
    "DeviceName",
    "SubnetId",
];

impl Fields {
    pub(super) fn new(mut list: Vec<Field>, node: NodeId) -> Self {
        list.sort_by(|left, right| left.attribute.cmp(&right.attribute));
        list.dedup_by(|later, first| later.attribute == first.attribute);
        let attributes = list.iter().map(|field| (field.attribute.clone(), field.declared.clone()));
        let block = Block::new(attributes, std::iter::empty::<(Name, NestedBlock)>());
        let key = KEYS.iter().find_map(|key| {
            list.iter().position(|field| field.property.as_deref() == Some(key) && matches!(field.shape, Shape::Text))
        });
        Self { list, block: Arc::new(block), node, key, schemas: Default::default(), results: OnceLock::new() }
    }

    /// Returns the object with each value replaced by that of `value`; null and unknown objects are returned unchanged.
    pub fn map(&self, object: &Value, mut value: impl FnMut(&Field, &Value) -> Value) -> Value {
        let Some(view) = object.as_object() else { return object.clone() };
        let values = self.list.iter().zip(view.values()).map(|(field, old)| value(field, old));
        self.block.object(values.collect())
    }

    /// Returns the object with another value of an attribute.
    pub fn with(&self, object: &Value, attribute: &str, value: &Value) -> Value {
        self.map(object, |field, old| if *field.attribute == *attribute { value.clone() } else { old.clone() })
    }

    /// Returns the object as a block of results.
    pub(super) fn results(&self) -> &Arc<Block> {
        self.results.get_or_init(|| {
            let attributes = self.list.iter().map(|field| (field.attribute.clone(), field.result_attribute()));
            Arc::new(Block::new(attributes, std::iter::empty::<(Name, NestedBlock)>()))
        })
    }

    /// Returns the schema of attributes that are such objects.
    pub(super) fn schema(&self, nesting: ObjectNesting) -> Arc<ObjectSchema> {
        let [single, list, set, map] = &self.schemas;
        let shared = match nesting {
            ObjectNesting::Single => single,
            ObjectNesting::List => list,
            ObjectNesting::Set => set,
            ObjectNesting::Map => map,
        };
        shared.get_or_init(|| Arc::new(ObjectSchema::of_block(nesting, self.block.clone()))).clone()
    }
}
