//! Decoding values of a known type.

use super::scan::{Scanner, Token, text};
use crate::Name;
use crate::codec::{CodecError, Failure, Outcome};
use crate::convert::{convert, read_element_type};
use crate::number::Number;
use crate::path::PathStep;
use crate::text::normalized;
use crate::types::{ObjectType, Shape, Type};
use crate::value::Value;
use std::sync::Arc;

/// Decodes a value of a type from the JSON of state files. Missing attributes become null; unsupported attributes are
/// errors.
///
/// # Errors
/// Fails if the input is not JSON or does not match the type.
pub fn from_json(json: &[u8], ty: &Type) -> Result<Value, CodecError> {
    let text = text(json);
    let mut scanner = Scanner::new(&text);
    let value = value(&mut scanner, ty)?;
    scanner.end()?;
    Ok(value)
}

fn value(scanner: &mut Scanner<'_>, ty: &Type) -> Outcome<Value> {
    let start = scanner.offset();
    let token = scanner.token()?;
    match (token, ty) {
        (Token::Null, _) => Ok(Value::null(ty.clone())),
        (Token::Object, Type::Dynamic) => dynamic(scanner),
        (Token::Object, Type::Object(object)) => attributes(scanner, object),
        (Token::Object, Type::Map(element)) => map(scanner, element),
        (Token::Array, Type::List(element)) => {
            let values = sequence(scanner, element, Index::Position)?;
            Ok(Value::list_of(common(scanner, element, &values)?, values))
        }
        (Token::Array, Type::Set(element)) => {
            let values = sequence(scanner, element, Index::Unknown)?;
            Ok(Value::set_of(common(scanner, element, &values)?, values))
        }
        (Token::Array, Type::Tuple(types)) => tuple(scanner, types),
        (token, ty) => simple(token, ty, start),
    }
}

fn simple(token: Token<'_>, ty: &Type, start: usize) -> Outcome<Value> {
    let wrong = |message: &str| Err(Failure::at(start, message));
    match (ty, token) {
        (Type::String, Token::String(text)) => Ok(Value::string(text)),
        // Terraform's decoder accepts numbers and bools as strings too.
        (Type::String, Token::Number(digits)) => Ok(Value::string(digits)),
        (Type::String, Token::Bool(value)) => Ok(Value::string(if value { "true" } else { "false" })),
        (Type::String, _) => wrong("string is required"),
        (Type::Bool, Token::Bool(value)) => Ok(Value::bool(value)),
        (Type::Bool, Token::String(text)) => {
            convert(&Value::string(text), ty).map_err(|error| Failure::at(start, error.message))
        }
        (Type::Bool, _) => wrong("bool is required"),
        (Type::Number, Token::Number(digits)) => number(digits, start),
        (Type::Number, Token::String(digits)) => number(&digits, start),
        (Type::Number, _) => wrong("number is required"),
        (Type::List(_) | Type::Set(_) | Type::Tuple(_), _) => wrong("missing expected ["),
        (Type::Map(_) | Type::Object(_) | Type::Dynamic, _) => wrong("missing expected {"),
    }
}

fn number(digits: &str, start: usize) -> Outcome<Value> {
    Number::parse(digits).map(Value::number).map_err(|error| Failure::at(start, error.to_string()))
}

#[derive(Clone, Copy)]
enum Index {
    Position,
    /// Set elements have no index; the error path has an unknown one.
    Unknown,
}

fn sequence(scanner: &mut Scanner<'_>, element: &Type, index: Index) -> Outcome<Vec<Value>> {
    let mut values = Vec::new();
    let mut first = true;
    while scanner.more(&mut first, b']')? {
        let element = value(scanner, element).map_err(|failure| {
            failure.within(PathStep::Index(match index {
                Index::Position => Value::number(values.len()),
                Index::Unknown => Value::unknown(element.clone()),
            }))
        })?;
        values.push(element);
    }
    Ok(values)
}

/// Returns the common type of all elements.
fn common(scanner: &Scanner<'_>, element: &Arc<Type>, values: &[Value]) -> Outcome<Arc<Type>> {
    read_element_type(element, values).map_or_else(|| scanner.fail("all elements must be of the same type"), Ok)
}

fn tuple(scanner: &mut Scanner<'_>, types: &[Type]) -> Outcome<Value> {
    let mut values = Vec::with_capacity(types.len());
    let mut first = true;
    while scanner.more(&mut first, b']')? {
        let Some(ty) = types.get(values.len()) else {
            return scanner.fail(format!("too many tuple elements (need {})", types.len()));
        };
        let element = value(scanner, ty);
        values.push(element.map_err(|failure| failure.within(PathStep::Index(Value::number(values.len()))))?);
    }
    if values.len() < types.len() {
        return scanner.fail(format!("not enough tuple elements (need {})", types.len()));
    }
    Ok(Value::tuple(values))
}

fn map(scanner: &mut Scanner<'_>, element: &Arc<Type>) -> Outcome<Value> {
    let mut entries: Vec<(Name, Value)> = Vec::new();
    let mut first = true;
    while scanner.more(&mut first, b'}')? {
        let key = Name::from(normalized(&scanner.key()?).as_ref());
        let value =
            value(scanner, element).map_err(|failure| failure.within(PathStep::Index(Value::from(key.clone()))))?;
        entries.push((key, value));
    }
    let (keys, values) = Shape::sorted(entries);
    Ok(Value::map_shaped(common(scanner, element, &values)?, keys, values))
}

fn attributes(scanner: &mut Scanner<'_>, object: &Arc<ObjectType>) -> Outcome<Value> {
    let names = object.shape().names();
    let types = object.types();
    // Encoded attributes are sorted, so the expected name is usually next and the binary search is skipped.
    let mut values: Vec<Value> = Vec::with_capacity(names.len());
    let mut first = true;
    while scanner.more(&mut first, b'}')? {
        let key = scanner.key()?;
        let expected = names.get(values.len()).filter(|name| ***name == *key).map(|_| values.len());
        let Some(at) = expected.or_else(|| object.shape().position(&key)) else {
            return scanner.fail(format!("unsupported attribute {key:?}"));
        };
        let (Some(ty), Some(name)) = (types.get(at), names.get(at)) else { continue };
        let value = value(scanner, ty).map_err(|failure| failure.within(PathStep::Attribute(name.clone())))?;
        fill_with_nulls(&mut values, types, at);
        match values.get_mut(at) {
            Some(earlier) => *earlier = value,
            None => values.push(value),
        }
    }
    fill_with_nulls(&mut values, types, names.len());
    Ok(Value::object_typed(object, values))
}

/// Appends nulls for the attributes before `before` that have not been read yet.
fn fill_with_nulls(values: &mut Vec<Value>, types: &[Type], before: usize) {
    while values.len() < before
        && let Some(ty) = types.get(values.len())
    {
        values.push(Value::null(ty.clone()));
    }
}

fn dynamic(scanner: &mut Scanner<'_>) -> Outcome<Value> {
    let mut ty: Option<Type> = None;
    let mut found: Option<Value> = None;
    let mut raw: Option<&str> = None;
    let mut first = true;
    while scanner.more(&mut first, b'}')? {
        match (scanner.key()?.as_ref(), &ty) {
            ("type", _) => {
                let text = scanner.raw()?;
                let read = Type::from_json(text.as_bytes());
                let read = read.map_err(|error| {
                    Failure::at(scanner.offset(), format!("invalid type of dynamically-typed value: {error}"))
                })?;
                ty = Some(read);
            }
            ("value", Some(ty)) => found = Some(value(scanner, ty)?),
            // The value can precede its type, and it cannot be decoded without it.
            ("value", None) => raw = Some(scanner.raw()?),
            (other, _) => return scanner.fail(format!("invalid key {other:?} in dynamically-typed value")),
        }
    }
    let Some(ty) = ty else { return scanner.fail("missing type in dynamically-typed value") };
    match (found, raw) {
        (Some(value), _) => Ok(value),
        (None, Some(raw)) => value(&mut Scanner::nested(raw, scanner), &ty),
        (None, None) => scanner.fail("missing value in dynamically-typed value"),
    }
}
