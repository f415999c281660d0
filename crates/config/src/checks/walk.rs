//! Reference checks of all expressions in a module.

use groma_address::Resource as ResourceAddress;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::{Body, Evaluated, Expression, ExpressionKind, Index, Step, Traversal, with_stack};
use groma_lang::{
    Binding, ErrorHandling, Mention, Reference, for_each_mention, for_each_traversal, for_each_traversal_with_context,
    parse_reference,
};

use super::expression_context::ExpressionContext;
use super::{named, reference};
use crate::configuration::DeepReference;
use crate::model::{
    ActionBlock, Condition, Connection, Import, ImportIdentity, Local, LocalProviderRef, Module, ModuleCall,
    ProviderBlock, Provisioner, Resource,
};

/// Whether the modules of a directory have instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// At least one instance, independent of any value.
    Certain,
    /// Possibly no instance.
    Possible,
}

/// Checks all references in `module`, and collects those that only provider schemas can check in `deep`.
pub(super) fn check(module: &Module, presence: Presence, deep: &mut Vec<DeepReference>, diagnostics: &mut Diagnostics) {
    let mut walk = Walk { module, deep, diagnostics };
    let toplevel = ExpressionContext::default();
    for local in module.locals.values() {
        walk.expression(&local.expression, &toplevel);
        walk.itself(local);
    }
    for variable in module.variables.values() {
        walk.conditions(&variable.validations, &toplevel);
    }
    for output in module.outputs.values() {
        walk.expression(&output.expression, &toplevel);
        walk.conditions(&output.preconditions, &toplevel);
        named::depends_on(walk.module, &output.depends_on, walk.diagnostics);
    }
    for call in module.calls.values() {
        walk.call(call, presence);
    }
    for resource in module.resources.values() {
        walk.resource(resource);
    }
    for check in module.checks.values() {
        walk.conditions(&check.assertions, &toplevel.in_check(Some(&check.name)));
    }
    // Import blocks of child modules have no effect, which a warning reports.
    if module.path.is_root() {
        module.imports.iter().for_each(|import| walk.import(import));
    }
    for removed in &module.removed {
        walk.provisioners(&removed.provisioners, &ExpressionContext::of_any_object());
    }
    for action in module.actions.values() {
        walk.action(action);
    }
}

/// Checks the references in `for_each` of a provider block. References to objects are invalid there, and reported by
/// the checks of provider instances.
pub(super) fn check_provider_instances(module: &Module, for_each: &Expression, diagnostics: &mut Diagnostics) {
    let mut walk = Walk { module, deep: &mut Vec::new(), diagnostics };
    for_each_traversal_with_context(for_each, &mut |traversal, context| {
        let named = parse_reference(traversal).map(|found| found.target);
        if !matches!(named, Ok(Reference::Resource(_) | Reference::Module(_))) {
            walk.traversal(traversal, &ExpressionContext { bound: context.bound, ..ExpressionContext::default() });
        }
    });
}

/// Checks the references in the arguments of a provider block.
pub(super) fn check_provider(
    module: &Module,
    provider: &ProviderBlock,
    deep: &mut Vec<DeepReference>,
    diagnostics: &mut Diagnostics,
) {
    let mut walk = Walk { module, deep, diagnostics };
    walk.body(&provider.body, &ExpressionContext::repeated(None, provider.for_each.as_ref()));
}

/// Checks the references of an expression outside of all blocks.
pub(super) fn check_expression(module: &Module, expression: &Expression, diagnostics: &mut Diagnostics) {
    Walk { module, deep: &mut Vec::new(), diagnostics }.expression(expression, &ExpressionContext::default());
}

/// Checks a single reference in its context.
pub(super) fn problem(module: &Module, traversal: &Traversal, context: &ExpressionContext<'_>) -> Option<Diagnostic> {
    if reference::is_simple(module, context, traversal) {
        return None;
    }
    match parse_reference(traversal) {
        Ok(referenced) => reference::problem(module, context, traversal, &referenced),
        Err(problem) => Some(reference::with_hint(problem, module, context, traversal)),
    }
}

struct Walk<'a> {
    module: &'a Module,
    deep: &'a mut Vec<DeepReference>,
    diagnostics: &'a mut Diagnostics,
}

impl Walk<'_> {
    fn call(&mut self, call: &ModuleCall, presence: Presence) {
        let toplevel = ExpressionContext::default();
        self.option(call.count.as_ref(), &toplevel);
        self.option(call.for_each.as_ref(), &toplevel);
        self.option(call.enabled.as_ref(), &toplevel);
        let inside = ExpressionContext::repeated(call.count.as_ref(), call.for_each.as_ref());
        let arguments = match presence {
            Presence::Certain if call.has_single_instance() => inside,
            // Without an instance the arguments are never evaluated, so an invalid `count` or `each` is no error.
            _ => ExpressionContext { count: true, each: true, ..inside },
        };
        self.arguments(call, &arguments);
        for passed in &call.providers {
            self.option(passed.parent.key.as_ref(), &inside);
        }
        named::depends_on(self.module, &call.depends_on, self.diagnostics);
    }

    /// Checks the arguments of a call. Unexpected arguments are reported elsewhere, and not checked any further.
    fn arguments(&mut self, call: &ModuleCall, inside: &ExpressionContext<'_>) {
        let Some(child) = self.module.children.get(&call.name) else { return self.body(&call.body, inside) };
        let (arguments, _) = call.body.attributes();
        for argument in arguments.iter().filter(|argument| child.variables.contains_key(&argument.name.name)) {
            self.expression(&argument.expression, inside);
        }
    }

    fn resource(&mut self, resource: &Resource) {
        let outside = ExpressionContext::default().in_check(resource.check.as_ref()).argument_of(&resource.address);
        self.option(resource.count.as_ref(), &outside);
        self.option(resource.for_each.as_ref(), &outside);
        self.option(resource.lifecycle.enabled.as_ref(), &outside);
        let inside =
            ExpressionContext { count: resource.count.is_some(), each: resource.for_each.is_some(), ..outside };
        self.body(&resource.body, &inside);
        if let Some(search) = &resource.search {
            self.option(search.include_resource.as_ref(), &inside);
            self.option(search.limit.as_ref(), &inside);
        }
        self.provider(resource.provider.as_ref(), &inside);
        named::depends_on(self.module, &resource.depends_on, self.diagnostics);
        let lifecycle = &resource.lifecycle;
        self.option(lifecycle.create_before_destroy.as_ref(), &inside);
        self.option(lifecycle.prevent_destroy.as_ref(), &inside);
        self.option(lifecycle.destroy.as_ref(), &inside);
        // The evaluator reports references to the resource itself in conditions, with a more specific message.
        let condition = ExpressionContext { argument_of: None, ..inside };
        // Attributes in `replace_triggered_by` are resolved when a change is planned.
        for trigger in &lifecycle.replace_triggered_by {
            for_each_traversal(trigger, &mut |traversal| self.traversal(traversal, &inside));
        }
        self.conditions(&lifecycle.preconditions, &condition);
        self.conditions(&lifecycle.postconditions, &condition.with_self());
        for trigger in &lifecycle.action_triggers {
            self.option(trigger.condition.as_ref(), &condition);
            self.diagnostics.append(trigger.actions.iter().filter_map(|action| named::action(self.module, action)));
        }
        self.connection(resource.used_connection(), &inside.with_self());
        self.provisioners(&resource.provisioners, &inside.with_self());
    }

    fn provisioners(&mut self, provisioners: &[Provisioner], context: &ExpressionContext<'_>) {
        for provisioner in provisioners {
            self.body(&provisioner.body, context);
            self.connection(provisioner.connection.as_ref(), context);
        }
    }

    fn connection(&mut self, connection: Option<&Connection>, context: &ExpressionContext<'_>) {
        if let Some(connection) = connection {
            self.body(&connection.body, context);
        }
    }

    fn import(&mut self, import: &Import) {
        let inside = ExpressionContext::repeated(None, import.for_each.as_ref());
        self.option(import.for_each.as_ref(), &ExpressionContext::default());
        match &import.identity {
            ImportIdentity::Id(expression) | ImportIdentity::Identity(expression) => {
                self.expression(expression, &inside)
            }
        }
        // The address itself may refer to a resource without a block, for generated configuration.
        self.keys(&import.to_expression, &inside);
        self.provider(import.provider.as_ref(), &inside);
    }

    /// Checks the instance keys of an address. The address itself is not a reference.
    fn keys(&mut self, address: &Expression, context: &ExpressionContext<'_>) {
        match &address.without_parentheses().kind {
            ExpressionKind::Index(index) => {
                with_stack(|| self.keys(&index.source, context));
                self.expression(&index.key, context);
            }
            ExpressionKind::Relative(relative) => self.keys(&relative.source, context),
            _ => {}
        }
    }

    fn action(&mut self, action: &ActionBlock) {
        self.option(action.count.as_ref(), &ExpressionContext::default());
        self.option(action.for_each.as_ref(), &ExpressionContext::default());
        let inside = ExpressionContext::repeated(action.count.as_ref(), action.for_each.as_ref());
        if let Some(config) = &action.config {
            self.body(config, &inside);
        }
        self.provider(action.provider.as_ref(), &inside);
    }

    fn provider(&mut self, reference: Option<&LocalProviderRef>, context: &ExpressionContext<'_>) {
        self.option(reference.and_then(|reference| reference.key.as_ref()), context);
    }

    fn conditions(&mut self, conditions: &[Condition], context: &ExpressionContext<'_>) {
        for condition in conditions {
            self.expression(&condition.condition, context);
            self.expression(&condition.error_message, context);
        }
    }

    fn option(&mut self, expression: Option<&Expression>, context: &ExpressionContext<'_>) {
        if let Some(expression) = expression {
            self.expression(expression, context);
        }
    }

    fn expression(&mut self, expression: &Expression, context: &ExpressionContext<'_>) {
        // Assertions of check blocks may not be evaluated before apply, so the schema check must not rely on it.
        let of_check = context.check.map(|_| ErrorHandling::Some);
        for_each_mention(expression, &mut |mention, enclosing| match mention {
            Mention::Name(traversal) => {
                self.traversal(
                    traversal,
                    &ExpressionContext { bound: enclosing.bound, error_handling: enclosing.error_handling, ..*context },
                );
                self.note_deep(traversal, of_check.unwrap_or(enclosing.error_handling));
            }
            Mention::Word(named, index) => self.word(named, index),
            Mention::Function(_) => {}
        });
    }

    /// Checks a body without a schema. The content of a dynamic block may never be evaluated, so only references to
    /// the resource itself are checked in it.
    fn body(&mut self, body: &Body, context: &ExpressionContext<'_>) {
        body.for_each_evaluated_expression(&mut |expression, evaluated| match evaluated {
            Evaluated::Always => self.expression(expression, context),
            Evaluated::ForElements => self.self_references(expression, context),
        });
    }

    /// Reports a bare word as an instance key: `aws_instance.web[name]`.
    fn word(&mut self, named: &Traversal, index: &Index) {
        let Ok(found) = parse_reference(named) else { return };
        let has_instances = matches!(found.target, Reference::Resource(_) | Reference::Module(_));
        if has_instances && found.key.is_none() && found.rest.is_empty() {
            let detail = "An instance key must be a quoted string or a whole number.";
            let problem = Diagnostic::error("Invalid index key", detail).at(index.brackets);
            self.diagnostics.push(problem.suppressing(named.span.to(index.brackets)));
        }
    }

    /// Reports references to the block itself, which are invalid even if they are never evaluated.
    fn self_references(&mut self, expression: &Expression, context: &ExpressionContext<'_>) {
        // The iterator of a dynamic block may have the resource's type as its name; its only attributes are `key` and
        // `value`.
        let is_of_element = |address: &ResourceAddress| matches!(&*address.name, "key" | "value");
        let Some(itself) = context.argument_of.filter(|address| !is_of_element(address)) else { return };
        for_each_traversal(expression, &mut |traversal| {
            let named = parse_reference(traversal).map(|found| found.target);
            if matches!(named, Ok(Reference::Resource(address)) if address == *itself) {
                self.traversal(traversal, context);
            }
        });
    }

    /// Reports a local value that refers to itself directly; the evaluator finds longer cycles.
    fn itself(&mut self, local: &Local) {
        for_each_traversal(&local.expression, &mut |traversal| {
            let is_itself = &*traversal.root.name == "local"
                && matches!(traversal.steps().first(), Some(Step::Attribute { name, .. }) if *name == local.name);
            if is_itself {
                let detail = format!("local.{} cannot refer to itself. Rename one of the two values.", local.name);
                self.diagnostics.push(Diagnostic::error("Self-referencing local value", detail).at(traversal.span));
            }
        });
    }

    fn traversal(&mut self, traversal: &Traversal, context: &ExpressionContext<'_>) {
        self.diagnostics.append(problem(self.module, traversal, context));
    }

    /// Collects a reference to an attribute if evaluation may not detect an invalid one, or only less precisely than
    /// the schema.
    fn note_deep(&mut self, traversal: &Traversal, error_handling: ErrorHandling) {
        let Some((resource, steps)) = Binding::object_of(traversal) else { return };
        let inside = traversal.steps().len().saturating_sub(steps);
        // A repeated resource may have no instances, so evaluation may never reach the attribute.
        let block = self.module.resources.get_index(resource as usize);
        let may_be_passed_over =
            || error_handling == ErrorHandling::Some || block.is_some_and(|(_, block)| block.is_repeated());
        if inside > 1 || (inside > 0 && may_be_passed_over()) {
            let (module, traversal) = (self.module.path.clone(), traversal.clone());
            self.deep.push(DeepReference { module, resource, traversal, steps });
        }
    }
}
