//! Unknown values and their refinements, as extension items.

use std::sync::LazyLock;

use super::items::{write_bool, write_extension, write_map_length, write_number, write_signed, write_text};
use super::scan::{Item, Scanner};
use crate::codec::Outcome;
use crate::refinement::{Bound, Refinement};
use crate::text::safe_prefix;
use crate::types::Type;
use crate::value::Value;

const UNREFINED: [u8; 3] = [0xd4, 0, 0];
// The extension code and the keys of the map inside it are defined by go-cty; other plugin SDKs follow it.
const REFINED: u8 = 0x0c;
/// The most common refinement, not null: its body alone, and the whole extension item.
const NOT_NULL_BODY: [u8; 3] = [0x81, 1, 0xc2];
const NOT_NULL: [u8; 6] = [0xc7, 3, REFINED, 0x81, 1, 0xc2];
const NULLNESS: i64 = 1;
const PREFIX: i64 = 2;
const LOWER_BOUND: i64 = 3;
const UPPER_BOUND: i64 = 4;
const LEAST_LENGTH: i64 = 5;
const GREATEST_LENGTH: i64 = 6;

/// The largest refinement body that go-cty accepts when decoding, in bytes.
const LARGEST_BODY: usize = 1024;
// Longer prefixes are truncated, because one long prefix could exceed the body limit and fail the whole value.
const LONGEST_PREFIX: usize = 256;

/// Writes an unknown value with its refinement.
pub(super) fn encode(refinement: &Refinement, out: &mut Vec<u8>) {
    if *refinement == Refinement::NONE {
        return out.extend_from_slice(&UNREFINED);
    }
    if *refinement == Refinement::NOT_NULL {
        return out.extend_from_slice(&NOT_NULL);
    }
    let mut entries = Vec::new();
    let mut count = 0;
    let mut key = |entries: &mut Vec<u8>, key: i64| {
        count += 1;
        write_signed(key, entries);
    };
    if refinement.is_not_null() {
        key(&mut entries, NULLNESS);
        write_bool(false, &mut entries);
    }
    for (code, bound) in [(LOWER_BOUND, refinement.lower()), (UPPER_BOUND, refinement.upper())] {
        if let Some(bound) = bound {
            key(&mut entries, code);
            entries.push(0x92);
            write_number(&bound.value, &mut entries);
            write_bool(bound.inclusive, &mut entries);
        }
    }
    let prefix = short_prefix(refinement.known_prefix());
    if !prefix.is_empty() {
        key(&mut entries, PREFIX);
        write_text(&prefix, &mut entries);
    }
    if refinement.least_length() > 0 {
        key(&mut entries, LEAST_LENGTH);
        write_signed(i64::try_from(refinement.least_length()).unwrap_or(i64::MAX), &mut entries);
    }
    if let Some(greatest) = refinement.greatest_length() {
        key(&mut entries, GREATEST_LENGTH);
        write_signed(i64::try_from(greatest).unwrap_or(i64::MAX), &mut entries);
    }
    if count == 0 {
        out.extend_from_slice(&UNREFINED);
        return;
    }
    let mut body = Vec::with_capacity(entries.len() + 1);
    write_map_length(count, &mut body);
    body.extend_from_slice(&entries);
    write_extension(REFINED, &body, out);
}

fn short_prefix(prefix: &str) -> String {
    if prefix.len() <= LONGEST_PREFIX {
        return prefix.to_owned();
    }
    let mut end = LONGEST_PREFIX - 1;
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    safe_prefix(&prefix[..end])
}

/// Decodes an unknown value. An extension with a body of at most one byte is unrefined, whatever its code, as in
/// go-cty; unknown refinement keys are ignored for forward compatibility.
pub(super) fn decode(scanner: &Scanner<'_>, kind: u8, body: &[u8], ty: &Type) -> Outcome<Value> {
    if body.len() <= 1 {
        return Ok(Value::unknown(ty.clone()));
    }
    if kind != REFINED {
        return scanner.fail(format!("unsupported extension type 0x{kind:02x} with len {}", body.len()));
    }
    // Almost every computed attribute arrives like this, so all of them share one value.
    if body == NOT_NULL_BODY && *ty == Type::String {
        static TEXT: LazyLock<Value> = LazyLock::new(|| Value::unknown(Type::String).not_null());
        return Ok(TEXT.clone());
    }
    if body.len() > LARGEST_BODY {
        return scanner.fail("oversize unknown value refinement");
    }
    let mut inner = Scanner::new(body);
    let Item::Map(count) = inner.item()? else {
        return scanner.fail("the refinement of an unknown value must be a map");
    };
    if *ty == Type::Dynamic {
        return Ok(Value::unknown(Type::Dynamic));
    }
    let mut value = Value::unknown(ty.clone());
    for _ in 0..count {
        let entry = match entry(&mut inner, ty)? {
            Entry::Null => return Ok(Value::null(ty.clone())),
            Entry::Ignored => continue,
            Entry::Refined(refinement) => refinement,
        };
        value = match value.try_refine(&entry) {
            Ok(value) => value,
            Err(error) => return scanner.fail(format!("invalid refinement of an unknown value: {error}")),
        };
    }
    Ok(value)
}

enum Entry {
    Null,
    Ignored,
    Refined(Refinement),
}

fn entry(inner: &mut Scanner<'_>, ty: &Type) -> Outcome<Entry> {
    let fail = |message: &str| inner_failure(message);
    let key = match inner.item()? {
        Item::Unsigned(key) => i64::try_from(key).unwrap_or(i64::MAX),
        Item::Signed(key) => key,
        _ => return fail("non-integer key in map"),
    };
    let refinement = match key {
        NULLNESS => match inner.item()? {
            Item::Bool(true) => return Ok(Entry::Null),
            Item::Bool(false) => Refinement::NOT_NULL,
            _ => return fail("null refinement is not boolean"),
        },
        PREFIX if *ty == Type::String => {
            Refinement::NONE.full_prefix(inner.text("string prefix refinement is not string")?)
        }
        LOWER_BOUND if *ty == Type::Number => Refinement::NONE.lower_bound(bound(inner)?),
        UPPER_BOUND if *ty == Type::Number => Refinement::NONE.upper_bound(bound(inner)?),
        LEAST_LENGTH if ty.is_collection() => Refinement::NONE.minimum_length(length(inner)?),
        GREATEST_LENGTH if ty.is_collection() => Refinement::NONE.maximum_length(length(inner)?),
        PREFIX..=GREATEST_LENGTH => return fail("refinement does not apply to this type"),
        _ => {
            // Newer encoders may add refinements. Ignoring one is safe: the value is only less precise.
            skip(inner, 0)?;
            return Ok(Entry::Ignored);
        }
    };
    Ok(Entry::Refined(refinement))
}

fn inner_failure<T>(message: &str) -> Outcome<T> {
    Err(crate::codec::Failure::new(format!("invalid refinement of an unknown value: {message}")))
}

fn bound(inner: &mut Scanner<'_>) -> Outcome<Bound> {
    let value = match inner.item()? {
        Item::Array(2) => inner.item()?.number(),
        _ => None,
    };
    match (value, inner.item()?) {
        (Some(value), Item::Bool(inclusive)) => Ok(Bound { value, inclusive }),
        _ => inner_failure("a number bound must be an array of a number and a bool"),
    }
}

fn length(inner: &mut Scanner<'_>) -> Outcome<u64> {
    match inner.item()? {
        Item::Unsigned(length) => Ok(length),
        Item::Signed(length) if length >= 0 => Ok(length.unsigned_abs()),
        _ => inner_failure("length bound refinement must be integer"),
    }
}

/// Skips an item with everything inside it.
fn skip(inner: &mut Scanner<'_>, depth: usize) -> Outcome<()> {
    const DEEPEST: usize = 32;
    if depth > DEEPEST {
        return inner_failure("a refinement is nested too deeply");
    }
    let count = match inner.item()? {
        Item::Array(length) => length,
        Item::Map(length) => length.saturating_mul(2),
        _ => 0,
    };
    for _ in 0..count {
        skip(inner, depth + 1)?;
    }
    Ok(())
}
