//! Functions that a provider has only with its configuration, as OpenTofu calls them.

use groma_engine::Mode;
use groma_provider::{Attribute, Block, Description, FunctionSignature, NestedBlock, Parameter, Schema};
use groma_scripted::Scripted;
use groma_value::{Type, Value};

use crate::support::{Project, errors};

const HEAD: &str = "terraform {\n  required_providers {\n    test = { source = \"test/test\" }\n  }\n}\n";

fn signature() -> FunctionSignature {
    let text = Parameter {
        name: "text".into(),
        ty: Type::String,
        allow_null: false,
        allow_unknown: false,
        description: Description::plain(""),
    };
    FunctionSignature {
        parameters: vec![text],
        variadic: None,
        return_type: Type::String,
        summary: String::new(),
        description: Description::plain(""),
        deprecation: String::new(),
    }
}

/// A provider with a function of its own, and one that puts the greeting of its configuration in front of a text.
fn provider() -> Scripted {
    let attributes = [("greeting", Attribute::optional(Type::String))];
    Scripted::new("test")
        .config(Schema::new(Block::new(attributes, Vec::<(&str, NestedBlock)>::new())))
        .function("shout", signature(), |arguments| {
            Ok(Value::string(arguments[0].as_str().unwrap_or_default().to_uppercase()))
        })
        .configured_function("greet", signature(), |config, arguments| {
            let greeting = config.attribute("greeting").and_then(|value| value.as_str().map(str::to_owned));
            let whom = arguments[0].as_str().unwrap_or_default();
            Ok(Value::string(format!("{} {whom}", greeting.unwrap_or_default())))
        })
}

fn project(main: &str) -> Project {
    Project::new(&format!("{HEAD}{main}")).scripted_each(provider)
}

fn output(project: &Project, name: &str) -> String {
    project.state.outputs.get(name).unwrap().value.as_str().unwrap().to_owned()
}

#[test]
fn function_of_a_configured_provider_is_called_in_plan_and_apply() {
    let mut project = project(
        "provider \"test\" { greeting = local.greeting }
         locals {
           greeting = provider::test::shout(\"hello\")
           everyone = provider::test::greet(\"all\")
         }
         resource \"terraform_data\" \"a\" { input = local.everyone }
         output \"now\" { value = local.everyone }
         output \"late\" { value = provider::test::greet(terraform_data.a.id) }",
    );
    assert_eq!(errors(&project.validate()), Vec::<String>::new());
    let planned = project.plan();
    assert_eq!(planned.errors(), Vec::<String>::new());
    let outputs = &planned.plan.as_ref().unwrap().outputs;
    assert_eq!(outputs.iter().find(|output| &*output.name == "now").unwrap().after.as_str(), Some("HELLO all"));
    assert!(!project.apply_plan(planned).has_errors());
    assert!(output(&project, "late").starts_with("HELLO "), "{}", output(&project, "late"));
    assert_eq!(project.plan().actions(), Vec::<String>::new(), "and nothing changes after that");
    project.options.mode = Mode::Destroy;
    assert_eq!(project.apply(), ["terraform_data.a: delete"]);
}

#[test]
fn a_saved_plan_is_applied_by_another_run_which_configures_the_provider_too() {
    let mut project = project(
        "provider \"test\" { greeting = \"hi\" }
         resource \"terraform_data\" \"a\" {}
         output \"late\" { value = provider::test::greet(terraform_data.a.id) }",
    );
    let planned = project.plan().for_another_run(&project);
    let problems = project.apply_plan(planned);
    assert!(!problems.has_errors(), "{problems:#?}");
    assert!(output(&project, "late").starts_with("hi "));
}

#[test]
fn the_alias_of_a_configuration_and_the_module_say_which_one_is_meant() {
    let mut project = project(
        "provider \"test\" { greeting = \"one\" }
         provider \"test\" {
           alias    = \"other\"
           greeting = \"two\"
         }
         module \"handed\" {
           source    = \"./child\"
           providers = { test = test.other }
           text      = provider::test::greet(\"argument\")
         }
         module \"inherits\" {
           source = \"./child\"
           text   = provider::test::other::greet(\"argument\")
         }
         output \"own\" { value = \"${provider::test::greet(\"x\")} ${provider::test::other::greet(\"x\")}\" }
         output \"handed\" { value = module.handed.said }
         output \"inherits\" { value = module.inherits.said }",
    )
    .with(
        "child/main.tf",
        &format!("{HEAD}variable \"text\" {{}}\noutput \"said\" {{ value = provider::test::greet(var.text) }}\n"),
    );
    assert_eq!(errors(&project.validate()), Vec::<String>::new());
    project.apply();
    assert_eq!(output(&project, "own"), "one x two x");
    assert_eq!(output(&project, "handed"), "two one argument");
    assert_eq!(output(&project, "inherits"), "one two argument");
}

#[test]
fn each_module_instance_calls_the_provider_passed_to_it() {
    let mut project = project(
        "provider \"test\" {
           alias    = \"by\"
           for_each = toset([\"a\", \"b\"])
           greeting = each.key
         }
         module \"m\" {
           source    = \"./child\"
           for_each  = toset([\"a\", \"b\"])
           providers = { test = test.by[each.key] }
         }
         output \"said\" { value = join(\", \", [for m in module.m : m.said]) }",
    )
    .with("child/main.tf", &format!("{HEAD}output \"said\" {{ value = provider::test::greet(\"you\") }}\n"));
    assert_eq!(errors(&project.validate()), Vec::<String>::new());
    project.apply();
    assert_eq!(output(&project, "said"), "a you, b you");
}

#[test]
fn unknown_function_is_reported_with_the_existing_ones() {
    let mut misspelled = project("provider \"test\" {}\noutput \"x\" { value = provider::test::great(\"a\") }");
    assert_eq!(errors(&misspelled.validate()), Vec::<String>::new(), "the configuration may bring it");
    let planned = misspelled.plan();
    let problem = planned.diagnostics.iter().next().unwrap();
    assert_eq!(problem.summary, "Unknown provider function");
    assert!(problem.detail.contains("Did you mean \"greet\"? It has greet, shout."), "{}", problem.detail);

    // As far as can be known before that.
    let near = project("provider \"test\" {}\noutput \"x\" { value = provider::test::shuot(\"a\") }").validate();
    assert_eq!(errors(&near), ["Unknown provider function"]);
    let unconfigured = project("output \"x\" { value = provider::test::greet(\"a\") }").validate();
    assert_eq!(errors(&unconfigured), ["Unknown provider function"], "no block that could bring it");
}

#[test]
fn function_with_unknown_provider_configuration_is_known_after_apply() {
    let mut project = project(
        "resource \"terraform_data\" \"g\" { input = \"good day\" }
         provider \"test\" { greeting = terraform_data.g.output }
         output \"said\" { value = provider::test::greet(\"you\") }",
    );
    project.apply();
    assert_eq!(output(&project, "said"), "good day you");
}

#[test]
fn provider_configured_with_its_own_function_is_a_cycle() {
    let cycle = project(
        "provider \"test\" { greeting = local.own }
         locals { own = provider::test::greet(\"me\") }",
    );
    let found = errors(&cycle.validate());
    assert!(found[0].starts_with("Cycle: "), "{found:?}");
    let itself = errors(&project("provider \"test\" { greeting = provider::test::greet(\"me\") }").validate());
    assert!(itself[0].starts_with("Cycle: "), "{itself:?}");
}
