//! Planning of an object from configuration and prior state (CC-30, CC-32, CC-35, CC-36).

use groma_provider::Use;
use groma_value::{Kind, ObjectView, Path, PathStep, Value};

use super::declare::is_planned_by_framework;
use super::fields::{Change, Field, Fields, Order, Shape};
use super::private_state::{Configured, Import};
use super::same::{agrees, partners, same, same_in_any_order};
use crate::Name;

/// The planned state of an object.
#[derive(Debug)]
pub struct Plan {
    /// The object, unknown where only the service can say.
    pub state: Value,
    /// Attributes whose change needs a new object.
    pub replace: Vec<Path>,
    /// Attributes of an imported object that are fixed at creation and that the service does not return: the object is
    /// assumed to have the configured values.
    pub adopted: Vec<Path>,
}

/// The inputs of planning an object.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The configuration of the object.
    pub config: &'a Value,
    /// The prior state of the object.
    pub prior: &'a Value,
    /// The plan of the framework, which has the last word on what [`is_planned_by_framework`].
    pub framework: &'a Value,
    /// The configured arguments of the last change.
    pub configured: Option<&'a Configured>,
    /// The import of the object.
    pub import: Option<Import>,
}

/// Plans the object that a configuration asks for. What must be replaced because of values that the framework has planned is
/// not repeated.
pub fn plan(fields: &Fields, from: Sources<'_>) -> Plan {
    let Sources { config, prior, framework, configured, import } = from;
    let creating = prior.is_null();
    let imported = !creating && configured.is_none();
    let run = |order: ImportedOrder| {
        let mut planner = Planner {
            creating,
            imported,
            adopts: !creating && import == Some(Import::Unconfigured),
            keeps_settings: imported || import.is_some(),
            order,
            replace: Vec::new(),
            adopted: Vec::new(),
            path: Path::root(),
            new_elements: 0,
            moved_elements: 0,
        };
        let configured_view = ConfiguredView { framework: framework.as_object(), configured };
        let state = planner.object(fields, config, prior, configured_view, Past::of(prior));
        (state, planner)
    };
    let first = run(ImportedOrder::Prior);
    // An update sends the configured order too: otherwise the next plan, of an object no longer imported, would.
    let (state, planner) = if imported && first.0 != *prior { run(ImportedOrder::Configured) } else { first };
    let state = if creating || state == *prior { state } else { open_results(fields, &state) };
    Plan { state, replace: planner.replace, adopted: planner.adopted }
}

/// In an object about to change, results that the service has not had yet may come. Lists and objects that are empty now
/// are not announced: they mostly stay so.
fn open_results(fields: &Fields, state: &Value) -> Value {
    fields.map(state, |field, value| match &field.shape {
        shape if field.read_only() && value.is_null() && shape.ty().is_primitive() => Value::unknown(shape.ty()),
        Shape::Object(inner) if !field.read_only() && !value.is_null() && value.is_known() => {
            open_results(inner, value)
        }
        _ => value.clone(),
    })
}

/// Additional inputs for objects that are not elements.
#[derive(Clone, Copy, Default)]
struct ConfiguredView<'a> {
    framework: Option<ObjectView<'a>>,
    configured: Option<&'a Configured>,
}

impl<'a> ConfiguredView<'a> {
    /// Returns the additional inputs for the object in an attribute.
    fn inside(self, index: usize, field: &Field) -> Self {
        Self {
            framework: self.value(index).and_then(Value::as_object),
            configured: self.configured.and_then(|configured| configured.get(&field.attribute)),
        }
    }

    fn value(self, index: usize) -> Option<&'a Value> {
        self.framework.and_then(|view| view.values().get(index))
    }
}

/// Whether an object has a counterpart in the prior state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Past {
    /// There is no prior object: the service chooses everything that is not configured.
    None,
    Known,
}

impl Past {
    fn of(prior: &Value) -> Self {
        if prior.is_null() { Self::None } else { Self::Known }
    }
}

/// The past of an attribute.
#[derive(Clone, Copy)]
struct Prior<'a> {
    value: &'a Value,
    /// The configured arguments of the last change, if the attribute was among them.
    was: Option<&'a Configured>,
    past: Past,
}

/// The order of lists of an imported object whose schema does not say whether their order is significant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ImportedOrder {
    /// The order of the service, if the elements are the configured ones.
    Prior,
    /// The configured order.
    Configured,
}

struct Planner {
    creating: bool,
    /// Whether the arguments of the last change are unknown, because others created the object.
    imported: bool,
    /// Whether configured values that cannot change and that the service does not return are taken for those of the object. Only an
    /// import without its configuration leaves that open.
    adopts: bool,
    /// Whether settings that are not configured stay as they are, instead of becoming the defaults of the schema.
    keeps_settings: bool,
    order: ImportedOrder,
    replace: Vec<Path>,
    adopted: Vec<Path>,
    path: Path,
    /// Number of enclosing elements that are new.
    new_elements: usize,
    /// Number of enclosing elements that have moved.
    moved_elements: usize,
}

impl Planner {
    /// Whether the service chose the order of lists.
    fn keeps_order(&self) -> bool {
        self.imported && self.order == ImportedOrder::Prior
    }

    fn object(
        &mut self,
        fields: &Fields,
        config: &Value,
        prior: &Value,
        configured_view: ConfiguredView<'_>,
        past: Past,
    ) -> Value {
        let Some(given) = config.as_object() else { return config.clone() };
        let before = prior.as_object();
        let values = fields.list.iter().enumerate().zip(given.values()).map(|((index, field), config)| {
            let empty = fields.block.slots().get(index).map_or(&Value::NULL, |slot| slot.item.empty_value());
            let prior = before.and_then(|view| view.values().get(index)).unwrap_or(empty);
            if field.ephemeral_of.is_some() {
                // No plan and no state keeps such a value.
                return Value::null(field.shape.ty());
            }
            match configured_view.value(index).filter(|_| !config.is_null() && is_planned_by_framework(field)) {
                // The service chose the order of an imported list.
                Some(planned)
                    if self.keeps_order() && !prior.is_null() && same_in_any_order(&field.shape, prior, planned) =>
                {
                    prior.clone()
                }
                Some(planned) => {
                    self.note_adoption(field, prior, planned);
                    planned.clone()
                }
                None if config.is_null() => {
                    let default = field.default.as_ref().filter(|_| !has_alternative(fields, field, given.values()));
                    let was = configured_view.inside(index, field).configured;
                    self.unconfigured(field, default, Prior { value: prior, was, past })
                }
                None => self.field(field, config, prior, configured_view.inside(index, field), past),
            }
        });
        let values: Vec<Value> = values.collect();
        fields.block.object(values)
    }

    fn field(
        &mut self,
        field: &Field,
        config: &Value,
        prior: &Value,
        configured_view: ConfiguredView<'_>,
        past: Past,
    ) -> Value {
        self.path.push(PathStep::Attribute(field.attribute.clone()));
        let planned = match field.plain && config.is_known() {
            true if !prior.is_null() && agrees(&field.shape, config, prior) => prior.clone(),
            true => config.clone(),
            false if prior.is_null() => self.value(&field.shape, config, prior, configured_view, Past::None),
            false => self.value(&field.shape, config, prior, configured_view, past),
        };
        let is_update = !self.creating && self.new_elements == 0;
        if is_update && field.change != Change::InPlace && planned != *prior {
            let paths = if self.adopts && prior.is_null() { &mut self.adopted } else { &mut self.replace };
            paths.push(self.path.clone());
        }
        self.path.pop();
        planned
    }

    /// Records a value of an imported object that the framework has planned and that nothing can be compared with.
    fn note_adoption(&mut self, field: &Field, prior: &Value, planned: &Value) {
        let fixed = self.adopts && self.new_elements == 0 && field.change != Change::InPlace;
        if fixed && prior.is_null() && !planned.is_null() {
            self.path.push(PathStep::Attribute(field.attribute.clone()));
            self.adopted.push(self.path.clone());
            self.path.pop();
        }
    }

    /// Plans a value that the configuration does not set: the default of the schema, the prior value, or whatever the
    /// service will choose.
    fn unconfigured(&self, field: &Field, default: Option<&Value>, before: Prior<'_>) -> Value {
        let Prior { value: prior, was, past } = before;
        if !field.usage.is_computed() {
            return Value::null(field.shape.ty());
        }
        if past == Past::None {
            return match default {
                Some(default) => default.clone(),
                None => Value::unknown(field.shape.ty()),
            };
        }
        // An imported object keeps its settings, and an object its name.
        let default = default.filter(|default| {
            let restorable = !prior.is_null() || field.write_only;
            !self.keeps_settings && restorable && field.change == Change::InPlace && default.is_wholly_known()
        });
        if let Some(default) = default {
            return if same(&field.shape, prior, default) { prior.clone() } else { default.clone() };
        }
        if prior.is_null() {
            return prior.clone();
        }
        let removable = field.change == Change::InPlace && !has_fixed(&field.shape, prior);
        let removed = was.is_some() && field.usage == Use::OptionalComputed && removable;
        match (removed, field.write_only) {
            (false, _) => prior.clone(),
            (true, true) => Value::null(field.shape.ty()),
            (true, false) => Value::unknown(field.shape.ty()),
        }
    }

    fn value(
        &mut self,
        shape: &Shape,
        config: &Value,
        prior: &Value,
        configured_view: ConfiguredView<'_>,
        past: Past,
    ) -> Value {
        if !config.is_known() {
            return config.clone();
        }
        let planned = match (shape, config.kind()) {
            (Shape::Object(fields), Kind::Object(_)) => self.object(fields, config, prior, configured_view, past),
            (Shape::List(element, order), Kind::List(values)) => {
                let before = prior.as_slice().unwrap_or_default();
                Value::list(element.ty(), self.elements(element, *order, values, before))
            }
            (Shape::Set(element), Kind::Set(values)) => {
                let before = prior.as_slice().unwrap_or_default();
                Value::set(element.ty(), self.elements(element, Order::Ignored, values, before))
            }
            (Shape::Map(element), Kind::Map(view)) => {
                let before = prior.as_map();
                let null = Value::null(element.ty());
                let entries: Vec<_> = view
                    .iter()
                    .map(|(key, value)| {
                        let prior = before.and_then(|view| view.get(key)).unwrap_or(&null);
                        (key.clone(), self.inside(element, value, prior, Value::from(key)))
                    })
                    .collect();
                Value::map(element.ty(), entries)
            }
            _ => config.clone(),
        };
        // The prior form of the same meaning stays; elements are compared with what stood at their position.
        let comparable = self.moved_elements == 0 && !prior.is_null();
        let equal = same(shape, prior, &planned) || (self.keeps_order() && same_in_any_order(shape, prior, &planned));
        if comparable && equal { prior.clone() } else { planned }
    }

    fn inside(&mut self, element: &Shape, config: &Value, prior: &Value, key: Value) -> Value {
        self.path.push(PathStep::Index(key));
        self.new_elements += usize::from(prior.is_null());
        let planned = self.value(element, config, prior, ConfiguredView::default(), Past::of(prior));
        self.new_elements -= usize::from(prior.is_null());
        self.path.pop();
        planned
    }

    /// Each element with its own counterpart in the prior state: a removed first element does not shift what the service
    /// chose onto its neighbours.
    fn elements(&mut self, element: &Shape, order: Order, values: &[Value], before: &[Value]) -> Vec<Value> {
        if !matches!(
            element,
            Shape::Object(_) | Shape::List(..) | Shape::Map(_) | Shape::Set(_) | Shape::Json | Shape::Time
        ) {
            return values.to_vec();
        }
        let null = Value::null(element.ty());
        let positional = order == Order::Kept || (order == Order::Unstated && !self.imported);
        let partners = if positional && values.len() == before.len() && !has_key(element) {
            (0..values.len()).map(Some).collect()
        } else {
            partners(element, values, before)
        };
        let mut planned = Vec::with_capacity(values.len());
        for (index, (value, partner)) in values.iter().zip(partners).enumerate() {
            let prior = partner.and_then(|partner| before.get(partner)).unwrap_or(&null);
            let moved = usize::from(partner.is_some_and(|partner| partner != index));
            self.moved_elements += moved;
            planned.push(self.inside(element, value, prior, Value::number(index)));
            self.moved_elements -= moved;
        }
        planned
    }
}

/// Whether the configuration sets something that rules out the default of a field.
fn has_alternative(fields: &Fields, field: &Field, given: &[Value]) -> bool {
    let is_set = |property: &Name| {
        let mut members = fields.list.iter().zip(given);
        members.any(|(field, value)| field.property.as_ref() == Some(property) && !value.is_null())
    };
    field.alternatives.iter().any(|group| group.iter().all(is_set))
}

/// Whether an object has a value that cannot change after creation, and so cannot be removed with the object either.
pub(super) fn has_fixed(shape: &Shape, value: &Value) -> bool {
    let (Shape::Object(fields), Kind::Object(view)) = (shape, value.kind()) else { return false };
    fields
        .list
        .iter()
        .zip(view.values())
        .any(|(field, value)| !value.is_null() && (field.change != Change::InPlace || has_fixed(&field.shape, value)))
}

fn has_key(element: &Shape) -> bool {
    matches!(element, Shape::Object(fields) if fields.key.is_some())
}
