//! The schemas of blocks: of resources, data sources, providers and nested blocks.

use std::sync::Arc;

use groma_value::{ObjectType, Shape, Type, Value};

use super::{Attribute, Deprecation, Description, ObjectNesting};
use crate::Name;

/// The nesting mode of a nested block type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nesting {
    /// At most one block; null without one.
    Single,
    /// Exactly one block; without one in the configuration it exists with null attributes.
    Group,
    /// Blocks in order, identified by index.
    List,
    /// Blocks without index or key, identified by value.
    Set,
    /// Blocks identified by their label.
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

/// The schema of a nested block type.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedBlock {
    block: Arc<Block>,
    nesting: Nesting,
    min: u64,
    max: Option<u64>,
    empty: Value,
}

impl NestedBlock {
    /// Creates a nested block type without limits to the number of blocks.
    pub fn new(nesting: Nesting, block: Block) -> Self {
        let block = Arc::new(block);
        let element = || block.implied_type().clone();
        let dynamic = block.implied_type().has_dynamic();
        let empty = match nesting {
            Nesting::Single => Value::null(element()),
            Nesting::Group => block.empty_value().clone(),
            // Elements of a list must have one type, which blocks with dynamic attributes do not have.
            Nesting::List if dynamic => Value::tuple(Vec::new()),
            Nesting::List => Value::list(element(), Vec::new()),
            Nesting::Set => Value::set(element(), Vec::new()),
            Nesting::Map if dynamic => Value::object(std::iter::empty::<(Name, Value)>()),
            Nesting::Map => Value::map(element(), std::iter::empty::<(Name, Value)>()),
        };
        Self { block, nesting, min: 0, max: None, empty }
    }

    /// Requires at least `min` blocks.
    #[must_use]
    pub fn at_least(mut self, min: u64) -> Self {
        self.min = min;
        self
    }

    /// Limits the number of blocks to `max`.
    #[must_use]
    pub fn at_most(mut self, max: u64) -> Self {
        self.max = Some(max);
        self
    }

    /// Returns the schema of one block.
    pub fn block(&self) -> &Arc<Block> {
        &self.block
    }

    /// Returns the nesting mode.
    pub fn nesting(&self) -> Nesting {
        self.nesting
    }

    /// Returns the minimum number of blocks.
    pub fn min(&self) -> u64 {
        self.min
    }

    /// Returns the maximum number of blocks, or `None` without a limit.
    pub fn max(&self) -> Option<u64> {
        self.max
    }

    /// Returns the type of the value that represents all blocks of this type.
    ///
    /// A list or map of blocks with attributes of dynamic type is dynamic as a whole: its values are tuples and
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

    /// Returns the value that represents the absence of blocks.
    pub fn empty_value(&self) -> &Value {
        &self.empty
    }
}

/// A named member of a block schema: an attribute or a nested block type.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// The name of the attribute or nested block type.
    pub name: Name,
    /// The schema of the member.
    pub item: Item,
}

/// The schema of a member of a block.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// An attribute.
    Attribute(Attribute),
    /// A nested block type.
    Block(NestedBlock),
}

impl Item {
    /// Returns the type of the member's values.
    pub fn ty(&self) -> Type {
        match self {
            Self::Attribute(attribute) => attribute.ty(),
            Self::Block(block) => block.implied_type(),
        }
    }

    /// Returns nesting mode and schema of nested objects, for nested blocks and nested attributes alike.
    pub fn nested(&self) -> Option<(Nesting, &Arc<Block>)> {
        match self {
            Self::Attribute(attribute) => {
                attribute.nested_type().map(|nested| (nested.nesting().into(), nested.object()))
            }
            Self::Block(nested) => Some((nested.nesting(), nested.block())),
        }
    }

    /// Returns the value of an unset member.
    pub fn empty_value(&self) -> &Value {
        match self {
            Self::Attribute(attribute) => attribute.empty_value(),
            Self::Block(block) => block.empty_value(),
        }
    }
}

/// The schema of a block.
///
/// Derived data (types, the shared shape of its objects, the value of an empty block) is computed once, at
/// construction. Slots are sorted by name, like the attributes of object values, so that schema and value can be walked
/// in parallel.
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

/// The features that occur in a block or in anything nested in it.
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
    /// Creates a block schema. Of duplicate names the first wins, and [`Schema::problems`](super::Schema::problems)
    /// reports them.
    pub fn new(
        attributes: impl IntoIterator<Item = (impl Into<Name>, Attribute)>,
        blocks: impl IntoIterator<Item = (impl Into<Name>, NestedBlock)>,
    ) -> Self {
        let attributes = attributes.into_iter().map(|(name, item)| (name.into(), Item::Attribute(item)));
        let blocks = blocks.into_iter().map(|(name, item)| (name.into(), Item::Block(item)));
        let mut slots: Vec<Slot> = attributes.chain(blocks).map(|(name, item)| Slot { name, item }).collect();
        // The sort is stable, so that attributes win over blocks of the same name.
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
        // Terraform makes optional and computed attributes optional here.
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

    /// Deprecates the block, so that its use causes a warning.
    #[must_use]
    pub fn deprecated(mut self, deprecation: Deprecation) -> Self {
        self.deprecated = Some(deprecation);
        self
    }

    /// Sets the description for documentation.
    #[must_use]
    pub fn described(mut self, description: Description) -> Self {
        self.description = description;
        self
    }

    /// Returns attributes and nested block types, sorted by name like the attributes of object values.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Iterates over the attributes, sorted by name.
    pub fn attributes(&self) -> impl Iterator<Item = (&Name, &Attribute)> {
        self.slots.iter().filter_map(|slot| match &slot.item {
            Item::Attribute(attribute) => Some((&slot.name, attribute)),
            Item::Block(_) => None,
        })
    }

    /// Iterates over the nested block types, sorted by name.
    pub fn blocks(&self) -> impl Iterator<Item = (&Name, &NestedBlock)> {
        self.slots.iter().filter_map(|slot| match &slot.item {
            Item::Attribute(_) => None,
            Item::Block(block) => Some((&slot.name, block)),
        })
    }

    /// Returns the attribute or nested block type `name`.
    pub fn item(&self, name: &str) -> Option<&Item> {
        self.shape.position(name).and_then(|at| self.slots.get(at)).map(|slot| &slot.item)
    }

    /// Returns the attribute `name`.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        match self.item(name) {
            Some(Item::Attribute(attribute)) => Some(attribute),
            _ => None,
        }
    }

    /// Returns the nested block type `name`.
    pub fn block(&self, name: &str) -> Option<&NestedBlock> {
        match self.item(name) {
            Some(Item::Block(block)) => Some(block),
            _ => None,
        }
    }

    /// Returns the type of the block's values: an object of all attributes and nested blocks.
    pub fn implied_type(&self) -> &Type {
        &self.implied
    }

    /// Returns the type that a configured object is converted to; everything but required attributes is optional.
    pub fn config_type(&self) -> &Type {
        &self.config
    }

    /// Returns the member names, which all values of this schema share.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// Returns the value of an empty block: null attributes and no nested blocks.
    pub fn empty_value(&self) -> &Value {
        &self.empty
    }

    /// Creates an object from one value per slot, in slot order.
    pub fn object(&self, values: Vec<Value>) -> Value {
        Value::object_typed(&self.object_type, values)
    }

    /// Returns a null of the implied type.
    pub fn null_value(&self) -> Value {
        Value::null(self.implied.clone())
    }

    /// Whether the block or anything nested in it has a sensitive attribute.
    pub fn contains_sensitive(&self) -> bool {
        self.holds.sensitive
    }

    /// Whether the block or anything nested in it has a write-only attribute.
    pub fn contains_write_only(&self) -> bool {
        self.holds.write_only
    }

    /// Whether the block or anything nested in it is deprecated.
    pub fn contains_deprecated(&self) -> bool {
        self.deprecated.is_some() || self.holds.deprecated
    }

    /// Whether the block has nested block types.
    pub fn contains_blocks(&self) -> bool {
        self.holds.blocks
    }

    /// Returns the deprecation, if the block as a whole is deprecated.
    pub fn deprecation(&self) -> Option<&Deprecation> {
        self.deprecated.as_ref()
    }

    /// Returns the description, which may be empty.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Returns the names that are declared more than once.
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
