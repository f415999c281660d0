//! Reading what was stored with another version of its type.

use super::read::from_json;
use super::scan::{Scanner, text};
use super::write::encode;
use crate::codec::{CodecError, Outcome};
use crate::types::Type;
use crate::value::Value;

/// Reads a value of a type from JSON as [`from_json`] does, but leaves out attributes that the type does not have.
///
/// # Errors
/// If the text is no JSON, or does not fit the type otherwise.
pub fn from_stored(json: &[u8], ty: &Type) -> Result<Value, CodecError> {
    // Most of what is stored has the shape of today and needs no second look.
    if let Ok(value) = from_json(json, ty) {
        return Ok(value);
    }
    let text = text(json);
    let mut kept = String::with_capacity(text.len());
    fit(&mut Scanner::new(&text), ty, &mut kept)?;
    from_json(kept.as_bytes(), ty)
}

/// Appends the next value without the attributes that `ty` does not have. The recursion is as deep as the type.
fn fit(scanner: &mut Scanner<'_>, ty: &Type, out: &mut String) -> Outcome<()> {
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
        fit(scanner, ty, out)?;
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
        fit(scanner, ty(at), out)?;
        at += 1;
    }
    out.push(']');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_the_type_does_not_have_are_left_out_at_every_depth() {
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
    fn what_does_not_fit_otherwise_stays_an_error() {
        let ty = Type::object([("a", Type::Number)]);
        for wrong in [r#"{"a": []}"#, "{", "[1]", r#"{"b": 1, "a": "x"}"#] {
            assert!(from_stored(wrong.as_bytes(), &ty).is_err(), "{wrong}");
        }
    }
}
