//! Validation of import blocks: their targets are checked, not imported.

use std::sync::Arc;

use groma_address::InstanceKey;
use groma_config::{Import, ImportIdentity};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::{Expression, ExpressionKind, LiteralKey, Step};
use groma_lang::{evaluate, instance_key_of, observing};
use groma_provider::Schema;
use groma_value::{Type, Value, convert};

use super::Validator;
use crate::config_graph::NodeKind;
use crate::import_identity::read_identity;
use crate::repetition::{Elements, import_elements, secret_key};
use crate::walk::Outcome;
use crate::world::{InstanceScope, ModuleId, Repetition};

impl Validator<'_> {
    /// Validates an import block.
    pub(super) fn import(&mut self, module: ModuleId, at: u32) -> Outcome {
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some(import) = config.imports.get(at as usize) else { return Outcome::Failed };
        let functions = Arc::clone(&self.evaluation.functions);
        let outer = InstanceScope::new(&self.world, module, &functions);
        let mut sound = true;
        let mut repetition = Repetition::None;
        if let Some(for_each) = &import.for_each {
            let elements = import_elements(for_each, &outer, &mut self.evaluation.diagnostics);
            sound &= elements.is_some();
            repetition = Repetition::Element(Value::DYNAMIC, Value::DYNAMIC);
            if let Some(Elements::Known(elements)) = elements {
                sound &= elements.iter().all(|element| self.has_valid_key(module, import, element));
            }
        }
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition);
        let (ImportIdentity::Id(identity) | ImportIdentity::Identity(identity)) = &import.identity;
        let value = self.evaluation.value(identity, &scope);
        sound &= value.is_some();
        if let (Some(value), ImportIdentity::Id(id)) = (&value, &import.identity)
            && let Some(problem) = unsuitable_id(value)
        {
            self.evaluation.diagnostics.push(problem.at(id.span));
            sound = false;
        }
        if let (Some(value), ImportIdentity::Identity(identity)) = (&value, &import.identity)
            && let Some(problem) = self.unsuitable_identity(import, value)
        {
            let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition);
            let problem = observing(problem.at(identity.span), identity, &scope);
            self.evaluation.diagnostics.push(problem);
            sound = false;
        }
        if let Some(problem) = self.no_import_target(import) {
            self.evaluation.diagnostics.push(problem.at(import.to_expression.span));
            sound = false;
        }
        if sound { Outcome::Done } else { Outcome::Failed }
    }

    /// Whether an element makes an address of an instance that the resource may have.
    fn has_valid_key(&mut self, module: ModuleId, import: &Import, element: &Repetition) -> bool {
        let ExpressionKind::Index(index) = &import.to_expression.kind else { return true };
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(element);
        let mut problems = Diagnostics::new();
        let value = evaluate(&index.key, &scope, &mut problems);
        // Errors in the expression are reported with all other expressions.
        if problems.has_errors() || !value.is_known() {
            return true;
        }
        let problem = match instance_key_of(&value) {
            _ if value.marks().is_sensitive() => Some(secret_key()),
            None => Some(Diagnostic::error("Invalid address", "An instance key must be a string or a whole number.")),
            Some(key) => self.unfit_key(import, &key),
        };
        let Some(problem) = problem else { return true };
        self.evaluation.diagnostics.push(observing(problem.at(index.key.span), &index.key, &scope));
        false
    }

    /// Returns the reason why the resource has no instance with this kind of key.
    fn unfit_key(&self, import: &Import, key: &InstanceKey) -> Option<Diagnostic> {
        let declared = self.world.graph().block(&import.to)?;
        let (argument, wanted) = match key {
            InstanceKey::String(_) if declared.count.is_some() => ("count", "numbers"),
            InstanceKey::Int(_) if declared.for_each.is_some() => ("for_each", "texts"),
            _ => return None,
        };
        let detail = format!("{} has {argument:?} set, so its instance keys are {wanted}.", import.to);
        Some(Diagnostic::error("Invalid import 'to' expression", detail))
    }

    /// Checks the identity of an import, as far as it is known.
    fn unsuitable_identity(&mut self, import: &Import, value: &Value) -> Option<Diagnostic> {
        let schema = match self.world.graph().find_resource(&import.to) {
            Some((index, node)) => {
                let NodeKind::Resource(at) = self.world.graph().module(index).kind(node) else { return None };
                Arc::clone(&self.templates.resource(index, at)?.schema)
            }
            None => self.undeclared_schema(import)?,
        };
        read_identity(value, schema.identity.as_ref()?).err()
    }

    /// Returns the schema of a resource without a block. Its errors are reported where the block is generated.
    fn undeclared_schema(&mut self, import: &Import) -> Option<Arc<Schema>> {
        let root = &self.configuration.root.path;
        let config = self.configuration.resolve_provider_config(root, &import.local_provider()).ok()?;
        let span = import.to_expression.span;
        self.providers.schema(&config.provider, &import.to.resource, span).ok()
    }

    /// Returns the reason why no block can be generated for an import target.
    fn no_import_target(&self, import: &Import) -> Option<Diagnostic> {
        if self.world.graph().find_resource(&import.to).is_some() {
            return None;
        }
        if !import.to.module.is_root() {
            let detail = format!(
                "{} is not declared. Configuration is generated only for the root module. Add a resource block, or \
                 correct the address.",
                import.to
            );
            return Some(Diagnostic::error("Configuration for import target does not exist", detail));
        }
        let (summary, argument) = match literal_key(&import.to_expression) {
            _ if import.for_each.is_some() => ("Invalid import 'to' expression", "for_each"),
            Some(LiteralKey::Number(_)) => ("Configuration for import target does not exist", "count"),
            Some(LiteralKey::String(_)) => ("Configuration for import target does not exist", "for_each"),
            None => return None,
        };
        let detail = format!(
            "{} is not declared. -generate-config-out supports only single resources. Add a resource block with \
             {argument:?}.",
            import.to
        );
        Some(Diagnostic::error(summary, detail))
    }
}

/// The key at the end of an address, if it is written out.
fn literal_key(to: &Expression) -> Option<&LiteralKey> {
    let ExpressionKind::Traversal(address) = &to.kind else { return None };
    match address.steps().last() {
        Some(Step::Index { key, .. }) => Some(key),
        _ => None,
    }
}

/// Checks the identifier of an import, as far as it is known.
fn unsuitable_id(value: &Value) -> Option<Diagnostic> {
    let (value, _) = value.unmark();
    if value.is_null() {
        return Some(Diagnostic::error(
            "Invalid import id argument",
            "The ID is null. Use the ID of an existing object.",
        ));
    }
    let Ok(text) = convert::convert(&value, &Type::String) else {
        let detail = format!("The ID must be a string, not a value of type {}.", value.ty().friendly_name());
        return Some(Diagnostic::error("Incorrect value type", detail));
    };
    text.as_str()
        .is_some_and(str::is_empty)
        .then(|| Diagnostic::error("Invalid import id argument", "The ID is empty. Use the ID of an existing object."))
}
