//! `kubernetes`: states in secrets, locked by leases.

mod api;
mod cluster;
mod exec;
mod journal;
mod kubeconfig;
mod lock;
mod parts;
mod schema;
mod sharing;
mod yaml;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::backend_type::BackendType;
use crate::error::StoreError;
use crate::host::Host;
use crate::lock_info::LockInfo;
use crate::schema::Settings;
use crate::store::{
    Expected, HeldLock, JournalStore, LeaseStore, SharingStore, Snapshot, StateStore, StoreFuture, Version, Write,
};
use api::{Api, Outcome, Resource};
use cluster::Cluster;

pub(crate) const TYPE: BackendType = BackendType { name: "kubernetes", schema: schema::schema, open };

/// Separates the resource versions of the parts of a state.
const SEPARATOR: char = ',';

/// States in the secrets of a namespace.
struct KubernetesStore {
    api: Api,
    suffix: String,
    labels: Vec<(String, String)>,
    /// The locks that were deleted with their workspaces.
    deleted: Mutex<BTreeSet<String>>,
}

fn open(settings: &Settings, host: &Host) -> Result<Arc<dyn StateStore>, StoreError> {
    let suffix = settings.required("secret_suffix");
    let is_numbered = suffix.rsplit_once('-').is_some_and(|(_, end)| end.bytes().all(|byte| byte.is_ascii_digit()));
    if is_numbered && !suffix.ends_with('-') {
        return Err(StoreError::InvalidArgument {
            argument: "secret_suffix".to_owned(),
            reason: format!(
                "{suffix:?} ends with a number, as the names of the parts of large states do; use another suffix"
            ),
        });
    }
    let namespace = settings.text("namespace").unwrap_or("default");
    Ok(Arc::new(KubernetesStore {
        api: Api::new(Cluster::new(settings, host)?, namespace, host)?,
        suffix: suffix.to_owned(),
        labels: settings.map("labels"),
        deleted: Mutex::default(),
    }))
}

/// The secrets of a state as they were read.
struct Stored {
    secrets: Vec<Json>,
    packed: Vec<u8>,
}

impl Stored {
    fn version(&self) -> Version {
        let versions =
            self.secrets.iter().map(|secret| secret["metadata"]["resourceVersion"].as_str().unwrap_or_default());
        Version(versions.collect::<Vec<_>>().join(&SEPARATOR.to_string()))
    }
}

impl KubernetesStore {
    fn secret(&self, workspace: &str) -> String {
        format!("tfstate-{workspace}-{}", self.suffix)
    }

    fn part(&self, workspace: &str, number: usize) -> String {
        match number {
            0 => self.secret(workspace),
            _ => format!("{}-part-{number}", self.secret(workspace)),
        }
    }

    /// Adds the labels by which Terraform and OpenTofu find the objects of a workspace.
    fn label(&self, object: &mut Json, workspace: &str) {
        let fixed = [
            ("tfstate", "true"),
            ("tfstateSecretSuffix", &self.suffix),
            ("tfstateWorkspace", workspace),
            ("app.kubernetes.io/managed-by", "terraform"),
        ];
        let chosen = self.labels.iter().map(|(name, value)| (&**name, &**value));
        for (name, value) in fixed.into_iter().chain(chosen) {
            object["metadata"]["labels"][name] = json!(value);
        }
    }

    async fn list(&self) -> Result<Vec<String>, StoreError> {
        let labels = [("tfstate", "true"), ("tfstateSecretSuffix", &*self.suffix)];
        let found = self.api.list(Resource::Secrets, &labels).await?;
        let names = found.iter().filter_map(|metadata| metadata["labels"]["tfstateWorkspace"].as_str());
        // Each part of a large state has the label.
        Ok(names.map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect())
    }

    /// Reads all secrets of a state. Parts that another program replaced in between do not fit together and are read again.
    async fn stored(&self, workspace: &str) -> Result<Option<(Stored, Vec<u8>)>, StoreError> {
        const ATTEMPTS: u32 = 4;
        const PAUSE: Duration = Duration::from_millis(300);
        for attempt in 1..=ATTEMPTS {
            let Some(stored) = self.secrets(workspace).await? else { return Ok(None) };
            match parts::unpack(&stored.packed, &self.location(workspace)) {
                Ok(bytes) => return Ok(Some((stored, bytes))),
                Err(problem) if attempt == ATTEMPTS => return Err(problem),
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
        Ok(None)
    }

    async fn secrets(&self, workspace: &str) -> Result<Option<Stored>, StoreError> {
        let mut stored = Stored { secrets: Vec::new(), packed: Vec::new() };
        loop {
            let name = self.part(workspace, stored.secrets.len());
            let Some(secret) = self.api.get(Resource::Secrets, &name).await? else {
                return Ok(Some(stored).filter(|stored| !stored.secrets.is_empty()));
            };
            let content = parts::content(&secret, &self.location(workspace))?;
            // Only a full part can be followed by another one.
            let is_last = !parts::is_full(&content);
            stored.packed.extend(content);
            stored.secrets.push(secret);
            if is_last {
                return Ok(Some(stored));
            }
        }
    }

    async fn fetch(&self, workspace: &str) -> Result<Option<Snapshot>, StoreError> {
        let found = self.stored(workspace).await?;
        Ok(found.map(|(stored, bytes)| Snapshot { version: stored.version(), bytes }))
    }

    async fn put(&self, workspace: &str, write: Write<'_>) -> Result<Version, StoreError> {
        let found = self.secrets(workspace).await?;
        let is_expected = match (&write.expected, &found) {
            (Expected::Any, _) | (Expected::Absent, None) => true,
            (Expected::Version(version), Some(found)) => *version == found.version(),
            (Expected::Absent, Some(_)) | (Expected::Version(_), None) => false,
        };
        if !is_expected {
            return self.refused(workspace, &write).await;
        }
        let found = found.map_or_else(Vec::new, |found| found.secrets);
        let mut versions = Vec::new();
        // The first secret decides: a writer that meets another one stops before it has changed anything.
        for (number, content) in parts::pack(write.bytes)?.into_iter().enumerate() {
            let mut secret = found.get(number).cloned().unwrap_or_else(|| {
                let metadata = json!({ "name": self.part(workspace, number), "namespace": self.api.namespace });
                json!({ "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata })
            });
            self.label(&mut secret, workspace);
            secret["metadata"]["annotations"]["encoding"] = json!("gzip");
            secret["data"] = json!({ "tfstate": content });
            let outcome = match found.get(number) {
                Some(_) => self.api.update(Resource::Secrets, &secret).await?,
                None => self.create_part(secret, number).await?,
            };
            let Outcome::Done(written) = outcome else { return self.refused(workspace, &write).await };
            versions.push(written["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned());
        }
        // What a larger former state has left: readers stop before it, so it is deleted last.
        for number in versions.len()..found.len() {
            self.api.delete(Resource::Secrets, &self.part(workspace, number)).await?;
        }
        Ok(Version(versions.join(&SEPARATOR.to_string())))
    }

    /// Creates the secret of a part. One that an interrupted run has left behind a smaller state is replaced.
    async fn create_part(&self, mut secret: Json, number: usize) -> Result<Outcome, StoreError> {
        let outcome = self.api.create(Resource::Secrets, &secret).await?;
        if number == 0 || matches!(outcome, Outcome::Done(_)) {
            return Ok(outcome);
        }
        let name = secret["metadata"]["name"].as_str().unwrap_or_default();
        let Some(left) = self.api.get(Resource::Secrets, name).await? else { return Ok(outcome) };
        secret["metadata"]["resourceVersion"] = left["metadata"]["resourceVersion"].clone();
        self.api.update(Resource::Secrets, &secret).await
    }

    /// Explains why a write was refused.
    async fn refused(&self, workspace: &str, write: &Write<'_>) -> Result<Version, StoreError> {
        let found = self.fetch(workspace).await?;
        match found {
            // The answer to an earlier attempt was lost: the state is this run's own.
            Some(found) if found.bytes == *write.bytes => Ok(found.version),
            found => Err(StoreError::Conflict {
                location: self.location(workspace),
                found: found.map(|found| found.version),
            }),
        }
    }

    async fn remove(&self, workspace: &str, lock: Option<&HeldLock>) -> Result<(), StoreError> {
        let labels = [("tfstate", "true"), ("tfstateSecretSuffix", &*self.suffix), ("tfstateWorkspace", workspace)];
        let found = self.api.list(Resource::Secrets, &labels).await?;
        for name in found.iter().filter_map(|metadata| metadata["name"].as_str()) {
            self.api.delete(Resource::Secrets, name).await?;
        }
        // The lease is deleted last, so that no run takes the workspace during the deletion.
        if let Some(held) = lock {
            self.api.delete(Resource::Leases, &self.lease(workspace)).await?;
            self.deleted.lock().unwrap_or_else(PoisonError::into_inner).insert(held.id.clone());
        }
        Ok(())
    }
}

impl StateStore for KubernetesStore {
    fn location(&self, workspace: &str) -> String {
        format!("the secret {} in the namespace {}", self.secret(workspace), self.api.namespace)
    }

    fn restore_advice(&self) -> &'static str {
        "Restore the secret from a backup of the cluster."
    }

    fn workspaces(&self) -> StoreFuture<'_, Vec<String>> {
        Box::pin(self.list())
    }

    fn read<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        Box::pin(self.fetch(workspace))
    }

    fn write<'a>(&'a self, workspace: &'a str, write: Write<'a>) -> StoreFuture<'a, Version> {
        Box::pin(self.put(workspace, write))
    }

    fn delete_workspace<'a>(&'a self, workspace: &'a str, lock: Option<&'a HeldLock>) -> StoreFuture<'a, ()> {
        Box::pin(self.remove(workspace, lock))
    }

    fn lock<'a>(&'a self, workspace: &'a str, info: &'a LockInfo) -> StoreFuture<'a, HeldLock> {
        Box::pin(self.take_lock(workspace, info))
    }

    fn unlock<'a>(&'a self, workspace: &'a str, id: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(self.release(workspace, id))
    }

    fn leases(&self) -> Option<&dyn LeaseStore> {
        Some(self)
    }

    fn journals(&self) -> Option<&dyn JournalStore> {
        Some(self)
    }

    fn sharing(&self) -> Option<&dyn SharingStore> {
        Some(self)
    }
}

impl LeaseStore for KubernetesStore {
    fn replace_lock<'a>(
        &'a self,
        workspace: &'a str,
        stored: &'a HeldLock,
        info: &'a LockInfo,
    ) -> StoreFuture<'a, HeldLock> {
        Box::pin(self.exchange_lock(workspace, stored, info))
    }
}
