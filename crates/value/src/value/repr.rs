//! The memory representation of values.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::Name;
use crate::marks::Marks;
use crate::number::Number;
use crate::path::{Path, PathMarks, PathStep};
use crate::refinement::Refinement;
use crate::types::{ObjectType, Shape, Type};

/// A value of the Terraform language: known, null or unknown, with a type and possibly marks.
///
/// Owns its contents behind shared pointers. Values are immutable, so cloning is a reference count, and aggregates
/// cache whether everything inside is known and whether anything inside is marked.
///
/// Guarantees: strings are in normalization form C; elements of a collection have its element type; a set has no equal
/// elements and no marks inside; marks are never nested directly in marks.
///
/// `==` is structural and includes marks and refinements; [`Value::equals`] is the operator of expressions. Accessors
/// (`kind`, `as_...`) look through the marks of the value itself, so code that displays or stores the result must check
/// [`Value::marks`] first. Operations on unknown values return unknown values and never fail for that reason.
/// A value does not know its source location or schema.
#[derive(Clone)]
pub struct Value(pub(crate) Repr);

#[derive(Clone)]
pub(crate) enum Repr {
    Null(Type),
    /// An unknown value with a refinement or of a structural or collection type.
    Unknown(Arc<Unknown>),
    /// An unknown value of a primitive or dynamic type, without a refinement. The most common unknowns, kept unboxed.
    Bare(Simple),
    Bool(bool),
    Number(Number),
    String(Name),
    List(Arc<Sequence>),
    Set(Arc<Sequence>),
    Tuple(Arc<TupleData>),
    Map(Arc<MapData>),
    Object(Arc<ObjectData>),
    /// Marks around an unmarked value. Never nested directly, and never empty.
    Marked(Arc<Marked>),
}

const _: () = assert!(size_of::<Value>() <= 24, "values are moved often, so they must stay small");

/// The types without element types: primitives and dynamic.
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

/// Facts about everything inside an aggregate, computed once on construction.
#[derive(Clone, Copy)]
pub(crate) struct Flags {
    pub wholly_known: bool,
    pub has_marks: bool,
}

/// The elements of a list, or of a set in iteration order.
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
    /// One value per name of the shape.
    pub values: Vec<Value>,
    pub flags: Flags,
    // Lazy: most objects are only read, and computing the type allocates.
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
    /// The type, computed on first use.
    pub fn ty(&self) -> &Arc<ObjectType> {
        self.ty.get_or_init(|| {
            Arc::new(ObjectType::of_shape(self.shape.clone(), self.values.iter().map(Value::ty).collect()))
        })
    }
}

impl TupleData {
    /// The type, computed on first use.
    pub fn ty(&self) -> &Arc<[Type]> {
        self.ty.get_or_init(|| self.values.iter().map(Value::ty).collect())
    }
}

impl Value {
    /// The value without its own marks; nested values keep theirs.
    pub(crate) fn bare(&self) -> &Value {
        match &self.0 {
            Repr::Marked(marked) => &marked.value,
            _ => self,
        }
    }

    /// The type of the value, also for nulls and unknown values.
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

    /// Whether the value has exactly this type. Faster than a comparison with [`Value::ty`], which may allocate.
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

    /// Whether the value is known to be null. Unknown values may still become null.
    pub fn is_null(&self) -> bool {
        matches!(self.bare().0, Repr::Null(_))
    }

    /// Whether the value itself is known; nested values may still be unknown.
    pub fn is_known(&self) -> bool {
        !matches!(self.bare().0, Repr::Unknown(_) | Repr::Bare(_))
    }

    /// Whether the value and everything inside it are known.
    pub fn is_wholly_known(&self) -> bool {
        match &self.0 {
            Repr::Null(_) | Repr::Bool(_) | Repr::Number(_) | Repr::String(_) => true,
            Repr::Unknown(_) | Repr::Bare(_) => false,
            Repr::Marked(marked) => marked.value.is_wholly_known(),
            _ => self.flags().wholly_known,
        }
    }

    /// Whether the value or a nested value is marked.
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
            // Objects of one schema usually share the pointer, so the common case is a pointer comparison.
            return Arc::ptr_eq(own, ty) || own == ty;
        }
        self.shape == *ty.shape()
            && ty.optional().next().is_none()
            && self.values.iter().zip(ty.types()).all(|(value, ty)| value.has_type(ty))
    }
}

impl Value {
    /// The marks of the value itself, without those of nested values.
    pub fn marks(&self) -> &Marks {
        const NONE: &Marks = &Marks::NONE;
        match &self.0 {
            Repr::Marked(marked) => &marked.marks,
            _ => NONE,
        }
    }

    /// Returns the value with these marks added.
    #[must_use]
    pub fn with_marks(self, marks: &Marks) -> Value {
        if marks.is_empty() {
            return self;
        }
        let (value, marks) = match self.0 {
            Repr::Marked(marked) if marked.marks.contains(marks) => return Value(Repr::Marked(marked)),
            Repr::Marked(marked) => (marked.value.clone(), marked.marks.union(marks)),
            repr => (Value(repr), marks.clone()),
        };
        Value(Repr::Marked(Arc::new(Marked { value, marks })))
    }

    /// Returns the value without its own marks, and the marks.
    pub fn unmark(&self) -> (Value, Marks) {
        (self.bare().clone(), self.marks().clone())
    }

    /// Returns the value without any marks, and the removed marks with their paths.
    pub fn unmark_deep(&self) -> (Value, PathMarks) {
        if !self.has_marks() {
            return (self.clone(), PathMarks::new());
        }
        let mut found = PathMarks::new();
        let bare = strip(self, &mut Path::root(), &mut found);
        (bare, found)
    }

    /// Returns the value without its own deprecations; nested values keep theirs.
    #[must_use]
    pub fn without_own_deprecations(self) -> Value {
        if !self.marks().is_deprecated() {
            return self;
        }
        let (bare, marks) = self.unmark();
        bare.with_marks(&marks.without_deprecations())
    }

    /// Returns the value without deprecations at any level.
    #[must_use]
    pub fn without_deprecations(self) -> Value {
        if !self.deep_marks().is_deprecated() {
            return self;
        }
        let (bare, marks) = self.unmark_deep();
        bare.mark_paths(&marks.into_iter().map(|(path, marks)| (path, marks.without_deprecations())).collect())
    }

    /// Returns all marks of the value and of nested values.
    pub fn deep_marks(&self) -> Marks {
        let mut all = Marks::NONE;
        collect(self, &mut all);
        all
    }

    /// Adds marks at paths. A path that does not exist, or leads into a null, an unknown value or a set, marks the
    /// closest existing parent instead, so that no mark is ever lost.
    #[must_use]
    pub fn mark_paths(&self, marks: &PathMarks) -> Value {
        if marks.is_empty() {
            return self.clone();
        }
        let rest: Vec<(&[PathStep], &Marks)> = marks.iter().map(|(path, marks)| (path.steps(), marks)).collect();
        mark_rest(self, &rest)
    }
}

fn collect(value: &Value, all: &mut Marks) {
    if !value.has_marks() {
        return;
    }
    *all = all.union(value.marks());
    value.children(|_, child| collect(child, all));
}

fn strip(value: &Value, path: &mut Path, found: &mut PathMarks) -> Value {
    if !value.has_marks() {
        return value.clone();
    }
    if !value.marks().is_empty() {
        found.push((path.clone(), value.marks().clone()));
    }
    value.bare().map_children(|step, child| {
        if !child.has_marks() {
            return child.clone();
        }
        path.push(step());
        let child = strip(child, path, found);
        path.pop();
        child
    })
}

fn mark_rest(value: &Value, rest: &[(&[PathStep], &Marks)]) -> Value {
    let own: Marks = rest.iter().filter(|(steps, _)| steps.is_empty()).map(|(_, marks)| (*marks).clone()).collect();
    let mut below: HashMap<&PathStep, Vec<(&[PathStep], &Marks)>> = HashMap::new();
    for (steps, marks) in rest {
        if let Some((first, steps)) = steps.split_first() {
            below.entry(first).or_default().push((steps, marks));
        }
    }
    if below.is_empty() {
        return value.clone().with_marks(&own);
    }
    let inherited = value.marks().union(&own);
    let bare = value.bare();
    let marked = if bare.is_set() {
        bare.clone()
    } else {
        bare.map_children(|step, child| match below.remove(&step()) {
            Some(rest) => mark_rest(child, &rest),
            None => child.clone(),
        })
    };
    let unmatched: Marks = below.into_values().flatten().map(|(_, marks)| marks.clone()).collect();
    marked.with_marks(&inherited.union(&unmatched))
}
