//! Early evaluation: module sources, versions and backend arguments, which must be known before planning.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_encryption::KeyServices;
use groma_hcl::{Expression, Step, Traversal};
use groma_lang::{FunctionContext, Reference, Resolved, Scope, evaluate, parse_reference, references};
use groma_value::{Type, Value};

use super::root_values::RootValues;
use crate::checks;
use crate::model::{Module, ModuleCall, UnusableReason, UnusableVariable};
use crate::options::LoadOptions;
use crate::source::display;

const NOT_KNOWN: &str = "It depends on a value that is unknown before planning. Use only constants, variables with a value, and local \
                         values derived from them.";

/// Maximum number of local values and module arguments between an expression and its constants.
const DEPTH_LIMIT: u32 = 100;

/// Evaluation scope of a module before planning: variables with known values, and local values derived from them.
/// Everything else is unknown.
pub(super) struct Early<'a> {
    module: &'a Module,
    origin: Origin<'a>,
    /// Evaluated references. A value is unknown during its own evaluation, so that cycles terminate.
    known: RefCell<HashMap<Reference, Evaluated>>,
    /// Current depth of nested evaluations, shared by all modules.
    depth: Rc<Cell<u32>>,
    /// Whether the current evaluation used a variable whose problem has been reported: a constant without a value, or
    /// a variable of a file with errors. Shared by all modules.
    on_missing: Rc<Cell<bool>>,
}

/// An evaluated reference, and whether it depends on a variable whose problem has been reported.
#[derive(Clone)]
struct Evaluated {
    value: Value,
    on_missing: bool,
}

/// The source of a module's variables.
#[derive(Clone, Copy)]
enum Origin<'a> {
    /// Root module: environment, variables files and options.
    Root(&'a RootValues<'a>),
    /// Child module: the arguments of the call.
    Call(&'a ModuleCall, &'a Early<'a>),
}

/// Functions without access to files and without results that differ between runs, which Terraform does not allow here
/// either.
static FUNCTIONS: LazyLock<FunctionContext> = LazyLock::new(|| FunctionContext::new("", Default::default()));

impl<'a> Early<'a> {
    /// Creates the scope of the root module.
    pub(super) fn root(module: &'a Module, values: &'a RootValues<'a>) -> Self {
        Self {
            module,
            origin: Origin::Root(values),
            known: RefCell::default(),
            depth: Rc::default(),
            on_missing: Rc::default(),
        }
    }

    /// Creates the scope of the module that `call` in this module calls.
    pub(super) fn child<'b>(&'b self, call: &'b ModuleCall, module: &'b Module) -> Early<'b> {
        let (depth, on_missing) = (Rc::clone(&self.depth), Rc::clone(&self.on_missing));
        Early { module, origin: Origin::Call(call, self), known: RefCell::default(), depth, on_missing }
    }

    /// Evaluates `expression` to a known string; `what` names the argument in messages: `module source`.
    pub(super) fn string(&self, expression: &Expression, what: &str, diagnostics: &mut Diagnostics) -> Option<Value> {
        let value = self.known(expression, what, diagnostics)?;
        if value.as_str().is_none() {
            diagnostics.push(unknown(expression, what, "It must be a string."));
            return None;
        }
        Some(value)
    }

    /// Evaluates `expression` to a known string or null; null means that the argument is not set.
    pub(super) fn string_or_null(
        &self,
        expression: &Expression,
        what: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<Value> {
        // With diagnostics of its own: `string` evaluates again and reports the problems.
        let is_null = self.known(expression, what, &mut Diagnostics::new()).is_some_and(|value| value.is_null());
        if is_null { Some(Value::null(Type::String)) } else { self.string(expression, what, diagnostics) }
    }

    /// Evaluates `expression` to a known value of any type. Reports nothing if the only problem is a variable that has
    /// been reported.
    pub(super) fn known(&self, expression: &Expression, what: &str, diagnostics: &mut Diagnostics) -> Option<Value> {
        let mut problems = Diagnostics::new();
        // All modules share the flag, which may be set by an earlier argument.
        self.on_missing.set(false);
        let value = evaluate(expression, &Argument { early: self, what }, &mut problems);
        let broken = problems.has_errors();
        diagnostics.append(problems);
        if broken {
            return None;
        }
        let problem = if value.deep_marks().is_sensitive() || value.deep_marks().is_ephemeral() {
            "It depends on a sensitive or ephemeral value, which it would reveal."
        } else if !value.is_wholly_known() {
            // The missing variable has been reported, and this is only its consequence.
            if self.on_missing.get() {
                return None;
            }
            NOT_KNOWN
        } else {
            return Some(value);
        };
        diagnostics.push(unknown(expression, what, problem));
        None
    }

    /// Evaluates `expression` to a known value that may be secret; the result is unmarked.
    pub(super) fn secret(&self, expression: &Expression, what: &str, diagnostics: &mut Diagnostics) -> Option<Value> {
        self.secret_in(&Argument { early: self, what }, expression, what, diagnostics)
    }

    /// Evaluates `expression` like [`Self::secret`], with references to key providers evaluated to their address as a
    /// string.
    pub(super) fn keys(&self, expression: &Expression, what: &str, diagnostics: &mut Diagnostics) -> Option<Value> {
        self.secret_in(&Keys(Argument { early: self, what }), expression, what, diagnostics)
    }

    fn secret_in(
        &self,
        scope: &dyn Scope,
        expression: &Expression,
        what: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<Value> {
        let mut problems = Diagnostics::new();
        // All modules share the flag, which may be set by an earlier argument.
        self.on_missing.set(false);
        let (value, _) = evaluate(expression, scope, &mut problems).unmark_deep();
        let broken = problems.has_errors();
        diagnostics.append(problems);
        if broken {
            return None;
        }
        if value.is_wholly_known() {
            return Some(value);
        }
        if !self.on_missing.get() {
            diagnostics.push(unknown(expression, what, NOT_KNOWN));
        }
        None
    }

    /// Returns the first variable in `expression`, or in the local values that it uses, which has no value or must not be
    /// revealed.
    pub(super) fn unusable_variable(&self, expression: &Expression) -> Option<UnusableVariable> {
        self.unusable_within(expression, &mut HashSet::new())
    }

    fn unusable_within(&self, expression: &Expression, visited: &mut HashSet<Name>) -> Option<UnusableVariable> {
        let (referenced, _) = references(expression);
        referenced.iter().find_map(|referenced| match &referenced.target {
            Reference::Variable(name) => {
                let reason = self.unusable_reason(name)?;
                Some(UnusableVariable { name: name.clone(), reason })
            }
            // Each local value once: they may refer to each other, which evaluation reports.
            Reference::Local(name) if visited.insert(name.clone()) => {
                self.unusable_within(&self.module.locals.get(name)?.expression, visited)
            }
            _ => None,
        })
    }

    fn unusable_reason(&self, name: &Name) -> Option<UnusableReason> {
        let variable = self.module.variables.get(name)?;
        let is_given = match self.origin {
            Origin::Root(values) => values.get().contains_key(name),
            Origin::Call(..) => true,
        };
        // Secrets first: setting a value would not help.
        if variable.sensitive {
            Some(UnusableReason::Sensitive)
        } else if variable.ephemeral {
            Some(UnusableReason::Ephemeral)
        } else {
            (variable.is_required() && !is_given).then_some(UnusableReason::NoValue)
        }
    }

    /// Returns network access to key management services, for the root module only.
    pub(super) fn key_services(&self) -> Option<Arc<dyn KeyServices>> {
        match self.origin {
            Origin::Root(values) => values.options.key_services.clone(),
            Origin::Call(..) => None,
        }
    }

    /// Returns the value of `reference`, evaluated on first use.
    fn value(&self, reference: &Reference, evaluate: impl FnOnce() -> Value) -> Value {
        // Cloned out of the borrow, because the evaluation borrows the map again.
        let known = self.known.borrow().get(reference).cloned();
        let Evaluated { value, on_missing } = known.unwrap_or_else(|| self.first_value(reference, evaluate));
        self.on_missing.set(self.on_missing.get() || on_missing);
        value
    }

    fn first_value(&self, reference: &Reference, evaluate: impl FnOnce() -> Value) -> Evaluated {
        let unknown = Evaluated { value: Value::DYNAMIC, on_missing: false };
        let depth = self.depth.get();
        if depth >= DEPTH_LIMIT {
            // Not an error here: the argument that needs the value reports that it is unknown.
            return unknown;
        }
        // Marks the reference as being evaluated: a cycle then finds an unknown value.
        self.known.borrow_mut().insert(reference.clone(), unknown);
        self.depth.set(depth + 1);
        // What other references depend on does not concern this value.
        let outer = self.on_missing.replace(false);
        let evaluated = Evaluated { value: evaluate(), on_missing: self.on_missing.replace(outer) };
        self.depth.set(depth);
        self.known.borrow_mut().insert(reference.clone(), evaluated.clone());
        evaluated
    }

    /// Evaluates `expression` without reporting its problems, which are reported where the expression is declared.
    fn nested(&self, expression: &Expression) -> Value {
        evaluate(expression, self, &mut Diagnostics::new())
    }

    fn variable(&self, name: &Name) -> Value {
        let Some(variable) = self.module.variables.get(name) else { return Value::DYNAMIC };
        let given = match self.origin {
            Origin::Root(values) => values.get().get(name).cloned(),
            Origin::Call(call, above) => {
                let (arguments, _) = call.body.attributes();
                let argument = arguments.iter().find(|argument| argument.name.name == *name);
                argument.map(|argument| above.nested(&argument.expression))
            }
        };
        // A constant variable without a value has been reported by `check_constants`.
        let is_missing = given.is_none() && variable.constant && variable.is_required();
        let value = match given {
            // An unsuitable value is reported when all variables are evaluated.
            Some(value) => variable.accept(&value).ok(),
            None => variable.default_value(),
        };
        let value = value.unwrap_or(Value::DYNAMIC);
        let may_be_missing = |values: &RootValues<'_>| values.incomplete && !value.is_wholly_known();
        if matches!(self.origin, Origin::Root(values) if values.constants_checked.get() && (is_missing || may_be_missing(values)))
        {
            self.on_missing.set(true);
        }
        value
    }

    fn local(&self, name: &Name) -> Value {
        self.module.locals.get(name).map_or(Value::DYNAMIC, |local| self.nested(&local.expression))
    }

    fn path(&self, attribute: &str) -> Value {
        match attribute {
            "module" => Value::string(display(&self.module.directory)),
            "root" => Value::string(display(&self.options().directory)),
            "cwd" => Value::string(display(&self.options().working_directory)),
            _ => Value::DYNAMIC,
        }
    }

    fn options(&self) -> &LoadOptions {
        match self.origin {
            Origin::Root(values) => values.options,
            Origin::Call(_, above) => above.options(),
        }
    }

    /// Returns the value of a reference that can be evaluated early.
    fn named(&self, target: &Reference) -> Option<Value> {
        match target {
            Reference::Variable(name) => Some(self.value(target, || self.variable(name))),
            Reference::Local(name) => Some(self.value(target, || self.local(name))),
            Reference::Path(attribute) => Some(self.path(attribute)),
            Reference::Terraform(attribute) | Reference::OpenTofu(attribute) if &**attribute == "workspace" => {
                Some(Value::string(&self.options().workspace))
            }
            _ => None,
        }
    }
}

fn unknown(expression: &Expression, what: &str, problem: &str) -> Diagnostic {
    Diagnostic::error(format!("Unknown {what}"), format!("The {what} cannot be determined. {problem}"))
        .at(expression.span)
}

/// Scope of an argument that is evaluated before planning. Refers to `what` in messages: `module source`.
struct Argument<'a> {
    early: &'a Early<'a>,
    what: &'a str,
}

impl Scope for Argument<'_> {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        let referenced = parse_reference(traversal)?;
        if let Some(problem) = checks::undeclared_value(self.early.module, &referenced) {
            return Err(problem);
        }
        let value = self.early.named(&referenced.target).ok_or_else(|| {
            let what = self.what;
            let detail =
                format!("The {what} is evaluated before planning, so it can refer to variables and local values only.");
            Diagnostic::error(format!("Invalid {what}"), detail).at(referenced.span)
        })?;
        Ok(Resolved { value, consumed: 1 })
    }

    fn functions(&self) -> &FunctionContext {
        &FUNCTIONS
    }

    fn depth(&self) -> u32 {
        self.early.depth()
    }
}

/// Scope of an argument that may refer to key providers.
struct Keys<'a>(Argument<'a>);

impl Scope for Keys<'_> {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        match (&*traversal.root.name, traversal.steps()) {
            ("key_provider", [Step::Attribute { name: kind, .. }, Step::Attribute { name, .. }, ..]) => {
                Ok(Resolved { value: Value::string(format!("key_provider.{kind}.{name}")), consumed: 2 })
            }
            _ => self.0.resolve(traversal),
        }
    }

    fn functions(&self) -> &FunctionContext {
        self.0.functions()
    }

    fn depth(&self) -> u32 {
        self.0.depth()
    }
}

/// Scope of local values and call arguments in nested evaluations: any reference is allowed, and is unknown if it is
/// not available.
impl Scope for Early<'_> {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        let target = parse_reference(traversal)?.target;
        Ok(Resolved { value: self.named(&target).unwrap_or(Value::DYNAMIC), consumed: 1 })
    }

    fn functions(&self) -> &FunctionContext {
        &FUNCTIONS
    }

    fn depth(&self) -> u32 {
        self.depth.get()
    }
}
