//! Import blocks: what they name is looked at for mistakes only.

use std::sync::Arc;

use groma_config::{Import, ImportIdentity};
use groma_diagnostics::Diagnostic;
use groma_provider::{IdentityImport, IdentitySchema};
use groma_value::{Type, Value, convert};

use super::repetition::suitable;
use super::walk::Validator;
use crate::config_graph::NodeKind;
use crate::walk::Outcome;
use crate::world::{InstanceScope, ModuleId, Repetition};

impl Validator<'_> {
    /// What an import names.
    pub(super) fn import(&mut self, module: ModuleId, at: u32) -> Outcome {
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
    fn unsuitable_identity(&self, import: &Import, value: &Value) -> Option<Diagnostic> {
        let (index, node) = self.world.graph().find_resource(&import.to)?;
        let NodeKind::Resource(at) = self.world.graph().module(index).kind(node) else { return None };
        let template = self.templates.resource(index, at)?;
        unsuitable_identity(value, template.schema.identity.as_ref()?)
    }

    /// Why no block can be made for the target of an import that has none.
    fn no_import_target(&self, import: &Import) -> Option<Diagnostic> {
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
