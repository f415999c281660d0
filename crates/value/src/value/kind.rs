//! Looking at what a value is.

use super::repr::{MapData, ObjectData, Repr, Value};
use crate::Name;
use crate::number::Number;
use crate::refinement::Refinement;
use crate::types::{Shape, Type};
use std::sync::Arc;

/// The content of a value without its marks.
#[derive(Clone, Copy)]
pub enum Kind<'a> {
    /// The null of its type.
    Null,
    /// Not known yet, with what is promised about it.
    Unknown(&'a Refinement),
    /// A boolean value.
    Bool(bool),
    /// A number value.
    Number(&'a Number),
    /// A string value.
    String(&'a Name),
    /// The elements of a list.
    List(&'a [Value]),
    /// The elements of a set, in its order.
    Set(&'a [Value]),
    /// The elements of a tuple.
    Tuple(&'a [Value]),
    /// The elements of a map.
    Map(MapView<'a>),
    /// The attributes of an object.
    Object(ObjectView<'a>),
}

/// The elements of a map, sorted by key.
#[derive(Clone, Copy)]
pub struct MapView<'a>(&'a MapData);

/// The attributes of an object, sorted by name.
#[derive(Clone, Copy)]
pub struct ObjectView<'a>(&'a ObjectData);

impl Value {
    /// Returns the content of the value without its marks.
    pub fn kind(&self) -> Kind<'_> {
        match &self.0 {
            Repr::Null(_) => Kind::Null,
            Repr::Unknown(unknown) => Kind::Unknown(&unknown.refinement),
            Repr::Bare(_) => Kind::Unknown(&Refinement::NONE),
            Repr::Bool(value) => Kind::Bool(*value),
            Repr::Number(number) => Kind::Number(number),
            Repr::String(text) => Kind::String(text),
            Repr::List(list) => Kind::List(&list.values),
            Repr::Set(set) => Kind::Set(&set.values),
            Repr::Tuple(tuple) => Kind::Tuple(&tuple.values),
            Repr::Map(map) => Kind::Map(MapView(map)),
            Repr::Object(object) => Kind::Object(ObjectView(object)),
            Repr::Marked(marked) => marked.value.kind(),
        }
    }

    /// The truth value, if it is a known one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind() {
            Kind::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number, if it is a known one.
    pub fn as_number(&self) -> Option<&Number> {
        match self.kind() {
            Kind::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The text, if it is a known string.
    pub fn as_str(&self) -> Option<&str> {
        self.as_name().map(|name| &**name)
    }

    /// The text, if it is a known string, to share.
    pub fn as_name(&self) -> Option<&Name> {
        match self.kind() {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of a known list, set or tuple.
    pub fn as_slice(&self) -> Option<&[Value]> {
        match self.kind() {
            Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => Some(values),
            _ => None,
        }
    }

    /// The attributes of a known object.
    pub fn as_object(&self) -> Option<ObjectView<'_>> {
        match self.kind() {
            Kind::Object(view) => Some(view),
            _ => None,
        }
    }

    /// The elements of a known map.
    pub fn as_map(&self) -> Option<MapView<'_>> {
        match self.kind() {
            Kind::Map(view) => Some(view),
            _ => None,
        }
    }
}

impl<'a> MapView<'a> {
    /// The element of a key.
    pub fn get(&self, key: &str) -> Option<&'a Value> {
        self.0.keys.position(key).and_then(|at| self.0.values.get(at))
    }

    /// The elements, sorted by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'a Name, &'a Value)> + use<'a> {
        self.0.keys.names().iter().zip(self.0.values.iter())
    }

    /// Returns the keys in ascending order.
    pub fn keys(&self) -> &'a [Name] {
        self.0.keys.names()
    }

    /// The elements, in the order of their keys.
    pub fn values(&self) -> &'a [Value] {
        &self.0.values
    }

    /// The type of the elements.
    pub fn element_type(&self) -> &'a Arc<Type> {
        &self.0.element
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.0.values.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.0.values.is_empty()
    }
}

impl<'a> ObjectView<'a> {
    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.shape.position(name).and_then(|at| self.0.values.get(at))
    }

    /// The attributes, sorted by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'a Name, &'a Value)> + use<'a> {
        self.0.shape.names().iter().zip(self.0.values.iter())
    }

    /// The names, to share with other objects.
    pub fn shape(&self) -> &'a Arc<Shape> {
        &self.0.shape
    }

    /// The values, in the order of the names.
    pub fn values(&self) -> &'a [Value] {
        &self.0.values
    }

    /// The number of attributes.
    pub fn len(&self) -> usize {
        self.0.values.len()
    }

    /// Whether there is no attribute.
    pub fn is_empty(&self) -> bool {
        self.0.values.is_empty()
    }
}
