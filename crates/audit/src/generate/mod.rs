//! Made-up configurations for a schema.

mod choices;
mod clues;
mod flaws;
mod random;
mod values;

use groma_provider::{
    Attribute, Block, Item, NestedBlock, Nesting, ProviderDiagnostic, ProviderDiagnostics, Slot, Use,
};
use groma_value::{Kind, PathStep, Type, Value};

use crate::inside::Inside;
use choices::{choices, is_argument, is_choice};
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

    /// A configuration that the schema allows: at first as small as can be, then with one optional argument after the other, inside
    /// of nested blocks too, then anything. Where there are many to choose from, every third is anything all the same.
    pub fn valid(&mut self, block: &Block) -> Value {
        let turn = self.made;
        self.made += 1;
        let Some(turn) = turn.checked_sub(1) else { return self.object(block, 0, &[]) };
        let choices = choices(block);
        let single = if turn % 3 == 2 { None } else { choices.get(turn - turn / 3) };
        match single {
            Some(way) => self.object(block, 0, way),
            None => {
                let density = 20 + self.random.below(60);
                self.object(block, density, &[])
            }
        }
    }

    /// `config` with other values for what the provider named when it refused it; nothing when it named nothing.
    pub fn repaired(&mut self, block: &Block, config: &Value, problems: &ProviderDiagnostics) -> Option<Value> {
        let mut repaired = config.clone();
        for problem in problems.iter().filter(|problem| problem.is_error()) {
            let way: Vec<&PathStep> = problem.path.steps().iter().filter(is_name).collect();
            repaired = self.repaired_at(block, &repaired, &way, problem);
        }
        (repaired != *config).then_some(repaired)
    }

    /// The same for one problem with an object that `way` leads on from.
    fn repaired_at(&mut self, block: &Block, config: &Value, way: &[&PathStep], problem: &ProviderDiagnostic) -> Value {
        let mut repaired = config.clone();
        for slot in block.slots().iter().filter(|slot| is_argument(slot) && is_named(slot, way, problem)) {
            let Kind::Object(object) = repaired.kind() else { return repaired };
            let Some(given) = object.get(&slot.name) else { continue };
            let deeper = way.get(1..).filter(|way| !way.is_empty());
            let value = match (deeper, Inside::of(&slot.item, given)) {
                (Some(way), Some(inside)) => {
                    let mended = |object| self.repaired_at(inside.block(), object, way, problem);
                    inside.with_all(inside.objects().iter().map(mended).collect())
                }
                _ if given != slot.item.empty_value() && is_choice(slot) && self.random.chance(50) => {
                    slot.item.empty_value().clone()
                }
                _ => self.argument_of(slot, 60),
            };
            repaired = with_slot(block, &repaired, &slot.name, value);
        }
        repaired
    }

    /// A value for an argument that is to be there.
    fn argument_of(&mut self, slot: &Slot, density: usize) -> Value {
        match &slot.item {
            Item::Attribute(attribute) => self.attribute(slot, attribute, density, &[], 0),
            Item::Block(nested) => self.blocks(nested, density, &[], 0),
        }
    }

    /// `config` with something changed that an author may change; nothing where there is no such thing.
    pub fn changed(&mut self, block: &Block, config: &Value) -> Option<Value> {
        let Kind::Object(object) = config.kind() else { return None };
        let choices: Vec<&Slot> = block.slots().iter().filter(|slot| is_argument(slot)).collect();
        for _ in 0..4 {
            let slot = self.random.one_of(&choices).copied()?;
            let inside = object.get(&slot.name).and_then(|value| Inside::of(&slot.item, value));
            let value = match inside {
                Some(inside) if self.random.chance(75) => self.changed_inside(&inside),
                _ if object.get(&slot.name).is_some_and(|value| value != slot.item.empty_value())
                    && is_choice(slot)
                    && self.random.chance(30) =>
                {
                    slot.item.empty_value().clone()
                }
                _ => self.argument_of(slot, 30),
            };
            let changed = with_slot(block, config, &slot.name, value);
            if changed != *config {
                return Some(changed);
            }
        }
        None
    }

    /// An argument of which one object is changed, or goes, or all of whose objects change places.
    fn changed_inside(&mut self, inside: &Inside<'_>) -> Value {
        let objects = inside.objects();
        let position = self.random.below(objects.len());
        let without = inside.without(position).filter(|_| self.random.chance(25));
        if let Some(fewer) = without {
            return fewer;
        }
        if objects.len() > 1 && self.random.chance(25) {
            return inside.with_all(objects.iter().rev().cloned().collect());
        }
        let object = objects.get(position).and_then(|object| self.changed(inside.block(), object));
        object.map_or_else(|| inside.with_all(objects.to_vec()), |object| inside.with(position, object))
    }

    /// An object with everything required, with what `chosen` leads to, and with `density` of a hundred of the rest.
    fn object(&mut self, block: &Block, density: usize, chosen: &[usize]) -> Value {
        self.object_at(block, density, chosen, 0)
    }

    fn object_at(&mut self, block: &Block, density: usize, chosen: &[usize], depth: usize) -> Value {
        let slots = block.slots().iter().enumerate();
        let values = slots.map(|(position, slot)| {
            let is_chosen = chosen.first() == Some(&position);
            let within = if is_chosen { chosen.get(1..).unwrap_or_default() } else { &[] };
            let wanted = is_chosen || self.random.chance(density);
            match &slot.item {
                Item::Attribute(attribute) => match attribute.usage() {
                    Use::Required => self.attribute(slot, attribute, density, within, depth),
                    Use::Optional | Use::OptionalComputed if wanted => {
                        self.attribute(slot, attribute, density, within, depth)
                    }
                    _ => attribute.empty_value().clone(),
                },
                Item::Block(nested) if wanted || nested.min() > 0 || nested.nesting() == Nesting::Group => {
                    self.blocks(nested, density, within, depth)
                }
                Item::Block(nested) => nested.empty_value().clone(),
            }
        });
        let values = values.collect();
        block.object(values)
    }

    fn attribute(
        &mut self,
        slot: &Slot,
        attribute: &Attribute,
        density: usize,
        chosen: &[usize],
        depth: usize,
    ) -> Value {
        let Some(nested) = attribute.nested_type() else {
            let purpose = Purpose { name: &slot.name, clues: &self.clues };
            return value(attribute.config_type(), purpose, &mut self.random, depth).settle(attribute);
        };
        let objects = self.objects(nested.object(), 1, usize::MAX, (density, chosen), depth);
        collection(nested.nesting().into(), nested.object(), objects)
    }

    fn blocks(&mut self, nested: &NestedBlock, density: usize, chosen: &[usize], depth: usize) -> Value {
        let least = usize::try_from(nested.min()).unwrap_or_default().max(1);
        let most = nested.max().and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
        let objects = self.objects(nested.block(), least, most, (density, chosen), depth);
        collection(nested.nesting(), nested.block(), objects)
    }

    /// Objects inside of an argument: the first of them has what is chosen, and only what fits is there where little is.
    fn objects(
        &mut self,
        block: &Block,
        least: usize,
        most: usize,
        (density, chosen): (usize, &[usize]),
        depth: usize,
    ) -> Vec<Value> {
        // Now and then as many as there may be, as long as that is not very many.
        let full = most <= 5 && self.random.chance(density / 3);
        let count = if full { most } else { least + self.random.below(2) };
        let first = std::iter::once(chosen).chain(std::iter::repeat(&[][..]));
        let inner = if density == 0 { 0 } else { density.div_ceil(2) };
        first.take(count.min(most.max(least))).map(|chosen| self.object_at(block, inner, chosen, depth + 1)).collect()
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
fn is_named(slot: &Slot, way: &[&PathStep], problem: &ProviderDiagnostic) -> bool {
    match way.first() {
        Some(PathStep::Attribute(name)) => *name == slot.name,
        _ => {
            let words = problem.detail.split(|character: char| !character.is_alphanumeric() && character != '_');
            words.into_iter().any(|word| word == &*slot.name)
        }
    }
}

/// Whether a step leads to an argument; the others choose among several objects.
fn is_name(step: &&PathStep) -> bool {
    matches!(step, PathStep::Attribute(_))
}

/// `object` with another value for the slot `name`.
pub(crate) fn with_slot(block: &Block, object: &Value, name: &str, value: Value) -> Value {
    let Kind::Object(view) = object.kind() else { return object.clone() };
    let values = block.slots().iter().zip(view.values());
    block.object(values.map(|(slot, old)| if *slot.name == *name { value.clone() } else { old.clone() }).collect())
}
