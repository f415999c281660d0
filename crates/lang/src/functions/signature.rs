//! Signatures of functions, and the rules that all functions share.

use std::ops::BitOr;

use groma_diagnostics::Diagnostics;
use groma_hcl::Expression;
use groma_value::{Marks, Number, Type, Value};
use thiserror::Error;

use crate::context::FunctionContext;
pub(crate) use crate::provider_functions::FunctionError;
use crate::provider_functions::{ProviderParameter, ProviderSignature};
use crate::scope::Scope;

/// The result of a function.
pub(crate) type Outcome = Result<Value, FunctionError>;

/// The special values that a parameter handles itself, instead of leaving them to the common rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accepts(u8);

impl Accepts {
    const NOTHING: Self = Self(0);
    /// Null; otherwise an error.
    pub(crate) const NULL: Self = Self(1);
    /// Unknown values; otherwise the result is unknown.
    pub(crate) const UNKNOWN: Self = Self(2);
    /// Marked values; otherwise marks are taken off, at any depth, and put on the result.
    pub(crate) const MARKED: Self = Self(4);
    /// Values of unknown type; otherwise nothing is known of the result.
    pub(crate) const DYNAMIC: Self = Self(8);
    /// Marked values and unknown ones, of unknown type too.
    pub(crate) const MARKED_UNKNOWN: Self = Self(2 | 4 | 8);
    /// All special values except marked ones.
    pub(crate) const ANY_UNMARKED: Self = Self(1 | 2 | 8);
    /// All special values, marked ones included.
    pub(crate) const EVERYTHING: Self = Self(15);

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Accepts {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    /// Its name, for messages.
    pub(crate) name: String,
    /// The type to which arguments are converted before the call.
    pub(crate) ty: Type,
    accepts: Accepts,
}

impl Parameter {
    /// A parameter of type `ty` that leaves everything to the common rules.
    pub(crate) fn new(name: impl Into<String>, ty: Type) -> Self {
        Self { name: name.into(), ty, accepts: Accepts::NOTHING }
    }

    /// A parameter of type string.
    pub(crate) fn text(name: &str) -> Self {
        Self::new(name, Type::String)
    }

    /// A parameter of type number.
    pub(crate) fn number(name: &str) -> Self {
        Self::new(name, Type::Number)
    }

    /// A value of any type.
    pub(crate) fn any(name: &str) -> Self {
        Self::new(name, Type::Dynamic)
    }

    /// Lets the function handle `more` special values itself.
    pub(crate) fn accepting(mut self, more: Accepts) -> Self {
        self.accepts = self.accepts | more;
        self
    }
}

/// The way to determine the result type.
#[derive(Clone)]
pub(crate) enum ResultType {
    /// A fixed result type.
    Fixed(Type),
    /// It follows from the arguments, of which some can be unknown.
    From(fn(&[Value]) -> Result<Type, FunctionError>),
}

/// The nullness of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nullness {
    NeverNull,
    MaybeNull,
}

/// The arguments of a call and what surrounds it.
pub(crate) struct Arguments<'a> {
    /// One for each parameter, converted, and further ones for the variadic parameter.
    pub(crate) values: &'a [Value],
    /// The type that the result must have.
    pub(crate) result: &'a Type,
    /// The location and context of the call.
    pub(crate) site: CallSite<'a>,
}

/// The context of a function call: functions that render templates evaluate expressions themselves, and
/// this module does not depend on the evaluator.
#[derive(Clone, Copy)]
pub(crate) struct CallSite<'a> {
    /// The scope of the call.
    pub(crate) scope: &'a dyn Scope,
    /// The depth of nested evaluation.
    pub(crate) depth: u32,
    /// The value of an expression in a scope.
    pub(crate) evaluate: fn(&Expression, &dyn Scope, &mut Diagnostics) -> Value,
}

impl Arguments<'_> {
    /// The argument at `index`; the common rules have made sure that it is there.
    pub(crate) fn value(&self, index: usize) -> Value {
        self.values.get(index).cloned().unwrap_or(Value::DYNAMIC)
    }

    /// The characters of a string argument.
    pub(crate) fn text(&self, index: usize) -> &str {
        self.values.get(index).and_then(Value::as_str).unwrap_or_default()
    }

    /// The number of a number argument.
    pub(crate) fn number(&self, index: usize) -> Number {
        self.values.get(index).and_then(Value::as_number).cloned().unwrap_or_else(|| Number::from(0_i64))
    }

    /// A number argument that must be whole and small enough to count with.
    pub(crate) fn integer(&self, index: usize) -> Result<i64, FunctionError> {
        whole(&self.number(index)).map_err(FunctionError::of)
    }

    /// Returns the context of function calls.
    pub(crate) fn context(&self) -> &FunctionContext {
        self.site.scope.functions()
    }
}

/// The reason why a number is not the integer that a function needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum NotWhole {
    #[error("the number must be whole, and from {min} to {max}", min = i64::MIN, max = i64::MAX)]
    OutOfRange,
    #[error("value must be a whole number")]
    Fraction,
}

/// The whole number of `number`.
pub(crate) fn whole(number: &Number) -> Result<i64, NotWhole> {
    number.to_i64().ok_or_else(|| if number.is_integer() { NotWhole::OutOfRange } else { NotWhole::Fraction })
}

/// A function: its signature and what it does.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) variadic: Option<Parameter>,
    result: ResultType,
    nullness: Nullness,
    body: fn(&Arguments<'_>) -> Outcome,
}

impl Function {
    /// A function without parameters yet, whose result is never null.
    pub(crate) fn new(name: &'static str, result: ResultType, body: fn(&Arguments<'_>) -> Outcome) -> Self {
        Self { name, parameters: Vec::new(), variadic: None, result, nullness: Nullness::NeverNull, body }
    }

    /// A function whose result is always of type `result`.
    pub(crate) fn fixed(name: &'static str, result: Type, body: fn(&Arguments<'_>) -> Outcome) -> Self {
        Self::new(name, ResultType::Fixed(result), body)
    }

    /// A function whose result's type follows from its arguments.
    pub(crate) fn inferred(
        name: &'static str,
        result: fn(&[Value]) -> Result<Type, FunctionError>,
        body: fn(&Arguments<'_>) -> Outcome,
    ) -> Self {
        Self::new(name, ResultType::From(result), body)
    }

    /// Adds a parameter.
    pub(crate) fn takes(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// Adds a parameter for all further arguments.
    pub(crate) fn takes_more(mut self, parameter: Parameter) -> Self {
        self.variadic = Some(parameter);
        self
    }

    /// Allows null results, or results that Terraform plans as possibly null.
    pub(crate) fn nullable(mut self) -> Self {
        self.nullness = Nullness::MaybeNull;
        self
    }

    /// Returns the public signature.
    pub(crate) fn signature(&self) -> ProviderSignature {
        let parameter = |parameter: &Parameter| ProviderParameter {
            name: parameter.name.clone(),
            ty: parameter.ty.clone(),
            nullable: parameter.accepts.has(Accepts::NULL),
            allows_unknown: parameter.accepts.has(Accepts::UNKNOWN),
        };
        ProviderSignature {
            parameters: self.parameters.iter().map(parameter).collect(),
            variadic: self.variadic.as_ref().map(parameter),
            result: match &self.result {
                ResultType::Fixed(ty) => ty.clone(),
                ResultType::From(_) => Type::Dynamic,
            },
        }
    }

    /// The parameter that the argument at `index` belongs to.
    pub(crate) fn parameter(&self, index: usize) -> Option<&Parameter> {
        self.parameters.get(index).or(self.variadic.as_ref())
    }

    /// Calls it with converted arguments of the right number, by the rules that all functions share: a null argument
    /// is an error, an unknown one makes the result unknown, marks pass to the result.
    pub(crate) fn call(&self, mut arguments: Vec<Value>, site: CallSite<'_>) -> Outcome {
        let mut taken: Vec<(usize, Marks)> = Vec::new();
        for (index, argument) in arguments.iter_mut().enumerate() {
            let accepted = self.parameter(index).is_none_or(|parameter| parameter.accepts.has(Accepts::MARKED));
            if argument.has_marks() && !accepted {
                taken.push((index, argument.deep_marks()));
                *argument = std::mem::replace(argument, Value::DYNAMIC).unmark_deep().0;
            }
        }
        let value = self.call_unmarked(&arguments, site).map_err(|problem| problem.concealing(&taken))?;
        Ok(taken.iter().fold(value, |value, (_, marks)| value.with_marks(marks)))
    }

    fn call_unmarked(&self, arguments: &[Value], site: CallSite<'_>) -> Outcome {
        let mut unknown = false;
        for (index, argument) in arguments.iter().enumerate() {
            let Some(parameter) = self.parameter(index) else { break };
            if argument.is_null() && !parameter.accepts.has(Accepts::NULL) {
                return Err(FunctionError::argument(index, "argument must not be null"));
            }
            if !parameter.accepts.has(Accepts::DYNAMIC) && is_untyped(argument) {
                return Ok(self.own_marks(arguments).fold(Value::DYNAMIC, Value::with_marks));
            }
            unknown |= !parameter.accepts.has(Accepts::UNKNOWN) && !argument.is_known();
        }
        let inferred;
        let result = match &self.result {
            ResultType::Fixed(ty) => ty,
            ResultType::From(infer) => {
                inferred = infer(arguments)?;
                &inferred
            }
        };
        let value = if unknown {
            self.own_marks(arguments).fold(Value::unknown(result.clone()), Value::with_marks)
        } else {
            (self.body)(&Arguments { values: arguments, result, site })?
        };
        Ok(self.narrowed(value))
    }

    /// The marks of the arguments that the function would have dealt with itself: what is not known yet keeps its secrets.
    fn own_marks<'a>(&'a self, arguments: &'a [Value]) -> impl Iterator<Item = &'a Marks> {
        let with_parameters = arguments.iter().enumerate().map(|(index, argument)| (self.parameter(index), argument));
        with_parameters
            .filter(|(parameter, _)| parameter.is_some_and(|parameter| parameter.accepts.has(Accepts::MARKED)))
            .map(|(_, argument)| argument.marks())
    }

    fn narrowed(&self, value: Value) -> Value {
        if self.nullness == Nullness::NeverNull && !value.is_known() { value.not_null() } else { value }
    }
}

/// Whether nothing is known of the value's type.
pub(crate) fn is_untyped(value: &Value) -> bool {
    !value.is_null() && matches!(value.ty(), Type::Dynamic)
}
