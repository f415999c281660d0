//! What can be wrong with an object that a provider returned, and how people are told.

use std::fmt::Write;

use groma_value::{Kind, Path, PathStep, Value};

use crate::{Block, Name};

/// One rule broken at one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Where in the object.
    pub path: Path,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// The plan has nothing where the configuration wants something (4.4).
    Missing,
    /// The plan has something where the configuration wants nothing (4.4).
    Unwanted,
    /// A value was planned for an attribute that only the configuration gives (LC-08).
    NotComputed {
        /// The planned value.
        planned: Value,
    },
    /// The planned value is neither the configuration's nor the prior one (LC-07).
    NotAsConfigured {
        /// The planned value.
        planned: Value,
        /// The configuration's.
        config: Value,
        /// The prior one, when there was one.
        prior: Option<Value>,
    },
    /// Blocks whose number is not known yet were replaced by something (LC-09).
    UnknownBlocksPlanned,
    /// Blocks became unknown as a whole (LC-09).
    BlocksUnknown,
    /// One block, or one object of a nested attribute, became unknown as a whole.
    ElementUnknown,
    /// No blocks are to be an empty collection, not null.
    BlocksNull,
    /// Nested objects are unknown though the configuration gives them.
    UnknownForConfigured,
    /// The number of nested objects is not the configuration's (LC-09).
    CountNotAsConfigured {
        /// How many were planned.
        planned: usize,
        /// How many the configuration has.
        config: usize,
    },
    /// A key of the plan is not in the configuration.
    KeyNotConfigured(Name),
    /// A key of the configuration is not in the plan.
    KeyNotPlanned(Name),
    /// There was to be an object, and there is none.
    Vanished,
    /// There was to be no object, and there is one.
    Appeared,
    /// Another type than promised.
    TypeChanged {
        /// The type of the planned value.
        planned: groma_value::Type,
        /// The type that came.
        actual: groma_value::Type,
    },
    /// Another value than promised (LC-10, LC-12).
    Changed {
        /// The value promised.
        planned: Value,
        /// The value that came.
        actual: Value,
    },
    /// What was unknown became something outside what was promised about it (LC-11, LC-13).
    OutsideRefinement {
        /// The value that came.
        actual: Value,
        /// What was promised.
        placeholder: Value,
    },
    /// What was known is unknown now.
    BecameUnknown,
    /// An element with this key or position is gone.
    ElementVanished(String),
    /// An element with this key or position is new.
    ElementAppeared(String),
    /// The number of blocks or set elements changed.
    CountChanged {
        /// How many were promised.
        planned: usize,
        /// How many came.
        actual: usize,
    },
    /// No element of the set that came fits this one.
    PlannedElementLost(Value),
    /// No element of the set that was promised fits this one.
    ElementNotPlanned(Value),
    /// The value is not of the schema's type (LC-01).
    Shape(String),
    /// An unknown value where everything must be known (LC-13, LC-21).
    Unknown,
    /// A value of a write-only attribute, which nobody may keep (LC-29).
    WriteOnly,
}

/// What must not be shown of an object: what its schema hides, and what carried the sensitive mark.
#[derive(Clone, Copy)]
pub struct Secrets<'a> {
    block: Option<&'a Block>,
    marked: &'a [Path],
}

impl<'a> Secrets<'a> {
    /// What `block` hides, and everything at or below the paths `marked`.
    pub fn new(block: &'a Block, marked: &'a [Path]) -> Self {
        Self { block: Some(block), marked }
    }

    /// Everything may be shown.
    pub const NONE: Secrets<'static> = Secrets { block: None, marked: &[] };

    fn hides(&self, path: &Path) -> bool {
        self.block.is_some_and(|block| {
            block.is_sensitive_at(path) || (block.contains_sensitive() && whole_of_secret(block, path))
        }) || self.marked.iter().any(|marked| path.starts_with(marked) || marked.starts_with(path))
    }
}

/// Whether something hidden lies below `path`, so that showing the value there would show it too.
fn whole_of_secret(block: &Block, path: &Path) -> bool {
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
    /// The sentence that says what is wrong, without a full stop; values at hidden paths are not shown.
    pub fn message(&self, secrets: Secrets<'_>) -> String {
        let hidden = secrets.hides(&self.path);
        let show = |value: &Value| if hidden { "(sensitive value)".to_owned() } else { shown(value) };
        match &self.problem {
            Problem::Missing => "it is planned to be absent, but the configuration wants it".into(),
            Problem::Unwanted => "it is planned to be there, but the configuration has none".into(),
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
                "blocks are planned although their number is not known yet; they must stay unknown".into()
            }
            Problem::BlocksUnknown => {
                "the blocks are unknown as a whole; only attributes within them can be unknown".into()
            }
            Problem::ElementUnknown => {
                "the object is unknown as a whole; only attributes within it can be unknown".into()
            }
            Problem::BlocksNull => "the blocks are null; no blocks are an empty collection".into(),
            Problem::UnknownForConfigured => "it is planned as unknown, but the configuration gives its value".into(),
            Problem::CountNotAsConfigured { planned, config } => {
                format!("{planned} are planned, but the configuration has {config}")
            }
            Problem::KeyNotConfigured(key) => format!("the key {key:?} is planned, but not in the configuration"),
            Problem::KeyNotPlanned(key) => format!("the key {key:?} is in the configuration, but not planned"),
            Problem::Vanished => "it was to be there, but now it is absent".into(),
            Problem::Appeared => "it was to be absent, but now it is there".into(),
            Problem::TypeChanged { planned, actual } => {
                format!("the type was to be {}, but now it is {}", planned.friendly_name(), actual.friendly_name())
            }
            Problem::Changed { planned, actual } => format!("was {}, but now {}", show(planned), show(actual)),
            Problem::OutsideRefinement { actual, .. } => {
                format!("the final value {} does not fit what the plan said about it", show(actual))
            }
            Problem::BecameUnknown => "was known, but now unknown".into(),
            Problem::ElementVanished(key) => format!("the element {key} has vanished"),
            Problem::ElementAppeared(key) => format!("a new element {key} has appeared"),
            Problem::CountChanged { planned, actual } => format!("the number changed from {planned} to {actual}"),
            Problem::PlannedElementLost(element) => {
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

    /// The place within the object for people: `.rule[0].port`. Elements of sets have no place of their own.
    pub fn place(&self) -> String {
        let mut text = String::new();
        for step in self.path.steps() {
            match step {
                PathStep::Attribute(name) => {
                    let _ = write!(text, ".{name}");
                }
                PathStep::Index(key) => match key.kind() {
                    Kind::Number(_) | Kind::String(_) => {
                        let _ = write!(text, "[{}]", shown(key));
                    }
                    _ => text.push_str("[...]"),
                },
            }
        }
        text
    }
}

/// The longest rendering of a value in a message, in characters.
const LONGEST: usize = 200;

/// A value on one line, cut when it is long.
fn shown(value: &Value) -> String {
    let mut text = String::new();
    write_value(value, &mut text);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn write_value(value: &Value, text: &mut String) {
    // A rendering that is cut anyway need not be built.
    if text.len() > 4 * LONGEST {
        return;
    }
    if value.marks().is_sensitive() {
        text.push_str("(sensitive value)");
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
