//! Our client with Go providers on the official libraries, old and new, which these tests build.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use groma_address::ProviderAddress;
use groma_plugin::client::{Plugin, PluginHost, Start};
use groma_plugin::transport::{Launch, NoLog};
use groma_provider::{
    ApplyRequest, ApplyResponse, CallFunctionRequest, ClientCapabilities, ConfigureRequest, ImportRequest,
    ImportTarget, OpenEphemeralRequest, PlanRequest, PlanResponse, Provider, ReadRequest, Schema, UpgradeRequest,
    proposed_new_state,
};
use groma_value::Value;

use crate::Test;
use crate::end::plugin_processes;
use crate::launch::on_runtime;

pub const TESTS: &[Test] = &[
    ("peer::lc_17_legacy_sdk_is_exempt_and_has_blocks_and_timeouts", older_library),
    ("peer::framework_library_has_private_data_identity_and_write_only", newer_library),
    ("peer::functions_and_ephemeral_resources", functions_and_ephemeral),
    ("peer::imports_and_upgrades", imports_and_upgrades),
    ("peer::crash_during_apply_reports_last_output", crashes),
    ("peer::plugin_hanging_in_apply_ends_with_the_client", hangs),
];

/// The built peer; `None` without a Go toolchain.
fn built() -> Option<PathBuf> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("terraform-provider-peer");
    let output = match Command::new("go").arg("build").arg("-o").arg(&program).arg(".").current_dir(sources).output() {
        Ok(output) => output,
        Err(_) => {
            println!("skipped: no go");
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

/// Tests a peer with protocol 5, and one with protocol 6 only.
fn with_peer(test: impl AsyncFn(&Plugin, &Path)) {
    let Some(program) = built() else { return };
    // Both libraries serve either version, and the client must treat them alike.
    for protocol in ["5", "6"] {
        with_peer_of(protocol, &program, &test);
    }
}

fn with_peer_of(protocol: &str, program: &Path, test: &impl AsyncFn(&Plugin, &Path)) {
    let address = ProviderAddress::parse("example/peer", "registry.terraform.io").unwrap();
    let mut launch = Launch::new("peer", program);
    launch.environment.push(("PEER_PROTOCOL".into(), protocol.into()));
    let plugin = Plugin::start(&PluginHost::new(), address, Start::Launch(launch), Arc::new(NoLog));
    on_runtime(async {
        let config = plugin.schema().unwrap().config.block.empty_value().clone();
        let request = ConfigureRequest {
            terraform_version: "1.15.5".to_owned(),
            config,
            client_capabilities: ClientCapabilities::default(),
        };
        // As in a run: a provider is configured before its resources are planned.
        let problems = plugin.configure(request).await;
        assert!(problems.is_empty(), "{problems:?}");
        test(&plugin, program).await;
    });
    drop(plugin);
    let start = Instant::now();
    while !plugin_processes(program).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(5), "a process was left behind");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn configured(schema: &Schema, values: &[(&str, Value)]) -> Value {
    let slots = schema.block.slots().iter().map(|slot| {
        let given = values.iter().find(|(name, _)| **name == *slot.name);
        given.map_or_else(|| slot.item.empty_value().clone(), |(_, value)| value.clone())
    });
    schema.block.object(slots.collect())
}

async fn planned(plugin: &Plugin, type_name: &str, config: &Value) -> PlanResponse {
    let schema = plugin.resource_schema(type_name).unwrap().unwrap();
    let request = PlanRequest {
        type_name: type_name.into(),
        prior_state: schema.block.null_value(),
        proposed_new_state: proposed_new_state(&schema.block, &schema.block.null_value(), config),
        config: config.clone(),
        client_capabilities: ClientCapabilities { write_only_attributes_allowed: true, ..Default::default() },
        ..PlanRequest::default()
    };
    plugin.plan_resource(request).await
}

async fn created(plugin: &Plugin, type_name: &str, values: &[(&str, Value)]) -> (PlanResponse, ApplyResponse) {
    let schema = plugin.resource_schema(type_name).unwrap().unwrap();
    let config = configured(&schema, values);
    let plan = planned(plugin, type_name, &config).await;
    assert!(plan.diagnostics.is_empty(), "{:?}", plan.diagnostics);
    let request = ApplyRequest {
        type_name: type_name.into(),
        prior_state: schema.block.null_value(),
        planned_state: plan.planned_state.clone(),
        config,
        planned_private: plan.planned_private.clone(),
        meta: Value::NULL,
        planned_identity: plan.planned_identity.clone(),
    };
    let applied = plugin.apply_resource(request).await;
    (plan, applied)
}

fn text(value: &Value, attribute: &str) -> Option<String> {
    value.attribute(attribute).and_then(|value| value.as_str().map(str::to_owned))
}

fn older_library() {
    with_peer(async |plugin, _| {
        let schema = plugin.resource_schema("peer_legacy").unwrap().unwrap();
        let rule = |port: i64| {
            let Some(groma_provider::Item::Block(rule)) = schema.block.item("rule") else { panic!("no rule") };
            let slots = rule.block().slots().iter().map(|slot| match &*slot.name {
                "port" => Value::number(port),
                _ => slot.item.empty_value().clone(),
            });
            rule.block().object(slots.collect())
        };
        let rules = Value::set(rule(1).ty(), vec![rule(80), rule(443)]);
        let values = [("name", Value::string("one")), ("rule", rules)];
        let (plan, applied) = created(plugin, "peer_legacy", &values).await;
        // The flag exempts a provider from the checks that it cannot pass (LC-17).
        assert!(plan.legacy_type_system && applied.legacy_type_system);
        assert_eq!(text(&plan.planned_state, "color").as_deref(), Some("green"));
        assert!(applied.diagnostics.is_empty(), "{:?}", applied.diagnostics);
        let state = applied.new_state.unwrap();
        assert_eq!(text(&state, "id").as_deref(), Some("legacy-one"));
        // The timeout comes from the plan's private data.
        assert_eq!(text(&state, "made").as_deref(), Some("5m0s"));
        assert_eq!(state.attribute("rule").unwrap().elements().count(), 2);
    });
}

fn newer_library() {
    with_peer(async |plugin, _| {
        let values = [("name", Value::string("one")), ("secret", Value::string("abc"))];
        let (plan, applied) = created(plugin, "peer_modern", &values).await;
        assert!(!plan.legacy_type_system);
        // Write-only values reach the provider in the configuration only.
        assert!(plan.planned_state.attribute("secret").unwrap().is_null());
        let state = applied.new_state.clone().unwrap();
        assert!(state.attribute("secret").unwrap().is_null());
        assert_eq!(state.attribute("length").unwrap(), Value::number(3));
        let identity = applied.new_identity.clone().unwrap();
        assert_eq!(text(&identity, "id").as_deref(), Some("modern-one"));

        let read = |private| ReadRequest {
            type_name: "peer_modern".into(),
            current_state: state.clone(),
            private,
            current_identity: Some(identity.clone()),
            ..ReadRequest::default()
        };
        let found = plugin.read_resource(read(applied.private.clone())).await;
        assert!(found.diagnostics.is_empty(), "{:?}", found.diagnostics);
        assert_eq!(found.new_state, state);
        assert_eq!(found.new_identity.as_ref(), Some(&identity));
        let without_private = plugin.read_resource(read(Arc::default())).await;
        // The peer itself verifies that its private data came back.
        assert!(without_private.diagnostics.has_errors());
    });
}

fn functions_and_ephemeral() {
    with_peer(async |plugin, _| {
        let signature = plugin.function("twice").unwrap();
        let call = |argument: &str| CallFunctionRequest {
            name: "twice".into(),
            signature: Arc::clone(&signature),
            arguments: vec![Value::string(argument)],
        };
        assert_eq!(plugin.call_function(call("ab")).await, Ok(Value::string("abab")));
        let error = plugin.call_function(call("bad")).await.unwrap_err();
        assert_eq!((error.argument, error.text.as_str()), (Some(0), "bad is not doubled"));

        let schema = plugin.ephemeral_schema("peer_token").unwrap().unwrap();
        let request = OpenEphemeralRequest {
            type_name: "peer_token".into(),
            config: configured(&schema, &[("user", Value::string("u"))]),
            client_capabilities: ClientCapabilities::default(),
        };
        let opened = plugin.open_ephemeral(request).await;
        assert!(opened.diagnostics.is_empty(), "{:?}", opened.diagnostics);
        assert_eq!(text(&opened.result, "token").as_deref(), Some("token of u"));
    });
}

fn imports_and_upgrades() {
    with_peer(async |plugin, _| {
        let request = ImportRequest {
            type_name: "peer_legacy".into(),
            target: ImportTarget::Id("x7".to_owned()),
            config: None,
            client_capabilities: ClientCapabilities::default(),
        };
        let found = plugin.import_resource(request).await;
        assert!(found.diagnostics.is_empty(), "{:?}", found.diagnostics);
        assert_eq!(text(&found.imported[0].state, "id").as_deref(), Some("x7"));

        let request = UpgradeRequest {
            type_name: "peer_modern".into(),
            version: 2,
            // 0.1 has no exact binary form: a detour over a float would show in the result.
            raw_state: r#"{"id":"a","name":"b","secret":null,"length":0.1}"#.into(),
        };
        let upgraded = plugin.upgrade_resource(request).await;
        assert!(!upgraded.diagnostics.has_errors(), "{:?}", upgraded.diagnostics);
        assert_eq!(text(&upgraded.upgraded_state, "name").as_deref(), Some("b"));
    });
}

fn crashes() {
    for (name, said) in [("crash", "exit status 3"), ("panic", "panic: the peer panics")] {
        with_peer(async |plugin, _| {
            let (_, applied) = created(plugin, "peer_legacy", &[("name", Value::string(name))]).await;
            let reported = format!("{:?}", applied.diagnostics);
            assert!(applied.diagnostics.has_errors() && reported.contains(said), "{reported}");
        });
    }
}

fn hangs() {
    with_peer(async |plugin, program| {
        let values = [("name", Value::string("hang"))];
        let applied = created(plugin, "peer_legacy", &values);
        // The call is abandoned; `with_peer_of` checks that the process ends with the client.
        assert!(tokio::time::timeout(Duration::from_millis(500), applied).await.is_err());
        assert_eq!(plugin_processes(program).len(), 1);
    });
}
