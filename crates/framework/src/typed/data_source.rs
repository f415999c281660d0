//! Data sources in terms of models.

use std::future::Future;

use groma_provider::{Answer, ProviderDiagnostic, ProviderDiagnostics, SchemaProblem};
use groma_value::Value;

use crate::data_source::{DataSource, ReadDataRequest, ReadDataResponse};
use crate::model::{Field as _, Model};
use crate::{ResourceSchema, SchemaBuilder};

/// A data source whose configuration and result are one struct: what it finds out is computed, and null in what it gets.
pub trait ModelDataSource: Send + Sync + 'static {
    /// The configuration, and the result.
    type Model: Model + Send;

    /// The schema: that of the model, unless there is something to add.
    fn schema(&self) -> SchemaBuilder {
        Self::Model::schema()
    }

    /// Fills in what it finds out.
    fn read(&self, config: Self::Model) -> impl Future<Output = Result<Self::Model, ProviderDiagnostic>> + Send;

    /// Checks a configuration as a whole, after the validators of the attributes. It may hold unknown values.
    fn validate(&self, config: Value) -> impl Future<Output = ProviderDiagnostics> + Send {
        let _ = config;
        async { ProviderDiagnostics::new() }
    }
}

/// A [`ModelDataSource`] as a [`DataSource`].
pub struct Sourced<S> {
    source: S,
    schema: ResourceSchema,
}

impl<S: ModelDataSource> Sourced<S> {
    /// `source`, whose schema is checked.
    ///
    /// # Errors
    ///
    /// What is wrong with the schema, and where it disagrees with the model (FW-18, FW-20).
    pub fn new(source: S) -> Result<Self, Vec<SchemaProblem>> {
        let schema = source.schema().build()?;
        let problems = S::Model::mismatches(&schema);
        if problems.is_empty() { Ok(Self { source, schema }) } else { Err(problems) }
    }
}

impl<S: ModelDataSource> DataSource for Sourced<S> {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        Answer::later(self.source.validate(config))
    }

    fn read(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        Answer::later(async move {
            let result = match S::Model::of(&request.config) {
                Ok(config) => self.source.read(config).await,
                Err(problem) => Err(problem.into()),
            };
            match result {
                Ok(found) => ReadDataResponse::found(found.to_value()),
                Err(problem) => ReadDataResponse::failed(problem),
            }
        })
    }
}
