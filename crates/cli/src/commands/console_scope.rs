//! What expressions at the console may see: variables, local values and what the state holds.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use groma_address::{InstanceKey, Name, Resource};
use groma_config::Module;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_engine::Input;
use groma_hcl::Traversal;
use groma_lang::{FunctionContext, Reference, Resolved, Scope, evaluate, parse_reference};
use groma_value::Value;
use indexmap::IndexMap;

use crate::views::state::StoredObject;

/// The scope of the root module.
pub(super) struct ConsoleScope {
    module: Arc<Module>,
    variables: HashMap<Name, Value>,
    resources: HashMap<Resource, Value>,
    workspace: String,
    directory: String,
    functions: FunctionContext,
    locals: RefCell<HashMap<Name, Value>>,
    /// Local values that are being evaluated, to find circles.
    under_way: RefCell<HashSet<Name>>,
}

/// What a scope is made from.
pub(super) struct Parts<'p> {
    pub module: Arc<Module>,
    pub inputs: &'p IndexMap<Name, Input>,
    pub objects: Vec<StoredObject>,
    pub workspace: String,
    pub directory: String,
    pub functions: FunctionContext,
}

impl ConsoleScope {
    pub fn new(parts: Parts<'_>) -> Self {
        let variables = parts.module.variables.iter().map(|(name, variable)| {
            let given = parts.inputs.get(name).and_then(|input| variable.accept(&input.value).ok());
            let value = given.or_else(|| variable.default_value()).unwrap_or(Value::DYNAMIC);
            (name.clone(), value)
        });
        Self {
            variables: variables.collect(),
            resources: resources(parts.objects),
            workspace: parts.workspace,
            directory: parts.directory,
            functions: parts.functions,
            locals: RefCell::default(),
            under_way: RefCell::default(),
            module: parts.module,
        }
    }

    fn local(&self, name: &Name, traversal: &Traversal) -> Result<Value, Diagnostic> {
        if let Some(value) = self.locals.borrow().get(name) {
            return Ok(value.clone());
        }
        let undeclared =
            || absent(traversal, &format!("There is no local value named {:?} in the root module.", &**name));
        let expression = self.module.locals.get(name).map(|local| local.expression.clone()).ok_or_else(undeclared)?;
        if !self.under_way.borrow_mut().insert(name.clone()) {
            let detail = format!("The local value {:?} refers to itself, directly or through others.", &**name);
            return Err(Diagnostic::error("Circular reference", detail).at(traversal.span));
        }
        let mut problems = Diagnostics::new();
        let value = evaluate(&expression, self, &mut problems);
        self.under_way.borrow_mut().remove(name);
        match problems.into_iter().find(Diagnostic::is_error) {
            Some(problem) => Err(problem),
            None => {
                self.locals.borrow_mut().insert(name.clone(), value.clone());
                Ok(value)
            }
        }
    }

    fn resource(&self, resource: &Resource, traversal: &Traversal) -> Result<Value, Diagnostic> {
        match self.resources.get(resource) {
            Some(value) => Ok(value.clone()),
            None if self.module.resources.contains_key(resource) => Ok(Value::DYNAMIC),
            None => Err(absent(traversal, &format!("There is no resource {resource} in the root module."))),
        }
    }

    fn place(&self, name: &str, traversal: &Traversal) -> Result<Value, Diagnostic> {
        match name {
            "root" | "module" => Ok(Value::string(".")),
            "cwd" => Ok(Value::string(&self.directory)),
            other => Err(absent(traversal, &format!("The object path has no attribute {other:?}."))),
        }
    }
}

impl Scope for ConsoleScope {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        let reference = parse_reference(traversal)?;
        let one = |value| Ok(Resolved { value, consumed: 1 });
        match &reference.target {
            Reference::Variable(name) => match self.variables.get(name) {
                Some(value) => one(value.clone()),
                None => Err(absent(traversal, &format!("There is no variable {:?} in the root module.", &**name))),
            },
            Reference::Local(name) => one(self.local(name, traversal)?),
            Reference::Path(name) => one(self.place(name, traversal)?),
            Reference::Terraform(name) if &**name == "workspace" => one(Value::string(&self.workspace)),
            Reference::Resource(resource) => {
                let consumed = if resource.mode == groma_address::Mode::Managed { 1 } else { 2 };
                Ok(Resolved { value: self.resource(resource, traversal)?, consumed })
            }
            // The state does not hold what child modules put out.
            Reference::Module(name) if self.module.calls.contains_key(name) => one(Value::DYNAMIC),
            other => Err(absent(traversal, &format!("{other} means nothing at the console."))),
        }
    }

    fn functions(&self) -> &FunctionContext {
        &self.functions
    }
}

fn absent(traversal: &Traversal, detail: &str) -> Diagnostic {
    Diagnostic::error("Reference to undeclared object", detail).at(traversal.span)
}

/// The values of the root module's resources: all instances together.
fn resources(objects: Vec<StoredObject>) -> HashMap<Resource, Value> {
    let mut instances: HashMap<Resource, BTreeMap<InstanceKey, Value>> = HashMap::new();
    for object in objects.into_iter().filter(|object| object.address.module.is_root() && object.deposed.is_none()) {
        instances.entry(object.address.resource).or_default().insert(object.address.key, object.value);
    }
    let together = |instances: BTreeMap<InstanceKey, Value>| match instances.keys().next() {
        Some(InstanceKey::Int(_)) => Value::tuple(instances.into_values().collect()),
        Some(InstanceKey::String(_)) => Value::object(instances.into_iter().filter_map(|(key, value)| match key {
            InstanceKey::String(name) => Some((name, value)),
            InstanceKey::None | InstanceKey::Int(_) => None,
        })),
        _ => instances.into_values().next().unwrap_or(Value::DYNAMIC),
    };
    instances.into_iter().map(|(resource, instances)| (resource, together(instances))).collect()
}
