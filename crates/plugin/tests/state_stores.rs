//! State stores over the protocol: what a caller writes is what the store keeps, in whatever pieces it travels.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use groma_address::ProviderAddress;
use groma_plugin::Protocol;
use groma_plugin::client::{Plugin, PluginHost, Start};
use groma_plugin::server::{Served, serve_below};
use groma_plugin::transport::{NoLog, Reattach};
use groma_provider::{
    Answer, Attribute, Block, ClientCapabilities, ConfigureStateStoreRequest, ConfigureStateStoreResponse,
    LockStateRequest, LockStateResponse, Name, NestedBlock, Provider, ProviderDiagnostic, ProviderDiagnostics,
    ProviderSchema, ReadStateResponse, STATE_CHUNK_SIZE, Schema, SchemaLookup, StateRequest, StatesResponse, TypeNames,
    UnlockStateRequest, ValidateRequest, WriteStateRequest,
};
use groma_value::{Path, Type, Value};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const TYPE: &str = "shelf_store";

fn schema() -> Schema {
    Schema::new(Block::new([("room", Attribute::required(Type::String))], Vec::<(Name, NestedBlock)>::new()))
}

/// A store in memory with its own chunk size.
#[derive(Default)]
struct Shelf {
    piece: u64,
    states: Mutex<BTreeMap<String, Vec<u8>>>,
    locks: Mutex<BTreeMap<String, String>>,
    offered: Mutex<u64>,
}

impl Provider for Shelf {
    fn schema(&self) -> Result<ProviderSchema, ProviderDiagnostics> {
        Ok(ProviderSchema::default())
    }

    fn type_names(&self) -> TypeNames {
        TypeNames { state_stores: vec![TYPE.into()], ..TypeNames::default() }
    }

    fn state_store_schema(&self, type_name: &str) -> SchemaLookup {
        Ok((type_name == TYPE).then(|| Arc::new(schema())))
    }

    fn validate_state_store(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let room = request.config.attribute("room").unwrap();
        Answer::ready(match room.as_str() {
            Some("") => ProviderDiagnostic::error("No room", "Name one.").at(Path::root().attribute("room")).into(),
            _ => ProviderDiagnostics::new(),
        })
    }

    fn configure_state_store(&self, request: ConfigureStateStoreRequest) -> Answer<'_, ConfigureStateStoreResponse> {
        *self.offered.lock().unwrap() = request.chunk_size;
        // A warning, to check that diagnostics come along with a successful answer.
        let diagnostics = ProviderDiagnostic::warning("Dusty", "Nobody was here for long.").into();
        Answer::ready(ConfigureStateStoreResponse { chunk_size: self.piece, diagnostics })
    }

    fn read_state(&self, request: StateRequest) -> Answer<'_, ReadStateResponse> {
        let bytes = self.states.lock().unwrap().get(&request.state_id).cloned().unwrap_or_default();
        Answer::ready(ReadStateResponse { bytes, diagnostics: ProviderDiagnostics::new() })
    }

    fn write_state(&self, request: WriteStateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.states.lock().unwrap().insert(request.state_id, request.bytes.to_vec());
        Answer::ready(ProviderDiagnostics::new())
    }

    fn lock_state(&self, request: LockStateRequest) -> Answer<'_, LockStateResponse> {
        let mut locks = self.locks.lock().unwrap();
        Answer::ready(match locks.get(&request.state_id) {
            Some(owner) => LockStateResponse {
                lock_id: String::new(),
                diagnostics: ProviderDiagnostic::error("Locked", format!("For {owner}.")).into(),
            },
            None => {
                locks.insert(request.state_id.clone(), request.operation);
                LockStateResponse {
                    lock_id: format!("lock of {}", request.state_id),
                    diagnostics: ProviderDiagnostics::new(),
                }
            }
        })
    }

    fn unlock_state(&self, request: UnlockStateRequest) -> Answer<'_, ProviderDiagnostics> {
        if request.lock_id != format!("lock of {}", request.state_id) {
            return Answer::ready(ProviderDiagnostic::error("Wrong lock", request.lock_id).into());
        }
        self.locks.lock().unwrap().remove(&request.state_id);
        Answer::ready(ProviderDiagnostics::new())
    }

    fn states(&self, _: Name) -> Answer<'_, StatesResponse> {
        let state_ids = self.states.lock().unwrap().keys().cloned().collect();
        Answer::ready(StatesResponse { state_ids, diagnostics: ProviderDiagnostics::new() })
    }

    fn delete_state(&self, request: StateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.states.lock().unwrap().remove(&request.state_id);
        Answer::ready(ProviderDiagnostics::new())
    }
}

/// A store, called directly and through the protocol.
struct Sides {
    shelf: Arc<Shelf>,
    plugin: Plugin,
    runtime: tokio::runtime::Runtime,
    _served: Served,
    _folder: tempfile::TempDir,
}

impl Sides {
    fn new(protocol: Protocol, piece: u64) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let shelf = Arc::new(Shelf { piece, ..Shelf::default() });
        let provider = Arc::clone(&shelf) as Arc<dyn Provider>;
        let served = runtime.block_on(async { serve_below(folder.path(), provider, protocol) }).unwrap();
        let reattach = Reattach { protocol, pid: 0, test: true, address: served.endpoint() };
        let address = ProviderAddress::parse("example/shelf", "registry.terraform.io").unwrap();
        let plugin = Plugin::start(&PluginHost::new(), address, Start::Attach(reattach), Arc::new(NoLog));
        Self { shelf, plugin, runtime, _served: served, _folder: folder }
    }

    fn configure(&self, offered: u64) -> ConfigureStateStoreResponse {
        let config = Value::object([("room", Value::string("cellar"))]);
        let request = ConfigureStateStoreRequest { type_name: TYPE.into(), config, chunk_size: offered };
        self.runtime.block_on(self.plugin.configure_state_store(request))
    }

    fn write(&self, state_id: &str, bytes: &[u8], chunk_size: u64) -> ProviderDiagnostics {
        let request = WriteStateRequest {
            type_name: TYPE.into(),
            state_id: state_id.to_owned(),
            bytes: bytes.into(),
            chunk_size,
        };
        self.runtime.block_on(self.plugin.write_state(request))
    }

    fn read(&self, state_id: &str) -> ReadStateResponse {
        self.runtime.block_on(self.plugin.read_state(about(state_id)))
    }
}

fn about(state_id: &str) -> StateRequest {
    StateRequest { type_name: TYPE.into(), state_id: state_id.to_owned() }
}

fn summaries(problems: &ProviderDiagnostics) -> Vec<String> {
    problems.iter().map(|problem| problem.summary.clone()).collect()
}

#[test]
fn state_round_trips_with_any_chunk_size() {
    let mut runner = TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
    // Chunks smaller and larger than the state, and states that are empty or end exactly at a chunk.
    let inputs = (1..40_u64, proptest::collection::vec(any::<u8>(), 0..200));
    runner
        .run(&inputs, |(piece, bytes)| {
            let sides = Sides::new(Protocol::V6, piece);
            let configured = sides.configure(STATE_CHUNK_SIZE);
            prop_assert_eq!(summaries(&configured.diagnostics), ["Dusty"]);
            prop_assert_eq!(configured.chunk_size, piece);
            prop_assert_eq!(*sides.shelf.offered.lock().unwrap(), STATE_CHUNK_SIZE);
            prop_assert!(sides.write("prod", &bytes, configured.chunk_size).is_empty());
            let kept = sides.shelf.states.lock().unwrap().get("prod").cloned();
            prop_assert_eq!(kept.as_ref(), Some(&bytes));
            let read = sides.read("prod");
            prop_assert!(read.diagnostics.is_empty());
            prop_assert_eq!(read.bytes, bytes);
            Ok(())
        })
        .unwrap();
}

#[test]
fn state_larger_than_default_chunk_size_round_trips() {
    let sides = Sides::new(Protocol::V6, STATE_CHUNK_SIZE);
    // Several chunks, each larger than the default message limit of gRPC libraries (4 MiB).
    let bytes: Vec<u8> = (0..20_000_000_u32).map(|at| (at % 251) as u8).collect();
    assert!(sides.write("large", &bytes, sides.configure(STATE_CHUNK_SIZE).chunk_size).is_empty());
    assert!(sides.read("large").bytes == bytes);
}

#[test]
fn states_are_listed_locked_and_deleted() {
    let sides = Sides::new(Protocol::V6, 9);
    assert!(sides.read("never").bytes.is_empty(), "a state that nobody has written is empty");
    for name in ["a", "b"] {
        assert!(sides.write(name, b"{}", 9).is_empty());
    }
    let states = || sides.runtime.block_on(sides.plugin.states(TYPE.into())).state_ids;
    assert_eq!(states(), ["a", "b"]);
    let lock = || {
        let request =
            LockStateRequest { type_name: TYPE.into(), state_id: "a".to_owned(), operation: "apply".to_owned() };
        sides.runtime.block_on(sides.plugin.lock_state(request))
    };
    let first = lock();
    assert_eq!(first.lock_id, "lock of a");
    assert_eq!(summaries(&lock().diagnostics), ["Locked"]);
    let unlock = |lock_id: &str| {
        let (state_id, lock_id) = ("a".to_owned(), lock_id.to_owned());
        let request = UnlockStateRequest { type_name: TYPE.into(), state_id, lock_id };
        sides.runtime.block_on(sides.plugin.unlock_state(request))
    };
    assert_eq!(summaries(&unlock("another")), ["Wrong lock"]);
    assert!(unlock(&first.lock_id).is_empty());
    assert!(lock().diagnostics.is_empty());
    assert!(sides.runtime.block_on(sides.plugin.delete_state(about("a"))).is_empty());
    assert_eq!(states(), ["b"]);
}

#[test]
fn store_configuration_is_validated_by_provider() {
    let sides = Sides::new(Protocol::V6, 9);
    assert_eq!(sides.plugin.type_names().state_stores, [Name::from(TYPE)]);
    let config = Value::object([("room", Value::string(""))]);
    let client_capabilities = ClientCapabilities::default();
    let request = ValidateRequest { type_name: TYPE.into(), config, client_capabilities };
    let problems = sides.runtime.block_on(sides.plugin.validate_state_store(request));
    assert_eq!(summaries(&problems), ["No room"]);
    let path = problems.iter().next().unwrap().path.clone();
    assert_eq!(path, Path::root().attribute("room"));
}

#[test]
fn chunk_size_of_zero_is_rejected() {
    let sides = Sides::new(Protocol::V6, u64::MAX);
    let configured = sides.configure(STATE_CHUNK_SIZE);
    assert!(summaries(&configured.diagnostics).contains(&"Failed to negotiate acceptable chunk size".to_owned()));
}

#[test]
fn protocol_5_has_no_state_stores() {
    let sides = Sides::new(Protocol::V5, 9);
    assert!(sides.plugin.type_names().state_stores.is_empty());
    assert_eq!(summaries(&sides.write("a", b"{}", 9)), ["Unsupported plugin method"]);
    assert!(sides.shelf.states.lock().unwrap().is_empty());
}
