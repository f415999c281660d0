//! `remote` and `cloud` blocks: states and locks of HCP Terraform and Terraform Enterprise. Runs are executed here, never by the
//! service.

mod api;
mod settings;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use groma_cloud::Secret;
use groma_cloud::api::url_encoded;
use reqwest::Url;
use tokio::sync::OnceCell;

use crate::backend_type::BackendType;
use crate::error::StoreError;
use crate::host::Host;
use crate::lock_info::LockInfo;
use crate::schema::Settings;
use crate::store::{
    DEFAULT_WORKSPACE, Expected, HeldLock, Snapshot, StateStore, StoreFuture, Version, WorkspaceSupport, Write,
};
use crate::stores::requests::{self, TlsArguments, TlsSettings};
use api::{Action, Api, Workspace};
use settings::Naming;

pub(crate) const TYPE: BackendType = BackendType { name: "remote", schema: settings::schema, open };

/// The backend of `cloud` blocks.
pub(crate) const CLOUD_TYPE: BackendType =
    BackendType { name: "cloud", schema: settings::cloud_schema, open: open_cloud };

/// States of an organization.
struct RemoteStore {
    api: Api,
    naming: Naming,
    /// Whether workspaces that execute runs remotely are used for their states all the same.
    remote_runs: RemoteRuns,
    /// The locks of this process, by their IDs.
    held: Mutex<BTreeMap<String, LockInfo>>,
}

/// The treatment of workspaces whose runs the service executes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RemoteRuns {
    Refused,
    /// The user has decided to run here: `TF_FORCE_LOCAL_BACKEND`.
    Ignored,
}

fn open(settings: &Settings, host: &Host) -> Result<Arc<dyn StateStore>, StoreError> {
    connect(settings, host, Naming::new(settings)?, None)
}

fn open_cloud(settings: &Settings, host: &Host) -> Result<Arc<dyn StateStore>, StoreError> {
    let given = settings.object("workspaces").and_then(|workspaces| workspaces.text("project")).map(str::to_owned);
    let project = given.or_else(|| host.environment.get("TF_CLOUD_PROJECT"));
    connect(settings, host, Naming::of_cloud(settings, host)?, project)
}

fn connect(
    settings: &Settings,
    host: &Host,
    naming: Naming,
    project: Option<String>,
) -> Result<Arc<dyn StateStore>, StoreError> {
    let hostname = settings.required("hostname").to_owned();
    // Servers of tests have no certificate.
    let is_local = hostname.starts_with("127.0.0.1:") || hostname.starts_with("localhost:");
    let scheme = if is_local { "http" } else { "https" };
    let base = Url::parse(&format!("{scheme}://{hostname}")).map_err(|problem| StoreError::InvalidArgument {
        argument: "hostname".to_owned(),
        reason: format!("{hostname:?} is not a host name: {problem}"),
    })?;
    let arguments = TlsArguments { authorities: "hostname", identity: "hostname" };
    let is_forced = host.environment.get("TF_FORCE_LOCAL_BACKEND").is_some();
    Ok(Arc::new(RemoteStore {
        api: Api {
            client: requests::client(host, &TlsSettings::default(), arguments)?,
            token: OnceCell::new_with(settings.text("token").map(|token| Some(Secret::new(token)))),
            tokens: host.tokens.clone(),
            hostname,
            base,
            organization: settings.required("organization").to_owned(),
            project,
            service: OnceCell::new(),
        },
        naming,
        remote_runs: if is_forced { RemoteRuns::Ignored } else { RemoteRuns::Refused },
        held: Mutex::default(),
    }))
}

impl RemoteStore {
    /// Returns the name of a workspace in the organization.
    fn name(&self, workspace: &str) -> Result<String, StoreError> {
        match &self.naming {
            Naming::Single(name) | Naming::Named(name) => Ok(name.clone()),
            Naming::Tagged(_) => Ok(workspace.to_owned()),
            Naming::Prefix(_) if workspace == DEFAULT_WORKSPACE => Err(StoreError::Unsupported {
                operation: "the workspace \"default\"".to_owned(),
                advice: "Workspaces with a prefix have no default one: use workspace select or workspace new."
                    .to_owned(),
            }),
            Naming::Prefix(prefix) => Ok(format!("{prefix}{workspace}")),
        }
    }

    /// Returns the ID that releases a lock by force.
    fn lock_id(&self, name: &str) -> String {
        format!("{}/{name}", self.api.organization)
    }

    async fn list(&self) -> Result<Vec<String>, StoreError> {
        match &self.naming {
            Naming::Single(name) => {
                let found = self.api.workspace(name).await?;
                Ok(found.map(|_| DEFAULT_WORKSPACE.to_owned()).into_iter().collect())
            }
            Naming::Named(name) => {
                let found = self.api.workspace(name).await?;
                Ok(found.map(|found| found.name).into_iter().collect())
            }
            Naming::Tagged(tags) => self.api.list(&tags.query()).await,
            Naming::Prefix(prefix) => {
                let names = self.api.list(&format!("search%5Bname%5D={}", url_encoded(prefix))).await?;
                // The search finds names that contain the prefix anywhere.
                let names = names.iter().filter_map(|name| name.strip_prefix(&**prefix));
                Ok(names.filter(|name| !name.is_empty()).map(str::to_owned).collect())
            }
        }
    }

    async fn fetch(&self, workspace: &str) -> Result<Option<Snapshot>, StoreError> {
        let Some(found) = self.api.workspace(&self.name(workspace)?).await? else { return Ok(None) };
        let Some(version) = self.api.current_version(&found.id).await? else { return Ok(None) };
        let bytes = self.api.download(&version).await?;
        Ok(Some(Snapshot { bytes, version: Version(version.id) }))
    }

    /// Returns a workspace that states may be written to, and creates it if it does not exist.
    async fn writable(&self, workspace: &str) -> Result<Workspace, StoreError> {
        let name = self.name(workspace)?;
        let found = match self.api.workspace(&name).await? {
            Some(found) => found,
            None => {
                let tags = match &self.naming {
                    Naming::Tagged(tags) => Some(tags),
                    _ => None,
                };
                self.api.create(&name, tags).await?
            }
        };
        if self.remote_runs == RemoteRuns::Refused && ["remote", "agent"].contains(&&*found.execution_mode) {
            return Err(StoreError::Unsupported {
                operation: format!(
                    "remote runs are, and the workspace {name:?} executes them ({:?}), so that changes from here are",
                    found.execution_mode
                ),
                advice: "Groma executes runs on this machine. Set the execution mode of the workspace to Local in its settings, or set \
                         TF_FORCE_LOCAL_BACKEND=1 to use its state all the same."
                    .to_owned(),
            });
        }
        Ok(found)
    }

    async fn put(&self, workspace: &str, write: Write<'_>) -> Result<Version, StoreError> {
        let found = self.writable(workspace).await?;
        let current = self.api.current_version(&found.id).await?.map(|version| Version(version.id));
        let is_expected = match &write.expected {
            Expected::Any => true,
            Expected::Absent => current.is_none(),
            Expected::Version(version) => current.as_ref() == Some(version),
        };
        // The service itself compares serial and lineage, and refuses writes without the lock.
        if is_expected && let Some(id) = self.api.upload(&found.id, write.bytes).await? {
            return Ok(Version(id));
        }
        match self.fetch(workspace).await? {
            // The answer to an earlier attempt was lost: the version is this run's own.
            Some(now) if now.bytes == *write.bytes => Ok(now.version),
            Some(now) if is_expected && Some(&now.version) == current.as_ref() => Err(StoreError::Service {
                service: self.api.hostname.clone(),
                action: "write the state".to_owned(),
                reason:
                    "it refuses the serial or the lineage of the state, or the workspace is not locked by this user"
                        .to_owned(),
            }),
            now => {
                let location = self.location(workspace);
                Err(StoreError::Conflict { location, found: now.map(|now| now.version) })
            }
        }
    }

    async fn take_lock(&self, workspace: &str, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let found = self.writable(workspace).await?;
        let reason = format!("{} by {} (Groma)", info.operation, info.who);
        if !self.api.act(&found.id, Action::Lock(&reason)).await? {
            return Err(self.locked(&found.name).await?);
        }
        let held = HeldLock { id: info.id.clone(), info: info.clone() };
        self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(held.id.clone(), held.info.clone());
        Ok(held)
    }

    /// Returns the error about the holder of a workspace's lock.
    async fn locked(&self, name: &str) -> Result<StoreError, StoreError> {
        let found = self.api.workspace(name).await?;
        let who = found.and_then(|found| found.locked_by).unwrap_or_else(|| "somebody else".to_owned());
        let path = self.lock_id(name);
        let reason = format!("the workspace is locked by {who}");
        let holder = LockInfo { id: path.clone(), path, who, ..LockInfo::default() };
        Ok(StoreError::Locked { holder: Some(Box::new(holder)), reason })
    }

    async fn release(&self, workspace: &str, id: &str) -> Result<(), StoreError> {
        let name = self.name(workspace)?;
        let is_own = self.held.lock().unwrap_or_else(PoisonError::into_inner).contains_key(id);
        let Some(found) = self.api.workspace(&name).await? else {
            // The lock has gone with the workspace.
            self.forget(id);
            return if is_own { Ok(()) } else { Err(StoreError::NotLocked { location: self.location(workspace) }) };
        };
        if !found.is_locked {
            self.forget(id);
            return Err(StoreError::NotLocked { location: self.location(workspace) });
        }
        if is_own {
            return self.release_own(workspace, &found, id).await;
        }
        if id != self.lock_id(&name) {
            let who = found.locked_by.unwrap_or_default();
            let holder = LockInfo { id: self.lock_id(&name), who, ..LockInfo::default() };
            return Err(StoreError::LockIdMismatch { given: id.to_owned(), holder: Some(Box::new(holder)) });
        }
        match self.api.act(&found.id, Action::ForceUnlock).await? {
            true => Ok(()),
            false => Err(StoreError::NotLocked { location: self.location(workspace) }),
        }
    }

    /// Releases the lock of this process. The service refuses that for a moment after an upload, while it processes the state.
    async fn release_own(&self, workspace: &str, found: &Workspace, id: &str) -> Result<(), StoreError> {
        const ATTEMPTS: u32 = 8;
        for attempt in 0..ATTEMPTS {
            if self.api.act(&found.id, Action::Unlock).await? {
                self.forget(id);
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(250) * 2_u32.pow(attempt.min(4))).await;
        }
        let location = self.location(workspace);
        Err(StoreError::LockLost { location, reason: "the service refuses to unlock the workspace".to_owned() })
    }

    fn forget(&self, id: &str) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}

impl StateStore for RemoteStore {
    fn location(&self, workspace: &str) -> String {
        let name = self.name(workspace).unwrap_or_else(|_| workspace.to_owned());
        format!("{}/{}/{name}", self.api.hostname, self.api.organization)
    }

    fn restore_advice(&self) -> &'static str {
        "Restore an earlier version of the state: open the states of the workspace in the web interface and roll back."
    }

    fn workspace_support(&self) -> WorkspaceSupport {
        match &self.naming {
            Naming::Single(_) => WorkspaceSupport::DefaultOnly,
            Naming::Named(name) => WorkspaceSupport::Only(name.clone()),
            Naming::Prefix(_) | Naming::Tagged(_) => WorkspaceSupport::ManyWithoutDefault,
        }
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

    fn delete_workspace<'a>(&'a self, workspace: &'a str, _: Option<&'a HeldLock>) -> StoreFuture<'a, ()> {
        Box::pin(async move { self.api.delete(&self.name(workspace)?).await })
    }

    fn lock<'a>(&'a self, workspace: &'a str, info: &'a LockInfo) -> StoreFuture<'a, HeldLock> {
        Box::pin(self.take_lock(workspace, info))
    }

    fn unlock<'a>(&'a self, workspace: &'a str, id: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(self.release(workspace, id))
    }
}
