//! Decoding of values that were stored with an older version of their type.

use super::read::from_json;
use super::scan::{Scanner, text};
use super::write::encode;
use crate::codec::{CodecError, Outcome};
use crate::types::Type;
use crate::value::Value;

/// Decodes a stored value like [`from_json`], but ignores attributes that the type does not have.
///
/// # Errors
/// Fails if the input is not JSON or does not match the type otherwise.
pub fn from_stored(json: &[u8], ty: &Type) -> Result<Value, CodecError> {
    // Nearly all stored values match the current schema, so the second pass is rare.
    if let Ok(value) = from_json(json, ty) {
        return Ok(value);
    }
    let text = text(json);
    let mut kept = String::with_capacity(text.len());
    copy_supported(&mut Scanner::new(&text), ty, &mut kept)?;
    from_json(kept.as_bytes(), ty)
}

/// Copies the next value without the attributes that `ty` does not have. The recursion depth is limited by the type,
/// not by the input.
fn copy_supported(scanner: &mut Scanner<'_>, ty: &Type, out: &mut String) -> Outcome<()> {
    let raw = scanner.raw()?;
    let mut inner = Scanner::nested(raw, scanner);
    match ty {
        Type::Object(object) if raw.starts_with('{') => members(&mut inner, |name| object.attribute(name), out),
        Type::Map(element) if raw.starts_with('{') => members(&mut inner, |_| Some(element), out),
        Type::List(element) | Type::Set(element) if raw.starts_with('[') => elements(&mut inner, |_| element, out),
        Type::Tuple(types) if raw.starts_with('[') => {
            elements(&mut inner, |at| types.get(at).unwrap_or(&Type::Dynamic), out)
        }
        _ => {
            out.push_str(raw);
            Ok(())
        }
    }
}

fn members<'t>(scanner: &mut Scanner<'_>, ty: impl Fn(&str) -> Option<&'t Type>, out: &mut String) -> Outcome<()> {
    scanner.token()?;
    out.push('{');
    let (mut first, mut is_first) = (true, true);
    while scanner.more(&mut first, b'}')? {
        let key = scanner.key()?;
        let Some(ty) = ty(&key) else {
            scanner.raw()?;
            continue;
        };
        if !std::mem::take(&mut is_first) {
            out.push(',');
        }
        out.push_str(&encode(&Value::string(&*key)).unwrap_or_default());
        out.push(':');
        copy_supported(scanner, ty, out)?;
    }
    out.push('}');
    Ok(())
}

fn elements<'t>(scanner: &mut Scanner<'_>, ty: impl Fn(usize) -> &'t Type, out: &mut String) -> Outcome<()> {
    scanner.token()?;
    out.push('[');
    let (mut first, mut at) = (true, 0);
    while scanner.more(&mut first, b']')? {
        if at > 0 {
            out.push(',');
        }
        copy_supported(scanner, ty(at), out)?;
        at += 1;
    }
    out.push(']');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsupported_attributes_are_ignored_at_every_depth() {
        let row = Type::object([("x", Type::Number)]);
        let ty = Type::object([
            ("a", Type::String),
            ("list", Type::list(row.clone())),
            ("map", Type::map(row.clone())),
            ("pair", Type::tuple([Type::Bool, row])),
        ]);
        let stored = r#"{"gone": {"x": [1]}, "list": [{"x": 1, "y": 2}, {}], "map": {"k \" é": {"y": 1, "x": 2}},
            "pair": [true, {"y": null}]}"#;
        let today = r#"{"list":[{"x":1},{}],"map":{"k \" é":{"x":2}},"pair":[true,{}]}"#;
        assert_eq!(from_stored(stored.as_bytes(), &ty).unwrap(), from_json(today.as_bytes(), &ty).unwrap());
        assert!(from_json(stored.as_bytes(), &ty).is_err());
    }

    #[test]
    fn other_mismatches_stay_errors() {
        let ty = Type::object([("a", Type::Number)]);
        for wrong in [r#"{"a": []}"#, "{", "[1]", r#"{"b": 1, "a": "x"}"#] {
            assert!(from_stored(wrong.as_bytes(), &ty).is_err(), "{wrong}");
        }
    }
}
