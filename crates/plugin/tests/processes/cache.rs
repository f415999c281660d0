//! The cache of provider schemas across runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use groma_address::ProviderAddress;
use groma_plugin::client::{Plugin, PluginHost, SchemaCache, Start};
use groma_plugin::transport::NoLog;
use groma_provider::Provider;

use crate::end::{create, plugin_processes};
use crate::launch::demo_launch;
use crate::{MUST_BE_ASKED, Test, demo};

pub const TESTS: &[Test] = &[
    ("cache::provider_with_cached_schemas_starts_on_first_call", cached_schemas_start_on_demand),
    ("cache::required_schema_call_is_made_in_every_run", required_schema_call),
    ("cache::concurrent_runs_share_a_cache", concurrent_runs),
];

fn started(cache: &SchemaCache, environment: &[(&str, &str)]) -> Plugin {
    let mut launch = demo_launch();
    launch.environment = environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let address = ProviderAddress::parse(demo::ADDRESS, "registry.terraform.io").unwrap();
    Plugin::start_cached(&PluginHost::new(), address, Start::Launch(launch), Arc::new(NoLog), cache.clone())
}

fn cache_in(folder: &tempfile::TempDir, hash: &str) -> SchemaCache {
    SchemaCache::new(folder.path(), hash, &std::env::current_exe().unwrap())
}

fn processes() -> usize {
    plugin_processes(&std::env::current_exe().unwrap()).len()
}

fn cached_schemas_start_on_demand() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache_in(&folder, "h1:one");
    let asked = started(&cache, &[]);
    let (schema, names) = (asked.resource_schema("demo_thing").unwrap(), asked.type_names());
    assert_eq!(processes(), 1);
    // The first run has filled the cache and ends its process.
    drop(asked);

    let start = Instant::now();
    let plugin = started(&cache, &[]);
    assert_eq!(plugin.resource_schema("demo_thing").unwrap(), schema);
    assert_eq!(plugin.type_names(), names);
    assert!(plugin.function("join").is_some());
    // Far below the time that starting a process and its TLS handshake takes.
    assert!(start.elapsed() < Duration::from_millis(50), "{:?}", start.elapsed());
    assert_eq!(processes(), 0);
    let made = create(&plugin, "good");
    assert!(made.diagnostics.is_empty(), "{:?}", made.diagnostics);
    assert_eq!(processes(), 1);
    drop(plugin);
    assert_eq!(processes(), 0);

    // The schemas of another package are not shared.
    let other = started(&cache_in(&folder, "h1:two"), &[]);
    assert_eq!(other.resource_schema("demo_thing").unwrap(), schema);
    assert_eq!(processes(), 1);
}

fn required_schema_call() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache_in(&folder, "h1:one");
    for _ in 0..2 {
        // The capability is stored in the cached schemas, and forbids to use them without a call.
        let plugin = started(&cache, &[(MUST_BE_ASKED, "1")]);
        assert!(plugin.resource_schema("demo_thing").unwrap().is_some());
        assert_eq!(processes(), 1);
    }
}

fn concurrent_runs() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache_in(&folder, "h1:one");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(started(&cache, &[]).resource_schema("demo_thing").unwrap().is_some()));
        }
    });
    // One entry and no temporary files.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(started(&cache, &[]).resource_schema("demo_thing").unwrap().is_some());
}
