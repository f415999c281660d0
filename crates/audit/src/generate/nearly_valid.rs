//! Nearly valid configurations.

use groma_provider::{Attribute, Block, Item, NestedBlock, Nesting, Slot, Use};
use groma_value::{Kind, Number, Type, Value};

use super::{Flaw, Generator, collection, with_slot};
use crate::nested_objects::NestedObjects;

impl Generator {
    /// Generates a configuration with one flaw; `None` if the schema does not allow one.
    pub fn nearly_valid(&mut self, block: &Block) -> Option<(Value, Flaw)> {
        let density = self.random.below(60);
        let config = self.object(block, density, &[]);
        self.flawed(block, &config, "")
    }

    /// Adds a flaw to `object` or to one nested in it; `prefix` precedes the name of the flawed argument.
    fn flawed(&mut self, block: &Block, object: &Value, prefix: &str) -> Option<(Value, Flaw)> {
        let Kind::Object(values) = object.kind() else { return None };
        let slots = block.slots();
        let slot = slots.get(self.random.below(slots.len()))?;
        let name = format!("{prefix}{}", slot.name);
        if let Some(inside) = NestedObjects::of(&slot.item, values.get(&slot.name)?).filter(|_| self.random.chance(60))
        {
            let position = self.random.below(inside.objects().len());
            let (inner, flaw) = self.flawed(inside.block(), inside.objects().get(position)?, &format!("{name}."))?;
            return Some((with_slot(block, object, &slot.name, inside.with(position, inner)), flaw));
        }
        let (value, flaw) = match &slot.item {
            Item::Attribute(attribute) => self.flawed_attribute(slot, attribute, name)?,
            Item::Block(nested) => (self.wrong_count(nested)?, Flaw::Count(name)),
        };
        Some((with_slot(block, object, &slot.name, value), flaw))
    }

    fn flawed_attribute(&mut self, slot: &Slot, attribute: &Attribute, name: String) -> Option<(Value, Flaw)> {
        let unusual = unusual(&attribute.ty())?;
        Some(match attribute.usage() {
            Use::Required if self.random.chance(40) => (attribute.empty_value().clone(), Flaw::Missing(name)),
            Use::Computed => (self.attribute(slot, attribute, 0, &[], 0), Flaw::ReadOnly(name)),
            _ => (self.random.one_of(&unusual)?.clone(), Flaw::Unusual(name)),
        })
    }

    fn wrong_count(&mut self, nested: &NestedBlock) -> Option<Value> {
        let count = match (nested.nesting(), nested.min(), nested.max()) {
            (Nesting::List | Nesting::Set, 1.., _) => 0,
            (Nesting::Single, 1.., _) => return Some(nested.block().null_value()),
            // Objects of a set may turn out equal, so their number cannot be exceeded reliably.
            (Nesting::List, _, Some(max)) => usize::try_from(max).ok()? + 1,
            _ => return None,
        };
        let blocks = (0..count).map(|_| self.object(nested.block(), 0, &[])).collect();
        Some(collection(nested.nesting(), nested.block(), blocks))
    }
}

/// Returns values that are unusual for a type, but may be valid.
fn unusual(ty: &Type) -> Option<Vec<Value>> {
    Some(match ty {
        Type::String => {
            vec![Value::string(""), Value::string("x".repeat(10_000)), Value::string("\u{1}\u{7f}\n\"${")]
        }
        Type::Number => {
            vec![Value::number(-1), Value::number(Number::parse("1e40").ok()?), Value::number(Number::from_f64(0.5)?)]
        }
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
    })
}
