//! The connection to the database, and its failures in the store's terms.

use std::error::Error;

use tokio_postgres::error::SqlState;
use tokio_postgres::types::{WasNull, WrongType};
use tokio_postgres::{Client, NoTls};

use super::config::Target;
use super::privileges::Action;
use super::tables::{Tables, quoted};
use super::tls::{TlsMode, connector};
use crate::error::StoreError;

/// A connection, which a task drives.
pub(super) struct Connection {
    pub client: Client,
    /// The process of the server that serves the session. Another one answers where a pool is in between.
    pub backend: i32,
}

impl Connection {
    /// Connects to the server.
    pub async fn open(target: &Target) -> Result<Self, StoreError> {
        let failed = |problem: tokio_postgres::Error| connect_error(&problem, target);
        let client = if target.tls == TlsMode::Off {
            let (client, connection) = target.config.connect(NoTls).await.map_err(failed)?;
            // The client reports the errors of its connection, so this task can drop them.
            tokio::spawn(async move { drop(connection.await) });
            client
        } else {
            let (client, connection) = target.config.connect(connector(target)?).await.map_err(failed)?;
            tokio::spawn(async move { drop(connection.await) });
            client
        };
        // The process is kept, because another answer later shows that a pool is in between.
        let row = client.query_one("SELECT pg_backend_pid()", &[]).await.map_err(failed)?;
        Ok(Self { client, backend: row.get(0) })
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }
}

fn connect_error(problem: &tokio_postgres::Error, target: &Target) -> StoreError {
    let service = target.shown();
    let Some(database) = problem.as_db_error() else {
        return StoreError::Network { service, reason: reason(problem) };
    };
    let message = database.message().to_owned();
    match *database.code() {
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => StoreError::Unauthenticated {
            service,
            reason: message,
            advice: "Set user and password in conn_str or PG_CONN_STR, or PGUSER and PGPASSWORD.".to_owned(),
        },
        SqlState::INVALID_CATALOG_NAME => StoreError::NotFound {
            what: format!("The database of {service}"),
            advice: "Create it with CREATE DATABASE, or correct its name in conn_str.".to_owned(),
        },
        SqlState::INSUFFICIENT_PRIVILEGE => {
            let [database, role] =
                [target.config.get_dbname(), target.config.get_user()].map(Option::unwrap_or_default);
            let permission = format!("CONNECT ON DATABASE {}", quoted(database));
            let advice = format!("Let the owner of the database run: GRANT {permission} TO {};", quoted(role));
            StoreError::AccessDenied { resource: service, permission: Some(permission), reason: message, advice }
        }
        _ => StoreError::Network { service, reason: message },
    }
}

/// Returns the failure of a statement.
pub(super) fn request_error(
    problem: &tokio_postgres::Error,
    target: &Target,
    tables: &Tables,
    action: Action,
) -> StoreError {
    let Some(database) = problem.as_db_error() else {
        return match has_wrong_type(problem) {
            true => wrong_table(tables, reason(problem)),
            false => StoreError::Network { service: target.shown(), reason: reason(problem) },
        };
    };
    let message = database.message().to_owned();
    match *database.code() {
        SqlState::INSUFFICIENT_PRIVILEGE => StoreError::AccessDenied {
            resource: target.shown(),
            // The catalogs tell which one, after the failed statement.
            permission: None,
            reason: message,
            advice: String::new(),
        },
        SqlState::UNDEFINED_TABLE | SqlState::INVALID_SCHEMA_NAME => StoreError::NotFound {
            what: format!("The table {}", tables.qualified),
            advice: "Let the backend create it, or correct schema_name.".to_owned(),
        },
        SqlState::UNDEFINED_COLUMN
        | SqlState::UNDEFINED_FUNCTION
        | SqlState::DATATYPE_MISMATCH
        | SqlState::NOT_NULL_VIOLATION
        | SqlState::INVALID_COLUMN_REFERENCE => wrong_table(tables, message),
        SqlState::PROGRAM_LIMIT_EXCEEDED | SqlState::DISK_FULL => {
            StoreError::TooLarge { location: target.shown(), reason: message }
        }
        _ => StoreError::Service { service: target.shown(), action: action.phrase().to_owned(), reason: message },
    }
}

/// Whether a value does not have the type of its column, or a column has no value that a table of states always has.
fn has_wrong_type(problem: &tokio_postgres::Error) -> bool {
    let mut source = problem.source();
    while let Some(error) = source {
        if error.is::<WrongType>() || error.is::<WasNull>() {
            return true;
        }
        source = error.source();
    }
    false
}

/// The error of a table that is not one of states.
fn wrong_table(tables: &Tables, reason: String) -> StoreError {
    StoreError::InvalidData {
        location: format!("the table {}", tables.qualified),
        reason,
        advice: "Its columns must be id bigint, name text UNIQUE and data text. Let the backend create it in another schema \
                 (schema_name), or repair it."
            .to_owned(),
    }
}

/// Returns the innermost cause, which says most. The texts of the driver have no values of parameters.
fn reason(problem: &tokio_postgres::Error) -> String {
    let mut last: &dyn Error = problem;
    while let Some(source) = last.source() {
        last = source;
    }
    match last.downcast_ref::<std::io::Error>() {
        Some(io) => groma_diagnostics::io_reason(io),
        None => last.to_string(),
    }
}
