//! Ephemeral resources on models.

use std::future::Future;
use std::time::SystemTime;

use groma_provider::{Answer, Deferred, ProviderDiagnostic, ProviderDiagnostics, SchemaProblem};
use groma_value::Value;

use crate::definition::{EphemeralResource, OpenResponse, RenewResponse};
use crate::model::{Field as _, Model};
use crate::stopping::{StopSignal, StopSignals};
use crate::{Deferral, PrivateData, ResourceSchema, SchemaBuilder};

/// The context of an open ephemeral resource.
#[derive(Debug)]
pub struct Lease {
    /// The data for renewing and closing it.
    pub private: PrivateData,
    /// The deadline for renewal; `None` unless [`ModelEphemeralResource::open`] or
    /// [`ModelEphemeralResource::renew`] sets it.
    pub renew_at: Option<SystemTime>,
    /// Whether the host wants running operations to end soon.
    pub stopping: StopSignal,
    deferral: Option<Deferral>,
    diagnostics: ProviderDiagnostics,
}

impl Lease {
    fn new(private: PrivateData, stopping: StopSignal) -> Self {
        Self { private, renew_at: None, stopping, deferral: None, diagnostics: ProviderDiagnostics::new() }
    }

    /// Adds a warning for the user.
    pub fn warn(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.diagnostics.push(ProviderDiagnostic::warning(summary, detail));
    }

    /// Defers opening to a later run: return `Err(lease.defer(reason, problem))`. A host with support for deferred
    /// changes receives the reason, any other the problem ([`Deferral`]).
    pub fn defer(&mut self, reason: Deferred, problem: impl Into<ProviderDiagnostic>) -> ProviderDiagnostic {
        Deferral::new(reason, problem).stored_in(&mut self.deferral)
    }
}

/// An ephemeral resource type whose configuration and result are one struct: the results are computed attributes, which
/// are null in the argument of [`ModelEphemeralResource::open`].
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use groma_framework::{Bundle, Lease, Maybe, Model, ModelEphemeralResource, ProviderDiagnostic};
///
/// /// A ticket for the door.
/// #[derive(Model)]
/// struct Ticket {
///     /// Who wants in.
///     guest: String,
///     /// What the door reads.
///     #[attribute(computed, sensitive)]
///     code: Maybe<String>,
/// }
///
/// struct Door;
///
/// impl ModelEphemeralResource for Door {
///     type Model = Ticket;
///
///     async fn open(&self, config: Ticket, lease: &mut Lease) -> Result<Ticket, ProviderDiagnostic> {
///         lease.private.set("guest", &config.guest);
///         lease.renew_at = Some(SystemTime::now() + Duration::from_secs(60));
///         Ok(Ticket { code: Maybe::Known(format!("open for {}", config.guest)), ..config })
///     }
///
///     async fn renew(&self, lease: &mut Lease) -> Result<(), ProviderDiagnostic> {
///         lease.renew_at = Some(SystemTime::now() + Duration::from_secs(60));
///         Ok(())
///     }
///
///     async fn close(&self, lease: &mut Lease) -> Result<(), ProviderDiagnostic> {
///         match lease.private.get("guest") {
///             Some(_) => Ok(()),
///             None => Err(ProviderDiagnostic::error("Nobody to let out", "The ticket has no guest.")),
///         }
///     }
/// }
///
/// assert!(Bundle::new().ephemeral_resource("house_ticket", Door).build().is_ok());
/// ```
pub trait ModelEphemeralResource: Send + Sync + 'static {
    /// The model of both the configuration and the result.
    type Model: Model + Send;

    /// Returns the schema: by default that of the model.
    fn schema(&self) -> SchemaBuilder {
        Self::Model::schema()
    }

    /// Checks a configuration as a whole, after the validators of the attributes. It may hold unknown values.
    fn validate(&self, config: Value) -> impl Future<Output = ProviderDiagnostics> + Send {
        let _ = config;
        async { ProviderDiagnostics::new() }
    }

    /// Opens the resource, and returns the configuration with the results. Configured values must not change.
    fn open(
        &self,
        config: Self::Model,
        lease: &mut Lease,
    ) -> impl Future<Output = Result<Self::Model, ProviderDiagnostic>> + Send;

    /// Renews the resource before its deadline, and sets the next one in `lease.renew_at`.
    fn renew(&self, lease: &mut Lease) -> impl Future<Output = Result<(), ProviderDiagnostic>> + Send {
        let _ = lease;
        async { Ok(()) }
    }

    /// Closes the ephemeral resource.
    fn close(&self, lease: &mut Lease) -> impl Future<Output = Result<(), ProviderDiagnostic>> + Send {
        let _ = lease;
        async { Ok(()) }
    }
}

/// A [`ModelEphemeralResource`] as an [`EphemeralResource`].
pub struct EphemeralResourceAdapter<R> {
    resource: R,
    schema: ResourceSchema,
    stops: StopSignals,
}

impl<R: ModelEphemeralResource> EphemeralResourceAdapter<R> {
    /// Wraps `resource` after a check of its schema. `stops` signals its calls to end soon.
    ///
    /// # Errors
    ///
    /// Returns the problems of the schema, and its differences from the model (FW-18, FW-20).
    pub fn new(resource: R, stops: StopSignals) -> Result<Self, Vec<SchemaProblem>> {
        let schema = resource.schema().build()?;
        let problems = R::Model::mismatches(&schema);
        if problems.is_empty() { Ok(Self { resource, schema, stops }) } else { Err(problems) }
    }
}

impl<R: ModelEphemeralResource> EphemeralResource for EphemeralResourceAdapter<R> {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        Answer::pending(self.resource.validate(config))
    }

    fn open(&self, config: Value) -> Answer<'_, OpenResponse> {
        Answer::pending(async move {
            let mut lease = Lease::new(PrivateData::new(), self.stops.for_call());
            let result = match R::Model::of(&config) {
                Ok(config) => self.resource.open(config, &mut lease).await,
                Err(problem) => Err(problem.into()),
            };
            // Warnings count even if the call failed.
            let Lease { private, renew_at, deferral, mut diagnostics, .. } = lease;
            match result {
                Ok(opened) => {
                    // A reason for deferral counts only with an error, so it is dropped here.
                    OpenResponse { renew_at, diagnostics, ..OpenResponse::opened(opened.to_value(), private) }
                }
                Err(problem) => {
                    // The reason contains the problem already, for hosts without deferred changes.
                    diagnostics.extend(deferral.is_none().then_some(problem));
                    OpenResponse { deferral, diagnostics, ..OpenResponse::opened(Value::NULL, PrivateData::new()) }
                }
            }
        })
    }

    fn renew(&self, private: PrivateData) -> Answer<'_, RenewResponse> {
        Answer::pending(async move {
            let mut lease = Lease::new(private, self.stops.for_call());
            let result = self.resource.renew(&mut lease).await;
            let Lease { private, renew_at, mut diagnostics, .. } = lease;
            diagnostics.extend(result.err());
            // Without a new `renew_at` this was the last renewal.
            RenewResponse { renew_at, private, diagnostics }
        })
    }

    fn close(&self, private: PrivateData) -> Answer<'_, ProviderDiagnostics> {
        Answer::pending(async move {
            let mut lease = Lease::new(private, self.stops.for_call());
            let result = self.resource.close(&mut lease).await;
            let mut diagnostics = lease.diagnostics;
            diagnostics.extend(result.err());
            diagnostics
        })
    }
}
