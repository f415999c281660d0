//! How a resource type schema looks as attributes: names, types, who gives the value, what a change means.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use groma_provider::{Attribute, AttributeType, Block, ObjectNesting, ObjectSchema, Use};
use groma_value::Type;

use crate::Name;
use crate::names::{self, META_ARGUMENTS, snake_case};
use crate::schema::{JsonTypes, Node, NodeId, PointerSet, TypeSchema};

/// A definition that contains itself is followed this often; below that it is a JSON string (CC-13).
const RECURSION: usize = 3;
/// Objects nested deeper than this are JSON strings.
const DEEPEST: usize = 24;

/// What the value of an attribute is.
#[derive(Debug, Clone)]
pub enum Shape {
    /// A boolean.
    Bool,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// A string.
    Text,
    /// A string that is an RFC 3339 instant and compares as one.
    Time,
    /// A string that holds a JSON document and compares by meaning.
    Json,
    /// A list.
    List(Box<Shape>, Order),
    /// A set.
    Set(Box<Shape>),
    /// A map of strings to something.
    Map(Box<Shape>),
    /// An object.
    Object(Arc<Fields>),
}

/// Whether the order of a list means something (CC-12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// It does.
    Kept,
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

/// What a changed value means for the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is updated.
    InPlace,
    /// It is replaced if the new value is configured.
    ReplaceIfConfigured,
    /// It is replaced.
    Replace,
}

/// One attribute.
#[derive(Debug, Clone)]
pub struct Field {
    /// Our name for it.
    pub attribute: Name,
    /// The service's name; none for `id` and the like, which are no properties.
    pub property: Option<Name>,
    /// What its value is.
    pub shape: Shape,
    /// Who gives it.
    pub usage: Use,
    /// What a change means.
    pub change: Change,
    /// It is given and never read back (CC-33).
    pub write_only: bool,
    /// It must be given where the object around it is configured (CC-34).
    pub needed: bool,
    /// Its objects are deeper than nested attributes go (lists of lists of objects): the value is planned as a whole, and
    /// what the service adds to it is none of its business.
    pub plain: bool,
    /// The schema node with its rules.
    pub node: NodeId,
    /// The attribute as declared.
    declared: Attribute,
}

impl Field {
    /// An attribute that is no property of the service's documents, and that nobody configures.
    pub fn result(attribute: impl Into<Name>, shape: Shape) -> Self {
        Self {
            attribute: attribute.into(),
            property: None,
            declared: shape.attribute(Use::Computed),
            shape,
            usage: Use::Computed,
            change: Change::InPlace,
            write_only: false,
            needed: false,
            plain: false,
            node: NodeId::default(),
        }
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
    fn new(mut list: Vec<Field>, node: NodeId) -> Self {
        list.sort_by(|left, right| left.attribute.cmp(&right.attribute));
        list.dedup_by(|later, first| later.attribute == first.attribute);
        let attributes = list.iter().map(|field| (field.attribute.clone(), field.declared.clone()));
        let block = Block::new(attributes, std::iter::empty::<(Name, groma_provider::NestedBlock)>());
        let key = KEYS.iter().find_map(|key| {
            list.iter().position(|field| field.property.as_deref() == Some(key) && matches!(field.shape, Shape::Text))
        });
        Self { list, block: Arc::new(block), node, key, schemas: Default::default() }
    }

    fn schema(&self, nesting: ObjectNesting) -> Arc<ObjectSchema> {
        let [single, list, set, map] = &self.schemas;
        let shared = match nesting {
            ObjectNesting::Single => single,
            ObjectNesting::List => list,
            ObjectNesting::Set => set,
            ObjectNesting::Map => map,
        };
        let attributes = || self.list.iter().map(|field| (field.attribute.clone(), field.declared.clone()));
        shared.get_or_init(|| Arc::new(ObjectSchema::new(nesting, attributes()))).clone()
    }
}

/// Reads the attributes of a type's documents, `id` included, and the one that `further` makes of them, if any.
pub fn of_type(
    schema: &TypeSchema,
    further: impl Fn(&TypeSchema, &[Field]) -> Option<Field>,
) -> Result<Fields, String> {
    let part = names::resource_part(&schema.type_name).ok_or("its name does not have three parts")?;
    let mut reader = Reader { schema, path: Vec::new(), repeats: 0, known: HashMap::new() };
    let mut list = Vec::new();
    let root = schema.root();
    let sets = Sets {
        read_only: Some(&schema.read_only),
        write_only: Some(&schema.write_only),
        create_only: Some(&schema.create_only),
    };
    for (property, node) in &root.properties {
        let attribute = names::top_level_attribute(property, &part);
        if META_ARGUMENTS.contains(&attribute.as_str()) {
            return Err(format!("its property {property} would be the meta-argument {attribute}"));
        }
        list.push(reader.field(attribute, property, *node, root, sets, Around::Document));
    }
    list.push(Field::result("id", Shape::Text));
    list.extend(further(schema, &list));
    let all = list.len();
    let fields = Fields::new(list, schema.root_id());
    if fields.list.len() != all {
        return Err("two of its properties have the same attribute name".to_owned());
    }
    Ok(fields)
}

/// The parts of the schema's pointer sets that are below some place.
#[derive(Clone, Copy)]
struct Sets<'a> {
    read_only: Option<&'a PointerSet>,
    write_only: Option<&'a PointerSet>,
    create_only: Option<&'a PointerSet>,
}

impl<'a> Sets<'a> {
    fn step(self, into: impl Fn(&'a PointerSet) -> Option<&'a PointerSet>) -> Self {
        Self {
            read_only: self.read_only.and_then(&into),
            write_only: self.write_only.and_then(&into),
            create_only: self.create_only.and_then(&into),
        }
    }

    fn are_empty(self) -> bool {
        [self.read_only, self.write_only, self.create_only].into_iter().flatten().all(PointerSet::is_empty)
    }

    fn property(self, name: &str) -> Self {
        self.step(|set| set.property(name))
    }

    fn every(self) -> Self {
        self.step(PointerSet::every)
    }
}

fn here(set: Option<&PointerSet>) -> bool {
    set.is_some_and(PointerSet::contains_here)
}

/// What is around a property, as far as it decides who gives the value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Around {
    /// The document itself, or objects that are required all the way up.
    Document,
    /// An object that may be left out.
    Optional,
    /// An object that only the service gives.
    Computed,
}

struct Reader<'a> {
    schema: &'a TypeSchema,
    /// The nodes of the objects around the present place, to find recursion.
    path: Vec<NodeId>,
    /// How often the shape of an object depended on what is around it.
    repeats: usize,
    /// Objects that look the same wherever they are.
    known: HashMap<(NodeId, Around), Arc<Fields>>,
}

impl Reader<'_> {
    fn field(
        &mut self,
        attribute: String,
        property: &Name,
        id: NodeId,
        owner: &Node,
        sets: Sets<'_>,
        around: Around,
    ) -> Field {
        let sets = sets.property(property);
        let node = self.schema.node(id);
        let required = owner.requires(property);
        let usage = if around == Around::Computed || here(sets.read_only) {
            Use::Computed
        } else if required && around == Around::Document && node.default.is_none() {
            Use::Required
        } else {
            Use::OptionalComputed
        };
        let inside = match usage {
            Use::Computed => Around::Computed,
            Use::Required => Around::Document,
            Use::Optional | Use::OptionalComputed => Around::Optional,
        };
        let shape = self.shape(id, sets, inside, 0);
        let change = match (usage, here(sets.create_only)) {
            (_, false) | (Use::Computed, _) => Change::InPlace,
            (Use::Required, true) => Change::Replace,
            (_, true) => Change::ReplaceIfConfigured,
        };
        Field {
            plain: shape.nested().is_none() && shape.has_objects(),
            declared: shape.attribute(usage),
            attribute: attribute.into(),
            property: Some(property.clone()),
            shape,
            usage,
            change,
            write_only: here(sets.write_only),
            needed: required && usage == Use::OptionalComputed && node.default.is_none(),
            node: id,
        }
    }

    /// `dimensions` counts the lists and maps directly around.
    fn shape(&mut self, id: NodeId, sets: Sets<'_>, inside: Around, dimensions: usize) -> Shape {
        let schema = self.schema;
        let node = schema.node(id);
        match main_type(schema, node) {
            Main::Bool => Shape::Bool,
            Main::Integer => Shape::Integer,
            Main::Number => Shape::Number,
            Main::Text if node.format.as_deref() == Some("date-time") => Shape::Time,
            Main::Text => Shape::Text,
            Main::Json => Shape::Json,
            Main::Array => self.array(node, sets, inside, dimensions),
            Main::Map(value) => {
                // Nothing inside a map is required, as in the existing provider.
                let inside = if inside == Around::Computed { inside } else { Around::Optional };
                Shape::Map(Box::new(self.shape(value, sets.every(), inside, dimensions + 1)))
            }
            Main::Object => self.object(id, sets, inside),
        }
    }

    fn array(&mut self, node: &Node, sets: Sets<'_>, inside: Around, dimensions: usize) -> Shape {
        let Some(items) = node.items else { return Shape::Json };
        let element = Box::new(self.shape(items, sets.every(), inside, dimensions + 1));
        match (node.ordered, node.unique) {
            (false, true) if dimensions == 0 => Shape::Set(element),
            (true, _) => Shape::List(element, Order::Kept),
            // A set within a list is a list in the existing provider.
            (false, _) => Shape::List(element, Order::Ignored),
        }
    }

    fn object(&mut self, id: NodeId, sets: Sets<'_>, inside: Around) -> Shape {
        let schema = self.schema;
        if sets.are_empty()
            && let Some(known) = self.known.get(&(id, inside))
        {
            return Shape::Object(known.clone());
        }
        let above = self.path.iter().filter(|above| **above == id).count();
        let too_deep = self.path.len() >= DEEPEST;
        self.repeats += usize::from(above > 0 || too_deep);
        if too_deep || above >= RECURSION {
            return Shape::Json;
        }
        let repeats = self.repeats;
        self.path.push(id);
        let node = schema.node(id);
        let mut list = Vec::new();
        for (property, child) in &node.properties {
            list.push(self.field(snake_case(property), property, *child, node, sets, inside));
        }
        if list.is_empty() {
            for branch in &node.one_of {
                self.branch(schema.node(*branch), sets, inside, &mut list);
            }
        }
        self.path.pop();
        let fields = Arc::new(Fields::new(list, id));
        if self.repeats == repeats && above == 0 && sets.are_empty() {
            self.known.insert((id, inside), fields.clone());
        }
        Shape::Object(fields)
    }

    /// The properties of a `oneOf` branch: of the object that could be any of the branches nothing is required.
    fn branch(&mut self, branch: &Node, sets: Sets<'_>, inside: Around, list: &mut Vec<Field>) {
        let nothing_required = Node::default();
        let inside = if inside == Around::Computed { inside } else { Around::Optional };
        for (property, child) in &branch.properties {
            let attribute = snake_case(property);
            if list.iter().all(|field| *field.attribute != *attribute) {
                list.push(self.field(attribute, property, *child, &nothing_required, sets, inside));
            }
        }
    }
}

/// What a node mainly is.
enum Main {
    Bool,
    Integer,
    Number,
    Text,
    Json,
    Array,
    Map(NodeId),
    Object,
}

fn main_type(schema: &TypeSchema, node: &Node) -> Main {
    let objects = node.types.contains(JsonTypes::OBJECT);
    if objects && node.type_order.len() == 2 && node.types.contains(JsonTypes::STRING) {
        return Main::Json;
    }
    let named = node
        .type_order
        .iter()
        .find(|one| **one != JsonTypes::NULL && (**one != JsonTypes::OBJECT || node.type_order.len() == 1));
    match named.copied() {
        Some(JsonTypes::BOOLEAN) => Main::Bool,
        Some(JsonTypes::INTEGER) => Main::Integer,
        Some(JsonTypes::NUMBER) => Main::Number,
        Some(JsonTypes::STRING) => Main::Text,
        Some(JsonTypes::ARRAY) => Main::Array,
        _ => untyped(schema, node),
    }
}

fn untyped(schema: &TypeSchema, node: &Node) -> Main {
    let branches = || node.one_of.iter().map(|branch| schema.node(*branch));
    // A branch that takes any text is a document of the author's, whatever the other branches say.
    let document = branches().any(|branch| branch.types.contains(JsonTypes::OBJECT.union(JsonTypes::STRING)));
    let branches_with_properties = !document && branches().any(|branch| !branch.properties.is_empty());
    if !node.properties.is_empty() {
        Main::Object
    } else if let Some((_, value)) = node.patterns.first() {
        Main::Map(*value)
    } else if branches_with_properties {
        Main::Object
    } else if node.items.is_some() {
        Main::Array
    } else if node.type_order.is_empty() && is_plain_text(node) {
        Main::Text
    } else {
        Main::Json
    }
}

/// A node without a type that can only mean a string.
fn is_plain_text(node: &Node) -> bool {
    let described = node.pattern.is_some() || node.max_length.is_some() || node.min_length.is_some();
    let enumerated = !node.enumeration.is_empty() && node.enumeration.iter().all(serde_json::Value::is_string);
    let formatted = node.format.as_deref().is_some_and(|format| format != "json");
    enumerated || ((described || formatted) && node.format.as_deref() != Some("json"))
}
