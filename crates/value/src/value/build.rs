//! Constructors of values of each type.

use super::repr::{Flags, MapData, ObjectData, Repr, Sequence, Simple, TupleData, Unknown, Value};
use crate::Name;
use crate::number::Number;
use crate::refinement::Refinement;
use crate::text;
use crate::types::{ObjectType, Shape, Type};
use std::sync::{Arc, OnceLock};

/// The null of unknown type, as literal `null` has before conversion.
impl Default for Value {
    fn default() -> Self {
        Self::NULL
    }
}

impl Value {
    /// The unknown value of unknown type.
    pub const DYNAMIC: Value = Value(Repr::Bare(Simple::Dynamic));
    /// The boolean `true`, unmarked.
    pub const TRUE: Value = Value(Repr::Bool(true));
    /// The boolean `false`, unmarked.
    pub const FALSE: Value = Value(Repr::Bool(false));
    /// The null of unknown type, as literal `null` has before conversion.
    pub const NULL: Value = Value(Repr::Null(Type::Dynamic));

    /// Creates a null of a type.
    pub fn null(ty: Type) -> Value {
        Value(Repr::Null(ty))
    }

    /// Creates an unknown value of a type, without refinements.
    pub fn unknown(ty: Type) -> Value {
        match Simple::of(&ty) {
            Some(simple) => Value(Repr::Bare(simple)),
            None => Value(Repr::Unknown(Arc::new(Unknown { ty, refinement: Refinement::NONE }))),
        }
    }

    /// Creates a known boolean.
    pub fn bool(value: bool) -> Value {
        Value(Repr::Bool(value))
    }

    /// Creates a known number.
    pub fn number(value: impl Into<Number>) -> Value {
        Value(Repr::Number(value.into()))
    }

    /// Creates a string, normalized to form C.
    pub fn string(value: impl AsRef<str>) -> Value {
        Value(Repr::String(Name::from(text::normalized(value.as_ref()).as_ref())))
    }

    /// Creates a list. Elements must have the element type; untyped nulls and unknowns take it on.
    pub fn list(element: Type, values: Vec<Value>) -> Value {
        Value::list_of(element.shared(), values)
    }

    /// Creates a list like [`Value::list`], with a shared element type.
    pub fn list_of(element: Arc<Type>, values: Vec<Value>) -> Value {
        let element = element_type_of(element, &values);
        let values = typed_elements(&element, values);
        let flags = Flags::of(&values);
        Value(Repr::List(Arc::new(Sequence { element, values, flags })))
    }

    /// Creates a map; the last of duplicate keys wins. Elements must have the element type, as with [`Value::list`].
    pub fn map<N: Into<Name>>(element: Type, entries: impl IntoIterator<Item = (N, Value)>) -> Value {
        Value::map_of(element.shared(), entries)
    }

    /// Creates a map like [`Value::map`], with a shared element type.
    pub fn map_of<N: Into<Name>>(element: Arc<Type>, entries: impl IntoIterator<Item = (N, Value)>) -> Value {
        let (keys, values) = Shape::sorted(entries.into_iter().map(|(key, value)| (normalized(key.into()), value)));
        Value::map_shaped(element, keys, values)
    }

    /// Creates a map from sorted keys and the elements in their order.
    pub(crate) fn map_shaped(element: Arc<Type>, keys: Shape, values: Vec<Value>) -> Value {
        let element = element_type_of(element, &values);
        let values = typed_elements(&element, values);
        let flags = Flags::of(&values);
        Value(Repr::Map(Arc::new(MapData { element, keys, values, flags })))
    }

    /// Creates an object; the last of duplicate names wins.
    pub fn object<N: Into<Name>>(attributes: impl IntoIterator<Item = (N, Value)>) -> Value {
        let (shape, values) =
            Shape::sorted(attributes.into_iter().map(|(name, value)| (normalized(name.into()), value)));
        Value::object_shaped(&Arc::new(shape), values)
    }

    /// Creates an object from a shared shape, the fastest way to create many objects of one schema. `values` has one
    /// value per name, in the order of the shape; missing ones are null.
    pub fn object_shaped(shape: &Arc<Shape>, mut values: Vec<Value>) -> Value {
        values.resize(shape.len(), Value::NULL);
        let flags = Flags::of(&values);
        Value(Repr::Object(Arc::new(ObjectData { shape: shape.clone(), values, flags, ty: OnceLock::new() })))
    }

    /// Creates an object like [`Value::object_shaped`] that shares `ty` as its type if the values have exactly that
    /// type.
    pub fn object_typed(ty: &Arc<ObjectType>, mut values: Vec<Value>) -> Value {
        values.resize(ty.len(), Value::NULL);
        let flags = Flags::of(&values);
        // With unknown or dynamic parts the actual type can differ from `ty`; it is then computed on demand.
        let known = OnceLock::new();
        if ty.optional().next().is_none() && values.iter().zip(ty.types()).all(|(value, ty)| value.has_type(ty)) {
            // The cell is new, so it is empty and `set` cannot fail.
            let _ = known.set(ty.clone());
        }
        Value(Repr::Object(Arc::new(ObjectData { shape: ty.shape().clone(), values, flags, ty: known })))
    }

    /// Creates a tuple, whose type is that of its elements.
    pub fn tuple(values: Vec<Value>) -> Value {
        let flags = Flags::of(&values);
        Value(Repr::Tuple(Arc::new(TupleData { values, flags, ty: OnceLock::new() })))
    }

    /// Creates a set from elements that are already ordered, distinct, unmarked and of the element type.
    pub(crate) fn set_ordered(element: Arc<Type>, values: Vec<Value>) -> Value {
        let flags = Flags::of(&values);
        Value(Repr::Set(Arc::new(Sequence { element, values, flags })))
    }

    /// Gives an untyped null or unknown the type `ty`, and returns other values as they are.
    pub(crate) fn with_type_if_untyped(self, ty: &Type) -> Value {
        match &self.0 {
            _ if *ty == Type::Dynamic => self,
            Repr::Null(Type::Dynamic) => Value::null(ty.clone()),
            Repr::Bare(Simple::Dynamic) => Value::unknown(ty.clone()),
            Repr::Marked(marked) if marked.value.lacks_type() => {
                marked.value.clone().with_type_if_untyped(ty).with_marks(&marked.marks)
            }
            _ => self,
        }
    }

    fn lacks_type(&self) -> bool {
        matches!(self.0, Repr::Null(Type::Dynamic) | Repr::Bare(Simple::Dynamic))
    }
}

/// Returns the element type of a new collection: `wanted`, or if that is dynamic, the common type of the values.
pub(crate) fn element_type_of(wanted: Arc<Type>, values: &[Value]) -> Arc<Type> {
    if *wanted != Type::Dynamic {
        return wanted;
    }
    let mut typed = values.iter().filter(|value| !value.bare().lacks_type());
    match typed.next().map(Value::ty) {
        Some(found) if typed.all(|value| value.has_type(&found)) => found.shared(),
        _ => wanted,
    }
}

/// Gives untyped nulls and unknowns among the elements the element type.
pub(crate) fn typed_elements(element: &Type, mut values: Vec<Value>) -> Vec<Value> {
    if *element != Type::Dynamic {
        for value in &mut values {
            if value.bare().lacks_type() {
                *value = std::mem::replace(value, Value::NULL).with_type_if_untyped(element);
            }
        }
    }
    debug_assert!(
        values.iter().all(|value| *element == Type::Dynamic || value.has_type(element)),
        "elements must be of the element type {element}"
    );
    values
}

fn normalized(name: Name) -> Name {
    // ASCII text is always in form C, and nearly all names are ASCII.
    if name.is_ascii() { name } else { Name::from(text::normalized(&name).as_ref()) }
}

impl From<Name> for Value {
    fn from(text: Name) -> Value {
        Value(Repr::String(normalized(text)))
    }
}

impl From<&Name> for Value {
    fn from(text: &Name) -> Value {
        Value::from(text.clone())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::string(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::string(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::bool(value)
    }
}

impl From<Number> for Value {
    fn from(value: Number) -> Value {
        Value(Repr::Number(value))
    }
}
