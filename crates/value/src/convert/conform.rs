//! Conformance: a type matches a constraint without any conversion.

use crate::path::Path;
use crate::types::Type;
use crate::value::{Kind, Value};

/// Whether a value conforms to `want` without conversion. Objects are compared attribute by attribute, because
/// computing the type of a large object costs more than the comparison.
pub(crate) fn value_conforms(value: &Value, want: &Type) -> bool {
    match (value.bare().kind(), want) {
        (_, Type::Dynamic) => true,
        (Kind::Object(object), Type::Object(ty)) => {
            object.len() == ty.len()
                && object
                    .iter()
                    .zip(ty.iter())
                    .all(|((name, value), (wanted, ty))| name == wanted && value_conforms(value, ty))
        }
        _ => value.has_type(want) || value.ty().conforms_to(want),
    }
}

/// Checks that a value conforms to a type without conversion; dynamic parts accept anything.
///
/// # Errors
/// The path of every mismatch with a message.
pub fn conforms(value: &Value, ty: &Type) -> Result<(), Vec<(Path, String)>> {
    let given = value.ty();
    if given.conforms_to(ty) {
        return Ok(());
    }
    let mut problems = Vec::new();
    explain(&given, ty, &Path::root(), &mut problems);
    Err(problems)
}

fn explain(given: &Type, want: &Type, path: &Path, problems: &mut Vec<(Path, String)>) {
    match (given, want) {
        _ if given.conforms_to(want) => {}
        (Type::Object(a), Type::Object(b)) => {
            for (name, _) in a.iter().filter(|(name, _)| b.attribute(name).is_none()) {
                problems.push((path.clone(), format!("unsupported attribute {name:?}")));
            }
            for (name, want) in b.iter() {
                match a.attribute(name) {
                    Some(given) => explain(given, want, &path.clone().attribute(name.clone()), problems),
                    None => problems.push((path.clone(), format!("missing required attribute {name:?}"))),
                }
            }
        }
        (Type::Tuple(a), Type::Tuple(b)) if a.len() != b.len() => {
            problems.push((path.clone(), format!("{} elements are required, but got {}", b.len(), a.len())));
        }
        (Type::Tuple(a), Type::Tuple(b)) => {
            for (at, (given, want)) in a.iter().zip(b.iter()).enumerate() {
                explain(given, want, &path.clone().position(at), problems);
            }
        }
        (Type::List(a), Type::List(b)) => explain(a, b, &path.clone().index(Value::unknown(Type::Number)), problems),
        (Type::Map(a), Type::Map(b)) => explain(a, b, &path.clone().index(Value::unknown(Type::String)), problems),
        (Type::Set(a), Type::Set(b)) => explain(a, b, &path.clone().index(Value::unknown((**a).clone())), problems),
        _ => problems
            .push((path.clone(), format!("{} required, but received {}", want.friendly_name(), given.friendly_name()))),
    }
}
