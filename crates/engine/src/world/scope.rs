//! What an expression sees from inside a module instance.

use std::path::Path;

use groma_address::{InstanceKey, Mode, Resource};
use groma_diagnostics::{Diagnostic, Span};
use groma_hcl::{Step, Traversal};
use groma_lang::{FunctionContext, Reference, Referenced, Resolved, Scope, parse_reference};
use groma_value::{Marks, Type, Value};
use indexmap::Equivalent;

use super::{ModuleData, ModuleId, Repetition, World};

/// The scope of everything in one module instance: variables, locals, resources and so on, with the meaning of `count`,
/// `each` and `self` for one block.
pub struct InstanceScope<'a> {
    world: &'a World,
    module: ModuleId,
    functions: &'a FunctionContext,
    repetition: &'a Repetition,
    itself: Option<&'a Value>,
}

impl<'a> InstanceScope<'a> {
    /// The scope of blocks that do not repeat.
    pub fn new(world: &'a World, module: ModuleId, functions: &'a FunctionContext) -> Self {
        Self { world, module, functions, repetition: &Repetition::None, itself: None }
    }

    /// The same, where `count` and `each` have this meaning.
    #[must_use]
    pub fn repeated(self, repetition: &'a Repetition) -> Self {
        Self { repetition, ..self }
    }

    /// The same, where `self` is `value`.
    #[must_use]
    pub fn with_self(self, value: &'a Value) -> Self {
        Self { itself: Some(value), ..self }
    }

    fn data(&self) -> &'a ModuleData {
        self.world.module(self.module)
    }

    fn named(&self, found: &Referenced, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        match &found.target {
            Reference::Variable(name) => {
                let position = self.config().variables.get_index_of(name);
                let value = position.map(|at| self.data().variables[at].clone().unwrap_or(Value::DYNAMIC));
                value.map(|value| Resolved { value, consumed: 1 }).ok_or_else(|| undeclared("input variable", found))
            }
            Reference::Local(name) => {
                let position = self.config().locals.get_index_of(name);
                let value = position.map(|at| self.data().locals[at].clone().unwrap_or(Value::DYNAMIC));
                value.map(|value| Resolved { value, consumed: 1 }).ok_or_else(|| undeclared("local value", found))
            }
            Reference::Resource(address) => self.resource(address, found, traversal),
            Reference::Module(name) => self.call(name, found),
            Reference::Count(attribute) => self.count(attribute, found),
            Reference::Each(attribute) => self.each(attribute, found),
            Reference::SelfObject => match self.itself {
                Some(value) => Ok(Resolved { value: value.clone(), consumed: 0 }),
                None => Err(invalid_self(found.span)),
            },
            Reference::Path(attribute) => self.path(attribute, found),
            Reference::Terraform(attribute) => self.terraform(attribute, found),
            Reference::Check(_) | Reference::Output(_) => Err(undeclared("object", found)),
        }
    }

    fn config(&self) -> &'a groma_config::Module {
        &self.world.graph().module(self.data().of).config
    }

    /// `type.name` of a managed resource; none for any other form, and for names that are not declared.
    fn plain_resource(&self, traversal: &Traversal) -> Option<Resolved> {
        let [Step::Attribute { name, .. }, rest @ ..] = traversal.steps.as_slice() else { return None };
        if matches!(rest.first(), Some(Step::Index { .. })) || is_reserved(&traversal.root.name) {
            return None;
        }
        let key = Written { mode: Mode::Managed, type_name: &traversal.root.name, name };
        let position = self.config().resources.get_index_of(&key)?;
        Some(Resolved { value: self.data().resources[position].whole().clone(), consumed: 1 })
    }

    fn resource(&self, address: &Resource, found: &Referenced, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        let Some(position) = self.config().resources.get_index_of(address) else {
            return Err(undeclared("resource", found));
        };
        let data = &self.data().resources[position];
        // The steps after the root that make up the address: the type may be the root itself.
        let named = match &*traversal.root.name {
            "data" | "ephemeral" | "resource" => 2,
            _ => 1,
        };
        let instance = found.key.as_ref().filter(|key| **key != InstanceKey::None);
        match instance.and_then(|key| data.expansion.position(key)) {
            Some(at) => Ok(Resolved { value: data.value(at), consumed: named + 1 }),
            None => Ok(Resolved { value: data.whole().clone(), consumed: named }),
        }
    }

    fn call(&self, name: &str, found: &Referenced) -> Result<Resolved, Diagnostic> {
        let Some(position) = self.config().calls.get_index_of(name) else {
            return Err(undeclared("module", found));
        };
        let data = &self.data().calls[position];
        let (at, keyed) = match &found.key {
            Some(key) => (data.expansion.position(key), 1),
            None => (data.expansion.position(&InstanceKey::None), 0),
        };
        // One output of one instance needs no look at the others.
        if let Some(id) = at.and_then(|at| data.instances.get(at)).copied()
            && let Some(Step::Attribute { name, .. }) = found.rest.first()
            && let Some(output) = self.world.static_module(id).config.outputs.get_index_of(name)
        {
            let value = self.world.module(id).outputs[output].clone().unwrap_or(Value::DYNAMIC);
            return Ok(Resolved { value, consumed: 2 + keyed });
        }
        Ok(Resolved { value: self.world.whole_call(self.module, position), consumed: 1 })
    }

    fn count(&self, attribute: &str, found: &Referenced) -> Result<Resolved, Diagnostic> {
        if attribute != "index" {
            let detail = format!("The \"count\" object has no attribute \"{attribute}\"; it has only \"index\".");
            return Err(Diagnostic::error("Invalid \"count\" attribute", detail).at(found.span));
        }
        let value = match self.repetition {
            Repetition::Count(index) => Value::number(*index),
            Repetition::Unknown => Value::unknown(Type::Number),
            Repetition::None | Repetition::Each(..) => {
                let detail = "\"count.index\" means something only inside a block that has the \"count\" argument.";
                return Err(Diagnostic::error("Reference to \"count\" in non-counted context", detail).at(found.span));
            }
        };
        Ok(Resolved { value, consumed: 1 })
    }

    fn each(&self, attribute: &str, found: &Referenced) -> Result<Resolved, Diagnostic> {
        let value = match (self.repetition, attribute) {
            (_, other) if other != "key" && other != "value" => {
                let detail = format!("The \"each\" object has no attribute \"{other}\"; it has \"key\" and \"value\".");
                return Err(Diagnostic::error("Invalid \"each\" attribute", detail).at(found.span));
            }
            (Repetition::Each(key, _), "key") => Value::string(key),
            (Repetition::Each(_, value), _) => value.clone(),
            (Repetition::Unknown, "key") => Value::unknown(Type::String),
            (Repetition::Unknown, _) => Value::DYNAMIC,
            _ => {
                let detail = "\"each\" means something only inside a block that has the \"for_each\" argument.";
                return Err(
                    Diagnostic::error("Reference to \"each\" in context without for_each", detail).at(found.span)
                );
            }
        };
        Ok(Resolved { value, consumed: 1 })
    }

    fn path(&self, attribute: &str, found: &Referenced) -> Result<Resolved, Diagnostic> {
        let surroundings = self.world.surroundings();
        let text = match attribute {
            "cwd" => display(&surroundings.working_directory),
            "root" => display(&surroundings.root_directory),
            "module" => match display(&self.config().directory).as_str() {
                "" | "." => display(&surroundings.root_directory),
                directory if surroundings.root_directory == Path::new(".") => directory.to_owned(),
                directory => display(&surroundings.root_directory.join(directory)),
            },
            other => {
                let detail = format!(
                    "The \"path\" object has no attribute \"{other}\"; it has \"module\", \"root\" and \"cwd\"."
                );
                return Err(Diagnostic::error("Invalid \"path\" attribute", detail).at(found.span));
            }
        };
        Ok(Resolved { value: Value::string(text), consumed: 1 })
    }

    fn terraform(&self, attribute: &str, found: &Referenced) -> Result<Resolved, Diagnostic> {
        let surroundings = self.world.surroundings();
        let value = match attribute {
            "workspace" => Value::string(&surroundings.workspace),
            // Differs between plan and apply, so nothing that is kept may be made of it.
            "applying" => Value::bool(surroundings.applying).with_marks(&Marks::EPHEMERAL),
            other => {
                let detail = format!(
                    "The \"terraform\" object has no attribute \"{other}\"; it has \"workspace\" and \"applying\"."
                );
                return Err(Diagnostic::error("Invalid \"terraform\" attribute", detail).at(found.span));
            }
        };
        Ok(Resolved { value, consumed: 1 })
    }
}

impl Scope for InstanceScope<'_> {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        // The most frequent forms need no parsed reference.
        if let (root @ ("var" | "local"), Some(Step::Attribute { name, .. })) =
            (&*traversal.root.name, traversal.steps.first())
        {
            let config = self.config();
            let slot = match root {
                "var" => config.variables.get_index_of(name).map(|at| &self.data().variables[at]),
                _ => config.locals.get_index_of(name).map(|at| &self.data().locals[at]),
            };
            if let Some(value) = slot {
                return Ok(Resolved { value: value.clone().unwrap_or(Value::DYNAMIC), consumed: 1 });
            }
        }
        if let Some(resolved) = self.plain_resource(traversal) {
            return Ok(resolved);
        }
        let found = parse_reference(traversal)?;
        self.named(&found, traversal)
    }

    fn functions(&self) -> &FunctionContext {
        self.world.functions(self.module, self.functions)
    }
}

/// A resource's address made of the names where they are. Has the hash of a [`Resource`].
#[derive(Hash)]
struct Written<'a> {
    mode: Mode,
    type_name: &'a str,
    name: &'a str,
}

impl Equivalent<Resource> for Written<'_> {
    fn equivalent(&self, other: &Resource) -> bool {
        // The own name first: it is the one that differs.
        *self.name == *other.name && *self.type_name == *other.type_name && self.mode == other.mode
    }
}

/// Whether references that begin with `root` mean something other than a managed resource.
fn is_reserved(root: &str) -> bool {
    matches!(
        root,
        "var"
            | "local"
            | "module"
            | "data"
            | "ephemeral"
            | "resource"
            | "count"
            | "each"
            | "self"
            | "path"
            | "terraform"
            | "tofu"
            | "template"
            | "lazy"
            | "arg"
    )
}

fn display(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

fn undeclared(what: &str, found: &Referenced) -> Diagnostic {
    let detail = format!("\"{}\" is not declared in this module.", found.target);
    Diagnostic::error(format!("Reference to undeclared {what}"), detail).at(found.span)
}

fn invalid_self(span: Span) -> Diagnostic {
    let detail = "\"self\" means something only in postconditions, provisioners and connections of a resource.";
    Diagnostic::error("Invalid \"self\" reference", detail).at(span)
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn names_where_they_are_have_the_hash_of_an_address() {
        let address = Resource::managed("type", "name");
        let written = Written { mode: Mode::Managed, type_name: "type", name: "name" };
        let hasher = std::hash::RandomState::new();
        assert_eq!(hasher.hash_one(&written), hasher.hash_one(&address));
        assert!(written.equivalent(&address));
        assert!(!written.equivalent(&Resource::data("type", "name")));
    }
}
