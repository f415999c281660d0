//! Data sources and ephemeral resources on values, whose types are built lazily (FW-19, FW-21).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use groma_framework::{
    Answer, Attribute, DataSource, Definition, EphemeralResource, OpenResponse, PrivateData, ProviderDiagnostic,
    ProviderDiagnostics, ReadDataRequest, ReadDataResponse, ResourceSchema, SchemaBuilder, Server, TypeNames,
};
use groma_provider::{
    ClientCapabilities, CloseEphemeralRequest, OpenEphemeralRequest, Provider, RenewEphemeralRequest,
};
use groma_value::{Type, Value};

use crate::support::{get, s, texts};

fn schema() -> ResourceSchema {
    SchemaBuilder::new()
        .attribute("name", Attribute::string().required())
        .attribute("result", Attribute::string().computed())
        .build()
        .unwrap()
}

fn config(name: &str) -> Value {
    Value::object([("name", s(name)), ("result", Value::null(Type::String))])
}

/// A data source and an ephemeral resource in one.
struct Found(ResourceSchema);

impl DataSource for Found {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn read(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        let name = get(&request.config, "name");
        assert_ne!(name, s("boom"), "no such resource");
        Answer::ready(ReadDataResponse::found(Value::object([("name", name), ("result", s("found"))])))
    }
}

impl EphemeralResource for Found {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn open(&self, config: Value) -> Answer<'_, OpenResponse> {
        let name = get(&config, "name");
        let mut private = PrivateData::new();
        private.set("name", name.as_str().unwrap());
        Answer::ready(OpenResponse::opened(Value::object([("name", name), ("result", s("open"))]), private))
    }

    fn close(&self, private: PrivateData) -> Answer<'_, ProviderDiagnostics> {
        assert_eq!(private.get("name"), Some("a"));
        Answer::ready(ProviderDiagnostics::new())
    }
}

struct Many {
    schema: ResourceSchema,
    built: Arc<AtomicUsize>,
    /// The type that cannot be built.
    broken: Option<&'static str>,
}

impl Definition for Many {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn type_names(&self) -> TypeNames {
        TypeNames {
            // As many types as large providers have.
            data_sources: (0..2000).map(|n| format!("test_{n:04}").into()).collect(),
            ephemeral_resources: vec!["test_secret".into()],
            ..TypeNames::default()
        }
    }

    fn data_source(&self, type_name: &str) -> Result<Option<Arc<dyn DataSource>>, ProviderDiagnostics> {
        self.built.fetch_add(1, Ordering::SeqCst);
        if self.broken == Some(type_name) {
            return Err(ProviderDiagnostic::error("Damaged Schema", type_name).into());
        }
        Ok(type_name.starts_with("test_").then(|| Arc::new(Found(schema())) as Arc<dyn DataSource>))
    }

    fn ephemeral_resource(&self, type_name: &str) -> Result<Option<Arc<dyn EphemeralResource>>, ProviderDiagnostics> {
        Ok((type_name == "test_secret").then(|| Arc::new(Found(schema())) as Arc<dyn EphemeralResource>))
    }
}

fn served() -> (Server, Arc<AtomicUsize>) {
    served_with(None)
}

fn served_with(broken: Option<&'static str>) -> (Server, Arc<AtomicUsize>) {
    let built = Arc::new(AtomicUsize::new(0));
    let schema = SchemaBuilder::new().build().unwrap();
    (Server::new(Arc::new(Many { schema, built: built.clone(), broken })), built)
}

fn read(server: &Server, type_name: &str, name: &str) -> groma_provider::ReadDataResponse {
    let request = groma_provider::ReadDataRequest {
        type_name: type_name.into(),
        address: None,
        config: config(name),
        meta: Value::NULL,
        client_capabilities: ClientCapabilities::default(),
    };
    server.read_data(request).now().unwrap()
}

#[test]
fn fw_19_data_sources_are_read() {
    let (server, _) = served();
    let response = read(&server, "test_0001", "a");
    assert!(response.diagnostics.is_empty());
    assert_eq!(get(&response.state, "result"), s("found"));
    assert_eq!(texts(&read(&server, "other", "a").diagnostics), ["Unknown data source "]);
}

#[test]
fn fw_21_a_panic_of_a_data_source_is_an_error() {
    let (server, _) = served();
    assert_eq!(texts(&read(&server, "test_0001", "boom").diagnostics), ["Provider code panicked "]);
    assert!(read(&server, "test_0001", "a").diagnostics.is_empty());
}

#[test]
fn types_are_built_once_and_only_when_they_are_used() {
    let (server, built) = served();
    assert_eq!(server.type_names().data_sources.len(), 2000);
    // Listing the names builds no type.
    assert_eq!(built.load(Ordering::SeqCst), 0);
    for _ in 0..3 {
        assert!(server.data_schema("test_0007").unwrap().is_some());
        read(&server, "test_0007", "a");
    }
    assert_eq!(built.load(Ordering::SeqCst), 1);
}

#[test]
fn each_type_is_built_and_visited_once() {
    let (server, built) = served();
    let visited = Mutex::new(Vec::new());
    server.visit_schemas(&|_, name, _| visited.lock().unwrap().push(name.to_string())).unwrap();
    let mut visited = visited.into_inner().unwrap();
    visited.sort();
    let mut expected: Vec<String> = (0..2000).map(|n| format!("test_{n:04}")).collect();
    expected.push("test_secret".to_owned());
    assert_eq!(visited, expected);
    assert_eq!(built.load(Ordering::SeqCst), 2000);
}

#[test]
fn visit_ends_at_a_type_that_cannot_be_built() {
    let (server, built) = served_with(Some("test_0100"));
    let problems = server.visit_schemas(&|_, _, _| {}).unwrap_err();
    assert_eq!(texts(&problems), ["Damaged Schema "]);
    assert!(built.load(Ordering::SeqCst) < 200, "the rest is not built");
}

#[test]
fn fw_19_ephemeral_resources_are_opened_renewed_and_closed() {
    let (server, _) = served();
    assert!(server.ephemeral_schema("test_secret").unwrap().is_some());
    let request = OpenEphemeralRequest {
        type_name: "test_secret".into(),
        config: config("a"),
        client_capabilities: ClientCapabilities::default(),
    };
    let opened = server.open_ephemeral(request).now().unwrap();
    assert_eq!(get(&opened.result, "result"), s("open"));
    let request = RenewEphemeralRequest { type_name: "test_secret".into(), private: opened.private };
    let renewed = server.renew_ephemeral(request).now().unwrap();
    let request = CloseEphemeralRequest { type_name: "test_secret".into(), private: renewed.private };
    assert!(server.close_ephemeral(request).now().unwrap().is_empty());
}
