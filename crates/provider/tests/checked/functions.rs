//! Provider-defined functions, called directly and from expressions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use groma_address::ProviderAddress;
use groma_diagnostics::{Diagnostics, Sources};
use groma_lang::{EmptyScope, FunctionContext};
use groma_provider::{Checked, Description, FunctionError, FunctionSignature, LocalFunctions, Parameter};
use groma_scripted::Scripted;
use groma_value::{Type, Value};

use crate::support::{s, wait};

fn signature(return_type: Type) -> FunctionSignature {
    let parameter = Parameter {
        name: "text".into(),
        ty: Type::String,
        allow_null: false,
        allow_unknown: false,
        description: Description::default(),
    };
    FunctionSignature {
        parameters: vec![parameter],
        variadic: None,
        return_type,
        summary: String::new(),
        description: Description::default(),
        deprecation: String::new(),
    }
}

fn checked() -> Arc<Checked> {
    let calls = AtomicU64::new(0);
    let provider = Scripted::new("test")
        .function("shout", signature(Type::String), |arguments| {
            Ok(s(&arguments[0].as_str().unwrap_or_default().to_uppercase()))
        })
        .function("refuse", signature(Type::String), |_| Err(FunctionError::new("it is not polite").at(0)))
        .function("wrong", signature(Type::Number), |_| Ok(s("text")))
        .function("open", signature(Type::String), |_| Ok(Value::unknown(Type::String)))
        .function("fickle", signature(Type::Number), move |_| Ok(Value::number(calls.fetch_add(1, Ordering::SeqCst))));
    Arc::new(Checked::new(Arc::new(provider), ProviderAddress::default_for("test")))
}

fn call(checked: &Checked, name: &str, text: &str) -> Result<Value, String> {
    wait(checked.call_function(&name.into(), vec![s(text)])).map_err(|error| error.text)
}

#[test]
fn lc_28_invalid_unknown_and_inconsistent_results_are_provider_bugs() {
    let checked = checked();
    assert_eq!(call(&checked, "shout", "a"), Ok(s("A")));
    assert_eq!(call(&checked, "shout", "a"), Ok(s("A")), "again the same");
    assert_eq!(call(&checked, "refuse", "a").unwrap_err(), "it is not polite");
    for (name, problem) in
        [("wrong", "invalid result: number is required"), ("open", "invalid result: the value is still unknown")]
    {
        let found = call(&checked, name, "a").unwrap_err();
        assert!(found.contains(problem) && found.contains("bug in provider"), "{found}");
    }
    assert!(call(&checked, "fickle", "a").is_ok());
    assert!(call(&checked, "fickle", "b").is_ok(), "other arguments may have another result");
    assert!(call(&checked, "fickle", "a").unwrap_err().contains("inconsistent result"));
    assert!(call(&checked, "nothing", "a").unwrap_err().contains("no function named"));
}

/// A function that accepts unknown arguments may return partly known results.
#[test]
fn lc_28_result_may_be_unknown_with_unknown_arguments() {
    let checked = checked();
    let call = |name: &str| wait(checked.call_function(&name.into(), vec![Value::unknown(Type::String)]));
    assert_eq!(call("open"), Ok(Value::unknown(Type::String)));
    assert!(call("fickle").is_ok() && call("fickle").is_ok(), "two unknown values need not be the same");
    assert!(call("wrong").unwrap_err().text.contains("number is required"));
}

/// Evaluates an expression with the provider as `test`; returns the value and the error details.
fn evaluate(text: &str) -> (Value, Vec<String>) {
    let sources = Arc::new(Sources::new());
    let mut context = FunctionContext::new("", Arc::clone(&sources));
    context.provider_functions = Some(Arc::new(LocalFunctions::new([("test".into(), checked())])));
    let file = sources.add("expression", text).unwrap();
    let (expression, problems) = groma_hcl::parse_expression(&file);
    assert!(problems.is_empty(), "{problems:?}");
    let mut diagnostics = Diagnostics::new();
    let value = groma_lang::evaluate(&expression, &EmptyScope::new(context), &mut diagnostics);
    (value, diagnostics.iter().map(|found| found.detail.clone()).collect())
}

#[test]
fn expressions_call_functions_by_local_provider_name() {
    let (value, problems) = evaluate("provider::test::shout(\"a${1 + 1}\")");
    assert_eq!((value, problems), (s("A2"), Vec::new()));
    let (_, problems) = evaluate("provider::test::refuse(\"a\")");
    assert!(problems[0].contains("it is not polite"), "{problems:?}");
    let (_, problems) = evaluate("provider::other::shout(\"a\")");
    assert!(problems[0].contains("no provider with the local name \"other\""), "{problems:?}");
    let (_, problems) = evaluate("provider::test::whisper(\"a\")");
    assert!(problems[0].contains("fickle, open, refuse, shout, wrong"), "{problems:?}");
}
