//! Read, upgrade, import, move, data sources, ephemeral resources, schemas (plugin-protocol 4.3).

use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_diagnostics::{Diagnostics, Span};
use groma_provider::{
    Block, Checked, ClientCapabilities, DataInput, ImportInput, ImportRequest, ImportResponse, ImportTarget, Imported,
    MoveInput, MoveRequest, NestedBlock, Nesting, Private, Read, ReadInput, Schema, StoredState, Subject, Use,
};
use groma_scripted::{DataScript, EphemeralScript, Fault, Operation, ResourceScript, Scripted};
use groma_value::{Kind, Marks, Type, Value};

use crate::support::{Setup, assert_provider_bug, attribute, get, no_blocks, object, s, schema, wait, with};

fn read(setup: &Setup, current: Value) -> (Option<Read>, Diagnostics) {
    let input = ReadInput { current, ..ReadInput::default() };
    wait(setup.checked.read(&setup.subject(), input))
}

#[test]
fn lc_21_read_returns_current_object() {
    let setup = Setup::new(|script| script);
    let object = setup.object([("id", s("1")), ("name", s("a")), ("secret", s("p"))]);
    setup.world().put("test_object", "1", object.clone());
    let (found, diagnostics) = read(&setup, object.clone());
    assert!(diagnostics.is_empty());
    assert!(get(&found.unwrap().state, "secret").marks().is_sensitive());
    setup.world().remove("test_object", "1");
    assert!(read(&setup, object).0.unwrap().state.is_null());
}

#[test]
fn lc_21_unknown_wrong_and_write_only_values_from_a_read_are_errors() {
    for fault in [Fault::Unknown("size"), Fault::Returns("name", Value::bool(true)), Fault::Returns("token", s("t"))] {
        let setup = Setup::new(|script| script.fault(Operation::Read, fault));
        let object = setup.object([("id", s("1"))]);
        setup.world().put("test_object", "1", object.clone());
        let (found, diagnostics) = read(&setup, object);
        assert!(found.is_none());
        assert_provider_bug(&diagnostics, "Provider produced invalid object");
    }
}

#[test]
fn lc_17_null_blocks_from_a_read_are_empty() {
    let setup = Setup::new(|script| {
        let port = Block::new([("port", groma_provider::Attribute::optional(Type::Number))], no_blocks());
        let null = Value::null(Type::list(port.implied_type().clone()));
        script.fault(Operation::Read, Fault::Returns("rule", null))
    });
    let object = setup.object([("id", s("1"))]);
    setup.world().put("test_object", "1", object.clone());
    let (found, diagnostics) = read(&setup, object);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert!(matches!(get(&found.unwrap().state, "rule").kind(), Kind::List([])));
}

#[test]
fn many_objects_are_read_in_one_call() {
    let setup = Setup::new(|script| script);
    let object = setup.object([("id", s("1")), ("name", s("a"))]);
    setup.world().put("test_object", "1", object.clone());
    let input = |current: Value| ReadInput { current, ..ReadInput::default() };
    let gone = setup.object([("id", s("2"))]);
    let inputs = vec![(setup.subject(), input(object)), (setup.subject(), input(gone))];
    let found = wait(setup.checked.read_many(inputs));
    assert_eq!(found.len(), 2);
    assert!(!found[0].0.as_ref().unwrap().state.is_null());
    assert!(found[1].0.as_ref().unwrap().state.is_null());
}

fn upgrade(setup: &Setup, version: u64, json: &str) -> (Option<Value>, Diagnostics) {
    wait(setup.checked.upgrade(&setup.subject(), StoredState { version, object: json.into() }))
}

#[test]
fn lc_20_upgraded_objects_are_known_and_of_the_schemas_type() {
    let json = r#"{"id":"1","name":"a","secret":"p","size":null,"token":null,"rule":[]}"#;
    let setup = Setup::new(|script| script);
    let (state, diagnostics) = upgrade(&setup, 0, json);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert!(get(&state.unwrap(), "secret").marks().is_sensitive());
    for fault in [Fault::Unknown("size"), Fault::Returns("name", Value::bool(true)), Fault::Returns("token", s("t"))] {
        let setup = Setup::new(|script| script.fault(Operation::Upgrade, fault));
        let (state, diagnostics) = upgrade(&setup, 0, json);
        assert!(state.is_none());
        assert_provider_bug(&diagnostics, "Invalid resource state upgrade");
    }
}

#[test]
fn lc_19_objects_of_newer_provider_versions_are_rejected() {
    let setup = Setup::new(|script| script);
    let (state, diagnostics) = upgrade(&setup, 1, "{}");
    assert!(state.is_none());
    let found = diagnostics.iter().next().unwrap();
    assert_eq!(found.summary, "Resource instance managed by newer provider version");
    assert!(setup.provider.calls().is_empty(), "the provider is not even asked");
}

fn import(setup: &Setup, id: &str) -> (Option<Imported>, Diagnostics) {
    let input = ImportInput {
        target: ImportTarget::Id(id.into()),
        config: Value::NULL,
        capabilities: ClientCapabilities::default(),
    };
    wait(setup.checked.import(&setup.subject(), input))
}

#[test]
fn lc_23_an_import_is_one_object_of_the_right_type() {
    let setup = Setup::new(|script| script);
    let (imported, diagnostics) = import(&setup, "i-1");
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_eq!(get(&imported.unwrap().state, "id"), s("i-1"));
    let target = ImportTarget::Id("i-1".into());
    let missing = setup.checked.import_not_found(&setup.subject(), &target);
    assert_eq!(missing.summary, "Cannot import non-existent remote object");
    assert!(missing.detail.contains("\"i-1\""));
}

#[test]
fn lc_30_values_that_an_import_takes_from_the_configuration_keep_their_marks() {
    let take = |request: &ImportRequest, good: &mut ImportResponse| {
        let config = request.config.as_ref().expect("the provider gets the configuration");
        assert!(!config.has_marks());
        let state = &mut good.imported[0].state;
        *state = with(state, "name", config.attribute("name").unwrap());
    };
    let setup = Setup::new(|script| {
        script.on_import(move |request, good| {
            let mut response = good();
            take(request, &mut response);
            response
        })
    });
    let name = s("n").with_marks(&Marks::SENSITIVE);
    let size = s("large").with_marks(&Marks::SENSITIVE);
    let input = ImportInput {
        target: ImportTarget::Id("i-1".into()),
        config: setup.object([("name", name.clone()), ("size", size)]),
        capabilities: ClientCapabilities::default(),
    };
    let (imported, diagnostics) = wait(setup.checked.import(&setup.subject(), input));
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let state = imported.unwrap().state;
    assert_eq!(get(&state, "name"), name);
    assert!(!get(&state, "size").has_marks(), "a value that the provider has not taken is not marked");
}

#[test]
fn lc_23_invalid_imports_are_errors() {
    type Change = fn(ImportResponse) -> ImportResponse;
    let twice: Change = |mut response| {
        response.imported.extend(response.imported.clone());
        response
    };
    let none: Change = |mut response| {
        response.imported.clear();
        response
    };
    let deferred: Change = |response| ImportResponse { deferred: Some(groma_provider::Deferred::Unknown), ..response };
    let other_type: Change = |mut response| {
        response.imported[0].type_name = "test_other".into();
        response
    };
    for (change, summary) in [
        (twice, "Multiple import states not supported"),
        (none, "Import returned no resources"),
        (deferred, "Cannot import deferred remote object"),
        (other_type, "Provider produced invalid object"),
    ] {
        let setup = Setup::new(|script| script.on_import(move |_, good| change(good())));
        let (imported, diagnostics) = import(&setup, "i-1");
        assert!(imported.is_none());
        assert_eq!(diagnostics.iter().map(|found| &*found.summary).collect::<Vec<_>>(), [summary]);
    }
    for (fault, summary) in [
        (Fault::Null, "Import returned null resource"),
        (Fault::Returns("token", s("t")), "Import returned a non-null value for a write-only attribute"),
        (Fault::Unknown("size"), "Provider produced invalid object"),
    ] {
        let setup = Setup::new(|script| script.fault(Operation::Import, fault));
        let (imported, diagnostics) = import(&setup, "i-1");
        assert!(imported.is_none());
        assert_eq!(diagnostics.iter().map(|found| &*found.summary).collect::<Vec<_>>(), [summary]);
    }
}

#[test]
fn lc_25_a_provider_may_refuse_an_import() {
    let setup = Setup::new(|script| script.fault(Operation::Import, Fault::Error("not this one")));
    let (imported, diagnostics) = import(&setup, "i-1");
    assert!(imported.is_none());
    assert_eq!(setup.texts(&diagnostics), ["not this one [name]: The script says so."]);
}

fn move_state(setup: &Setup) -> (Option<groma_provider::Moved>, Diagnostics) {
    let request = MoveRequest {
        source_provider_address: "registry.terraform.io/hashicorp/other".into(),
        source_type_name: "other_object".into(),
        source_schema_version: 0,
        source_state: "{}".into(),
        source_private: Private::default(),
        source_identity: None,
        target_type_name: "".into(),
    };
    wait(setup.checked.move_state(&setup.subject(), MoveInput { request }))
}

#[test]
fn lc_32_moves_across_types_are_checked() {
    let returning = |state: fn(&Setup) -> Value| {
        let value = state(&Setup::new(|script| script));
        Setup::new(move |script| {
            script.on_move(move |request, good| {
                assert_eq!(&*request.target_type_name, "test_object");
                groma_provider::MoveResponse {
                    target_state: value.clone(),
                    diagnostics: groma_provider::ProviderDiagnostics::new(),
                    ..good()
                }
            })
        })
    };
    let good = returning(|setup| setup.object([("id", s("1"))]));
    assert_eq!(get(&move_state(&good).0.unwrap().state, "id"), s("1"));
    for wrong in
        [returning(Setup::null), returning(|_| s("text")), returning(|setup| setup.object([("token", s("t"))]))]
    {
        let (moved, diagnostics) = move_state(&wrong);
        assert!(moved.is_none());
        assert_provider_bug(&diagnostics, "Provider returned invalid value");
    }
    let unable = Scripted::new("test").capabilities(groma_provider::ServerCapabilities::default());
    let mut setup = Setup::new(|script| script);
    setup.checked = Checked::new(Arc::new(unable), ProviderAddress::default_for("test"));
    let (_, diagnostics) = move_state(&setup);
    assert_eq!(diagnostics.iter().next().unwrap().summary, "Unsupported `moved` across resource types");
}

/// A data source or ephemeral resource with an optional `name` and a computed `result`.
fn found_schema() -> Schema {
    Schema::new(Block::new([("name", attribute(Use::Optional)), ("result", attribute(Use::Computed))], no_blocks()))
}

fn input(config: Value) -> DataInput {
    DataInput { config, meta: Value::NULL, capabilities: ClientCapabilities::default() }
}

#[test]
fn lc_32_data_sources_return_a_known_object() {
    let schema = found_schema();
    let address = "data.test_data.d".parse().unwrap();
    let subject = Subject { address: &address, schema: &schema, body: None, span: Span::NONE };
    let read = |script: DataScript| {
        let provider = Arc::new(Scripted::new("test").data("test_data", script));
        let checked = Checked::new(provider, ProviderAddress::default_for("test"));
        let (found, diagnostics) = wait(checked.read_data(&subject, input(object(&schema.block, &[("name", s("a"))]))));
        let summaries: Vec<String> = diagnostics.iter().map(|found| found.summary.clone()).collect();
        (found, summaries)
    };
    let script = || DataScript::new(schema.clone());
    let (found, problems) = read(script());
    assert!(problems.is_empty());
    assert_eq!(get(&found.unwrap().state, "result"), s("computed-result"));
    let (_, problems) = read(script().returning(|_| vec![("result", Value::unknown(Type::String))]));
    assert_eq!(problems, ["Provider produced invalid object"]);
    let (_, problems) = read(script().returning(|_| vec![("result", Value::bool(true))]));
    assert_eq!(problems, ["Provider produced invalid object"]);
    let null = schema.block.null_value();
    let (_, problems) =
        read(script().on_read(move |_, good| groma_provider::ReadDataResponse { state: null.clone(), ..good() }));
    assert_eq!(problems, ["Provider produced null object"]);
}

#[test]
fn lc_32_ephemeral_resources_echo_their_configuration() {
    let schema = found_schema();
    let address = "ephemeral.test_secret.s".parse().unwrap();
    let subject = Subject { address: &address, schema: &schema, body: None, span: Span::NONE };
    let provider = Arc::new(Scripted::new("test").ephemeral("test_secret", EphemeralScript::new(schema.clone())));
    let checked = Checked::new(provider.clone(), ProviderAddress::default_for("test"));
    let config = object(&schema.block, &[("name", s("a"))]);
    let (opened, diagnostics) = wait(checked.open_ephemeral(&subject, input(config.clone())));
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let opened = opened.unwrap();
    assert_eq!(get(&opened.result, "result"), s("computed-result"));
    wait(checked.close_ephemeral(&subject, opened.private));
    assert_eq!(provider.call_texts(), ["open test_secret a", "close test_secret a"]);
    // With a schema in which `result` is not computed, the same response violates the contract.
    let strict = Schema::new(Block::new(
        [("name", attribute(Use::Optional)), ("result", attribute(Use::Optional))],
        no_blocks(),
    ));
    let subject = Subject { schema: &strict, ..subject };
    let (opened, diagnostics) = wait(checked.open_ephemeral(&subject, input(config)));
    assert!(opened.is_none());
    assert_eq!(diagnostics.iter().next().unwrap().summary, "Provider produced invalid ephemeral resource instance");
}

#[test]
fn lc_32_invalid_schemas_are_rejected_on_load() {
    let unsound = Schema::new(Block::new(
        [("Rule", attribute(Use::Optional))],
        [("Rule", NestedBlock::new(Nesting::List, Block::default()))],
    ));
    let provider = Scripted::new("test").resource("test_object", ResourceScript::new(unsound));
    let checked = Checked::new(Arc::new(provider), ProviderAddress::default_for("test"));
    let problems = checked.resource_schema("test_object").unwrap_err();
    let found = problems.iter().next().unwrap();
    assert_eq!(found.summary, "Failed to load plugin schemas");
    assert!(found.detail.contains("- Rule: the name is declared more than once"), "{}", found.detail);
    assert!(checked.resource_schema("test_nothing").unwrap().is_none());
    let sound = Scripted::new("test").resource("test_object", ResourceScript::new(schema()));
    let checked = Checked::new(Arc::new(sound), ProviderAddress::default_for("test"));
    let (one, other) =
        (checked.resource_schema("test_object").unwrap(), checked.resource_schema("test_object").unwrap());
    assert!(Arc::ptr_eq(&one.unwrap(), &other.unwrap()), "loaded once");
}

#[test]
fn lc_32_p8_read_may_be_deferred_only_if_allowed() {
    let setup = Setup::new(|script| {
        script.on_read(|_, good| groma_provider::ReadResponse {
            deferred: Some(groma_provider::Deferred::AbsentPrerequisite),
            ..good()
        })
    });
    let object = setup.object([("id", s("1"))]);
    let (found, diagnostics) = read(&setup, object.clone());
    assert!(found.is_none());
    assert_provider_bug(&diagnostics, "Provider deferred changes when Terraform did not allow deferrals");
    let capabilities = ClientCapabilities { deferral_allowed: true, ..Default::default() };
    let input = ReadInput { current: object, capabilities, ..ReadInput::default() };
    let (found, diagnostics) = wait(setup.checked.read(&setup.subject(), input));
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_eq!(found.unwrap().deferred, Some(groma_provider::Deferred::AbsentPrerequisite));
}
