//! Provider plugins: starts plugin processes or attaches to running ones, and forwards their log lines.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_install::providers::executable;
use groma_plugin::client::{Plugin, PluginHost, SchemaCache, Start};
use groma_plugin::transport::{Launch, LogLevel, LogSink, Reattach, Tls, parse_reattach};
use groma_provider::Provider;

use super::context::Context;
use super::outcome::fail;
use crate::log::{Level, Log};

/// Settings of plugin processes.
#[derive(Clone)]
pub(super) struct Plugins {
    host: Arc<PluginHost>,
    reattached: BTreeMap<ProviderAddress, Reattach>,
    tls: Tls,
    log: Log,
    /// Directory of the schema cache.
    schemas: PathBuf,
}

impl Plugins {
    /// Reads the settings from the environment.
    ///
    /// # Errors
    /// `TF_REATTACH_PROVIDERS` is invalid.
    pub fn of(context: &Context) -> Result<Self, Diagnostics> {
        let settings = &context.settings;
        let reattached = settings.reattach.as_deref().map(parse_reattach).transpose();
        let reattached = reattached.map_err(|error| fail("Invalid TF_REATTACH_PROVIDERS", error.to_string()))?;
        let schemas = schema_folder(context);
        let tls = if settings.plugins_in_the_clear { Tls::Off } else { Tls::Mutual };
        // One host per command: all plugins share its thread.
        let host = Arc::clone(&context.plugin_host);
        Ok(Self { host, reattached: reattached.unwrap_or_default(), tls, log: context.log.clone(), schemas })
    }

    /// Returns the providers of running processes.
    pub fn reattached(&self) -> impl Iterator<Item = &ProviderAddress> {
        self.reattached.keys()
    }

    /// Attaches to the running process of a provider, if there is one.
    pub fn attach(&self, address: &ProviderAddress) -> Option<Arc<dyn Provider>> {
        self.reattached.get(address).map(|reattach| self.plugin(address, Start::Attach(reattach.clone())))
    }

    /// Starts the provider executable in `folder`. Its schemas are cached under `verified`, the hash of a verified package.
    ///
    /// # Errors
    /// The directory contains no such executable, or several.
    pub fn launch(
        &self,
        address: &ProviderAddress,
        folder: &Path,
        verified: Option<&str>,
    ) -> Result<Arc<dyn Provider>, Diagnostic> {
        let program = executable(folder, address).map_err(|problem| {
            let detail = format!("The provider {address} has no usable executable: {problem}.");
            Diagnostic::error("Failed to start provider", detail)
        })?;
        // A script may run any other program, so the hash of its package does not identify its schemas.
        let verified = verified.filter(|_| !is_script(&program));
        let cache = verified.map(|hash| SchemaCache::new(&self.schemas, hash, &program));
        let start = Start::Launch(Launch { tls: self.tls, ..Launch::new(address.to_string(), program) });
        // Without a verified hash a cached schema could be that of another program.
        let Some(cache) = cache else { return Ok(self.plugin(address, start)) };
        Ok(Arc::new(Plugin::start_cached(&self.host, address.clone(), start, self.log(), cache)))
    }

    fn plugin(&self, address: &ProviderAddress, start: Start) -> Arc<dyn Provider> {
        Arc::new(Plugin::start(&self.host, address.clone(), start, self.log()))
    }

    fn log(&self) -> Arc<dyn LogSink> {
        Arc::new(PluginLog(self.log.clone()))
    }
}

/// Returns the directory of the schema cache.
pub(super) fn schema_folder(context: &Context) -> PathBuf {
    context.settings.data_directory.join("schemas")
}

fn is_script(program: &Path) -> bool {
    let mut start = [0; 2];
    let read = std::fs::File::open(program).and_then(|mut file| file.read_exact(&mut start));
    // A file too short to be an executable is treated as a script.
    read.is_err() || start == *b"#!"
}

/// Forwards the log lines of plugins.
struct PluginLog(Log);

impl LogSink for PluginLog {
    fn log(&self, level: LogLevel, provider: &str, line: &str) {
        let level = match level {
            LogLevel::Trace | LogLevel::Debug => Level::Debug,
            LogLevel::Info => Level::Info,
            LogLevel::Warn | LogLevel::Error => Level::Error,
        };
        self.0.write_of_provider(level, || format!("{provider}: {line}"));
    }

    fn least(&self) -> Option<LogLevel> {
        self.0.least_of_providers().map(|least| match least {
            // This program has no finer level than debug, so debug includes trace.
            Level::Debug => LogLevel::Trace,
            Level::Info => LogLevel::Info,
            Level::Error => LogLevel::Warn,
        })
    }
}
