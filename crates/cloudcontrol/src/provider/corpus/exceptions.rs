//! The types whose generated configurations do not pass a step, each with its reason.
//!
//! A type that fails without being listed fails the test, and so does a listed one that passes.

use std::collections::{BTreeMap, BTreeSet};

/// A type with the reason why it is listed.
pub type Exception = (&'static str, &'static str);

/// Types whose lifecycle fails.
pub const FAILING: &[Exception] = &[ROUTE];

/// Types whose lifecycle fails with boto3.
pub const FAILING_WITH_BOTO3: &[Exception] = &[ROUTE];

const ROUTE: Exception = ("AWS::EC2::Route", "needs one of three destinations, which its schema does not say");

/// Returns what the list and the types that were found do not agree on. Only types that were tried are compared.
pub fn differences(list: &[Exception], tried: &BTreeSet<String>, found: &BTreeMap<String, String>) -> Vec<String> {
    let is_listed = |name: &str| list.iter().any(|(listed, _)| *listed == name);
    let unlisted = found.iter().filter(|(name, _)| !is_listed(name));
    let unlisted = unlisted.map(|(name, problem)| format!("{name} is not listed: {problem}"));
    let outdated = list.iter().filter(|(name, _)| tried.contains(*name) && !found.contains_key(*name));
    let outdated = outdated.map(|(name, reason)| format!("{name} passes now, but is listed: {reason}"));
    unlisted.chain(outdated).collect()
}

#[test]
fn exceptions_are_compared_in_both_directions() {
    let list: &[Exception] = &[("A", "known"), ("B", "fixed since"), ("C", "not tried")];
    let tried = ["A", "B", "D"].map(str::to_owned).into();
    let found = [("A".to_owned(), "fails".to_owned()), ("D".to_owned(), "fails".to_owned())].into();
    assert_eq!(
        differences(list, &tried, &found),
        ["D is not listed: fails", "B passes now, but is listed: fixed since"]
    );
}
