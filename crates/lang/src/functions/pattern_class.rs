//! Sets of characters of RE2's patterns: what stands between brackets, and the classes with names.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, HirKind};

use super::pattern_text::{Problem, Text, escaped};

/// Characters, by the first and last of each range.
type Ranges<'a> = &'a [(char, char)];

/// The classes `\d`, `\s` and `\w`: ASCII only. A capital letter negates the class.
const PERL: &[(char, Ranges<'_>)] = &[
    ('d', &[('0', '9')]),
    ('s', &[('\t', '\n'), ('\x0c', '\r'), (' ', ' ')]),
    ('w', &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
];

/// The classes `[:alpha:]` and others inside brackets.
const POSIX: &[(&str, Ranges<'_>)] = &[
    ("alnum", &[('0', '9'), ('A', 'Z'), ('a', 'z')]),
    ("alpha", &[('A', 'Z'), ('a', 'z')]),
    ("ascii", &[('\0', '\x7f')]),
    ("blank", &[('\t', '\t'), (' ', ' ')]),
    ("cntrl", &[('\0', '\x1f'), ('\x7f', '\x7f')]),
    ("digit", &[('0', '9')]),
    ("graph", &[('!', '~')]),
    ("lower", &[('a', 'z')]),
    ("print", &[(' ', '~')]),
    ("punct", &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
    ("space", &[('\t', '\r'), (' ', ' ')]),
    ("upper", &[('A', 'Z')]),
    ("word", &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
    ("xdigit", &[('0', '9'), ('A', 'F'), ('a', 'f')]),
];

/// Whether letters also match those of the other case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Matters,
    Folded,
}

/// Whether a class is negated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Named,
    Others,
}

/// The class of the characters, in both cases where that is asked for, or of all others.
fn signed(mut class: ClassUnicode, case: Case, sign: Sign) -> ClassUnicode {
    if case == Case::Folded {
        // What the tables of letters are needed for is part of the library as it is built here.
        let _ = class.try_case_fold_simple();
    }
    if sign == Sign::Others {
        class.negate();
    }
    class
}

fn of(ranges: Ranges<'_>) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|(first, last)| ClassUnicodeRange::new(*first, *last)))
}

/// The class of the characters from one number to another; the numbers of halves of surrogate pairs are no characters.
pub(super) fn between(first: u32, last: u32, case: Case) -> ClassUnicode {
    let first = char::from_u32(first).unwrap_or('\u{e000}');
    let last = char::from_u32(last).unwrap_or('\u{d7ff}');
    let range = (first <= last).then(|| ClassUnicodeRange::new(first, last));
    signed(ClassUnicode::new(range), case, Sign::Named)
}

/// A class that is written as an escape, after its backslash: `\d`, `\pL`, `\p{Greek}`; nothing is read where it is none.
pub(super) fn class_escape(text: &mut Text<'_>, case: Case) -> Result<Option<ClassUnicode>, Problem> {
    let Some(letter) = text.rest.chars().next() else { return Ok(None) };
    let sign = if letter.is_ascii_uppercase() { Sign::Others } else { Sign::Named };
    if letter.eq_ignore_ascii_case(&'p') {
        text.skip(1);
        return property(text, case, sign).map(Some);
    }
    let found = PERL.iter().find(|(name, _)| letter.eq_ignore_ascii_case(name));
    Ok(found.map(|(_, ranges)| {
        text.skip(1);
        signed(of(ranges), case, sign)
    }))
}

/// Parses the rest of `\p{^Greek}` or `\pL`.
fn property(text: &mut Text<'_>, case: Case, sign: Sign) -> Result<ClassUnicode, Problem> {
    const WRONG: Problem = "there is no class of characters with such a name";
    let first = text.take().ok_or(WRONG)?;
    let name = if first == '{' {
        let (name, rest) = text.rest.split_once('}').ok_or(WRONG)?;
        text.rest = rest;
        name.to_owned()
    } else {
        first.to_string()
    };
    let (name, sign) = match (name.strip_prefix('^'), sign) {
        (Some(name), Sign::Named) => (name, Sign::Others),
        (Some(name), Sign::Others) => (name, Sign::Named),
        (None, sign) => (&*name, sign),
    };
    // The library's parser would take more for a name: an equals sign, or the end of the class and what comes after.
    if !name.chars().all(|character| character.is_ascii_alphanumeric() || "_- ".contains(character)) {
        return Err(WRONG);
    }
    // Halves of surrogate pairs, which no text has: our library has no class without characters.
    if ["cs", "surrogate"].contains(&name.to_ascii_lowercase().as_str()) {
        return Ok(signed(ClassUnicode::empty(), case, sign));
    }
    let found = ["gc", "sc"].iter().find_map(|kind| {
        let parsed = regex_syntax::parse(&format!("\\p{{{kind}={name}}}")).ok()?;
        match parsed.into_kind() {
            HirKind::Class(regex_syntax::hir::Class::Unicode(class)) => Some(class),
            HirKind::Literal(literal) => {
                let only = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
                Some(of(&[(only, only)]))
            }
            _ => None,
        }
    });
    found.map(|class| signed(class, case, sign)).ok_or(WRONG)
}

/// Parses a bracket expression after its first bracket.
pub(super) fn brackets(text: &mut Text<'_>, case: Case) -> Result<ClassUnicode, Problem> {
    let sign = if text.eat("^") { Sign::Others } else { Sign::Named };
    let mut class = ClassUnicode::empty();
    let mut first = true;
    while first || !text.rest.starts_with(']') {
        first = false;
        let part = match named(text, case)? {
            Some(class) => class,
            None => part(text, case)?,
        };
        class.union(&part);
    }
    text.skip(1);
    // Each part has both cases already.
    Ok(signed(class, Case::Matters, sign))
}

/// A class such as `[:alpha:]`, or `[:^alpha:]` for what it is not.
fn named(text: &mut Text<'_>, case: Case) -> Result<Option<ClassUnicode>, Problem> {
    let Some((name, rest)) = text.rest.strip_prefix("[:").and_then(|rest| rest.split_once(":]")) else {
        return Ok(None);
    };
    let (bare, sign) = name.strip_prefix('^').map_or((name, Sign::Named), |name| (name, Sign::Others));
    let (_, ranges) = POSIX
        .iter()
        .find(|(known, _)| *known == bare)
        .ok_or("there is no class of characters with such a name between colons")?;
    text.rest = rest;
    Ok(Some(signed(of(ranges), case, sign)))
}

/// A class that is written as an escape, a character, or a range from one to another.
fn part(text: &mut Text<'_>, case: Case) -> Result<ClassUnicode, Problem> {
    if let Some(rest) = text.rest.strip_prefix('\\') {
        let mut inner = Text { rest };
        if let Some(class) = class_escape(&mut inner, case)? {
            *text = inner;
            return Ok(class);
        }
    }
    range(text, case)
}

/// A character, or a range from one to another.
fn range(text: &mut Text<'_>, case: Case) -> Result<ClassUnicode, Problem> {
    let first = character(text)?;
    if !text.rest.starts_with('-') || text.rest.starts_with("-]") || text.rest.len() < 2 {
        return Ok(between(first, first, case));
    }
    text.skip(1);
    let last = character(text)?;
    if last < first { Err("a range of characters ends before it begins") } else { Ok(between(first, last, case)) }
}

fn character(text: &mut Text<'_>) -> Result<u32, Problem> {
    match text.take() {
        None => Err("missing closing ]"),
        Some('\\') => escaped(text),
        Some(character) => Ok(character.into()),
    }
}
