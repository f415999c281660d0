//! Sharing documents as rows of a table next to that of the states, and advisory locks that shared runs hold at once.

use super::connection::request_error;
use super::lock::{AdvisoryLock, LockMode};
use super::privileges::Action;
use super::tables::ensure_sharing;
use super::{PostgresStore, is_missing};
use crate::error::StoreError;
use crate::lock_info::LockInfo;
use crate::store::{
    Expected, HeldLock, Leaving, SharedLockStore, SharingStore, Snapshot, StateStore, StoreFuture, Version, Write,
};

impl PostgresStore {
    fn sharing_error(&self, problem: &tokio_postgres::Error) -> StoreError {
        request_error(problem, &self.target, &self.tables, Action::WriteSharing)
    }

    async fn get_sharing(&self, workspace: &str) -> Result<Option<Snapshot>, StoreError> {
        let mut session = self.session.lock().await;
        let session = self.connected(&mut session, workspace).await?;
        let Some(connection) = &session.connection else { return Ok(None) };
        let statement = format!("SELECT data, xmin::text FROM {} WHERE name = $1", self.tables.sharing);
        match connection.client.query_opt(&statement, &[&workspace]).await {
            Ok(row) => Ok(row.map(|row| Snapshot { bytes: row.get(0), version: Version(row.get(1)) })),
            // No state of this table was ever shared.
            Err(problem) if is_missing(&problem) => Ok(None),
            Err(problem) => Err(self.sharing_error(&problem)),
        }
    }

    async fn put_sharing(&self, workspace: &str, write: Write<'_>) -> Result<Version, StoreError> {
        let mut session = self.session.lock().await;
        let session = self.connected(&mut session, workspace).await?;
        let Some(connection) = &session.connection else { return Err(self.closed()) };
        let table = &self.tables.sharing;
        let (client, bytes) = (&connection.client, &write.bytes[..]);
        let written = match &write.expected {
            Expected::Version(Version(version)) => {
                let statement =
                    format!("UPDATE {table} SET data = $2 WHERE name = $1 AND xmin::text = $3 RETURNING xmin::text");
                client.query_opt(&statement, &[&workspace, &bytes, version]).await
            }
            Expected::Absent | Expected::Any => {
                ensure_sharing(client, &self.tables).await.map_err(|problem| self.sharing_error(&problem))?;
                let statement = format!(
                    "INSERT INTO {table} (name, data) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING xmin::text"
                );
                client.query_opt(&statement, &[&workspace, &bytes]).await
            }
        };
        let conflict = || StoreError::Conflict { location: self.shown(workspace), found: None };
        let row = written.map_err(|problem| self.sharing_error(&problem))?.ok_or_else(conflict)?;
        Ok(Version(row.get(0)))
    }

    async fn take_shared(&self, workspace: &str, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let mut session = self.session.lock().await;
        let session = self.connected(&mut session, workspace).await?;
        let Some(connection) = &session.connection else { return Err(self.closed()) };
        let failed = |problem| request_error(&problem, &self.target, &self.tables, Action::Lock);
        if let Some(lock) = session.lock.as_ref().filter(|lock| lock.mode() == LockMode::Shared)
            && lock.is_held(&connection.client).await.map_err(failed)?
        {
            let id = lock.id().to_owned();
            return Ok(HeldLock { id: id.clone(), info: LockInfo { id, ..info.clone() } });
        }
        let (held, lock) = AdvisoryLock::take_shared(connection, &self.tables, workspace, info)
            .await
            .map_err(|problem| problem.into_store_error(&self.target, &self.tables, workspace, Action::Lock))?;
        (session.lock, session.lock_failure) = (Some(lock), None);
        Ok(held)
    }
}

impl SharingStore for PostgresStore {
    fn read_sharing<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        Box::pin(async move { self.explained(Action::ReadSharing, self.get_sharing(workspace).await).await })
    }

    fn write_sharing<'a>(&'a self, workspace: &'a str, write: Write<'a>) -> StoreFuture<'a, Version> {
        Box::pin(async move { self.explained(Action::WriteSharing, self.put_sharing(workspace, write).await).await })
    }

    fn shared_locks(&self) -> Option<&dyn SharedLockStore> {
        Some(self)
    }
}

impl SharedLockStore for PostgresStore {
    fn lock_shared<'a>(&'a self, workspace: &'a str, info: &'a LockInfo) -> StoreFuture<'a, HeldLock> {
        Box::pin(async move { self.explained(Action::Lock, self.take_shared(workspace, info).await).await })
    }

    fn has_lock_of_session(&self) -> bool {
        true
    }

    fn unlock_shared<'a>(&'a self, workspace: &'a str, held: &'a HeldLock, _: Leaving) -> StoreFuture<'a, ()> {
        // Every session has a lock of its own.
        self.unlock(workspace, &held.id)
    }
}
