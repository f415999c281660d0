//! The histories over real servers: the faults happen to the requests of a real store.
//!
//! `GROMA_SERVER_SIMULATIONS` sets how many histories are made over each server (4 without it).

#[allow(dead_code)]
#[path = "../../../tests/it/server.rs"]
mod server;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use groma_state::SegmentCreated;
use groma_value::Value;
use server::Server;

use super::run::OpenStore;
use super::storage::check;
use super::world::{Fate, Inner, World};
use super::{Program, Sharing, setting};
use crate::error::StoreError;
use crate::lock_info::LockInfo;
use crate::store::{
    Companions, HeldLock, JournalStore, LeaseStore, NotedState, NotedStateStore, Snapshot, StateStore, StoreFuture,
    Version, WorkspaceSupport, Write,
};
use crate::{Environment, Host, registry};

/// A real store as one run reaches it. What is written is kept in the world as well, which checks it.
struct FaultyStore {
    world: Arc<World>,
    actor: usize,
    store: Arc<dyn StateStore>,
}

fn no_response<T>() -> Result<T, StoreError> {
    Err(StoreError::Network { service: "the server".to_owned(), reason: "no answer".to_owned() })
}

impl FaultyStore {
    /// Sends a request with the faults of the world. `noted` is called with its result while nobody else acts.
    async fn request<T, F>(
        &self,
        send: impl Fn() -> F + Send + Sync,
        noted: impl Fn(&mut Inner, &Result<T, StoreError>) + Send,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        let fate = self.world.depart(self.actor);
        if fate == Fate::Fails {
            return no_response();
        }
        let mut result = send().await;
        noted(&mut self.world.lock(), &result);
        if fate == Fate::RepeatedLate {
            self.world.travel(self.actor);
        }
        if matches!(fate, Fate::Repeated | Fate::RepeatedLate) {
            result = send().await;
            noted(&mut self.world.lock(), &result);
        }
        match self.world.arrive(self.actor) {
            Fate::Answered => result,
            _ => no_response(),
        }
    }
}

fn nothing<T>(_: &mut Inner, _: &Result<T, StoreError>) {}

impl StateStore for FaultyStore {
    fn location(&self, workspace: &str) -> String {
        self.store.location(workspace)
    }

    fn workspace_support(&self) -> WorkspaceSupport {
        self.store.workspace_support()
    }

    fn workspaces(&self) -> StoreFuture<'_, Vec<String>> {
        Box::pin(self.request(|| self.store.workspaces(), nothing))
    }

    fn read<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        Box::pin(self.request(|| self.store.read(workspace), nothing))
    }

    fn write<'a>(&'a self, workspace: &'a str, write: Write<'a>) -> StoreFuture<'a, Version> {
        let bytes = write.bytes;
        let noted = move |inner: &mut Inner, result: &Result<Version, StoreError>| {
            // The second one of two equal writes finds the bytes that the first one has stored.
            let is_known = inner.storage.state.as_deref() == Some(&bytes[..]);
            if result.is_ok() && !is_known {
                check(inner, bytes);
                inner.storage.state = Some(bytes.to_vec());
            }
        };
        Box::pin(async move { self.request(|| self.store.write(workspace, write.clone()), noted).await })
    }

    fn delete_workspace<'a>(&'a self, workspace: &'a str, lock: Option<&'a HeldLock>) -> StoreFuture<'a, ()> {
        Box::pin(self.request(move || self.store.delete_workspace(workspace, lock), nothing))
    }

    fn lock<'a>(&'a self, workspace: &'a str, info: &'a LockInfo) -> StoreFuture<'a, HeldLock> {
        Box::pin(self.request(move || self.store.lock(workspace, info), nothing))
    }

    fn unlock<'a>(&'a self, workspace: &'a str, id: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(self.request(move || self.store.unlock(workspace, id), nothing))
    }

    fn leases(&self) -> Option<&dyn LeaseStore> {
        self.store.leases().map(|_| self as &dyn LeaseStore)
    }

    fn journals(&self) -> Option<&dyn JournalStore> {
        self.store.journals().map(|_| self as &dyn JournalStore)
    }
}

impl FaultyStore {
    /// The journals of the store, which has them if this is called.
    fn kept(&self) -> &dyn JournalStore {
        self.store.journals().unwrap()
    }
}

impl LeaseStore for FaultyStore {
    fn replace_lock<'a>(
        &'a self,
        workspace: &'a str,
        stored: &'a HeldLock,
        info: &'a LockInfo,
    ) -> StoreFuture<'a, HeldLock> {
        let noted = move |inner: &mut Inner, result: &Result<HeldLock, StoreError>| {
            if result.is_ok() && stored.id != info.id && inner.now < inner.time_of(&stored.info) {
                inner.violate("a lock is taken over before its deadline".to_owned());
            }
        };
        Box::pin(self.request(move || self.store.leases().unwrap().replace_lock(workspace, stored, info), noted))
    }
}

impl JournalStore for FaultyStore {
    fn segments<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Vec<String>> {
        Box::pin(self.request(move || self.kept().segments(workspace), nothing))
    }

    fn read_segment<'a>(&'a self, workspace: &'a str, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        Box::pin(self.request(move || self.kept().read_segment(workspace, name), nothing))
    }

    fn create_segment<'a>(
        &'a self,
        workspace: &'a str,
        name: &'a str,
        bytes: &'a [u8],
    ) -> StoreFuture<'a, SegmentCreated> {
        Box::pin(self.request(move || self.kept().create_segment(workspace, name, bytes), nothing))
    }

    fn delete_segments<'a>(&'a self, workspace: &'a str, names: &'a [String]) -> StoreFuture<'a, ()> {
        Box::pin(self.request(move || self.kept().delete_segments(workspace, names), nothing))
    }

    fn noted_states(&self) -> Option<&dyn NotedStateStore> {
        self.kept().noted_states().map(|_| self as &dyn NotedStateStore)
    }

    fn longest_segment(&self) -> usize {
        self.kept().longest_segment()
    }
}

impl NotedStateStore for FaultyStore {
    fn read_noted<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<NotedState>> {
        Box::pin(self.request(move || self.kept().noted_states().unwrap().read_noted(workspace), nothing))
    }

    fn companions<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Companions> {
        Box::pin(self.request(move || self.kept().noted_states().unwrap().companions(workspace), nothing))
    }
}

/// Returns how runs open a store of this type. Each run is a process with connections of its own.
fn opened_by(ty: &'static str, config: Value, runtime: &Arc<tokio::runtime::Runtime>) -> OpenStore {
    let runtime = Arc::clone(runtime);
    Arc::new(move |world, actor| {
        let ty = registry::find(ty).unwrap();
        let host = Host { environment: Environment::default(), ..Host::default() };
        let config = (ty.schema)().conform(&config).unwrap();
        let settings = (ty.schema)().resolve(&config, &host.environment).unwrap();
        // Clients bind to the runtime when they are created.
        let _entered = runtime.enter();
        let store = (ty.open)(&settings, &host).unwrap();
        Arc::new(FaultyStore { world: world.clone(), actor, store })
    })
}

fn keeps_the_invariants(ty: &'static str, config: impl Fn(u64) -> Value) {
    let runtime = Arc::new(tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());
    let first = setting("GROMA_SIMULATION_SEED", 1);
    for seed in first..first + setting("GROMA_SERVER_SIMULATIONS", 4) {
        let program = Program::new(seed, Sharing::Off);
        let (violations, log) = program.history_over(&opened_by(ty, config(seed), &runtime));
        assert!(violations.is_empty(), "{program:#?}\n{violations:#?}\n{}", log.join("\n"));
    }
}

fn block(arguments: &[(&str, &str)]) -> Vec<(String, Value)> {
    arguments.iter().map(|(name, value)| ((*name).to_owned(), Value::string(*value))).collect()
}

#[test]
fn histories_on_moto_keep_the_invariants() {
    let Some(moto) = Server::start("moto_server", &[], |port| {
        ["-H", "127.0.0.1", "-p", &port.to_string()].map(str::to_owned).to_vec()
    }) else {
        eprintln!("skipped: moto_server is not installed (pip install \"moto[server]\")");
        return;
    };
    let url = format!("http://127.0.0.1:{}", moto.port);
    let client = reqwest::Client::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let made = runtime.block_on(client.put(format!("{url}/histories")).send()).unwrap();
    assert!(made.status().is_success(), "{made:?}");
    keeps_the_invariants("s3", |seed| {
        let key = format!("{seed}.tfstate");
        let mut arguments = block(&[
            ("bucket", "histories"),
            ("key", &key),
            ("region", "us-east-1"),
            ("access_key", "AKIAIOSFODNN7EXAMPLE"),
            ("secret_key", "secret"),
        ]);
        for flag in ["use_lockfile", "use_path_style", "skip_metadata_api_check"] {
            arguments.push((flag.to_owned(), Value::TRUE));
        }
        arguments.push(("endpoints".to_owned(), Value::object([("s3", Value::string(&*url))])));
        Value::object(arguments)
    });
}

/// Returns the directory with the programs of PostgreSQL.
fn programs() -> Option<PathBuf> {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = installed.map(|entry| entry.path().join("bin")).collect();
    folders.push(PathBuf::from("/usr/local/bin"));
    folders.into_iter().find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
}

/// PostgreSQL refuses to run as root.
fn unprivileged(program: &Path) -> Vec<String> {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    let prefix: &[&str] =
        if is_root { &["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] } else { &[] };
    prefix.iter().map(|word| (*word).to_owned()).chain([program.display().to_string()]).collect()
}

#[test]
fn histories_on_postgres_keep_the_invariants() {
    let Some(programs) = programs() else {
        eprintln!("skipped: initdb and postgres are not installed");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let owner = unprivileged(&programs.join("initdb"));
    if owner.len() > 1 {
        // The directory must belong to the user that the server runs as.
        let given = Command::new("chown").arg("nobody:nogroup").arg(directory.path()).status();
        assert!(given.unwrap().success());
    }
    // The unprivileged user may be unable to enter the working directory.
    let made = Command::new(&owner[0])
        .args(&owner[1..])
        .args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync", "-D"])
        .arg(&data)
        .current_dir("/")
        .stdout(Stdio::null())
        .status();
    assert!(made.unwrap().success(), "initdb fails");
    let run = unprivileged(&programs.join("postgres"));
    let started = Server::start(&run[0], &[], |port| {
        let data = data.display().to_string();
        let port = port.to_string();
        // -F turns fsync off: nothing has to outlive the test.
        let arguments = ["-D", &data, "-h", "127.0.0.1", "-p", &port, "-k", "", "-F"];
        run[1..].iter().cloned().chain(arguments.map(str::to_owned)).collect()
    });
    let server = started.expect("postgres is installed");
    keeps_the_invariants("pg", |seed| {
        let url = format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", server.port);
        Value::object(block(&[("conn_str", &url), ("schema_name", &format!("history{seed}"))]))
    });
}
