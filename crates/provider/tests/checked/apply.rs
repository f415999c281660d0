//! Apply rules A2 to A8, and the recorded object (LC-13, LC-15, LC-16).

use groma_provider::{ApplyInput, ApplyResponse};
use groma_scripted::{Fault, Operation};
use groma_value::Value;

use crate::support::{Setup, assert_provider_bug, get, s, unknown, wait, with};

fn create(setup: &Setup) -> (groma_provider::Applied, groma_diagnostics::Diagnostics) {
    let planned = setup.object([("id", unknown()), ("name", s("a")), ("size", unknown())]);
    setup.apply(setup.null(), planned, setup.object([("name", s("a"))]))
}

fn update(setup: &Setup) -> (groma_provider::Applied, groma_diagnostics::Diagnostics) {
    let prior = setup.object([("id", s("1")), ("name", s("old"))]);
    let planned = setup.object([("id", s("1")), ("name", s("a"))]);
    setup.apply(prior, planned, setup.object([("name", s("a"))]))
}

fn delete(setup: &Setup) -> (groma_provider::Applied, groma_diagnostics::Diagnostics) {
    setup.apply(setup.object([("id", s("1"))]), setup.null(), setup.null())
}

fn with_fault(fault: Fault) -> Setup {
    Setup::new(|script| script.fault(Operation::Apply, fault))
}

#[test]
fn conforming_apply_resolves_unknowns() {
    let setup = Setup::new(|script| script);
    let (applied, diagnostics) = create(&setup);
    assert!(diagnostics.is_empty() && !applied.failed, "{diagnostics:?}");
    assert!(applied.state.is_wholly_known());
    assert_eq!(setup.world().len(), 1);
    let (applied, diagnostics) = delete(&setup);
    assert!(diagnostics.is_empty() && applied.state.is_null());
}

#[test]
fn lc_32_a2_no_object_at_all() {
    let (applied, diagnostics) = create(&with_fault(Fault::Nothing));
    assert!(applied.failed && applied.state.is_null());
    assert_provider_bug(&diagnostics, "Provider produced invalid object");
}

#[test]
fn lc_01_a3_a_wrong_shape_is_not_stored() {
    let (applied, diagnostics) = update(&with_fault(Fault::WrongShape));
    assert!(diagnostics.iter().all(|found| found.summary == "Provider produced invalid object"));
    assert_eq!(get(&applied.state, "name"), s("old"), "the prior object stays");
}

#[test]
fn lc_29_a4_write_only_values_are_not_stored() {
    let setup = with_fault(Fault::Returns("token", s("t0ken")));
    let (applied, diagnostics) = create(&setup);
    let detail = assert_provider_bug(&diagnostics, "Provider produced invalid object");
    assert!(!detail.contains("t0ken"));
    assert!(get(&applied.state, "token").is_null());
    assert!(!applied.state.is_null(), "what exists is not forgotten");
}

#[test]
fn lc_13_a5_unknown_values_after_apply_are_an_error_and_stored_as_null() {
    let (applied, diagnostics) = create(&with_fault(Fault::Unknown("size")));
    let detail = assert_provider_bug(&diagnostics, "Provider returned invalid result object after apply");
    assert!(detail.contains(".size"), "{detail}");
    assert!(applied.failed, "so that the engine taints what it was creating");
    assert!(get(&applied.state, "size").is_null() && !get(&applied.state, "id").is_null());
}

#[test]
fn lc_12_a6_the_result_is_what_was_planned() {
    let (applied, diagnostics) = create(&with_fault(Fault::Returns("name", s("A"))));
    let detail = assert_provider_bug(&diagnostics, "Provider produced inconsistent result after apply");
    assert!(detail.contains(".name: was \"a\", but now \"A\""), "{detail}");
    assert_eq!(get(&applied.state, "name"), s("A"), "the object is recorded nevertheless");
}

#[test]
fn lc_17_a6_legacy_providers_are_only_logged() {
    let setup = Setup::new(|script| script.legacy().fault(Operation::Apply, Fault::Returns("name", s("A"))));
    let (applied, diagnostics) = create(&setup);
    assert!(diagnostics.is_empty() && !applied.failed);
    assert_eq!(*setup.log.lock().unwrap(), ["Provider produced inconsistent result after apply"]);
}

#[test]
fn lc_17_legacy_providers_are_not_exempt_from_unknown_values() {
    let setup = Setup::new(|script| script.legacy().fault(Operation::Apply, Fault::Unknown("size")));
    assert_provider_bug(&create(&setup).1, "Provider returned invalid result object after apply");
}

#[test]
fn lc_15_a7_result_is_null_only_for_deletions() {
    let survives = Setup::new(|script| {
        script.on_apply(|request, good| ApplyResponse { new_state: Some(request.prior_state.clone()), ..good() })
    });
    let (applied, diagnostics) = delete(&survives);
    assert_provider_bug(&diagnostics, "Provider returned invalid result object after apply");
    assert_eq!(get(&applied.state, "id"), s("1"));
    let (applied, diagnostics) = update(&with_fault(Fault::Null));
    assert_provider_bug(&diagnostics, "Provider returned invalid result object after apply");
    assert_eq!(get(&applied.state, "name"), s("old"), "the prior object stays");
}

#[test]
fn lc_16_a_failed_create_with_an_object_keeps_it() {
    let (applied, diagnostics) = create(&with_fault(Fault::ErrorAfter("half way")));
    assert!(applied.failed && !applied.state.is_null());
    assert_eq!(diagnostics.iter().next().unwrap().summary, "half way");
}

#[test]
fn lc_16_a_failed_create_without_an_object_keeps_nothing() {
    let (applied, _) = create(&with_fault(Fault::Error("no")));
    assert!(applied.failed && applied.state.is_null());
}

#[test]
fn lc_16_a_failed_update_keeps_what_was_returned_or_the_prior_object() {
    let (applied, _) = update(&with_fault(Fault::ErrorAfter("half way")));
    assert_eq!(get(&applied.state, "name"), s("a"));
    let setup = Setup::new(|script| {
        script.on_apply(|_, good| {
            let mut response = good();
            response.new_state = Some(Value::null(response.new_state.unwrap().ty()));
            response.diagnostics = groma_provider::ProviderDiagnostic::error("no", "no").into();
            response
        })
    });
    let (applied, _) = update(&setup);
    assert_eq!(get(&applied.state, "name"), s("old"));
}

#[test]
fn lc_16_prior_object_is_kept_with_private_data_and_identity() {
    let setup = Setup::new(|script| {
        script.on_apply(|_, good| ApplyResponse {
            new_state: None,
            private: b"of the plan"[..].into(),
            diagnostics: groma_provider::ProviderDiagnostic::error("no", "no").into(),
            ..good()
        })
    });
    let identity = Value::object([("id", s("1"))]);
    for planned in [setup.object([("id", s("1")), ("name", s("new"))]), setup.schema.block.null_value()] {
        let input = ApplyInput {
            prior: setup.object([("id", s("1")), ("name", s("old"))]),
            prior_private: b"kept"[..].into(),
            prior_identity: Some(identity.clone()),
            config: planned.clone(),
            planned,
            private: b"of the plan"[..].into(),
            identity: Some(identity.clone()),
            meta: Value::NULL,
        };
        let (applied, _) = wait(setup.checked.apply(&setup.subject(), input));
        assert!(applied.failed);
        assert_eq!(get(&applied.state, "name"), s("old"));
        assert_eq!((&*applied.private, applied.identity), (&b"kept"[..], Some(identity.clone())));
    }
}

#[test]
fn lc_16_a_failed_delete_keeps_the_prior_object() {
    let setup = Setup::new(|script| {
        script.on_apply(|request, good| ApplyResponse {
            new_state: Some(with(&request.prior_state, "name", s("changed"))),
            diagnostics: groma_provider::ProviderDiagnostic::error("no", "no").into(),
            ..good()
        })
    });
    let (applied, _) = delete(&setup);
    assert!(applied.failed);
    assert_eq!(get(&applied.state, "id"), s("1"));
    assert!(get(&applied.state, "name").is_null());
}
