//! Matching of collection elements by their identifying attributes (FW-14).

use std::collections::HashMap;

use groma_value::Value;

/// Returns, for each element of `planned`, the index of the element of `prior` with the same values of the attributes
/// `names`.
///
/// For plan modification of lists and sets at the level of the resource, where the protocol matches by position: the
/// removal of the first element then does not shift prior state to other elements. An element with a null or unknown
/// identifying attribute matches nothing. Each prior element is matched once, the first one first. Linear in the number
/// of elements.
pub fn match_by_attributes(planned: &[Value], prior: &[Value], names: &[&str]) -> Vec<Option<usize>> {
    let mut known: HashMap<Vec<Value>, Vec<usize>> = HashMap::with_capacity(prior.len());
    // In reverse, so that `pop` below yields the first of equal elements first.
    for (position, element) in prior.iter().enumerate().rev() {
        if let Some(identity) = identity(element, names) {
            known.entry(identity).or_default().push(position);
        }
    }
    planned.iter().map(|element| known.get_mut(&identity(element, names)?)?.pop()).collect()
}

fn identity(element: &Value, names: &[&str]) -> Option<Vec<Value>> {
    let object = element.as_object()?;
    // An identity that may still change must not tie a planned element to a prior one.
    let value = |name: &&str| object.get(name).filter(|value| !value.is_null() && value.is_wholly_known()).cloned();
    names.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use groma_value::Type;

    fn element(name: Value, zone: &str) -> Value {
        Value::object([("name", name), ("zone", Value::string(zone))])
    }

    #[test]
    fn fw_14_elements_are_found_by_their_identifying_attributes() {
        let s = Value::string;
        let prior = [element(s("a"), "1"), element(s("b"), "2"), element(s("b"), "3")];
        // Two prior elements are named "b" and three planned ones: the third has no partner left.
        let planned = [element(s("b"), "9"), element(s("c"), "1"), element(s("b"), "8"), element(s("b"), "7")];
        assert_eq!(match_by_attributes(&planned, &prior, &["name"]), [Some(1), None, Some(2), None]);
        assert_eq!(match_by_attributes(&prior, &prior, &["name", "zone"]), [Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn fw_14_unknown_attributes_match_nothing() {
        let open = [element(Value::unknown(Type::String), "1"), element(Value::null(Type::String), "1")];
        assert_eq!(match_by_attributes(&open, &open, &["name"]), [None, None]);
    }
}
