//! Functions of providers as Rust functions.

use std::sync::Arc;

use groma_provider::{Description, FunctionError, FunctionSignature, Parameter};
use groma_value::{Path, Type, Value};

use crate::Name;
use crate::model::Field;

/// A function that configurations call as `provider::<name>::<function>(...)`. It must always give the same result for
/// the same arguments.
///
/// Its signature follows from a Rust function: the types of the parameters are those that fields of models can have.
/// `Option` lets null in, [`Maybe`](crate::Maybe) null and values that are not known yet.
///
/// ```
/// use groma_framework::{Bundle, Function};
///
/// let repeat = Function::new(["text", "times"], |text: String, times: u8| Ok(text.repeat(times.into())))
///     .summary("A text several times")
///     .described("Gives `text` as often as `times` says.");
/// let half = Function::new(["number"], |number: i64| match number % 2 {
///     0 => Ok(number / 2),
///     _ => Err(format!("{number} is not even")),
/// });
/// let provider = Bundle::new().function("repeat", repeat).function("half", half).build();
/// # assert!(provider.is_ok());
/// ```
pub struct Function {
    pub(super) signature: Arc<FunctionSignature>,
    call: Box<Call>,
    /// The problem of the declaration, if there is one.
    pub(super) problem: Option<&'static str>,
    /// The elements that a variadic last parameter accepts.
    rest: Elements,
}

/// The element type of a list.
#[derive(Clone, Copy, Default)]
struct Elements {
    null: bool,
    unknown: bool,
}

type Call = dyn Fn(&[Value]) -> Result<Value, FunctionError> + Send + Sync;

impl Function {
    /// Creates a function from `call`, whose parameters get these names.
    pub fn new<Arguments, const COUNT: usize>(names: [&str; COUNT], call: impl Callable<Arguments, COUNT>) -> Self {
        let accepted = call.parameters();
        // Kept, in case `variadic` turns the last parameter into one for each element.
        let rest = accepted.last().map(|last| last.elements).unwrap_or_default();
        let parameters = names.iter().zip(accepted).map(|(name, accepted)| Parameter {
            name: Name::from(*name),
            ty: accepted.ty,
            allow_null: accepted.null,
            allow_unknown: accepted.unknown,
            description: Description::default(),
        });
        let signature = FunctionSignature {
            parameters: parameters.collect(),
            variadic: None,
            return_type: call.result(),
            summary: String::new(),
            description: Description::default(),
            deprecation: String::new(),
        };
        let call = Box::new(move |arguments: &[Value]| call.call(arguments));
        Self { signature: Arc::new(signature), call, problem: None, rest }
    }

    /// Makes the last parameter variadic; it must be a list (`Vec`). `Vec<Option<...>>` allows
    /// null.
    ///
    /// ```
    /// use groma_framework::{Bundle, Function};
    ///
    /// let join = Function::new(["sign", "texts"], |sign: String, texts: Vec<String>| Ok(texts.join(&sign))).variadic();
    /// // provider::example::join("-", "a", "b") is "a-b"
    /// let provider = Bundle::new().function("join", join).build();
    /// # assert!(provider.is_ok());
    /// ```
    #[must_use]
    pub fn variadic(mut self) -> Self {
        let signature = Arc::make_mut(&mut self.signature);
        match signature.parameters.pop() {
            Some(Parameter { ty: Type::List(element), name, .. }) if signature.variadic.is_none() => {
                let ty = (*element).clone();
                signature.variadic = Some(Parameter {
                    ty,
                    name,
                    allow_null: self.rest.null,
                    allow_unknown: self.rest.unknown,
                    description: Description::default(),
                });
            }
            _ => self.problem = Some("a variadic function's last parameter must be a list"),
        }
        self
    }

    /// Sets the one-line summary.
    #[must_use]
    pub fn summary(mut self, text: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.signature).summary = text.into();
        self
    }

    /// Sets the description in Markdown.
    #[must_use]
    pub fn described(mut self, text: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.signature).description = Description::markdown(text);
        self
    }

    /// Sets the deprecation message.
    #[must_use]
    pub fn deprecated(mut self, text: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.signature).deprecation = text.into();
        self
    }

    pub(super) fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        let fixed = self.signature.parameters.len();
        match &self.signature.variadic {
            // The Rust function takes all further arguments as one list.
            Some(rest) if arguments.len() >= fixed => {
                let (own, further) = arguments.split_at(fixed);
                let further = Value::list(rest.ty.clone(), further.to_vec());
                (self.call)(&[own, &[further]].concat())
            }
            _ => (self.call)(arguments),
        }
    }
}

/// The values that a parameter accepts.
pub struct ParameterType {
    ty: Type,
    null: bool,
    unknown: bool,
    elements: Elements,
}

impl ParameterType {
    fn by<T: Field>() -> Self {
        let elements = Elements { null: T::ELEMENTS_HOLD_NULL, unknown: T::ELEMENTS_HOLD_UNKNOWN };
        Self { ty: T::ty(), null: T::HOLDS_NULL, unknown: T::HOLDS_UNKNOWN, elements }
    }
}

/// A Rust function of up to four arguments that a provider offers: they can be fields of models, and so can what it
/// returns. An error is a sentence without a dot.
pub trait Callable<Arguments, const COUNT: usize>: Send + Sync + 'static {
    /// Returns the parameters, in order.
    fn parameters(&self) -> [ParameterType; COUNT];

    /// Returns the type of the result.
    fn result(&self) -> Type;

    /// Converts the arguments and calls the function.
    ///
    /// # Errors
    ///
    /// Fails if an argument has the wrong type or the function returns an error.
    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError>;
}

fn argument<T: Field>(arguments: &[Value], position: usize) -> Result<T, FunctionError> {
    let refused = |text: String| FunctionError::new(text).at(position);
    let value = arguments.get(position).ok_or_else(|| refused("the argument is missing".to_owned()))?;
    T::from_value(value, &mut Path::root()).map_err(|problem| refused(problem.to_string()))
}

macro_rules! callable {
    ($count:literal: $($name:ident $position:literal),*) => {
        impl<F, R, $($name),*> Callable<($($name,)*), $count> for F
        where
            F: Fn($($name),*) -> Result<R, String> + Send + Sync + 'static,
            R: Field,
            $($name: Field,)*
        {
            fn parameters(&self) -> [ParameterType; $count] {
                [$(ParameterType::by::<$name>()),*]
            }

            fn result(&self) -> Type {
                R::ty()
            }

            fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
                // Unused in the instance for functions without parameters.
                let _ = arguments;
                let result = self($(argument::<$name>(arguments, $position)?),*);
                result.map(|value| value.to_value()).map_err(|text| FunctionError::new(text))
            }
        }
    };
}

callable!(0:);
callable!(1: A 0);
callable!(2: A 0, B 1);
callable!(3: A 0, B 1, C 2);
callable!(4: A 0, B 1, C 2, D 3);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Maybe;

    #[test]
    fn fw_19_the_signature_follows_from_the_function() {
        let join =
            Function::new(["texts", "sign", "end"], |texts: Vec<String>, sign: Option<String>, end: Maybe<u8>| {
                let end = end.into_known().map(|end| end.to_string()).unwrap_or_default();
                Ok(texts.join(&sign.unwrap_or_default()) + &end)
            });
        let takes: Vec<_> =
            join.signature.parameters.iter().map(|one| (&*one.name, one.allow_null, one.allow_unknown)).collect();
        assert_eq!(takes, [("texts", false, false), ("sign", true, false), ("end", true, true)]);
        assert_eq!(join.signature.parameters[0].ty, Type::list(Type::String));
        assert_eq!(join.signature.return_type, Type::String);
        let texts = Value::list(Type::String, vec![Value::string("a"), Value::string("b")]);
        let call = |sign: Value, end: Value| join.call(&[texts.clone(), sign, end]);
        assert_eq!(call(Value::string("-"), Value::number(3)), Ok(Value::string("a-b3")));
        assert_eq!(call(Value::null(Type::String), Value::unknown(Type::Number)), Ok(Value::string("ab")));
        assert_eq!(call(Value::string("-"), Value::number(300)).unwrap_err().argument, Some(2));
        assert_eq!(join.call(&[]).unwrap_err().argument, Some(0));
    }

    #[test]
    fn fw_19_the_last_parameter_takes_all_further_arguments() {
        let join = |sign: String, texts: Vec<String>| Ok(texts.join(&sign));
        let join = Function::new(["sign", "texts"], join).variadic();
        assert_eq!((join.signature.parameters.len(), &join.problem), (1, &None));
        assert_eq!(
            join.signature.variadic.as_ref().map(|rest| (&*rest.name, &rest.ty)),
            Some(("texts", &Type::String))
        );
        let texts = ["-", "a", "b"].map(Value::string);
        assert_eq!(join.call(&texts), Ok(Value::string("a-b")));
        assert_eq!(join.call(&texts[..1]), Ok(Value::string("")));
        assert!(join.call(&[]).is_err());
        let count =
            Function::new(["texts"], |texts: Vec<Option<String>>| Ok(texts.iter().flatten().count() as u64)).variadic();
        assert!(count.signature.variadic.as_ref().is_some_and(|rest| rest.allow_null && !rest.allow_unknown));
        assert!(join.signature.variadic.as_ref().is_some_and(|rest| !rest.allow_null));
        assert_eq!(count.call(&[Value::string("a"), Value::null(Type::String)]), Ok(Value::number(1)));
        assert!(Function::new(["text"], |text: String| Ok(text)).variadic().problem.is_some());
        assert!(Function::new([], || Ok(true)).variadic().problem.is_some());
    }

    #[test]
    fn fw_19_a_function_error_keeps_its_text() {
        let never =
            Function::new([], || Err::<bool, String>("never".to_owned())).summary("Nothing").deprecated("Use none.");
        assert_eq!(never.call(&[]), Err(FunctionError::new("never".to_owned())));
        assert_eq!((&*never.signature.summary, &*never.signature.deprecation), ("Nothing", "Use none."));
    }
}
