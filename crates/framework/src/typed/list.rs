//! List resources on models.

use std::future::Future;

use groma_provider::{
    Answer, ListControl, ListDetail, ListRequest, ListSink, Listed, ProviderDiagnostic, ProviderDiagnostics,
    SchemaProblem,
};
use groma_value::Value;

use crate::definition::ListResource;
use crate::model::{Field, Model};
use crate::stopping::{StopSignal, StopSignals};
use crate::{ResourceSchema, SchemaBuilder};

/// The context of a `list` call: its limits, and the receiver of its results.
pub struct ListContext {
    /// Whether the host wants running operations to end soon.
    pub stopping: StopSignal,
    detail: ListDetail,
    limit: u64,
    sink: ListSink,
    sent: u64,
    diagnostics: ProviderDiagnostics,
}

impl ListContext {
    fn new(request: &ListRequest, stopping: StopSignal) -> Self {
        Self {
            stopping,
            detail: request.detail,
            limit: request.limit,
            sink: request.found.clone(),
            sent: 0,
            diagnostics: ProviderDiagnostics::new(),
        }
    }

    /// Whether the host wants complete objects and not only their identities.
    pub fn wants_objects(&self) -> bool {
        self.detail == ListDetail::Objects
    }

    /// Returns the number of further objects to list; `None` without a limit. For services with pages.
    pub fn left(&self) -> Option<u64> {
        (self.limit > 0).then(|| self.limit.saturating_sub(self.sent))
    }

    /// Sends a found object: its display name, its identity (a struct, or a value), and the object itself if it is
    /// available. Returns whether the host wants more; objects sent after that are dropped.
    pub fn found<M: Model>(
        &mut self,
        name: impl Into<String>,
        identity: impl Field,
        object: Option<&M>,
    ) -> ListControl {
        // A host that asks for identities only must not get objects.
        let object = object.filter(|_| self.wants_objects()).map(M::to_value);
        self.report(Listed {
            identity: Some(identity.to_value()),
            display_name: name.into(),
            object,
            diagnostics: ProviderDiagnostics::new(),
        })
    }

    /// Reports an object that cannot be read; the list continues.
    pub fn not_readable(&mut self, name: impl Into<String>, problem: ProviderDiagnostic) -> ListControl {
        self.report(Listed { identity: None, display_name: name.into(), object: None, diagnostics: problem.into() })
    }

    /// Adds a warning for the user.
    pub fn warn(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.diagnostics.push(ProviderDiagnostic::warning(summary, detail));
    }

    fn report(&mut self, listed: Listed) -> ListControl {
        if self.left() == Some(0) {
            // An implementation may ignore the answer, but the host must not receive more than its limit.
            return ListControl::Stop;
        }
        self.sent += 1;
        let wanted = (self.sink)(listed);
        // Tells it with the last object, which saves a request for the next page.
        if self.left() == Some(0) { ListControl::Stop } else { wanted }
    }
}

/// A list resource whose configuration is a struct. The resource type of the
/// same name must have an identity.
///
/// ```
/// use groma_framework::{ListControl, Model, ModelListResource, ProviderDiagnostic, ListContext};
/// # #[derive(Model)]
/// # struct Pet { name: String }
/// # #[derive(Model)]
/// # struct PetIdentity { name: String }
///
/// /// What pets are searched by.
/// #[derive(Model)]
/// struct Wanted {
///     /// How their names begin.
///     prefix: Option<String>,
/// }
///
/// struct Pets(Vec<String>);
///
/// impl ModelListResource for Pets {
///     type Config = Wanted;
///
///     async fn list(&self, config: Wanted, context: &mut ListContext) -> Result<(), ProviderDiagnostic> {
///         let prefix = config.prefix.unwrap_or_default();
///         for name in self.0.iter().filter(|name| name.starts_with(&prefix)) {
///             let identity = PetIdentity { name: name.clone() };
///             let pet = Pet { name: name.clone() };
///             if context.found(name, identity, Some(&pet)) == ListControl::Stop {
///                 break;
///             }
///         }
///         Ok(())
///     }
/// }
/// ```
pub trait ModelListResource: Send + Sync + 'static {
    /// The model of the `list` configuration.
    type Config: Model + Send;

    /// Returns the schema of the `list` configuration: by default that of the model.
    fn schema(&self) -> SchemaBuilder {
        Self::Config::schema()
    }

    /// Checks the `list` configuration as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> impl Future<Output = ProviderDiagnostics> + Send {
        let _ = config;
        async { ProviderDiagnostics::new() }
    }

    /// Lists objects: each is passed to `context`, until that reports that the limit is reached.
    fn list(
        &self,
        config: Self::Config,
        context: &mut ListContext,
    ) -> impl Future<Output = Result<(), ProviderDiagnostic>> + Send;
}

/// A [`ModelListResource`] as a [`ListResource`].
pub struct ListResourceAdapter<L> {
    list: L,
    schema: ResourceSchema,
    stops: StopSignals,
}

impl<L: ModelListResource> ListResourceAdapter<L> {
    /// Wraps `list` after a check of its schema. `stops` signals its calls to end soon.
    ///
    /// # Errors
    ///
    /// Returns the problems of the schema, and its differences from the model (FW-18, FW-20).
    pub fn new(list: L, stops: StopSignals) -> Result<Self, Vec<SchemaProblem>> {
        let schema = list.schema().build()?;
        let problems = L::Config::mismatches(&schema);
        if problems.is_empty() { Ok(Self { list, schema, stops }) } else { Err(problems) }
    }
}

impl<L: ModelListResource> ListResource for ListResourceAdapter<L> {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        Answer::pending(self.list.validate(config))
    }

    fn list(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::pending(async move {
            let mut context = ListContext::new(&request, self.stops.for_call());
            let result = match L::Config::of(&request.config) {
                Ok(config) => self.list.list(config, &mut context).await,
                Err(problem) => Err(problem.into()),
            };
            let mut diagnostics = context.diagnostics;
            diagnostics.extend(result.err());
            diagnostics
        })
    }
}
