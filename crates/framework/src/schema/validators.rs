//! Validators that many attributes need. Their messages do not contain the value, which may be a secret.
//!
//! ```
//! use groma_framework::schema::validators::{between, conflicts_with, each, length, one_of};
//! use groma_framework::{Maybe, Model};
//!
//! #[derive(Model)]
//! struct Listener {
//!     #[attribute(validator = length(1..=63))]
//!     name: String,
//!     #[attribute(validator = between(1024..))]
//!     port: u16,
//!     #[attribute(default = "tcp", validator = one_of(["tcp", "udp"]))]
//!     protocol: Maybe<String>,
//!     #[attribute(validator = length(..=8), validator = each(length(1..)))]
//!     aliases: Option<Vec<String>>,
//!     #[attribute(validator = conflicts_with(["aliases"]))]
//!     only: Option<String>,
//! }
//! # assert!(Listener::schema().build().is_ok());
//! ```

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};

use groma_provider::{ProviderDiagnostic, ProviderDiagnostics};
use groma_value::{Kind, Path, PathStep, Value};

use crate::model::Field;

/// Requires one of these strings.
pub fn one_of<W: Into<String>>(words: impl IntoIterator<Item = W>) -> impl Validator {
    let words: Vec<String> = words.into_iter().map(Into::into).collect();
    let listed: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    let demand = format!("must be one of {}", listed.join(", "));
    PredicateValidator {
        demand,
        // A value of another type is refused by the schema already.
        holds: move |value: &Value| value.as_str().is_none_or(|text| words.iter().any(|one| one == text)),
    }
}

/// Requires a number in this range.
pub fn between<N: Field>(range: impl RangeBounds<N>) -> impl Validator {
    // NaN is not a bound.
    let number = |bound: Bound<&N>| match bound.map(|end| end.to_value().as_number().cloned()) {
        Bound::Included(Some(end)) => Bound::Included(end),
        Bound::Excluded(Some(end)) => Bound::Excluded(end),
        _ => Bound::Unbounded,
    };
    let range = (number(range.start_bound()), number(range.end_bound()));
    let demand = format!("must be {}", range_text(&range));
    PredicateValidator {
        demand,
        holds: move |value: &Value| value.as_number().is_none_or(|number| range.contains(number)),
    }
}

/// Requires a string whose number of characters, or a collection whose number of elements, is in this range.
pub fn length(range: impl RangeBounds<usize>) -> impl Validator {
    let range = (range.start_bound().cloned(), range.end_bound().cloned());
    let demand = format!("must have a length of {}", range_text(&range));
    let holds = move |value: &Value| {
        // Characters are counted for strings, as `length` of the language does.
        let length = match value.kind() {
            Kind::Map(map) => Some(map.len()),
            _ => value.as_str().map(|text| text.chars().count()).or_else(|| value.as_slice().map(<[Value]>::len)),
        };
        length.is_none_or(|length| range.contains(&length))
    };
    PredicateValidator { demand, holds }
}

/// Applies `validator` to every element of a list, set or map.
pub fn each(validator: impl Validator) -> impl Validator {
    ElementValidator(validator)
}

/// Forbids the argument together with any of these. The names are those of top-level arguments.
pub fn conflicts_with<N: Into<String>>(names: impl IntoIterator<Item = N>) -> impl Validator {
    SiblingValidator { names: names.into_iter().map(Into::into).collect(), rule: SiblingRule::None }
}

/// Requires all of these arguments together with this one. The names are those of top-level arguments.
pub fn needs<N: Into<String>>(names: impl IntoIterator<Item = N>) -> impl Validator {
    SiblingValidator { names: names.into_iter().map(Into::into).collect(), rule: SiblingRule::All }
}

fn range_text<T: Display + PartialEq>((start, end): &(Bound<T>, Bound<T>)) -> String {
    match (start, end) {
        (Bound::Included(start), Bound::Included(end)) if start == end => start.to_string(),
        (Bound::Included(start), Bound::Included(end)) => format!("{start} to {end}"),
        (Bound::Unbounded, Bound::Unbounded) => "any".to_owned(),
        _ => {
            let above = match start {
                Bound::Included(start) => Some(format!("at least {start}")),
                Bound::Excluded(start) => Some(format!("more than {start}")),
                Bound::Unbounded => None,
            };
            let below = match end {
                Bound::Included(end) => Some(format!("at most {end}")),
                Bound::Excluded(end) => Some(format!("less than {end}")),
                Bound::Unbounded => None,
            };
            [above, below].into_iter().flatten().collect::<Vec<_>>().join(" and ")
        }
    }
}

/// Creates the error that the value at `path` is invalid.
pub(crate) fn refused(path: Path, detail: String) -> ProviderDiagnostics {
    ProviderDiagnostic::error("Invalid Attribute Value", detail).at(path).into()
}

/// A validator whose result depends on the value only.
struct PredicateValidator<F> {
    demand: String,
    holds: F,
}

impl<F: Fn(&Value) -> bool + Send + Sync> Validator for PredicateValidator<F> {
    fn description(&self) -> String {
        self.demand.clone()
    }

    fn validate(&self, request: &ValidatorRequest<'_>) -> ProviderDiagnostics {
        match (self.holds)(request.value) {
            true => ProviderDiagnostics::new(),
            false => refused(request.path.clone(), format!("The value {}.", self.demand)),
        }
    }
}

/// A validator that applies another one to each element of a collection.
struct ElementValidator<V>(V);

impl<V: Validator> Validator for ElementValidator<V> {
    fn description(&self) -> String {
        format!("each element {}", self.0.description())
    }

    fn validate(&self, request: &ValidatorRequest<'_>) -> ProviderDiagnostics {
        let mut found = ProviderDiagnostics::new();
        let mut look = |path: &Path, value: &Value| {
            // Elements follow the rule for attributes: validators do not see null or unknown values.
            if !value.is_null() && value.is_known() {
                found.extend(self.0.validate(&ValidatorRequest { path, value, config: request.config }));
            }
        };
        let at = |key: Value| {
            let mut path = request.path.clone();
            path.push(PathStep::Index(key));
            path
        };
        match request.value.kind() {
            Kind::Map(map) => map.iter().for_each(|(key, one)| look(&at(Value::from(key)), one)),
            // Elements of a set have no index, so problems refer to the set.
            Kind::Set(elements) => elements.iter().for_each(|one| look(request.path, one)),
            _ => {
                let elements = request.value.as_slice().unwrap_or_default().iter().enumerate();
                elements.for_each(|(position, one)| look(&at(Value::number(position)), one));
            }
        }
        found
    }
}

/// The requirement on the named arguments.
#[derive(Clone, Copy)]
enum SiblingRule {
    None,
    All,
}

/// A validator that requires other arguments of the object to be set, or to be unset.
struct SiblingValidator {
    names: Vec<String>,
    rule: SiblingRule,
}

impl Validator for SiblingValidator {
    fn description(&self) -> String {
        let names = self.names.join(", ");
        match self.rule {
            SiblingRule::None => format!("conflicts with {names}"),
            SiblingRule::All => format!("requires {names}"),
        }
    }

    fn validate(&self, request: &ValidatorRequest<'_>) -> ProviderDiagnostics {
        let mut found = ProviderDiagnostics::new();
        let mut refuse = |detail: String| found.extend(refused(request.path.clone(), detail));
        for name in &self.names {
            let Some(other) = request.config.attribute(name) else {
                // A wrong name is a bug in the provider that nothing else would detect.
                refuse(format!(
                    "The validator refers to the argument {name:?}, which does not exist. This is a bug in the provider."
                ));
                continue;
            };
            let is_set = !other.is_null();
            match self.rule {
                // An unknown value may become null.
                SiblingRule::None if is_set && other.is_known() => {
                    refuse(format!("It cannot be set together with {name:?}."));
                }
                SiblingRule::All if !is_set => refuse(format!("It requires {name:?} to be set.")),
                SiblingRule::None | SiblingRule::All => {}
            }
        }
        found
    }
}

/// The inputs of a validator.
#[derive(Clone, Copy)]
pub struct ValidatorRequest<'a> {
    /// The path of the attribute.
    pub path: &'a Path,
    /// Its value in the configuration: not null, but it may contain unknown values.
    pub value: &'a Value,
    /// The configuration of the whole object.
    pub config: &'a Value,
}

/// A rule for the configured value of an attribute. It is not called for null and wholly unknown values.
pub trait Validator: Send + Sync {
    /// Returns the requirement as a phrase: `must be between 1 and 10`.
    fn description(&self) -> String;

    /// Checks the value, and returns its problems.
    fn validate(&self, request: &ValidatorRequest<'_>) -> ProviderDiagnostics;
}

struct FunctionValidator<F> {
    description: String,
    check: F,
}

impl<F: Fn(&Value) -> Result<(), String> + Send + Sync> Validator for FunctionValidator<F> {
    fn description(&self) -> String {
        self.description.clone()
    }

    fn validate(&self, request: &ValidatorRequest<'_>) -> ProviderDiagnostics {
        match (self.check)(request.value) {
            Ok(()) => ProviderDiagnostics::new(),
            Err(detail) => ProviderDiagnostic::error("Invalid Attribute Value", detail).at(request.path.clone()).into(),
        }
    }
}

/// Creates a validator from a function that returns the problem with a value.
pub fn validator(
    description: impl Into<String>,
    check: impl Fn(&Value) -> Result<(), String> + Send + Sync + 'static,
) -> impl Validator {
    FunctionValidator { description: description.into(), check }
}
