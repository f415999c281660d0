//! Values and signatures that explain a failed evaluation.

/// The values and the function call behind a failed evaluation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Values of the expressions at fault, already redacted.
    pub observed: Vec<Observed>,
    /// Signature of the function whose call failed.
    pub call: Option<FunctionCall>,
}

/// An expression of the failing text with its value, shown to the reader: `var.name` and `is "x"`.
///
/// The creator has already redacted sensitive values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Observed {
    /// The expression as written in the source.
    pub expression: String,
    /// The predicate of the sentence: `is "x"`, `is a list of string`, `has a sensitive value`.
    pub statement: String,
}

/// Signature of the function whose call failed, for the JSON form of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionCall {
    /// Name as written in the call, including the namespace: `upper`, `core::max`, `provider::time::rfc3339_parse`.
    pub called_as: String,
    /// Positional parameters in order.
    pub parameters: Vec<FunctionParameter>,
    /// Parameter that accepts all further arguments.
    pub variadic: Option<FunctionParameter>,
    /// Result type in JSON type syntax: `"string"`, `["list","string"]`.
    pub result: String,
}

/// A parameter of a [`FunctionCall`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionParameter {
    /// Name from the function's signature.
    pub name: String,
    /// Type in JSON type syntax.
    pub ty: String,
}
