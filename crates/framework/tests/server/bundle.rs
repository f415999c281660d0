//! Providers put together from parts: ephemeral resources on structs, parts on values beside them, the way of an
//! interrupt (FW-19, FW-22).

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::{Duration, SystemTime};

use groma_framework::model::Field as _;
use groma_framework::{
    Answer, Attribute, Bundle, Call, DataSource, EphemeralResource, Lease, Maybe, Model, ModelEphemeralResource,
    ModelResource, OpenResponse, ProviderDiagnostic, ProviderDiagnostics, ReadDataRequest, ReadDataResponse,
    ResourceSchema, SchemaBuilder, StopSignals,
};
use groma_provider::{
    ApplyRequest, ClientCapabilities, CloseEphemeralRequest, OpenEphemeralRequest, OpenEphemeralResponse, Provider,
    RenewEphemeralRequest,
};
use groma_value::{Type, Value};

use crate::support::{get, s};

#[derive(Model)]
struct Ticket {
    guest: String,
    #[attribute(computed, sensitive)]
    code: Maybe<String>,
}

/// Notes who came and went.
#[derive(Clone, Default)]
struct Door(Arc<Mutex<Vec<String>>>);

impl Door {
    fn note(&self, what: &str, lease: &Lease) {
        self.0.lock().unwrap().push(format!("{what} {}", lease.private.get("guest").unwrap_or("nobody")));
    }
}

/// A minute that no test waits for.
fn later(minutes: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(60 * minutes)
}

impl ModelEphemeralResource for Door {
    type Model = Ticket;

    async fn open(&self, config: Ticket, lease: &mut Lease) -> Result<Ticket, ProviderDiagnostic> {
        lease.private.set("guest", &config.guest);
        self.note("in", lease);
        lease.warn("Loud", "The door creaks.");
        if config.guest == "stranger" {
            return Err(ProviderDiagnostic::error("No entry", "Strangers stay out."));
        }
        lease.renew_at = Some(later(1));
        Ok(Ticket { code: Maybe::Known("abc".to_owned()), ..config })
    }

    async fn renew(&self, lease: &mut Lease) -> Result<(), ProviderDiagnostic> {
        self.note("stays", lease);
        lease.private.set("stayed", "yes");
        lease.renew_at = Some(later(2));
        Ok(())
    }

    async fn close(&self, lease: &mut Lease) -> Result<(), ProviderDiagnostic> {
        self.note("out", lease);
        match lease.private.get("stayed") {
            Some(_) => Ok(()),
            None => Err(ProviderDiagnostic::error("Too early", "Nobody leaves at once.")),
        }
    }
}

fn open(provider: &dyn Provider, guest: &str) -> OpenEphemeralResponse {
    let request = OpenEphemeralRequest {
        type_name: "test_ticket".into(),
        config: Ticket { guest: guest.to_owned(), code: Maybe::Null }.to_value(),
        client_capabilities: ClientCapabilities::default(),
    };
    provider.open_ephemeral(request).wait()
}

fn summaries(problems: &ProviderDiagnostics) -> Vec<&str> {
    problems.iter().map(|problem| &*problem.summary).collect()
}

#[test]
fn fw_19_ephemeral_resource_works_on_structs_and_keeps_private_data_until_close() {
    let door = Door::default();
    let server = Bundle::new().ephemeral_resource("test_ticket", door.clone()).build().unwrap();
    let opened = open(&server, "anne");
    assert_eq!((get(&opened.result, "guest"), get(&opened.result, "code")), (s("anne"), s("abc")));
    assert_eq!((opened.renew_at, summaries(&opened.diagnostics)), (Some(later(1)), vec!["Loud"]));
    let request = RenewEphemeralRequest { type_name: "test_ticket".into(), private: opened.private.clone() };
    let renewed = server.renew_ephemeral(request).wait();
    assert_eq!(renewed.renew_at, Some(later(2)));
    let close = |private| {
        let request = CloseEphemeralRequest { type_name: "test_ticket".into(), private };
        server.close_ephemeral(request).wait()
    };
    // The data of `open` lacks what `renew` has added: each call gets what the one before returned.
    assert_eq!(summaries(&close(opened.private)), ["Too early"]);
    assert!(close(renewed.private).is_empty());
    assert_eq!(*door.0.lock().unwrap(), ["in anne", "stays anne", "out anne", "out anne"]);

    let refused = open(&server, "stranger");
    assert_eq!(summaries(&refused.diagnostics), ["Loud", "No entry"]);
    assert!(refused.result.is_null());
}

/// A data source and an ephemeral resource on values.
struct Plain(ResourceSchema);

impl DataSource for Plain {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn read(&self, _: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        Answer::ready(ReadDataResponse::found(Value::object([("name", s("read"))])))
    }
}

impl EphemeralResource for Plain {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn open(&self, _: Value) -> Answer<'_, OpenResponse> {
        Answer::ready(OpenResponse::failed(ProviderDiagnostic::error("Shut", "It does not open.")))
    }
}

/// An object that takes as long to make as the host lets it.
struct Endless;

#[derive(Model)]
struct Work {
    #[attribute(computed)]
    done: Maybe<String>,
}

impl ModelResource for Endless {
    type Model = Work;

    async fn create(&self, _: Work, call: &mut Call) -> Result<Work, ProviderDiagnostic> {
        call.stopping.requested().await;
        let half = Work { done: Maybe::Known("half".to_owned()) };
        call.made(&half);
        Err(ProviderDiagnostic::error("Interrupted", "It was half done."))
    }

    async fn read(&self, state: Work, _: &mut Call) -> Result<Option<Work>, ProviderDiagnostic> {
        Ok(Some(state))
    }

    async fn delete(&self, _: Work, _: &mut Call) -> Result<(), ProviderDiagnostic> {
        Ok(())
    }
}

#[test]
fn bundle_mixes_structs_and_values_and_names_are_unique() {
    let schema = || SchemaBuilder::new().attribute("name", Attribute::string().computed()).build().unwrap();
    let with_plain = |bundle: Bundle| {
        bundle
            .plain_data_source("test_plain", Plain(schema()))
            .plain_ephemeral_resource("test_plain", Plain(schema()))
            .plain_resource(
                "test_work",
                groma_framework::typed::ResourceAdapter::new(Endless, StopSignals::default()).ok().unwrap(),
            )
    };
    let server = with_plain(Bundle::new().ephemeral_resource("test_ticket", Door::default())).build().unwrap();
    let names = server.type_names();
    assert_eq!(names.ephemeral_resources.iter().map(|name| &**name).collect::<Vec<_>>(), ["test_plain", "test_ticket"]);
    assert!(server.data_schema("test_plain").unwrap().is_some());
    assert!(server.resource_schema("test_work").unwrap().is_some());
    let request = OpenEphemeralRequest {
        type_name: "test_plain".into(),
        config: Value::object([("name", Value::null(Type::String))]),
        client_capabilities: ClientCapabilities::default(),
    };
    assert_eq!(summaries(&server.open_ephemeral(request).wait().diagnostics), ["Shut"]);

    // All duplicates are reported by one call.
    let twice = with_plain(with_plain(Bundle::new())).resource("test_work", Endless).build().err().unwrap();
    let twice: Vec<String> = twice.iter().map(ToString::to_string).collect();
    let said = |name: &str| format!("{name}: the type is declared twice");
    let expected = ["test_plain", "test_plain", "test_work", "test_work"].map(said);
    assert_eq!(twice, expected);
}

#[test]
fn fw_22_interrupt_reaches_a_running_call_and_keeps_its_object() {
    let server = Arc::new(Bundle::new().resource("test_work", Endless).build().unwrap());
    let block = server.resource_schema("test_work").unwrap().unwrap().block.clone();
    let interrupted = Arc::clone(&server);
    let interrupting = std::thread::spawn(move || {
        // Long enough for the create to wait for the signal.
        std::thread::sleep(Duration::from_millis(50));
        interrupted.stop();
    });
    let request = ApplyRequest {
        type_name: "test_work".into(),
        prior_state: block.null_value(),
        planned_state: Value::object([("done", Value::unknown(Type::String))]),
        config: Value::object([("done", Value::null(Type::String))]),
        ..ApplyRequest::default()
    };
    let response = server.apply_resource(request.clone()).wait();
    interrupting.join().unwrap();
    assert_eq!(summaries(&response.diagnostics), ["Interrupted"]);
    assert_eq!(response.new_state, Some(Value::object([("done", s("half"))])));

    // A call that begins after the stop is not affected by it.
    let mut later = server.apply_resource(request);
    let mut context = Context::from_waker(Waker::noop());
    assert!(Pin::new(&mut later).poll(&mut context).is_pending(), "an interrupt is for those that run");
    server.stop();
    assert!(Pin::new(&mut later).poll(&mut context).is_ready());
}
