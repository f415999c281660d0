//! Static analysis of expressions: references, keywords, lists and maps that need no evaluation.

use groma_diagnostics::Diagnostics;

use crate::ast::{Call, Expression, ExpressionKind, Ident, Name, ObjectItem, TemplatePart, Traversal};
use crate::parse;

impl Expression {
    /// Returns the expression as a traversal: bare, or quoted as JSON syntax and configurations of Terraform 0.11
    /// have it.
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

    /// Parses the traversal in a quoted string of the native syntax. Returns `None` if the expression is not such a
    /// string.
    pub fn traversal_in_quotes(&self) -> Option<Result<Traversal, Diagnostics>> {
        match &self.kind {
            ExpressionKind::String(text) => Some(parse::quoted_traversal(text, self.span)),
            _ => None,
        }
    }

    /// The keyword of a literal: where a reference is expected, `null` is the name of a provider.
    fn reserved_word(&self) -> Option<Ident> {
        let word = match self.kind {
            ExpressionKind::Null => "null",
            ExpressionKind::Bool(true) => "true",
            ExpressionKind::Bool(false) => "false",
            _ => return None,
        };
        Some(Ident::new(word, self.span))
    }

    /// Returns the text of a string without interpolations. In the JSON syntax every string counts, verbatim.
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

    /// Returns the keyword, in contexts with keywords such as `all` or `string`. It must be quoted in JSON syntax and
    /// bare in native syntax.
    pub fn as_keyword(&self) -> Option<Name> {
        let traversal = match &self.kind {
            ExpressionKind::Traversal(traversal) => traversal.clone(),
            ExpressionKind::JsonString(string) => parse::quoted_traversal(&string.text, self.span).ok()?,
            _ => return self.reserved_word().map(|word| word.name),
        };
        traversal.steps().is_empty().then(|| traversal.root.name.clone())
    }

    /// The elements of a tuple constructor.
    pub fn as_list(&self) -> Option<&[Expression]> {
        match &self.kind {
            ExpressionKind::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    /// The items of an object constructor.
    pub fn as_object(&self) -> Option<&[ObjectItem]> {
        match &self.kind {
            ExpressionKind::Object(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the expression as a function call, which is quoted in JSON syntax.
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

    /// Returns the expression in native syntax: the parsed content of a JSON string, or the expression itself.
    ///
    /// Returns `None` if the string is not an expression.
    pub fn unquoted(&self) -> Option<Expression> {
        match &self.kind {
            ExpressionKind::JsonString(string) => parse::quoted_expression(&string.text, self.span),
            _ => Some(self.clone()),
        }
    }

    /// Returns the expression inside all parentheses.
    pub fn without_parentheses(&self) -> &Expression {
        let mut inner = self;
        while let ExpressionKind::Parentheses(next) = &inner.kind {
            inner = next;
        }
        inner
    }
}
