//! The syntax tree of expressions, shared by native and JSON syntax.
//!
//! Everything below an [`Expression`] is in shared memory, so cloning an expression only increments a reference count
//! and any consumer can keep a clone.

pub use crate::name::{Ident, Name};
pub use crate::traversal::{LiteralKey, Meaning, Step, Traversal};

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use groma_diagnostics::{Diagnostics, Span};
use triomphe::ThinArc;

use crate::depth::Shared;

/// A node in shared memory.
pub type Node<T> = Shared<Arc<T>>;

/// An expression with its source span.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// The form of the expression.
    pub kind: ExpressionKind,
    /// The span of the whole expression.
    pub span: Span,
}

/// The forms of an expression.
// The discriminant is a whole word, so the compiler moves the value as two words. With a one-byte tag it splits the
// value into overlapping pieces, and each move stalls on the previous one.
#[repr(u64)]
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// A placeholder where the parser reported an error. Evaluates to unknown without a further diagnostic.
    Invalid,
    /// The literal `null`, untyped.
    Null,
    /// The literal `true` or `false`.
    Bool(bool),
    /// A number literal, with its digits as written.
    Number(Name),
    /// A string literal without interpolations, with escapes resolved.
    String(Name),
    /// A quoted string or heredoc with interpolations or directives.
    Template(Template),
    /// A JSON string, which is text, template or expression depending on its context.
    JsonString(Node<JsonString>),
    /// A name followed by literal steps: `var.a["b"].c`.
    Traversal(Traversal),
    /// Literal steps after another expression: `f(x).a[0]`.
    Relative(Node<Relative>),
    /// An index whose key is an expression: `a[count.index]`.
    Index(Node<Index>),
    /// A splat: `a[*].b` or `a.*.b`.
    Splat(Node<Splat>),
    /// A function call: `f(x, y...)`.
    Call(Call),
    /// A tuple constructor: `[a, b]`.
    Tuple(List<Expression>),
    /// An object constructor: `{ a = b }`.
    Object(List<ObjectItem>),
    /// A `for` expression: `[for …]` or `{for …}`.
    For(Node<For>),
    /// A conditional: `a ? b : c`.
    Conditional(Node<Conditional>),
    /// A unary operation: `-a` or `!a`.
    Unary(Node<Unary>),
    /// A binary operation, such as `a + b`.
    Binary(Node<Binary>),
    /// An expression in parentheses: `(a)`.
    Parentheses(Node<Expression>),
}

/// Literal steps applied to an expression other than a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Relative {
    /// The expression that the steps are applied to.
    pub source: Expression,
    /// The steps, at least one.
    pub steps: List<Step>,
}

/// An index whose key must be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// The collection that is indexed.
    pub source: Expression,
    /// The key, evaluated in the same scope.
    pub key: Expression,
    /// The span from bracket to bracket.
    pub brackets: Span,
}

/// A splat expression, which projects over all elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Splat {
    /// The collection. A single value is treated as a collection of one.
    pub source: Expression,
    /// The form, which decides how far the projection extends.
    pub kind: SplatKind,
    /// The selectors applied to each element.
    pub each: Vec<Selector>,
    /// The span of `[*]` or `.*`.
    pub marker: Span,
}

/// The two forms of a splat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SplatKind {
    /// `[*]`: all following steps apply to each element.
    Full,
    /// `.*`: only the following attribute names apply to each element.
    Attribute,
}

/// A selector applied to each element of a splat.
#[derive(Clone, Debug, PartialEq)]
pub enum Selector {
    /// A literal attribute or index step.
    Step(Step),
    /// An index whose key is evaluated in the scope outside the splat.
    Index {
        /// The key, evaluated in the scope outside the splat.
        key: Expression,
        /// The span from bracket to bracket.
        span: Span,
    },
    /// A splat nested in a splat.
    Splat {
        /// The form of the inner splat.
        kind: SplatKind,
        /// The selectors applied to each inner element.
        each: Vec<Selector>,
        /// The span of `[*]` or `.*`.
        span: Span,
    },
}

/// An item of an object constructor: `key = value`.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectItem {
    /// The key. A bare name is a [`ExpressionKind::String`]; `(expr)` is a [`ExpressionKind::Parentheses`]. A bare
    /// traversal with steps is kept: it is valid in maps of references such as `providers`, and an error as a key.
    pub key: Expression,
    /// The value of the item.
    pub value: Expression,
}

/// A `for` expression, in brackets or braces.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// The variable for keys or indexes, if there are two variables.
    pub key: Option<Ident>,
    /// The variable for values.
    pub value: Ident,
    /// The collection to iterate over.
    pub collection: Expression,
    /// The key of each result. Present for an object result, absent for a tuple.
    pub key_expression: Option<Expression>,
    /// The value of each result.
    pub value_expression: Expression,
    /// The `if` clause, which filters elements.
    pub condition: Option<Expression>,
    /// The span of `...`, if values with equal keys are grouped.
    pub grouping: Option<Span>,
    /// The span of the opening bracket or brace.
    pub open: Span,
    /// The span of the closing bracket or brace.
    pub close: Span,
}

/// A conditional expression: `condition ? yes : no`.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditional {
    /// The condition, converted to a bool.
    pub condition: Expression,
    /// The result if the condition is true.
    pub yes: Expression,
    /// The result if the condition is false.
    pub no: Expression,
}

/// An operation with one operand.
#[derive(Clone, Debug, PartialEq)]
pub struct Unary {
    /// The operator, negation or not.
    pub operator: UnaryOperator,
    /// The operand after the operator.
    pub operand: Expression,
    /// The span of the operator.
    pub symbol: Span,
}

/// The operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `-`, arithmetic negation.
    Negate,
    /// `!`, logical negation.
    Not,
}

/// An operation with two operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Binary {
    /// The operator between the operands.
    pub operator: BinaryOperator,
    /// The operand before the operator.
    pub left: Expression,
    /// The operand after the operator.
    pub right: Expression,
    /// The span of the operator.
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
    /// The operator in source form, such as `&&`.
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

/// A template: a sequence of literals, interpolations and directives. Strip markers (`~`) and the indentation of `<<-`
/// are already applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The parts in source order.
    pub parts: List<TemplatePart>,
}

impl Template {
    /// The only interpolation of a template that consists of nothing else (`"${x}"`). Such a template evaluates to the
    /// value of the expression itself, not to a string.
    pub fn wrapped(&self) -> Option<&Expression> {
        match self.parts.as_slice() {
            [TemplatePart::Interpolation(expression)] => Some(expression),
            _ => None,
        }
    }
}

/// One part of a template.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplatePart {
    /// Literal text, with escapes resolved.
    Literal {
        /// The text after normalization of escapes.
        text: Name,
        /// The source span of the text.
        span: Span,
    },
    /// An interpolation: `${ … }`.
    Interpolation(Expression),
    /// A conditional directive: `%{ if … } … %{ else } … %{ endif }`.
    If(Box<TemplateIf>),
    /// A repeating directive: `%{ for … } … %{ endfor }`.
    For(Box<TemplateFor>),
}

/// The `%{ if }` directive of a template.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateIf {
    /// The condition, converted to a bool.
    pub condition: Expression,
    /// The content if the condition is true.
    pub yes: Template,
    /// The content if the condition is false; empty without `else`.
    pub no: Template,
    /// The span from the opening to the closing directive.
    pub span: Span,
}

/// The `%{ for }` directive of a template.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateFor {
    /// The variable for keys or indexes, if there are two variables.
    pub key: Option<Ident>,
    /// The variable for values.
    pub value: Ident,
    /// The collection to iterate over.
    pub collection: Expression,
    /// The content, repeated for each element.
    pub body: Template,
    /// The span from the opening to the closing directive.
    pub span: Span,
}

/// A string of the JSON syntax.
///
/// Its meaning depends on the context: evaluated as an expression it is a template, as a literal string it is its text,
/// and as a reference or type it is parsed in the native syntax.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonString {
    /// The text after JSON escapes are resolved.
    pub text: Name,
    /// The string parsed as a template: [`ExpressionKind::String`] or [`ExpressionKind::Template`].
    pub template: Expression,
    /// The problems of the template. The evaluator reports them, because the string may never be used as a template.
    pub diagnostics: Diagnostics,
}

impl Expression {
    /// Creates an expression of a kind at a span.
    pub const fn new(kind: ExpressionKind, span: Span) -> Self {
        Self { kind, span }
    }

    /// Creates the placeholder for an expression with an error that was already reported.
    pub const fn invalid(span: Span) -> Self {
        Self { kind: ExpressionKind::Invalid, span }
    }
}

/// A function call. Cheap to clone: header and arguments share one allocation.
#[derive(Clone, Debug, PartialEq)]
pub struct Call(Shared<ThinArc<CallHead, Expression>>);

/// The parts of a [`Call`] other than its arguments.
#[derive(Debug, PartialEq)]
pub struct CallHead {
    /// The function name, possibly with namespaces: `provider::aws::arn_parse`.
    pub name: Ident,
    /// The span of `...`, if the last argument is expanded into several.
    pub expansion: Option<Span>,
    /// The span of the opening parenthesis.
    pub open: Span,
    /// The span of the closing parenthesis.
    pub close: Span,
}

impl Call {
    /// Creates a call from its header and arguments.
    pub fn new(head: CallHead, arguments: impl IntoIterator<Item = Expression, IntoIter: ExactSizeIterator>) -> Self {
        Self(Shared::of(ThinArc::from_header_and_iter(head, arguments.into_iter())))
    }

    /// The argument expressions in source order.
    pub fn arguments(&self) -> &[Expression] {
        &self.0.slice
    }
}

impl Deref for Call {
    type Target = CallHead;

    fn deref(&self) -> &CallHead {
        &self.0.header.header
    }
}

/// An immutable, shared list of nodes. One pointer wide, because most of the tree consists of pointers to lists.
///
/// An empty list needs no allocation.
#[derive(PartialEq)]
pub struct List<T>(Option<Shared<ThinArc<(), T>>>);

impl<T> List<T> {
    /// Creates a list from items of known number.
    pub fn new(items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>) -> Self {
        let items = items.into_iter();
        Self((items.len() > 0).then(|| Shared::of(ThinArc::from_header_and_iter((), items))))
    }

    /// The items as a slice.
    pub fn as_slice(&self) -> &[T] {
        self
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_ref().map_or(&[], |items| &items.slice)
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::new(items.into_iter().collect::<Vec<_>>())
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}
