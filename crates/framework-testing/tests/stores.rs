//! State stores on the framework, as hosts use them: in process and over the protocol.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use groma_framework::schema::{Validator, validator};
use groma_framework::{
    Answer, Bundle, ConfigureStateStoreRequest, ConfigureStateStoreResponse, Model, ModelStateStore,
    ProviderDiagnostic, ProviderDiagnostics, ReadStateResponse, ResourceSchema, StateRequest, StateStore, States,
    StatesResponse, WriteStateRequest,
};
use groma_framework_testing::{Protocol, Store, Transport};
use groma_provider::Provider;
use groma_value::Value;

const TYPE: &str = "shelf_store";

/// Where the states lie.
#[derive(Model)]
struct Room {
    #[attribute(validator = not_the_attic())]
    name: String,
    piece: Option<u64>,
}

fn not_the_attic() -> impl Validator {
    validator("must not be the attic", |room| match room.as_str() {
        Some("attic") => Err("It is wet there.".to_owned()),
        _ => Ok(()),
    })
}

/// What a store does otherwise than it should.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Cuts,
    MixesUp,
    ListsNothing,
    LocksAlways,
    UnlocksAlways,
    NeverForgets,
    Panics,
}

struct Shelves(Fault);

impl ModelStateStore for Shelves {
    type Model = Room;
    type States = Shelf;

    async fn open(&self, config: Room) -> Result<Shelf, ProviderDiagnostic> {
        // An error of opening, as opposed to that of the validator above.
        if config.name == "moon" {
            return Err(ProviderDiagnostic::error("Too far", "Name a room that is near."));
        }
        Ok(Shelf { fault: self.0, piece: config.piece, states: Mutex::default(), locks: Mutex::default() })
    }
}

struct Shelf {
    fault: Fault,
    piece: Option<u64>,
    states: Mutex<BTreeMap<String, Vec<u8>>>,
    locks: Mutex<BTreeMap<String, String>>,
}

impl Shelf {
    fn key(&self, id: &str) -> String {
        if self.fault == Fault::MixesUp { "all".to_owned() } else { id.to_owned() }
    }
}

impl States for Shelf {
    async fn read(&self, id: &str) -> Result<Option<Vec<u8>>, ProviderDiagnostic> {
        assert!(self.fault != Fault::Panics, "the shelf fell down");
        Ok(self.states.lock().unwrap().get(&self.key(id)).cloned())
    }

    async fn write(&self, id: &str, content: Arc<[u8]>) -> Result<(), ProviderDiagnostic> {
        // One byte less than the state that the test helper writes for this purpose.
        let kept = if self.fault == Fault::Cuts { content.len().min(255) } else { content.len() };
        self.states.lock().unwrap().insert(self.key(id), content[..kept].to_vec());
        Ok(())
    }

    async fn list(&self) -> Result<Vec<String>, ProviderDiagnostic> {
        let states = self.states.lock().unwrap();
        Ok(states.keys().filter(|_| self.fault != Fault::ListsNothing).cloned().collect())
    }

    async fn delete(&self, id: &str) -> Result<(), ProviderDiagnostic> {
        if self.fault != Fault::NeverForgets {
            self.states.lock().unwrap().remove(&self.key(id));
        }
        Ok(())
    }

    async fn lock(&self, id: &str, operation: &str) -> Result<Option<String>, ProviderDiagnostic> {
        let mut locks = self.locks.lock().unwrap();
        if let Some(owner) = locks.get(id).filter(|_| self.fault != Fault::LocksAlways) {
            return Err(ProviderDiagnostic::error("Locked", format!("For {owner}.")));
        }
        locks.insert(id.to_owned(), operation.to_owned());
        Ok(Some(format!("lock of {id}")))
    }

    async fn unlock(&self, id: &str, lock_id: &str) -> Result<(), ProviderDiagnostic> {
        if lock_id != format!("lock of {id}") && self.fault != Fault::UnlocksAlways {
            return Err(ProviderDiagnostic::error("Another lock", "The state is locked by somebody else."));
        }
        self.locks.lock().unwrap().remove(id);
        Ok(())
    }

    fn chunk_size(&self, offered: u64) -> u64 {
        self.piece.unwrap_or(offered)
    }
}

fn shelf_in(room: &str, fault: Fault, transport: Transport) -> Result<Store, groma_framework_testing::Problems> {
    let provider = move || Arc::new(Bundle::new().state_store(TYPE, Shelves(fault)).build().unwrap()) as _;
    // Pieces smaller than the states, so that they travel in several.
    let config = [("name", Value::string(room)), ("piece", Value::number(100))];
    Store::open("example/shelf", provider, transport, TYPE, config)
}

fn shelf(fault: Fault, transport: Transport) -> Store {
    shelf_in("cellar", fault, transport).unwrap()
}

const TRANSPORTS: [Transport; 2] = [Transport::InProcess, Transport::Protocol(Protocol::V6)];

#[test]
fn store_on_structs_keeps_all_guarantees() {
    for transport in TRANSPORTS {
        assert_eq!(shelf(Fault::None, transport).broken_promises().unwrap(), [""; 0], "{transport:?}");
    }
}

#[test]
fn store_reports_broken_guarantees() {
    let broken = |fault| shelf(fault, Transport::Protocol(Protocol::V6)).broken_promises().unwrap();
    // The other contents, of 207 and 3 bytes, are shorter than the cut.
    assert_eq!(broken(Fault::Cuts), ["a state of 256 bytes is read as it was written"]);
    assert!(broken(Fault::MixesUp).contains(&"a state stays as it is while another is written".to_owned()));
    assert_eq!(broken(Fault::ListsNothing), ["each state that was written is listed once"]);
    assert!(broken(Fault::LocksAlways).contains(&"a lock that somebody has is not given to another".to_owned()));
    assert!(broken(Fault::UnlocksAlways).contains(&"a lock is not given back by another id".to_owned()));
    assert!(broken(Fault::NeverForgets).contains(&"a state that was deleted is not listed".to_owned()));
}

#[test]
fn fw_21_a_state_store_that_panics_fails_the_one_call() {
    for transport in TRANSPORTS {
        let store = shelf(Fault::Panics, transport);
        assert!(store.read("a").unwrap_err().say("the shelf fell down"));
        // The panic fails one call only, and the store stays usable.
        store.write("a", b"content").unwrap();
        assert_eq!(store.list().unwrap(), ["a"]);
    }
}

#[test]
fn store_configuration_errors_are_reported() {
    for transport in TRANSPORTS {
        assert!(shelf_in("moon", Fault::None, transport).err().unwrap().say("Too far"));
        assert!(shelf_in("attic", Fault::None, transport).err().unwrap().say("It is wet there."));
    }
}

#[test]
fn unconfigured_store_refuses_calls() {
    let server = Bundle::new().state_store(TYPE, Shelves(Fault::None)).build().unwrap();
    let request = StateRequest { type_name: TYPE.into(), state_id: "a".to_owned() };
    let problems = server.read_state(request).wait().diagnostics;
    assert_eq!(problems.iter().next().unwrap().summary, "State store not configured");
    let request = StateRequest { type_name: "shelf_other".into(), state_id: "a".to_owned() };
    let problems = server.delete_state(request).wait();
    assert_eq!(problems.iter().next().unwrap().summary, "Unknown state store type");
}

/// A store on values, without locks, whose one state is always the same.
struct Stone(ResourceSchema);

impl StateStore for Stone {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn configure(&self, request: ConfigureStateStoreRequest) -> Answer<'_, ConfigureStateStoreResponse> {
        let diagnostics = ProviderDiagnostics::new();
        Answer::ready(ConfigureStateStoreResponse { chunk_size: request.chunk_size, diagnostics })
    }

    fn read(&self, _: StateRequest) -> Answer<'_, ReadStateResponse> {
        Answer::ready(ReadStateResponse { bytes: b"engraved".to_vec(), diagnostics: ProviderDiagnostics::new() })
    }

    fn write(&self, _: WriteStateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(ProviderDiagnostic::error("Stone", "It takes no other words.").into())
    }

    fn states(&self) -> Answer<'_, StatesResponse> {
        Answer::ready(StatesResponse { state_ids: vec!["default".to_owned()], diagnostics: ProviderDiagnostics::new() })
    }

    fn delete(&self, _: StateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(ProviderDiagnostic::error("Stone", "It stays.").into())
    }
}

#[test]
fn stores_on_structs_and_values_mix_and_names_are_unique() {
    let stone = || Stone(Room::schema().build().unwrap());
    let both = move || Bundle::new().state_store(TYPE, Shelves(Fault::None)).plain_state_store("shelf_stone", stone());
    let provider = move || Arc::new(both().build().unwrap()) as Arc<dyn Provider>;
    let config = [("name", Value::string("garden"))];
    let transport = Transport::Protocol(Protocol::V6);
    let store = Store::open("example/shelf", provider, transport, "shelf_stone", config).unwrap();
    assert_eq!(store.read("default").unwrap(), b"engraved");
    // Locks are optional for stores.
    assert_eq!(store.lock("default", "apply").unwrap(), None);
    assert!(store.write("default", b"other").unwrap_err().say("It takes no other words."));
    let twice = both().plain_state_store(TYPE, stone()).build().err().unwrap();
    assert_eq!(twice[0].to_string(), "shelf_store: the type is declared twice");
}

#[test]
fn protocol_5_has_no_state_stores() {
    let problems = shelf_in("cellar", Fault::None, Transport::Protocol(Protocol::V5)).err().unwrap();
    assert!(problems.say("has no state store named shelf_store"), "{problems}");
}
