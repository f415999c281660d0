//! Checks of a planned object against configuration and prior object (plugin-protocol 4.4; LC-07, LC-08, LC-09).

use groma_value::{Kind, Value};

use super::{Problem, Violation};
use crate::schema::{Attribute, Block, Item, NestedBlock, Nesting, Use};
use crate::trail::Trail;

/// Finds everything in `planned` that the configuration does not allow.
///
/// All three values have the implied type of `block` and no marks; `prior` and `config` may be null.
pub fn check_planned(block: &Block, prior: &Value, config: &Value, planned: &Value) -> Vec<Violation> {
    let mut check = Check { found: Vec::new() };
    // A wholly unknown object would skip the checks, so each of its attributes is checked as unknown.
    let open = (!planned.is_known()).then(|| unknown_parts(block));
    check.block(block, Some(prior), config, open.as_ref().unwrap_or(planned), &Trail::ROOT);
    check.found
}

fn unknown_parts(block: &Block) -> Value {
    block.object(block.slots().iter().map(|slot| Value::unknown(slot.item.ty())).collect())
}

struct Check {
    found: Vec<Violation>,
}

impl Check {
    fn report(&mut self, trail: &Trail<'_>, problem: Problem) {
        self.found.push(Violation { path: trail.path(), problem });
    }

    fn block(&mut self, block: &Block, prior: Option<&Value>, config: &Value, planned: &Value, trail: &Trail<'_>) {
        match (config.is_null(), planned.is_null()) {
            // The provider dropped a configured block.
            (false, true) => self.report(trail, Problem::Missing),
            // The provider invented a block that nobody configured.
            (true, false) => self.report(trail, Problem::NotConfigured),
            (true, true) => {}
            (false, false) => self.fields(block, prior, config, planned, trail),
        }
    }

    /// Checks the attributes and nested blocks of an object that exists in both the configuration and the plan.
    fn fields(&mut self, block: &Block, prior: Option<&Value>, config: &Value, planned: &Value, trail: &Trail<'_>) {
        let (Kind::Object(config), Kind::Object(planned)) = (config.kind(), planned.kind()) else { return };
        let prior = prior.and_then(|prior| match prior.kind() {
            Kind::Object(object) => Some(object.values()),
            _ => None,
        });
        let parts = block.slots().iter().zip(config.values()).zip(planned.values()).enumerate();
        for (position, ((slot, config), planned)) in parts {
            let prior = prior.and_then(|prior| prior.get(position));
            let trail = trail.attribute(&slot.name);
            match &slot.item {
                Item::Attribute(attribute) => self.attribute(attribute, prior, config, planned, &trail),
                Item::Block(nested) => self.nested(nested, prior, config, planned, &trail),
            }
        }
    }

    fn attribute(
        &mut self,
        attribute: &Attribute,
        prior: Option<&Value>,
        config: &Value,
        planned: &Value,
        trail: &Trail<'_>,
    ) {
        // The configuration cannot set a computed attribute, so any planned value is allowed.
        if same(planned, config) || attribute.usage() == Use::Computed {
            return;
        }
        let prior_value = prior.filter(|prior| !prior.is_null());
        if config.is_null() {
            // Only computed attributes may get values that the configuration does not set (LC-07).
            if !attribute.is_computed() && !planned.is_null() {
                self.report(trail, Problem::NotComputed { planned: planned.clone() });
            }
        } else if prior_value.is_some_and(|prior| same(planned, prior))
            || (attribute.is_write_only() && planned.is_null())
        {
            // The provider treats the change as insignificant, or it correctly dropped a write-only value.
        } else if let Some(nested) = attribute.nested_type() {
            self.objects(nested.nesting().into(), nested.object(), prior_value, config, planned, trail);
        } else {
            let problem = Problem::NotAsConfigured {
                planned: planned.clone(),
                config: config.clone(),
                prior: prior_value.cloned(),
            };
            self.report(trail, problem);
        }
    }

    /// Checks a nested attribute that differs from the configured value as a whole.
    fn objects(
        &mut self,
        nesting: Nesting,
        object: &Block,
        prior: Option<&Value>,
        config: &Value,
        planned: &Value,
        trail: &Trail<'_>,
    ) {
        if planned.is_null() {
            return self.report(trail, Problem::Missing);
        }
        if !planned.is_known() {
            return self.report(trail, Problem::UnknownForConfigured);
        }
        if !config.is_known() {
            let problem =
                Problem::NotAsConfigured { planned: planned.clone(), config: config.clone(), prior: prior.cloned() };
            return self.report(trail, problem);
        }
        match nesting {
            Nesting::Single | Nesting::Group => self.fields(object, prior, config, planned, trail),
            Nesting::Set => self.set_count(config, planned, trail),
            Nesting::List => {
                self.by_position(prior, config, planned, trail, &mut |check, prior, config, planned, trail| {
                    check.fields(object, prior, config, planned, trail);
                })
            }
            Nesting::Map => self.by_key(prior, config, planned, trail, &mut |check, prior, config, planned, trail| {
                check.fields(object, prior, config, planned, trail);
            }),
        }
    }

    /// Compares only the number of set elements: they have no identity, and unknown ones may turn out equal.
    fn set_count(&mut self, config: &Value, planned: &Value, trail: &Trail<'_>) {
        let (Kind::Set(configured), Kind::Set(elements)) = (config.kind(), planned.kind()) else { return };
        // A set with unknown elements may end up with any size from one to its current number.
        let least = if planned.is_wholly_known() { elements.len() } else { elements.len().min(1) };
        let least_configured = if config.is_wholly_known() { configured.len() } else { configured.len().min(1) };
        if elements.len() < least_configured || configured.len() < least {
            let problem = Problem::CountNotAsConfigured { planned: elements.len(), config: configured.len() };
            self.report(trail, problem);
        }
    }

    fn nested(
        &mut self,
        nested: &NestedBlock,
        prior: Option<&Value>,
        config: &Value,
        planned: &Value,
        trail: &Trail<'_>,
    ) {
        if planned == config {
            return;
        }
        if !config.is_known() {
            // A dynamic block over an unknown collection must stay unknown.
            if planned.is_known() {
                self.report(trail, Problem::UnknownBlocksPlanned);
            }
            return;
        }
        if !planned.is_known() {
            return self.report(trail, Problem::BlocksUnknown);
        }
        let single = matches!(nested.nesting(), Nesting::Single | Nesting::Group);
        if planned.is_null() && !single {
            return self.report(trail, Problem::BlocksNull);
        }
        // A legacy provider may have stored null in the prior object, and ignore_changes copies it into the
        // configuration.
        let config = if config.is_null() && !single { nested.empty_value() } else { config };
        let block = nested.block();
        match nested.nesting() {
            Nesting::Single | Nesting::Group => self.block(block, prior, config, planned, trail),
            // Planned set elements cannot be correlated with configured ones, since computed attributes may differ.
            Nesting::Set => self.known_elements(planned, trail),
            Nesting::List => {
                self.by_position(prior, config, planned, trail, &mut |check, prior, config, planned, trail| {
                    check.element(block, prior, config, planned, trail);
                })
            }
            Nesting::Map => self.by_key(prior, config, planned, trail, &mut |check, prior, config, planned, trail| {
                check.element(block, prior, config, planned, trail);
            }),
        }
    }

    fn element(&mut self, block: &Block, prior: Option<&Value>, config: &Value, planned: &Value, trail: &Trail<'_>) {
        if planned.is_known() {
            self.block(block, prior, config, planned, trail);
        } else {
            self.report(trail, Problem::ElementUnknown);
        }
    }

    fn known_elements(&mut self, planned: &Value, trail: &Trail<'_>) {
        let Kind::Set(elements) = planned.kind() else { return };
        for element in elements.iter().filter(|element| !element.is_known()) {
            self.report(&trail.element(element), Problem::ElementUnknown);
        }
    }

    fn by_position(
        &mut self,
        prior: Option<&Value>,
        config: &Value,
        planned: &Value,
        trail: &Trail<'_>,
        each: &mut Each<'_>,
    ) {
        let (Some(configured), Some(elements)) = (sequence(config), sequence(planned)) else { return };
        // With different lengths, positions do not correspond, so no element is compared.
        if configured.len() != elements.len() {
            let problem = Problem::CountNotAsConfigured { planned: elements.len(), config: configured.len() };
            return self.report(trail, problem);
        }
        // The prior list may have another length, so its elements are optional.
        let prior = prior.and_then(sequence).unwrap_or_default();
        for (position, (config, planned)) in configured.iter().zip(elements).enumerate() {
            each(self, prior.get(position), config, planned, &trail.position(position));
        }
    }

    fn by_key(
        &mut self,
        prior: Option<&Value>,
        config: &Value,
        planned: &Value,
        trail: &Trail<'_>,
        each: &mut Each<'_>,
    ) {
        let (Some(configured), Some(elements)) = (Keyed::of(config), Keyed::of(planned)) else { return };
        let prior = prior.and_then(Keyed::of);
        for (key, planned) in elements.pairs() {
            match configured.get(key) {
                Some(config) => {
                    let prior = prior.as_ref().and_then(|prior| prior.get(key));
                    each(self, prior, config, planned, &trail.key(key));
                }
                None => self.report(trail, Problem::KeyNotConfigured(key.clone())),
            }
        }
        for (key, _) in configured.pairs().filter(|(key, _)| elements.get(key).is_none()) {
            self.report(trail, Problem::KeyNotPlanned(key.clone()));
        }
    }
}

/// A check of one planned element: prior, configuration, plan.
type Each<'e> = dyn FnMut(&mut Check, Option<&Value>, &Value, &Value, &Trail<'_>) + 'e;

/// Returns the elements of a list or tuple.
pub(super) fn sequence(value: &Value) -> Option<&[Value]> {
    match value.kind() {
        Kind::List(elements) | Kind::Tuple(elements) => Some(elements),
        _ => None,
    }
}

/// A map, or an object that represents a map whose elements have different types.
pub(super) enum Keyed<'a> {
    Map(groma_value::MapView<'a>),
    Object(groma_value::ObjectView<'a>),
}

impl<'a> Keyed<'a> {
    pub(super) fn of(value: &'a Value) -> Option<Self> {
        match value.kind() {
            Kind::Map(map) => Some(Self::Map(map)),
            Kind::Object(object) => Some(Self::Object(object)),
            _ => None,
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        match self {
            Self::Map(map) => map.get(key),
            Self::Object(object) => object.get(key),
        }
    }

    pub(super) fn pairs(&self) -> Box<dyn Iterator<Item = (&'a crate::Name, &'a Value)> + 'a> {
        match self {
            Self::Map(map) => Box::new(map.iter()),
            Self::Object(object) => Box::new(object.iter()),
        }
    }
}

/// Compares values, ignoring the refinements of unknown values.
fn same(a: &Value, b: &Value) -> bool {
    if a == b {
        return true;
    }
    // A wholly known value differs from the other for certain; only unknowns need the structural comparison.
    if a.is_wholly_known() || b.is_wholly_known() {
        return false;
    }
    let each = |a: &[Value], b: &[Value]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b));
    match (a.kind(), b.kind()) {
        // Refinements are promises about a value; providers may drop them.
        (Kind::Unknown(_), Kind::Unknown(_)) => a.ty() == b.ty(),
        (Kind::List(a), Kind::List(b)) | (Kind::Tuple(a), Kind::Tuple(b)) | (Kind::Set(a), Kind::Set(b)) => each(a, b),
        (Kind::Map(a), Kind::Map(b)) => {
            a.iter().map(|(key, _)| key).eq(b.iter().map(|(key, _)| key)) && each(a.values(), b.values())
        }
        (Kind::Object(a), Kind::Object(b)) => {
            a.iter().map(|(key, _)| key).eq(b.iter().map(|(key, _)| key)) && each(a.values(), b.values())
        }
        _ => false,
    }
}
