//! The violations that contract checks can find, and their messages.

use std::fmt::Write;

use groma_value::{Kind, Path, PathStep, Redacted, Value};

use crate::{Block, Name};

/// One violated rule at one path of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The attribute path within the object.
    pub path: Path,
    /// The violated rule, with the values involved.
    pub problem: Problem,
}

/// The violated rule, with the values for the message.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// The plan omits an object that the configuration has (4.4).
    Missing,
    /// The plan has an object that the configuration does not have (4.4).
    NotConfigured,
    /// A value was planned for an attribute that is not computed (LC-08).
    NotComputed {
        /// The value in the plan.
        planned: Value,
    },
    /// The planned value is neither the configured nor the prior value (LC-07).
    NotAsConfigured {
        /// The value in the plan.
        planned: Value,
        /// The configured value.
        config: Value,
        /// The prior value, if the object existed before.
        prior: Option<Value>,
    },
    /// Blocks of unknown number were planned as known (LC-09).
    UnknownBlocksPlanned,
    /// Configured blocks were planned as wholly unknown (LC-09).
    BlocksUnknown,
    /// One block, or one object of a nested attribute, was planned as wholly unknown.
    ElementUnknown,
    /// Blocks were planned as null instead of an empty collection.
    BlocksNull,
    /// Configured nested objects were planned as unknown.
    UnknownForConfigured,
    /// The number of nested objects differs from the configured number (LC-09).
    CountNotAsConfigured {
        /// The number in the plan.
        planned: usize,
        /// The number in the configuration.
        config: usize,
    },
    /// The plan has a key that the configuration does not have.
    KeyNotConfigured(Name),
    /// The configuration has a key that the plan does not have.
    KeyNotPlanned(Name),
    /// A planned object is absent from the result.
    Vanished,
    /// The result has an object that was not planned.
    Appeared,
    /// The type differs from the planned type.
    TypeChanged {
        /// The type of the planned value.
        planned: groma_value::Type,
        /// The type of the actual value.
        actual: groma_value::Type,
    },
    /// The value differs from the planned value (LC-10, LC-12).
    Changed {
        /// The value in the plan.
        planned: Value,
        /// The value in the result.
        actual: Value,
    },
    /// The value is outside the refinements of the planned unknown value (LC-11, LC-13).
    OutsideRefinement {
        /// The value in the result.
        actual: Value,
        /// The planned unknown value with its refinements.
        placeholder: Value,
    },
    /// A value that was known in the plan is now unknown.
    BecameUnknown,
    /// The element with this key or index is missing from the result.
    ElementVanished(String),
    /// The element with this key or index was not planned.
    ElementAppeared(String),
    /// The number of blocks or set elements changed.
    CountChanged {
        /// The planned number.
        planned: usize,
        /// The actual number.
        actual: usize,
    },
    /// No element of the actual set matches this planned element.
    PlannedElementMissing(Value),
    /// No element of the planned set matches this actual element.
    ElementNotPlanned(Value),
    /// The value does not conform to the schema's type (LC-01).
    Shape(String),
    /// The value is unknown where it must be known (LC-13, LC-21).
    Unknown,
    /// A write-only attribute has a value, which must not be stored (LC-29).
    WriteOnly,
}

/// The paths whose values messages must not show: sensitive attributes of the schema, and paths with a sensitive mark.
#[derive(Clone, Copy)]
pub struct Secrets<'a> {
    block: Option<&'a Block>,
    marked: &'a [Path],
}

impl<'a> Secrets<'a> {
    /// Creates the set of secrets from the schema and from the `marked` paths, which hide everything below them.
    pub fn new(block: &'a Block, marked: &'a [Path]) -> Self {
        Self { block: Some(block), marked }
    }

    /// The empty set: all values may be shown.
    pub const NONE: Secrets<'static> = Secrets { block: None, marked: &[] };

    fn contains(&self, path: &Path) -> bool {
        self.block.is_some_and(|block| {
            block.is_sensitive_at(path) || (block.contains_sensitive() && contains_secret_below(block, path))
        }) || self.marked.iter().any(|marked| path.starts_with(marked) || marked.starts_with(path))
    }
}

/// Whether a sensitive attribute is below `path`, so that the value at `path` contains a secret.
fn contains_secret_below(block: &Block, path: &Path) -> bool {
    let mut block = block;
    for step in path.steps() {
        let PathStep::Attribute(name) = step else { continue };
        match block.item(name).and_then(|item| item.nested()) {
            Some((_, inner)) => block = inner,
            None => return false,
        }
    }
    block.contains_sensitive()
}

impl Violation {
    /// Returns a clause that describes the problem, without a period; values at secret paths are redacted.
    pub fn message(&self, secrets: Secrets<'_>) -> String {
        let hidden = secrets.contains(&self.path);
        let show = |value: &Value| if hidden { Redacted::Sensitive.to_string() } else { render(value) };
        match &self.problem {
            Problem::Missing => "planned to be absent, but the configuration sets it".into(),
            Problem::NotConfigured => "planned to be present, but the configuration does not set it".into(),
            Problem::NotComputed { planned } => {
                format!("the value {} is planned, but only the configuration can set this argument", show(planned))
            }
            Problem::NotAsConfigured { planned, config, prior: None } => {
                format!("the planned value {} is not the configured value {}", show(planned), show(config))
            }
            Problem::NotAsConfigured { planned, config, prior: Some(prior) } => format!(
                "the planned value {} is neither the configured value {} nor the prior value {}",
                show(planned),
                show(config),
                show(prior)
            ),
            Problem::UnknownBlocksPlanned => {
                "blocks are planned although their number is unknown; they must stay unknown".into()
            }
            Problem::BlocksUnknown => {
                "the blocks are unknown as a whole; only attributes within them can be unknown".into()
            }
            Problem::ElementUnknown => {
                "the object is unknown as a whole; only attributes within it can be unknown".into()
            }
            Problem::BlocksNull => "the blocks are null; without blocks the value must be an empty collection".into(),
            Problem::UnknownForConfigured => "planned as unknown, but the configuration sets its value".into(),
            Problem::CountNotAsConfigured { planned, config } => {
                format!("the planned number {planned} differs from the configured number {config}")
            }
            Problem::KeyNotConfigured(key) => format!("the key {key:?} is planned, but not in the configuration"),
            Problem::KeyNotPlanned(key) => format!("the key {key:?} is in the configuration, but not planned"),
            Problem::Vanished => "planned to be present, but now absent".into(),
            Problem::Appeared => "planned to be absent, but now present".into(),
            Problem::TypeChanged { planned, actual } => {
                format!(
                    "the planned type is {}, but the actual type is {}",
                    planned.friendly_name(),
                    actual.friendly_name()
                )
            }
            Problem::Changed { planned, actual } => format!("was {}, but now {}", show(planned), show(actual)),
            Problem::OutsideRefinement { actual, .. } => {
                format!("the final value {} does not conform to the planned refinements", show(actual))
            }
            Problem::BecameUnknown => "was known, but now unknown".into(),
            Problem::ElementVanished(key) => format!("the element {key} has vanished"),
            Problem::ElementAppeared(key) => format!("a new element {key} has appeared"),
            Problem::CountChanged { planned, actual } => format!("the number changed from {planned} to {actual}"),
            Problem::PlannedElementMissing(element) => {
                format!("the planned element {} is not in the result", show(element))
            }
            Problem::ElementNotPlanned(element) => {
                format!("the element {} of the result was not planned", show(element))
            }
            Problem::Shape(message) => message.clone(),
            Problem::Unknown => "the value is still unknown".into(),
            Problem::WriteOnly => "a write-only attribute has a value; it must be null".into(),
        }
    }

    /// Renders the path within the object, for example `.rule[0].port`. Set elements have no index and show as `[...]`.
    pub fn location(&self) -> String {
        let mut text = String::new();
        for step in self.path.steps() {
            match step {
                PathStep::Attribute(name) => {
                    let _ = write!(text, ".{name}");
                }
                PathStep::Index(key) => match key.kind() {
                    Kind::Number(_) | Kind::String(_) => {
                        let _ = write!(text, "[{}]", render(key));
                    }
                    // A set element as an index would print the whole object, with possible secrets in it.
                    _ => text.push_str("[...]"),
                },
            }
        }
        text
    }
}

/// The maximum length of a rendered value, in characters.
const MAX_RENDERED: usize = 200;

/// Renders a value on one line, truncated at [`MAX_RENDERED`].
fn render(value: &Value) -> String {
    let mut text = String::new();
    write_value(value, &mut text);
    match text.char_indices().nth(MAX_RENDERED) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn write_value(value: &Value, text: &mut String) {
    // The caller truncates the rendering, so the remainder of a large value need not be built.
    if text.len() > 4 * MAX_RENDERED {
        return;
    }
    // Values that are only ephemeral are shown: a violation is reported in the run that saw them.
    if let Some(Redacted::Sensitive) = Redacted::of(value.marks()) {
        text.push_str(&Redacted::Sensitive.to_string());
        return;
    }
    match value.kind() {
        Kind::Null => text.push_str("null"),
        Kind::Unknown(_) => text.push_str("(known after apply)"),
        Kind::Bool(flag) => text.push_str(if flag { "true" } else { "false" }),
        Kind::Number(number) => {
            let _ = write!(text, "{number}");
        }
        Kind::String(string) => {
            let _ = write!(text, "{string:?}");
        }
        Kind::List(elements) | Kind::Set(elements) | Kind::Tuple(elements) => {
            text.push('[');
            for (position, element) in elements.iter().enumerate() {
                if position > 0 {
                    text.push_str(", ");
                }
                write_value(element, text);
            }
            text.push(']');
        }
        Kind::Map(elements) => write_pairs(elements.iter(), text),
        Kind::Object(elements) => write_pairs(elements.iter(), text),
    }
}

fn write_pairs<'a>(pairs: impl Iterator<Item = (&'a Name, &'a Value)>, text: &mut String) {
    text.push('{');
    for (position, (key, element)) in pairs.enumerate() {
        text.push_str(if position > 0 { ", " } else { "" });
        let _ = write!(text, "{key} = ");
        write_value(element, text);
    }
    text.push('}');
}
