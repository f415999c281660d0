//! Set functions of the language.

use std::collections::HashSet;

use groma_value::{Marks, Refinement, Type, Value, convert};

use super::mapping::count;
use super::signature::{Accepts, Arguments, Function, FunctionError, Outcome, Parameter};

pub(super) fn functions() -> Vec<Function> {
    let set = |name: &str| Parameter::new(name, Type::set(Type::Dynamic)).accepting(Accepts::DYNAMIC);
    vec![
        Function::inferred("setunion", common_type, union).takes(set("first_set")).takes_more(set("other_sets")),
        Function::inferred("setintersection", common_type, intersection)
            .takes(set("first_set"))
            .takes_more(set("other_sets")),
        Function::inferred("setsubtract", common_type, subtract).takes(set("a")).takes(set("b")),
        Function::inferred("setproduct", product_type, product)
            .takes_more(Parameter::any("sets").accepting(Accepts::MARKED | Accepts::UNKNOWN)),
    ]
}

fn common_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    let mut types = Vec::new();
    for argument in arguments {
        match argument.ty() {
            // An empty set of anything fits every other.
            Type::Set(element) if *element == Type::Dynamic && argument.is_known() && argument.is_empty() => {}
            Type::Set(element) => types.push((*element).clone()),
            _ => types.push(Type::Dynamic),
        }
    }
    if types.is_empty() {
        return Ok(Type::set(Type::Dynamic));
    }
    convert::unify(&types)
        .map(Type::set)
        .ok_or_else(|| FunctionError::new("the sets have elements whose types do not go together"))
}

/// The arguments as sets of one type.
fn alike(arguments: &Arguments<'_>) -> Result<Vec<Value>, FunctionError> {
    let convert = |(index, value): (usize, &Value)| {
        convert::convert(value, arguments.result).map_err(|problem| FunctionError::argument(index, problem.to_string()))
    };
    arguments.values.iter().enumerate().map(convert).collect()
}

fn set_of(ty: &Type, values: Vec<Value>) -> Value {
    match ty {
        Type::Set(element) => Value::set_of(element.clone(), values),
        _ => Value::set(Type::Dynamic, values),
    }
}

/// Checks for sets of untyped nulls, whose elements have no common type with those of other sets.
fn check_types(first: &Value, other: &Value) -> Result<(), FunctionError> {
    let (one, two) = (first.ty(), other.ty());
    if one == two {
        return Ok(());
    }
    let (one, two) = (one.friendly_name(), two.friendly_name());
    Err(FunctionError::new(format!("a {one} and a {two} cannot be combined")))
}

fn union(arguments: &Arguments<'_>) -> Outcome {
    let sets = alike(arguments)?;
    let Some((first, others)) = sets.split_first() else { return Ok(Value::unknown(arguments.result.clone())) };
    others.iter().try_for_each(|other| check_types(first, other))?;
    let elements = sets.iter().flat_map(|set| set.as_slice().unwrap_or_default()).cloned().collect();
    Ok(set_of(&first.ty(), elements))
}

fn combined(arguments: &Arguments<'_>, keep: fn(&HashSet<&Value>, &Value) -> bool) -> Outcome {
    let sets = alike(arguments)?;
    let unknown = || Ok(Value::unknown(arguments.result.clone()));
    let Some((first, others)) = sets.split_first().filter(|(first, _)| first.is_wholly_known()) else {
        return unknown();
    };
    let mut kept: Vec<Value> = first.as_slice().unwrap_or_default().to_vec();
    for other in others {
        if !other.is_wholly_known() {
            return unknown();
        }
        check_types(first, other)?;
        let members: HashSet<&Value> = other.as_slice().unwrap_or_default().iter().collect();
        kept.retain(|value| keep(&members, value));
    }
    Ok(set_of(&first.ty(), kept))
}

fn intersection(arguments: &Arguments<'_>) -> Outcome {
    combined(arguments, |members, value| members.contains(value))
}

fn subtract(arguments: &Arguments<'_>) -> Outcome {
    combined(arguments, |members, value| !members.contains(value))
}

fn product_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    if arguments.len() < 2 {
        return Err(FunctionError::new("at least two arguments are required"));
    }
    let mut ordered = true;
    let mut types = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        types.push(match argument.ty() {
            Type::Set(element) => {
                ordered = false;
                (*element).clone()
            }
            Type::List(element) => (*element).clone(),
            Type::Tuple(elements) if elements.is_empty() => Type::Dynamic,
            Type::Tuple(elements) => convert::unify(&elements)
                .ok_or_else(|| FunctionError::argument(index, "all elements must be of the same type"))?,
            _ => return Err(FunctionError::argument(index, "a set or a list is required")),
        });
    }
    let pair = Type::tuple(types);
    Ok(if ordered { Type::list(pair) } else { Type::set(pair) })
}

/// Returns the maximal length of a product of unknown factors; longer ones are not worth tracking.
fn longest(factors: &[Value]) -> Option<u64> {
    let mut longest = 1_u64;
    for factor in factors {
        let most = match factor.ty() {
            Type::Tuple(elements) => elements.len() as u64,
            _ => factor.range().refinement.greatest_length()?,
        };
        if most > 1_024 {
            return None;
        }
        longest = longest.checked_mul(most).filter(|longest| *longest <= 2_048)?;
    }
    Some(longest)
}

/// The elements of each argument, of one type.
fn factors(arguments: &Arguments<'_>) -> Result<Vec<Vec<Value>>, FunctionError> {
    let types = arguments.result.element().and_then(Type::as_tuple).unwrap_or_default();
    let mut factors = Vec::with_capacity(types.len());
    for (index, (value, ty)) in arguments.values.iter().zip(types).enumerate() {
        let elements = value.as_slice().unwrap_or_default();
        let converted: Result<Vec<Value>, _> = elements.iter().map(|element| convert::convert(element, ty)).collect();
        let factor = converted.map_err(|problem| FunctionError::new(problem.to_string()))?;
        // Beside a null without a type the types of the others were not held against each other, nor brought to one.
        let mut types = factor.iter().map(Value::ty);
        if types.next().is_some_and(|first| types.any(|other| other != first)) {
            let detail = format!(
                "all elements of each argument must be of the same type, and those of number {} are not",
                index + 1
            );
            return Err(FunctionError::new(detail));
        }
        factors.push(factor);
    }
    Ok(factors)
}

fn product(arguments: &Arguments<'_>) -> Outcome {
    const MOST: usize = 10_000_000;
    let marks: Marks = arguments.values.iter().map(|value| value.marks().clone()).collect();
    let result = arguments.result;
    if arguments.values.iter().any(|value| !value.is_known() || count(value).is_none()) {
        let unknown = match longest(arguments.values) {
            Some(0) => Value::refined(result.clone(), Refinement::NOT_NULL.maximum_length(0)),
            Some(longest) => {
                Value::refined(result.clone(), Refinement::NOT_NULL.minimum_length(1).maximum_length(longest))
            }
            None => Value::unknown(result.clone()),
        };
        return Ok(unknown.with_marks(&marks));
    }
    let lengths = || arguments.values.iter().map(|value| value.as_slice().unwrap_or_default().len());
    let total = match lengths().any(|length| length == 0) {
        true => Some(0),
        false => lengths().try_fold(1_usize, usize::checked_mul),
    };
    let Some(total) = total.filter(|total| *total <= MOST) else {
        return Err(FunctionError::new(format!("the product would have more than {MOST} elements")));
    };
    let factors = if total == 0 { Vec::new() } else { factors(arguments)? };
    let mut tuples = Vec::with_capacity(total);
    for number in 0..total {
        // The last factor turns fastest.
        let mut rest = number;
        let mut tuple: Vec<Value> = factors
            .iter()
            .rev()
            .map(|factor| {
                let at = rest % factor.len();
                rest /= factor.len();
                factor.get(at).cloned().unwrap_or(Value::DYNAMIC)
            })
            .collect();
        tuple.reverse();
        tuples.push(Value::tuple(tuple));
    }
    let value = match result {
        Type::List(element) => Value::list_of(element.clone(), tuples),
        other => set_of(other, tuples),
    };
    Ok(value.with_marks(&marks))
}
