//! The differences that are meant: rows of docs/differences.md, and what makes a difference one of them.
//!
//! A row is known by what Terraform makes of an expression, not by the names in it: where the row applies, a part of the expression is written
//! anew so that we have to say what Terraform says. Only if we then do is the difference that row and nothing else.

use std::collections::BTreeSet;

use groma_diagnostics::Span;
use groma_hcl::{BinaryOperator, Call, Expression, ExpressionKind};
use groma_value::{Marks, Type, Value};

use crate::places::{Place, places};
use crate::terraform::{Ours, agrees};
use crate::world::World;

/// What docs/differences.md has to say.
const DOCUMENTED: &str = include_str!("../../../../docs/differences.md");

/// How many texts are tried for one difference, in which several rows may come together.
const TRIES: usize = 50;

/// A row of docs/differences.md.
pub struct Row {
    /// What it begins with.
    pub matter: &'static str,
    /// What can be written in which place so that we say what Terraform says.
    instead: fn(&Asked<'_>, &Place<'_>) -> Vec<String>,
}

/// The rows that can show in an expression.
pub const ROWS: &[Row] = &[
    Row { matter: "`x == null` where only something inside `x` is sensitive", instead: held_against_null },
    Row { matter: "an unknown value whose type can never fit", instead: never_fits },
    Row { matter: "an unknown value whose type can never fit", instead: never_there },
    Row { matter: "a sensitive unknown argument of", instead: secret_when_known },
    Row { matter: "a sensitive null among the elements of `toset`", instead: forgotten_in_set },
    Row { matter: "lists with unknown elements in `formatlist` with others", instead: formatted_from_others },
    Row { matter: "lists with unknown elements in `formatlist` with others", instead: nothing_matches },
    Row { matter: "`flatten` of a sensitive value of unknown type", instead: flattened_as_one },
    Row { matter: "comparison of sets of partially unknown objects", instead: sets_compared_as_unequal },
    Row { matter: "`cidrsubnets` of a block that starts at the first address", instead: no_room_left },
];

/// Differences of single expressions: what they are, what we say and what Terraform says.
type Exactly = (&'static str, &'static str, &'static str);

/// The rows whose cases are few, each with what it begins with.
pub const EXACT: &[(&str, &[Exactly])] = &[
    (
        "`cidrsubnet` with negative numbers",
        &[
            (r#"cidrsubnet("192.168.1.0/24", -1, 1)"#, "error: Invalid function argument", r#""192.168.3.0/23""#),
            (r#"cidrsubnet("192.168.1.0/24", 1, -1)"#, "error: Error in function call", r#""0.0.0.128/25""#),
        ],
    ),
    (
        "`type` inside another expression, in `console`",
        &[
            ("type(type(1))", "error: Invalid use of type function", "type"),
            ("upper(type(1))", "error: Invalid use of type function", "error: Invalid function argument"),
        ],
    ),
    (
        "consequences of another mistake in the same argument or block",
        &[
            ("{a.b=1}", "error: Ambiguous attribute key", "error: Reference to undeclared resource"),
            ("{a[0]=1}", "error: Ambiguous attribute key", "error: Invalid reference"),
        ],
    ),
];

/// A name that is no type, or one that needs another, where a type is wanted.
pub const NO_TYPE: &str = "a name in `convert` that is no type";

/// A matter, and whether an expression is of it.
type Matter = (&'static str, fn(&str) -> bool);

/// What the newer YAML of our library reads in its own way.
const NEWER_YAML: &[Matter] = &[
    ("`yamldecode` of a text with U+2028 or U+2029", |text| {
        ["\u{2028}", "\u{2029}", "u2028", "u2029"].iter().any(|end| text.contains(end))
    }),
    ("`yamldecode` of an anchor with letters beyond ASCII", |text| text.contains('&') && !text.is_ascii()),
];

/// The row that a difference is of; nothing where it is not meant.
pub fn meant(world: &World, (text, ours): (&str, &str), theirs: &str) -> Option<&'static str> {
    // Names are checked where a module is loaded, not here.
    let is_of_names = (ours, theirs) == ("error: Reference to undeclared resource", "error: Invalid reference");
    if ours == "error: Reference to undeclared resource" && is_a_name(text) || is_of_names && !text.is_ascii() {
        return Some("");
    }
    if (ours, theirs) == ("error: Invalid type specification", "error: Invalid reference") && text.contains("convert(")
    {
        return Some(NO_TYPE);
    }
    let is_of_yaml = |(_, applies): &&Matter| text.contains("yamldecode(") && applies(text);
    if let Some((matter, _)) = NEWER_YAML.iter().find(is_of_yaml) {
        return Some(matter);
    }
    let exact = |(_, cases): &&(&str, &[Exactly])| cases.contains(&(text, ours, theirs));
    if let Some((matter, _)) = EXACT.iter().find(exact) {
        return Some(matter);
    }
    let mut seen = BTreeSet::from([text.to_owned()]);
    let mut tried = vec![(text.to_owned(), None)];
    let mut next = 0;
    while let Some((text, first)) = tried.get(next).cloned() {
        next += 1;
        for (matter, other) in rewritten(world, &text) {
            if tried.len() < TRIES && seen.insert(other.clone()) {
                let matter = first.unwrap_or(matter);
                if agrees(&world.answer(&other), theirs) {
                    return Some(matter);
                }
                tried.push((other, Some(matter)));
            }
        }
    }
    None
}

/// Whether the page has a row that begins so.
pub fn is_documented(matter: &str) -> bool {
    DOCUMENTED.contains(&format!("\n| {matter}"))
}

fn is_a_name(text: &str) -> bool {
    text.chars().all(|character| character.is_alphanumeric() || matches!(character, '_' | '.'))
}

/// What is asked, as we read it.
struct Asked<'a> {
    world: &'a World,
    text: &'a str,
    /// Where the text begins among all texts.
    start: u32,
    /// Where we find something wrong in a part; what is wrong with one may be caught around it.
    problems: Vec<(usize, usize)>,
}

/// The text with one part written anew, in each way in which a row allows it.
fn rewritten(world: &World, text: &str) -> Vec<(&'static str, String)> {
    let Some(read) = world.read(text) else { return Vec::new() };
    let mut asked = Asked { world, text, start: read.start, problems: Vec::new() };
    let places = places(&read.expression);
    asked.problems = places.iter().filter_map(|place| asked.problem_of(place.expression)).collect();
    let mut texts = Vec::new();
    for place in places {
        for row in ROWS {
            for part in (row.instead)(&asked, &place) {
                let (start, end) = asked.range(place.expression.span);
                texts.push((row.matter, format!("{}{part}{}", &text[..start], &text[end..])));
            }
        }
    }
    texts
}

impl Asked<'_> {
    fn range(&self, span: Span) -> (usize, usize) {
        ((span.start() - self.start) as usize, (span.end() - self.start) as usize)
    }

    fn text(&self, expression: &Expression) -> &str {
        let (start, end) = self.range(expression.span);
        &self.text[start..end]
    }

    /// Nothing where it has names that a `for` expression binds, or is a mistake.
    fn value(&self, expression: &Expression) -> Option<Value> {
        self.world.value(self.text(expression))
    }

    /// Whether the value is not wholly known; inside a `for` expression, whether what that walks is not.
    fn may_be_unknown(&self, place: &Place<'_>) -> bool {
        match self.value(place.expression) {
            Some(value) => !value.is_wholly_known(),
            None => place.walked.iter().any(|walked| self.value(walked).is_some_and(|value| !value.is_wholly_known())),
        }
    }

    /// Where the first mistake in a part is.
    fn problem_of(&self, part: &Expression) -> Option<(usize, usize)> {
        let read = self.world.read(self.text(part))?;
        // Of a call the problem points at the name, and the whole is around it.
        let problem = read.problem?;
        let place = problem.context.or(problem.subject)?;
        let begin = self.range(part.span).0;
        let at = |position: u32| begin + position.saturating_sub(read.start) as usize;
        Some((at(place.start()), at(place.end())))
    }

    fn problem_is_in(&self, expression: &Expression) -> bool {
        let place = self.range(expression.span);
        let within = |inner: (usize, usize), outer: (usize, usize)| outer.0 <= inner.0 && inner.1 <= outer.1;
        self.problems.iter().any(|problem| within(*problem, place) || within(place, *problem))
    }
}

fn call_of<'e>(place: &Place<'e>, name: &str) -> Option<&'e Call> {
    match &place.expression.kind {
        ExpressionKind::Call(call) if call.name.name.trim_start_matches("core::") == name => Some(call),
        _ => None,
    }
}

fn comparison<'e>(place: &Place<'e>) -> Option<(&'e Expression, &'e Expression, bool)> {
    let ExpressionKind::Binary(binary) = &place.expression.kind else { return None };
    match binary.operator {
        BinaryOperator::Equal => Some((&binary.left, &binary.right, true)),
        BinaryOperator::NotEqual => Some((&binary.left, &binary.right, false)),
        _ => None,
    }
}

/// A secret inside makes a secret of whether there is a value at all.
fn held_against_null(asked: &Asked<'_>, place: &Place<'_>) -> Vec<String> {
    let Some((left, right, _)) = comparison(place) else { return Vec::new() };
    let (left, right) = (asked.value(left), asked.value(right));
    let is_null = |value: &Option<Value>| value.as_ref().is_some_and(Value::is_null);
    let against_null = || is_null(&left).then_some(&right).into_iter().chain(is_null(&right).then_some(&left));
    let text = asked.text(place.expression);
    let mut others = Vec::new();
    if against_null().any(|value| has_inside(value, Marks::is_sensitive)) {
        others.push(format!("sensitive({text})"));
    }
    if against_null().any(|value| has_inside(value, Marks::is_ephemeral)) {
        others.push(format!("(var.fleeting == \"\" ? null : {text})"));
    }
    others
}

fn is_secret_inside(value: &Value) -> bool {
    value.unmark_deep().1.iter().any(|(_, marks)| marks.is_sensitive())
}

/// Whether a mark is on something inside of a value and not on the value. A value whose name a `for` expression binds may be one.
fn has_inside(value: &Option<Value>, has: fn(&Marks) -> bool) -> bool {
    let is_inside = |value: &Value| value.unmark_deep().1.iter().any(|(_, marks)| has(marks));
    value.as_ref().is_none_or(|value| !has(value.marks()) && is_inside(value))
}

/// What is not known yet may be of any type until it is.
fn never_fits(asked: &Asked<'_>, place: &Place<'_>) -> Vec<String> {
    if !asked.problem_is_in(place.expression) || !asked.may_be_unknown(place) {
        return Vec::new();
    }
    // What `flatten` finds in objects that are not wholly known are their values.
    let text = asked.text(place.expression);
    vec![String::from("local.u_any"), format!("[for x in {text} : x]")]
}

/// A list that is not known yet may have any elements, even if no list has one of that number.
fn never_there(asked: &Asked<'_>, place: &Place<'_>) -> Vec<String> {
    let text = asked.text(place.expression);
    let Some((list, _)) = text.rsplit_once('[').filter(|(list, index)| !list.is_empty() && index.ends_with(']')) else {
        return Vec::new();
    };
    let is_unknown_list = |list: &Value| !list.is_known() && matches!(list.ty(), Type::List(_));
    match asked.problem_is_in(place.expression) && asked.world.value(list).is_some_and(|list| is_unknown_list(&list)) {
        true => vec![format!("{list}[0]")],
        false => Vec::new(),
    }
}

/// The functions that take secrets apart themselves.
const LOOK_INSIDE: &[&str] = &[
    "chunklist",
    "coalesce",
    "concat",
    "element",
    "keys",
    "length",
    "lookup",
    "merge",
    "one",
    "reverse",
    "setproduct",
    "slice",
    "values",
    "zipmap",
];

/// A secret that is not known yet is none while a function cannot look inside it.
fn secret_when_known(asked: &Asked<'_>, place: &Place<'_>) -> Vec<String> {
    let ExpressionKind::Call(call) = &place.expression.kind else { return Vec::new() };
    let is_hidden = |argument: &Expression| {
        asked.value(argument).is_some_and(|value| !value.is_wholly_known() && is_secret_inside(&value))
    };
    if !call.arguments().iter().any(is_hidden) {
        return Vec::new();
    }
    match call.name.name.trim_start_matches("core::") {
        // Nothing at all is said of it.
        "try" => vec![String::from("local.u_any")],
        name if LOOK_INSIDE.contains(&name) => {
            let plain = |argument: &Expression| match is_hidden(argument) {
                true => format!("nonsensitive({})", asked.text(argument)),
                false => asked.text(argument).to_owned(),
            };
            let parts: Vec<String> = call.arguments().iter().map(plain).collect();
            let ellipsis = if call.expansion.is_some() { "..." } else { "" };
            vec![format!("{name}({}{ellipsis})", parts.join(", "))]
        }
        _ => Vec::new(),
    }
}

/// A null is no secret any more where it becomes one of the type of the others.
fn forgotten_in_set(asked: &Asked<'_>, place: &Place<'_>) -> Vec<String> {
    let Some(call) = call_of(place, "toset") else { return Vec::new() };
    let Some(ExpressionKind::Tuple(elements)) = call.arguments().first().map(|list| &list.kind) else {
        return Vec::new();
    };
    let is_forgotten = |element: &Expression| {
        asked.value(element).is_some_and(|value| value.marks().is_sensitive() && value.is_null())
    };
    let plain = |element: &Expression| match is_forgotten(element) {
        true => format!("nonsensitive({})", asked.text(element)),
        false => asked.text(element).to_owned(),
    };
    let parts: Vec<String> = elements.iter().map(plain).collect();
    if elements.iter().any(is_forgotten) { vec![format!("toset([{}])", parts.join(", "))] } else { Vec::new() }
}

/// After an element that is not known yet the elements of the lists behind it are not passed over.
fn formatted_from_others(asked: &Asked<'_>, place: &Place<'_>) -> Vec<String> {
    let Some(call) = call_of(place, "formatlist").filter(|call| call.expansion.is_none()) else { return Vec::new() };
    let Some(values) = call.arguments().iter().map(|argument| asked.value(argument)).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let plain: Vec<Value> = values.iter().map(|value| value.unmark_deep().0).collect();
    let lengths: Vec<Option<usize>> = plain.iter().map(|value| value.as_slice().map(<[Value]>::len)).collect();
    let length = lengths.iter().flatten().max().copied().unwrap_or_default();
    let mut taken = vec![0_usize; plain.len()];
    let mut results = Vec::new();
    for _ in 0..length {
        let mut parts = Vec::new();
        for (index, value) in plain.iter().enumerate() {
            let text = asked.text(&call.arguments()[index]);
            let known = match value.as_slice().and_then(|elements| elements.get(taken[index])) {
                Some(element) => element.is_wholly_known(),
                None => value.is_wholly_known(),
            };
            parts.push(match lengths[index] {
                Some(_) => format!("[for x in {text} : x][{}]", taken[index]),
                None => text.to_owned(),
            });
            taken[index] += 1;
            if !known {
                parts = vec![String::from("\"%s\""), String::from("local.u_text")];
                break;
            }
        }
        results.push(format!("format({})", parts.join(", ")));
    }
    if plain.iter().all(Value::is_wholly_known) {
        Vec::new()
    } else {
        vec![format!("tolist([{}])", results.join(", "))]
    }
}

/// Nothing is found among what is not known yet.
fn nothing_matches(asked: &Asked<'_>, place: &Place<'_>) -> Vec<String> {
    let Some(call) = call_of(place, "matchkeys") else { return Vec::new() };
    let [values, keys, searched] = call.arguments() else { return Vec::new() };
    match asked.value(searched).is_some_and(|value| !value.is_wholly_known()) {
        true => vec![format!("matchkeys({}, {}, [])", asked.text(values), asked.text(keys))],
        false => Vec::new(),
    }
}

/// A secret of which not even the type is known is an element and not, as it may be, a list of them.
fn flattened_as_one(asked: &Asked<'_>, place: &Place<'_>) -> Vec<String> {
    let Some(call) = call_of(place, "flatten") else { return Vec::new() };
    let Some(ExpressionKind::Tuple(elements)) = call.arguments().first().map(|list| &list.kind) else {
        return Vec::new();
    };
    let hidden = |element: &Expression| {
        asked
            .value(element)
            .is_some_and(|value| !value.is_known() && value.ty() == Type::Dynamic && !value.marks().is_empty())
    };
    let parts: Vec<&str> =
        elements.iter().map(|element| if hidden(element) { "local.s_unknown" } else { asked.text(element) }).collect();
    if elements.iter().any(hidden) { vec![format!("flatten([{}])", parts.join(", "))] } else { Vec::new() }
}

/// Sets that are not wholly known are never equal.
fn sets_compared_as_unequal(asked: &Asked<'_>, place: &Place<'_>) -> Vec<String> {
    let Some((left, right, equal)) = comparison(place) else { return Vec::new() };
    let is_set = |value: &Value| matches!(value.ty(), Type::Set(_));
    let sets = [left, right].map(|side| asked.value(side).filter(is_set));
    match sets {
        [Some(left), Some(right)] if !left.is_wholly_known() || !right.is_wholly_known() => {
            vec![(!equal).to_string(), format!("sensitive({})", !equal)]
        }
        _ => Vec::new(),
    }
}

/// There is no subnet after the first of all addresses.
fn no_room_left(asked: &Asked<'_>, place: &Place<'_>) -> Vec<String> {
    let Some(block) = call_of(place, "cidrsubnets").and_then(|call| call.arguments().first()) else {
        return Vec::new();
    };
    let block = asked.value(block).map(|block| block.unmark().0);
    let first = block.as_ref().and_then(Value::as_str).and_then(|text| text.split('/').next());
    match first {
        Some("0.0.0.0" | "::") => vec![String::from("cidrsubnets(\"no block\", 1)")],
        _ => Vec::new(),
    }
}
