//! Access to attributes and elements of values, with the errors for missing ones.

use groma_diagnostics::{Diagnostic, Span, did_you_mean};
use groma_hcl::{LiteralKey, Step};
use groma_value::{Kind, Number, Type, Value, convert, normalized};

/// Applies one literal step.
pub(crate) fn step(value: &Value, step: &Step) -> Result<Value, Diagnostic> {
    match step {
        Step::Attribute { name, span } => attribute(value, name, *span),
        Step::Index { key: LiteralKey::String(text), span } => index(value, &Value::string(text), *span),
        Step::Index { key: LiteralKey::Number(digits), span } => {
            let number = Number::parse(digits).map_or(Value::DYNAMIC, Value::number);
            index(value, &number, *span)
        }
    }
}

/// The attribute `name` of an object, or the element with that key of a map. Values know names in normal form C, however they are
/// written.
pub(crate) fn attribute(value: &Value, name: &str, span: Span) -> Result<Value, Diagnostic> {
    let name = &*normalized(name);
    if let Kind::Object(object) = value.kind()
        && let Some(found) = object.get(name)
    {
        // The most frequent access comes first: it avoids building the type of the object.
        return Ok(if value.marks().is_empty() { found.clone() } else { found.clone().with_marks(value.marks()) });
    }
    if value.is_null() {
        return Err(Diagnostic::error(
            "Attempt to get attribute from null value",
            "This value is null, so it has no attributes.",
        )
        .at(span));
    }
    let unsupported = |detail: String| Err(Diagnostic::error("Unsupported attribute", detail).at(span));
    match value.ty() {
        // The type of an unknown object already decides which attributes exist.
        Type::Object(ty) => match ty.attribute(name) {
            Some(attribute) => Ok(Value::unknown(attribute.clone()).with_marks(value.marks())),
            None => {
                let meant = did_you_mean(name, ty.iter().map(|(name, _)| &**name));
                unsupported(format!("The object has no attribute \"{name}\".{meant}"))
            }
        },
        Type::Map(element) => match value.kind() {
            Kind::Map(map) => match map.get(name) {
                Some(found) => Ok(found.clone().with_marks(value.marks())),
                None => {
                    Err(Diagnostic::error("Missing map element", format!("The map has no key \"{name}\".")).at(span))
                }
            },
            // An unknown map may have any key.
            _ => Ok(Value::unknown((*element).clone()).with_marks(value.marks())),
        },
        Type::Dynamic => Ok(Value::DYNAMIC.with_marks(value.marks())),
        Type::List(element) if element.as_object().is_some() => {
            let has = element.as_object().is_some_and(|object| object.attribute(name).is_some());
            let which = if has { format!("attribute \"{name}\"") } else { "an attribute".to_owned() };
            unsupported(format!(
                "A list of objects has no attributes itself. To access {which} of one element, give its index: [0]; to access it \
                 across all elements, use the splat operator: [*]."
            ))
        }
        Type::Set(element) if element.as_object().is_some() => unsupported(
            "A set of objects has no attributes itself. With the splat operator, [*], an attribute of all its \
             elements is taken."
                .to_owned(),
        ),
        ty if ty.is_primitive() => {
            unsupported(format!("Only objects and maps have attributes; this is a {}.", ty.friendly_name()))
        }
        _ => unsupported("Only objects and maps have attributes, which this value is not.".to_owned()),
    }
}

fn invalid_index(detail: impl Into<String>, span: Span) -> Diagnostic {
    Diagnostic::error("Invalid index", detail).at(span)
}

const NOT_AN_ELEMENT: &str = "There is no such element";

/// The element of `collection` at `key`.
pub(crate) fn index(collection: &Value, key: &Value, span: Span) -> Result<Value, Diagnostic> {
    if collection.is_null() {
        return Err(
            Diagnostic::error("Attempt to index null value", "This value is null, so it has no elements.").at(span)
        );
    }
    if key.is_null() {
        return Err(invalid_index("A null value cannot be an index.", span));
    }
    let ty = collection.ty();
    // With an unknown type on either side, even the kind of access is open, so no error is certain.
    if matches!(ty, Type::Dynamic) || matches!(key.ty(), Type::Dynamic) {
        return Ok(Value::DYNAMIC.with_marks(collection.marks()));
    }
    match &ty {
        Type::List(_) | Type::Tuple(_) => {
            sequence_element(collection, &ty, &converted(key, &Type::Number, span)?, span)
        }
        Type::Map(element) => {
            let key = converted(key, &Type::String, span)?;
            match (collection.kind(), key.as_str()) {
                (Kind::Map(map), Some(text)) => match map.get(text) {
                    Some(found) => Ok(found.clone().with_marks(collection.marks()).with_marks(key.marks())),
                    None => Err(invalid_index(format!("{NOT_AN_ELEMENT}."), span)),
                },
                _ => Ok(Value::unknown((**element).clone()).with_marks(collection.marks()).with_marks(key.marks())),
            }
        }
        Type::Object(object) => {
            let text = converted(key, &Type::String, span)?;
            // Attributes have different types, so an unknown name leaves the type of the result open.
            let Some(name) = text.as_str() else { return Ok(Value::DYNAMIC.with_marks(collection.marks())) };
            if object.attribute(name).is_none() {
                let hint = if matches!(key.ty(), Type::Number) {
                    " The attributes of an object are found by name, not by a numeric index."
                } else {
                    ""
                };
                return Err(invalid_index(format!("{NOT_AN_ELEMENT}.{hint}"), span));
            }
            attribute(collection, name, span)
        }
        Type::Set(_) => Err(invalid_index(
            "The elements of a set have neither an order nor keys, so none can be picked by an index. It is only possible to \
             work with all elements of the set.",
            span,
        )),
        _ => Err(invalid_index("This value does not have any indices.", span)),
    }
}
fn converted(key: &Value, ty: &Type, span: Span) -> Result<Value, Diagnostic> {
    convert::convert(key, ty).map_err(|problem| invalid_index(format!("{NOT_AN_ELEMENT}: {}.", problem.message), span))
}
fn sequence_element(collection: &Value, ty: &Type, key: &Value, span: Span) -> Result<Value, Diagnostic> {
    let marks = collection.marks().union(key.marks());
    let problem = |why: &str| Err(invalid_index(format!("{NOT_AN_ELEMENT}: {why}."), span));
    let known_index = key.as_number();
    // A wrong index is an error whatever the collection contains.
    if let Some(number) = known_index {
        if !number.is_integer() {
            return problem("elements have whole numbers, and this index has a fraction");
        }
        // The negative zero counts as zero.
        if number.is_negative() && !number.is_zero() {
            return problem("elements are counted from 0, and this index is negative");
        }
    }
    let position = known_index.and_then(Number::to_usize);
    match (collection.kind(), position) {
        (Kind::List(elements) | Kind::Tuple(elements), Some(position)) => match elements.get(position) {
            Some(found) => Ok(found.clone().with_marks(&marks)),
            None if elements.is_empty() => problem("the collection has no elements"),
            None => problem("the index lies behind the last element"),
        },
        // A number that does not fit into usize is greater than the length of every collection.
        (Kind::List(_) | Kind::Tuple(_), None) if known_index.is_some() => {
            problem("the index lies behind the last element")
        }
        _ => match (ty, position) {
            (Type::Tuple(elements), Some(position)) => match elements.get(position) {
                Some(element) => Ok(Value::unknown(element.clone()).with_marks(&marks)),
                None => problem("the index lies behind the last element"),
            },
            // The length of an unknown list is open, so any index may exist.
            (Type::List(element), _) => Ok(Value::unknown((**element).clone()).with_marks(&marks)),
            _ => Ok(Value::DYNAMIC.with_marks(&marks)),
        },
    }
}
