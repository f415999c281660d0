//! Journals as rows of a table next to that of the states.

use tokio_postgres::error::SqlState;

use super::connection::request_error;
use super::privileges::Action;
use super::tables::ensure_journal;
use super::{PostgresStore, is_missing};
use crate::error::StoreError;
use crate::store::{JournalStore, SegmentCreated, StoreFuture};

impl PostgresStore {
    fn journal_error(&self, problem: &tokio_postgres::Error) -> StoreError {
        request_error(problem, &self.target, &self.tables, Action::WriteJournal)
    }

    async fn list_segments(&self, workspace: &str) -> Result<Vec<String>, StoreError> {
        let mut session = self.session.lock().await;
        let session = self.connected(&mut session, workspace).await?;
        let Some(connection) = &session.connection else { return Ok(Vec::new()) };
        // Only the names: each segment is read by a statement of its own.
        let statement = format!("SELECT segment FROM {} WHERE name = $1", self.tables.journal);
        match connection.client.query(&statement, &[&workspace]).await {
            Ok(rows) => Ok(rows.iter().map(|row| row.get(0)).collect()),
            // No run has written a journal yet.
            Err(problem) if is_missing(&problem) => Ok(Vec::new()),
            Err(problem) => Err(self.journal_error(&problem)),
        }
    }

    async fn get_segment(&self, workspace: &str, segment: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let mut session = self.session.lock().await;
        let session = self.connected(&mut session, workspace).await?;
        let Some(connection) = &session.connection else { return Ok(None) };
        let statement = format!("SELECT data FROM {} WHERE name = $1 AND segment = $2", self.tables.journal);
        match connection.client.query_opt(&statement, &[&workspace, &segment]).await {
            Ok(row) => Ok(row.map(|row| row.get(0))),
            Err(problem) if is_missing(&problem) => Ok(None),
            Err(problem) => Err(self.journal_error(&problem)),
        }
    }

    async fn put_segment(&self, workspace: &str, segment: &str, bytes: &[u8]) -> Result<SegmentCreated, StoreError> {
        let mut session = self.session.lock().await;
        let session = self.connected(&mut session, workspace).await?;
        if let Some(problem) = &session.lock_failure {
            return Err(problem.clone());
        }
        let Some(connection) = &session.connection else { return Err(self.closed()) };
        let statement = format!(
            "INSERT INTO {} (name, segment, data) VALUES ($1, $2, $3) ON CONFLICT (name, segment) DO NOTHING",
            self.tables.journal
        );
        let mut inserted = connection.client.execute(&statement, &[&workspace, &segment, &bytes]).await;
        if inserted.as_ref().is_err_and(is_missing) {
            // The table is created by the first run that needs it, so that reading needs no right to create it.
            ensure_journal(&connection.client, &self.tables).await.map_err(|problem| self.journal_error(&problem))?;
            inserted = connection.client.execute(&statement, &[&workspace, &segment, &bytes]).await;
        }
        match inserted {
            Ok(0) => Ok(SegmentCreated::Exists),
            Ok(_) => Ok(SegmentCreated::Yes),
            // A server that is only read cannot keep a journal.
            Err(problem) if problem.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => {
                Err(StoreError::Unsupported { operation: "a journal".to_owned(), advice: String::new() })
            }
            Err(problem) => Err(self.journal_error(&problem)),
        }
    }

    async fn remove_segments(&self, workspace: &str, segments: &[String]) -> Result<(), StoreError> {
        let mut session = self.session.lock().await;
        let session = self.connected(&mut session, workspace).await?;
        let Some(connection) = &session.connection else { return Err(self.closed()) };
        let statement = format!("DELETE FROM {} WHERE name = $1 AND segment = ANY($2)", self.tables.journal);
        match connection.client.execute(&statement, &[&workspace, &segments]).await {
            Ok(_) => Ok(()),
            Err(problem) if is_missing(&problem) => Ok(()),
            Err(problem) => Err(self.journal_error(&problem)),
        }
    }
}

impl JournalStore for PostgresStore {
    fn segments<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Vec<String>> {
        Box::pin(async move { self.explained(Action::ReadJournal, self.list_segments(workspace).await).await })
    }

    fn read_segment<'a>(&'a self, workspace: &'a str, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        Box::pin(async move { self.explained(Action::ReadJournal, self.get_segment(workspace, name).await).await })
    }

    fn create_segment<'a>(
        &'a self,
        workspace: &'a str,
        name: &'a str,
        bytes: &'a [u8],
    ) -> StoreFuture<'a, SegmentCreated> {
        Box::pin(
            async move { self.explained(Action::WriteJournal, self.put_segment(workspace, name, bytes).await).await },
        )
    }

    fn delete_segments<'a>(&'a self, workspace: &'a str, names: &'a [String]) -> StoreFuture<'a, ()> {
        Box::pin(
            async move { self.explained(Action::WriteJournal, self.remove_segments(workspace, names).await).await },
        )
    }
}
