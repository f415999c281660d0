//! Scopes: the values of names in expressions.

use groma_diagnostics::{Diagnostic, Span};
use groma_hcl::{Expression, ExpressionKind, Name, Traversal};
use groma_value::{PathStep, Value};

use crate::context::FunctionContext;

/// The value of the beginning of a traversal.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The value of the resolved steps.
    pub value: Value,
    /// Number of steps of the traversal that the value includes.
    pub consumed: usize,
}

/// Everything an expression may see: the meaning of its free names, and the functions.
pub trait Scope {
    /// The value that a traversal begins with. The caller applies the steps from [`Resolved::consumed`] on.
    ///
    /// # Errors
    ///
    /// The name is undeclared or its value is unavailable. The expression continues with an unknown value.
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic>;

    /// Returns the context of function calls.
    fn functions(&self) -> &FunctionContext;

    /// Checks a reference independently of values, whether it is evaluated or not.
    fn check(&self, traversal: &Traversal) -> Option<Diagnostic> {
        self.resolve(traversal).err()
    }

    /// Returns the depth of the evaluation so far: nested templates add up. Scopes with a parent return that of the parent.
    /// answer on.
    fn depth(&self) -> u32 {
        0
    }
}

/// A scope with a few more names over a parent: variables of `for`, iterators of dynamic blocks.
pub struct ChildScope<'a> {
    parent: &'a dyn Scope,
    variables: Vec<(Name, Value)>,
}

impl<'a> ChildScope<'a> {
    /// The parent with `variables` in front of its names; a later variable hides an earlier one of the same name.
    pub fn new(parent: &'a dyn Scope, variables: Vec<(Name, Value)>) -> Self {
        Self { parent, variables }
    }

    /// Gives the variable at `index` another value, for the next turn of a loop.
    pub(crate) fn rebind(&mut self, index: usize, value: Value) {
        if let Some((_, slot)) = self.variables.get_mut(index) {
            *slot = value;
        }
    }
}

impl Scope for ChildScope<'_> {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        match self.variables.iter().rev().find(|(name, _)| *name == traversal.root.name) {
            Some((_, value)) => Ok(Resolved { value: value.clone(), consumed: 0 }),
            None => self.parent.resolve(traversal),
        }
    }

    fn functions(&self) -> &FunctionContext {
        self.parent.functions()
    }

    fn check(&self, traversal: &Traversal) -> Option<Diagnostic> {
        let is_own = self.variables.iter().any(|(name, _)| *name == traversal.root.name);
        if is_own { None } else { self.parent.check(traversal) }
    }

    fn depth(&self) -> u32 {
        self.parent.depth()
    }
}

/// A scope without any name, where only literals and functions can be evaluated: defaults, constants.
pub struct EmptyScope {
    functions: FunctionContext,
}

impl EmptyScope {
    /// A scope with functions alone.
    pub fn new(functions: FunctionContext) -> Self {
        Self { functions }
    }
}

impl Scope for EmptyScope {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        Err(Diagnostic::error(
            "Variables not allowed",
            format!("\"{}\" cannot be used here: only constants are allowed, no references.", traversal.root.name),
        )
        .at(traversal.root.span))
    }

    fn functions(&self) -> &FunctionContext {
        &self.functions
    }
}

/// A scope in which nothing but literals means anything.
pub struct ConstantScope;

impl Scope for ConstantScope {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        Err(Diagnostic::error("Variables not allowed", "Variables may not be used here.").at(traversal.root.span))
    }

    fn functions(&self) -> &FunctionContext {
        FunctionContext::none()
    }
}

/// The part of `expression` that `steps` leads to in its value, as far as it is written out.
pub fn span_within(expression: &Expression, steps: &[PathStep]) -> Span {
    let Some((step, rest)) = steps.split_first() else { return expression.span };
    let part = match (step, &expression.without_parentheses().kind) {
        (PathStep::Attribute(name), ExpressionKind::Object(_)) => item(expression, name),
        (PathStep::Index(key), ExpressionKind::Object(_)) => key.as_str().and_then(|key| item(expression, key)),
        (PathStep::Index(key), ExpressionKind::Tuple(elements)) => {
            let position = key.as_number().and_then(|number| usize::try_from(number.to_u64()?).ok());
            position.and_then(|position| elements.get(position))
        }
        _ => None,
    };
    part.map_or(expression.span, |part| span_within(part, rest))
}

fn item<'a>(expression: &'a Expression, name: &str) -> Option<&'a Expression> {
    let items = expression.without_parentheses().as_object()?;
    let named = items.iter().find(|item| item.key.as_static_string().is_some_and(|key| *key == *name));
    named.map(|item| &item.value)
}
