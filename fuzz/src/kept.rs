//! Files that runs keep for later runs: encrypted files, saved plans, what providers declared.

use std::sync::{Arc, OnceLock};

use groma_address::ProviderAddress;
use groma_builtin::Terraform;
use groma_config::{Configuration, LoadOptions, MemoryFiles};
use groma_diagnostics::{Diagnostic, Sources};
use groma_encryption::{
    Encryption, GeneratedKey, KeyError, KeyProvider, KeyService, KeySource, Lineage, Method, is_sealed, is_sealed_plan,
};
use groma_engine::{Cancellation, Hooks, ProviderSource, Run, SavedPlan, Session};
use groma_plugin::client::{Plugin, PluginHost, SchemaCache, Start};
use groma_plugin::transport::{Launch, LogSink, NoLog};
use groma_provider::Provider;
use groma_state::State;

use super::in_a_folder;
use super::packages::checksum;

/// Gives one key, and takes any notes for its own.
#[derive(Debug)]
struct OneKey;

impl KeyService for OneKey {
    fn generate(&self) -> Result<GeneratedKey, KeyError> {
        Ok(GeneratedKey { key: vec![7; 32], metadata: b"{}".to_vec() })
    }

    fn recover(&self, _metadata: Option<&[u8]>) -> Result<Option<Vec<u8>>, KeyError> {
        Ok(Some(vec![7; 32]))
    }
}

/// A sealed file is opened or refused, and so is a piece of a journal; what was sealed is opened as it was, unless it
/// was changed.
pub fn sealed(bytes: &[u8]) {
    let keys = KeyProvider { name: "key_provider.fuzz.one".to_owned(), source: KeySource::Service(Arc::new(OneKey)) };
    let encryption = Encryption::new(Method::AesGcm { keys, associated: Vec::new() }, vec![Method::Unencrypted]);
    is_sealed(bytes);
    is_sealed_plan(bytes);
    let _ = encryption.open(bytes, "state");
    if let Ok(keyring) = encryption.chunk_keyring(bytes) {
        assert!(keyring.open(bytes).is_none());
    }
    let lineage = Lineage { serial: Some(1), lineage: "l".to_owned() };
    let Ok(mut sealed) = encryption.seal(bytes, Some(&lineage)) else { return };
    assert_eq!(encryption.open(&sealed, "state").ok().map(|opened| opened.content).as_deref(), Some(bytes));
    // A letter of the content, which stands before the last 28.
    let index = sealed.len() - 40;
    sealed[index] = if sealed[index] == b'A' { b'B' } else { b'A' };
    assert!(encryption.open(&sealed, "state").is_err());
}

struct OnlyBuiltin;

impl ProviderSource for OnlyBuiltin {
    fn start(&self, _address: &ProviderAddress) -> Result<Arc<dyn Provider>, Diagnostic> {
        Ok(Arc::new(Terraform::default()))
    }
}

struct Silent;

impl Hooks for Silent {}

/// The inputs of a run of a small configuration.
fn session() -> Option<&'static Session> {
    static SESSION: OnceLock<Option<Session>> = OnceLock::new();
    let made = SESSION.get_or_init(|| {
        let sources = Arc::new(Sources::new());
        let files = MemoryFiles::new().with("main.tf", "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n");
        let (configuration, _): (Option<Configuration>, _) =
            groma_config::load(&LoadOptions::default(), &sources, &files);
        Some(Session {
            configuration: Arc::new(configuration?),
            sources,
            providers: Arc::new(OnlyBuiltin),
            hooks: Arc::new(Silent),
            cancellation: Cancellation::new(),
            parallelism: 1,
            workspace: "default".to_owned(),
            working_directory: "/nonexistent".into(),
            root_directory: ".".into(),
            home_directory: None,
            timestamp: "2026-01-02T03:04:05Z".to_owned(),
            terraform_version: "1.15.5".to_owned(),
            runtime: Arc::new(tokio::runtime::Builder::new_current_thread().build().ok()?),
            call_runtime: Arc::new(tokio::runtime::Handle::current),
        })
    });
    made.as_ref()
}

/// The inside of a saved plan is read or refused; what is read can be looked at, and saved again.
pub fn saved_plan(bytes: &[u8]) {
    let Some(session) = session() else { return };
    let mut run = Run::new(session.clone());
    let Ok(saved) = SavedPlan::read(bytes) else { return };
    if let Ok(plan) = run.load_to_apply(saved, State::new("1.15.5")) {
        plan.is_applyable();
        plan.is_complete();
        let _ = run.save(&plan);
    }
}

/// A schema cache of an earlier run is read or rejected.
pub fn schema_cache(bytes: &[u8]) {
    in_a_folder(|folder| {
        let program = folder.join("program");
        let _ = std::fs::write(&program, "");
        let cache = SchemaCache::new(folder, "kept", &program);
        let content = [bytes, &cache.binding()].concat();
        let content = [&content[..], &checksum(&content).to_le_bytes()].concat();
        // Whatever the format's number is by now.
        for format in 1..4 {
            let _ = std::fs::write(folder.join(format!("kept.{format}")), &content);
        }
        let address = ProviderAddress::builtin_terraform();
        let start = Start::Launch(Launch::new("none", program));
        let log: Arc<dyn LogSink> = Arc::new(NoLog);
        if let Some(plugin) = Plugin::from_cache(&PluginHost::new(), &address, &start, &log, &cache) {
            let names = plugin.type_names();
            names.resources.iter().for_each(|name| drop(plugin.resource_schema(name)));
            names.data_sources.iter().for_each(|name| drop(plugin.data_schema(name)));
            names.functions.iter().for_each(|name| drop(plugin.function(name)));
        }
    });
}
