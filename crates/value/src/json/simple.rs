//! JSON without type information: objects, tuples and primitive values, as `jsondecode` returns them.

use super::scan::{Scanner, Token, text};
use crate::Name;
use crate::codec::{CodecError, Failure, Outcome};
use crate::number::Number;
use crate::path::PathStep;
use crate::text::normalized;
use crate::types::Type;
use crate::value::Value;

/// Reads JSON as what it says: objects become objects, arrays tuples, `null` the null of no type.
///
/// # Errors
/// If the text is no JSON.
pub fn decode(json: &[u8]) -> Result<Value, CodecError> {
    let text = text(json);
    let mut scanner = Scanner::new(&text);
    let value = value(&mut scanner)?;
    scanner.end()?;
    Ok(value)
}

/// The type of what [`decode`] gives.
///
/// # Errors
/// If the text is no JSON.
pub fn implied_type(json: &[u8]) -> Result<Type, CodecError> {
    decode(json).map(|value| value.ty())
}

fn value(scanner: &mut Scanner<'_>) -> Outcome<Value> {
    let start = scanner.offset();
    match scanner.token()? {
        Token::Null => Ok(Value::NULL),
        Token::Bool(value) => Ok(Value::bool(value)),
        Token::String(text) => Ok(Value::string(text)),
        Token::Number(digits) => {
            Number::parse(digits).map(Value::number).map_err(|error| Failure::at(start, error.to_string()))
        }
        Token::Array => {
            let mut values = Vec::new();
            let mut first = true;
            while scanner.more(&mut first, b']')? {
                let element = value(scanner);
                values.push(element.map_err(|failure| failure.within(PathStep::Index(Value::number(values.len()))))?);
            }
            Ok(Value::tuple(values))
        }
        Token::Object => {
            let mut attributes: Vec<(Name, Value)> = Vec::new();
            let mut first = true;
            while scanner.more(&mut first, b'}')? {
                let name = Name::from(normalized(&scanner.key()?).as_ref());
                let value = value(scanner).map_err(|failure| failure.within(PathStep::Attribute(name.clone())))?;
                attributes.push((name, value));
            }
            Ok(Value::object(attributes))
        }
    }
}
