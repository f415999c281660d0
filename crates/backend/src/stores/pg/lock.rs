//! Advisory locks on the number of a workspace's row, as Terraform and OpenTofu take them.

use tokio_postgres::{Client, GenericClient};

use super::config::Target;
use super::connection::{Connection, request_error};
use super::privileges::Action;
use super::tables::Tables;
use crate::error::StoreError;
use crate::lock_info::LockInfo;
use crate::store::HeldLock;

/// The longest name of an application that PostgreSQL keeps.
const NAME_LENGTH: usize = 63;

/// The advisory locks that this session holds for one workspace.
pub(super) struct AdvisoryLock {
    /// The server's process of the session, as text.
    id: String,
    numbers: Vec<i64>,
    mode: LockMode,
}

/// The sessions that hold a lock at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockMode {
    /// This one only, as with Terraform and OpenTofu.
    Alone,
    /// The sessions of all shared runs.
    Shared,
}

/// The result of releasing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Released {
    All,
    /// The session did not hold the lock any more.
    NotHeld,
}

/// The failure of locking.
pub(super) enum LockError {
    Statement(tokio_postgres::Error),
    Store(StoreError),
}

impl From<tokio_postgres::Error> for LockError {
    fn from(problem: tokio_postgres::Error) -> Self {
        Self::Statement(problem)
    }
}

impl LockError {
    pub fn into_store_error(self, target: &Target, tables: &Tables, workspace: &str, action: Action) -> StoreError {
        match self {
            Self::Statement(problem) => request_error(&problem, target, tables, action),
            Self::Store(StoreError::Locked { holder: Some(holder), reason }) => {
                let path = format!("{}/{}/{workspace}", target.shown(), tables.schema);
                StoreError::Locked { holder: Some(Box::new(LockInfo { path, ..*holder })), reason }
            }
            Self::Store(StoreError::NotLocked { .. }) => StoreError::NotLocked { location: target.shown() },
            Self::Store(problem) => problem,
        }
    }
}

impl AdvisoryLock {
    /// Takes the lock of a workspace. Without a row yet, the locks for creating workspaces of Terraform and OpenTofu stand for it.
    pub async fn take(
        connection: &Connection,
        tables: &Tables,
        workspace: &str,
        info: &LockInfo,
    ) -> Result<(HeldLock, Self), LockError> {
        let client = &connection.client;
        let id = connection.backend.to_string();
        check_session(client, connection.backend).await?;
        let creation = tables.creation_locks();
        let numbers = match row(client, tables, workspace).await? {
            Some(number) => existing(client, number, &creation, workspace).await?,
            None => {
                let held = all(client, &creation, || already_locked_for_creation(workspace)).await?;
                // Another run may have created the row before these locks were taken.
                match row(client, tables, workspace).await? {
                    None => held,
                    Some(number) => {
                        let locked = try_lock(client, number).await?;
                        release_numbers(client, &held).await?;
                        if !locked {
                            return Err(held_by_other(client, number, already_locked(workspace)).await?);
                        }
                        vec![number]
                    }
                }
            }
        };
        name_session(client, info).await?;
        let held = HeldLock { id: id.clone(), info: LockInfo { id: id.clone(), ..info.clone() } };
        Ok((held, Self { id, numbers, mode: LockMode::Alone }))
    }

    /// Takes the lock of a workspace together with the sessions of other shared runs.
    pub async fn take_shared(
        connection: &Connection,
        tables: &Tables,
        workspace: &str,
        info: &LockInfo,
    ) -> Result<(HeldLock, Self), LockError> {
        let client = &connection.client;
        let id = connection.backend.to_string();
        check_session(client, connection.backend).await?;
        let not_locked = || LockError::Store(StoreError::NotLocked { location: workspace.to_owned() });
        let number = row(client, tables, workspace).await?.ok_or_else(not_locked)?;
        // A shared lock excludes the exclusive one of Terraform, OpenTofu and unshared runs.
        let statement = "SELECT pg_try_advisory_lock_shared($1)";
        if !client.query_one(statement, &[&number]).await?.get::<_, bool>(0) {
            return Err(held_by_other(client, number, already_locked(workspace)).await?);
        }
        name_session(client, info).await?;
        let held = HeldLock { id: id.clone(), info: LockInfo { id: id.clone(), ..info.clone() } };
        Ok((held, Self { id, numbers: vec![number], mode: LockMode::Shared }))
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the session still holds all its locks.
    pub async fn is_held(&self, client: &impl GenericClient) -> Result<bool, tokio_postgres::Error> {
        for number in &self.numbers {
            let statement = format!("SELECT count(*) FROM pg_locks WHERE {HELD} AND pid = pg_backend_pid()");
            if client.query_one(&statement, &[number]).await?.get::<_, i64>(0) == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Exchanges the locks for creation for that of the row that this session has created. Where another session just
    /// tries the new lock, the locks for creation stay, which keep it off as well.
    pub async fn add_row(&mut self, client: &Client, number: i64) -> Result<(), tokio_postgres::Error> {
        if self.mode == LockMode::Alone && !self.numbers.contains(&number) && try_lock(client, number).await? {
            release_numbers(client, &self.numbers).await?;
            self.numbers = vec![number];
        }
        Ok(())
    }

    pub async fn release(self, client: &Client) -> Result<Released, tokio_postgres::Error> {
        match self.mode {
            LockMode::Alone => release_numbers(client, &self.numbers).await,
            LockMode::Shared => release_each(client, &self.numbers, "SELECT pg_advisory_unlock_shared($1)").await,
        }
    }

    pub fn mode(&self) -> LockMode {
        self.mode
    }
}

/// Names the session, so that others see who holds the lock.
async fn name_session(client: &Client, info: &LockInfo) -> Result<(), tokio_postgres::Error> {
    let name: String = format!("{} {} {}", info.who, info.operation, info.id).chars().take(NAME_LENGTH).collect();
    client.query_one("SELECT set_config('application_name', $1, false)", &[&name]).await.map(drop)
}

/// Selects the advisory lock with the number `$1`.
const HELD: &str = "locktype = 'advisory' AND granted AND objsubid = 1 AND \
                    classid::bigint = (($1::bigint >> 32) & 4294967295) AND objid::bigint = ($1::bigint & 4294967295) AND \
                    database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/// Detects a pool that gives each statement another session, where locks protect nothing.
async fn check_session(client: &Client, backend: i32) -> Result<(), LockError> {
    let current: i32 = client.query_one("SELECT pg_backend_pid()", &[]).await?.get(0);
    if current == backend {
        return Ok(());
    }
    Err(LockError::Store(StoreError::Unsupported {
        operation: "locking over a connection pool in transaction mode".to_owned(),
        advice:
            "Advisory locks belong to a session of the server. Connect to PostgreSQL directly, or to a pool in session \
                 mode (pool_mode = session in PgBouncer)."
                .to_owned(),
    }))
}

async fn row(client: &Client, tables: &Tables, workspace: &str) -> Result<Option<i64>, tokio_postgres::Error> {
    let statement = format!("SELECT id FROM {} WHERE name = $1", tables.qualified);
    client.query_opt(&statement, &[&workspace]).await?.map(|row| row.try_get(0)).transpose()
}

/// Locks an existing row. A run that holds a lock for creation may be about to write it.
async fn existing(client: &Client, number: i64, creation: &[i64], workspace: &str) -> Result<Vec<i64>, LockError> {
    if !try_lock(client, number).await? {
        return Err(held_by_other(client, number, already_locked(workspace)).await?);
    }
    match all(client, creation, || already_locked_for_creation(workspace)).await {
        Ok(held) => {
            release_numbers(client, &held).await?;
            Ok(vec![number])
        }
        Err(problem) => {
            // A lock that is not returned to the caller must not outlive the attempt.
            release_numbers(client, &[number]).await?;
            Err(problem)
        }
    }
}

/// Takes all locks or none.
async fn all(client: &Client, numbers: &[i64], reason: impl Fn() -> String) -> Result<Vec<i64>, LockError> {
    let mut held = Vec::new();
    for number in numbers {
        if try_lock(client, *number).await? {
            held.push(*number);
            continue;
        }
        let problem = held_by_other(client, *number, reason()).await?;
        release_numbers(client, &held).await?;
        return Err(problem);
    }
    Ok(held)
}

fn already_locked(workspace: &str) -> String {
    format!("Workspace is already locked: {workspace}")
}

fn already_locked_for_creation(workspace: &str) -> String {
    format!("Cannot lock workspace; already locked for workspace creation: {workspace}")
}

async fn try_lock(client: &Client, number: i64) -> Result<bool, tokio_postgres::Error> {
    Ok(client.query_one("SELECT pg_try_advisory_lock($1)", &[&number]).await?.get(0))
}

async fn release_numbers(client: &Client, numbers: &[i64]) -> Result<Released, tokio_postgres::Error> {
    release_each(client, numbers, "SELECT pg_advisory_unlock($1)").await
}

async fn release_each(client: &Client, numbers: &[i64], statement: &str) -> Result<Released, tokio_postgres::Error> {
    let mut released = Released::All;
    for number in numbers {
        let was_held: bool = client.query_one(statement, &[number]).await?.get(0);
        if !was_held {
            released = Released::NotHeld;
        }
    }
    Ok(released)
}

/// Returns the conflict with the holder of a lock, as far as the server knows it: Terraform and OpenTofu store no info.
async fn held_by_other(client: &Client, number: i64, reason: String) -> Result<LockError, tokio_postgres::Error> {
    let holder = holder(client, number).await?.map(Box::new);
    Ok(LockError::Store(StoreError::Locked { holder, reason }))
}

async fn holder(client: &Client, number: i64) -> Result<Option<LockInfo>, tokio_postgres::Error> {
    let statement = format!(
        "SELECT l.pid, coalesce(a.usename::text, ''), coalesce(a.client_addr::text, 'local'), \
         coalesce(a.application_name, ''), \
         coalesce(to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'), '') \
         FROM (SELECT pid FROM pg_locks WHERE {HELD}) l LEFT JOIN pg_stat_activity a ON a.pid = l.pid LIMIT 1"
    );
    let Some(row) = client.query_opt(&statement, &[&number]).await? else { return Ok(None) };
    let [user, address, application, created]: [String; 4] = [row.get(1), row.get(2), row.get(3), row.get(4)];
    Ok(Some(LockInfo {
        id: row.get::<_, i32>(0).to_string(),
        who: format!("{user}@{address}"),
        info: application,
        created,
        ..LockInfo::default()
    }))
}

/// Ends the session that holds the lock, whose process the user names.
pub(super) async fn force(client: &Client, tables: &Tables, workspace: &str, id: &str) -> Result<(), LockError> {
    let mut numbers: Vec<i64> = row(client, tables, workspace).await?.into_iter().collect();
    // A run that creates the workspace holds the locks for creation instead of the row's.
    numbers.extend(tables.creation_locks());
    let mut found: Option<LockInfo> = None;
    for number in numbers {
        let Some(holder) = holder(client, number).await? else { continue };
        if holder.id != id {
            found = Some(holder);
            continue;
        }
        // The process is one of the server, which has just been found to hold the lock.
        let process: i32 = holder.id.parse().unwrap_or_default();
        client.query_one("SELECT pg_terminate_backend($1)", &[&process]).await?;
        return Ok(());
    }
    Err(LockError::Store(match found {
        Some(holder) => StoreError::LockIdMismatch { given: id.to_owned(), holder: Some(Box::new(holder)) },
        None => StoreError::NotLocked { location: workspace.to_owned() },
    }))
}
