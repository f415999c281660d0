//! The record of the initialized backend: `.terraform/terraform.tfstate`, in Terraform's format.
//!
//! Without the record, a changed path would look like an empty state, and everything would be created again.

use std::path::{Path, PathBuf};

use groma_diagnostics::{Diagnostics, io_reason, json_reason};
use groma_provider::TERRAFORM_VERSION;
use groma_state::write_whole;
use serde::{Deserialize, Serialize};

use super::super::context::Context;
use super::super::outcome::fail;
use super::config::{BackendConfig, BackendKind, SerializedBackend};

/// Format version of the file.
const VERSION: u32 = 3;

/// The recorded backend.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Record {
    /// A backend with its settings, and the hash of the block that they came from.
    Known { backend: BackendConfig, hash: i64 },
    /// A backend that only another program supports.
    Foreign { kind: String },
}

impl Record {
    /// Returns the type of the backend.
    pub fn kind(&self) -> &str {
        match self {
            Self::Known { backend, .. } => backend.name(),
            Self::Foreign { kind } => kind,
        }
    }
}

/// File that stores the record.
pub(in super::super) struct RecordFile {
    path: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Written {
    version: u32,
    #[serde(default)]
    terraform_version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    backend: Option<WrittenBackend>,
    /// Replaces `backend` in newer versions of Terraform.
    #[serde(default, skip_serializing)]
    state_store: Option<serde_json::Value>,
}

#[derive(Serialize, Deserialize)]
struct WrittenBackend {
    #[serde(flatten)]
    backend: SerializedBackend,
    #[serde(default)]
    hash: i64,
}

impl RecordFile {
    /// Returns the record file of the working directory.
    pub fn of(context: &Context) -> Self {
        Self { path: context.settings.data_directory.join("terraform.tfstate") }
    }

    /// Reads the record.
    ///
    /// # Errors
    /// The file cannot be read, or has an unknown format.
    pub fn read(&self) -> Result<Option<Record>, Diagnostics> {
        let bytes = match std::fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(problem) => return Err(self.unreadable(&io_reason(&problem))),
        };
        let written: Written =
            serde_json::from_slice(&bytes).map_err(|problem| self.unreadable(&json_reason(&problem)))?;
        if written.version != VERSION {
            return Err(self.unreadable(&format!("unsupported format version {}, expected {VERSION}", written.version)));
        }
        match (written.backend, written.state_store) {
            (Some(backend), _) => self.record(backend).map(Some),
            // Treated like any other backend that this program does not support.
            (None, Some(_)) => Ok(Some(Record::Foreign { kind: "state_store".to_owned() })),
            (None, None) => Ok(None),
        }
    }

    fn record(&self, written: WrittenBackend) -> Result<Record, Diagnostics> {
        let WrittenBackend { backend: SerializedBackend { kind, config }, hash } = written;
        // An unknown type is no error here: init -reconfigure may replace it.
        let Some(known) = BackendKind::find(&kind) else { return Ok(Record::Foreign { kind }) };
        let backend = BackendConfig::deserialize(known, &config).map_err(|problems| {
            self.unreadable(&problems.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        })?;
        Ok(Record::Known { backend, hash })
    }

    /// Records `backend`, which comes from `block` and from what completed it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, backend: &BackendConfig, block: &BackendConfig) -> Result<(), Diagnostics> {
        let (backend, hash) = backend.to_record(block);
        self.put(Some(WrittenBackend { backend, hash }))
    }

    /// Records that no backend is configured.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn clear(&self) -> Result<(), Diagnostics> {
        self.put(None)
    }

    fn put(&self, backend: Option<WrittenBackend>) -> Result<(), Diagnostics> {
        let terraform_version = TERRAFORM_VERSION.to_owned();
        let written = Written { version: VERSION, terraform_version, backend, state_store: None };
        let text = serde_json::to_vec_pretty(&written).map_err(|problem| self.unwritten(&json_reason(&problem)))?;
        let folder = self.path.parent().unwrap_or(Path::new(""));
        // The file is replaced atomically: a truncated record would block every command.
        let written = std::fs::create_dir_all(folder).and_then(|()| write_whole(&self.path, &text));
        written.map_err(|problem| self.unwritten(&io_reason(&problem)))
    }

    fn unreadable(&self, why: &str) -> Diagnostics {
        fail(
            "Failed to load the backend state file",
            format!(
                "{} records the location of the state, but cannot be read: {why}. Check that the backend block is correct, then run init \
                 -reconfigure to replace the record.",
                self.path.display()
            ),
        )
    }

    fn unwritten(&self, why: &str) -> Diagnostics {
        fail(
            "Failed to record the backend",
            format!("{} records the location of the state, but cannot be written: {why}.", self.path.display()),
        )
    }
}
