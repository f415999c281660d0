//! `import` blocks: objects that exist already are taken over (PL-26).

use std::sync::Arc;

use groma_address::{InstanceKey, ModuleInstance, Name, ResourceInstance};
use groma_config::{Import, ImportIdentity};
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_hcl::{Expression, ExpressionKind, Step, with_stack};
use groma_lang::{instance_key, instance_key_of, observing};
use groma_provider::{IdentitySchema, ImportTarget};
use groma_value::{Type, Value, convert};

use super::planner::Planner;
use super::wanted::Wanted;
use crate::import_identity::{read_identity, unusable};
use crate::options::{Deferral, MissingResources};
use crate::plan::Importing;
use crate::repetition::{Elements, import_elements, secret_key};
use crate::walk::Outcome;
use crate::world::{InstanceScope, ModuleId, Repetition};

impl Planner<'_> {
    /// Evaluates an import block: which instances it is into, and what their objects are called outside.
    pub(super) fn import(&mut self, module: ModuleId, at: u32) -> Outcome {
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some(import) = config.imports.get(at as usize) else { return Outcome::Failed };
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions);
        let elements = match &import.for_each {
            Some(for_each) => import_elements(for_each, &scope, &mut self.evaluation.diagnostics),
            None => Some(Elements::Known(vec![Repetition::None])),
        };
        let elements = match elements {
            Some(Elements::Known(elements)) => elements,
            Some(Elements::Unknown(_)) if self.options.deferral == Deferral::Allowed => {
                self.later_imports.note_resource(import.to.clone());
                return Outcome::Done;
            }
            Some(Elements::Unknown(problem)) => {
                self.evaluation.diagnostics.push(*problem);
                return Outcome::Failed;
            }
            None => return Outcome::Failed,
        };
        let mut outcome = Outcome::Done;
        for repetition in elements {
            if self.import_one(module, (at, import), &repetition).is_none() {
                outcome = Outcome::Failed;
            }
        }
        outcome
    }

    fn import_one(&mut self, module: ModuleId, (at, import): (u32, &Import), repetition: &Repetition) -> Option<()> {
        let address = self.import_address(module, &import.to_expression, repetition)?;
        let (ImportIdentity::Id(expression) | ImportIdentity::Identity(expression)) = &import.identity;
        if self.is_left(module, expression, repetition) {
            self.later_imports.note_instance(address);
            return Some(());
        }
        let target = match &import.identity {
            ImportIdentity::Id(id) => ImportTarget::Id(self.import_id(module, id, repetition)?),
            ImportIdentity::Identity(identity) => {
                ImportTarget::Identity(self.import_identity(module, import, identity, repetition)?)
            }
        };
        let span = import.to_expression.span;
        let wanted = Wanted { importing: Importing { target, generated: None }, span, met: false, block: Some(at) };
        if let Some(other) = self.imports.insert(address.clone(), wanted)
            && other.importing != self.imports[&address].importing
        {
            let detail = format!(
                "{address} is imported twice, as two different objects. An instance stands for one object: remove one of the two."
            );
            let summary = format!("Duplicate import configuration for \"{address}\"");
            self.evaluation.diagnostics.push(Diagnostic::error(summary, detail).at(span));
            return None;
        }
        Some(())
    }

    /// Whether only a later run will know which object is meant.
    fn is_left(&self, module: ModuleId, expression: &Expression, repetition: &Repetition) -> bool {
        let scope = InstanceScope::new(&self.world, module, &self.evaluation.functions).repeated(repetition);
        // Problems are reported where the value is used.
        let mut problems = Diagnostics::new();
        self.options.deferral == Deferral::Allowed
            && !groma_lang::evaluate(expression, &scope, &mut problems).is_wholly_known()
            && !problems.has_errors()
    }

    fn import_id(&mut self, module: ModuleId, expression: &Expression, repetition: &Repetition) -> Option<String> {
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(repetition);
        let value = self.evaluation.value(expression, &scope)?;
        let problem = match read_id(&value) {
            Ok(id) => return Some(id),
            Err(problem) => problem,
        };
        let problem = Diagnostic::error("Invalid import id argument", problem).at(expression.span);
        let problem = observing(problem, expression, &scope);
        self.evaluation.diagnostics.push(problem);
        None
    }

    fn import_identity(
        &mut self,
        module: ModuleId,
        import: &Import,
        expression: &Expression,
        repetition: &Repetition,
    ) -> Option<Value> {
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(repetition);
        let value = self.evaluation.value(expression, &scope)?;
        let found =
            self.graph.find_resource(&import.to).map(|(index, node)| (index, self.graph.module(index).kind(node)));
        let template = match found {
            Some((index, crate::config_graph::NodeKind::Resource(at))) => self.templates.resource(index, at).cloned(),
            _ => None,
        };
        let schema = match &template {
            Some(template) => Some(Arc::clone(&template.schema)),
            None => self.missing_schema(import),
        };
        let Some(schema) = schema else {
            // The missing block is the problem. It is reported for all such imports at the end of the walk.
            return (self.options.missing == MissingResources::Refused).then_some(value);
        };
        let found = match schema.identity.as_ref() {
            Some(schema) => known_identity(&value, schema),
            None => Err(unusable(format!(
                "{} has no identity that it could be imported by. Use the argument \"id\".",
                import.to
            ))),
        };
        let problem = match found {
            Ok(identity) => return Some(identity),
            Err(problem) => problem.at(expression.span),
        };
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(repetition);
        self.evaluation.diagnostics.push(observing(problem, expression, &scope));
        None
    }

    /// The instance that an address with keys to be evaluated names.
    fn import_address(
        &mut self,
        module: ModuleId,
        expression: &Expression,
        repetition: &Repetition,
    ) -> Option<ResourceInstance> {
        let mut parts = Vec::new();
        self.address_parts(module, expression, repetition, &mut parts)?;
        assemble(&parts).or_else(|| self.no_import_address(expression))
    }

    fn no_import_address<T>(&mut self, expression: &Expression) -> Option<T> {
        let detail = "This is no address of a resource instance. Write TYPE.NAME, with module steps before it and a key after it if need be.";
        self.evaluation
            .diagnostics
            .push(Diagnostic::error("Invalid import 'to' expression", detail).at(expression.span));
        None
    }

    fn address_parts(
        &mut self,
        module: ModuleId,
        expression: &Expression,
        repetition: &Repetition,
        parts: &mut Vec<Part>,
    ) -> Option<()> {
        match &expression.without_parentheses().kind {
            ExpressionKind::Traversal(traversal) => {
                parts.push(Part::Name(traversal.root.name.clone()));
                push_steps(traversal.steps(), parts).or_else(|| self.no_import_address(expression))
            }
            ExpressionKind::Index(index) => {
                with_stack(|| self.address_parts(module, &index.source, repetition, parts))?;
                let key = self.import_key(module, &index.key, repetition)?;
                parts.push(Part::Key(key));
                Some(())
            }
            ExpressionKind::Relative(relative) => {
                self.address_parts(module, &relative.source, repetition, parts)?;
                push_steps(&relative.steps, parts).or_else(|| self.no_import_address(expression))
            }
            _ => self.no_import_address(expression),
        }
    }

    fn import_key(&mut self, module: ModuleId, key: &Expression, repetition: &Repetition) -> Option<InstanceKey> {
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(repetition);
        let value = self.evaluation.value(key, &scope)?;
        let problem = match instance_key_of(&value) {
            _ if value.marks().is_sensitive() => secret_key(),
            Some(found) => return Some(found),
            None => {
                let detail = "An instance key must be a whole number or a string, and known when planning.";
                Diagnostic::error("Invalid import 'to' expression", detail)
            }
        };
        self.evaluation.diagnostics.push(observing(problem.at(key.span), key, &scope));
        None
    }

    /// Returns the import target of an instance without an object.
    pub(super) fn importing(&mut self, address: &ResourceInstance) -> Option<Importing> {
        let wanted = self.imports.get_mut(address)?;
        wanted.met = true;
        let is_managed = self.state.object(address, None).is_some();
        (!is_managed).then(|| wanted.importing.clone())
    }

    /// Imports into instances that the configuration does not have. What is managed has been imported, and goes as others do.
    pub(super) fn report_unmet_imports(&mut self) {
        let mut missing: Vec<(&ResourceInstance, &Wanted)> = self
            .imports
            .iter()
            .filter(|(address, wanted)| {
                !wanted.met
                    && self.state.object(address, None).is_none()
                    && self.included.as_ref().is_none_or(|included| included.chosen(address))
            })
            .collect();
        missing.sort_by_key(|(address, _)| *address);
        let problems: Vec<Diagnostic> =
            missing.into_iter().map(|(address, wanted)| not_configured(address, wanted.span)).collect();
        problems.into_iter().for_each(|problem| self.evaluation.diagnostics.push(problem));
    }
}

/// Returns the error for an import target that has no instance in the configuration.
fn not_configured(address: &ResourceInstance, span: Span) -> Diagnostic {
    let detail = format!(
        "The configuration has no {address}, so nothing can be imported there. Write a resource block for it first, with count or \
         for_each such that it has this instance."
    );
    Diagnostic::error("Configuration for import target does not exist", detail).at(span)
}

/// A piece of an address.
enum Part {
    Name(Name),
    Key(InstanceKey),
}

fn push_steps(steps: &[Step], parts: &mut Vec<Part>) -> Option<()> {
    for step in steps {
        parts.push(match step {
            Step::Attribute { name, .. } => Part::Name(name.clone()),
            Step::Index { key, .. } => Part::Key(instance_key(key)?),
        });
    }
    Some(())
}

fn assemble(parts: &[Part]) -> Option<ResourceInstance> {
    let mut rest = parts;
    let mut module = ModuleInstance::root();
    while let [Part::Name(word), Part::Name(name), more @ ..] = rest {
        if &**word != "module" {
            break;
        }
        let (key, more) = match more {
            [Part::Key(key), more @ ..] => (key.clone(), more),
            more => (InstanceKey::None, more),
        };
        module = module.child(name.clone(), key);
        rest = more;
    }
    if let [Part::Name(word), more @ ..] = rest
        && &**word == "resource"
    {
        rest = more;
    }
    let (type_name, name, key) = match rest {
        [Part::Name(type_name), Part::Name(name)] => (type_name, name, InstanceKey::None),
        [Part::Name(type_name), Part::Name(name), Part::Key(key)] => (type_name, name, key.clone()),
        _ => return None,
    };
    let resource = groma_address::Resource::managed(type_name.clone(), name.clone());
    Some(resource.absolute(module).instance(key))
}

/// The id, be it sensitive or ephemeral: it names an object, and is shown and kept in the plan as in Terraform.
fn read_id(value: &Value) -> Result<String, String> {
    let (value, _) = value.unmark_deep();
    if value.is_null() {
        return Err("The import ID cannot be null. Give the id of an object that exists.".to_owned());
    }
    let text = convert::convert(&value, &Type::String)
        .map_err(|problem| format!("The import ID must be a string: {}.", problem.message))?;
    if !text.is_known() {
        return Err("The import id depends on values that only apply will know, so it cannot be told now which object is meant. \
                    Use values that are known when planning."
            .to_owned());
    }
    match text.as_str() {
        Some("") | None => Err("The import ID is an empty string. Give the id of an object that exists.".to_owned()),
        Some(text) => Ok(text.to_owned()),
    }
}

/// The identity, where it can be asked for now.
fn known_identity(value: &Value, schema: &IdentitySchema) -> Result<Value, Diagnostic> {
    if value.deep_marks().is_ephemeral() {
        return Err(unusable("The import identity must not be ephemeral: it is kept in the plan."));
    }
    let identity = read_identity(&value.unmark_deep().0, schema)?;
    if identity.is_wholly_known() {
        return Ok(identity);
    }
    Err(unusable(
        "The identity depends on values that only apply will know, so it cannot be told now which object is meant. Use values that are \
         known when planning.",
    ))
}
