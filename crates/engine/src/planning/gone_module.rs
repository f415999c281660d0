//! The scope of a module instance that is gone but whose block is still there.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use groma_address::{ModuleInstance, Name};
use groma_config::{Module, ModuleCall};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::{Expression, Traversal};
use groma_lang::{FunctionContext, Reference, Resolved, Scope, evaluate, parse_reference};
use groma_value::Value;

use crate::world::{InstanceScope, Repetition, World, named_values};

/// The scope of a module instance whose key is no longer in `count` or `for_each` of the call.
///
/// Variables have the values that the call passes, local values follow from them. Everything that is gone with the
/// instance is unknown: `each.value` of the call, resources and calls in the module.
#[derive(Clone)]
pub(super) struct GoneModuleScope<'a> {
    world: &'a World,
    functions: &'a FunctionContext,
    module: &'a Module,
    address: &'a ModuleInstance,
    repetition: &'a Repetition,
    /// The local values that were evaluated. Without them a chain of locals that mention each other twice takes exponential time.
    locals: Rc<RefCell<HashMap<Name, Value>>>,
}

impl<'a> GoneModuleScope<'a> {
    /// The scope of blocks that do not repeat in the module instance at `address`. Nothing if the configuration has no
    /// such module.
    pub(super) fn new(world: &'a World, functions: &'a FunctionContext, address: &'a ModuleInstance) -> Option<Self> {
        let graph = world.graph();
        let module = &graph.module(graph.find(&address.path())?).config;
        // Blocks that do not repeat are the common case; callers set a repetition where necessary.
        let (repetition, locals) = (&Repetition::None, Rc::default());
        Some(Self { world, functions, module, address, repetition, locals })
    }

    /// The scope of a block that repeats like this.
    pub(super) fn repeated(self, repetition: &'a Repetition) -> Self {
        Self { repetition, ..self }
    }

    /// The value of a variable, unknown where the call cannot tell it.
    fn variable(&self, name: &Name) -> Value {
        let Some(variable) = self.module.variables.get(name) else { return Value::DYNAMIC };
        let given = match self.argument(name) {
            Some(Argument::Given(value)) => value,
            Some(Argument::Missing) => return variable.default_value().unwrap_or(Value::DYNAMIC),
            None => return Value::DYNAMIC,
        };
        // A value that the variable does not accept is unknown; errors are reported where the call is checked.
        variable.accept(&given).unwrap_or(Value::DYNAMIC)
    }

    /// The argument of the call for a variable; none if the configuration has no such call.
    fn argument(&self, name: &Name) -> Option<Argument> {
        let step = self.address.steps().last()?;
        let caller = self.address.parent()?;
        let graph = self.world.graph();
        let call = graph.module(graph.find(&caller.path())?).config.calls.get(&step.name)?;
        let (arguments, _) = call.body.attributes();
        let Some(argument) = arguments.iter().find(|argument| argument.name.name == *name) else {
            return Some(Argument::Missing);
        };
        let repetition = repetition_of_call(call, Repetition::of_orphan(&step.key));
        Some(Argument::Given(match self.world.find(&caller) {
            Some(caller) => {
                let scope = InstanceScope::new(self.world, caller, self.functions).repeated(&repetition);
                value_in(&argument.expression, &scope)
            }
            None => {
                let scope = GoneModuleScope::new(self.world, self.functions, &caller)?;
                value_in(&argument.expression, &scope.repeated(&repetition))
            }
        }))
    }

    fn local(&self, name: &Name) -> Value {
        if let Some(known) = self.locals.borrow().get(name) {
            return known.clone();
        }
        let local = self.module.locals.get(name);
        // Locals do not repeat, even if the block that refers to them does.
        let scope = self.clone().repeated(&Repetition::None);
        let value = local.map_or(Value::DYNAMIC, |local| value_in(&local.expression, &scope));
        self.locals.borrow_mut().insert(name.clone(), value.clone());
        value
    }
}

/// The argument of a call for a variable.
enum Argument {
    Given(Value),
    Missing,
}

/// The values of `count` and `each` in a call for a recorded instance; unknown if the call repeats in another way by now.
fn repetition_of_call(call: &ModuleCall, recorded: Repetition) -> Repetition {
    match recorded {
        Repetition::None if !call.is_repeated() => Repetition::None,
        Repetition::Count(_) if call.count.is_some() => recorded,
        Repetition::Each(..) if call.for_each.is_some() => recorded,
        _ => Repetition::Unknown,
    }
}

/// The value of an expression, unknown after an error. Errors are reported where the expression is checked.
fn value_in(expression: &Expression, scope: &dyn Scope) -> Value {
    evaluate(expression, scope, &mut Diagnostics::new())
}

impl Scope for GoneModuleScope<'_> {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        let found = parse_reference(traversal)?;
        let shared_context = self.world.shared_context();
        match &found.target {
            Reference::Variable(name) => Ok(Resolved { value: self.variable(name), consumed: 1 }),
            Reference::Local(name) => Ok(Resolved { value: self.local(name), consumed: 1 }),
            Reference::Count(attribute) => named_values::count(self.repetition, self.module, attribute, &found),
            Reference::Each(attribute) => named_values::each(self.repetition, self.module, attribute, &found),
            Reference::Path(attribute) => named_values::path(shared_context, self.module, attribute, &found),
            Reference::Terraform(attribute) | Reference::OpenTofu(attribute) => {
                named_values::terraform(shared_context, attribute, &found)
            }
            Reference::Resource(_) | Reference::Module(_) | Reference::SelfObject => {
                // Resources of the removed instance are being destroyed, so their values cannot be relied on.
                Ok(Resolved { value: Value::DYNAMIC, consumed: 0 })
            }
        }
    }

    fn functions(&self) -> &FunctionContext {
        self.functions
    }
}
