//! Every expression of a module, with what it may see.

use groma_address::Resource as ResourceAddress;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::{Body, Evaluated, Expression, ExpressionKind, Index, Step, Traversal, with_stack};
use groma_lang::{
    Binding, Mention, Reference, Shelter, for_each_mention, for_each_traversal, for_each_traversal_in_place,
    parse_reference,
};

use super::object::Place;
use super::{named, reference};
use crate::configuration::DeepReference;
use crate::model::{
    ActionBlock, Condition, Connection, Import, ImportIdentity, Local, LocalProviderRef, Module, ModuleCall,
    ProviderBlock, Provisioner, Resource,
};

/// Whether there are modules of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// At least one, whatever the values are.
    Certain,
    /// The value may be null or absent.
    Possible,
}

/// Checks all references in `module`. Those that only schemas can tell more about are noted.
pub(super) fn check(module: &Module, presence: Presence, deep: &mut Vec<DeepReference>, diagnostics: &mut Diagnostics) {
    let mut walk = Walk { module, deep, diagnostics };
    let nowhere = Place::default();
    for local in module.locals.values() {
        walk.expression(&local.expression, &nowhere);
        walk.itself(local);
    }
    for variable in module.variables.values() {
        walk.conditions(&variable.validations, &nowhere);
    }
    for output in module.outputs.values() {
        walk.expression(&output.expression, &nowhere);
        walk.conditions(&output.preconditions, &nowhere);
        named::depends_on(walk.module, &output.depends_on, walk.diagnostics);
    }
    for call in module.calls.values() {
        walk.call(call, presence);
    }
    for resource in module.resources.values() {
        walk.resource(resource);
    }
    for check in module.checks.values() {
        walk.conditions(&check.assertions, &nowhere.in_check(Some(&check.name)));
    }
    // Those of called modules are ignored, with a warning.
    if module.path.is_root() {
        module.imports.iter().for_each(|import| walk.import(import));
    }
    for removed in &module.removed {
        walk.provisioners(&removed.provisioners, &Place::of_any_object());
    }
    for action in module.actions.values() {
        walk.action(action);
    }
}

/// Checks the `for_each` of a provider block of `module`. References to objects are invalid there, declared or not; a separate check
/// reports them.
pub(super) fn check_provider_instances(module: &Module, for_each: &Expression, diagnostics: &mut Diagnostics) {
    let mut walk = Walk { module, deep: &mut Vec::new(), diagnostics };
    for_each_traversal_in_place(for_each, &mut |traversal, around| {
        let named = parse_reference(traversal).map(|found| found.target);
        if !matches!(named, Ok(Reference::Resource(_) | Reference::Module(_))) {
            walk.traversal(traversal, &Place { bound: around.bound, ..Place::default() });
        }
    });
}

/// Checks the arguments of a provider block of `module`.
pub(super) fn check_provider(
    module: &Module,
    provider: &ProviderBlock,
    deep: &mut Vec<DeepReference>,
    diagnostics: &mut Diagnostics,
) {
    let mut walk = Walk { module, deep, diagnostics };
    walk.body(&provider.body, &Place::repeated(None, provider.for_each.as_ref()));
}

/// Checks an expression of `module` outside of all blocks.
pub(super) fn check_expression(module: &Module, expression: &Expression, diagnostics: &mut Diagnostics) {
    Walk { module, deep: &mut Vec::new(), diagnostics }.expression(expression, &Place::default());
}

/// Checks a reference at `place` in `module`.
pub(super) fn problem(module: &Module, traversal: &Traversal, place: &Place<'_>) -> Option<Diagnostic> {
    if reference::is_plainly_sound(module, place, traversal) {
        return None;
    }
    match parse_reference(traversal) {
        Ok(referenced) => reference::problem(module, place, traversal, &referenced),
        Err(problem) => Some(reference::with_hint(problem, module, place, traversal)),
    }
}

struct Walk<'a> {
    module: &'a Module,
    deep: &'a mut Vec<DeepReference>,
    diagnostics: &'a mut Diagnostics,
}

impl Walk<'_> {
    fn call(&mut self, call: &ModuleCall, presence: Presence) {
        let nowhere = Place::default();
        self.option(call.count.as_ref(), &nowhere);
        self.option(call.for_each.as_ref(), &nowhere);
        self.option(call.enabled.as_ref(), &nowhere);
        let inside = Place::repeated(call.count.as_ref(), call.for_each.as_ref());
        let arguments = match presence {
            Presence::Certain if call.is_always_there() => inside,
            // Naming an object of another repetition is wrong when there is an instance to give the argument to.
            _ => Place { count: true, each: true, ..inside },
        };
        self.arguments(call, &arguments);
        for passed in &call.providers {
            self.option(passed.parent.key.as_ref(), &inside);
        }
        named::depends_on(self.module, &call.depends_on, self.diagnostics);
    }

    /// The arguments of a call. Of one that the module does not take, that alone is said.
    fn arguments(&mut self, call: &ModuleCall, inside: &Place<'_>) {
        let Some(child) = self.module.children.get(&call.name) else { return self.body(&call.body, inside) };
        let (arguments, _) = call.body.attributes();
        for argument in arguments.iter().filter(|argument| child.variables.contains_key(&argument.name.name)) {
            self.expression(&argument.expression, inside);
        }
    }

    fn resource(&mut self, resource: &Resource) {
        let outside = Place::default().in_check(resource.check.as_ref()).argument_of(&resource.address);
        self.option(resource.count.as_ref(), &outside);
        self.option(resource.for_each.as_ref(), &outside);
        self.option(resource.lifecycle.enabled.as_ref(), &outside);
        let inside = Place { count: resource.count.is_some(), each: resource.for_each.is_some(), ..outside };
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
        // Conditions name their own object with a message of their own.
        let condition = Place { argument_of: None, ..inside };
        // Attributes of an object are only checked when it changes.
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

    fn provisioners(&mut self, provisioners: &[Provisioner], place: &Place<'_>) {
        for provisioner in provisioners {
            self.body(&provisioner.body, place);
            self.connection(provisioner.connection.as_ref(), place);
        }
    }

    fn connection(&mut self, connection: Option<&Connection>, place: &Place<'_>) {
        if let Some(connection) = connection {
            self.body(&connection.body, place);
        }
    }

    fn import(&mut self, import: &Import) {
        let inside = Place::repeated(None, import.for_each.as_ref());
        self.option(import.for_each.as_ref(), &Place::default());
        match &import.identity {
            ImportIdentity::Id(expression) | ImportIdentity::Identity(expression) => {
                self.expression(expression, &inside)
            }
        }
        self.keys(&import.to_expression, &inside);
        self.provider(import.provider.as_ref(), &inside);
    }

    /// The keys along an address; the address itself is no reference.
    fn keys(&mut self, address: &Expression, place: &Place<'_>) {
        match &address.without_parentheses().kind {
            ExpressionKind::Index(index) => {
                with_stack(|| self.keys(&index.source, place));
                self.expression(&index.key, place);
            }
            ExpressionKind::Relative(relative) => self.keys(&relative.source, place),
            _ => {}
        }
    }

    fn action(&mut self, action: &ActionBlock) {
        self.option(action.count.as_ref(), &Place::default());
        self.option(action.for_each.as_ref(), &Place::default());
        let inside = Place::repeated(action.count.as_ref(), action.for_each.as_ref());
        if let Some(config) = &action.config {
            self.body(config, &inside);
        }
        self.provider(action.provider.as_ref(), &inside);
    }

    fn provider(&mut self, reference: Option<&LocalProviderRef>, place: &Place<'_>) {
        self.option(reference.and_then(|reference| reference.key.as_ref()), place);
    }

    fn conditions(&mut self, conditions: &[Condition], place: &Place<'_>) {
        for condition in conditions {
            self.expression(&condition.condition, place);
            self.expression(&condition.error_message, place);
        }
    }

    fn option(&mut self, expression: Option<&Expression>, place: &Place<'_>) {
        if let Some(expression) = expression {
            self.expression(expression, place);
        }
    }

    fn expression(&mut self, expression: &Expression, place: &Place<'_>) {
        // The conditions of checks may not be evaluated before a plan.
        let of_check = place.check.map(|_| Shelter::Some);
        for_each_mention(expression, &mut |mention, around| match mention {
            Mention::Name(traversal) => {
                self.traversal(traversal, &Place { bound: around.bound, shelter: around.shelter, ..*place });
                self.note_deep(traversal, of_check.unwrap_or(around.shelter));
            }
            Mention::Word(named, index) => self.word(named, index),
            Mention::Function(_) => {}
        });
    }

    /// A body whose arguments are not known here. The content of dynamic blocks may come to nothing: what it refers to is
    /// only checked when it is evaluated.
    fn body(&mut self, body: &Body, place: &Place<'_>) {
        body.for_each_evaluated_expression(&mut |expression, evaluated| match evaluated {
            Evaluated::Always => self.expression(expression, place),
            Evaluated::ForElements => self.mentions_of_itself(expression, place),
        });
    }

    /// Checks a word that is used as an instance key.
    fn word(&mut self, named: &Traversal, index: &Index) {
        let Ok(found) = parse_reference(named) else { return };
        let has_instances = matches!(found.target, Reference::Resource(_) | Reference::Module(_));
        if has_instances && found.key.is_none() && found.rest.is_empty() {
            let detail = "The key of an instance is a text in quotes or a whole number.";
            let problem = Diagnostic::error("Invalid index key", detail).at(index.brackets);
            self.diagnostics.push(problem.covering(named.span.to(index.brackets)));
        }
    }

    /// Checks a block for references to itself, which are errors even if no element would evaluate it.
    fn mentions_of_itself(&mut self, expression: &Expression, place: &Place<'_>) {
        // Of what a dynamic block knows its element by, these are all the attributes.
        let is_of_element = |address: &ResourceAddress| matches!(&*address.name, "key" | "value");
        let Some(itself) = place.argument_of.filter(|address| !is_of_element(address)) else { return };
        for_each_traversal(expression, &mut |traversal| {
            let named = parse_reference(traversal).map(|found| found.target);
            if matches!(named, Ok(Reference::Resource(address)) if address == *itself) {
                self.traversal(traversal, place);
            }
        });
    }

    /// A local value that is made of itself never gets one.
    fn itself(&mut self, local: &Local) {
        for_each_traversal(&local.expression, &mut |traversal| {
            let is_itself = &*traversal.root.name == "local"
                && matches!(traversal.steps().first(), Some(Step::Attribute { name, .. }) if *name == local.name);
            if is_itself {
                let detail =
                    format!("local.{} cannot be made of itself. Give one of the two another name.", local.name);
                self.diagnostics.push(Diagnostic::error("Self-referencing local value", detail).at(traversal.span));
            }
        });
    }

    fn traversal(&mut self, traversal: &Traversal, place: &Place<'_>) {
        self.diagnostics.append(problem(self.module, traversal, place));
    }

    /// Notes a reference into an object if its evaluation may not tell what is wrong with it, or not as well as the schema does.
    fn note_deep(&mut self, traversal: &Traversal, shelter: Shelter) {
        let Some((resource, steps)) = Binding::object_of(traversal) else { return };
        let inside = traversal.steps().len().saturating_sub(steps);
        // What one of several instances is like is not known before there are any: it may not be there.
        let block = self.module.resources.get_index(resource as usize);
        let may_be_passed_over = || shelter == Shelter::Some || block.is_some_and(|(_, block)| block.is_repeated());
        if inside > 1 || (inside > 0 && may_be_passed_over()) {
            let (module, traversal) = (self.module.path.clone(), traversal.clone());
            self.deep.push(DeepReference { module, resource, traversal, steps });
        }
    }
}
