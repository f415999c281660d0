//! Constructors of values.

use super::repr::{Flags, MapData, ObjectData, Repr, Sequence, Simple, TupleData, Unknown, Value};
use crate::Name;
use crate::number::Number;
use crate::refinement::Refinement;
use crate::text;
use crate::types::{ObjectType, Shape, Type};
use std::sync::{Arc, OnceLock};

/// The null whose type is not known.
impl Default for Value {
    fn default() -> Self {
        Self::NULL
    }
}

impl Value {
    /// The value about which nothing is known, not even its type.
    pub const DYNAMIC: Value = Value(Repr::Bare(Simple::Dynamic));
    /// The boolean value true.
    pub const TRUE: Value = Value(Repr::Bool(true));
    /// The boolean value false.
    pub const FALSE: Value = Value(Repr::Bool(false));
    /// The null whose type is not known.
    pub const NULL: Value = Value(Repr::Null(Type::Dynamic));

    /// The null of a type.
    pub fn null(ty: Type) -> Value {
        Value(Repr::Null(ty))
    }

    /// An unknown value of a type.
    pub fn unknown(ty: Type) -> Value {
        match Simple::of(&ty) {
            Some(simple) => Value(Repr::Bare(simple)),
            None => Value(Repr::Unknown(Arc::new(Unknown { ty, refinement: Refinement::NONE }))),
        }
    }

    /// Creates a boolean value.
    pub fn bool(value: bool) -> Value {
        Value(Repr::Bool(value))
    }

    /// Creates a number value.
    pub fn number(value: impl Into<Number>) -> Value {
        Value(Repr::Number(value.into()))
    }

    /// A string, brought to normal form C.
    pub fn string(value: impl AsRef<str>) -> Value {
        Value(Repr::String(Name::from(text::normalized(value.as_ref()).as_ref())))
    }

    /// A list. Its elements must be of the element type; nulls and unknowns of no type of their own take it over.
    pub fn list(element: Type, values: Vec<Value>) -> Value {
        Value::list_of(element.shared(), values)
    }

    /// As [`Value::list`], with a shared element type.
    pub fn list_of(element: Arc<Type>, values: Vec<Value>) -> Value {
        let element = found_type(element, &values);
        let values = settled(&element, values);
        let flags = Flags::of(&values);
        Value(Repr::List(Arc::new(Sequence { element, values, flags })))
    }

    /// A map; the last of equal keys counts. Its elements must be of the element type, as with [`Value::list`].
    pub fn map<N: Into<Name>>(element: Type, entries: impl IntoIterator<Item = (N, Value)>) -> Value {
        Value::map_of(element.shared(), entries)
    }

    /// As [`Value::map`], with a shared element type.
    pub fn map_of<N: Into<Name>>(element: Arc<Type>, entries: impl IntoIterator<Item = (N, Value)>) -> Value {
        let (keys, values) = Shape::sorted(entries.into_iter().map(|(key, value)| (normalized(key.into()), value)));
        Value::map_shaped(element, keys, values)
    }

    /// A map of sorted keys and their values.
    pub(crate) fn map_shaped(element: Arc<Type>, keys: Shape, values: Vec<Value>) -> Value {
        let element = found_type(element, &values);
        let values = settled(&element, values);
        let flags = Flags::of(&values);
        Value(Repr::Map(Arc::new(MapData { element, keys, values, flags })))
    }

    /// An object; the last of equal names counts.
    pub fn object<N: Into<Name>>(attributes: impl IntoIterator<Item = (N, Value)>) -> Value {
        let (shape, values) =
            Shape::sorted(attributes.into_iter().map(|(name, value)| (normalized(name.into()), value)));
        Value::object_shaped(&Arc::new(shape), values)
    }

    /// An object of names that it shares with others, the fast way to make many of one schema.
    /// There must be one value a name, in the order of the names; missing ones are null.
    pub fn object_shaped(shape: &Arc<Shape>, mut values: Vec<Value>) -> Value {
        values.resize(shape.len(), Value::NULL);
        let flags = Flags::of(&values);
        Value(Repr::Object(Arc::new(ObjectData { shape: shape.clone(), values, flags, ty: OnceLock::new() })))
    }

    /// As [`Value::object_shaped`], for an object that usually has this very type and then shares it.
    pub fn object_typed(ty: &Arc<ObjectType>, mut values: Vec<Value>) -> Value {
        values.resize(ty.len(), Value::NULL);
        let flags = Flags::of(&values);
        let known = OnceLock::new();
        if ty.optional().next().is_none() && values.iter().zip(ty.types()).all(|(value, ty)| value.has_type(ty)) {
            let _ = known.set(ty.clone());
        }
        Value(Repr::Object(Arc::new(ObjectData { shape: ty.shape().clone(), values, flags, ty: known })))
    }

    /// Creates a tuple value.
    pub fn tuple(values: Vec<Value>) -> Value {
        let flags = Flags::of(&values);
        Value(Repr::Tuple(Arc::new(TupleData { values, flags, ty: OnceLock::new() })))
    }

    /// The set of these elements in their order, which are distinct, unmarked and of the element type.
    pub(crate) fn set_ordered(element: Arc<Type>, values: Vec<Value>) -> Value {
        let flags = Flags::of(&values);
        Value(Repr::Set(Arc::new(Sequence { element, values, flags })))
    }

    /// This value with the type if it has none of its own: an untyped null or unknown.
    pub(crate) fn settled(self, ty: &Type) -> Value {
        match &self.0 {
            _ if *ty == Type::Dynamic => self,
            Repr::Null(Type::Dynamic) => Value::null(ty.clone()),
            Repr::Bare(Simple::Dynamic) => Value::unknown(ty.clone()),
            Repr::Marked(marked) if marked.value.lacks_type() => {
                marked.value.clone().settled(ty).with_marks(&marked.marks)
            }
            _ => self,
        }
    }

    fn lacks_type(&self) -> bool {
        matches!(self.0, Repr::Null(Type::Dynamic) | Repr::Bare(Simple::Dynamic))
    }
}

/// The element type of a collection: the one that is wanted, or, where any would do, the one that all values have.
pub(crate) fn found_type(wanted: Arc<Type>, values: &[Value]) -> Arc<Type> {
    if *wanted != Type::Dynamic {
        return wanted;
    }
    let mut typed = values.iter().filter(|value| !value.bare().lacks_type());
    match typed.next().map(Value::ty) {
        Some(found) if typed.all(|value| value.has_type(&found)) => found.shared(),
        _ => wanted,
    }
}

/// Gives the elements without a type of their own the element type.
pub(crate) fn settled(element: &Type, mut values: Vec<Value>) -> Vec<Value> {
    if *element != Type::Dynamic {
        for value in &mut values {
            if value.bare().lacks_type() {
                *value = std::mem::replace(value, Value::NULL).settled(element);
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
