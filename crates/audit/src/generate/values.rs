//! Generation of values from a type.

use std::collections::BTreeMap;

use groma_provider::{Block, Item, Nesting, ProviderDiagnostics, Slot, Use};
use groma_value::{Number, PathStep, Type, Value};

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
                // A missing optional attribute has to be handled like a null one.
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
    // Before the hints: a description may suggest durations of minutes.
    if DURATIONS.iter().any(|part| purpose.name.contains(part)) {
        return if random.chance(80) { "1ms" } else { "1s" }.to_owned();
    }
    let hints = purpose.hints.about(purpose.name);
    if let Some(word) = random.one_of(hints)
        // Not always, because a hint can be wrong or incomplete.
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

/// A splitmix64 generator: fast, seedable, and the same on every platform.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, or 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).unwrap_or(1);
        usize::try_from(self.next() % end).unwrap_or_default()
    }

    /// Returns true with a probability of `percent` percent.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns a random element.
    pub(crate) fn one_of<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        choices.get(self.below(choices.len()))
    }
}

/// The nesting depth up to which optional arguments are tried individually.
const MAX_CHOICE_DEPTH: usize = 4;

/// Whether a configuration can set the attribute or block.
pub(super) fn is_argument(slot: &Slot) -> bool {
    match &slot.item {
        Item::Attribute(attribute) => attribute.usage() != Use::Computed,
        Item::Block(nested) => nested.nesting() != Nesting::Group || nested.block().slots().iter().any(is_argument),
    }
}

/// Whether a configuration can both set and omit the attribute or block.
pub(super) fn is_choice(slot: &Slot) -> bool {
    match &slot.item {
        Item::Attribute(attribute) => attribute.usage().is_optional(),
        Item::Block(nested) => nested.min() == 0 && nested.nesting() != Nesting::Group,
    }
}

/// Returns the paths of all optional arguments, including nested ones, as slot positions from the outside in. Outer
/// arguments precede inner ones.
pub(super) fn choices(block: &Block) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let mut level = vec![(Vec::new(), block)];
    for _ in 0..MAX_CHOICE_DEPTH {
        let mut inner = Vec::new();
        for (path, block) in level {
            for (position, slot) in block.slots().iter().enumerate().filter(|(_, slot)| is_argument(slot)) {
                let path: Vec<usize> = path.iter().copied().chain([position]).collect();
                inner.extend(slot.item.nested().map(|(_, block)| (path.clone(), &**block)));
                found.extend(is_choice(slot).then_some(path));
            }
        }
        level = inner;
    }
    found
}

/// Candidate values by attribute name.
///
/// A schema says only that an attribute is a string; its description or an error message may name the valid strings.
/// Words in quotes, backticks and brackets are candidates.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueHints {
    words: BTreeMap<String, Vec<String>>,
}

/// The maximum number of candidates per attribute.
const MAX_CANDIDATES: usize = 40;
/// The maximum length of a candidate, in bytes.
const MAX_LENGTH: usize = 60;

impl ValueHints {
    /// Collects candidates from the descriptions in `block`.
    pub(crate) fn of(block: &Block) -> Self {
        let mut hints = Self::default();
        hints.describe(block);
        hints
    }

    fn describe(&mut self, block: &Block) {
        for slot in block.slots() {
            if let Item::Attribute(attribute) = &slot.item {
                self.note(&slot.name, &attribute.description().text);
            }
            if let Some((_, inner)) = slot.item.nested() {
                self.describe(inner);
            }
        }
    }

    fn note(&mut self, name: &str, text: &str) {
        let found = words(text);
        if found.is_empty() {
            return;
        }
        let known = self.words.entry(name.to_owned()).or_default();
        for word in found {
            // Without a limit, long descriptions would drown the useful candidates.
            if known.len() < MAX_CANDIDATES && word != name && !known.contains(&word) {
                known.push(word);
            }
        }
    }

    /// Collects candidates from the errors about a rejected configuration.
    pub(crate) fn learn(&mut self, block: &Block, problems: &ProviderDiagnostics) {
        for problem in problems.iter().filter(|problem| problem.is_error()) {
            let named = problem.path.steps().iter().rev().find_map(|step| match step {
                PathStep::Attribute(name) => Some(name.to_string()),
                PathStep::Index(_) => None,
            });
            match named {
                Some(name) => self.note(&name, &problem.detail),
                // Providers often omit the attribute path and name the attribute only in the text.
                None => {
                    let mentioned = block.slots().iter().filter(|slot| problem.detail.contains(&*slot.name));
                    let names: Vec<String> = mentioned.map(|slot| slot.name.to_string()).collect();
                    names.iter().for_each(|name| self.note(name, &problem.detail));
                }
            }
        }
    }

    /// Returns the candidates for the attribute `name`.
    pub(crate) fn about(&self, name: &str) -> &[String] {
        self.words.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Extracts the words in quotes, backticks and brackets.
fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (open, close) in [('"', '"'), ('`', '`'), ('[', ']')] {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((inner, remainder)) = after.split_once(close) else { break };
            rest = remainder;
            let parts: Vec<&str> = match open {
                '[' => inner.split([' ', ',']).collect(),
                _ => vec![inner],
            };
            let plain = parts.into_iter().map(|word| word.trim_matches(['"', '`', '\'']).trim());
            found.extend(
                plain
                    .filter(|word| {
                        !word.is_empty() && word.len() <= MAX_LENGTH && !word.contains(['(', '\n', '[', ']'])
                    })
                    .map(str::to_owned),
            );
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_quotes_backticks_and_brackets_are_hints() {
        assert_eq!(words("one of `RSA`, `ECDSA`"), ["RSA", "ECDSA"]);
        assert_eq!(words(r#"expected to be one of [a b], got "c""#), ["c", "a", "b"]);
        assert_eq!(
            words(r#"one of: ["x" "y"]"#),
            ["x", " ", "y", "x", "y"].map(str::trim).iter().filter(|w| !w.is_empty()).copied().collect::<Vec<_>>()
        );
        assert!(words("nothing here, and an open ` too").is_empty());
    }
}
