//! Marks, locations and secrets across the provider boundary (LC-26, LC-28, LC-30).

use groma_provider::{PlanResponse, ProviderDiagnostic};
use groma_scripted::{Fault, Operation};
use groma_value::{Marks, Path, Type, Value};

use crate::support::{Setup, get, s, unknown, wait};

fn secret(text: &str) -> Value {
    s(text).with_marks(&Marks::SENSITIVE)
}

#[test]
fn lc_30_values_cross_unmarked_and_marks_come_back() {
    let setup = Setup::new(|script| {
        script
            .on_plan(|request, good| {
                assert!(!request.config.has_marks() && !request.proposed_new_state.has_marks());
                assert!(!request.prior_state.has_marks());
                good()
            })
            .on_apply(|request, good| {
                assert!(!request.config.has_marks() && !request.planned_state.has_marks());
                good()
            })
            .on_validate(|request, good| {
                assert!(!request.config.has_marks());
                good()
            })
    });
    let config = setup.object([("name", secret("a")), ("size", s("x"))]);
    assert!(wait(setup.checked.validate(&setup.subject(), &config)).is_empty());
    let (planned, diagnostics) = setup.plan(setup.null(), config.clone());
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let planned = planned.unwrap().state;
    assert!(get(&planned, "name").marks().is_sensitive());
    assert!(!get(&planned, "size").has_marks());
    let (applied, diagnostics) = setup.apply(setup.null(), planned, config);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert!(get(&applied.state, "name").marks().is_sensitive());
}

#[test]
fn lc_29_sensitive_attributes_are_marked() {
    let setup = Setup::new(|script| script);
    let (planned, _) = setup.plan(setup.null(), setup.object([("secret", s("p"))]));
    assert!(get(&planned.unwrap().state, "secret").marks().is_sensitive());
}

#[test]
fn lc_28_secrets_are_not_in_messages() {
    let setup = Setup::new(|script| {
        script.on_plan(|_, good| {
            let mut response = good();
            let attributes = response.planned_state.as_object().unwrap();
            let changed = attributes.iter().map(|(name, value)| match &**name {
                "name" | "secret" => (name.clone(), s("other-secret")),
                _ => (name.clone(), value.clone()),
            });
            response.planned_state = Value::object(changed.collect::<Vec<_>>());
            response
        })
    });
    let (_, diagnostics) =
        setup.plan(setup.null(), setup.object([("name", secret("hidden-1")), ("secret", s("hidden-2"))]));
    assert_eq!(diagnostics.len(), 2);
    for text in setup.texts(&diagnostics) {
        assert!(text.contains("(sensitive value)"), "{text}");
        assert!(!text.contains("hidden") && !text.contains("other-secret"), "{text}");
    }
}

#[test]
fn lc_26_provider_diagnostics_point_at_the_configuration() {
    let setup = Setup::new(|script| {
        script.on_validate(|_, _| {
            let port = Path::root().attribute("rule").position(0).attribute("port");
            vec![
                ProviderDiagnostic::error("Bad size", "Sizes are small.").at(Path::root().attribute("size")),
                ProviderDiagnostic::warning("Old port", "Take another.").at(port),
                ProviderDiagnostic::warning("Everything", "All of it."),
            ]
            .into()
        })
    });
    let found = wait(setup.checked.validate(&setup.subject(), &setup.object([])));
    assert_eq!(
        setup.texts(&found),
        ["Bad size [\"large\"]: Sizes are small.", "Old port [80]: Take another.", "Everything [name]: All of it."]
    );
    assert!(
        found
            .iter()
            .all(|found| found.address.as_ref().is_some_and(|address| address.to_string() == "test_object.web[0]"))
    );
    let severities: Vec<bool> = found.iter().map(groma_diagnostics::Diagnostic::is_error).collect();
    assert_eq!(severities, [true, false, false]);
}

#[test]
fn lc_04_the_provider_gets_the_proposed_new_state() {
    let setup = Setup::new(|script| {
        script.on_plan(|request, _| {
            let proposed = &request.proposed_new_state;
            assert_eq!(get(proposed, "id"), s("1"), "computed: from the prior object");
            assert_eq!(get(proposed, "name"), s("new"), "from the configuration");
            PlanResponse::new(proposed.clone(), request.prior_private.clone())
        })
    });
    let prior = setup.object([("id", s("1")), ("name", s("old"))]);
    let (planned, diagnostics) = setup.plan(prior, setup.object([("name", s("new"))]));
    assert!(planned.is_some(), "{diagnostics:?}");
}

#[test]
fn pending_answers_are_checked() {
    let setup = Setup::new(|script| {
        script
            .delay(Operation::Plan, std::time::Duration::from_millis(5))
            .fault(Operation::Plan, Fault::Returns("name", s("B")))
    });
    let (planned, diagnostics) = setup.plan(setup.null(), setup.object([("name", s("b"))]));
    assert!(planned.is_none() && diagnostics.has_errors());
}

#[test]
fn lc_30_marks_on_unknown_values_survive_the_plan() {
    let setup = Setup::new(|script| script);
    let config = setup.object([("name", unknown().with_marks(&Marks::SENSITIVE))]);
    let (planned, _) = setup.plan(setup.null(), config);
    let name = get(&planned.unwrap().state, "name");
    assert!(name.marks().is_sensitive() && !name.is_known());
    assert_eq!(name.ty(), Type::String);
}

#[test]
fn lc_29_marks_of_write_only_values_do_not_come_back() {
    let setup = Setup::new(|script| {
        script.on_apply(|request, good| {
            assert_eq!(get(&request.config, "token"), s("t"), "the provider gets the value with the configuration");
            good()
        })
    });
    let config = setup.object([("token", s("t").with_marks(&Marks::EPHEMERAL))]);
    let (planned, diagnostics) = setup.plan(setup.null(), config.clone());
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let planned = planned.unwrap().state;
    assert!(!planned.deep_marks().is_ephemeral(), "null may be stored");
    let (applied, diagnostics) = setup.apply(setup.null(), planned, config);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert!(!applied.state.deep_marks().is_ephemeral());
}
