//! Sharing documents in secrets of their own. Runs hold the lease together.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::KubernetesStore;
use super::api::{Outcome, Resource};
use crate::error::StoreError;
use crate::store::{Expected, SharingStore, Snapshot, StateStore, StoreFuture, Version, Write};

/// The entry of the secret with the document.
const ENTRY: &str = "document";

fn version(secret: &Json) -> Version {
    Version(secret["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned())
}

impl KubernetesStore {
    /// The name of the secret. It has no labels, so Terraform and OpenTofu do not take it for a state.
    fn sharing_secret(&self, workspace: &str) -> String {
        format!("groma-sharing-{}", self.secret(workspace))
    }

    async fn get_sharing(&self, workspace: &str) -> Result<Option<Snapshot>, StoreError> {
        let Some(secret) = self.api.get(Resource::Secrets, &self.sharing_secret(workspace)).await? else {
            return Ok(None);
        };
        let encoded = secret["data"][ENTRY].as_str().unwrap_or_default();
        // A secret without the entry has a document that nobody can read, which is reported.
        let bytes = STANDARD.decode(encoded).unwrap_or_default();
        Ok(Some(Snapshot { bytes, version: version(&secret) }))
    }

    async fn put_sharing(&self, workspace: &str, write: Write<'_>) -> Result<Version, StoreError> {
        let name = self.sharing_secret(workspace);
        let metadata = json!({ "name": name, "namespace": self.api.namespace });
        let data = json!({ ENTRY: STANDARD.encode(write.bytes) });
        let mut secret =
            json!({ "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata, "data": data });
        let outcome = match &write.expected {
            Expected::Absent => self.api.create(Resource::Secrets, &secret).await?,
            Expected::Any => self.api.update(Resource::Secrets, &secret).await?,
            Expected::Version(Version(version)) => {
                secret["metadata"]["resourceVersion"] = json!(version);
                self.api.update(Resource::Secrets, &secret).await?
            }
        };
        match outcome {
            Outcome::Done(written) => Ok(version(&written)),
            _ => Err(StoreError::Conflict { location: self.location(workspace), found: None }),
        }
    }
}

impl SharingStore for KubernetesStore {
    fn read_sharing<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        Box::pin(self.get_sharing(workspace))
    }

    fn write_sharing<'a>(&'a self, workspace: &'a str, write: Write<'a>) -> StoreFuture<'a, Version> {
        Box::pin(self.put_sharing(workspace, write))
    }
}
