//! `count`, `for_each` and `enabled`: how many instances there are (PL-29).

use std::sync::Arc;

use groma_address::Name;
use groma_config::{ModuleCall, Resource};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::Expression;
use groma_lang::{Scope, evaluate, observing};
use groma_value::{Kind, Marks, Type, Value, convert};

use crate::deprecation::report_own_deprecation;
use crate::options::Deferral;
use crate::world::{Expansion, Repetition};

/// The arguments that say how something repeats; at most one is there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arguments<'a> {
    /// `count`
    pub count: Option<&'a Expression>,
    /// `for_each`
    pub for_each: Option<&'a Expression>,
    /// `enabled`
    pub enabled: Option<&'a Expression>,
}

impl<'a> Arguments<'a> {
    /// Returns the repetition arguments of a module call.
    pub fn of_call(call: &'a ModuleCall) -> Self {
        Self { count: call.count.as_ref(), for_each: call.for_each.as_ref(), enabled: call.enabled.as_ref() }
    }

    /// Returns the addresses at which a resource has objects.
    pub fn of_resource(resource: &'a Resource) -> Self {
        Self {
            count: resource.count.as_ref(),
            for_each: resource.for_each.as_ref(),
            enabled: resource.lifecycle.enabled.as_ref(),
        }
    }
}

/// More instances than this are a mistake; they would not fit into the memory of a machine either.
const MOST: u64 = 10_000_000;

/// The instances; none after an error.
pub fn expand(arguments: Arguments<'_>, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Option<Expansion> {
    expand_or_defer(arguments, Deferral::Refused, scope, diagnostics)
}

/// Expands a block, unless an unknown number of instances may be deferred.
pub fn expand_or_defer(
    arguments: Arguments<'_>,
    deferral: Deferral,
    scope: &dyn Scope,
    diagnostics: &mut Diagnostics,
) -> Option<Expansion> {
    let (expression, summary, read): (_, _, Reader) = match arguments {
        Arguments { count: Some(expression), .. } => (expression, "Invalid count argument", read_count),
        Arguments { for_each: Some(expression), .. } => (expression, "Invalid for_each argument", read_for_each),
        Arguments { enabled: Some(expression), .. } => (expression, "Invalid enabled argument", read_enabled),
        // Without any of these arguments there is one instance without a key.
        Arguments { .. } => return Some(Expansion::Single),
    };
    let argument = Argument { expression, scope, summary };
    let value = argument.value(diagnostics)?;
    match read(&argument, &value) {
        Ok(expansion) => Some(expansion),
        // The block becomes known in a later run; until then its instances are a placeholder (PL-29).
        Err(Problem::Unknown(_)) if deferral == Deferral::Allowed => Some(Expansion::Unknown),
        Err(Problem::Unknown(problem) | Problem::Unsuitable(problem)) => {
            diagnostics.push(problem);
            None
        }
    }
}

/// Reads the value of an argument.
type Reader = fn(&Argument<'_>, &Value) -> Result<Expansion, Problem>;

/// The reason why a value does not determine the instances.
enum Problem {
    /// It will, but is not known yet.
    Unknown(Diagnostic),
    /// The value is unsuitable in any case.
    Unsuitable(Diagnostic),
}

struct Argument<'a> {
    expression: &'a Expression,
    scope: &'a dyn Scope,
    summary: &'static str,
}

impl Argument<'_> {
    fn error(&self, detail: impl Into<String>) -> Diagnostic {
        let diagnostic = Diagnostic::error(self.summary, detail).at(self.expression.span);
        observing(diagnostic, self.expression, self.scope)
    }

    fn wrong(&self, detail: impl Into<String>) -> Problem {
        Problem::Unsuitable(self.error(detail))
    }

    fn unknown(&self, detail: impl Into<String>) -> Problem {
        Problem::Unknown(self.error(detail))
    }

    fn value(&self, diagnostics: &mut Diagnostics) -> Option<Value> {
        let mut problems = Diagnostics::new();
        let value = evaluate(self.expression, self.scope, &mut problems);
        let failed = problems.has_errors();
        diagnostics.append(problems);
        report_own_deprecation(&value, self.expression, diagnostics);
        (!failed).then_some(value)
    }
}

fn read_count(argument: &Argument<'_>, value: &Value) -> Result<Expansion, Problem> {
    if value.deep_marks().is_ephemeral() {
        return Err(argument.wrong(
            "The value of \"count\" is ephemeral, so plan and apply could disagree about the instances. Use a value \
             that is not ephemeral.",
        ));
    }
    // How many instances there are is not hidden, whatever the number was made of.
    let (value, _) = value.unmark();
    if value.is_null() {
        return Err(argument.wrong("The value of \"count\" is null. Use a whole number; 0 means no instances."));
    }
    let number = convert::convert(&value, &Type::Number).map_err(|problem| {
        let detail = format!("The value of \"count\" is invalid: {}.", problem.message);
        // Terraform uses another summary for this error, which users search for.
        Argument { summary: "Incorrect value type", ..*argument }.wrong(detail)
    })?;
    if !number.is_known() {
        return Err(argument.unknown(
            "The number of instances depends on a value that is known only after apply. Use values that are known during planning, or first apply the dependencies of \"count\" with -target and then plan again.",
        ));
    }
    let Some(number) = number.as_number() else { return Err(argument.wrong("A whole number is required.")) };
    if !number.is_integer() {
        return Err(argument.wrong("The value of \"count\" must be a whole number."));
    }
    match number.to_u64() {
        Some(count) if count <= MOST => Ok(Expansion::Count(count)),
        Some(_) => Err(argument.wrong("The value of \"count\" is too large.")),
        None => Err(argument.wrong("The value of \"count\" is negative. It must be zero or greater.")),
    }
}

fn read_for_each(argument: &Argument<'_>, value: &Value) -> Result<Expansion, Problem> {
    read_elements(argument, value).map(|elements| Expansion::ForEach(elements.into()))
}

const EPHEMERAL: &str = "The value of \"for_each\" is ephemeral, so plan and apply could disagree about the \
 instances. Use a value that is not ephemeral.";

const UNKNOWN_KEYS: &str = "The instances cannot be determined without all keys.\n\nUse a map whose keys are \
 literals in the configuration; its values may be unknown until apply. Alternatively, first apply the dependencies \
 of \"for_each\" with -target and then plan again.";

fn read_elements(argument: &Argument<'_>, value: &Value) -> Result<Vec<(Name, Value)>, Problem> {
    let (plain, marks) = value.unmark();
    // The elements of a set are keys themselves, while the values of a map never become part of an address.
    if marks.is_sensitive() || (matches!(plain.ty(), Type::Set(_)) && plain.deep_marks().is_sensitive()) {
        return Err(argument.wrong(
            "The value of \"for_each\" is sensitive, but its keys become part of the instance addresses, which are \
             always visible. Use keys that are not sensitive, or wrap the value in nonsensitive() if they are not \
             secret.",
        ));
    }
    if marks.is_ephemeral() || (matches!(plain.ty(), Type::Set(_)) && plain.deep_marks().is_ephemeral()) {
        return Err(argument.wrong(EPHEMERAL));
    }
    if plain.is_null() {
        return Err(argument.wrong(format!("The value of \"for_each\" is null. {MAP_OR_SET}")));
    }
    match plain.kind() {
        Kind::Unknown(_) => match plain.ty() {
            Type::Set(_) => Err(argument.unknown(format!(
                "Elements of this set, which become the instance keys, are known only after apply. {UNKNOWN_KEYS}"
            ))),
            Type::Map(_) | Type::Object(_) | Type::Dynamic => Err(argument.unknown(format!(
                "Keys of this map, which become the instance keys, are known only after apply. {UNKNOWN_KEYS}"
            ))),
            other => Err(unsuitable(argument, &other)),
        },
        Kind::Map(map) => Ok(map.iter().map(|(key, value)| (key.clone(), value.clone())).collect()),
        Kind::Object(object) => Ok(object.iter().map(|(key, value)| (key.clone(), value.clone())).collect()),
        Kind::Set(elements) => read_set(argument, &plain, elements),
        _ => Err(unsuitable(argument, &plain.ty())),
    }
}

const MAP_OR_SET: &str = "Use a map or a set of strings; an empty one means no instances.";

fn unsuitable(argument: &Argument<'_>, ty: &Type) -> Problem {
    argument
        .wrong(format!("\"for_each\" requires a map or a set of strings, not a value of type {}.", ty.friendly_name()))
}

fn read_set(argument: &Argument<'_>, set: &Value, elements: &[Value]) -> Result<Vec<(Name, Value)>, Problem> {
    // An empty set is valid whatever its element type is.
    if elements.is_empty() {
        return Ok(Vec::new());
    }
    if !set.is_wholly_known() {
        return Err(argument.unknown(format!(
            "Elements of this set, which become the instance keys, are known only after apply. {UNKNOWN_KEYS}"
        )));
    }
    let of_set = Argument { summary: "Invalid for_each set argument", ..*argument };
    let mut keys = Vec::with_capacity(elements.len());
    for element in elements {
        match element.as_name() {
            Some(key) => keys.push((key.clone(), element.clone())),
            None if element.is_null() => {
                return Err(of_set.wrong(
                    "The set contains a null element, which cannot become an instance key. Remove nulls, for \
                     example with compact().",
                ));
            }
            None => {
                let detail = format!(
                    "The elements of a \"for_each\" set become instance keys, so they must be strings, not values \
                     of type {}.",
                    element.ty().friendly_name()
                );
                return Err(of_set.wrong(detail));
            }
        }
    }
    // Instances are ordered by key, which a set does not guarantee.
    keys.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(keys)
}

fn read_enabled(argument: &Argument<'_>, value: &Value) -> Result<Expansion, Problem> {
    let problem = "The \"enabled\" argument must be true or false, and known when planning.";
    let (value, marks) = value.unmark();
    if marks.is_sensitive() || marks.is_ephemeral() {
        return Err(argument.wrong(
            "The value of \"enabled\" is sensitive or ephemeral. The existence of an instance would reveal a \
             sensitive value, and an ephemeral value may differ between plan and apply. Use another value.",
        ));
    }
    let truth = convert::convert(&value, &Type::Bool).map_err(|_| argument.wrong(problem))?;
    match truth.as_bool() {
        Some(true) => Ok(Expansion::Single),
        Some(false) => Ok(Expansion::Absent),
        None if truth.is_known() => Err(argument.wrong(problem)),
        None => Err(argument.unknown(problem)),
    }
}

/// The elements of an import block with `for_each`.
#[derive(Debug)]
pub enum Elements {
    /// The values of `each`, element by element.
    Known(Vec<Repetition>),
    /// Only a later run will know how many there are. That is a mistake where nothing can be left to one.
    Unknown(Box<Diagnostic>),
}

/// The elements of the `for_each` of an import block; none after an error.
///
/// Any collection will do, and null is an empty one: nothing has its keys for an address.
pub fn import_elements(expression: &Expression, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Option<Elements> {
    let argument = Argument { expression, scope, summary: "Invalid for_each argument" };
    let (value, marks) = argument.value(diagnostics)?.unmark();
    let problem = match import_problem(&argument, &value, &marks) {
        None => {
            // The element of a set is its own key. All other keys are no secret, whatever they lead to.
            let is_set = matches!(value.ty(), Type::Set(_));
            let marked = |(key, element): (Value, Value)| {
                let element = element.with_marks(&marks);
                Repetition::Element(if is_set { element.clone() } else { key }, element)
            };
            return Some(Elements::Known(value.elements().map(marked).collect()));
        }
        Some(problem) => problem,
    };
    match problem {
        Problem::Unknown(problem) => Some(Elements::Unknown(Box::new(problem))),
        Problem::Unsuitable(problem) => {
            diagnostics.push(problem);
            None
        }
    }
}

fn import_problem(argument: &Argument<'_>, value: &Value, marks: &Marks) -> Option<Problem> {
    const UNKNOWN: &str = "The number of imports depends on values that are known only after apply. Use values that \
     are known during planning.";
    const COLLECTION: &str = "\"for_each\" of an import block requires a collection, with one import for each element";
    if marks.is_ephemeral() {
        return Some(argument.wrong(EPHEMERAL));
    }
    match (value.kind(), value.ty()) {
        // Null has no elements, so nothing is imported.
        (Kind::Null, _) => None,
        (_, Type::Dynamic) => Some(argument.unknown(UNKNOWN)),
        (_, ty @ (Type::Bool | Type::Number | Type::String)) => {
            Some(argument.wrong(format!("{COLLECTION}, but this is a value of type {}.", ty.friendly_name())))
        }
        (Kind::Unknown(_), _) => Some(argument.unknown(UNKNOWN)),
        // Elements that turn out to be the same are one.
        (Kind::Set(_), _) if !value.is_wholly_known() => Some(argument.unknown(UNKNOWN)),
        _ => None,
    }
}

/// That the key of an instance is a secret, which addresses are not.
pub fn secret_key() -> Diagnostic {
    Diagnostic::error(
        "Invalid index expression",
        "This key is sensitive, but it becomes part of an address, which is always visible. Use a key that is not \
         sensitive.",
    )
}

/// The elements as they are now, for instances that a plan has made: the keys must be the same.
pub fn elements_again(
    arguments: Arguments<'_>,
    keys: &[Name],
    scope: &dyn Scope,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<[(Name, Value)]>> {
    let expression = arguments.for_each?;
    let expansion = expand(Arguments { for_each: Some(expression), ..Arguments::default() }, scope, diagnostics)?;
    if let Expansion::ForEach(elements) = expansion
        // Apply must not create or lose instances that the plan did not show.
        && elements.iter().map(|(key, _)| key).eq(keys)
    {
        return Some(elements);
    }
    let detail = "The keys of this for_each differ from the planned keys. Values that determine keys must not \
     change between plan and apply. Unless the expression calls a function such as timestamp(), this is a bug in \
     Groma; please report it.";
    diagnostics.push(Diagnostic::error("Invalid for_each argument", detail).at(expression.span));
    None
}
