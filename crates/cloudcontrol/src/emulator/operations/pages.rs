//! Long lists, page by page.

use std::borrow::Cow;

use super::refusals::{Outcome, invalid};

/// Maximal number of objects on a page.
pub(super) const PAGE: usize = 100;
/// Number of requests on a page.
pub(super) const REQUEST_PAGE: usize = 20;

pub(super) fn pack_token(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn unpack_token(token: &str) -> Outcome<String> {
    let wrong = || invalid("NextToken is not one of this service");
    if !token.is_ascii() || !token.len().is_multiple_of(2) {
        return Err(wrong());
    }
    let digits: Option<Vec<u8>> =
        (0..token.len() / 2).map(|at| u8::from_str_radix(token.get(at * 2..at * 2 + 2)?, 16).ok()).collect();
    let text: Cow<'_, [u8]> = digits.ok_or_else(wrong)?.into();
    String::from_utf8(text.into_owned()).map_err(|_| wrong())
}
