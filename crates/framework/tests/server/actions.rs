//! Actions (FW-19).

use std::sync::{Arc, Mutex};

use groma_framework::{
    Action, ActionContext, Answer, Attribute, Bundle, ClientCapabilities, Deferred, InvokeActionRequest, Model,
    ModelAction, PlanActionRequest, PlanActionResponse, ProviderDiagnostic, ProviderDiagnostics, ResourceSchema,
    SchemaBuilder,
};
use groma_provider::{Provider, ValidateRequest};
use groma_value::{Type, Value};

use crate::support::s;

/// What is said.
#[derive(Model)]
struct Message {
    text: String,
}

struct Say;

impl ModelAction for Say {
    type Model = Message;

    async fn validate(&self, config: Value) -> ProviderDiagnostics {
        match config.attribute("text").is_some_and(|text| text.as_str() == Some("")) {
            true => ProviderDiagnostic::error("Silence", "There is nothing to say.").into(),
            false => ProviderDiagnostics::new(),
        }
    }

    async fn plan(&self, request: PlanActionRequest) -> PlanActionResponse {
        let is_known = request.config.is_wholly_known();
        let deferred =
            (!is_known && request.client_capabilities.deferral_allowed).then_some(Deferred::ResourceConfigUnknown);
        PlanActionResponse { deferred, ..PlanActionResponse::default() }
    }

    async fn invoke(&self, config: Message, context: &mut ActionContext) -> Result<(), ProviderDiagnostic> {
        assert!(config.text != "panic", "no panic");
        context.send_progress(&config.text);
        context.warn("Hoarse", "The voice is gone.");
        match &*config.text {
            "oh" => Err(ProviderDiagnostic::error("Interrupted", "Somebody laughed.")),
            _ => Ok(()),
        }
    }
}

fn config(text: Value) -> Value {
    Value::object([("text", text)])
}

fn invoke(server: &dyn Provider, type_name: &str, text: &str) -> (Vec<String>, Vec<String>) {
    let said: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&said);
    let request = InvokeActionRequest {
        type_name: type_name.into(),
        config: config(s(text)),
        client_capabilities: ClientCapabilities::default(),
        progress: Arc::new(move |text| heard.lock().unwrap().push(text.to_owned())),
    };
    let problems = server.invoke_action(request).wait();
    let said = said.lock().unwrap().clone();
    (said, problems.iter().map(|problem| problem.summary.clone()).collect())
}

#[test]
fn fw_19_action_works_on_structs_and_reports_progress() {
    let server = Bundle::new().action("test_say", Say).build().unwrap();
    assert_eq!(server.type_names().actions, ["test_say"]);
    assert!(server.action_schema("test_say").unwrap().is_some());
    assert!(server.action_schema("test_shout").unwrap().is_none());
    assert_eq!(invoke(&server, "test_say", "hello"), (vec!["hello".to_owned()], vec!["Hoarse".to_owned()]));
    // Warnings of a failed invocation are reported in front of its error.
    assert_eq!(invoke(&server, "test_say", "oh").1, ["Hoarse", "Interrupted"]);
    assert_eq!(invoke(&server, "test_say", "panic").1, ["Provider code panicked"], "FW-21");
    assert_eq!(invoke(&server, "test_shout", "hello").1, ["Unknown action type"]);

    let validate = |text: &str| {
        let client_capabilities = ClientCapabilities::default();
        let request = ValidateRequest { type_name: "test_say".into(), config: config(s(text)), client_capabilities };
        server.validate_action(request).wait()
    };
    assert!(validate("hello").is_empty());
    assert_eq!(validate("").iter().count(), 1);
    let plan = |deferral_allowed: bool| {
        let client_capabilities = ClientCapabilities { deferral_allowed, ..ClientCapabilities::default() };
        let config = config(Value::unknown(Type::String));
        server.plan_action(PlanActionRequest { type_name: "test_say".into(), config, client_capabilities }).wait()
    };
    assert_eq!(plan(true).deferred, Some(Deferred::ResourceConfigUnknown));
    // The action itself respects a host without deferral.
    assert_eq!(plan(false).deferred, None);
}

/// An action on values.
struct Plain(ResourceSchema);

impl Action for Plain {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn invoke(&self, _: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(ProviderDiagnostic::error("Deaf", "Nobody hears it.").into())
    }
}

#[test]
fn actions_on_structs_and_values_mix_and_names_are_unique() {
    let plain = || Plain(SchemaBuilder::new().attribute("text", Attribute::string()).build().unwrap());
    let server = Bundle::new().action("test_say", Say).plain_action("test_tell", plain()).build().unwrap();
    assert_eq!(invoke(&server, "test_tell", "hello").1, ["Deaf"]);
    // Both kinds share one namespace.
    let twice = Bundle::new().action("test_say", Say).plain_action("test_say", plain()).build().err().unwrap();
    assert_eq!(twice[0].to_string(), "test_say: the type is declared twice");
}
