//! Made-up configurations for a schema.

mod clues;
mod random;
mod values;

use groma_provider::{
    Attribute, Block, Item, NestedBlock, Nesting, ProviderDiagnostic, ProviderDiagnostics, Slot, Use, collection_like,
};
use groma_value::{Kind, Number, PathStep, Type, Value};

use clues::Clues;
use random::Random;
use values::{Purpose, value};

/// What is wrong with a configuration that was made nearly valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A required argument is missing.
    Missing(String),
    /// An attribute is set that only the provider sets.
    ReadOnly(String),
    /// There are too few or too many blocks.
    Count(String),
    /// A value is unusual, and may be all the same valid.
    Unusual(String),
}

impl Flaw {
    /// Whether an engine refuses the configuration before a provider sees it.
    pub fn is_refused_before(&self) -> bool {
        !matches!(self, Self::Unusual(_))
    }
}

/// Makes up configurations; the same ones for the same seed and the same answers of the provider.
#[derive(Clone, Debug)]
pub struct Generator {
    random: Random,
    clues: Clues,
    /// How many valid configurations it has made.
    made: usize,
}

impl Generator {
    /// A generator of configurations for objects of `block`.
    pub fn new(block: &Block, seed: u64) -> Self {
        Self { random: Random::new(seed), clues: Clues::of(block), made: 0 }
    }

    /// A value for an argument of a function.
    pub(crate) fn argument(&mut self, name: &str, ty: &Type) -> Value {
        value(ty, Purpose { name, clues: &self.clues }, &mut self.random, 0)
    }

    /// A number from 0 to below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    /// Learns from what the provider said about a configuration that it did not take.
    pub fn learn(&mut self, block: &Block, problems: &ProviderDiagnostics) {
        self.clues.learn(block, problems);
    }

    /// A configuration that the schema allows: at first as small as can be, then with one optional argument after the other,
    /// then anything.
    pub fn valid(&mut self, block: &Block) -> Value {
        let optional: Vec<usize> =
            (0..block.slots().len()).filter(|position| block.slots().get(*position).is_some_and(is_choice)).collect();
        let turn = self.made;
        self.made += 1;
        match turn.checked_sub(1) {
            None => self.object(block, 0, None),
            Some(turn) if turn < optional.len() => self.object(block, 0, optional.get(turn).copied()),
            Some(_) => {
                let density = 20 + self.random.below(60);
                self.object(block, density, None)
            }
        }
    }

    /// `config` with other values for what the provider named when it refused it; nothing when it named nothing.
    pub fn repaired(&mut self, block: &Block, config: &Value, problems: &ProviderDiagnostics) -> Option<Value> {
        let Kind::Object(object) = config.kind() else { return None };
        let mut repaired = None;
        for problem in problems.iter().filter(|problem| problem.is_error()) {
            for slot in block.slots().iter().filter(|slot| is_argument(slot) && is_named(slot, problem)) {
                let Some(given) = object.get(&slot.name) else { continue };
                let is_set = given != slot.item.empty_value();
                let value = if is_set && is_choice(slot) && self.random.chance(50) {
                    slot.item.empty_value().clone()
                } else {
                    match &slot.item {
                        Item::Attribute(attribute) => self.attribute(slot, attribute, 100, 0),
                        Item::Block(nested) => self.blocks(nested, 60, 0),
                    }
                };
                let other = with_slot(block, repaired.as_ref().unwrap_or(config), &slot.name, value);
                repaired = Some(other);
            }
        }
        repaired.filter(|repaired| repaired != config)
    }

    /// A valid configuration with one flaw; none where the schema leaves no room for one.
    pub fn nearly_valid(&mut self, block: &Block) -> Option<(Value, Flaw)> {
        let density = self.random.below(60);
        let config = self.object(block, density, None);
        let slots = block.slots();
        let slot = slots.get(self.random.below(slots.len()))?;
        let (value, flaw) = match &slot.item {
            Item::Attribute(attribute) => self.flawed_attribute(slot, attribute)?,
            Item::Block(nested) => (self.wrong_count(nested)?, Flaw::Count(slot.name.to_string())),
        };
        Some((with_slot(block, &config, &slot.name, value), flaw))
    }

    fn flawed_attribute(&mut self, slot: &Slot, attribute: &Attribute) -> Option<(Value, Flaw)> {
        let name = slot.name.to_string();
        let ty = attribute.ty();
        let unusual = match &ty {
            Type::String => {
                vec![Value::string(""), Value::string("x".repeat(10_000)), Value::string("\u{1}\u{7f}\n\"${")]
            }
            Type::Number => vec![
                Value::number(-1),
                Value::number(Number::parse("1e40").ok()?),
                Value::number(Number::from_f64(0.5)?),
            ],
            Type::List(element) => vec![
                Value::list((**element).clone(), Vec::new()),
                Value::list((**element).clone(), vec![Value::null((**element).clone())]),
            ],
            Type::Set(element) => vec![Value::set((**element).clone(), Vec::new())],
            Type::Map(element) => vec![
                Value::map((**element).clone(), std::iter::empty::<(&str, Value)>()),
                Value::map((**element).clone(), [("", Value::null((**element).clone()))]),
            ],
            _ => Vec::new(),
        };
        Some(match attribute.usage() {
            Use::Required if self.random.chance(40) => (attribute.empty_value().clone(), Flaw::Missing(name)),
            Use::Computed => (self.attribute(slot, attribute, 0, 0), Flaw::ReadOnly(name)),
            _ => (self.random.one_of(&unusual)?.clone(), Flaw::Unusual(name)),
        })
    }

    fn wrong_count(&mut self, nested: &NestedBlock) -> Option<Value> {
        let count = match (nested.nesting(), nested.min(), nested.max()) {
            (Nesting::List, 1.., _) => 0,
            (Nesting::List, _, Some(max)) => usize::try_from(max).ok()? + 1,
            _ => return None,
        };
        let blocks = (0..count).map(|_| self.object(nested.block(), 0, None)).collect();
        Some(collection_like(nested.empty_value(), nested.block(), blocks))
    }

    /// `config` with something changed that an author may change; nothing where there is no such thing.
    pub fn changed(&mut self, block: &Block, config: &Value) -> Option<Value> {
        let Kind::Object(object) = config.kind() else { return None };
        let choices: Vec<&Slot> = block.slots().iter().filter(|slot| is_argument(slot)).collect();
        for _ in 0..4 {
            let slot = self.random.one_of(&choices).copied()?;
            let value = match &slot.item {
                Item::Attribute(attribute) => {
                    let set = object.get(&slot.name).is_some_and(|value| !value.is_null());
                    if set && attribute.usage() != Use::Required && self.random.chance(30) {
                        attribute.empty_value().clone()
                    } else {
                        self.attribute(slot, attribute, 30, 0)
                    }
                }
                Item::Block(nested) => self.blocks(nested, 30, 0),
            };
            let changed = with_slot(block, config, &slot.name, value);
            if changed != *config {
                return Some(changed);
            }
        }
        None
    }

    /// An object with everything required, with `chosen`, and with `density` of a hundred of the rest.
    fn object(&mut self, block: &Block, density: usize, chosen: Option<usize>) -> Value {
        self.object_at(block, density, chosen, 0)
    }

    fn object_at(&mut self, block: &Block, density: usize, chosen: Option<usize>, depth: usize) -> Value {
        let slots = block.slots().iter().enumerate();
        let values = slots.map(|(position, slot)| {
            let wanted = chosen == Some(position) || self.random.chance(density);
            match &slot.item {
                Item::Attribute(attribute) => match attribute.usage() {
                    Use::Required => self.attribute(slot, attribute, density, depth),
                    Use::Optional | Use::OptionalComputed if wanted => self.attribute(slot, attribute, density, depth),
                    _ => attribute.empty_value().clone(),
                },
                Item::Block(nested) if wanted || nested.min() > 0 || nested.nesting() == Nesting::Group => {
                    self.blocks(nested, density, depth)
                }
                Item::Block(nested) => nested.empty_value().clone(),
            }
        });
        let values = values.collect();
        block.object(values)
    }

    fn attribute(&mut self, slot: &Slot, attribute: &Attribute, density: usize, depth: usize) -> Value {
        let Some(nested) = attribute.nested_type() else {
            let purpose = Purpose { name: &slot.name, clues: &self.clues };
            return value(attribute.config_type(), purpose, &mut self.random, depth).settle(attribute);
        };
        let block = nested.object();
        let count = 1 + self.random.below(2);
        let mut objects: Vec<Value> = Vec::new();
        for _ in 0..count {
            objects.push(self.object_at(block, density / 2, None, depth + 1));
        }
        collection(nested.nesting().into(), block, objects)
    }

    fn blocks(&mut self, nested: &NestedBlock, density: usize, depth: usize) -> Value {
        let least = usize::try_from(nested.min()).unwrap_or_default().max(1);
        let most = nested.max().and_then(|max| usize::try_from(max).ok()).unwrap_or(least + 1);
        let count = (least + self.random.below(2)).min(most.max(least));
        let mut objects: Vec<Value> = Vec::new();
        for _ in 0..count {
            objects.push(self.object_at(nested.block(), density / 2, None, depth + 1));
        }
        collection(nested.nesting(), nested.block(), objects)
    }
}

/// A made-up value has the attributes of nested objects that the type calls optional; its own type has none such.
trait Settle {
    fn settle(self, attribute: &Attribute) -> Value;
}

impl Settle for Value {
    fn settle(self, attribute: &Attribute) -> Value {
        groma_value::convert::convert(&self, &attribute.ty()).unwrap_or(self)
    }
}

fn collection(nesting: Nesting, block: &Block, mut objects: Vec<Value>) -> Value {
    let ty = || block.implied_type().clone();
    let dynamic = block.implied_type().has_dynamic();
    match nesting {
        Nesting::Single | Nesting::Group => objects.pop().unwrap_or_else(|| block.null_value()),
        Nesting::List if dynamic => Value::tuple(objects),
        Nesting::List => Value::list(ty(), objects),
        Nesting::Set => Value::set(ty(), objects),
        Nesting::Map => {
            let keys = (0..objects.len()).map(|position| format!("key-{position}"));
            let pairs: Vec<(String, Value)> = keys.zip(objects).collect();
            let pairs = pairs.iter().map(|(key, value)| (key.as_str(), value.clone()));
            if dynamic { Value::object(pairs) } else { Value::map(ty(), pairs) }
        }
    }
}

/// Whether a problem is about the slot: by its path, or, without one, by its words.
fn is_named(slot: &Slot, problem: &ProviderDiagnostic) -> bool {
    match problem.path.steps().first() {
        Some(PathStep::Attribute(name)) => *name == slot.name,
        _ => {
            let words = problem.detail.split(|character: char| !character.is_alphanumeric() && character != '_');
            words.into_iter().any(|word| word == &*slot.name)
        }
    }
}

/// Whether an author can write it.
fn is_argument(slot: &Slot) -> bool {
    match &slot.item {
        Item::Attribute(attribute) => attribute.usage() != Use::Computed,
        Item::Block(nested) => nested.nesting() != Nesting::Group,
    }
}

/// Whether an author can write it or leave it out.
fn is_choice(slot: &Slot) -> bool {
    match &slot.item {
        Item::Attribute(attribute) => attribute.usage().is_optional(),
        Item::Block(nested) => nested.min() == 0 && nested.nesting() != Nesting::Group,
    }
}

/// `object` with another value for the slot `name`.
pub(crate) fn with_slot(block: &Block, object: &Value, name: &str, value: Value) -> Value {
    let Kind::Object(view) = object.kind() else { return object.clone() };
    let values = block.slots().iter().zip(view.values());
    block.object(values.map(|(slot, old)| if *slot.name == *name { value.clone() } else { old.clone() }).collect())
}
