//! Calls of plan modification, the inputs of modifiers, custom modifiers, and interrupts (FW-01, FW-10, FW-11, FW-22).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use groma_framework::modifier::{ModifierRequest, ModifierResponse};
use groma_framework::{
    Attribute, Definition, PlanModifier, PrivateData, ProviderDiagnostic, ResourceSchema, SchemaBuilder, Server,
    TypeNames,
};
use groma_provider::{Private, Provider};
use groma_value::{Type, Value};

use crate::support::{TestResource, get, made, s, unknown};

#[test]
fn fw_01_a_plan_is_modified_on_create_update_and_delete_and_never_by_an_apply() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let schema = SchemaBuilder::new()
        .attribute("id", Attribute::string().computed().use_state_for_unknown())
        .attribute("size", Attribute::string().optional().requires_replace());
    let resource = TestResource::new(schema).modifying(move |request| {
        counted.fetch_add(1, Ordering::Relaxed);
        let mut response = request.unchanged();
        response.diagnostics.push(ProviderDiagnostic::warning("Seen", "The plan was seen."));
        response
    });
    let served = resource.serve();
    let config = served.object([("size", s("a"))]);
    let created = served.plan(served.null(), config.clone());
    assert!(!get(&created.planned_state, "id").is_known(), "what the provider decides is open");
    let state = served.apply(served.null(), created.planned_state, config, Private::default()).new_state.unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 1, "an apply modifies no plan");
    let updated = served.plan(state.clone(), served.object([("size", s("b"))]));
    assert_eq!(updated.requires_replace.len(), 1);
    let deleted = served.plan(state, served.null());
    // One call each for the plans of the creation, the update and the deletion.
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    for response in [&updated, &deleted] {
        assert_eq!(response.diagnostics.iter().next().unwrap().summary, "Seen");
    }
}

/// A modifier as a user writes it: one small trait.
struct Rounded;

impl PlanModifier for Rounded {
    fn description(&self) -> String {
        "takes the next multiple of ten".to_owned()
    }

    fn markdown_description(&self) -> String {
        "takes the next multiple of **ten**".to_owned()
    }

    fn modify(&self, request: &ModifierRequest<'_>, response: &mut ModifierResponse) {
        if request.plan.is_known() {
            response.plan = Value::number(10);
        }
    }
}

#[test]
fn fw_10_a_user_writes_a_modifier_for_any_type_with_one_small_trait() {
    let types = [
        Type::Bool,
        Type::Number,
        Type::String,
        Type::list(Type::String),
        Type::set(Type::Number),
        Type::map(Type::Bool),
    ];
    for ty in types {
        // One modifier for attributes of every type, since values are dynamic.
        struct Fixed(Value);
        impl PlanModifier for Fixed {
            fn description(&self) -> String {
                "is null".to_owned()
            }
            fn modify(&self, _: &ModifierRequest<'_>, response: &mut ModifierResponse) {
                response.plan = self.0.clone();
            }
        }
        let attribute = Attribute::new(ty.clone()).computed().modifier(Fixed(Value::null(ty.clone())));
        let served = TestResource::new(SchemaBuilder::new().attribute("x", attribute)).serve();
        assert_eq!(get(&served.planned(served.null(), served.object([])).0, "x"), Value::null(ty.clone()));
    }
    assert_eq!(Rounded.description(), "takes the next multiple of ten");
    assert_eq!(Rounded.markdown_description(), "takes the next multiple of **ten**");
    let size = Attribute::number().optional_computed().modifier(Rounded);
    let served = TestResource::new(SchemaBuilder::new().attribute("size", size)).serve();
    let plan = served.plan(served.null(), served.object([("size", Value::number(7))]));
    // Configured values must not change (LC-07): the error names the modifier that changed one.
    let detail = &plan.diagnostics.iter().next().unwrap().detail;
    assert!(detail.contains("takes the next multiple of ten"), "{detail}");
}

#[test]
fn fw_11_a_modifier_sees_configuration_plan_and_state_whole_and_at_its_path_and_private_data() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = seen.clone();
    let looking = groma_framework::modifier::modifier("looks", move |request, _| {
        let name = |value: &Value| value.attribute("name").and_then(|name| name.as_str().map(str::to_owned));
        log.lock().unwrap().extend([
            format!("{} {:?}", request.path, request.plan.as_str()),
            format!("{:?} {:?}", request.config.as_str(), request.state.as_str()),
            format!("{:?} {:?} {:?}", name(request.whole.config), name(request.whole.plan), name(request.whole.state)),
            format!("{:?}", request.private.get("token")),
        ]);
    });
    let schema = SchemaBuilder::new()
        .attribute("name", Attribute::string().optional().modifier(looking))
        .attribute("other", Attribute::string().computed());
    let served = TestResource::new(schema).serve();
    let mut private = PrivateData::new();
    private.set("token", "t-1");
    let state = served.object([("name", s("old")), ("other", s("x"))]);
    let config = served.object([("name", s("new"))]);
    let block = served.resource.schema.block();
    let request = groma_provider::PlanRequest {
        type_name: "test_thing".into(),
        proposed_new_state: groma_provider::proposed_new_state(block, &state, &config),
        prior_state: state,
        config,
        prior_private: private.encode(),
        ..groma_provider::PlanRequest::default()
    };
    served.server.plan_resource(request).now().unwrap();
    // The plan equals the configuration, because no modifier has changed it.
    let expected = [
        ".name Some(\"new\")",
        "Some(\"new\") Some(\"old\")",
        "Some(\"new\") Some(\"new\") Some(\"old\")",
        "Some(\"t-1\")",
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
    assert!(!made(&unknown()).is_null());
}

#[test]
fn fw_22_stop_reaches_the_provider_and_its_panic_is_contained() {
    struct StoppingProvider {
        schema: ResourceSchema,
        stops: AtomicUsize,
    }
    impl Definition for StoppingProvider {
        fn schema(&self) -> &ResourceSchema {
            &self.schema
        }
        fn type_names(&self) -> TypeNames {
            TypeNames::default()
        }
        fn stop(&self) {
            // The second call panics, and the server must survive it.
            assert_eq!(self.stops.fetch_add(1, Ordering::Relaxed), 0, "the second stop panics");
        }
    }
    let schema = SchemaBuilder::new().build().unwrap();
    let definition = Arc::new(StoppingProvider { schema, stops: AtomicUsize::new(0) });
    let server = Server::new(definition.clone());
    server.stop();
    server.stop();
    assert_eq!(definition.stops.load(Ordering::Relaxed), 2);
    assert!(server.schema().is_ok());
}
