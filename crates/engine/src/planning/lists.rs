//! `list` blocks: runs their searches while planning the resources that they refer to (`query`).

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_config::Resource;
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_provider::{BodyDecoder, Checked, Found, ListDetail, ListInput, Schema, Subject};
use groma_value::Value;

use super::event::{Event, Instance};
use super::inputs::Inputs;
use super::instances;
use super::managed;
use super::planner::Planner;
use crate::evaluation::{Evaluation, ListArguments, unknown_list_argument};
use crate::generate;
use crate::hooks::{FoundObject, Searched, WrittenBlocks};
use crate::options::FoundObjects;
use crate::templates::Template;
use crate::walk::Outcome;
use crate::world::{InstanceScope, World};

pub(super) async fn start_list(
    planner: &mut Planner<'_>,
    instance: Instance,
    address: ResourceInstance,
    template: Arc<Template>,
) {
    let Some(provider) = managed::configured(planner, &template, instance) else { return };
    let Some(search) =
        search(&planner.inputs, &planner.world, &mut planner.evaluation, instance, address, &template, provider)
    else {
        return instances::end_instance(planner, instance, Outcome::Failed);
    };
    let shown = shown_config(&planner.world, instance, &search.input.config);
    let hooks = Arc::clone(&planner.inputs.session().hooks);
    let call = async move {
        hooks.list_start(&search.address, shown.as_ref());
        Event::List(instance, Box::new(search.run().await))
    };
    planner.start_call(call).await;
}

/// Returns the search configuration to show; `None` if the block has none.
fn shown_config(world: &World, instance: Instance, config: &Value) -> Option<Value> {
    let module = &world.static_module(instance.module).config;
    let (_, resource) = module.resources.get_index(instance.resource as usize)?;
    let is_written = resource.body.span() != resource.header_span;
    is_written.then(|| config.clone())
}

fn search(
    inputs: &Inputs<'_>,
    world: &World,
    evaluation: &mut Evaluation,
    instance: Instance,
    address: ResourceInstance,
    template: &Template,
    provider: Arc<Checked>,
) -> Option<ListCall> {
    let module = Arc::clone(&world.static_module(instance.module).config);
    let (_, resource) = module.resources.get_index(instance.resource as usize)?;
    let search = resource.search.as_ref()?;
    let repetition = managed::repetition(world, instance);
    let functions = Arc::clone(&evaluation.functions);
    let scope = InstanceScope::new(world, instance.module, &functions).repeated(&repetition);
    let config = evaluation.instance(&template.body, &address, &scope)?;
    let arguments = ListArguments::evaluate(search, &scope, evaluation)?;
    if !config.is_wholly_known() {
        let problem = not_known(&address, template, &config, resource.header_span);
        evaluation.diagnostics.push(problem);
        return None;
    }
    let Some(detail) = arguments.detail else {
        let problem = unknown_list_argument("include_resource", search.include_resource.as_ref(), &scope);
        evaluation.diagnostics.push(problem);
        return None;
    };
    let Some(limit) = arguments.limit else {
        evaluation.diagnostics.push(unknown_list_argument("limit", search.limit.as_ref(), &scope));
        return None;
    };
    let found = match searched_schema(&provider, &address, resource) {
        Ok(schema) => schema,
        Err(problems) => {
            evaluation.diagnostics.append(problems);
            return None;
        }
    };
    let is_repeated = resource.is_repeated();
    let writing = (inputs.options().found == FoundObjects::Generated).then(|| Writing {
        provider: resource
            .provider
            .as_ref()
            .map(|reference| format!("{}{}", reference.provider, template.provider.key)),
        name: match is_repeated {
            true => format!("{}_{}", address.resource.name, instance.position),
            false => address.resource.name.to_string(),
        },
    });
    let detail = if writing.is_some() { ListDetail::Objects } else { detail };
    Some(ListCall {
        address,
        provider,
        schema: Arc::clone(&template.schema),
        found,
        body: Arc::clone(&template.body),
        span: resource.body_start(),
        input: ListInput { config, detail, limit },
        writing,
    })
}

pub(super) fn listed(planner: &mut Planner<'_>, instance: Instance, call: ListResult) {
    planner.evaluation.diagnostics.append(call.diagnostics);
    let Some(found) = call.found else { return instances::end_instance(planner, instance, Outcome::Failed) };
    let data = found.iter().map(|one| {
        Value::object([
            ("display_name", Value::string(&one.display_name)),
            ("identity", one.identity.clone()),
            ("state", one.object.clone().unwrap_or(Value::null(groma_value::Type::Dynamic))),
        ])
    });
    let value = Value::object([("config", call.config), ("data", Value::tuple(data.collect()))]);
    let resources = &mut planner.world.module_mut(instance.module).resources;
    resources[instance.resource as usize].settle(instance.position, value);
    let searched = Searched { address: call.address, identity_version: call.identity_version, found };
    planner.inputs.session().hooks.list_complete(&searched);
    planner.plan.add_searched(searched);
    instances::end_instance(planner, instance, Outcome::Done);
}

/// Returns the schema of the resource type that a `list` block searches for.
fn searched_schema(
    provider: &Checked,
    address: &ResourceInstance,
    resource: &Resource,
) -> Result<Arc<Schema>, Diagnostics> {
    provider.resource_schema(&address.resource.type_name)?.ok_or_else(|| {
        let detail = format!("{address} searches for objects of a resource type that its provider does not have.");
        Diagnostic::error("Invalid list resource", detail).at(resource.header_span).into()
    })
}

/// Returns the error for unknown search criteria.
fn not_known(address: &ResourceInstance, template: &Template, config: &Value, header: Span) -> Diagnostic {
    let names = template.schema.block.shape().names().iter();
    let unknown = names.filter_map(|name| {
        let value = config.as_object()?.get(name)?.clone();
        (!value.is_wholly_known()).then(|| groma_value::Path::root().attribute(name.clone()))
    });
    let span = unknown.map(|path| template.body.span_of(&path)).next().unwrap_or(header);
    let detail = "The search criteria must be known when the search begins, but this one depends on a value that is \
     known only after apply. Use literal values or values from the state.";
    Diagnostic::error("config is not known", detail).at(span).about(address)
}

/// The provider call of one `list` block instance.
pub(super) struct ListCall {
    pub(super) address: ResourceInstance,
    pub(super) provider: Arc<Checked>,
    /// The schema of the search configuration.
    pub(super) schema: Arc<Schema>,
    /// The schema of found objects.
    pub(super) found: Arc<Schema>,
    pub(super) body: Arc<BodyDecoder>,
    pub(super) span: Span,
    pub(super) input: ListInput,
    pub(super) writing: Option<Writing>,
}

/// Settings of the blocks to generate for found objects.
pub(super) struct Writing {
    /// The value of the argument `provider`.
    pub(super) provider: Option<String>,
    /// The prefix of the names of generated resources.
    pub(super) name: String,
}

/// The result of a search.
pub(super) struct ListResult {
    pub(super) address: ResourceInstance,
    pub(super) identity_version: u64,
    pub(super) config: Value,
    pub(super) found: Option<Vec<FoundObject>>,
    pub(super) diagnostics: Diagnostics,
}

impl ListCall {
    pub(super) async fn run(self) -> ListResult {
        let subject = Subject { address: &self.address, schema: &self.schema, body: Some(&self.body), span: self.span };
        let config = self.input.config.clone();
        let mut diagnostics = self.provider.validate(&subject, &config).await;
        let mut objects = None;
        if !diagnostics.has_errors() {
            let subject = Subject { schema: &self.found, ..subject };
            let (found, problems) = self.provider.list(&subject, self.input.clone()).await;
            diagnostics.append(problems);
            if let Some(found) = found {
                objects = self.objects(found, &mut diagnostics).await;
            }
        }
        let identity_version = self.found.identity.as_ref().map_or(0, |identity| identity.version);
        ListResult { address: self.address, identity_version, config, found: objects, diagnostics }
    }

    /// Returns the found objects, with generated blocks if requested; `None` after an error.
    async fn objects(&self, found: Vec<Found>, diagnostics: &mut Diagnostics) -> Option<Vec<FoundObject>> {
        let mut objects = Vec::with_capacity(found.len());
        for (position, one) in found.into_iter().enumerate() {
            let written = match &self.writing {
                Some(writing) => Some(self.blocks(writing, position, &one, diagnostics).await?),
                None => None,
            };
            let Found { identity, display_name, object } = one;
            objects.push(FoundObject { display_name, identity, object, written });
        }
        Some(objects)
    }

    async fn blocks(
        &self,
        writing: &Writing,
        position: usize,
        found: &Found,
        diagnostics: &mut Diagnostics,
    ) -> Option<WrittenBlocks> {
        let subject = Subject { address: &self.address, schema: &self.found, body: None, span: self.span };
        let name = format!("{}_{position}", writing.name);
        let named = (&*self.address.resource.type_name, &*name);
        let provider = writing.provider.as_deref();
        let config = match &found.object {
            Some(object) => generate::provider_config(&self.provider, &subject, object, diagnostics).await?,
            // Its provider has said why it is not there: the block is for people to fill in.
            None => Value::NULL,
        };
        Some(WrittenBlocks {
            resource: generate::resource_text(named, provider, &self.found.block, &config),
            import: generate::import_text(named, provider, &found.identity),
        })
    }
}
