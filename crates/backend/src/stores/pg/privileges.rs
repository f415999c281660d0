//! The privileges that statements need, and those that the role of the connection lacks.

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error};

use super::tables::{SEQUENCE, Tables, quoted};
use crate::error::StoreError;

/// The purpose of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    ListWorkspaces,
    Read,
    Write,
    Delete,
    Lock,
    Unlock,
    Create,
    ReadJournal,
    WriteJournal,
    ReadSharing,
    WriteSharing,
}

impl Action {
    /// Returns the action as a verb phrase.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::ListWorkspaces => "list the workspaces",
            Self::Read => "read the state",
            Self::Write => "write the state",
            Self::Delete => "delete the workspace",
            Self::Lock => "lock the state",
            Self::Unlock => "unlock the state",
            Self::Create => "create the table of states",
            Self::ReadJournal => "read the journal",
            Self::WriteJournal => "write the journal",
            Self::ReadSharing => "read the sharing document",
            Self::WriteSharing => "write the sharing document",
        }
    }
}

/// An object of the database with a privilege on it.
struct Need {
    object: Object,
    privilege: &'static str,
}

enum Object {
    Database(String),
    Schema(String),
    Table(String, String),
    Sequence(String, String),
}

impl Object {
    /// Returns the object as `GRANT` names it.
    fn shown(&self) -> String {
        match self {
            Self::Database(name) => format!("DATABASE {}", quoted(name)),
            Self::Schema(name) => format!("SCHEMA {}", quoted(name)),
            Self::Table(schema, name) => format!("TABLE {}.{}", quoted(schema), quoted(name)),
            Self::Sequence(schema, name) => format!("SEQUENCE {}.{}", quoted(schema), quoted(name)),
        }
    }
}

impl Need {
    fn shown(&self) -> String {
        format!("{} ON {}", self.privilege, self.object.shown())
    }

    /// Whether the role lacks the privilege on an existing object. The catalogs are readable without any privilege.
    async fn is_lacking(&self, client: &Client) -> Result<bool, Error> {
        const RELATION: &str = "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                                WHERE n.nspname = $2 AND c.relname = $3";
        let privilege: &(dyn ToSql + Sync) = &self.privilege;
        let row = match &self.object {
            Object::Database(_) => {
                client.query_opt("SELECT has_database_privilege(current_database(), $1)", &[privilege]).await?
            }
            Object::Schema(name) => {
                let statement = "SELECT has_schema_privilege(oid, $1) FROM pg_catalog.pg_namespace WHERE nspname = $2";
                client.query_opt(statement, &[privilege, name]).await?
            }
            Object::Table(schema, name) => {
                let statement = format!("SELECT has_table_privilege(c.oid, $1) {RELATION}");
                client.query_opt(&statement, &[privilege, schema, name]).await?
            }
            Object::Sequence(schema, name) => {
                let statement = format!("SELECT has_sequence_privilege(c.oid, $1) {RELATION} AND c.relkind = 'S'");
                client.query_opt(&statement, &[privilege, schema, name]).await?
            }
        };
        Ok(row.is_some_and(|row| !row.get::<_, bool>(0)))
    }
}

impl Tables {
    /// Returns the error of a refused statement with the privileges that the role lacks, and the statements that grant them.
    pub async fn denied(&self, client: &Client, action: Action, resource: String, reason: String) -> StoreError {
        let lacking = self.lacking(client, action).await.unwrap_or_default();
        if action == Action::Unlock && lacking.needs.is_empty() {
            return StoreError::AccessDenied {
                resource,
                permission: Some("membership in the role pg_signal_backend".to_owned()),
                reason,
                advice: format!("Let an administrator run: GRANT pg_signal_backend TO {};", quoted(&lacking.role)),
            };
        }
        let shown: Vec<String> = lacking.needs.iter().map(Need::shown).collect();
        let grants: Vec<String> =
            shown.iter().map(|need| format!("GRANT {need} TO {};", quoted(&lacking.role))).collect();
        let advice = match grants.is_empty() {
            // Ownership and the policies of rows are no privileges that can be granted.
            true => format!(
                "Let the owner of {} check its index, its sequence and its row security policies.",
                self.qualified
            ),
            false => format!("Let the owner of the database run: {}", grants.join(" ")),
        };
        let permission = Some(shown.join(" and ")).filter(|shown| !shown.is_empty());
        StoreError::AccessDenied { resource, permission, reason, advice }
    }

    async fn lacking(&self, client: &Client, action: Action) -> Result<Lacking, Error> {
        let row = client.query_one("SELECT current_user::text, current_database()::text", &[]).await?;
        let mut lacking = Lacking { role: row.get(0), needs: Vec::new() };
        for need in self.needs(client, action, row.get(1)).await? {
            if need.is_lacking(client).await? {
                lacking.needs.push(need);
            }
        }
        Ok(lacking)
    }

    async fn needs(&self, client: &Client, action: Action, database: String) -> Result<Vec<Need>, Error> {
        let need = |object, privilege| Need { object, privilege };
        if matches!(action, Action::Lock | Action::Write | Action::Create) && self.creates_schema(client).await? {
            return Ok(vec![need(Object::Database(database), "CREATE")]);
        }
        let schema = || Object::Schema(self.schema.clone());
        let mut needs = vec![need(schema(), "USAGE")];
        let (name, privileges): (_, &[&'static str]) = match action {
            Action::ListWorkspaces | Action::Read | Action::Lock | Action::Unlock | Action::Create => {
                (self.table.clone(), &["SELECT"])
            }
            Action::Write => (self.table.clone(), &["SELECT", "INSERT", "UPDATE"]),
            Action::Delete => (self.table.clone(), &["SELECT", "DELETE"]),
            Action::ReadJournal => (self.journal_name(), &["SELECT"]),
            Action::WriteJournal => (self.journal_name(), &["SELECT", "INSERT", "DELETE"]),
            Action::ReadSharing => (self.sharing_name(), &["SELECT"]),
            Action::WriteSharing => (self.sharing_name(), &["SELECT", "INSERT", "UPDATE"]),
        };
        let creates =
            !matches!(action, Action::ReadJournal | Action::ReadSharing | Action::Read | Action::ListWorkspaces);
        if self.exists(client, &name).await? {
            let of_table = |privilege| need(Object::Table(self.schema.clone(), name.clone()), privilege);
            needs.extend(privileges.iter().copied().map(of_table));
        } else if creates {
            needs.push(need(schema(), "CREATE"));
        }
        if matches!(action, Action::Lock | Action::Write | Action::Create) {
            let (schema, name) = SEQUENCE;
            needs.push(match self.has_sequence(client).await? {
                true => need(Object::Sequence(schema.to_owned(), name.to_owned()), "USAGE"),
                false => need(Object::Schema(schema.to_owned()), "CREATE"),
            });
        }
        Ok(needs)
    }
}

/// The role of the connection, and the privileges that it lacks.
#[derive(Default)]
struct Lacking {
    role: String,
    needs: Vec<Need>,
}
