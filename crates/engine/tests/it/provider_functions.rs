//! Functions of providers in expressions, as people call them.

use groma_provider::{Description, FunctionError, FunctionSignature, Parameter};
use groma_scripted::Scripted;
use groma_value::{Type, Value};

use crate::support::{Project, errors};

const HEAD: &str = "terraform {\n  required_providers {\n    loud = { source = \"test/test\" }\n  }\n}\n";

fn provider() -> Scripted {
    let parameter = |name: &str| Parameter {
        name: name.into(),
        ty: Type::String,
        allow_null: false,
        allow_unknown: false,
        description: Description::plain(""),
    };
    let signature = FunctionSignature {
        parameters: vec![parameter("text")],
        variadic: None,
        return_type: Type::String,
        summary: String::new(),
        description: Description::plain(""),
        deprecation: String::new(),
    };
    Scripted::new("test").function("shout", signature, |arguments| match arguments[0].as_str() {
        Some("") => Err(FunctionError::new("there is nothing to shout".to_owned()).at(0)),
        text => Ok(Value::string(text.unwrap_or_default().to_uppercase())),
    })
}

fn project(main: &str) -> Project {
    Project::new(&format!("{HEAD}{main}")).scripted(provider())
}

#[test]
fn provider_function_is_called_in_plan_and_apply() {
    let mut project = project(
        "output \"loud\" { value = provider::loud::shout(\"hi\") }\nresource \"terraform_data\" \"a\" {\n  input = \
         provider::loud::shout(\"yes\")\n}\noutput \"late\" { value = provider::loud::shout(terraform_data.a.id) }\n",
    );
    let planned = project.plan();
    assert_eq!(planned.errors(), Vec::<String>::new());
    let outputs = &planned.plan.as_ref().unwrap().outputs;
    assert_eq!(outputs.iter().find(|output| &*output.name == "loud").unwrap().after.as_str(), Some("HI"));
    assert!(!outputs.iter().find(|output| &*output.name == "late").unwrap().after.is_known());
    assert!(!project.apply_plan(planned).has_errors());
    let late = project.state.outputs.get("late").unwrap().value.as_str().unwrap().to_owned();
    assert!(!late.is_empty() && late == late.to_uppercase(), "{late}");
    assert!(!project.provider().call_texts().iter().any(|call| call.starts_with("configure")), "a start is enough");
}

#[test]
fn invalid_function_argument_is_reported_by_validation() {
    assert_eq!(
        errors(&project("output \"x\" { value = provider::loud::shout() }\n").validate()),
        ["Not enough function arguments"]
    );
    let refused = project("output \"x\" { value = provider::loud::shout(\"\") }\n").validate();
    let problem = refused.iter().next().unwrap();
    assert_eq!(problem.summary, "Invalid function argument");
    assert!(problem.detail.contains("there is nothing to shout"), "{}", problem.detail);
}

#[test]
fn unknown_provider_or_function_is_reported_with_the_known_ones() {
    let unknown = project("output \"x\" { value = provider::test::shout(\"a\") }\n").validate();
    assert!(unknown.iter().next().unwrap().detail.contains("loud"));
    let unknown = project("output \"x\" { value = provider::loud::whisper(\"a\") }\n").validate();
    assert!(unknown.iter().next().unwrap().detail.contains("shout"));
}
