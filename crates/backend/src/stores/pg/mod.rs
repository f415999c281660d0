//! `pg`: states as rows of a PostgreSQL table, with advisory locks of the session.

mod config;
mod connection;
mod journal;
mod lock;
mod privileges;
mod sharing;
mod tables;
mod tls;

use std::sync::{Arc, LazyLock};

use groma_value::Type;
use tokio::sync::Mutex;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

use crate::backend_type::BackendType;
use crate::error::StoreError;
use crate::host::Host;
use crate::lock_info::LockInfo;
use crate::schema::{Argument, BackendSchema, Product, Settings};
use crate::store::{
    DEFAULT_WORKSPACE, Expected, HeldLock, JournalStore, SharingStore, Snapshot, StateStore, StoreFuture, Version,
    Write,
};
use config::Target;
use connection::{Connection, request_error};
use lock::AdvisoryLock;
use privileges::Action;
use tables::Tables;

pub(crate) const TYPE: BackendType = BackendType { name: "pg", schema, open };

fn schema() -> &'static BackendSchema {
    static SCHEMA: LazyLock<BackendSchema> = LazyLock::new(|| {
        let text = |name| Argument::optional(name, Type::String);
        let flag = |name| Argument::optional(name, Type::Bool);
        BackendSchema::new([
            text("conn_str").env(&["PG_CONN_STR"]).sensitive(),
            text("schema_name").env(&["PG_SCHEMA_NAME"]).default("terraform_remote_state"),
            flag("skip_schema_creation").env(&["PG_SKIP_SCHEMA_CREATION"]),
            flag("skip_table_creation").env(&["PG_SKIP_TABLE_CREATION"]),
            flag("skip_index_creation").env(&["PG_SKIP_INDEX_CREATION"]),
            text("table_name").env(&["PG_TABLE_NAME"]).default("states").only(Product::OpenTofu),
            text("index_name").env(&["PG_INDEX_NAME"]).default("states_by_name").only(Product::OpenTofu),
        ])
    });
    &SCHEMA
}

/// States in a table of one database.
///
/// All statements go over one connection, because advisory locks belong to the session: Terraform and OpenTofu use a pool, and hope
/// that locking and unlocking get the same connection.
struct PostgresStore {
    target: Target,
    tables: Tables,
    session: Mutex<Session>,
}

/// The connection, with the locks and tables that were created over it.
#[derive(Default)]
struct Session {
    connection: Option<Connection>,
    /// Whether schema, table and index exist for certain.
    is_prepared: bool,
    lock: Option<AdvisoryLock>,
    /// The error about a lock that ended with its connection. No journal is written without it.
    lock_failure: Option<StoreError>,
}

fn open(settings: &Settings, host: &Host) -> Result<Arc<dyn StateStore>, StoreError> {
    Ok(Arc::new(PostgresStore {
        target: Target::new(settings, host)?,
        tables: Tables::new(settings),
        session: Mutex::default(),
    }))
}

impl PostgresStore {
    fn shown(&self, workspace: &str) -> String {
        format!("{} (schema {:?}, workspace {workspace:?})", self.target.shown(), self.tables.schema)
    }

    /// Returns the connection; opens one if there is none, or if the last one broke while no lock was held.
    async fn connected<'s>(&self, session: &'s mut Session, workspace: &str) -> Result<&'s mut Session, StoreError> {
        let is_broken = session.connection.as_ref().is_some_and(Connection::is_closed);
        // A new connection would have no lock, so the run must not continue over one.
        if is_broken && session.lock.take().is_some() {
            session.connection = None;
            let failure = StoreError::LockLost {
                location: self.shown(workspace),
                reason: "the connection to the database broke, and the lock ended with it".to_owned(),
            };
            session.lock_failure = Some(failure.clone());
            return Err(failure);
        }
        if is_broken {
            session.connection = None;
        }
        if session.connection.is_none() {
            session.connection = Some(Connection::open(&self.target).await?);
        }
        Ok(session)
    }

    async fn names(&self) -> Result<Vec<String>, StoreError> {
        let mut session = self.session.lock().await;
        let session = self.connected(&mut session, DEFAULT_WORKSPACE).await?;
        let Some(connection) = &session.connection else { return Ok(Vec::new()) };
        let statement = format!("SELECT name FROM {} ORDER BY name", self.tables.qualified);
        let found = connection.client.query(&statement, &[]).await;
        // The column may have another type than the backend gives it.
        let names = |rows: Vec<Row>| rows.iter().map(|row| row.try_get::<_, Option<String>>(0)).collect();
        match found.and_then(names) {
            Ok(names) => Ok(Vec::into_iter(names).flatten().collect()),
            // Nobody has stored a state yet.
            Err(problem) if is_missing(&problem) => Ok(Vec::new()),
            Err(problem) => Err(request_error(&problem, &self.target, &self.tables, Action::ListWorkspaces)),
        }
    }

    async fn fetch(&self, workspace: &str) -> Result<Option<Snapshot>, StoreError> {
        let mut session = self.session.lock().await;
        let session = self.connected(&mut session, workspace).await?;
        let Some(connection) = &session.connection else { return Ok(None) };
        // xmin changes with each write of the row, also by Terraform and OpenTofu.
        let statement = format!("SELECT data, xmin::text FROM {} WHERE name = $1", self.tables.qualified);
        let found = connection.client.query_opt(&statement, &[&workspace]).await;
        let snapshot = |row: Row| {
            let bytes = row.try_get::<_, Option<String>>(0)?.unwrap_or_default().into_bytes();
            Ok(Snapshot { bytes, version: Version(row.try_get(1)?) })
        };
        match found.and_then(|row| row.map(snapshot).transpose()) {
            // Neither Groma nor its peers store an empty text: only a missing row means that there is no state.
            Ok(Some(snapshot)) if snapshot.bytes.is_empty() => Err(self.empty_row(workspace)),
            Ok(snapshot) => Ok(snapshot),
            Err(problem) if is_missing(&problem) => Ok(None),
            Err(problem) => Err(request_error(&problem, &self.target, &self.tables, Action::Read)),
        }
    }

    async fn put(&self, workspace: &str, write: Write<'_>) -> Result<Version, StoreError> {
        let mut session = self.session.lock().await;
        let session = self.prepared(&mut session, workspace).await?;
        let failed = |problem| request_error(&problem, &self.target, &self.tables, Action::Write);
        let text = std::str::from_utf8(write.bytes).map_err(|_| StoreError::InvalidData {
            location: self.shown(workspace),
            reason: "the state is not valid UTF-8".to_owned(),
            advice: String::new(),
        })?;
        let Session { connection: Some(connection), lock, .. } = session else { return Err(self.closed()) };
        // The lock is checked in the transaction of the write: a write without it is rolled back.
        let transaction = connection.client.transaction().await.map_err(failed)?;
        if write.lock.is_some() {
            let is_held = match lock {
                Some(lock) => lock.is_held(&transaction).await.map_err(failed)?,
                None => false,
            };
            if !is_held {
                return Err(StoreError::LockLost {
                    location: self.shown(workspace),
                    reason:
                        "the session does not hold its advisory lock any more. A connection pool in transaction mode, \
                             such as PgBouncer's, breaks session locks; connect to the server directly"
                            .to_owned(),
                });
            }
        }
        let table = &self.tables.qualified;
        let row = match &write.expected {
            Expected::Any => {
                let statement = format!(
                    "INSERT INTO {table} (name, data) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET data = $2 \
                     RETURNING xmin::text, id"
                );
                transaction.query_opt(&statement, &[&workspace, &text]).await
            }
            Expected::Absent => {
                let statement = format!(
                    "INSERT INTO {table} (name, data) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING xmin::text, id"
                );
                transaction.query_opt(&statement, &[&workspace, &text]).await
            }
            Expected::Version(Version(version)) => {
                let statement = format!(
                    "UPDATE {table} SET data = $2 WHERE name = $1 AND xmin::text = $3 RETURNING xmin::text, id"
                );
                transaction.query_opt(&statement, &[&workspace, &text, version]).await
            }
        };
        let row = row.map_err(failed)?;
        let Some(row) = row else {
            return Err(StoreError::Conflict { location: self.shown(workspace), found: None });
        };
        let (version, id) = (row.try_get(0).map_err(failed)?, row.try_get(1).map_err(failed)?);
        transaction.commit().await.map_err(failed)?;
        if let Some(lock) = lock {
            // A new row has its own lock, which other runs try from now on.
            lock.add_row(&connection.client, id).await.map_err(failed)?;
        }
        Ok(Version(version))
    }

    fn empty_row(&self, workspace: &str) -> StoreError {
        StoreError::InvalidData {
            location: self.shown(workspace),
            reason: format!(
                "the column data of the row of this workspace in the table {} is empty",
                self.tables.qualified
            ),
            advice: format!("{} If the state was emptied on purpose, delete the row.", self.restore_advice()),
        }
    }

    /// Completes the error of a refused statement with the privileges that the role lacks.
    async fn explained<T>(&self, action: Action, result: Result<T, StoreError>) -> Result<T, StoreError> {
        match result {
            Err(StoreError::AccessDenied { permission: None, resource, reason, .. }) => {
                let session = self.session.lock().await;
                let Some(connection) = &session.connection else { return Err(self.closed()) };
                Err(self.tables.denied(&connection.client, action, resource, reason).await)
            }
            result => result,
        }
    }

    fn closed(&self) -> StoreError {
        StoreError::Network { service: self.target.shown(), reason: "the connection is closed".to_owned() }
    }

    /// Returns a session whose schema, table and index exist.
    async fn prepared<'s>(&self, session: &'s mut Session, workspace: &str) -> Result<&'s mut Session, StoreError> {
        let session = self.connected(session, workspace).await?;
        if !session.is_prepared
            && let Some(connection) = &session.connection
        {
            self.tables.create(&connection.client, &self.target).await?;
            session.is_prepared = true;
        }
        Ok(session)
    }

    async fn remove(&self, workspace: &str) -> Result<(), StoreError> {
        let mut session = self.session.lock().await;
        let session = self.connected(&mut session, workspace).await?;
        let Some(connection) = &session.connection else { return Ok(()) };
        let statement = format!("DELETE FROM {} WHERE name = $1", self.tables.qualified);
        match connection.client.execute(&statement, &[&workspace]).await {
            Ok(_) => Ok(()),
            Err(problem) if is_missing(&problem) => Ok(()),
            Err(problem) => Err(request_error(&problem, &self.target, &self.tables, Action::Delete)),
        }
    }

    async fn take_lock(&self, workspace: &str, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let mut session = self.session.lock().await;
        if session.lock.is_some() {
            return Err(StoreError::Locked { holder: None, reason: "This run already holds a lock".to_owned() });
        }
        let session = self.prepared(&mut session, workspace).await?;
        let Some(connection) = &session.connection else { return Err(self.closed()) };
        let (held, lock) = AdvisoryLock::take(connection, &self.tables, workspace, info)
            .await
            .map_err(|problem| problem.into_store_error(&self.target, &self.tables, workspace, Action::Lock))?;
        (session.lock, session.lock_failure) = (Some(lock), None);
        Ok(HeldLock { info: LockInfo { path: self.shown(workspace), ..held.info }, id: held.id })
    }

    async fn release(&self, workspace: &str, id: &str) -> Result<(), StoreError> {
        let mut session = self.session.lock().await;
        let is_own = session.lock.as_ref().is_some_and(|lock| lock.id() == id);
        let session = self.connected(&mut session, workspace).await?;
        let Some(connection) = &session.connection else { return Err(self.closed()) };
        let failed = |problem| request_error(&problem, &self.target, &self.tables, Action::Unlock);
        if let Some(lock) = session.lock.take_if(|_| is_own) {
            return match lock.release(&connection.client).await.map_err(failed)? {
                lock::Released::All => Ok(()),
                lock::Released::NotHeld => Err(StoreError::NotLocked { location: self.shown(workspace) }),
            };
        }
        lock::force(&connection.client, &self.tables, workspace, id)
            .await
            .map_err(|problem| problem.into_store_error(&self.target, &self.tables, workspace, Action::Unlock))
    }
}

/// Whether the table or its schema does not exist.
fn is_missing(problem: &tokio_postgres::Error) -> bool {
    matches!(problem.code(), Some(&SqlState::UNDEFINED_TABLE | &SqlState::INVALID_SCHEMA_NAME))
}

impl StateStore for PostgresStore {
    fn location(&self, workspace: &str) -> String {
        self.shown(workspace)
    }

    fn restore_advice(&self) -> &'static str {
        "Restore the row from a backup of the database."
    }

    fn workspaces(&self) -> StoreFuture<'_, Vec<String>> {
        Box::pin(async move { self.explained(Action::ListWorkspaces, self.names().await).await })
    }

    fn read<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        Box::pin(async move { self.explained(Action::Read, self.fetch(workspace).await).await })
    }

    fn write<'a>(&'a self, workspace: &'a str, write: Write<'a>) -> StoreFuture<'a, Version> {
        Box::pin(async move { self.explained(Action::Write, self.put(workspace, write).await).await })
    }

    fn delete_workspace<'a>(&'a self, workspace: &'a str, _: Option<&'a HeldLock>) -> StoreFuture<'a, ()> {
        Box::pin(async move { self.explained(Action::Delete, self.remove(workspace).await).await })
    }

    fn lock<'a>(&'a self, workspace: &'a str, info: &'a LockInfo) -> StoreFuture<'a, HeldLock> {
        Box::pin(async move { self.explained(Action::Lock, self.take_lock(workspace, info).await).await })
    }

    fn unlock<'a>(&'a self, workspace: &'a str, id: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(async move { self.explained(Action::Unlock, self.release(workspace, id).await).await })
    }

    fn journals(&self) -> Option<&dyn JournalStore> {
        Some(self)
    }

    fn sharing(&self) -> Option<&dyn SharingStore> {
        Some(self)
    }
}
