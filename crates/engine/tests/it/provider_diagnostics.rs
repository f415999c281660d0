//! Diagnostics of providers: the object and the source text that they are reported at.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use groma_engine::Mode;
use groma_provider::{
    Attribute, Block, NestedBlock, Nesting, PlanActionResponse, ProviderDiagnostic, ProviderDiagnostics, Schema,
};
use groma_scripted::{ActionScript, ResourceScript, Scripted};
use groma_value::{Path, Type};

use crate::support::{Project, object_with};

const HEAD: &str = "terraform {\n  required_providers {\n    test = { source = \"test/test\" }\n  }\n}\n";
const OBJECT: &str = "resource \"test_object\" \"a\" {\n  name = \"a\"\n}\n";

fn block(name: &str, attribute: Attribute) -> Schema {
    Schema::new(Block::new([(name, attribute)], Vec::<(&str, NestedBlock)>::new()))
}

fn object() -> ResourceScript {
    ResourceScript::new(object_with("note", Attribute::optional(Type::String)))
}

/// A provider that minds how it is configured: at the argument, or as a whole.
fn minding() -> Scripted {
    let provider = Scripted::new("test").resource("test_object", object());
    provider.config(block("mind", Attribute::optional(Type::String))).on_configure(|request, good| {
        let mind = request.config.attribute("mind");
        match mind.as_ref().and_then(|mind| mind.as_str()) {
            Some("argument") => {
                ProviderDiagnostic::error("Bad mind", "It is bad.").at(Path::root().attribute("mind")).into()
            }
            Some("whole") => ProviderDiagnostic::error("Bad mind", "It is bad.").into(),
            Some("warn") => ProviderDiagnostic::warning("Odd mind", "It is odd.").into(),
            Some(_) => good(),
            None => ProviderDiagnostic::error("No mind", "There is none.").into(),
        }
    })
}

fn minds(body: &str) -> Project {
    Project::new(&format!("{HEAD}{body}")).scripted(minding())
}

#[test]
fn lc_26_problems_of_a_providers_configuration_name_it_and_its_block() {
    let mind = |mind: &str| format!("provider \"test\" {{\n  mind = \"{mind}\"\n}}\n{OBJECT}");
    let address = "provider[\"registry.terraform.io/test/test\"]";
    assert_eq!(minds(&mind("argument")).plan().said(), [format!("{address} main.tf:7 Bad mind")]);
    assert_eq!(minds(&mind("whole")).plan().said(), [format!("{address} main.tf:6 Bad mind")]);
    assert_eq!(minds(&mind("warn")).plan().said(), [format!("{address} main.tf:6 Odd mind")]);
    let aliased = "provider \"test\" {\n  alias = \"z\"\n  mind  = \"argument\"\n}\n\
                   resource \"test_object\" \"a\" {\n  provider = test.z\n  name = \"a\"\n}\n";
    assert_eq!(minds(aliased).plan().said(), [format!("{address}.z main.tf:8 Bad mind")]);
    let called = "module \"m\" {\n  source = \"./m\"\n}\n";
    let mut project = minds(called).with("m/m.tf", &format!("{HEAD}{}", mind("whole")));
    assert_eq!(project.plan().said(), [format!("module.m.{address} m/m.tf:6 Bad mind")]);
}

#[test]
fn missing_required_provider_block_is_reported() {
    let mut project = minds(OBJECT);
    let reported = project.plan().said();
    assert_eq!(
        reported,
        ["  Invalid provider configuration", "provider[\"registry.terraform.io/test/test\"]  No mind"]
    );
}

#[test]
fn provider_with_required_configuration_and_no_block_is_never_called() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let nothing = Block::new(Vec::<(&str, Attribute)>::new(), Vec::<(&str, NestedBlock)>::new());
    let required = Block::new(
        [("token", Attribute::required(Type::String))],
        [("features", NestedBlock::new(Nesting::List, nothing).at_least(1))],
    );
    let provider = Scripted::new("test").resource("test_object", object()).config(Schema::new(required));
    let provider = provider.on_configure(move |_, good| {
        counted.fetch_add(1, Ordering::Relaxed);
        good()
    });
    let mut project = Project::new(&format!("{HEAD}{OBJECT}")).scripted(provider);
    let address = "provider[\"registry.terraform.io/test/test\"]";
    let expected = [
        "  Invalid provider configuration".to_owned(),
        format!("{address}  Missing required argument"),
        format!("{address}  Insufficient features blocks"),
    ];
    assert_eq!(project.plan().said(), expected);
    // Objects of a block that is gone have the same provider, and nobody else to configure it.
    let block = "provider \"test\" {\n  token = \"t\"\n  features {\n  }\n}\n";
    project.rewrite(&format!("{HEAD}{block}{OBJECT}"));
    project.apply();
    let before = asked.load(Ordering::Relaxed);
    assert!(before > 0);
    project.rewrite(HEAD);
    assert_eq!(project.plan().said(), expected);
    project.options.mode = Mode::Destroy;
    assert_eq!(project.plan().said(), expected);
    assert_eq!(asked.load(Ordering::Relaxed), before);
}

#[test]
fn destroy_without_objects_configures_no_provider() {
    let mut project = minds(&format!("provider \"test\" {{\n  mind = \"whole\"\n}}\n{OBJECT}"));
    project.options.mode = Mode::Destroy;
    let planned = project.plan();
    assert!(planned.said().is_empty() && planned.actions().is_empty(), "{:?}", planned.said());
    // One object is enough.
    let made = "resource \"terraform_data\" \"t\" {\n}\n";
    let mut project = minds(made);
    project.apply();
    project.rewrite(&format!("{HEAD}{made}provider \"test\" {{\n  mind = \"whole\"\n}}\n{OBJECT}"));
    project.options.mode = Mode::Destroy;
    assert_eq!(project.plan().errors(), ["Bad mind"]);
}

const ACTION: &str = "action \"test_note\" \"n\" {\n  config {\n    name = \"n\"\n  }\n}\n\
                      resource \"test_object\" \"a\" {\n  name = \"a\"\n  lifecycle {\n    action_trigger {\n      \
                      events  = [after_create]\n      actions = [action.test_note.n]\n    }\n  }\n}\n";

fn acting(action: ActionScript) -> Project {
    let provider = Scripted::new("test").resource("test_object", object()).action("test_note", action);
    Project::new(&format!("{HEAD}{ACTION}")).scripted(provider)
}

fn note() -> ActionScript {
    ActionScript::new(block("name", Attribute::required(Type::String)))
}

fn both(one: ProviderDiagnostic) -> ProviderDiagnostics {
    let other =
        ProviderDiagnostic { summary: "Bad name".to_owned(), path: Path::root().attribute("name"), ..one.clone() };
    vec![one, other].into()
}

#[test]
fn lc_26_problems_of_an_actions_configuration_name_the_action_and_the_argument() {
    let error = || note().on_validate(|_| both(ProviderDiagnostic::error("Bad note", "It is bad.")));
    let reported = ["action.test_note.n main.tf:7 Bad note", "action.test_note.n main.tf:8 Bad name"];
    assert_eq!(acting(error()).plan().said(), reported);
    // A plan tells the warnings, too, and so does one that destroys.
    let warning = || note().on_validate(|_| both(ProviderDiagnostic::warning("Bad note", "It is bad.")));
    let mut project = acting(warning());
    assert_eq!(project.plan().said(), reported);
    project.options.mode = Mode::Destroy;
    assert_eq!(project.plan().said(), reported);
}

#[test]
fn diagnostics_of_an_invocation_are_merged_at_its_trigger() {
    let planning = note().on_plan(|_| PlanActionResponse {
        diagnostics: both(ProviderDiagnostic::warning("Little ink", "It may do.")),
        ..Default::default()
    });
    let planned = acting(planning).plan();
    assert_eq!(planned.said(), [" main.tf:16 Warnings when planning action"]);
    let detail = &planned.diagnostics.iter().next().unwrap().detail;
    assert_eq!(detail, "2 warnings:\n\n- Little ink: It may do.\n- Bad name: It may do.");

    let invoking = |one: ProviderDiagnostic| note().on_invoke(move |_| both(one.clone()));
    let invoked = |one: ProviderDiagnostic| {
        let mut project = acting(invoking(one));
        let planned = project.plan();
        let reported = project.apply_plan(planned);
        reported.iter().map(|one| (one.summary.clone(), one.detail.clone())).collect::<Vec<_>>()
    };
    let text = |what: &str| format!("2 {what}:\n\n- No ink: So it is.\n- Bad name: So it is.");
    assert_eq!(
        invoked(ProviderDiagnostic::error("No ink", "So it is.")),
        [("Error when invoking action".to_owned(), text("problems"))]
    );
    assert_eq!(
        invoked(ProviderDiagnostic::warning("No ink", "So it is.")),
        [("Warning when invoking action".to_owned(), text("warnings"))]
    );
}
