//! Plan rules P1 to P9.

use std::collections::BTreeMap;

use groma_provider::{
    Block, Deferred, IdentityAttribute, IdentityImport, IdentitySchema, PlanPurpose, PlanResponse, ServerCapabilities,
};
use groma_scripted::{Fault, Operation, Scripted};
use groma_value::{Path, Type, Value};

use crate::support::{Setup, assert_provider_bug, get, no_blocks, s, schema, unknown, wait, with};

const INVALID: &str = "Provider produced invalid plan";

#[test]
fn conforming_plan_passes_with_unknowns() {
    let setup = Setup::new(|script| script);
    let (planned, diagnostics) = setup.plan(setup.null(), setup.object([("name", s("a")), ("token", s("t"))]));
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let planned = planned.unwrap();
    assert!(!get(&planned.state, "id").is_known() && !get(&planned.state, "size").is_known());
    assert!(get(&planned.state, "token").is_null());
}

#[test]
fn lc_15_p1_a_planned_deletion_is_null() {
    let setup = Setup::new(|script| {
        script.on_plan(|request, good| PlanResponse { planned_state: request.prior_state.clone(), ..good() })
    });
    let (planned, diagnostics) = setup.plan(setup.object([("id", s("1"))]), setup.null());
    assert!(planned.is_none());
    assert_provider_bug(&diagnostics, INVALID);
}

#[test]
fn provider_without_plan_destroy_is_not_asked_to_plan_deletions() {
    let setup = Setup::new(|script| script.fault(Operation::Plan, Fault::Panic));
    let provider = Scripted::new("test").capabilities(ServerCapabilities::default());
    let checked = groma_provider::Checked::new(std::sync::Arc::new(provider), setup.checked.address().clone());
    let input = groma_provider::PlanInput {
        prior: setup.object([("id", s("1"))]),
        config: setup.null(),
        private: groma_provider::Private::from(&b"kept"[..]),
        ..groma_provider::PlanInput::default()
    };
    let (planned, diagnostics) = wait(checked.plan(&setup.subject(), input));
    let planned = planned.unwrap();
    assert!(planned.state.is_null() && diagnostics.is_empty());
    assert_eq!(&*planned.private, b"kept");
}

#[test]
fn lc_29_p2_write_only_values_must_not_be_planned() {
    let setup = Setup::new(|script| script.fault(Operation::Plan, Fault::Returns("token", s("t"))));
    for purpose in [PlanPurpose::Change, PlanPurpose::Replacement] {
        let (planned, diagnostics) = setup.plan_for(purpose, setup.null(), setup.object([("token", s("t"))]));
        assert!(planned.is_none());
        let detail = assert_provider_bug(&diagnostics, INVALID);
        assert!(detail.contains(".token: a write-only attribute has a value"), "{detail}");
    }
}

#[test]
fn lc_01_p3_a_plan_has_the_type_of_the_schema() {
    for purpose in [PlanPurpose::Change, PlanPurpose::Replacement, PlanPurpose::Placeholder] {
        let setup = Setup::new(|script| script.fault(Operation::Plan, Fault::Returns("name", Value::bool(true))));
        let (planned, diagnostics) = setup.plan_for(purpose, setup.null(), setup.object([("name", s("a"))]));
        assert!(planned.is_none());
        let detail = assert_provider_bug(&diagnostics, INVALID);
        assert!(detail.contains("test_object.web[0].name: string is required, not bool"), "{detail}");
    }
}

#[test]
fn lc_07_p4_a_planned_value_is_the_configured_or_the_prior_one() {
    let setup = Setup::new(|script| script.fault(Operation::Plan, Fault::Returns("name", s("B"))));
    for purpose in [PlanPurpose::Change, PlanPurpose::Placeholder] {
        let (planned, diagnostics) = setup.plan_for(purpose, setup.null(), setup.object([("name", s("b"))]));
        assert!(planned.is_none());
        let detail = assert_provider_bug(&diagnostics, INVALID);
        assert!(detail.contains("planned value \"B\" is not the configured value \"b\""), "{detail}");
        assert_eq!(setup.sources.text(diagnostics.iter().next().unwrap().subject.unwrap()).unwrap(), "\"web\"");
    }
    let (planned, diagnostics) =
        setup.plan_for(PlanPurpose::Replacement, setup.null(), setup.object([("name", s("b"))]));
    assert!(planned.is_some() && diagnostics.is_empty(), "P6: the second call is only checked for shape");
}

#[test]
fn lc_08_p4_provider_may_choose_only_computed_attributes() {
    let setup = Setup::new(|script| script.fault(Operation::Plan, Fault::Returns("name", s("b"))));
    let (_, diagnostics) = setup.plan(setup.null(), setup.object([]));
    assert_provider_bug(&diagnostics, INVALID);
}

#[test]
fn lc_17_legacy_providers_are_only_logged_for_planned_values() {
    let setup = Setup::new(|script| script.legacy().fault(Operation::Plan, Fault::Returns("name", s("B"))));
    let (planned, diagnostics) = setup.plan(setup.null(), setup.object([("name", s("b"))]));
    let planned = planned.unwrap();
    assert!(diagnostics.is_empty() && planned.legacy_type_system);
    assert_eq!(get(&planned.state, "name"), s("B"));
    assert_eq!(*setup.log.lock().unwrap(), [INVALID]);
}

/// A legacy provider with optional and computed blocks plans them as wholly unknown.
#[test]
fn lc_17_unknown_blocks_go_back_to_legacy_providers_as_they_were_planned() {
    let port = Block::new([("port", groma_provider::Attribute::optional(Type::Number))], no_blocks());
    let blocks = Type::list(port.implied_type().clone());
    let unknown_blocks = Value::unknown(blocks.clone());
    let open = unknown_blocks.clone();
    let setup = Setup::new(|script| script.legacy().fault(Operation::Plan, Fault::Returns("rule", open)));
    let (planned, _) = setup.plan(setup.null(), setup.object([("name", s("b"))]));
    assert_eq!(get(&planned.unwrap().state, "rule"), unknown_blocks);

    let made = Value::null(blocks);
    let result = made.clone();
    let setup = Setup::new(|script| script.legacy().fault(Operation::Apply, Fault::Returns("rule", result)));
    let config = setup.object([("name", s("b"))]);
    let planned = with(&with(&config, "rule", unknown_blocks), "id", unknown());
    let (applied, diagnostics) = setup.apply(setup.null(), planned, config);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_eq!(get(&applied.state, "rule"), made, "LC-18: verbatim");
}

#[test]
fn lc_17_legacy_providers_are_not_exempt_from_shapes() {
    let setup = Setup::new(|script| script.legacy().fault(Operation::Plan, Fault::Returns("name", Value::bool(true))));
    let (planned, diagnostics) = setup.plan(setup.null(), setup.object([]));
    assert!(planned.is_none());
    assert_provider_bug(&diagnostics, INVALID);
}

#[test]
fn lc_32_p5_replace_paths_must_exist_and_change() {
    let asks_for = |names: &'static [&'static str]| {
        Setup::new(move |script| {
            script.on_plan(move |_, good| {
                let paths = names.iter().map(|name| Path::root().attribute(*name)).collect();
                PlanResponse { requires_replace: paths, ..good() }
            })
        })
    };
    let setup = asks_for(&["name", "size"]);
    let prior = || setup.object([("id", s("1")), ("name", s("a")), ("size", s("x"))]);
    let (planned, _) = setup.plan(prior(), setup.object([("name", s("b"))]));
    assert_eq!(planned.unwrap().requires_replace, [Path::root().attribute("name")], "size does not change");
    let (planned, _) = setup.plan(setup.null(), setup.object([("name", s("b"))]));
    assert!(planned.unwrap().requires_replace.is_empty(), "nothing to replace on create");
    let wrong = asks_for(&["nonsense"]);
    let (planned, diagnostics) = wrong.plan(prior(), setup.object([("name", s("b"))]));
    assert!(planned.is_none());
    assert!(assert_provider_bug(&diagnostics, INVALID).contains(".nonsense"));
}

#[test]
fn lc_32_p8_plan_may_be_deferred_only_if_allowed() {
    let setup = Setup::new(|script| {
        script.on_plan(|_, good| PlanResponse { deferred: Some(Deferred::AbsentPrerequisite), ..good() })
    });
    let (planned, diagnostics) = setup.plan(setup.null(), setup.object([]));
    assert!(planned.is_none());
    assert_provider_bug(&diagnostics, "Provider deferred changes when Terraform did not allow deferrals");
}

#[test]
fn pl_45_deferral_reason_is_returned_if_allowed() {
    let setup = Setup::new(|script| {
        script.on_plan(|request, good| {
            let allowed = request.client_capabilities.deferral_allowed;
            PlanResponse { deferred: allowed.then_some(Deferred::ProviderConfigUnknown), ..good() }
        })
    });
    for deferral_allowed in [true, false] {
        let input = groma_provider::PlanInput {
            prior: setup.null(),
            config: setup.object([("name", s("a"))]),
            capabilities: groma_provider::ClientCapabilities { deferral_allowed, ..Default::default() },
            ..groma_provider::PlanInput::default()
        };
        let (planned, diagnostics) = wait(setup.checked.plan(&setup.subject(), input));
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let expected = deferral_allowed.then_some(Deferred::ProviderConfigUnknown);
        assert_eq!(planned.unwrap().deferred, expected, "the capability reaches the provider");
    }
}

#[test]
fn lc_31_p9_identities_are_known_and_conform_to_schema() {
    let id = IdentityAttribute { ty: Type::String, import: IdentityImport::Required, description: String::new() };
    let identified = || {
        schema().identified_by(IdentitySchema { version: 0, attributes: BTreeMap::from([("id".into(), id.clone())]) })
    };
    let returning = |identity: Value| {
        Setup::of(identified(), move |script| {
            script.on_plan(move |_, good| PlanResponse { planned_identity: Some(identity.clone()), ..good() })
        })
    };
    let prior = |setup: &Setup| setup.object([("id", s("1"))]);
    let open = returning(Value::object([("id", unknown())]));
    assert!(open.plan(open.null(), open.object([])).1.is_empty(), "open while the object is yet to be made");
    let (_, diagnostics) = open.plan(prior(&open), open.object([]));
    assert_provider_bug(&diagnostics, "Provider produced invalid identity");
    let wrong = returning(Value::object([("name", s("x"))]));
    let (_, diagnostics) = wrong.plan(prior(&wrong), wrong.object([]));
    assert_eq!(
        diagnostics.iter().next().unwrap().summary,
        "Provider produced an identity that doesn't match the schema"
    );
}

#[test]
fn lc_32_errors_of_the_provider_suppress_the_checks() {
    let setup = Setup::new(|script| {
        script.on_plan(|_, good| {
            let mut response = good();
            response.planned_state = with(&response.planned_state, "name", Value::bool(true));
            response.diagnostics = groma_provider::ProviderDiagnostic::error("no", "no").into();
            response
        })
    });
    let (planned, diagnostics) = setup.plan(setup.null(), setup.object([]));
    assert!(planned.is_none());
    assert_eq!(setup.texts(&diagnostics), ["no [name]: no"]);
}

#[test]
fn lc_10_a1_the_final_plan_agrees_with_the_initial_one() {
    let setup = Setup::new(|script| script);
    let initial = setup.object([("id", unknown()), ("name", s("a"))]);
    let last = setup.object([("id", s("1")), ("name", s("b"))]);
    let diagnostics = setup.checked.check_final_plan(&setup.subject(), &initial, &last);
    let detail = assert_provider_bug(&diagnostics, "Provider produced inconsistent final plan");
    assert!(detail.contains(".name: was \"a\", but now \"b\""), "{detail}");
    let agreeing = setup.object([("id", s("1")), ("name", s("a"))]);
    assert!(setup.checked.check_final_plan(&setup.subject(), &initial, &agreeing).is_empty());
    let action = setup.checked.action_changed(&setup.subject(), "Update", "Replace");
    assert_provider_bug(&action.into(), "Provider produced inconsistent final plan");
}
