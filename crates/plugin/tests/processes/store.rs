//! A state store in a process of its own that stores states in files, which survive the process.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use groma_plugin::client::{Plugin, PluginHost, Start};
use groma_plugin::transport::{Launch, NoLog};
use groma_provider::{
    Answer, Attribute, Block, ConfigureStateStoreRequest, ConfigureStateStoreResponse, LockStateRequest,
    LockStateResponse, Name, NestedBlock, Provider, ProviderDiagnostic, ProviderDiagnostics, ProviderSchema,
    ReadStateResponse, Schema, SchemaLookup, StateRequest, StatesResponse, TypeNames, UnlockStateRequest,
    WriteStateRequest,
};
use groma_value::{Type, Value};

use crate::launch::{demo_launch, on_runtime};
use crate::{Test, demo};

pub const TESTS: &[Test] = &[("store::store_crash_during_write_keeps_previous_state", crash_keeps_previous_state)];

/// Set to serve the store.
pub const STORE: &str = "GROMA_TEST_STORE";

const TYPE: &str = "demo_files";

/// The state content that makes the store die during the write.
const FATAL: &str = "fatal";

/// A store of states and locks as files in a directory.
#[derive(Default)]
pub struct Files {
    folder: Mutex<PathBuf>,
}

impl Files {
    fn path(&self, state_id: &str, kind: &str) -> PathBuf {
        self.folder.lock().unwrap().join(format!("{state_id}.{kind}"))
    }
}

impl Provider for Files {
    fn schema(&self) -> Result<ProviderSchema, ProviderDiagnostics> {
        Ok(ProviderSchema::default())
    }

    fn type_names(&self) -> TypeNames {
        TypeNames { state_stores: vec![TYPE.into()], ..TypeNames::default() }
    }

    fn state_store_schema(&self, type_name: &str) -> SchemaLookup {
        let block = || Block::new([("folder", Attribute::required(Type::String))], Vec::<(Name, NestedBlock)>::new());
        Ok((type_name == TYPE).then(|| Arc::new(Schema::new(block()))))
    }

    fn configure_state_store(&self, request: ConfigureStateStoreRequest) -> Answer<'_, ConfigureStateStoreResponse> {
        let folder = request.config.attribute("folder").unwrap();
        *self.folder.lock().unwrap() = folder.as_str().unwrap().into();
        let diagnostics = ProviderDiagnostics::new();
        Answer::ready(ConfigureStateStoreResponse { chunk_size: request.chunk_size, diagnostics })
    }

    fn read_state(&self, request: StateRequest) -> Answer<'_, ReadStateResponse> {
        let bytes = std::fs::read(self.path(&request.state_id, "state")).unwrap_or_default();
        Answer::ready(ReadStateResponse { bytes, diagnostics: ProviderDiagnostics::new() })
    }

    fn write_state(&self, request: WriteStateRequest) -> Answer<'_, ProviderDiagnostics> {
        let (new, path) = (self.path(&request.state_id, "new"), self.path(&request.state_id, "state"));
        let mut file = std::fs::File::create(&new).unwrap();
        // Two writes with a possible crash in between: the state file itself is only replaced by the rename.
        let (first, second) = request.bytes.split_at(request.bytes.len() / 2);
        file.write_all(first).unwrap();
        if first.starts_with(FATAL.as_bytes()) {
            eprintln!("the disk is on fire");
            std::process::abort();
        }
        file.write_all(second).unwrap();
        std::fs::rename(new, path).unwrap();
        Answer::ready(ProviderDiagnostics::new())
    }

    fn lock_state(&self, request: LockStateRequest) -> Answer<'_, LockStateResponse> {
        let path = self.path(&request.state_id, "lock");
        let lock_id = format!("lock of {}", request.state_id);
        let taken = std::fs::File::create_new(&path).and_then(|mut file| file.write_all(request.operation.as_bytes()));
        Answer::ready(match taken {
            Ok(()) => LockStateResponse { lock_id, diagnostics: ProviderDiagnostics::new() },
            Err(_) => {
                let owner = std::fs::read_to_string(path).unwrap_or_default();
                let problem = ProviderDiagnostic::error("Locked", format!("For {owner}."));
                LockStateResponse { lock_id: String::new(), diagnostics: problem.into() }
            }
        })
    }

    fn unlock_state(&self, request: UnlockStateRequest) -> Answer<'_, ProviderDiagnostics> {
        std::fs::remove_file(self.path(&request.state_id, "lock")).unwrap();
        Answer::ready(ProviderDiagnostics::new())
    }

    fn states(&self, _: Name) -> Answer<'_, StatesResponse> {
        let entries = std::fs::read_dir(&*self.folder.lock().unwrap()).unwrap();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut state_ids: Vec<String> =
            names.filter_map(|name| Some(name.strip_suffix(".state")?.to_owned())).collect();
        state_ids.sort();
        Answer::ready(StatesResponse { state_ids, diagnostics: ProviderDiagnostics::new() })
    }

    fn delete_state(&self, request: StateRequest) -> Answer<'_, ProviderDiagnostics> {
        std::fs::remove_file(self.path(&request.state_id, "state")).unwrap();
        Answer::ready(ProviderDiagnostics::new())
    }
}

/// The store as used by one run, with a process that ends with the run.
struct Run(Plugin);

impl Run {
    async fn begin(folder: &std::path::Path) -> Self {
        let environment = vec![(STORE.into(), "1".into())];
        let launch = Launch { environment, ..demo_launch() };
        let address = groma_address::ProviderAddress::parse(demo::ADDRESS, "registry.terraform.io").unwrap();
        let plugin = Plugin::start(&PluginHost::new(), address, Start::Launch(launch), Arc::new(NoLog));
        let config = Value::object([("folder", Value::string(folder.to_str().unwrap()))]);
        let request = ConfigureStateStoreRequest { type_name: TYPE.into(), config, chunk_size: 1 << 20 };
        let response = plugin.configure_state_store(request).await;
        assert!(!response.diagnostics.has_errors(), "{:?}", response.diagnostics);
        assert_eq!(response.chunk_size, 1 << 20);
        Self(plugin)
    }

    async fn read(&self, state_id: &str) -> Vec<u8> {
        let response = self.0.read_state(about(state_id)).await;
        assert!(!response.diagnostics.has_errors(), "{:?}", response.diagnostics);
        response.bytes
    }

    async fn write(&self, state_id: &str, bytes: &[u8]) -> ProviderDiagnostics {
        let (type_name, state_id) = (TYPE.into(), state_id.to_owned());
        self.0.write_state(WriteStateRequest { type_name, state_id, bytes: bytes.into(), chunk_size: 1 << 20 }).await
    }

    async fn lock(&self, state_id: &str, operation: &str) -> LockStateResponse {
        let (state_id, operation) = (state_id.to_owned(), operation.to_owned());
        self.0.lock_state(LockStateRequest { type_name: TYPE.into(), state_id, operation }).await
    }

    async fn names(&self) -> Vec<String> {
        self.0.states(TYPE.into()).await.state_ids
    }
}

fn about(state_id: &str) -> StateRequest {
    StateRequest { type_name: TYPE.into(), state_id: state_id.to_owned() }
}

fn crash_keeps_previous_state() {
    let folder = tempfile::tempdir().unwrap();
    let state: Vec<u8> = (0..5 << 20).map(|at: u32| (at % 251) as u8).collect();
    on_runtime(async {
        let run = Run::begin(folder.path()).await;
        // The lock outlives the crash, as a lock in a remote store does.
        assert_eq!(run.lock("default", "apply of the first").await.lock_id, "lock of default");
        assert!(!run.write("default", &state).await.has_errors());
        assert!(!run.write("other", b"{}").await.has_errors());
        assert_eq!(
            (run.read("default").await == state, run.names().await.join(" ")),
            (true, "default other".to_owned())
        );

        let begun = Instant::now();
        let broken = [FATAL.as_bytes(), &state].concat();
        let problems = run.write("default", &broken).await;
        assert!(begun.elapsed() < Duration::from_secs(20), "a dead store must not block the call");
        let reported: Vec<String> = problems.iter().map(|one| format!("{}: {}", one.summary, one.detail)).collect();
        assert!(
            problems.has_errors() && reported.iter().any(|text| text.contains("the disk is on fire")),
            "{reported:?}"
        );
        // Further calls neither hang nor return invented data.
        let read = run.0.read_state(about("default")).await;
        assert!(read.diagnostics.has_errors() && read.bytes.is_empty());
    });
    on_runtime(async {
        let run = Run::begin(folder.path()).await;
        assert!(run.read("default").await == state, "no part of the new state is visible");
        // A state that was never written is empty, not an error.
        assert_eq!(run.read("none").await, b"");
        let refused = run.lock("default", "apply of the second").await;
        assert!(refused.diagnostics.iter().any(|one| one.detail.contains("apply of the first")), "{refused:?}");
        let lock_id = "lock of default".to_owned();
        let request = UnlockStateRequest { type_name: TYPE.into(), state_id: "default".to_owned(), lock_id };
        assert!(!run.0.unlock_state(request).await.has_errors());
        assert_eq!(run.lock("default", "apply of the second").await.lock_id, "lock of default");
        assert!(!run.write("default", b"new").await.has_errors());
        assert!(!run.0.delete_state(about("other")).await.has_errors());
        assert_eq!((run.read("default").await, run.names().await), (b"new".to_vec(), vec!["default".to_owned()]));
    });
}
