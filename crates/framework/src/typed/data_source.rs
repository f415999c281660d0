//! Data sources on models.

use std::future::Future;

use groma_provider::{Answer, Deferred, ProviderDiagnostic, ProviderDiagnostics, SchemaProblem};
use groma_value::Value;

use crate::definition::{DataSource, ReadDataRequest, ReadDataResponse};
use crate::model::{Field as _, Model};
use crate::stopping::{StopSignal, StopSignals};
use crate::{Deferral, ResourceSchema, SchemaBuilder};

/// The context of reading a data source.
#[derive(Debug)]
pub struct ReadContext {
    /// Whether the host wants running operations to end soon.
    pub stopping: StopSignal,
    deferral: Option<Deferral>,
    diagnostics: ProviderDiagnostics,
}

impl ReadContext {
    /// Adds a warning for the user.
    pub fn warn(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.diagnostics.push(ProviderDiagnostic::warning(summary, detail));
    }

    /// Defers the read to a later run: return `Err(context.defer(reason, problem))`. A host with support for deferred
    /// changes receives the reason, any other the problem ([`Deferral`]).
    pub fn defer(&mut self, reason: Deferred, problem: impl Into<ProviderDiagnostic>) -> ProviderDiagnostic {
        Deferral::new(reason, problem).stored_in(&mut self.deferral)
    }
}

/// A data source whose configuration and result are one struct: the results are computed attributes, which are null in
/// the configuration.
pub trait ModelDataSource: Send + Sync + 'static {
    /// The model of both the configuration and the result.
    type Model: Model + Send;

    /// Returns the schema: by default that of the model.
    fn schema(&self) -> SchemaBuilder {
        Self::Model::schema()
    }

    /// Reads the data source, and returns the configuration with the results.
    fn read(
        &self,
        config: Self::Model,
        context: &mut ReadContext,
    ) -> impl Future<Output = Result<Self::Model, ProviderDiagnostic>> + Send;

    /// Checks a configuration as a whole, after the validators of the attributes. It may hold unknown values.
    fn validate(&self, config: Value) -> impl Future<Output = ProviderDiagnostics> + Send {
        let _ = config;
        async { ProviderDiagnostics::new() }
    }
}

/// A [`ModelDataSource`] as a [`DataSource`].
pub struct DataSourceAdapter<S> {
    source: S,
    schema: ResourceSchema,
    stops: StopSignals,
}

impl<S: ModelDataSource> DataSourceAdapter<S> {
    /// Wraps `source` after a check of its schema. `stops` signals its calls to end soon.
    ///
    /// # Errors
    ///
    /// Returns the problems of the schema, and its differences from the model (FW-18, FW-20).
    pub fn new(source: S, stops: StopSignals) -> Result<Self, Vec<SchemaProblem>> {
        let schema = source.schema().build()?;
        let problems = S::Model::mismatches(&schema);
        if problems.is_empty() { Ok(Self { source, schema, stops }) } else { Err(problems) }
    }
}

impl<S: ModelDataSource> DataSource for DataSourceAdapter<S> {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        Answer::pending(self.source.validate(config))
    }

    fn read(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        Answer::pending(async move {
            let diagnostics = ProviderDiagnostics::new();
            let mut context = ReadContext { stopping: self.stops.for_call(), deferral: None, diagnostics };
            let result = match S::Model::of(&request.config) {
                Ok(config) => self.source.read(config, &mut context).await,
                Err(problem) => Err(problem.into()),
            };
            let ReadContext { deferral, mut diagnostics, .. } = context;
            match result {
                Ok(found) => ReadDataResponse { diagnostics, ..ReadDataResponse::found(found.to_value()) },
                Err(problem) => {
                    // The problem of a deferral is reported by the server if the host cannot defer.
                    diagnostics.extend(deferral.is_none().then_some(problem));
                    ReadDataResponse { deferral, diagnostics, ..ReadDataResponse::found(Value::NULL) }
                }
            }
        })
    }
}
