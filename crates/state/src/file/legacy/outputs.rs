//! The root module's outputs as the old formats had them.

use groma_value::{Type, json};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Outcome, UpgradeError};
use crate::model::OutputValue;

/// Reads an output of formats 2 and 3. Its type distinguishes string, list and map at most.
#[derive(Deserialize)]
struct Described<'a> {
    #[serde(borrow)]
    value: &'a RawValue,
    sensitive: Option<bool>,
}

/// The output called `name`, in JSON: described, or, in format 1, nothing but its text.
pub(super) fn upgrade(name: &str, output: &str) -> Outcome<OutputValue> {
    let (value, sensitive) = match serde_json::from_str::<Described<'_>>(output) {
        Ok(described) => (described.value.get(), described.sensitive.unwrap_or_default()),
        Err(_) if output.starts_with('"') => (output, false),
        Err(_) => return Err(UpgradeError::NoValue(name.to_owned())),
    };
    let implied = json::implied_type(value.as_bytes()).map_err(|_| UpgradeError::InvalidOutput(name.to_owned()))?;
    let ty = collected(&implied);
    let value = json::from_json(value.as_bytes(), &ty).map_err(|_| UpgradeError::InvalidOutput(name.to_owned()))?;
    Ok(OutputValue { value, ty, sensitive, deprecated: None })
}

/// Lists and maps, where the elements are all alike: these formats had nothing else.
fn collected(ty: &Type) -> Type {
    match ty {
        Type::Tuple(elements) => match elements.split_first() {
            Some((first, rest)) if rest.iter().all(|other| other == first) => Type::list(collected(first)),
            _ => ty.clone(),
        },
        Type::Object(object) => {
            let mut types = object.iter().map(|(_, ty)| ty);
            match types.next() {
                Some(first) if types.all(|other| other == first) => Type::map(collected(first)),
                _ => ty.clone(),
            }
        }
        _ => ty.clone(),
    }
}
