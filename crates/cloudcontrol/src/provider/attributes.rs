//! The attributes that the schema of a resource type comes to.

use std::collections::HashMap;
use std::sync::Arc;

use groma_provider::Use;

use super::defaults::default_value;
use super::fields::{Change, Field, Fields, Order, Shape};
use super::node_type::{Main, main_type};
use super::secrets::is_secret;
use crate::Name;
use crate::names::{self, META_ARGUMENTS, snake_case};
use crate::schema::{ElementOrder, Node, NodeId, PointerSet, TypeSchema};

/// A definition that contains itself is followed this often; below that it is a JSON string (CC-13).
const RECURSION: usize = 3;
/// Objects nested deeper than this are JSON strings.
const DEEPEST: usize = 24;

/// Reads the attributes of a type's documents, `id` included, and those that `further` adds.
pub fn of_type(schema: &TypeSchema, further: impl Fn(&TypeSchema, &[Field]) -> Vec<Field>) -> Result<Fields, String> {
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
    // Fields::new keeps one attribute of each name, so a smaller number shows a duplicate.
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

    fn element(self) -> Self {
        self.step(PointerSet::element)
    }

    fn entry(self) -> Self {
        self.step(PointerSet::entry)
    }
}

fn here(set: Option<&PointerSet>) -> bool {
    set.is_some_and(PointerSet::contains_here)
}

/// The enclosing property, as far as it decides who sets the value.
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
    /// The enclosing objects, to find recursion.
    path: Vec<ObjectKey>,
    /// Number of times that the shape of an object depended on its enclosing property.
    repeats: usize,
    /// Objects that look the same wherever they are.
    known: HashMap<(ObjectKey, Around), Arc<Fields>>,
}

/// The identity of an object schema, which does not depend on the descriptions beside references to it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum ObjectKey {
    Definition(u32),
    Node(NodeId),
}

impl ObjectKey {
    /// Returns the key by which recursion is found: also a reference that adds rules leads to its definition.
    fn of_recursion(schema: &TypeSchema, id: NodeId) -> Self {
        schema.node(id).definition.map_or(Self::Node(id), |definition| Self::Definition(definition.number))
    }

    /// Returns the key of objects with the same attributes.
    fn of_attributes(schema: &TypeSchema, id: NodeId) -> Self {
        let definition = schema.node(id).definition.filter(|definition| !definition.is_extended);
        definition.map_or(Self::Node(id), |definition| Self::Definition(definition.number))
    }
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
            // A value that the configuration leaves out is the choice of the service, which replaces nothing.
            (_, true) => Change::ReplaceIfConfigured,
        };
        let default = node.default.as_ref().filter(|_| usage == Use::OptionalComputed);
        let alternatives = default.map_or_else(Vec::new, |_| owner.alternatives(self.schema, property));
        let field = Field {
            property: Some(property.clone()),
            change,
            write_only: here(sets.write_only),
            default: default.and_then(|json| default_value(&shape, json)),
            alternatives: alternatives.into_iter().map(<[Name]>::to_vec).collect(),
            needed: required && usage == Use::OptionalComputed && node.default.is_none(),
            node: id,
            ..Field::of(attribute, shape, usage)
        };
        let field = field.described(node.description.as_ref());
        if field.write_only && is_secret(self.schema, node) { field.secret() } else { field }
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
                Shape::Map(Box::new(self.shape(value, sets.entry(), inside, dimensions + 1)))
            }
            Main::Object => self.object(id, sets, inside),
        }
    }

    fn array(&mut self, node: &Node, sets: Sets<'_>, inside: Around, dimensions: usize) -> Shape {
        let Some(items) = node.items else { return Shape::Json };
        let element = Box::new(self.shape(items, sets.element(), inside, dimensions + 1));
        match (node.order, node.unique) {
            (ElementOrder::Insignificant, true) if dimensions == 0 => Shape::Set(element),
            (ElementOrder::Significant, _) => Shape::List(element, Order::Kept),
            (ElementOrder::Unstated, _) => Shape::List(element, Order::Unstated),
            // A set within a list is a list in the existing provider.
            (ElementOrder::Insignificant, _) => Shape::List(element, Order::Ignored),
        }
    }

    fn object(&mut self, id: NodeId, sets: Sets<'_>, inside: Around) -> Shape {
        let schema = self.schema;
        let same_attributes = (ObjectKey::of_attributes(schema, id), inside);
        // An object without pointers below it has the same attributes at every path.
        if sets.are_empty()
            && let Some(known) = self.known.get(&same_attributes)
        {
            return Shape::Object(known.clone());
        }
        let key = ObjectKey::of_recursion(schema, id);
        let above = self.path.iter().filter(|above| **above == key).count();
        let too_deep = self.path.len() >= DEEPEST;
        self.repeats += usize::from(above > 0 || too_deep);
        if too_deep || above >= RECURSION {
            return Shape::Json;
        }
        let repeats = self.repeats;
        self.path.push(key);
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
        // Attributes that recursion has cut off depend on the depth, so they are not reused.
        if self.repeats == repeats && above == 0 && sets.are_empty() {
            self.known.insert(same_attributes, fields.clone());
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
