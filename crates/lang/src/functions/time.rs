//! Time functions of the language.

use std::cmp::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use groma_value::{Type, Value};

use super::date_pattern::render;
use super::signature::{Arguments, Function, FunctionError, Outcome, Parameter};
use super::timestamp::Timestamp;
use crate::context::{Clock, Purity};

pub(super) fn functions() -> Vec<Function> {
    let text = Parameter::text;
    vec![
        Function::fixed("timestamp", Type::String, timestamp),
        Function::fixed("plantimestamp", Type::String, plantimestamp),
        Function::fixed("formatdate", Type::String, formatdate).takes(text("format")).takes(text("time")),
        Function::fixed("timeadd", Type::String, timeadd).takes(text("timestamp")).takes(text("duration")).nullable(),
        Function::fixed("timecmp", Type::Number, timecmp).takes(text("timestamp_a")).takes(text("timestamp_b")),
    ]
}

fn timestamp(arguments: &Arguments<'_>) -> Outcome {
    let context = arguments.context();
    if context.purity == Purity::Unknown {
        return Ok(Value::unknown(Type::String));
    }
    let seconds = match context.clock {
        Clock::Fixed(seconds) => seconds,
        Clock::System => {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            i64::try_from(since.as_secs()).unwrap_or(0)
        }
    };
    Ok(Value::string(Timestamp::utc(seconds).rfc3339()))
}

fn plantimestamp(arguments: &Arguments<'_>) -> Outcome {
    Ok(match &arguments.context().plan_timestamp {
        Some(text) => Value::string(text),
        None => Value::unknown(Type::String),
    })
}

fn moment(arguments: &Arguments<'_>, index: usize) -> Result<Timestamp, FunctionError> {
    Timestamp::parse(arguments.text(index)).map_err(|problem| FunctionError::argument(index, problem.to_string()))
}

fn formatdate(arguments: &Arguments<'_>) -> Outcome {
    let moment = moment(arguments, 1)?;
    render(moment, arguments.text(0))
        .map(Value::string)
        .map_err(|problem| FunctionError::argument(0, problem.to_string()))
}

fn timeadd(arguments: &Arguments<'_>) -> Outcome {
    let moment = Timestamp::parse(arguments.text(0)).map_err(FunctionError::of)?;
    let duration = groma_duration::parse_duration(arguments.text(1)).map_err(FunctionError::of)?;
    Ok(Value::string(moment.add(duration).rfc3339()))
}

fn timecmp(arguments: &Arguments<'_>) -> Outcome {
    // Only here a comma may precede the fraction of a second.
    let instant = |index| {
        let text = arguments.text(index);
        let moment = match text.split_once(',').filter(|(seconds, _)| seconds.len() == "2000-01-01T00:00:00".len()) {
            Some((seconds, fraction)) => Timestamp::parse(&format!("{seconds}.{fraction}")),
            None => Timestamp::parse(text),
        };
        let moment = moment.map_err(|problem| FunctionError::argument(index, problem.to_string()))?;
        Ok::<_, FunctionError>(moment.instant())
    };
    let order = instant(0)?.cmp(&instant(1)?);
    Ok(Value::number(match order {
        Ordering::Less => -1_i64,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }))
}
