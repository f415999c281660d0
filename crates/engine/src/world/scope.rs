//! Scope of expressions in a module instance.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_address::{InstanceKey, Name, Resource};
use groma_config::{LocalProvider, ProviderKey};
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_hcl::{Step, Traversal};
use groma_lang::{
    Binding, FunctionContext, ProviderFunctions, Reference, Referenced, Resolved, Scope, instance_key, parse_reference,
};
use groma_value::{Number, Value};

use super::{Expansion, ModuleData, ModuleId, Repetition, World, named_values};
use crate::config_graph::ModuleIndex;
use crate::module_functions::Handed;
use crate::static_references::in_block;
use crate::templates::read_key;

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

    /// Returns a scope with these values of `count` and `each`.
    #[must_use]
    pub fn repeated(self, repetition: &'a Repetition) -> Self {
        Self { repetition, ..self }
    }

    /// Returns a scope in which `self` is `value`.
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
            Reference::Count(attribute) => named_values::count(self.repetition, self.config(), attribute, found),
            Reference::Each(attribute) => named_values::each(self.repetition, self.config(), attribute, found),
            // "self" consumes no further step: its root is the object.
            Reference::SelfObject => match self.itself {
                Some(value) => Ok(Resolved { value: value.clone(), consumed: 0 }),
                None => Err(invalid_self(found.span)),
            },
            Reference::Path(attribute) => {
                named_values::path(self.world.shared_context(), self.config(), attribute, found)
            }
            Reference::Terraform(attribute) | Reference::OpenTofu(attribute) => {
                named_values::terraform(self.world.shared_context(), attribute, found)
            }
        }
    }

    fn config(&self) -> &'a groma_config::Module {
        &self.world.graph().module(self.data().of).config
    }

    /// The value of what the name was found to mean; none where the steps after it need a closer look.
    fn bound(&self, binding: Binding, traversal: &Traversal) -> Option<Resolved> {
        let data = self.data();
        let slot = |values: &[Option<Value>], at: u32| values.get(at as usize)?.clone().or(Some(Value::DYNAMIC));
        let value = match binding {
            Binding::Variable(at) => slot(&data.variables, at)?,
            Binding::Local(at) => slot(&data.locals, at)?,
            Binding::Resource(at) | Binding::PrefixedResource(at) => {
                let resource = data.resources.get(at as usize)?;
                if let Some(key) = binding.index(traversal)
                    && let Some(at) = resource.expansion.position(&instance_key(key)?)
                {
                    return Some(Resolved { value: resource.value(at), consumed: binding.steps() + 1 });
                }
                resource.whole()
            }
            Binding::Module(_) => return None,
        };
        Some(Resolved { value, consumed: binding.steps() })
    }

    /// Returns the error for the steps of a reference into an object of known type.
    fn inside(&self, traversal: &Traversal) -> Option<Diagnostic> {
        let (block, steps) = Binding::object_of(traversal)?;
        let template = self.world.shared_context().templates.resource(self.data().of, block)?;
        in_block(&template.schema.block, traversal.steps().get(steps..)?).err()
    }

    fn resource(&self, address: &Resource, found: &Referenced, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        let Some(position) = self.config().resources.get_index_of(address) else {
            return Err(undeclared("resource", found));
        };
        let data = &self.data().resources[position];
        // The steps after the root that make up the address: the type may be the root itself.
        let named = match &*traversal.root.name {
            "data" | "ephemeral" | "list" | "resource" => 2,
            _ => 1,
        };
        let instance = found.key.as_ref().filter(|key| **key != InstanceKey::None);
        match instance.and_then(|key| data.expansion.position(key)) {
            Some(at) => Ok(Resolved { value: data.value(at), consumed: named + 1 }),
            None => Ok(Resolved { value: data.whole(), consumed: named }),
        }
    }

    fn call(&self, name: &str, found: &Referenced) -> Result<Resolved, Diagnostic> {
        let Some(position) = self.config().calls.get_index_of(name) else {
            return Err(undeclared("module", found));
        };
        let data = &self.data().calls[position];
        let (_, config) = self.config().calls.get_index(position).unzip();
        if config.is_some_and(|config| config.count.is_some())
            && let Some(InstanceKey::String(key)) = &found.key
            && Number::parse(key).is_err()
        {
            let detail = format!(
                "module.{name} has \"count\" set, so its instance keys are numbers, not strings such as \
                 {key:?}."
            );
            return Err(Diagnostic::error("Invalid index", detail).at(found.span));
        }
        let (at, keyed) = match &found.key {
            Some(key) => (data.expansion.position(key), 1),
            None => (matches!(data.expansion, Expansion::Single).then_some(0), 0),
        };
        // A single output of one instance is resolved without evaluating the others.
        if let Some(id) = at.and_then(|at| data.instances.get(at)).copied()
            && let Some(Step::Attribute { name, .. }) = found.rest.first()
            && let Some(output) = self.world.static_module(id).config.outputs.get_index_of(name)
        {
            let value = self.world.module(id).outputs[output].clone().unwrap_or(Value::DYNAMIC);
            return Ok(Resolved { value: data.expansion.known(value), consumed: 2 + keyed });
        }
        Ok(Resolved { value: self.world.whole_call(self.module, position), consumed: 1 })
    }
}

impl Scope for InstanceScope<'_> {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        // Most names are kept as numbers; others are in templates of files, or name no object of the module.
        if let Some(binding) = Binding::of(traversal)
            && let Some(resolved) = self.bound(binding, traversal)
        {
            return Ok(resolved);
        }
        let found = parse_reference(traversal)?;
        self.named(&found, traversal)
    }

    fn functions(&self) -> &FunctionContext {
        functions(self.world, self.module, self.functions)
    }

    fn check(&self, traversal: &Traversal) -> Option<Diagnostic> {
        let problem = groma_config::check_reference(self.config(), traversal);
        problem.or_else(|| match Binding::of(traversal) {
            Some(_) => self.inside(traversal),
            // What means something here is neither declared nor kept: count, each and self.
            None => self.resolve(traversal).err(),
        })
    }
}

fn undeclared(what: &str, found: &Referenced) -> Diagnostic {
    let detail = format!("\"{}\" is not declared in this module.", found.target);
    Diagnostic::error(format!("Reference to undeclared {what}"), detail).at(found.span)
}

fn invalid_self(span: Span) -> Diagnostic {
    let detail = "\"self\" is valid only in postconditions, provisioners and connections of a resource.";
    Diagnostic::error("Invalid \"self\" reference", detail).at(span)
}

/// Returns the functions for expressions in a module: `common`, and the functions of the module's providers.
pub(super) fn functions<'a>(world: &'a World, id: ModuleId, common: &'a FunctionContext) -> &'a FunctionContext {
    let module = world.module(id).of;
    let Some(functions) = world.shared_context.templates.functions().of(module) else { return common };
    // Contexts are built only for modules whose providers have functions; all others share one.
    let with = |functions: Arc<dyn ProviderFunctions>| FunctionContext {
        provider_functions: Some(functions),
        ..common.clone()
    };
    match (functions.handed(), world.functions.get(module.at())) {
        (Handed::Whole, Some(cell)) => cell.get_or_init(|| with(Arc::clone(functions) as _)),
        _ => world
            .module(id)
            .functions
            .get_or_init(|| Box::new(with(Arc::new(functions.having(chosen_providers(world, id, module, common)))))),
    }
}

/// Returns the instances of provider blocks with `for_each` that calls pass to a module instance; invalid keys are reported
/// where the block is used.
fn chosen_providers(
    world: &World,
    id: ModuleId,
    module: ModuleIndex,
    common: &FunctionContext,
) -> BTreeMap<LocalProvider, Name> {
    let mut chosen = BTreeMap::new();
    let config = &world.graph.module(module).config;
    let passed = world.graph.module(module).caller.and_then(|caller| {
        let (_, call) = world.graph.module(caller.module).config.calls.get_index(caller.call as usize)?;
        Some(call.providers.iter().map(|passed| passed.child.clone()))
    });
    let defaults = config.required_providers.keys().cloned().map(LocalProvider::default_of);
    for local in passed.into_iter().flatten().chain(defaults) {
        let Some(used) = world.graph.provider_use(module, &local) else { continue };
        let Some(ProviderKey::Passed { module: called, key }) = used.key else { continue };
        // The key was written in a call further up, so it is evaluated in the scope of that call.
        let mut inside = id;
        while world.static_module(inside).path() != called
            && let Some(caller) = world.module(inside).caller
        {
            inside = caller;
        }
        let data = world.module(inside);
        let Some(caller) = data.caller else { continue };
        let scope = InstanceScope::new(world, caller, common).repeated(&data.repetition);
        // Problems are dropped here, because the use of the provider reports them.
        let value = groma_lang::evaluate(key, &scope, &mut Diagnostics::new());
        if let Ok(Some(key)) = read_key(&value) {
            chosen.insert(local, key);
        }
    }
    chosen
}
