//! Whether two tokens have a space between them.

use super::Piece;
use crate::token::TokenKind as T;

/// Whether a space follows `token`, given the next token and the one `before` it in the same cell.
pub(super) fn space_after(before: Option<&Piece<'_>>, token: &Piece<'_>, next: &Piece<'_>) -> bool {
    let before = before.map(|piece| piece.kind);
    match (token.kind, next.kind) {
        (_, T::Newline) => false,
        (T::Identifier, T::OpenParenthesis | T::DoubleColon) | (T::DoubleColon, T::Identifier) => false,
        (T::Dot, _) | (_, T::Dot | T::Comma | T::Ellipsis) => false,
        (T::Comma, _) => true,
        (T::QuotedText | T::EscapedText | T::Text | T::OpenQuote | T::OpenHeredoc, _) => false,
        (_, T::QuotedText | T::EscapedText | T::Text | T::CloseQuote | T::CloseHeredoc) => false,
        // `for x in [a]` is no index.
        (T::Identifier, _) if token.text == "in" && before == Some(T::Identifier) => true,
        (T::Identifier | T::Number, T::OpenBracket) => false,
        (_, T::OpenBracket) if token.bracket_change() < 0 => false,
        (T::Bang, _) => false,
        (T::Minus, _) => !is_sign_after(before),
        (T::OpenBrace, T::CloseBrace) => false,
        (T::OpenBrace, _) | (_, T::CloseBrace) => true,
        (T::OpenInterpolation | T::OpenDirective, T::OpenBrace) => true,
        (T::CloseBrace, T::CloseSequence) => true,
        (T::CloseSequence, T::OpenInterpolation | T::OpenDirective) => false,
        _ => token.bracket_change() <= 0 && next.bracket_change() >= 0,
    }
}

/// Whether a minus after `before` is the sign of a number rather than a subtraction.
fn is_sign_after(before: Option<T>) -> bool {
    matches!(
        before,
        None | Some(
            T::OpenParenthesis
                | T::OpenBrace
                | T::OpenBracket
                | T::Equal
                | T::Colon
                | T::Comma
                | T::Question
                | T::Plus
                | T::Star
                | T::Slash
                | T::Percent
                | T::Minus
                | T::EqualEqual
                | T::NotEqual
                | T::Greater
                | T::GreaterEqual
                | T::Less
                | T::LessEqual
                | T::And
                | T::Or
                | T::Bang
        )
    )
}
