//! `ignore_changes`: the prior value replaces the configured one before the provider plans (PL-20). Apply does the same before it plans
//! again, with the object as it is then.

use groma_config::IgnoreChanges;
use groma_hcl::{LiteralKey, Step, Traversal};
use groma_provider::{Block, Item, Use};
use groma_value::{Kind, Number, Path, PathStep, Type, Value};

use crate::evaluation::Evaluation;
use crate::world::InstanceScope;

/// The ignored arguments of one instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Ignore {
    /// No argument is ignored.
    #[default]
    Nothing,
    /// All arguments are ignored.
    All,
    /// The arguments at these paths are ignored.
    Paths(Vec<Path>),
}

/// Converts a traversal that starts with an attribute of a resource to a path.
pub fn relative_path(traversal: &Traversal) -> Path {
    let root = PathStep::Attribute(traversal.root.name.clone());
    Path::from_iter(std::iter::once(root).chain(traversal.steps().iter().map(path_step)))
}

/// Converts the steps after a resource to a path; the root path if they do not begin with an attribute.
pub fn steps_path(steps: &[Step]) -> Path {
    match steps {
        [Step::Attribute { .. }, ..] => steps.iter().map(path_step).collect(),
        _ => Path::root(),
    }
}

fn path_step(step: &Step) -> PathStep {
    match step {
        Step::Attribute { name, .. } => PathStep::Attribute(name.clone()),
        Step::Index { key: LiteralKey::String(key), .. } => PathStep::Index(Value::string(key)),
        Step::Index { key: LiteralKey::Number(digits), .. } => {
            PathStep::Index(Number::parse(digits).map_or(Value::DYNAMIC, Value::number))
        }
    }
}

/// Returns the configuration with the prior object's values at the ignored paths.
pub fn ignore_changes(block: &Block, ignore: &Ignore, prior: &Value, config: Value) -> Value {
    // A creation has nothing to keep, and a deletion has no configuration.
    if prior.is_null() || config.is_null() {
        return config;
    }
    match ignore {
        Ignore::Nothing => config,
        Ignore::All => configurable(block, prior),
        Ignore::Paths(paths) => paths.iter().fold(config, |config, path| keep(&config, prior, path.steps())),
    }
}

/// Returns the configuration without the ignored arguments, for an import: what the object has counts there. An argument is left out as a
/// whole, even if only a part of it is ignored.
pub fn without_ignored(block: &Block, ignore: &Ignore, config: Value) -> Value {
    let without = |config: Value, path: &Path| keep(&config, block.empty_value(), path.steps().get(..1).unwrap_or(&[]));
    match ignore {
        Ignore::Nothing => config,
        Ignore::All => block.null_value(),
        Ignore::Paths(paths) => paths.iter().fold(config, without),
    }
}

/// Returns an object without computed-only attributes: the part that a configuration can set.
fn configurable(block: &Block, prior: &Value) -> Value {
    let Some(object) = prior.as_object() else { return prior.clone() };
    let values = block.slots().iter().zip(object.values()).map(|(slot, value)| match &slot.item {
        // Computed attributes cannot be set in a configuration, so they must not appear in one.
        Item::Attribute(attribute) if attribute.usage() == Use::Computed => Value::null(attribute.ty()),
        Item::Attribute(_) | Item::Block(_) => match slot.item.nested() {
            Some((_, inner)) => each_object(inner, value),
            None => value.clone(),
        },
    });
    Value::object_shaped(block.shape(), values.collect()).with_marks(prior.marks())
}

fn each_object(block: &Block, value: &Value) -> Value {
    let marks = value.marks().clone();
    let same = match value.kind() {
        Kind::Object(_) => configurable(block, value),
        Kind::List(elements) => Value::list(
            block.implied_type().clone(),
            elements.iter().map(|element| configurable(block, element)).collect(),
        ),
        Kind::Set(elements) => Value::set(
            block.implied_type().clone(),
            elements.iter().map(|element| configurable(block, element)).collect(),
        ),
        Kind::Tuple(elements) => Value::tuple(elements.iter().map(|element| configurable(block, element)).collect()),
        Kind::Map(map) => Value::map(
            block.implied_type().clone(),
            map.iter().map(|(key, element)| (key.clone(), configurable(block, element))),
        ),
        _ => return value.clone(),
    };
    same.with_marks(&marks)
}

/// Returns `config` with the value of `prior` at `steps`; `config` itself if either value has no such path.
fn keep(config: &Value, prior: &Value, steps: &[PathStep]) -> Value {
    let Some((step, rest)) = steps.split_first() else { return prior.clone() };
    // The kept value brings its marks along, or a sensitive value would be revealed.
    let marks = config.marks().union(prior.marks());
    match (step, config.kind(), prior.kind()) {
        (PathStep::Attribute(name), Kind::Object(ours), Kind::Object(theirs)) => {
            // An attribute that does not exist is reported by validation; it changes nothing here.
            let Some(at) = ours.shape().position(name) else { return config.clone() };
            let (Some(mine), Some(known)) = (ours.values().get(at), theirs.get(name)) else { return config.clone() };
            let mut values = ours.values().to_vec();
            values[at] = keep(mine, known, rest);
            Value::object_shaped(ours.shape(), values).with_marks(config.marks())
        }
        (PathStep::Index(key), _, _) if let Some(key) = key.as_str() => match config.ty() {
            Type::Map(_) => keep_entry(config, prior, key, rest).with_marks(&marks),
            // Only maps have entries. A string key at the end of the path ignores any other value as a whole.
            _ if rest.is_empty() => prior.clone(),
            _ => config.clone(),
        },
        (PathStep::Index(key), Kind::List(ours), Kind::List(theirs)) => {
            let Type::List(element) = config.ty() else { return config.clone() };
            let kept = keep_element(ours, theirs, key, rest);
            kept.map_or_else(|| config.clone(), |kept| Value::list_of(element, kept).with_marks(config.marks()))
        }
        // A tuple in the configuration can become a list in the object, depending on the attribute's type.
        (PathStep::Index(key), Kind::Tuple(ours), Kind::Tuple(theirs) | Kind::List(theirs)) => {
            let kept = keep_element(ours, theirs, key, rest);
            kept.map_or_else(|| config.clone(), |kept| Value::tuple(kept).with_marks(config.marks()))
        }
        _ => config.clone(),
    }
}

/// Returns the elements of `ours` with the one of `theirs` at `key`; `None` if either has no element there.
fn keep_element(ours: &[Value], theirs: &[Value], key: &Value, rest: &[PathStep]) -> Option<Vec<Value>> {
    let at = usize::try_from(key.as_number().and_then(Number::to_u64)?).ok()?;
    let kept = keep(ours.get(at)?, theirs.get(at)?, rest);
    let mut values = ours.to_vec();
    values[at] = kept;
    Some(values)
}

/// Keeps the prior entry of a map. If the path ends at the entry, its absence is kept as well.
fn keep_entry(config: &Value, prior: &Value, key: &str, rest: &[PathStep]) -> Value {
    let (ours, theirs) = (config.as_map(), prior.as_map());
    let Type::Map(element) = config.ty() else { return config.clone() };
    let mut entries: Vec<(groma_value::Name, Value)> = match &ours {
        Some(map) => {
            map.iter().filter(|(name, _)| ***name != *key).map(|(name, value)| (name.clone(), value.clone())).collect()
        }
        None => Vec::new(),
    };
    let mine = ours.and_then(|map| map.get(key).cloned());
    let known = theirs.and_then(|map| map.get(key).cloned());
    match (known, mine) {
        (Some(known), Some(mine)) => entries.push((key.into(), keep(&mine, &known, rest))),
        // An entry that was added outside of the configuration is kept as well (PL-20).
        (Some(known), None) if rest.is_empty() => entries.push((key.into(), known)),
        // Only part of the entry is ignored, and that part does not exist in the prior object.
        (None, Some(mine)) if !rest.is_empty() => entries.push((key.into(), mine)),
        (_, None) | (None, Some(_)) => {}
    }
    // A null map stays null instead of becoming an empty one, which would be a change.
    if entries.is_empty() && config.is_null() {
        return config.clone();
    }
    Value::map_of(element, entries)
}

/// Evaluates the `ignore_changes` argument for one instance.
pub(crate) fn evaluate_ignore_changes(
    evaluation: &mut Evaluation,
    ignore: &IgnoreChanges,
    scope: &InstanceScope<'_>,
) -> Ignore {
    match ignore {
        IgnoreChanges::None => Ignore::Nothing,
        IgnoreChanges::All => Ignore::All,
        IgnoreChanges::Paths(paths) => Ignore::Paths(paths.iter().map(relative_path).collect()),
        IgnoreChanges::Expression(expression) => match evaluation.value(expression, scope) {
            Some(value) => named_paths(&value),
            None => Ignore::Nothing,
        },
    }
}

/// Parses the value of an expression: a list of strings such as `tags["x"]`, or `all`.
fn named_paths(value: &Value) -> Ignore {
    let (value, _) = value.unmark_deep();
    let one = |text: &str| {
        let sources = groma_diagnostics::Sources::new();
        let file = sources.add("ignore_changes", text)?;
        let (traversal, problems) = groma_hcl::parse_traversal(&file);
        traversal.filter(|_| !problems.has_errors()).map(|traversal| relative_path(&traversal))
    };
    match value.kind() {
        Kind::String(text) if **text == *"all" => Ignore::All,
        Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => {
            Ignore::Paths(items.iter().filter_map(|item| one(item.as_str()?)).collect())
        }
        _ => Ignore::Nothing,
    }
}
