//! The syntax tree of expressions, shared by the native and the JSON syntax.
//!
//! Everything below an [`Expression`] is behind an [`Arc`]: cloning one increments a counter, so that code that needs an
//! expression later keeps it.

use std::sync::Arc;

use groma_diagnostics::{Diagnostics, Span};

pub use crate::call::{Call, CallHead};
pub use crate::list::List;
pub use crate::name::{Ident, Name};
pub use crate::traversal::{LiteralKey, Meaning, Step, Traversal};

/// An expression and the text it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// The kind of the expression.
    pub kind: ExpressionKind,
    /// The whole of its text.
    pub span: Span,
}

/// The forms of an expression.
// Two whole words: the compiler moves them as such. With a tag of one byte it takes them apart into pieces that overlap, and each move
// waits for the one before.
#[repr(u64)]
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// Stands where the parser has reported an error; evaluates to an unknown value without a further message.
    Invalid,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, with its digits as written.
    Number(Name),
    /// A string without interpolation, after the processing of escapes.
    String(Name),
    /// A string with interpolations or directives, or a heredoc with them.
    Template(Template),
    /// A string of the JSON syntax, which is text, template or expression depending on its use.
    JsonString(Arc<JsonString>),
    /// A name and literal steps: `var.a["b"].c`.
    Traversal(Traversal),
    /// Literal steps after another expression: `f(x).a[0]`.
    Relative(Arc<Relative>),
    /// An index that is itself an expression: `a[count.index]`.
    Index(Arc<Index>),
    /// `a[*].b` or `a.*.b`.
    Splat(Arc<Splat>),
    /// `f(x, y...)`.
    Call(Call),
    /// `[a, b]`.
    Tuple(List<Expression>),
    /// `{ a = b }`.
    Object(List<ObjectItem>),
    /// `[for …]` or `{for …}`.
    For(Arc<For>),
    /// `a ? b : c`.
    Conditional(Arc<Conditional>),
    /// `-a` or `!a`.
    Unary(Arc<Unary>),
    /// `a + b` and the like.
    Binary(Arc<Binary>),
    /// `(a)`.
    Parentheses(Arc<Expression>),
}

/// Steps after an expression that is not a plain name.
#[derive(Clone, Debug, PartialEq)]
pub struct Relative {
    /// The expression from which the steps start.
    pub source: Expression,
    /// The steps, at least one.
    pub steps: List<Step>,
}

/// An index whose key must be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// The indexed collection.
    pub source: Expression,
    /// The index key.
    pub key: Expression,
    /// From bracket to bracket.
    pub brackets: Span,
}

/// A projection over all elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Splat {
    /// The collection, or a single value that counts as a collection of one.
    pub source: Expression,
    /// The form of the splat.
    pub kind: SplatKind,
    /// The steps into each element.
    pub each: Vec<Selector>,
    /// The `[*]` or `.*` itself.
    pub marker: Span,
}

/// The two forms of a splat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SplatKind {
    /// `[*]`: all following steps apply to each element.
    Full,
    /// `.*`: only the attribute names that follow apply to each element.
    Attribute,
}

/// Something taken of each element of a splat.
#[derive(Clone, Debug, PartialEq)]
pub enum Selector {
    /// A step with a literal key.
    Step(Step),
    /// An index whose key must be evaluated, in the scope around the splat.
    Index {
        /// The expression of the key.
        key: Expression,
        /// From bracket to bracket.
        span: Span,
    },
    /// A splat within a splat.
    Splat {
        /// The form of the splat.
        kind: SplatKind,
        /// The steps into each inner element.
        each: Vec<Selector>,
        /// The `[*]` or `.*` itself.
        span: Span,
    },
}

/// One `key = value` of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectItem {
    /// The key. A bare name is a [`ExpressionKind::String`]; `(expr)` is a [`ExpressionKind::Parentheses`]. A bare
    /// traversal of more than one step is kept as such: it is good for maps of references, an error as a key.
    pub key: Expression,
    /// The expression of the value.
    pub value: Expression,
}

/// A `for` expression.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// The variable for keys or indexes.
    pub key: Option<Ident>,
    /// The variable for values.
    pub value: Ident,
    /// The expression of the collection.
    pub collection: Expression,
    /// The key of each result: an object results; without, a tuple.
    pub key_expression: Option<Expression>,
    /// The value of each result.
    pub value_expression: Expression,
    /// The condition on elements.
    pub condition: Option<Expression>,
    /// The location of `...`, if values with equal keys are grouped.
    pub grouping: Option<Span>,
    /// The opening bracket or brace.
    pub open: Span,
    /// The closing bracket or brace.
    pub close: Span,
}

/// `condition ? yes : no`.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditional {
    /// The condition of the expression.
    pub condition: Expression,
    /// The result when true.
    pub yes: Expression,
    /// The result when false.
    pub no: Expression,
}

/// An operator before its operand.
#[derive(Clone, Debug, PartialEq)]
pub struct Unary {
    /// The unary operator.
    pub operator: UnaryOperator,
    /// The expression of the operand.
    pub operand: Expression,
    /// The location of the operator.
    pub symbol: Span,
}

/// The operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `-`
    Negate,
    /// `!`
    Not,
}

/// An operator between two operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Binary {
    /// The binary operator.
    pub operator: BinaryOperator,
    /// The left operand.
    pub left: Expression,
    /// The right operand.
    pub right: Expression,
    /// The location of the operator.
    pub symbol: Span,
}

/// The operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}

impl BinaryOperator {
    /// The operator as written.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
        }
    }
}

/// A string made of parts. Strip markers (`~`) and the indentation of `<<-` have been applied already.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The parts in order.
    pub parts: List<TemplatePart>,
}

impl Template {
    /// The one expression of a template that is a single interpolation and nothing else (`"${x}"`): the result is the
    /// expression's value itself, not a string.
    pub fn wrapped(&self) -> Option<&Expression> {
        match self.parts.as_slice() {
            [TemplatePart::Interpolation(expression)] => Some(expression),
            _ => None,
        }
    }
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplatePart {
    /// Text, after the processing of escapes.
    Literal {
        /// The characters of the literal.
        text: Name,
        /// The location in the source.
        span: Span,
    },
    /// `${ … }`.
    Interpolation(Expression),
    /// `%{ if … } … %{ else } … %{ endif }`.
    If(Box<TemplateIf>),
    /// `%{ for … } … %{ endfor }`.
    For(Box<TemplateFor>),
}

/// The conditional directive of a template.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateIf {
    /// The condition of the directive.
    pub condition: Expression,
    /// The result when true.
    pub yes: Template,
    /// The result when false; empty without `else`.
    pub no: Template,
    /// From the opening to the closing directive.
    pub span: Span,
}

/// The repeating directive of a template.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateFor {
    /// The variable for keys or indexes.
    pub key: Option<Ident>,
    /// The variable for values.
    pub value: Ident,
    /// The expression of the collection.
    pub collection: Expression,
    /// Repeated for each element.
    pub body: Template,
    /// From the opening to the closing directive.
    pub span: Span,
}

/// A string of the JSON syntax.
///
/// Its meaning depends on where it stands: where an expression is evaluated it is a template, where a plain string is
/// wanted it is its characters, where a reference or a type is wanted it is that in the native syntax.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonString {
    /// The characters, after JSON's own escapes.
    pub text: Name,
    /// The string as a template: [`ExpressionKind::String`] or [`ExpressionKind::Template`].
    pub template: Expression,
    /// Problems of the template, to be reported when it is evaluated.
    pub diagnostics: Diagnostics,
}

impl Expression {
    /// An expression of `kind` at `span`.
    pub const fn new(kind: ExpressionKind, span: Span) -> Self {
        Self { kind, span }
    }

    /// Creates the expression that replaces one with a reported error.
    pub const fn invalid(span: Span) -> Self {
        Self { kind: ExpressionKind::Invalid, span }
    }
}
