//! Laws of the two sides together: what a caller sends is what the provider gets, and what it answers is what comes
//! back, over both versions of the protocol.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use groma_address::ProviderAddress;
use groma_plugin::client::{Plugin, PluginHost, Start};
use groma_plugin::server::{Served, serve_below};
use groma_plugin::transport::{NoLog, Reattach};
use groma_plugin::{Protocol, wire};
use groma_provider::{
    Answer, ApplyRequest, ApplyResponse, Attribute, Block, ClientCapabilities, Deferred, GenerateConfigRequest,
    GenerateConfigResponse, IdentityAttribute, IdentityImport, IdentitySchema, ImportRequest, ImportResponse,
    ImportTarget, ImportedResource, InvokeActionRequest, ListControl, ListDetail, ListRequest, Listed, MoveRequest,
    MoveResponse, Name, NestedBlock, Nesting, ObjectNesting, ObjectSchema, PlanActionRequest, PlanActionResponse,
    PlanRequest, PlanResponse, Private, Provider, ProviderDiagnostic, ProviderDiagnostics, ProviderSchema, RawState,
    ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, Schema, SchemaLookup, ServerCapabilities, TypeNames,
    UpgradeRequest, UpgradeResponse, Use, ValidateRequest,
};
use groma_value::{Path, Type, Value};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

const TYPE: &str = "echo_thing";

/// A provider that echoes requests and records them.
struct Echo {
    schema: Arc<Schema>,
    seen: Mutex<String>,
    problems: Mutex<ProviderDiagnostics>,
}

impl Echo {
    fn new(protocol: Protocol) -> Self {
        Self { schema: Arc::new(schema(protocol)), seen: Mutex::default(), problems: Mutex::default() }
    }

    fn see(&self, request: &dyn std::fmt::Debug) -> ProviderDiagnostics {
        *self.seen.lock().unwrap() = format!("{request:?}");
        self.problems.lock().unwrap().clone()
    }
}

impl Provider for Echo {
    fn schema(&self) -> Result<ProviderSchema, ProviderDiagnostics> {
        // Without the capability the client plans deletions itself.
        let capabilities = ServerCapabilities { plan_destroy: true, ..Default::default() };
        Ok(ProviderSchema { config: Arc::clone(&self.schema), meta: Some(Arc::clone(&self.schema)), capabilities })
    }

    fn type_names(&self) -> TypeNames {
        let all = || vec![TYPE.into()];
        TypeNames { resources: all(), data_sources: all(), lists: all(), actions: all(), ..Default::default() }
    }

    fn resource_schema(&self, name: &str) -> SchemaLookup {
        Ok((name == TYPE).then(|| Arc::clone(&self.schema)))
    }

    fn list_schema(&self, name: &str) -> SchemaLookup {
        self.data_schema(name)
    }

    fn action_schema(&self, name: &str) -> SchemaLookup {
        self.data_schema(name)
    }

    fn data_schema(&self, name: &str) -> SchemaLookup {
        // Only resources have an identity.
        Ok((name == TYPE).then(|| Arc::new(Schema { identity: None, ..(*self.schema).clone() })))
    }

    fn validate_resource(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(self.see(&request))
    }

    fn upgrade_resource(&self, request: UpgradeRequest) -> Answer<'_, UpgradeResponse> {
        let diagnostics = self.see(&request);
        Answer::ready(UpgradeResponse { upgraded_state: self.schema.block.empty_value().clone(), diagnostics })
    }

    fn read_resource(&self, request: ReadRequest) -> Answer<'_, ReadResponse> {
        let diagnostics = self.see(&request);
        Answer::ready(ReadResponse {
            new_state: request.current_state,
            private: request.private,
            deferred: Some(Deferred::AbsentPrerequisite),
            new_identity: request.current_identity,
            diagnostics,
        })
    }

    fn plan_resource(&self, request: PlanRequest) -> Answer<'_, PlanResponse> {
        let diagnostics = self.see(&request);
        Answer::ready(PlanResponse {
            planned_state: request.proposed_new_state,
            requires_replace: vec![Path::root().attribute("text"), Path::root().attribute("map").index("k")],
            planned_private: request.prior_private,
            legacy_type_system: true,
            deferred: Some(Deferred::ResourceConfigUnknown),
            planned_identity: request.prior_identity,
            diagnostics,
        })
    }

    fn apply_resource(&self, request: ApplyRequest) -> Answer<'_, ApplyResponse> {
        let diagnostics = self.see(&request);
        Answer::ready(ApplyResponse {
            new_state: Some(request.planned_state),
            private: request.planned_private,
            legacy_type_system: false,
            new_identity: request.planned_identity,
            diagnostics,
        })
    }

    fn import_resource(&self, request: ImportRequest) -> Answer<'_, ImportResponse> {
        let diagnostics = self.see(&request);
        let identity = match &request.target {
            ImportTarget::Identity(identity) => Some(identity.clone()),
            ImportTarget::Id(_) => None,
        };
        let state = self.schema.block.empty_value().clone();
        let imported =
            ImportedResource { type_name: request.type_name, state, private: Private::from(&b"p"[..]), identity };
        Answer::ready(ImportResponse { imported: vec![imported], deferred: Some(Deferred::Unknown), diagnostics })
    }

    fn move_resource(&self, request: MoveRequest) -> Answer<'_, MoveResponse> {
        let diagnostics = self.see(&request);
        Answer::ready(MoveResponse {
            target_state: self.schema.block.empty_value().clone(),
            target_private: request.source_private,
            target_identity: None,
            diagnostics,
        })
    }

    fn list_resource(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics> {
        let diagnostics = self.see(&request);
        for number in 0..9 {
            let object = (request.detail == ListDetail::Objects).then(|| self.schema.block.empty_value().clone());
            let identity = Some(Value::object([("id", Value::string(number.to_string()))]));
            let display_name = format!("number {number}");
            let listed = Listed { identity, display_name, object, diagnostics: ProviderDiagnostics::new() };
            if (request.found)(listed) == ListControl::Stop {
                break;
            }
        }
        Answer::ready(diagnostics)
    }

    fn generate_config(&self, request: GenerateConfigRequest) -> Answer<'_, GenerateConfigResponse> {
        let diagnostics = self.see(&request);
        Answer::ready(GenerateConfigResponse { config: request.state, diagnostics })
    }

    fn plan_action(&self, request: PlanActionRequest) -> Answer<'_, PlanActionResponse> {
        let diagnostics = self.see(&request);
        Answer::ready(PlanActionResponse { deferred: Some(Deferred::ProviderConfigUnknown), diagnostics })
    }

    fn invoke_action(&self, request: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics> {
        if request.config.is_null() {
            panic!("no configuration");
        }
        (request.progress)("half");
        (request.progress)("done");
        Answer::ready(ProviderDiagnostic::warning("Slow", "It took a while.").into())
    }

    fn read_data(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        let diagnostics = self.see(&request);
        Answer::ready(ReadDataResponse { state: request.config, deferred: None, diagnostics })
    }
}

fn rule() -> Block {
    Block::new([("port", Attribute::optional(Type::Number))], Vec::<(Name, NestedBlock)>::new())
}

fn schema(protocol: Protocol) -> Schema {
    let mut attributes = vec![
        ("text", Attribute::required(Type::String).sensitive()),
        ("count", Attribute::optional_computed(Type::Number)),
        ("flag", Attribute::computed(Type::Bool)),
        ("map", Attribute::optional(Type::map(Type::String))),
        ("any", Attribute::optional(Type::Dynamic)),
        ("secret", Attribute::optional(Type::String).write_only()),
    ];
    if protocol == Protocol::V6 {
        let parts = ObjectSchema::new(ObjectNesting::List, [("label", Attribute::optional(Type::String))]);
        attributes.push(("parts", Attribute::nested(parts, Use::OptionalComputed)));
    }
    let id = IdentityAttribute { ty: Type::String, import: IdentityImport::Required, description: "d".to_owned() };
    let identity = IdentitySchema { version: 3, attributes: BTreeMap::from([(Name::from("id"), id)]) };
    let rules = NestedBlock::new(Nesting::List, rule()).at_least(1).at_most(9);
    let set = NestedBlock::new(Nesting::Set, rule());
    Schema::new(Block::new(attributes, [("rule", rules), ("set", set)])).versioned(7).identified_by(identity)
}

fn of_type(ty: Type) -> BoxedStrategy<Value> {
    let unknown = Just(Value::unknown(ty.clone()));
    let null = Just(Value::null(ty.clone()));
    let known = match &ty {
        Type::String => "\\PC{0,12}".prop_map(Value::string).boxed(),
        Type::Number => prop_oneof![
            any::<i64>().prop_map(Value::number),
            // Decimal fractions, which have no exact binary form.
            (any::<i32>(), 1..9_u32).prop_map(|(n, digits)| decimal(n, digits)),
        ]
        .boxed(),
        Type::Bool => any::<bool>().prop_map(Value::bool).boxed(),
        Type::Map(_) => vec(("[a-z]{1,4}", "[a-z]{0,4}"), 0..3)
            .prop_map(|pairs| {
                let pairs: BTreeMap<String, String> = pairs.into_iter().collect();
                Value::map(Type::String, pairs.into_iter().map(|(key, value)| (key, Value::string(value))))
            })
            .boxed(),
        _ => prop_oneof![
            "[a-z]{0,5}".prop_map(Value::string),
            any::<bool>().prop_map(|flag| Value::object([("a", Value::bool(flag)), ("b", Value::null(Type::Number))])),
        ]
        .boxed(),
    };
    // Mostly known values, or whole objects would hardly ever contain any.
    prop_oneof![6 => known, 1 => null, 1 => unknown].boxed()
}

fn decimal(n: i32, digits: u32) -> Value {
    let text = format!("{n}.{digits}");
    groma_value::json::from_json(text.as_bytes(), &Type::Number).unwrap()
}

fn object(schema: Arc<Schema>) -> BoxedStrategy<Value> {
    let rules = vec(of_type(Type::Number), 0..3).prop_map(|ports| {
        let rule = rule();
        ports.into_iter().map(|port| rule.object(vec![port])).collect::<Vec<_>>()
    });
    let slots = schema.block.slots().iter().map(|slot| match &*slot.name {
        "rule" => rules.clone().prop_map(|rules| Value::list(rule().implied_type().clone(), rules)).boxed(),
        "set" => rules.clone().prop_map(|rules| Value::set(rule().implied_type().clone(), rules)).boxed(),
        "parts" => Just(slot.item.empty_value().clone()).boxed(),
        _ => of_type(slot.item.ty()),
    });
    let slots: Vec<_> = slots.collect();
    let null = schema.block.null_value();
    prop_oneof![5 => slots.prop_map(move |values| schema.block.object(values)), 1 => Just(null)].boxed()
}

fn problems() -> impl Strategy<Value = ProviderDiagnostics> {
    let one = ("[a-z ]{1,9}", "\\PC{0,9}", any::<bool>(), 0..9_i64).prop_map(|(summary, detail, warning, index)| {
        let path = Path::root().attribute("map").index(summary.as_str()).attribute("x").index(Value::number(index));
        let made = if warning { ProviderDiagnostic::warning } else { ProviderDiagnostic::error };
        made(summary, detail).at(path)
    });
    vec(one, 0..3).prop_map(ProviderDiagnostics::from)
}

/// A provider, called directly and through the protocol.
struct Sides {
    echo: Arc<Echo>,
    plugin: Plugin,
    runtime: tokio::runtime::Runtime,
    _served: Served,
    _folder: tempfile::TempDir,
}

impl Sides {
    fn new(protocol: Protocol) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let echo = Arc::new(Echo::new(protocol));
        let provider = Arc::clone(&echo) as Arc<dyn Provider>;
        let served = runtime.block_on(async { serve_below(folder.path(), provider, protocol) }).unwrap();
        let reattach = Reattach { protocol, pid: 0, test: true, address: served.endpoint() };
        let address = ProviderAddress::parse("example/echo", "registry.terraform.io").unwrap();
        let plugin = Plugin::start(&PluginHost::new(), address, Start::Attach(reattach), Arc::new(NoLog));
        Self { echo, plugin, runtime, _served: served, _folder: folder }
    }

    /// Checks that `request` reaches the provider unchanged, and its response the caller.
    fn same<'a, Q, R>(
        &'a self,
        request: Q,
        ask: impl Fn(&'a dyn Provider, Q) -> Answer<'a, R>,
    ) -> Result<(), TestCaseError>
    where
        Q: Clone + std::fmt::Debug,
        R: std::fmt::Debug + Unpin + 'a,
    {
        let direct = self.runtime.block_on(ask(&*self.echo, request.clone()));
        // Compared as debug output, because requests contain callbacks and have no equality.
        let sent = format!("{request:?}");
        let over = self.runtime.block_on(ask(&self.plugin, request));
        prop_assert_eq!(&*self.echo.seen.lock().unwrap(), &sent);
        prop_assert_eq!(format!("{over:?}"), format!("{direct:?}"));
        Ok(())
    }
}

fn law(protocol: Protocol) {
    let sides = Sides::new(protocol);
    let schema = Arc::clone(&sides.echo.schema);
    let objects = || object(Arc::clone(&schema));
    let private = vec(any::<u8>(), 0..9).prop_map(Private::from);
    let identity = proptest::option::of("[a-z]{1,9}".prop_map(|id| Value::object([("id", Value::string(id))])));
    let inputs = (objects(), objects(), objects(), objects(), private, identity, problems(), any::<[bool; 2]>());
    let mut runner = TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() });
    let law = |(prior, proposed, config, meta, private, identity, problems, [deferral, write_only]): (
        Value,
        Value,
        Value,
        Value,
        Private,
        Option<Value>,
        ProviderDiagnostics,
        [bool; 2],
    )| {
        *sides.echo.problems.lock().unwrap() = problems;
        let client_capabilities =
            ClientCapabilities { deferral_allowed: deferral, write_only_attributes_allowed: write_only };
        let type_name: Name = TYPE.into();
        sides.same(
            PlanRequest {
                type_name: type_name.clone(),
                prior_state: prior.clone(),
                proposed_new_state: proposed.clone(),
                config: config.clone(),
                prior_private: private.clone(),
                meta: meta.clone(),
                client_capabilities,
                prior_identity: identity.clone(),
            },
            |provider, request| provider.plan_resource(request),
        )?;
        sides.same(
            ApplyRequest {
                type_name: type_name.clone(),
                prior_state: prior.clone(),
                planned_state: proposed,
                config: config.clone(),
                planned_private: private.clone(),
                meta: meta.clone(),
                planned_identity: identity.clone(),
            },
            |provider, request| provider.apply_resource(request),
        )?;
        sides.same(
            ReadRequest {
                type_name: type_name.clone(),
                current_state: prior,
                private: private.clone(),
                meta: meta.clone(),
                client_capabilities,
                current_identity: identity.clone(),
            },
            |provider, request| provider.read_resource(request),
        )?;
        sides.same(
            ValidateRequest { type_name: type_name.clone(), config: config.clone(), client_capabilities },
            |provider, request| provider.validate_resource(request),
        )?;
        sides.same(
            ReadDataRequest { type_name: type_name.clone(), address: None, config, meta, client_capabilities },
            |provider, request| provider.read_data(request),
        )?;
        let target = match identity {
            Some(identity) => ImportTarget::Identity(identity),
            None => ImportTarget::Id("some id".to_owned()),
        };
        sides.same(
            ImportRequest { type_name: type_name.clone(), target, config: None, client_capabilities },
            |provider, request| provider.import_resource(request),
        )?;
        sides.same(
            MoveRequest {
                source_provider_address: "registry.terraform.io/a/b".to_owned(),
                source_type_name: "b_c".into(),
                source_schema_version: 5,
                source_state: r#"{"x":0.1}"#.into(),
                source_private: private,
                // Any of the two random flags decides whether there is an identity.
                source_identity: deferral.then(|| "{}".into()),
                target_type_name: type_name.clone(),
            },
            |provider, request| provider.move_resource(request),
        )?;
        // A failed upgrade returns only errors.
        sides.echo.problems.lock().unwrap().clone_from(&ProviderDiagnostics::new());
        // The flat maps of states before Terraform 0.12, and JSON.
        let flat = RawState::Flat(Arc::new([("y.#".to_owned(), "0".to_owned())].into()));
        for raw_state in [flat, r#"{"y":1}"#.into()] {
            let request = UpgradeRequest { type_name: type_name.clone(), version: 4, raw_state };
            sides.same(request, |provider, request| provider.upgrade_resource(request))?;
        }
        Ok(())
    };
    runner.run(&inputs, law).unwrap();
}

#[test]
fn lc_27_every_call_survives_protocol_6() {
    law(Protocol::V6);
}

#[test]
fn lc_27_every_call_survives_protocol_5() {
    law(Protocol::V5);
}

#[test]
fn lc_27_both_protocols_are_checked_by_the_same_rules() {
    for protocol in [Protocol::V5, Protocol::V6] {
        // The echo plans the proposed state with a deferral that was not allowed, and answers an apply with arbitrary
        // values.
        let Sides { echo, plugin, runtime, _served, _folder } = Sides::new(protocol);
        let address = ProviderAddress::parse("example/echo", "registry.terraform.io").unwrap();
        let checked = groma_provider::Checked::new(Arc::new(plugin), address);
        let instance = "echo_thing.a".parse().unwrap();
        let schema = Arc::clone(&echo.schema);
        let subject = groma_provider::Subject {
            address: &instance,
            schema: &schema,
            body: None,
            span: groma_diagnostics::Span::NONE,
        };
        let object = schema.block.empty_value().clone();
        let input = groma_provider::PlanInput {
            prior: object.clone(),
            config: object.clone(),
            ..groma_provider::PlanInput::default()
        };
        let (planned, diagnostics) = runtime.block_on(checked.plan(&subject, input));
        assert!(planned.is_none());
        let summaries: Vec<&str> = diagnostics.iter().map(|problem| &*problem.summary).collect();
        assert_eq!(summaries, ["Provider deferred changes when Terraform did not allow deferrals"], "{protocol:?}");
        let input = groma_provider::ApplyInput {
            prior: object.clone(),
            planned: Value::null(object.ty()),
            config: Value::null(object.ty()),
            identity: Some(Value::object([("id", Value::unknown(Type::String))])),
            ..groma_provider::ApplyInput::default()
        };
        let (_, diagnostics) = runtime.block_on(checked.apply(&subject, input));
        let summaries: Vec<&str> = diagnostics.iter().map(|problem| &*problem.summary).collect();
        assert_eq!(summaries, ["Provider produced invalid identity"], "{protocol:?}");
    }
}

#[test]
fn list_results_are_streamed_up_to_the_limit() {
    for protocol in [Protocol::V5, Protocol::V6] {
        let Sides { echo, plugin, runtime, _served, _folder } = Sides::new(protocol);
        let found = Arc::new(Mutex::new(Vec::new()));
        let request = |limit, detail| ListRequest {
            type_name: TYPE.into(),
            config: echo.schema.block.empty_value().clone(),
            detail,
            limit,
            found: {
                let found = Arc::clone(&found);
                Arc::new(move |listed: Listed| {
                    let has_object = if listed.object.is_some() { " with its object" } else { "" };
                    found.lock().unwrap().push(format!("{}{has_object}", listed.display_name));
                    ListControl::Continue
                })
            },
        };
        let problems = runtime.block_on(plugin.list_resource(request(2, ListDetail::Objects)));
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(*found.lock().unwrap(), ["number 0 with its object", "number 1 with its object"]);
        found.lock().unwrap().clear();
        let problems = runtime.block_on(plugin.list_resource(request(100, ListDetail::Identities)));
        assert!(problems.is_empty(), "{problems:?}");
        // The provider has fewer results than the limit.
        assert_eq!(found.lock().unwrap().len(), 9);

        let state = echo.schema.block.empty_value().clone();
        let generated = GenerateConfigRequest { type_name: TYPE.into(), state: state.clone() };
        assert_eq!(runtime.block_on(plugin.generate_config(generated)).config, state);
    }
}

#[test]
fn action_progress_is_streamed_before_diagnostics() {
    for protocol in [Protocol::V5, Protocol::V6] {
        let Sides { echo, plugin, runtime, _served, _folder } = Sides::new(protocol);
        let config = echo.schema.block.empty_value().clone();
        let plan = PlanActionRequest {
            type_name: TYPE.into(),
            config: config.clone(),
            client_capabilities: ClientCapabilities { deferral_allowed: true, ..Default::default() },
        };
        assert_eq!(runtime.block_on(plugin.plan_action(plan)).deferred, Some(Deferred::ProviderConfigUnknown));

        let reported = Arc::new(Mutex::new(Vec::new()));
        let invoke = |config| InvokeActionRequest {
            type_name: TYPE.into(),
            config,
            client_capabilities: ClientCapabilities::default(),
            progress: {
                let reported = Arc::clone(&reported);
                Arc::new(move |message: &str| reported.lock().unwrap().push(message.to_owned()))
            },
        };
        let problems = runtime.block_on(plugin.invoke_action(invoke(config)));
        assert_eq!(*reported.lock().unwrap(), ["half", "done"]);
        assert!(!problems.has_errors() && format!("{problems:?}").contains("It took a while."), "{problems:?}");
        let problems = runtime.block_on(plugin.invoke_action(invoke(echo.schema.block.null_value())));
        assert!(format!("{problems:?}").contains("no configuration"), "{problems:?}");
    }
}

#[test]
fn schemas_survive_both_protocols() {
    for protocol in [Protocol::V5, Protocol::V6] {
        let sides = Sides::new(protocol);
        let found = sides.plugin.resource_schema(TYPE).unwrap().unwrap();
        assert_eq!(*found, schema(protocol));
        assert_eq!(sides.plugin.type_names(), sides.echo.type_names());
    }
}

#[test]
fn protocol_5_rejects_nested_attributes() {
    assert!(wire::schema_message_v5(&schema(Protocol::V5)).is_ok());
    let problem = wire::schema_message_v5(&schema(Protocol::V6)).unwrap_err().to_string();
    assert!(problem.contains("parts"), "{problem}");
}
