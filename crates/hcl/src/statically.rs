//! Static analysis of expressions: references, names, lists and maps of them, without evaluation.

use groma_diagnostics::Diagnostics;

use crate::ast::{Call, Expression, ExpressionKind, Ident, Name, ObjectItem, TemplatePart, Traversal};
use crate::parse;

impl Expression {
    /// The traversal that the expression is: bare, or in quotes as the JSON syntax needs it and old configurations of
    /// the native syntax have it.
    pub fn as_traversal(&self) -> Option<Traversal> {
        match &self.kind {
            ExpressionKind::Traversal(traversal) => Some(traversal.clone()),
            ExpressionKind::String(text) => parse::quoted_traversal(text, self.span).ok(),
            ExpressionKind::JsonString(string) => parse::quoted_traversal(&string.text, self.span).ok(),
            ExpressionKind::Relative(relative) => {
                let root = relative.source.reserved_word()?;
                Some(Traversal::new(root, relative.steps.iter().cloned(), self.span))
            }
            _ => {
                let root = self.reserved_word()?;
                let span = root.span;
                Some(Traversal::new(root, [], span))
            }
        }
    }

    /// Parses the traversal in the quotes of a string in the native syntax; `None` if this is not such a string.
    pub fn traversal_in_quotes(&self) -> Option<Result<Traversal, Diagnostics>> {
        match &self.kind {
            ExpressionKind::String(text) => Some(parse::quoted_traversal(text, self.span)),
            _ => None,
        }
    }

    /// The word that a literal is: where a reference is wanted, `null` is the name of a provider.
    fn reserved_word(&self) -> Option<Ident> {
        let word = match self.kind {
            ExpressionKind::Null => "null",
            ExpressionKind::Bool(true) => "true",
            ExpressionKind::Bool(false) => "false",
            _ => return None,
        };
        Some(Ident::new(word, self.span))
    }

    /// The characters of a string that holds no interpolation. In the JSON syntax any string counts, as it is.
    pub fn as_static_string(&self) -> Option<Name> {
        match &self.without_parentheses().kind {
            ExpressionKind::String(text) => Some(text.clone()),
            ExpressionKind::JsonString(string) => Some(string.text.clone()),
            ExpressionKind::Template(template) => match template.parts.as_slice() {
                [] => Some(Name::from("")),
                [TemplatePart::Literal { text, .. }] => Some(text.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The word, for places where some words have a meaning of their own: `all`, `string`. In the JSON syntax it
    /// is in quotes, in the native syntax it must not be.
    pub fn as_keyword(&self) -> Option<Name> {
        let traversal = match &self.kind {
            ExpressionKind::Traversal(traversal) => traversal.clone(),
            ExpressionKind::JsonString(string) => parse::quoted_traversal(&string.text, self.span).ok()?,
            _ => return self.reserved_word().map(|word| word.name),
        };
        traversal.steps().is_empty().then(|| traversal.root.name.clone())
    }

    /// The elements of a list that is written out.
    pub fn as_list(&self) -> Option<&[Expression]> {
        match &self.kind {
            ExpressionKind::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    /// The items of an object that is written out.
    pub fn as_object(&self) -> Option<&[ObjectItem]> {
        match &self.kind {
            ExpressionKind::Object(items) => Some(items),
            _ => None,
        }
    }

    /// The call that the expression is; in the JSON syntax in quotes.
    pub fn as_call(&self) -> Option<Call> {
        match &self.kind {
            ExpressionKind::Call(call) => Some(call.clone()),
            ExpressionKind::JsonString(string) => match parse::quoted_expression(&string.text, self.span)?.kind {
                ExpressionKind::Call(call) => Some(call),
                _ => None,
            },
            _ => None,
        }
    }

    /// The expression in the native syntax: what a string of the JSON syntax holds, or the expression itself.
    ///
    /// Nothing if the string holds no expression.
    pub fn unquoted(&self) -> Option<Expression> {
        match &self.kind {
            ExpressionKind::JsonString(string) => parse::quoted_expression(&string.text, self.span),
            _ => Some(self.clone()),
        }
    }

    /// The expression inside any parentheses around it.
    pub fn without_parentheses(&self) -> &Expression {
        let mut inner = self;
        while let ExpressionKind::Parentheses(next) = &inner.kind {
            inner = next;
        }
        inner
    }
}
