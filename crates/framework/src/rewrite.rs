//! The walk through an object that all parts of the framework share: over the slots of a schema, with the
//! configuration, the plan and the prior state in parallel.

use groma_provider::{Block, Nesting, Slot, collection_like, match_set_elements};
use groma_value::{Kind, Path, PathStep, Value};

use crate::ResourceSchema;
use crate::schema::{RuleSet, SlotRules};

/// An attribute or nested block type at its position in the object.
pub(crate) struct Visit<'a> {
    pub(crate) path: &'a Path,
    pub(crate) slot: &'a Slot,
    pub(crate) rules: &'a SlotRules,
    pub(crate) config: &'a Value,
    pub(crate) plan: &'a Value,
    pub(crate) state: &'a Value,
}

/// The decision of a visitor about an attribute.
pub(crate) enum Next {
    /// Sets the value, and visits nested attributes.
    Into(Value),
    /// Sets the value, and does not visit nested attributes.
    Past(Value),
}

/// A function that is called for each attribute.
pub(crate) type Visitor<'v> = dyn FnMut(&Visit<'_>) -> Next + 'v;

/// Three objects that are walked in parallel. A missing counterpart is null.
#[derive(Clone, Copy)]
pub(crate) struct ObjectStates<'a> {
    pub(crate) config: &'a Value,
    pub(crate) plan: &'a Value,
    pub(crate) state: &'a Value,
}

/// Returns the plan after `visit` was called for every attribute, outer before inner ones.
pub(crate) fn rewrite(block: &Block, rules: &RuleSet, triple: ObjectStates<'_>, visit: &mut Visitor<'_>) -> Value {
    object(block, Some(rules), triple, &mut Path::root(), visit)
}

/// The rules of an attribute in objects that have none.
static NO_RULES: SlotRules = SlotRules::NONE;

fn object(
    block: &Block,
    rules: Option<&RuleSet>,
    triple: ObjectStates<'_>,
    path: &mut Path,
    visit: &mut Visitor<'_>,
) -> Value {
    // Null and unknown objects have no attributes to visit.
    let Kind::Object(planned) = triple.plan.kind() else { return triple.plan.clone() };
    let (config, state) = (parts(triple.config), parts(triple.state));
    let slots = block.slots().iter().zip(planned.values()).enumerate();
    let values = slots.map(|(position, (slot, plan))| {
        let slot_rules = rules.and_then(|rules| rules.slots.get(position)).unwrap_or(&NO_RULES);
        // The counterpart of a new nested object does not exist; visitors then see null.
        let absent = slot.item.empty_value();
        let triple = ObjectStates {
            config: config.and_then(|values| values.get(position)).unwrap_or(absent),
            plan,
            state: state.and_then(|values| values.get(position)).unwrap_or(absent),
        };
        path.push(PathStep::Attribute(slot.name.clone()));
        let next = visit(&Visit {
            path,
            slot,
            rules: slot_rules,
            config: triple.config,
            plan: triple.plan,
            state: triple.state,
        });
        let value = match (next, slot.item.nested()) {
            // Inner values come from the outer value that the visitor decided on.
            (Next::Into(plan), Some((nesting, block))) => {
                let triple = ObjectStates { plan: &plan, ..triple };
                nested(nesting, block, slot_rules.nested.as_ref(), triple, path, visit)
            }
            (Next::Into(value) | Next::Past(value), _) => value,
        };
        path.pop();
        value
    });
    let values = values.collect();
    block.object(values)
}

fn nested(
    nesting: Nesting,
    block: &Block,
    rules: Option<&RuleSet>,
    triple: ObjectStates<'_>,
    path: &mut Path,
    visit: &mut Visitor<'_>,
) -> Value {
    let null = block.null_value();
    let mut element = |step: PathStep, config: Option<&Value>, plan: &Value, state: Option<&Value>| {
        path.push(step);
        let triple = ObjectStates { config: config.unwrap_or(&null), plan, state: state.unwrap_or(&null) };
        let value = object(block, rules, triple, path, visit);
        path.pop();
        value
    };
    let elements: Vec<Value> = match (nesting, triple.plan.kind()) {
        (Nesting::Single | Nesting::Group, Kind::Object(_)) => return object(block, rules, triple, path, visit),
        (Nesting::List, Kind::List(planned) | Kind::Tuple(planned)) => {
            let (config, state) = (sequence(triple.config), sequence(triple.state));
            let each = planned.iter().enumerate().map(|(position, plan)| {
                let step = PathStep::Index(Value::number(position as u64));
                element(step, config.get(position), plan, state.get(position))
            });
            each.collect()
        }
        (Nesting::Map, Kind::Map(planned)) => {
            let each = planned.iter().map(|(key, plan)| {
                element(PathStep::Index(Value::from(key)), keyed(triple.config, key), plan, keyed(triple.state, key))
            });
            each.collect()
        }
        (Nesting::Map, Kind::Object(planned)) => {
            let each = planned.iter().map(|(key, plan)| {
                element(PathStep::Index(Value::from(key)), keyed(triple.config, key), plan, keyed(triple.state, key))
            });
            each.collect()
        }
        (Nesting::Set, Kind::Set(planned)) => {
            let (config, state) = (sequence(triple.config), sequence(triple.state));
            // FW-14: elements are matched by their configured attributes and not by their position.
            let of_config = inverted(&match_set_elements(block, config, planned), planned.len());
            // Matched by the configured values: computed ones may be unknown in the plan and known in the state.
            let known_by: Vec<Value> = planned
                .iter()
                .zip(&of_config)
                .map(|(plan, at)| at_index(config, *at).unwrap_or(plan).clone())
                .collect();
            let of_state = match_set_elements(block, &known_by, state);
            let each = planned.iter().enumerate().map(|(position, plan)| {
                let config = at_index(config, of_config.get(position).copied().flatten());
                let state = at_index(state, of_state.get(position).copied().flatten());
                element(PathStep::Index(plan.clone()), config, plan, state)
            });
            each.collect()
        }
        _ => return triple.plan.clone(),
    };
    collection_like(triple.plan, block, elements)
}

/// Inverts the assignment of configured to planned elements.
fn inverted(matches: &[Option<usize>], length: usize) -> Vec<Option<usize>> {
    let mut inverse = vec![None; length];
    for (from, to) in matches.iter().enumerate() {
        if let Some(slot) = to.and_then(|to| inverse.get_mut(to)) {
            *slot = Some(from);
        }
    }
    inverse
}

fn at_index(values: &[Value], position: Option<usize>) -> Option<&Value> {
    position.and_then(|position| values.get(position))
}

fn parts(value: &Value) -> Option<&[Value]> {
    value.as_object().map(|object| object.values())
}

fn sequence(value: &Value) -> &[Value] {
    value.as_slice().unwrap_or_default()
}

fn keyed<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value.kind() {
        Kind::Map(map) => map.get(key),
        Kind::Object(object) => object.get(key),
        _ => None,
    }
}

/// Returns `value`, with the prior value of each attribute that is semantically equal to it.
pub(crate) fn keep_prior_form(schema: &ResourceSchema, value: &Value, prior: &Value) -> Value {
    // Most schemas have no semantic equality, and their objects are returned without a walk.
    if !schema.rules().kinds.equality || value.is_null() || prior.is_null() || value == prior {
        return value.clone();
    }
    let triple = ObjectStates { config: value, plan: value, state: prior };
    rewrite(schema.block(), schema.rules(), triple, &mut |visit| {
        // Author code only compares real values; null and unknown mean the same as nothing.
        let comparable = |value: &Value| !value.is_null() && value.is_wholly_known();
        match &visit.rules.own.equality {
            Some(equal) if visit.plan != visit.state && comparable(visit.plan) && comparable(visit.state) => {
                let same = equal(visit.plan, visit.state);
                Next::Past(if same { visit.state } else { visit.plan }.clone())
            }
            _ => Next::Into(visit.plan.clone()),
        }
    })
}
