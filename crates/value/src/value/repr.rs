//! Memory representation of values.

use crate::Name;
use crate::marks::Marks;
use crate::number::Number;
use crate::refinement::Refinement;
use crate::types::{ObjectType, Shape, Type};
use std::sync::{Arc, OnceLock};

/// A value: known, null or unknown, with a type and possibly marks. Cloning one never copies what is inside.
#[derive(Clone)]
pub struct Value(pub(crate) Repr);

#[derive(Clone)]
pub(crate) enum Repr {
    Null(Type),
    /// Unknown with a refinement or of a structured type.
    Unknown(Arc<Unknown>),
    /// Unknown of a simple type, without a refinement.
    Bare(Simple),
    Bool(bool),
    Number(Number),
    String(Name),
    List(Arc<Sequence>),
    Set(Arc<Sequence>),
    Tuple(Arc<TupleData>),
    Map(Arc<MapData>),
    Object(Arc<ObjectData>),
    /// Never directly inside another `Marked`, and never without a mark.
    Marked(Arc<Marked>),
}

const _: () = assert!(size_of::<Value>() <= 24, "values are moved a lot");

/// The types without parts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Simple {
    Bool,
    Number,
    String,
    Dynamic,
}

pub(crate) struct Unknown {
    pub ty: Type,
    pub refinement: Refinement,
}

/// Summary flags about all parts of an aggregate, computed when it is built.
#[derive(Clone, Copy)]
pub(crate) struct Flags {
    pub wholly_known: bool,
    pub has_marks: bool,
}

/// The elements of a list, or of a set in its order.
pub(crate) struct Sequence {
    pub element: Arc<Type>,
    pub values: Vec<Value>,
    pub flags: Flags,
}

pub(crate) struct TupleData {
    pub values: Vec<Value>,
    pub flags: Flags,
    pub ty: OnceLock<Arc<[Type]>>,
}

pub(crate) struct MapData {
    pub element: Arc<Type>,
    pub keys: Shape,
    pub values: Vec<Value>,
    pub flags: Flags,
}

pub(crate) struct ObjectData {
    pub shape: Arc<Shape>,
    /// The values, one for each name.
    pub values: Vec<Value>,
    pub flags: Flags,
    pub ty: OnceLock<Arc<ObjectType>>,
}

pub(crate) struct Marked {
    pub value: Value,
    pub marks: Marks,
}

impl Flags {
    pub fn of(values: &[Value]) -> Flags {
        values.iter().fold(Flags { wholly_known: true, has_marks: false }, |flags, value| Flags {
            wholly_known: flags.wholly_known && value.is_wholly_known(),
            has_marks: flags.has_marks || value.has_marks(),
        })
    }
}

impl Simple {
    pub fn ty(self) -> Type {
        match self {
            Simple::Bool => Type::Bool,
            Simple::Number => Type::Number,
            Simple::String => Type::String,
            Simple::Dynamic => Type::Dynamic,
        }
    }

    pub fn of(ty: &Type) -> Option<Simple> {
        match ty {
            Type::Bool => Some(Simple::Bool),
            Type::Number => Some(Simple::Number),
            Type::String => Some(Simple::String),
            Type::Dynamic => Some(Simple::Dynamic),
            _ => None,
        }
    }
}

impl ObjectData {
    /// The type, found on the first question and remembered.
    pub fn ty(&self) -> &Arc<ObjectType> {
        self.ty.get_or_init(|| {
            Arc::new(ObjectType::of_shape(self.shape.clone(), self.values.iter().map(Value::ty).collect()))
        })
    }
}

impl TupleData {
    /// The type, found on the first question and remembered.
    pub fn ty(&self) -> &Arc<[Type]> {
        self.ty.get_or_init(|| self.values.iter().map(Value::ty).collect())
    }
}

impl Value {
    /// The value without its own marks.
    pub(crate) fn bare(&self) -> &Value {
        match &self.0 {
            Repr::Marked(marked) => &marked.value,
            _ => self,
        }
    }

    /// The type of the value; for unknown and null values, the type that they are of.
    pub fn ty(&self) -> Type {
        match &self.0 {
            Repr::Null(ty) => ty.clone(),
            Repr::Unknown(unknown) => unknown.ty.clone(),
            Repr::Bare(simple) => simple.ty(),
            Repr::Bool(_) => Type::Bool,
            Repr::Number(_) => Type::Number,
            Repr::String(_) => Type::String,
            Repr::List(list) => Type::List(list.element.clone()),
            Repr::Set(set) => Type::Set(set.element.clone()),
            Repr::Tuple(tuple) => Type::Tuple(tuple.ty().clone()),
            Repr::Map(map) => Type::Map(map.element.clone()),
            Repr::Object(object) => Type::Object(object.ty().clone()),
            Repr::Marked(marked) => marked.value.ty(),
        }
    }

    /// Whether the value has exactly this type; cheaper than comparing with [`Value::ty`].
    pub fn has_type(&self, ty: &Type) -> bool {
        match (&self.0, ty) {
            (Repr::Marked(marked), _) => marked.value.has_type(ty),
            (Repr::Null(own), _) => own == ty,
            (Repr::Unknown(unknown), _) => unknown.ty == *ty,
            (Repr::Bare(simple), _) => Simple::of(ty) == Some(*simple),
            (Repr::Bool(_), Type::Bool) | (Repr::Number(_), Type::Number) | (Repr::String(_), Type::String) => true,
            (Repr::List(own), Type::List(element)) | (Repr::Set(own), Type::Set(element)) => own.element == *element,
            (Repr::Map(own), Type::Map(element)) => own.element == *element,
            (Repr::Tuple(own), Type::Tuple(elements)) => {
                own.values.len() == elements.len()
                    && own.values.iter().zip(elements.iter()).all(|(value, ty)| value.has_type(ty))
            }
            (Repr::Object(own), Type::Object(object)) => own.has_type(object),
            _ => false,
        }
    }

    /// Whether the value is null. A null of an unknown's future is not.
    pub fn is_null(&self) -> bool {
        matches!(self.bare().0, Repr::Null(_))
    }

    /// Whether the value itself is known; parts of it may still be unknown.
    pub fn is_known(&self) -> bool {
        !matches!(self.bare().0, Repr::Unknown(_) | Repr::Bare(_))
    }

    /// Whether the value and everything inside it is known.
    pub fn is_wholly_known(&self) -> bool {
        match &self.0 {
            Repr::Null(_) | Repr::Bool(_) | Repr::Number(_) | Repr::String(_) => true,
            Repr::Unknown(_) | Repr::Bare(_) => false,
            Repr::Marked(marked) => marked.value.is_wholly_known(),
            _ => self.flags().wholly_known,
        }
    }

    /// Whether the value or anything inside it is marked.
    pub fn has_marks(&self) -> bool {
        match &self.0 {
            Repr::Marked(_) => true,
            _ => self.flags().has_marks,
        }
    }

    /// Whether the value itself is marked.
    pub fn is_marked(&self) -> bool {
        matches!(self.0, Repr::Marked(_))
    }

    fn flags(&self) -> Flags {
        match &self.0 {
            Repr::List(sequence) | Repr::Set(sequence) => sequence.flags,
            Repr::Tuple(tuple) => tuple.flags,
            Repr::Map(map) => map.flags,
            Repr::Object(object) => object.flags,
            _ => Flags { wholly_known: true, has_marks: false },
        }
    }
}

impl ObjectData {
    fn has_type(&self, ty: &Arc<ObjectType>) -> bool {
        if let Some(own) = self.ty.get() {
            return Arc::ptr_eq(own, ty) || own == ty;
        }
        self.shape == *ty.shape()
            && ty.optional().next().is_none()
            && self.values.iter().zip(ty.types()).all(|(value, ty)| value.has_type(ty))
    }
}
