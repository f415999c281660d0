//! The type system: primitives, collections, structural types and the dynamic placeholder.

mod display;
mod shape;

pub use shape::Shape;

use crate::Name;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

/// The maximum nesting of types and values that decoders accept. It protects the stack from malicious input.
pub const MAX_DEPTH: usize = 512;

/// The type of a value, or a type constraint in which [`Type::Dynamic`] means "any type".
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// The type of `true` and `false`.
    Bool,
    /// The type of numbers, integer or fractional, of any size.
    Number,
    /// The type of Unicode strings in normalization form C.
    String,
    /// The type of a value whose type is not known yet; in a constraint, any type.
    Dynamic,
    /// The type of ordered sequences of elements of one type.
    List(Arc<Type>),
    /// The type of unordered collections of distinct elements of one type.
    Set(Arc<Type>),
    /// The type of collections of elements of one type by string key.
    Map(Arc<Type>),
    /// The type of values with named attributes of individual types.
    Object(Arc<ObjectType>),
    /// The type of sequences of fixed length with individual element types.
    Tuple(Arc<[Type]>),
}

/// The attributes of an object type, sorted by name, some of them possibly optional.
#[derive(Clone, Debug)]
pub struct ObjectType {
    shape: Arc<Shape>,
    types: Box<[Type]>,
    optional: BTreeSet<Name>,
}

impl Type {
    /// Returns the type `list(element)`.
    pub fn list(element: Type) -> Type {
        Type::List(element.shared())
    }

    /// Returns the type `set(element)`.
    pub fn set(element: Type) -> Type {
        Type::Set(element.shared())
    }

    /// Returns the type `map(element)`.
    pub fn map(element: Type) -> Type {
        Type::Map(element.shared())
    }

    /// Returns the type `object({...})`, without optional attributes.
    pub fn object<N: Into<Name>>(attributes: impl IntoIterator<Item = (N, Type)>) -> Type {
        Type::Object(Arc::new(ObjectType::new(attributes)))
    }

    /// Returns the type `tuple([...])`.
    pub fn tuple(elements: impl IntoIterator<Item = Type>) -> Type {
        Type::Tuple(elements.into_iter().collect())
    }

    /// Whether every value of this type is a value of `want` without conversion; a dynamic part of `want` accepts anything.
    pub fn conforms_to(&self, want: &Type) -> bool {
        let all = |given: &[Type], want: &[Type]| given.iter().zip(want).all(|(given, want)| given.conforms_to(want));
        match (self, want) {
            (_, Type::Dynamic) => true,
            (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) | (Type::Map(a), Type::Map(b)) => {
                Arc::ptr_eq(a, b) || a.conforms_to(b)
            }
            (Type::Tuple(a), Type::Tuple(b)) => a.len() == b.len() && all(a, b),
            (Type::Object(a), Type::Object(b)) => {
                Arc::ptr_eq(a, b) || (a.shape() == b.shape() && all(a.types(), b.types()))
            }
            _ => self == want,
        }
    }

    /// Moves the type behind a shared pointer. Primitive types and the dynamic type share static pointers.
    pub fn shared(self) -> Arc<Type> {
        static SIMPLE: LazyLock<[Arc<Type>; 4]> = LazyLock::new(|| {
            [Arc::new(Type::Bool), Arc::new(Type::Number), Arc::new(Type::String), Arc::new(Type::Dynamic)]
        });
        match self {
            Type::Bool => SIMPLE[0].clone(),
            Type::Number => SIMPLE[1].clone(),
            Type::String => SIMPLE[2].clone(),
            Type::Dynamic => SIMPLE[3].clone(),
            other => Arc::new(other),
        }
    }

    /// Whether this is `bool`, `number` or `string`.
    pub fn is_primitive(&self) -> bool {
        matches!(self, Type::Bool | Type::Number | Type::String)
    }

    /// Whether this is a list, set or map type.
    pub fn is_collection(&self) -> bool {
        matches!(self, Type::List(_) | Type::Set(_) | Type::Map(_))
    }

    /// The element type of a list, set or map type.
    pub fn element(&self) -> Option<&Type> {
        match self {
            Type::List(element) | Type::Set(element) | Type::Map(element) => Some(element),
            _ => None,
        }
    }

    /// The object type, if this is one.
    pub fn as_object(&self) -> Option<&Arc<ObjectType>> {
        match self {
            Type::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The element types of a tuple type.
    pub fn as_tuple(&self) -> Option<&[Type]> {
        match self {
            Type::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    /// Whether [`Type::Dynamic`] occurs anywhere in the type.
    pub fn has_dynamic(&self) -> bool {
        match self {
            Type::Dynamic => true,
            Type::Bool | Type::Number | Type::String => false,
            Type::List(element) | Type::Set(element) | Type::Map(element) => element.has_dynamic(),
            Type::Object(object) => object.types.iter().any(Type::has_dynamic),
            Type::Tuple(elements) => elements.iter().any(Type::has_dynamic),
        }
    }

    /// Whether an object type with optional attributes occurs anywhere in the type.
    pub fn has_optional_attributes(&self) -> bool {
        match self {
            Type::Bool | Type::Number | Type::String | Type::Dynamic => false,
            Type::List(element) | Type::Set(element) | Type::Map(element) => element.has_optional_attributes(),
            Type::Object(object) => {
                !object.optional.is_empty() || object.types.iter().any(Type::has_optional_attributes)
            }
            Type::Tuple(elements) => elements.iter().any(Type::has_optional_attributes),
        }
    }

    /// Returns the type with every optional attribute made a required one.
    pub fn without_optional_attributes(&self) -> Type {
        if !self.has_optional_attributes() {
            return self.clone();
        }
        match self {
            Type::List(element) => Type::list(element.without_optional_attributes()),
            Type::Set(element) => Type::set(element.without_optional_attributes()),
            Type::Map(element) => Type::map(element.without_optional_attributes()),
            Type::Object(object) => Type::Object(Arc::new(ObjectType {
                shape: object.shape.clone(),
                types: object.types.iter().map(Type::without_optional_attributes).collect(),
                optional: BTreeSet::new(),
            })),
            Type::Tuple(elements) => Type::tuple(elements.iter().map(Type::without_optional_attributes)),
            simple => simple.clone(),
        }
    }
}

impl ObjectType {
    /// Creates an object type without optional attributes. The last of duplicate names wins.
    pub fn new<N: Into<Name>>(attributes: impl IntoIterator<Item = (N, Type)>) -> Self {
        let (shape, types) = Shape::sorted(attributes);
        ObjectType { shape: Arc::new(shape), types: types.into(), optional: BTreeSet::new() }
    }

    /// Creates an object type from a shape that it shares with other types and values, and one type per name in the
    /// order of the shape. Missing types are dynamic.
    pub fn of_shape(shape: Arc<Shape>, mut types: Vec<Type>) -> Self {
        types.resize(shape.len(), Type::Dynamic);
        ObjectType { shape, types: types.into(), optional: BTreeSet::new() }
    }

    /// Returns the type with these attributes optional; unknown names are ignored.
    #[must_use]
    pub fn with_optional<N: Into<Name>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        let shape = &self.shape;
        self.optional =
            names.into_iter().map(Into::into).filter(|name: &Name| shape.position(name).is_some()).collect();
        self
    }

    /// The type of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&Type> {
        self.shape.position(name).and_then(|at| self.types.get(at))
    }

    /// Whether the attribute may be missing in a value that is converted to this type.
    pub fn is_optional(&self, name: &str) -> bool {
        self.optional.contains(name)
    }

    /// The names of the optional attributes.
    pub fn optional(&self) -> impl Iterator<Item = &Name> {
        self.optional.iter()
    }

    /// The attributes, sorted by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Name, &Type)> {
        self.shape.names().iter().zip(self.types.iter())
    }

    /// The attribute types, in the order of the names.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// The attribute names, shareable with values and other types.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// The number of attributes.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether there is no attribute.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }
}

mod compare {
    use super::ObjectType;
    use std::cmp::Ordering;
    use std::hash::{Hash, Hasher};

    impl PartialEq for ObjectType {
        fn eq(&self, other: &Self) -> bool {
            std::ptr::eq(self, other)
                || (self.shape == other.shape && self.types == other.types && self.optional == other.optional)
        }
    }

    impl Eq for ObjectType {}

    impl Hash for ObjectType {
        fn hash<H: Hasher>(&self, state: &mut H) {
            // The optional attributes are left out: hashing them would rarely distinguish types, and equal types still
            // match.
            self.shape.hash(state);
            self.types.hash(state);
        }
    }

    impl PartialOrd for ObjectType {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    impl Ord for ObjectType {
        fn cmp(&self, other: &Self) -> Ordering {
            self.shape
                .names()
                .cmp(other.shape.names())
                .then_with(|| self.types.cmp(&other.types))
                .then_with(|| self.optional.cmp(&other.optional))
        }
    }
}
