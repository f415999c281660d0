//! The record of the backend that `init` got ready: `.terraform/terraform.tfstate`, in Terraform's format.
//!
//! Without it a changed path would look like a state that is not there yet, and everything would be made once more.

use std::path::{Path, PathBuf};

use groma_diagnostics::Diagnostics;
use groma_state::write_whole;
use serde::{Deserialize, Serialize};

use super::super::context::Context;
use super::super::outcome::fail;
use super::local::Local;
use crate::settings::TERRAFORM_VERSION;

/// The format of the file.
const VERSION: u32 = 3;

/// The backend that is in use.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Record {
    /// The local one, with its settings and the number of the block they were made from.
    Local { settings: Local, hash: i64 },
    /// Another one, which another program got ready.
    Foreign { kind: String },
}

impl Record {
    /// The type of the backend.
    pub fn kind(&self) -> &str {
        match self {
            Self::Local { .. } => "local",
            Self::Foreign { kind } => kind,
        }
    }
}

/// The file of the record.
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
    /// The member that newer versions of Terraform write instead of a backend.
    #[serde(default, skip_serializing)]
    state_store: Option<serde_json::Value>,
}

#[derive(Serialize, Deserialize)]
struct WrittenBackend {
    #[serde(rename = "type")]
    kind: String,
    config: serde_json::Value,
    #[serde(default)]
    hash: i64,
}

impl RecordFile {
    /// The file of this directory.
    pub fn of(context: &Context) -> Self {
        Self { path: context.settings.data_directory.join("terraform.tfstate") }
    }

    /// Reads the backend record.
    ///
    /// # Errors
    /// The file cannot be read, or is none that can be understood.
    pub fn read(&self) -> Result<Option<Record>, Diagnostics> {
        let bytes = match std::fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(problem) => return Err(self.unreadable(&problem.to_string())),
        };
        let written: Written =
            serde_json::from_slice(&bytes).map_err(|problem| self.unreadable(&problem.to_string()))?;
        if written.version != VERSION {
            return Err(self.unreadable(&format!("it has version {}, and {VERSION} is known", written.version)));
        }
        match (written.backend, written.state_store) {
            (Some(backend), _) => self.record(backend).map(Some),
            (None, Some(_)) => Ok(Some(Record::Foreign { kind: "state_store".to_owned() })),
            (None, None) => Ok(None),
        }
    }

    fn record(&self, backend: WrittenBackend) -> Result<Record, Diagnostics> {
        if backend.kind != "local" {
            return Ok(Record::Foreign { kind: backend.kind });
        }
        let settings =
            serde_json::from_value(backend.config).map_err(|problem| self.unreadable(&problem.to_string()))?;
        Ok(Record::Local { settings, hash: backend.hash })
    }

    /// Records that `local` is in use, made from a block with `hash`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, local: &Local, hash: i64) -> Result<(), Diagnostics> {
        let config = serde_json::to_value(local).map_err(|problem| self.unwritten(&problem.to_string()))?;
        self.put(Some(WrittenBackend { kind: "local".to_owned(), config, hash }))
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
        let text = serde_json::to_vec_pretty(&written).map_err(|problem| self.unwritten(&problem.to_string()))?;
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let written = std::fs::create_dir_all(folder).and_then(|()| write_whole(&self.path, &text));
        written.map_err(|problem| self.unwritten(&problem.to_string()))
    }

    fn unreadable(&self, why: &str) -> Diagnostics {
        fail(
            "Failed to load the backend state file",
            format!(
                "{} tells where the state of this directory is kept, and cannot be read: {why}. Once you know that the backend block \
                 says the right place, have it written anew: init -reconfigure.",
                self.path.display()
            ),
        )
    }

    fn unwritten(&self, why: &str) -> Diagnostics {
        fail(
            "Failed to record the backend",
            format!("{} is to tell where the state is kept, and cannot be written: {why}.", self.path.display()),
        )
    }
}
