//! Blocks: what a resource, a data source, a provider or a nested block may hold.

use std::sync::Arc;

use groma_value::{ObjectType, Shape, Type, Value};

use super::{Attribute, Deprecation, Description, ObjectNesting};
use crate::Name;

/// How many nested blocks of one kind there may be, and how they are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nesting {
    /// One block or none; none is null.
    Single,
    /// One block; without one in the configuration it is there all the same, with null attributes.
    Group,
    /// Blocks by position.
    List,
    /// Blocks without position or key.
    Set,
    /// Blocks by their label.
    Map,
}

impl From<ObjectNesting> for Nesting {
    fn from(nesting: ObjectNesting) -> Self {
        match nesting {
            ObjectNesting::Single => Self::Single,
            ObjectNesting::List => Self::List,
            ObjectNesting::Set => Self::Set,
            ObjectNesting::Map => Self::Map,
        }
    }
}

/// The schema of a kind of nested block.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedBlock {
    block: Arc<Block>,
    nesting: Nesting,
    min: u64,
    max: Option<u64>,
    empty: Value,
}

impl NestedBlock {
    /// Nested blocks without limits to their number.
    pub fn new(nesting: Nesting, block: Block) -> Self {
        let block = Arc::new(block);
        let element = || block.implied_type().clone();
        let dynamic = block.implied_type().has_dynamic();
        let empty = match nesting {
            Nesting::Single => Value::null(element()),
            Nesting::Group => block.empty_value().clone(),
            Nesting::List if dynamic => Value::tuple(Vec::new()),
            Nesting::List => Value::list(element(), Vec::new()),
            Nesting::Set => Value::set(element(), Vec::new()),
            Nesting::Map if dynamic => Value::object(std::iter::empty::<(Name, Value)>()),
            Nesting::Map => Value::map(element(), std::iter::empty::<(Name, Value)>()),
        };
        Self { block, nesting, min: 0, max: None, empty }
    }

    /// The same, with at least `min` blocks.
    #[must_use]
    pub fn at_least(mut self, min: u64) -> Self {
        self.min = min;
        self
    }

    /// The same, with at most `max` blocks.
    #[must_use]
    pub fn at_most(mut self, max: u64) -> Self {
        self.max = Some(max);
        self
    }

    /// What one of the blocks holds.
    pub fn block(&self) -> &Arc<Block> {
        &self.block
    }

    /// How they are nested.
    pub fn nesting(&self) -> Nesting {
        self.nesting
    }

    /// The least number of blocks.
    pub fn min(&self) -> u64 {
        self.min
    }

    /// The greatest number of blocks, if there is a limit.
    pub fn max(&self) -> Option<u64> {
        self.max
    }

    /// The type of the value that stands for all these blocks.
    ///
    /// A list or map whose blocks hold an attribute of dynamic type is dynamic as a whole: its values are tuples and
    /// objects.
    pub fn implied_type(&self) -> Type {
        let element = || self.block.implied_type().clone();
        match self.nesting {
            Nesting::Single | Nesting::Group => element(),
            Nesting::List | Nesting::Map if element().has_dynamic() => Type::Dynamic,
            Nesting::List => Type::list(element()),
            Nesting::Map => Type::map(element()),
            Nesting::Set => Type::set(element()),
        }
    }

    /// The value when there is no such block.
    pub fn empty_value(&self) -> &Value {
        &self.empty
    }
}

/// One name of a block: an attribute or a kind of nested block.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// The name.
    pub name: Name,
    /// What has the name.
    pub item: Item,
}

/// What a name of a block stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// An attribute.
    Attribute(Attribute),
    /// A kind of nested block.
    Block(NestedBlock),
}

impl Item {
    /// The type of its values.
    pub fn ty(&self) -> Type {
        match self {
            Self::Attribute(attribute) => attribute.ty(),
            Self::Block(block) => block.implied_type(),
        }
    }

    /// How objects are nested in it and what each holds, for nested blocks and nested attributes alike.
    pub fn nested(&self) -> Option<(Nesting, &Arc<Block>)> {
        match self {
            Self::Attribute(attribute) => {
                attribute.nested_type().map(|nested| (nested.nesting().into(), nested.object()))
            }
            Self::Block(nested) => Some((nested.nesting(), nested.block())),
        }
    }

    /// Its value when nothing sets it.
    pub fn empty_value(&self) -> &Value {
        match self {
            Self::Attribute(attribute) => attribute.empty_value(),
            Self::Block(block) => block.empty_value(),
        }
    }
}

/// The schema of a block.
///
/// What follows from it (types, the shared names of its objects, the value of an empty block) is worked out once, when
/// it is built. The slots are sorted by name, as the attributes of an object value of its type are: the two can be
/// walked side by side.
#[derive(Clone, Debug)]
pub struct Block {
    slots: Box<[Slot]>,
    deprecated: Option<Deprecation>,
    description: Description,
    clashes: Box<[Name]>,
    object_type: Arc<ObjectType>,
    implied: Type,
    config: Type,
    shape: Arc<Shape>,
    empty: Value,
    holds: Holds,
}

/// What occurs in a block or in anything nested in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Holds {
    sensitive: bool,
    write_only: bool,
    deprecated: bool,
    blocks: bool,
}

impl PartialEq for Block {
    fn eq(&self, other: &Self) -> bool {
        self.slots == other.slots && self.deprecated == other.deprecated && self.description == other.description
    }
}

impl Default for Block {
    fn default() -> Self {
        Self::new(std::iter::empty::<(Name, Attribute)>(), std::iter::empty::<(Name, NestedBlock)>())
    }
}

impl Block {
    /// A block of `attributes` and `blocks`. Of equal names the first counts; [`Schema::problems`](super::Schema::problems) names the clash.
    pub fn new(
        attributes: impl IntoIterator<Item = (impl Into<Name>, Attribute)>,
        blocks: impl IntoIterator<Item = (impl Into<Name>, NestedBlock)>,
    ) -> Self {
        let attributes = attributes.into_iter().map(|(name, item)| (name.into(), Item::Attribute(item)));
        let blocks = blocks.into_iter().map(|(name, item)| (name.into(), Item::Block(item)));
        let mut slots: Vec<Slot> = attributes.chain(blocks).map(|(name, item)| Slot { name, item }).collect();
        slots.sort_by(|a, b| a.name.cmp(&b.name));
        let mut clashes = Vec::new();
        slots.dedup_by(|later, first| {
            let same = later.name == first.name;
            if same {
                clashes.push(first.name.clone());
            }
            same
        });
        Self::of_slots(slots, clashes)
    }

    fn of_slots(slots: Vec<Slot>, clashes: Vec<Name>) -> Self {
        let shape = Arc::new(Shape::new(slots.iter().map(|slot| slot.name.clone())));
        let implied = ObjectType::of_shape(shape.clone(), slots.iter().map(|slot| slot.item.ty()).collect());
        let config = slots.iter().map(|slot| match &slot.item {
            Item::Attribute(attribute) => attribute.config_type().clone(),
            Item::Block(block) => block.implied_type(),
        });
        // Terraform makes every computed attribute optional here, and with it the optional ones.
        let optional = slots.iter().filter(|slot| match &slot.item {
            Item::Attribute(attribute) => attribute.usage() != super::Use::Required,
            Item::Block(_) => true,
        });
        let config = ObjectType::of_shape(shape.clone(), config.collect())
            .with_optional(optional.map(|slot| slot.name.clone()).collect::<Vec<_>>());
        let empty = slots.iter().map(|slot| slot.item.empty_value().clone()).collect();
        let holds = slots.iter().fold(Holds::default(), |holds, slot| holds.with(&slot.item));
        let object_type = Arc::new(implied);
        Self {
            implied: Type::Object(object_type.clone()),
            config: Type::Object(Arc::new(config)),
            empty: Value::object_typed(&object_type, empty),
            object_type,
            shape,
            slots: slots.into(),
            clashes: clashes.into(),
            holds,
            deprecated: None,
            description: Description::default(),
        }
    }

    /// The same, and its use draws a warning.
    #[must_use]
    pub fn deprecated(mut self, deprecation: Deprecation) -> Self {
        self.deprecated = Some(deprecation);
        self
    }

    /// The same, with a description.
    #[must_use]
    pub fn described(mut self, description: Description) -> Self {
        self.description = description;
        self
    }

    /// Attributes and nested blocks together, sorted by name: in the order of the attributes of its object values.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The attributes, sorted by name.
    pub fn attributes(&self) -> impl Iterator<Item = (&Name, &Attribute)> {
        self.slots.iter().filter_map(|slot| match &slot.item {
            Item::Attribute(attribute) => Some((&slot.name, attribute)),
            Item::Block(_) => None,
        })
    }

    /// The kinds of nested blocks, sorted by name.
    pub fn blocks(&self) -> impl Iterator<Item = (&Name, &NestedBlock)> {
        self.slots.iter().filter_map(|slot| match &slot.item {
            Item::Attribute(_) => None,
            Item::Block(block) => Some((&slot.name, block)),
        })
    }

    /// What has the name `name`.
    pub fn item(&self, name: &str) -> Option<&Item> {
        self.shape.position(name).and_then(|at| self.slots.get(at)).map(|slot| &slot.item)
    }

    /// The attribute `name`.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        match self.item(name) {
            Some(Item::Attribute(attribute)) => Some(attribute),
            _ => None,
        }
    }

    /// The kind of nested block `name`.
    pub fn block(&self, name: &str) -> Option<&NestedBlock> {
        match self.item(name) {
            Some(Item::Block(block)) => Some(block),
            _ => None,
        }
    }

    /// The type of its values: an object of all its attributes and nested blocks.
    pub fn implied_type(&self) -> &Type {
        &self.implied
    }

    /// The type to convert an object to that an author wrote in its place: what may be left out is optional.
    pub fn config_type(&self) -> &Type {
        &self.config
    }

    /// The names of its values, to be shared by all of them.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// What an empty block decodes to: all attributes null, no nested blocks.
    pub fn empty_value(&self) -> &Value {
        &self.empty
    }

    /// An object of it: one value for each slot, in the order of the slots.
    pub fn object(&self, values: Vec<Value>) -> Value {
        Value::object_typed(&self.object_type, values)
    }

    /// Null of its type.
    pub fn null_value(&self) -> Value {
        Value::null(self.implied.clone())
    }

    /// Whether it or anything nested in it has a sensitive attribute.
    pub fn contains_sensitive(&self) -> bool {
        self.holds.sensitive
    }

    /// Whether it or anything nested in it has a write-only attribute.
    pub fn contains_write_only(&self) -> bool {
        self.holds.write_only
    }

    /// Whether it or anything nested in it should no longer be used.
    pub fn contains_deprecated(&self) -> bool {
        self.deprecated.is_some() || self.holds.deprecated
    }

    /// Whether it has kinds of nested blocks.
    pub fn contains_blocks(&self) -> bool {
        self.holds.blocks
    }

    /// The deprecation, if it is deprecated.
    pub fn deprecation(&self) -> Option<&Deprecation> {
        self.deprecated.as_ref()
    }

    /// The description; empty when there is none.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Names that were declared more than once.
    pub(super) fn clashes(&self) -> &[Name] {
        &self.clashes
    }
}

impl Holds {
    fn with(self, item: &Item) -> Self {
        let inner = |block: &Block| Self { deprecated: block.contains_deprecated(), ..block.holds };
        let (own, nested) = match item {
            Item::Attribute(attribute) => (
                Self {
                    sensitive: attribute.is_sensitive(),
                    write_only: attribute.is_write_only(),
                    deprecated: attribute.deprecation().is_some(),
                    blocks: false,
                },
                attribute.nested_type().map(|nested| inner(nested.object())).unwrap_or_default(),
            ),
            Item::Block(block) => (Self { blocks: true, ..Self::default() }, inner(block.block())),
        };
        Self {
            sensitive: self.sensitive || own.sensitive || nested.sensitive,
            write_only: self.write_only || own.write_only || nested.write_only,
            deprecated: self.deprecated || own.deprecated || nested.deprecated,
            blocks: self.blocks || own.blocks,
        }
    }
}
