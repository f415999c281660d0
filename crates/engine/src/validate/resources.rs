//! Resource blocks of all modes.

use std::sync::Arc;

use groma_address::{InstanceKey, Mode as ResourceMode, ResourceInstance};
use groma_config::{Condition, IgnoreChanges, Resource};
use groma_diagnostics::{Diagnostic, Diagnostics, did_you_mean};
use groma_hcl::{Expression, Step, Traversal};
use groma_lang::{Scope, evaluate};
use groma_provider::{Block, Item, Subject, Use};
use groma_value::{Marks, Type, Value};

use super::Validator;
use crate::evaluation::{Evaluation, ListArguments};
use crate::options::Deferral;
use crate::provisioning::{self, Provisioners};
use crate::repetition::{Arguments, expand_or_defer};
use crate::static_references;
use crate::templates::{Template, Validity};
use crate::walk::Outcome;
use crate::world::{Expansion, InstanceScope, ModuleId};

impl Validator<'_> {
    /// Validates a block without values; its provider is asked if the block itself has no errors.
    pub(super) async fn resource(&mut self, module: ModuleId, at: u32) -> Outcome {
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some((address, resource)) = config.resources.get_index(at as usize) else { return Outcome::Failed };
        let index = self.world.module(module).of;
        let Some(template) = self.templates.resource(index, at).cloned() else { return Outcome::Failed };
        if !self.resource_repeats(module, resource) {
            return Outcome::Failed;
        }
        let expansion = if resource.is_repeated() { Expansion::Abstract } else { Expansion::Single };
        let repetition = expansion.repetition(0);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition);
        let instance = ResourceInstance {
            module: self.world.module(module).address.clone(),
            resource: address.clone(),
            key: InstanceKey::None,
        };
        let (value, problems) = template.body.evaluate(&scope);
        let failed = problems.has_errors();
        self.evaluation.diagnostics.append(problems);
        let value = self.evaluation.used_by(value, &template.body, &instance);
        meta_arguments(&mut self.evaluation, resource, &template, &scope);
        let object = unknown_object(address.mode, &template);
        let data = &mut self.world.module_mut(module).resources[at as usize];
        // Without `enabled` it is there.
        let seen = if resource.lifecycle.enabled.is_some() { object.clone() } else { object.not_null() };
        let seen = expansion.known(seen);
        data.expand(expansion);
        data.settle(0, seen);
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition);
        // These arguments may refer to "self", which exists only now.
        of_object(&mut self.evaluation, resource, &instance, &scope.with_self(&object));
        // The provider must get only values that conform to its schema.
        if failed || template.validity == Validity::Invalid {
            return Outcome::Failed;
        }
        self.asked_provider(resource, &template, &instance, &value).await
    }

    /// Whether what repeats the block may be right.
    fn resource_repeats(&mut self, module: ModuleId, resource: &Resource) -> bool {
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions);
        let (count, for_each) = (resource.count.as_ref(), resource.for_each.as_ref());
        if let Some(expression) = count.or(for_each).or(resource.lifecycle.enabled.as_ref())
            && self.evaluation.value_with_deprecations(expression, &scope).is_none()
        {
            return false;
        }
        suitable(count, for_each, &scope, &mut self.evaluation.diagnostics)
    }

    async fn asked_provider(
        &mut self,
        resource: &Resource,
        template: &Template,
        instance: &ResourceInstance,
        value: &Value,
    ) -> Outcome {
        if matches!(instance.resource.mode, ResourceMode::Managed | ResourceMode::Data)
            && let Some(problem) = template.ephemeral_misuse(value, instance)
        {
            self.evaluation.diagnostics.push(problem);
            return Outcome::Failed;
        }
        let Ok(provider) = self.providers.started(&template.provider.provider) else { return Outcome::Failed };
        let subject = Subject {
            address: instance,
            schema: &template.schema,
            body: Some(&template.body),
            span: resource.body_start(),
        };
        let problems = provider.validate(&subject, value).await;
        let failed = problems.has_errors();
        self.evaluation.diagnostics.append(problems);
        if failed { Outcome::Failed } else { Outcome::Done }
    }
}

/// Validates the arguments of a block that do not belong to its object and precede it.
fn meta_arguments(evaluation: &mut Evaluation, resource: &Resource, template: &Template, scope: &dyn Scope) {
    let ignored = &resource.lifecycle.ignore_changes;
    evaluation.diagnostics.append(unknown_ignored(ignored, &template.schema.block));
    evaluation.diagnostics.append(redundant_ignored(ignored, &template.schema.block));
    if let IgnoreChanges::Expression(expression) = ignored {
        let problem = evaluation.value(expression, scope).and_then(|value| invalid_ignored(&value));
        evaluation.diagnostics.append(problem.map(|problem| problem.at(expression.span)));
    }
    let lifecycle = &resource.lifecycle;
    for truth in
        [&lifecycle.create_before_destroy, &lifecycle.prevent_destroy, &lifecycle.destroy].into_iter().flatten()
    {
        // Unknown values are valid here; only planning requires known ones.
        evaluation.truth_so_far(truth, scope);
    }
    conditions(evaluation, &lifecycle.preconditions, scope);
    // As in OpenTofu, the instance key of a provider may be an expression.
    if let Some(key) = resource.provider.as_ref().and_then(|written| written.key.as_ref()) {
        evaluation.value(key, scope);
    }
    if let Some(search) = &resource.search {
        let _ = ListArguments::evaluate(search, scope, evaluation);
    }
}

/// Validates conditions, whatever their results are.
fn conditions(evaluation: &mut Evaluation, rules: &[Condition], scope: &dyn Scope) {
    for rule in rules {
        evaluation.value(&rule.condition, scope);
        evaluation.value(&rule.error_message, scope);
    }
}

/// Validates the arguments that refer to the object of a block, which `scope` calls `self`.
fn of_object(evaluation: &mut Evaluation, resource: &Resource, instance: &ResourceInstance, scope: &dyn Scope) {
    conditions(evaluation, &resource.lifecycle.postconditions, scope);
    if resource.provisioners.is_empty() {
        return;
    }
    let provisioners = Provisioners { blocks: &resource.provisioners, connection: resource.connection.as_ref() };
    let mut problems = Diagnostics::new();
    provisioning::check(&provisioners, scope, &mut problems);
    for problem in problems.iter_mut().filter(|problem| problem.origin.is_some()) {
        problem.address = Some(Box::new(instance.into()));
    }
    evaluation.diagnostics.append(problems);
}

/// An object of which only the type is known. What is searched by says nothing of what is found.
fn unknown_object(mode: ResourceMode, template: &Template) -> Value {
    match mode {
        ResourceMode::List => Value::DYNAMIC,
        ResourceMode::Ephemeral => {
            Value::unknown(template.schema.block.implied_type().clone()).with_marks(&Marks::EPHEMERAL)
        }
        ResourceMode::Managed | ResourceMode::Data => Value::unknown(template.schema.block.implied_type().clone()),
    }
}

/// Returns an error if the value of an `ignore_changes` expression is neither a list nor `all`.
fn invalid_ignored(value: &Value) -> Option<Diagnostic> {
    let (value, _) = value.unmark();
    // A value of unknown type may still become a list, so it passes here.
    let is_list = matches!(value.ty(), Type::List(_) | Type::Set(_) | Type::Tuple(_) | Type::Dynamic);
    (!is_list && value.as_str() != Some("all")).then(|| {
        let detail = "A list of argument names is required. In expressions the names must be quoted.";
        Diagnostic::error("Invalid expression", detail)
    })
}

/// Returns errors for names in `ignore_changes` that the resource type does not have.
fn unknown_ignored(ignored: &IgnoreChanges, schema: &Block) -> Vec<Diagnostic> {
    let IgnoreChanges::Paths(paths) = ignored else { return Vec::new() };
    let problem = |path: &Traversal| {
        let name = &path.root.name;
        // The root is valid, so an error can only be in a later step of the path.
        if schema.item(name).is_some() {
            let root = Step::Attribute { name: name.clone(), span: path.root.span };
            let steps: Vec<Step> = std::iter::once(root).chain(path.steps().iter().cloned()).collect();
            return static_references::in_block(schema, &steps).err().map(|problem| problem.within(path.span));
        }
        let advice = did_you_mean(name, schema.shape().names().iter().map(|name| &**name));
        let detail = format!("This resource type has no argument {name:?}.{advice}");
        Some(Diagnostic::error("Unsupported attribute", detail).at(path.root.span).within(path.span))
    };
    paths.iter().filter_map(problem).collect()
}

/// Returns the warning "Redundant ignore_changes element" for each computed attribute, which the configuration never sets.
fn redundant_ignored(ignored: &IgnoreChanges, schema: &Block) -> Vec<Diagnostic> {
    let IgnoreChanges::Paths(paths) = ignored else { return Vec::new() };
    let is_computed = |path: &&Traversal| {
        // A path into an attribute may lead to a configurable part, so only whole attributes count.
        let item = schema.item(&path.root.name).filter(|_| path.steps().is_empty());
        matches!(item, Some(Item::Attribute(attribute)) if attribute.usage() == Use::Computed)
    };
    let warnings = paths.iter().filter(is_computed).map(|path| {
        let detail = format!(
            "The provider alone sets {:?}, so there is no configuration change to ignore. Remove it from the list.",
            path.root.name
        );
        Diagnostic::warning("Redundant ignore_changes element", detail).at(path.span)
    });
    warnings.collect()
}

/// Whether `count` and `for_each` can ever be right: those that are known are, and others have a type that may be.
pub(super) fn suitable(
    count: Option<&Expression>,
    for_each: Option<&Expression>,
    scope: &dyn Scope,
    diagnostics: &mut Diagnostics,
) -> bool {
    let mut quiet = Diagnostics::new();
    if let Some(expression) = count.or(for_each) {
        evaluate(expression, scope, &mut quiet);
    }
    // Errors and warnings of the expression were reported by its first evaluation.
    if quiet.has_errors() {
        return true;
    }
    let mut found = Diagnostics::new();
    let arguments = Arguments { count, for_each, enabled: None };
    let expansion = expand_or_defer(arguments, Deferral::Allowed, scope, &mut found);
    diagnostics.append(found.into_iter().filter(Diagnostic::is_error));
    expansion.is_some()
}
