//! The schema, the table and the index of states, as Terraform and OpenTofu create them.

use std::time::Duration;

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::config::Target;
use super::connection::request_error;
use super::privileges::Action;
use crate::error::StoreError;
use crate::schema::Settings;

/// The names of the table of states and what belongs to it.
pub(super) struct Tables {
    pub schema: String,
    pub table: String,
    index: String,
    /// The table with its schema, quoted.
    pub qualified: String,
    /// The table of journals with its schema, quoted.
    pub journal: String,
    /// The table of sharing documents with its schema, quoted.
    pub sharing: String,
    creation: Creation,
}

/// The objects that are created if they are missing.
#[derive(Clone, Copy)]
struct Creation {
    schema: bool,
    table: bool,
    index: bool,
}

/// The schema and the name of the sequence that numbers the rows of all tables of states.
pub(super) const SEQUENCE: (&str, &str) = ("public", "global_states_id_seq");

/// Concurrent creations of the same object fail, although it exists then.
const ATTEMPTS: u32 = 5;

impl Tables {
    pub fn new(settings: &Settings) -> Self {
        let [schema, table, index] =
            ["schema_name", "table_name", "index_name"].map(|name| settings.required(name).to_owned());
        let qualified = format!("{}.{}", quoted(&schema), quoted(&table));
        let journal = format!("{}.{}", quoted(&schema), quoted(&journal_name(&table)));
        let sharing = format!("{}.{}", quoted(&schema), quoted(&sharing_name(&table)));
        let creation = Creation {
            schema: !settings.flag("skip_schema_creation"),
            table: !settings.flag("skip_table_creation"),
            index: !settings.flag("skip_index_creation"),
        };
        Self { schema, table, index, qualified, journal, sharing, creation }
    }

    pub fn journal_name(&self) -> String {
        journal_name(&self.table)
    }

    pub fn sharing_name(&self) -> String {
        sharing_name(&self.table)
    }

    /// Returns the numbers of the locks that protect the creation of a workspace: Terraform's, and OpenTofu's, which
    /// depends on schema and table.
    pub fn creation_locks(&self) -> [i64; 2] {
        let name = [self.schema.as_bytes(), b"\0", self.table.as_bytes()].concat();
        [-1, -i64::from(fnv1(&name))]
    }

    /// Creates the missing schema, table and index, with the names and types that Terraform and OpenTofu expect.
    pub async fn create(&self, client: &Client, target: &Target) -> Result<(), StoreError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.create_once(client).await {
                Ok(()) => return Ok(()),
                Err(problem) if attempt < ATTEMPTS && is_race(&problem) => {
                    tokio::time::sleep(Duration::from_millis(50 * u64::from(attempt))).await;
                }
                Err(problem) => return Err(request_error(&problem, target, self, Action::Create)),
            }
        }
    }

    async fn create_once(&self, client: &Client) -> Result<(), tokio_postgres::Error> {
        if self.creates_schema(client).await? {
            client.batch_execute(&format!("CREATE SCHEMA IF NOT EXISTS {}", quoted(&self.schema))).await?;
        }
        if self.creation.table && !self.exists(client, &self.table).await? {
            if !self.has_sequence(client).await? {
                client.batch_execute("CREATE SEQUENCE IF NOT EXISTS public.global_states_id_seq AS bigint").await?;
            }
            let table = format!(
                "CREATE TABLE IF NOT EXISTS {} (id bigint NOT NULL DEFAULT nextval('public.global_states_id_seq') PRIMARY KEY, \
                 name text UNIQUE, data text)",
                self.qualified
            );
            client.batch_execute(&table).await?;
        }
        if self.creation.index && !self.exists(client, &self.index).await? {
            let index =
                format!("CREATE UNIQUE INDEX IF NOT EXISTS {} ON {} (name)", quoted(&self.index), self.qualified);
            client.batch_execute(&index).await?;
        }
        Ok(())
    }

    /// Whether the schema is missing and the backend creates it. `CREATE ... IF NOT EXISTS` needs the right to create objects even
    /// where they exist, so the catalogs are read first.
    pub async fn creates_schema(&self, client: &Client) -> Result<bool, tokio_postgres::Error> {
        let statement = "SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = $1";
        Ok(self.creation.schema && client.query_one(statement, &[&self.schema]).await?.get::<_, i64>(0) == 0)
    }

    /// Whether the sequence of all tables exists.
    pub async fn has_sequence(&self, client: &Client) -> Result<bool, tokio_postgres::Error> {
        exists(client, SEQUENCE.0, SEQUENCE.1).await
    }

    /// Whether the schema has a table or an index of this name.
    pub async fn exists(&self, client: &Client, name: &str) -> Result<bool, tokio_postgres::Error> {
        exists(client, &self.schema, name).await
    }
}

fn journal_name(table: &str) -> String {
    format!("{table}_groma_journal")
}

fn sharing_name(table: &str) -> String {
    format!("{table}_groma_sharing")
}

/// Whether a schema has a table, an index or a sequence of this name.
async fn exists(client: &Client, schema: &str, name: &str) -> Result<bool, tokio_postgres::Error> {
    let statement = "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                     WHERE n.nspname = $1 AND c.relname = $2";
    Ok(client.query_one(statement, &[&schema, &name]).await?.get::<_, i64>(0) > 0)
}

/// Creates the table of journals, which needs the right to create tables in the schema.
pub(super) async fn ensure_journal(client: &Client, tables: &Tables) -> Result<(), tokio_postgres::Error> {
    if tables.exists(client, &tables.journal_name()).await? {
        return Ok(());
    }
    let statement = format!(
        "CREATE TABLE IF NOT EXISTS {} (name text NOT NULL, segment text NOT NULL, data bytea NOT NULL, \
         PRIMARY KEY (name, segment))",
        tables.journal
    );
    match client.batch_execute(&statement).await {
        // Two runs of different workspaces create it at the same time.
        Err(problem) if is_race(&problem) => Ok(()),
        created => created,
    }
}

/// Creates the table of sharing documents, which needs the right to create tables in the schema.
pub(super) async fn ensure_sharing(client: &Client, tables: &Tables) -> Result<(), tokio_postgres::Error> {
    if tables.exists(client, &tables.sharing_name()).await? {
        return Ok(());
    }
    let statement =
        format!("CREATE TABLE IF NOT EXISTS {} (name text PRIMARY KEY, data bytea NOT NULL)", tables.sharing);
    match client.batch_execute(&statement).await {
        Err(problem) if is_race(&problem) => Ok(()),
        created => created,
    }
}

/// Whether another client has created the same object at the same time.
fn is_race(problem: &tokio_postgres::Error) -> bool {
    matches!(
        problem.code(),
        Some(
            &SqlState::UNIQUE_VIOLATION
                | &SqlState::DUPLICATE_SCHEMA
                | &SqlState::DUPLICATE_TABLE
                | &SqlState::DUPLICATE_OBJECT
                | &SqlState::INTERNAL_ERROR
        )
    )
}

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the 32-bit FNV-1 hash.
fn fnv1(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash: u32, byte| hash.wrapping_mul(0x0100_0193) ^ u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creation_locks_are_those_of_both_peers() {
        let name = b"terraform_remote_state\0states";
        assert_eq!(-i64::from(fnv1(name)), -3_797_183_428);
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
    }
}
