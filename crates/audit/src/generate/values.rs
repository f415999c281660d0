//! Generation of values from a type.

use groma_value::{Number, Type, Value};

use super::hints::ValueHints;
use super::random::Random;

/// The attribute that a value is generated for.
#[derive(Clone, Copy)]
pub(super) struct Purpose<'a> {
    pub(super) name: &'a str,
    pub(super) hints: &'a ValueHints,
}

/// The maximum depth of generated values of dynamic type.
const MAX_DEPTH: usize = 2;

pub(super) fn value(ty: &Type, purpose: Purpose<'_>, random: &mut Random, depth: usize) -> Value {
    match ty {
        Type::Bool => Value::bool(random.chance(50)),
        Type::Number => Value::number(number(purpose, random)),
        Type::String => Value::string(text(purpose, random)),
        Type::List(element) => Value::list((**element).clone(), several(element, purpose, random, depth)),
        Type::Set(element) => Value::set((**element).clone(), several(element, purpose, random, depth)),
        Type::Map(element) => {
            let values = several(element, purpose, random, depth);
            let keys = ["a", "b", "key two"].map(str::to_owned);
            Value::map((**element).clone(), keys.iter().map(String::as_str).zip(values))
        }
        Type::Tuple(types) => Value::tuple(types.iter().map(|ty| value(ty, purpose, random, depth + 1)).collect()),
        Type::Object(object) => {
            let attributes = object.iter().map(|(name, ty)| {
                let part = Purpose { name, ..purpose };
                let left_out = object.is_optional(name) && random.chance(50);
                (name.clone(), if left_out { Value::null(ty.clone()) } else { value(ty, part, random, depth + 1) })
            });
            Value::object(attributes)
        }
        Type::Dynamic => dynamic(purpose, random, depth),
    }
}

fn several(element: &Type, purpose: Purpose<'_>, random: &mut Random, depth: usize) -> Vec<Value> {
    // A collection with dynamic elements requires a single element type.
    let element = if *element == Type::Dynamic { &Type::String } else { element };
    (0..1 + random.below(2)).map(|_| value(element, purpose, random, depth + 1)).collect()
}

fn dynamic(purpose: Purpose<'_>, random: &mut Random, depth: usize) -> Value {
    match random.below(if depth < MAX_DEPTH { 5 } else { 3 }) {
        0 => Value::bool(random.chance(50)),
        1 => Value::number(number(purpose, random)),
        2 => Value::string(text(purpose, random)),
        3 => Value::tuple(vec![dynamic(purpose, random, depth + 1), dynamic(purpose, random, depth + 1)]),
        _ => Value::object([("a", dynamic(purpose, random, depth + 1)), ("b", Value::string("two"))]),
    }
}

fn number(purpose: Purpose<'_>, random: &mut Random) -> Number {
    let parsed: Vec<Number> =
        purpose.hints.about(purpose.name).iter().filter_map(|word| Number::parse(word).ok()).collect();
    if let Some(number) = random.one_of(&parsed) {
        return number.clone();
    }
    let usual = [1, 2, 3, 4, 5, 8, 10, 12, 16, 24, 32, 64, 443, 1024, 2048, 0];
    Number::from(random.one_of(&usual).copied().unwrap_or(1))
}

/// Common values by fragments of attribute names, in order of precedence.
const BY_NAME: &[(&str, &[&str])] = &[
    ("json", &["{}", "{\"a\":1}"]),
    ("policy", &["{\"Version\":\"2012-10-17\",\"Statement\":[]}"]),
    ("cidr", &["10.0.0.0/16", "192.168.1.0/24"]),
    ("ip_address", &["10.0.0.1"]),
    ("rfc3339", &["2030-01-02T03:04:05Z"]),
    ("timestamp", &["2030-01-02T03:04:05Z"]),
    ("time", &["2030-01-02T03:04:05Z"]),
    ("url", &["https://example.invalid/a"]),
    ("email", &["someone@example.invalid"]),
    ("base64", &["YQ==", "Zm9v"]),
    ("permission", &["0644", "0700"]),
    ("file", &["groma-check-one.txt", "groma-check-two.txt"]),
    ("path", &["groma-check-one", "groma-check-two"]),
    ("region", &["us-east-1"]),
    ("version", &["1.2.3"]),
];

/// Name fragments of attributes that make the provider wait: only short durations are tried, whatever the description
/// suggests.
const DURATIONS: &[&str] = &["duration", "timeout", "delay", "wait"];

fn text(purpose: Purpose<'_>, random: &mut Random) -> String {
    if DURATIONS.iter().any(|part| purpose.name.contains(part)) {
        return if random.chance(80) { "1ms" } else { "1s" }.to_owned();
    }
    let hints = purpose.hints.about(purpose.name);
    if let Some(word) = random.one_of(hints)
        && random.chance(70)
    {
        return word.clone();
    }
    let usual = BY_NAME.iter().find(|(part, _)| purpose.name.contains(part));
    if let Some(word) = usual.and_then(|(_, words)| random.one_of(words)) {
        return (*word).to_owned();
    }
    let words = ["a", "one", "two", "three-four", "Upper", "with space", "12", "x1y2", "ümlaut", "tail "];
    random.one_of(&words).copied().unwrap_or("a").to_owned()
}
