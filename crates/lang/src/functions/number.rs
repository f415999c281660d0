//! Number functions of the language.

use groma_value::{Number, Type, Value, operations};

use super::digits::from_base;
use super::mapping::shown;
use super::signature::{Accepts, Arguments, Function, FunctionError, Outcome, Parameter};

pub(super) fn functions() -> Vec<Function> {
    let number = Parameter::number;
    let of_one = |name, body| Function::fixed(name, Type::Number, body).takes(Parameter::number("num"));
    vec![
        of_one("abs", |call| {
            operations::absolute(&call.value(0)).map_err(|problem| FunctionError::new(problem.to_string()))
        }),
        of_one("ceil", |call| Ok(Value::number(call.number(0).ceil()))),
        of_one("floor", |call| Ok(Value::number(call.number(0).floor()))),
        of_one("signum", |call| {
            let sign = call.integer(0)?.signum();
            Ok(Value::number(sign))
        }),
        of_one("log", |call| in_hardware(call, Number::logarithm)).takes(number("base")),
        of_one("pow", |call| in_hardware(call, Number::power)).takes(number("power")),
        Function::fixed("max", Type::Number, |call| extreme(call, |next, best| next > best))
            .takes_more(number("numbers")),
        Function::fixed("min", Type::Number, |call| extreme(call, |next, best| next < best))
            .takes_more(number("numbers")),
        Function::inferred("parseint", parseint_type, parseint)
            .takes(Parameter::any("number").accepting(Accepts::MARKED))
            .takes(number("base").accepting(Accepts::MARKED)),
    ]
}

/// Computes a result with hardware floating point, for which both numbers have to be in range.
fn in_hardware(arguments: &Arguments<'_>, body: fn(&Number, &Number) -> Option<Number>) -> Outcome {
    let (left, right) = (arguments.number(0), arguments.number(1));
    for number in [&left, &right] {
        if !number.is_infinite() && number.to_f64().is_infinite() {
            let largest = f64::MAX;
            return Err(FunctionError::new(format!(
                "numbers must be between -{largest:e} and {largest:e} here, and one of them is not"
            )));
        }
    }
    body(&left, &right).map(Value::number).ok_or_else(|| FunctionError::new("the result is not a number"))
}

fn extreme(arguments: &Arguments<'_>, better: fn(&Number, &Number) -> bool) -> Outcome {
    let numbers = (0..arguments.values.len()).map(|index| arguments.number(index));
    let best = numbers.reduce(|best, next| if better(&next, &best) { next } else { best });
    best.map(Value::number).ok_or_else(|| FunctionError::new("must pass at least one number"))
}

fn parseint_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    match arguments.first().map(Value::ty) {
        Some(Type::String) | None => Ok(Type::Number),
        Some(ty) => {
            let got = ty.friendly_name();
            Err(FunctionError::argument(0, format!("the number must be given as a string, not as {got}")))
        }
    }
}

fn parseint(arguments: &Arguments<'_>) -> Outcome {
    let base = arguments.integer(1).map_err(|problem| FunctionError::argument(1, problem.message))?;
    let base = u32::try_from(base)
        .ok()
        .filter(|base| (2..=62).contains(base))
        .ok_or_else(|| FunctionError::argument(1, "the base must be a whole number from 2 to 62"))?;
    let number = from_base(arguments.text(0), base).and_then(|decimal| Number::parse_whole(&decimal).ok());
    let (given, given_base) = (arguments.value(0), arguments.value(1));
    match number {
        Some(number) => Ok(Value::number(number).with_marks(given.marks()).with_marks(given_base.marks())),
        None => {
            let problem = format!("cannot parse {} as a base {} integer", shown(&given), shown(&given_base));
            Err(FunctionError::argument(0, problem))
        }
    }
}
