//! The secrets of journals. Terraform and OpenTofu do not see them, because they have no label `tfstate`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::KubernetesStore;
use super::api::{Outcome, Resource};
use crate::error::StoreError;
use crate::store::SegmentCreated;
use crate::stores::object_store::ObjectStore;

/// The label of all secrets of journals.
const LABEL: &str = "groma-journal";

/// The annotation with the name of the object, which names of secrets cannot express.
const NAME: &str = "groma-object";

/// Returns the name of the secret of an object: slashes are not allowed there.
fn secret(name: &str) -> String {
    name.replace('/', ".")
}

impl ObjectStore for KubernetesStore {
    fn state_object(&self, workspace: &str) -> String {
        self.secret(workspace)
    }

    async fn create_object(&self, _: &str, name: &str, bytes: &[u8]) -> Result<SegmentCreated, StoreError> {
        let secret = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "Opaque",
            "metadata": {
                "name": secret(name),
                "namespace": self.api.namespace,
                "labels": { LABEL: "true", "tfstateSecretSuffix": self.suffix },
                "annotations": { NAME: name },
            },
            "data": { "segment": STANDARD.encode(bytes) },
        });
        match self.api.create(Resource::Secrets, &secret).await? {
            Outcome::Done(_) => Ok(SegmentCreated::Yes),
            Outcome::Refused => Ok(SegmentCreated::Exists),
        }
    }

    async fn read_object(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(found) = self.api.get(Resource::Secrets, &secret(name)).await? else { return Ok(None) };
        let encoded = found["data"]["segment"].as_str().unwrap_or_default();
        let bytes = STANDARD.decode(encoded).map_err(|_| StoreError::InvalidData {
            location: format!("the secret {} in the namespace {}", secret(name), self.api.namespace),
            reason: "its data is not valid Base64".to_owned(),
            advice: String::new(),
        })?;
        Ok(Some(bytes))
    }

    async fn list_objects(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let labels = [(LABEL, "true"), ("tfstateSecretSuffix", &*self.suffix)];
        let found = self.api.list(Resource::Secrets, &labels).await?;
        // A label selector has no prefixes, so the names are compared here.
        let names = found.iter().filter_map(|metadata| metadata["annotations"][NAME].as_str());
        Ok(names.filter(|name| name.starts_with(prefix)).map(str::to_owned).collect())
    }

    async fn delete_object(&self, name: &str) -> Result<(), StoreError> {
        self.api.delete(Resource::Secrets, &secret(name)).await
    }

    fn largest_object(&self) -> usize {
        // The data of a secret has at most 1 MiB.
        768 << 10
    }
}
