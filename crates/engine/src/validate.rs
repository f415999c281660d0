//! Checking a configuration without state and without values: everything that is not written out is unknown (LC-03).

use std::sync::Arc;

use groma_address::Mode as ResourceMode;
use groma_config::Configuration;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::Step;
use groma_lang::{Scope, evaluate};
use groma_provider::{ActionSubject, IdentityImport, IdentitySchema, Subject};
use groma_value::{Marks, Type, Value, convert};
use indexmap::IndexMap;

use crate::config_graph::{ConfigGraph, NodeKind};
use crate::deprecation::tell_body;
use crate::evaluation::Evaluation;
use crate::options::{Deferral, Input};
use crate::providers::Providers;
use crate::repetition::{Arguments, expand_or_defer};
use crate::search::Extent;
use crate::session::Session;
use crate::static_references;
use crate::templates::Templates;
use crate::walk::{Outcome, Visit, Walk};
use crate::world::{Expansion, InstanceScope, ModuleId, Repetition, World};

/// Checks everything that can be checked now.
pub async fn validate(
    session: &Session,
    graph: &Arc<ConfigGraph>,
    templates: &Templates,
    providers: &mut Providers,
) -> Diagnostics {
    let world = World::new(Arc::clone(graph), templates.surroundings(session));
    let walk = Walk::new(&world);
    let evaluation = session.evaluation(unknown_inputs(session));
    let configuration = &session.configuration;
    let mut validator = Validator { configuration, templates, providers, world, walk, evaluation };
    while let Some((visit, outcome)) = validator.walk.next() {
        let outcome = match outcome {
            // Nothing is left to a later run here.
            Outcome::Done | Outcome::Deferred => validator.visit(visit).await,
            Outcome::Failed => Outcome::Failed,
        };
        validator.walk.end(&validator.world, visit, outcome);
    }
    static_references::check(&session.configuration, graph, templates, validator.evaluation.diagnostics)
}

/// The root module's variables as values of which only the type is known.
fn unknown_inputs(session: &Session) -> IndexMap<groma_address::Name, Input> {
    let variables = &session.configuration.root.variables;
    let unknown = variables.values().map(|variable| {
        let value = Value::unknown(variable.constraint.ty.clone());
        (variable.name.clone(), Input { value, span: variable.span })
    });
    unknown.collect()
}

struct Validator<'a> {
    configuration: &'a Configuration,
    templates: &'a Templates,
    providers: &'a mut Providers,
    world: World,
    walk: Walk,
    evaluation: Evaluation,
}

impl Validator<'_> {
    async fn visit(&mut self, visit: Visit) -> Outcome {
        let id = visit.module;
        match self.world.static_module(id).kind(visit.node) {
            NodeKind::Variable(at) => self.variable(id, at),
            NodeKind::Validation(at) => self.evaluation.validation(&self.world, id, at),
            NodeKind::Local(at) => self.evaluation.local(&mut self.world, id, at),
            NodeKind::Output(at) => self.evaluation.output(&mut self.world, id, at),
            NodeKind::Check(at) => self.check(id, at),
            NodeKind::Import(at) => self.import(id, at),
            NodeKind::Action(at) => self.action(id, at).await,
            // What triggers is looked at when something changes.
            NodeKind::Trigger(_) => Outcome::Done,
            NodeKind::CallOutput { .. } | NodeKind::CallEnd(_) => Outcome::Done,
            NodeKind::Call(at) => self.call(id, at),
            NodeKind::Provider(at) => self.provider(id, at).await,
            NodeKind::Resource(at) => self.resource(id, at).await,
        }
    }

    /// What a call gives is held against the variable. Nothing after that may lean on it: a module is checked for all values that
    /// its callers could give, as in Terraform.
    fn variable(&mut self, module: ModuleId, at: u32) -> Outcome {
        let outcome = self.evaluation.variable(&mut self.world, module, at);
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some((_, variable)) = config.variables.get_index(at as usize) else { return Outcome::Failed };
        let any = Value::unknown(variable.constraint.ty.clone());
        self.world.module_mut(module).variables[at as usize] = variable.accept(&any).ok();
        outcome
    }

    /// Assertions are only looked at for mistakes: nothing is known that could decide them.
    fn check(&mut self, module: ModuleId, at: u32) -> Outcome {
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some((_, check)) = config.checks.get_index(at as usize) else { return Outcome::Failed };
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions);
        for rule in &check.assertions {
            self.evaluation.value(&rule.condition, &scope);
        }
        Outcome::Done
    }

    async fn action(&mut self, module: ModuleId, at: u32) -> Outcome {
        let config = Arc::clone(&self.world.static_module(module).config);
        let index = self.world.module(module).of;
        let Some((_, action)) = config.actions.get_index(at as usize) else { return Outcome::Failed };
        let Some(template) = self.templates.action(index, at).cloned() else { return Outcome::Failed };
        let functions = Arc::clone(&self.evaluation.functions);
        let outer = InstanceScope::new(&self.world, module, &functions);
        for expression in [&action.count, &action.for_each].into_iter().flatten() {
            self.evaluation.telling_value(expression, &outer);
        }
        suitable(action.count.as_ref(), action.for_each.as_ref(), &outer, &mut self.evaluation.diagnostics);
        let is_repeated = action.count.is_some() || action.for_each.is_some();
        let repetition = if is_repeated { Repetition::Unknown } else { Repetition::None };
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition);
        let (value, mut problems) = template.body.evaluate(&scope);
        let value = tell_body(value, &template.body, &mut problems);
        let failed = problems.has_errors();
        self.evaluation.diagnostics.append(problems);
        let Ok(provider) = self.providers.started(&template.provider.provider) else { return Outcome::Failed };
        if failed {
            return Outcome::Failed;
        }
        let subject = ActionSubject { type_name: &action.type_name, body: &template.body, span: action.span };
        let problems = provider.validate_action(&subject, &value).await;
        let failed = problems.has_errors();
        self.evaluation.diagnostics.append(problems);
        if failed { Outcome::Failed } else { Outcome::Done }
    }

    /// What an import names is looked at for mistakes only.
    fn import(&mut self, module: ModuleId, at: u32) -> Outcome {
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some(import) = config.imports.get(at as usize) else { return Outcome::Failed };
        let functions = Arc::clone(&self.evaluation.functions);
        let outer = InstanceScope::new(&self.world, module, &functions);
        let mut sound = true;
        let mut repetition = Repetition::None;
        if let Some(for_each) = &import.for_each {
            sound &= self.evaluation.value(for_each, &outer).is_some()
                && suitable(None, Some(for_each), &outer, &mut self.evaluation.diagnostics);
            repetition = Repetition::Unknown;
        }
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition);
        let (groma_config::ImportIdentity::Id(identity) | groma_config::ImportIdentity::Identity(identity)) =
            &import.identity;
        let value = self.evaluation.value(identity, &scope);
        sound &= value.is_some();
        if let (Some(value), groma_config::ImportIdentity::Id(id)) = (&value, &import.identity)
            && let Some(problem) = unsuitable_id(value)
        {
            self.evaluation.diagnostics.push(problem.at(id.span));
            sound = false;
        }
        if let (Some(value), groma_config::ImportIdentity::Identity(identity)) = (&value, &import.identity)
            && let Some(problem) = self.unsuitable_identity(import, value)
        {
            self.evaluation.diagnostics.push(problem.at(identity.span));
            sound = false;
        }
        if let Some(problem) = self.no_import_target(import) {
            self.evaluation.diagnostics.push(problem.at(import.to_expression.span));
            sound = false;
        }
        if sound { Outcome::Done } else { Outcome::Failed }
    }

    /// What is wrong with the identity of an import into a resource that is declared, as far as it is known.
    fn unsuitable_identity(&self, import: &groma_config::Import, value: &Value) -> Option<Diagnostic> {
        let (index, node) = self.world.graph().find_resource(&import.to)?;
        let NodeKind::Resource(at) = self.world.graph().module(index).kind(node) else { return None };
        let template = self.templates.resource(index, at)?;
        unsuitable_identity(value, template.schema.identity.as_ref()?)
    }

    /// Why no block can be made for the target of an import that has none.
    fn no_import_target(&self, import: &groma_config::Import) -> Option<Diagnostic> {
        if self.world.graph().find_resource(&import.to).is_some() {
            return None;
        }
        if !import.to.module.is_root() {
            let detail = format!(
                "{} is not declared. A block for it is generated only in the root module: write one, or correct the address.",
                import.to
            );
            return Some(Diagnostic::error("Configuration for import target does not exist", detail));
        }
        import.for_each.as_ref().map(|_| {
            let detail = format!(
                "{} is not declared. Only a single resource is generated: write a block with \"for_each\" for it.",
                import.to
            );
            Diagnostic::error("Invalid import 'to' expression", detail)
        })
    }

    fn call(&mut self, module: ModuleId, at: u32) -> Outcome {
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some((_, call)) = config.calls.get_index(at as usize) else { return Outcome::Failed };
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions);
        let repeats = [&call.count, &call.for_each, &call.enabled].into_iter().flatten();
        let mut sound = true;
        for expression in repeats {
            sound &= self.evaluation.telling_value(expression, &scope).is_some();
        }
        sound &= suitable(call.count.as_ref(), call.for_each.as_ref(), &scope, &mut self.evaluation.diagnostics);
        if !sound {
            return Outcome::Failed;
        }
        let repeated = call.count.is_some() || call.for_each.is_some();
        let expansion = if repeated { Expansion::Abstract } else { Expansion::Single };
        let instances = self.world.expand_call(module, at, expansion);
        self.walk.expanded(&self.world, module, at, &instances);
        Outcome::Done
    }

    async fn provider(&mut self, module: ModuleId, at: u32) -> Outcome {
        let index = self.world.module(module).of;
        let Some(block) = self.templates.provider(index, at).cloned() else { return Outcome::Failed };
        let written = self.world.static_module(module).config.providers.get_index(at as usize);
        // Nobody needs it: Terraform does not look at it either.
        if written.is_some_and(|(_, written)| !self.configuration.is_used(written)) {
            return Outcome::Done;
        }
        let functions = Arc::clone(&self.evaluation.functions);
        let outer = InstanceScope::new(&self.world, module, &functions);
        let mut repetition = Repetition::None;
        if let Some(for_each) = &block.for_each {
            let sound = self.evaluation.telling_value(for_each, &outer).is_some()
                && suitable(None, Some(for_each), &outer, &mut self.evaluation.diagnostics);
            if !sound {
                return Outcome::Failed;
            }
            repetition = Repetition::Unknown;
        }
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition);
        let Some(value) = self.evaluation.provider(&block.body, &scope) else { return Outcome::Failed };
        let Ok(provider) = self.providers.started(&block.config.provider) else { return Outcome::Failed };
        let problems =
            provider.validate_provider_config(&value, Some(&block.body), groma_diagnostics::Span::NONE).await;
        let failed = problems.has_errors();
        self.evaluation.diagnostics.append(problems);
        if failed { Outcome::Failed } else { Outcome::Done }
    }

    async fn resource(&mut self, module: ModuleId, at: u32) -> Outcome {
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some((address, resource)) = config.resources.get_index(at as usize) else { return Outcome::Failed };
        let index = self.world.module(module).of;
        let Some(template) = self.templates.resource(index, at).cloned() else { return Outcome::Failed };
        let functions = Arc::clone(&self.evaluation.functions);
        let outer = InstanceScope::new(&self.world, module, &functions);
        let repeats = resource.count.as_ref().or(resource.for_each.as_ref());
        if let Some(expression) = repeats.or(resource.lifecycle.enabled.as_ref())
            && self.evaluation.telling_value(expression, &outer).is_none()
        {
            return Outcome::Failed;
        }
        if !suitable(resource.count.as_ref(), resource.for_each.as_ref(), &outer, &mut self.evaluation.diagnostics) {
            return Outcome::Failed;
        }
        let expansion = if repeats.is_some() { Expansion::Abstract } else { Expansion::Single };
        let repetition = match (&resource.count, &resource.for_each) {
            (None, None) => Repetition::None,
            _ => Repetition::Unknown,
        };
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition);
        let instance = groma_address::ResourceInstance {
            module: self.world.module(module).address.clone(),
            resource: address.clone(),
            key: groma_address::InstanceKey::None,
        };
        let (value, problems) = template.body.evaluate(&scope);
        let failed = problems.has_errors();
        self.evaluation.diagnostics.append(problems);
        let value = self.evaluation.used_by(value, &template.body, &instance);
        self.evaluation.diagnostics.append(unknown_ignored(&resource.lifecycle.ignore_changes, &template.schema.block));
        if let groma_config::IgnoreChanges::Expression(expression) = &resource.lifecycle.ignore_changes {
            let problem = self.evaluation.value(expression, &scope).and_then(|value| unsuitable_ignored(&value));
            self.evaluation.diagnostics.append(problem.map(|problem| problem.at(expression.span)));
        }
        for rule in &resource.lifecycle.preconditions {
            self.evaluation.value(&rule.condition, &scope);
        }
        if let Some(key) = resource.provider.as_ref().and_then(|written| written.key.as_ref()) {
            self.evaluation.value(key, &scope);
        }
        if let Some(search) = &resource.search {
            let _ = Extent::evaluate(search, &scope, &mut self.evaluation);
        }
        // What is searched by says nothing of what is found.
        let mut unknown = match address.mode {
            ResourceMode::List => Value::DYNAMIC,
            _ => Value::unknown(template.schema.block.implied_type().clone()),
        };
        if address.mode == ResourceMode::Ephemeral {
            unknown = unknown.with_marks(&Marks::EPHEMERAL);
        }
        for rule in &resource.lifecycle.postconditions {
            let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition).with_self(&unknown);
            self.evaluation.value(&rule.condition, &scope);
        }
        if !resource.provisioners.is_empty() {
            let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition).with_self(&unknown);
            let blocks = &resource.provisioners;
            let provisioners = crate::provisioning::Provisioners { blocks, connection: resource.connection.as_ref() };
            let mut problems = Diagnostics::new();
            crate::provisioning::check(&provisioners, &scope, &mut problems);
            for problem in problems.iter_mut().filter(|problem| problem.origin.is_some()) {
                problem.address = Some(instance.to_string());
            }
            self.evaluation.diagnostics.append(problems);
        }
        let data = &mut self.world.module_mut(module).resources[at as usize];
        data.expand(expansion);
        data.settle(0, unknown);
        if failed {
            return Outcome::Failed;
        }
        if matches!(address.mode, ResourceMode::Managed | ResourceMode::Data)
            && let Some(problem) = template.ephemeral_misuse(&value, &instance)
        {
            self.evaluation.diagnostics.push(problem);
            return Outcome::Failed;
        }
        let Ok(provider) = self.providers.started(&template.provider.provider) else { return Outcome::Failed };
        let subject = Subject {
            address: &instance,
            schema: &template.schema,
            body: Some(&template.body),
            span: resource.body.missing_item_span(),
        };
        let problems = provider.validate(&subject, &value).await;
        let failed = problems.has_errors();
        self.evaluation.diagnostics.append(problems);
        if failed { Outcome::Failed } else { Outcome::Done }
    }
}

/// What is wrong with the id of an import, as far as it is known.
fn unsuitable_id(value: &Value) -> Option<Diagnostic> {
    let (value, _) = value.unmark();
    if value.is_null() {
        return Some(Diagnostic::error(
            "Invalid import id argument",
            "The id is null. Write what the object is called outside.",
        ));
    }
    let Ok(text) = convert::convert(&value, &Type::String) else {
        let detail = format!("The id is a text, but this is a value of type {}.", value.ty().friendly_name());
        return Some(Diagnostic::error("Incorrect value type", detail));
    };
    text.as_str().is_some_and(str::is_empty).then(|| {
        Diagnostic::error("Invalid import id argument", "The id is empty. Write what the object is called outside.")
    })
}

/// What is wrong with the identity of an import, as far as it is known. Attributes that it does not have are passed over.
fn unsuitable_identity(value: &Value, schema: &IdentitySchema) -> Option<Diagnostic> {
    let (value, _) = value.unmark();
    if value.is_null() {
        let detail = "The identity is null. Write what the object is called outside.";
        return Some(Diagnostic::error("Invalid import identity argument", detail));
    }
    if !value.is_known() {
        return None;
    }
    let wrong = |detail: String| Some(Diagnostic::error("Incorrect value type", detail));
    let Some(object) = value.as_object() else {
        return wrong("The identity is an object with the attributes that the resource type is known by.".to_owned());
    };
    for (name, attribute) in &schema.attributes {
        match object.get(name) {
            Some(given) => {
                if let Err(problem) = convert::convert(given, &attribute.ty) {
                    return wrong(format!("The attribute {name:?} of the identity does not fit: {}.", problem.message));
                }
            }
            None if attribute.import == IdentityImport::Required => {
                return wrong(format!("The attribute {name:?} of the identity is missing."));
            }
            None => {}
        }
    }
    None
}

/// What is wrong with an `ignore_changes` that is an expression.
fn unsuitable_ignored(value: &Value) -> Option<Diagnostic> {
    let (value, _) = value.unmark();
    let is_list = matches!(value.ty(), Type::List(_) | Type::Set(_) | Type::Tuple(_) | Type::Dynamic);
    (!is_list && value.as_str() != Some("all")).then(|| {
        let detail = "A list is needed: names of arguments, in quotes where the list is made by an expression.";
        Diagnostic::error("Invalid expression", detail)
    })
}

/// What `ignore_changes` names though the resource type has no such argument.
fn unknown_ignored(ignored: &groma_config::IgnoreChanges, schema: &groma_provider::Block) -> Vec<Diagnostic> {
    let groma_config::IgnoreChanges::Paths(paths) = ignored else { return Vec::new() };
    let problem = |path: &Arc<groma_hcl::Traversal>| {
        let name = &path.root.name;
        if schema.item(name).is_some() {
            let root = Step::Attribute { name: name.clone(), span: path.root.span };
            let steps: Vec<Step> = std::iter::once(root).chain(path.steps.iter().cloned()).collect();
            return static_references::in_block(schema, &steps).err().map(|problem| problem.within(path.span));
        }
        let similar = groma_diagnostics::suggest(name, schema.shape().names().iter().map(|name| &**name));
        let advice = similar.map_or_else(String::new, |similar| format!(" Did you mean {similar:?}?"));
        let detail = format!("This resource type has no argument {name:?} whose changes could be ignored.{advice}");
        Some(Diagnostic::error("Unsupported attribute", detail).at(path.span))
    };
    paths.iter().filter_map(problem).collect()
}

/// Whether `count` and `for_each` can ever be right: those that are known are, and others have a type that may be.
fn suitable(
    count: Option<&groma_hcl::Expression>,
    for_each: Option<&groma_hcl::Expression>,
    scope: &dyn Scope,
    diagnostics: &mut Diagnostics,
) -> bool {
    let mut quiet = Diagnostics::new();
    if let Some(expression) = count.or(for_each) {
        evaluate(expression, scope, &mut quiet);
    }
    // What is wrong with the expression has been said by whoever evaluated it before, and so have warnings.
    if quiet.has_errors() {
        return true;
    }
    let mut found = Diagnostics::new();
    let arguments = Arguments { count, for_each, enabled: None };
    let expansion = expand_or_defer(arguments, Deferral::Allowed, scope, &mut found);
    diagnostics.append(found.into_iter().filter(Diagnostic::is_error));
    expansion.is_some()
}
