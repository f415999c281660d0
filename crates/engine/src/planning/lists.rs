//! Searching with `list` blocks, while planning what they refer to.

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_config::Resource;
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_provider::{Checked, ListDetail, ListInput, Schema};
use groma_value::Value;

use super::event::{Event, Instance};
use super::list_talk::{ListTalk, Search, Writing};
use super::planner::Planner;
use crate::options::FoundObjects;
use crate::search::{Extent, Searched, unknown};
use crate::templates::Template;
use crate::walk::Outcome;
use crate::world::InstanceScope;

impl Planner<'_> {
    pub(super) async fn start_list(&mut self, instance: Instance, address: ResourceInstance, template: Arc<Template>) {
        let Some(provider) = self.configured(&template, instance) else { return };
        let Some(search) = self.search(instance, address, &template, provider) else {
            return self.end_instance(instance, Outcome::Failed);
        };
        let shown = self.shown_config(instance, &search.input.config);
        let hooks = Arc::clone(&self.session.hooks);
        let talk = async move {
            hooks.list_start(&search.address, shown.as_ref());
            Event::List(instance, Box::new(search.hold().await))
        };
        self.talk(talk).await;
    }

    /// Returns the search configuration to show; `None` if the block has none.
    fn shown_config(&self, instance: Instance, config: &Value) -> Option<Value> {
        let module = &self.world.static_module(instance.module).config;
        let (_, resource) = module.resources.get_index(instance.resource as usize)?;
        let is_written = resource.body.span() != resource.header_span;
        is_written.then(|| config.clone())
    }

    fn search(
        &mut self,
        instance: Instance,
        address: ResourceInstance,
        template: &Template,
        provider: Arc<Checked>,
    ) -> Option<Search> {
        let module = Arc::clone(&self.world.static_module(instance.module).config);
        let (_, resource) = module.resources.get_index(instance.resource as usize)?;
        let search = resource.search.as_ref()?;
        let repetition = self.repetition(instance);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, instance.module, &functions).repeated(&repetition);
        let config = self.evaluation.instance(&template.body, &address, &scope)?;
        let extent = Extent::evaluate(search, &scope, &mut self.evaluation)?;
        if !config.is_wholly_known() {
            let problem = not_known(&address, template, &config, resource.header_span);
            self.evaluation.diagnostics.push(problem);
            return None;
        }
        let Some(detail) = extent.detail else {
            let problem = unknown("include_resource", search.include_resource.as_ref(), &scope);
            self.evaluation.diagnostics.push(problem);
            return None;
        };
        let Some(limit) = extent.limit else {
            self.evaluation.diagnostics.push(unknown("limit", search.limit.as_ref(), &scope));
            return None;
        };
        let found = match searched_schema(&provider, &address, resource) {
            Ok(schema) => schema,
            Err(problems) => {
                self.evaluation.diagnostics.append(problems);
                return None;
            }
        };
        let is_repeated = resource.is_repeated();
        let writing = (self.options.found == FoundObjects::Written).then(|| Writing {
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
        Some(Search {
            address,
            provider,
            schema: Arc::clone(&template.schema),
            found,
            body: Arc::clone(&template.body),
            span: resource.beginning(),
            input: ListInput { config, detail, limit },
            writing,
        })
    }

    pub(super) fn listed(&mut self, instance: Instance, talk: ListTalk) {
        self.evaluation.diagnostics.append(talk.diagnostics);
        let Some(found) = talk.found else { return self.end_instance(instance, Outcome::Failed) };
        let data = found.iter().map(|one| {
            Value::object([
                ("display_name", Value::string(&one.display_name)),
                ("identity", one.identity.clone()),
                ("state", one.object.clone().unwrap_or(Value::null(groma_value::Type::Dynamic))),
            ])
        });
        let value = Value::object([("config", talk.config), ("data", Value::tuple(data.collect()))]);
        let resources = &mut self.world.module_mut(instance.module).resources;
        resources[instance.resource as usize].settle(instance.position, value);
        let searched = Searched { address: talk.address, identity_version: talk.identity_version, found };
        self.session.hooks.list_complete(&searched);
        self.searched.push(searched);
        self.end_instance(instance, Outcome::Done);
    }
}

/// The schema of the objects that are searched for.
fn searched_schema(
    provider: &Checked,
    address: &ResourceInstance,
    resource: &Resource,
) -> Result<Arc<Schema>, Diagnostics> {
    provider.resource_schema(&address.resource.type_name)?.ok_or_else(|| {
        let detail = format!("{address} searches for objects of a type that its provider cannot manage.");
        Diagnostic::error("Invalid list resource", detail).at(resource.header_span).into()
    })
}

/// The first part of what is searched for that is not known yet.
fn not_known(address: &ResourceInstance, template: &Template, config: &Value, header: Span) -> Diagnostic {
    let names = template.schema.block.shape().names().iter();
    let unknown = names.filter_map(|name| {
        let value = config.as_object()?.get(name)?.clone();
        (!value.is_wholly_known()).then(|| groma_value::Path::root().attribute(name.clone()))
    });
    let span = unknown.map(|path| template.body.span_of(&path)).next().unwrap_or(header);
    let detail = "What is searched for must be known when the search begins, but this stands on something that only apply will know. Use \
                  values that are written out or that the state has.";
    Diagnostic::error("config is not known", detail).at(span).about(address.to_string())
}
