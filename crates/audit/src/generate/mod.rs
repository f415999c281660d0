//! Generation of configurations from a schema.

mod nearly_valid;
mod values;

use groma_provider::{
    Attribute, Block, Item, NestedBlock, Nesting, ProviderDiagnostic, ProviderDiagnostics, Slot, Use,
};
use groma_value::{Kind, PathStep, Type, Value};

use crate::nested_objects::NestedObjects;
use values::Random;
use values::ValueHints;
use values::{Purpose, value};
use values::{choices, is_argument, is_choice};

/// The flaw of a nearly valid configuration, with the name of the argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A required argument is not set.
    Missing(String),
    /// An attribute that is not configurable is set.
    ReadOnly(String),
    /// The number of blocks is outside its limits.
    Count(String),
    /// A value is unusual, but may be valid.
    Unusual(String),
}

impl Flaw {
    /// Whether the engine rejects the configuration before the provider sees it.
    pub fn is_rejected_by_engine(&self) -> bool {
        !matches!(self, Self::Unusual(_))
    }
}

/// A generator of configurations, deterministic for equal seeds and equal provider responses.
#[derive(Clone, Debug)]
pub struct Generator {
    random: Random,
    hints: ValueHints,
    /// The number of valid configurations so far.
    made: usize,
}

impl Generator {
    /// Creates a generator of configurations for `block`.
    pub fn new(block: &Block, seed: u64) -> Self {
        Self { random: Random::new(seed), hints: ValueHints::of(block), made: 0 }
    }

    /// Generates a function argument.
    pub(crate) fn argument(&mut self, name: &str, ty: &Type) -> Value {
        value(ty, Purpose { name, hints: &self.hints }, &mut self.random, 0)
    }

    /// Returns a random number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    /// Learns candidate values from the errors about a rejected configuration.
    pub fn learn(&mut self, block: &Block, problems: &ProviderDiagnostics) {
        self.hints.learn(block, problems);
    }

    /// Generates a configuration that the schema allows: first the minimum, then with one optional argument at a time,
    /// including nested ones, then random ones. Every third is random in any case, since some schemas have very many
    /// arguments.
    pub fn valid(&mut self, block: &Block) -> Value {
        let turn = self.made;
        self.made += 1;
        // The first configuration is the minimum, the only one that every schema allows.
        let Some(turn) = turn.checked_sub(1) else { return self.object(block, 0, &[]) };
        let choices = choices(block);
        // Two of three turns go through the optional arguments in order.
        let single = if turn % 3 == 2 { None } else { choices.get(turn - turn / 3) };
        match single {
            Some(path) => self.object(block, 0, path),
            None => {
                let density = 20 + self.random.below(60);
                self.object(block, density, &[])
            }
        }
    }

    /// Regenerates the arguments that the errors about `config` name; `None` if they name none.
    pub fn repaired(&mut self, block: &Block, config: &Value, problems: &ProviderDiagnostics) -> Option<Value> {
        let mut repaired = config.clone();
        for problem in problems.iter().filter(|problem| problem.is_error()) {
            // Indexes are left out, since an error about one object concerns all that were generated alike.
            let path: Vec<&PathStep> = problem.path.steps().iter().filter(is_name).collect();
            repaired = self.repaired_at(block, &repaired, &path, problem);
        }
        (repaired != *config).then_some(repaired)
    }

    /// Regenerates the arguments that one error names, where `path` is the remaining path below `config`.
    fn repaired_at(
        &mut self,
        block: &Block,
        config: &Value,
        path: &[&PathStep],
        problem: &ProviderDiagnostic,
    ) -> Value {
        let mut repaired = config.clone();
        for slot in block.slots().iter().filter(|slot| is_argument(slot) && is_named(slot, path, problem)) {
            let Kind::Object(object) = repaired.kind() else { return repaired };
            let Some(given) = object.get(&slot.name) else { continue };
            let deeper = path.get(1..).filter(|path| !path.is_empty());
            let value = match (deeper, NestedObjects::of(&slot.item, given)) {
                (Some(path), Some(inside)) => {
                    let mended = |object| self.repaired_at(inside.block(), object, path, problem);
                    inside.with_all(inside.objects().iter().map(mended).collect())
                }
                // Omitting an optional argument is often the only repair.
                _ if given != slot.item.empty_value() && is_choice(slot) && self.random.chance(50) => {
                    slot.item.empty_value().clone()
                }
                _ => self.argument_of(slot, 60),
            };
            repaired = with_slot(block, &repaired, &slot.name, value);
        }
        repaired
    }

    /// Generates a non-null value for an argument.
    fn argument_of(&mut self, slot: &Slot, density: usize) -> Value {
        match &slot.item {
            Item::Attribute(attribute) => self.attribute(slot, attribute, density, &[], 0),
            Item::Block(nested) => self.blocks(nested, density, &[], 0),
        }
    }

    /// Changes an argument of `config`; `None` if no argument can be changed.
    pub fn changed(&mut self, block: &Block, config: &Value) -> Option<Value> {
        let Kind::Object(object) = config.kind() else { return None };
        let choices: Vec<&Slot> = block.slots().iter().filter(|slot| is_argument(slot)).collect();
        // A random value can equal the old one, so several attempts are made.
        for _ in 0..4 {
            let slot = self.random.one_of(&choices).copied()?;
            let inside = object.get(&slot.name).and_then(|value| NestedObjects::of(&slot.item, value));
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

    /// Changes, removes or reorders objects nested in an argument.
    fn changed_inside(&mut self, inside: &NestedObjects<'_>) -> Value {
        let objects = inside.objects();
        let position = self.random.below(objects.len());
        // Fewer, reversed and changed objects are the changes that lists and sets treat differently.
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

    /// Generates an object with all required arguments, the path `chosen`, and `density` percent of the optional
    /// arguments.
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
            let purpose = Purpose { name: &slot.name, hints: &self.hints };
            return value(attribute.config_type(), purpose, &mut self.random, depth).convert_to_attribute(attribute);
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

    /// Generates nested objects, of which the first contains the path `chosen`. The density halves with each level.
    fn objects(
        &mut self,
        block: &Block,
        least: usize,
        most: usize,
        (density, chosen): (usize, &[usize]),
        depth: usize,
    ) -> Vec<Value> {
        // Now and then generates the maximum number, unless it is large.
        let full = most <= 5 && self.random.chance(density / 3);
        let count = if full { most } else { least + self.random.below(2) };
        let first = std::iter::once(chosen).chain(std::iter::repeat(&[][..]));
        // Halved with each level, so that deep schemas do not explode.
        let inner = if density == 0 { 0 } else { density.div_ceil(2) };
        first.take(count.min(most.max(least))).map(|chosen| self.object_at(block, inner, chosen, depth + 1)).collect()
    }
}

/// Conversion of a generated value, whose type may have optional attributes, to the attribute's own type.
trait ConvertToAttribute {
    fn convert_to_attribute(self, attribute: &Attribute) -> Value;
}

impl ConvertToAttribute for Value {
    fn convert_to_attribute(self, attribute: &Attribute) -> Value {
        groma_value::convert::convert(&self, &attribute.ty()).unwrap_or(self)
    }
}

fn collection(nesting: Nesting, block: &Block, mut objects: Vec<Value>) -> Value {
    let ty = || block.implied_type().clone();
    let dynamic = block.implied_type().has_dynamic();
    match nesting {
        Nesting::Single | Nesting::Group => objects.pop().unwrap_or_else(|| block.null_value()),
        // A list needs one element type, which dynamic attributes do not have.
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

/// Whether an error concerns the slot: by its path, or, without one, by its text.
fn is_named(slot: &Slot, path: &[&PathStep], problem: &ProviderDiagnostic) -> bool {
    match path.first() {
        Some(PathStep::Attribute(name)) => *name == slot.name,
        _ => {
            let words = problem.detail.split(|character: char| !character.is_alphanumeric() && character != '_');
            words.into_iter().any(|word| word == &*slot.name)
        }
    }
}

/// Whether a step names an attribute or block; other steps select one of several objects.
fn is_name(step: &&PathStep) -> bool {
    matches!(step, PathStep::Attribute(_))
}

/// Replaces the value of the slot `name`.
pub(crate) fn with_slot(block: &Block, object: &Value, name: &str, value: Value) -> Value {
    let Kind::Object(view) = object.kind() else { return object.clone() };
    let values = block.slots().iter().zip(view.values());
    block.object(values.map(|(slot, old)| if *slot.name == *name { value.clone() } else { old.clone() }).collect())
}
