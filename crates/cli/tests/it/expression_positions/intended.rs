//! Pairs that are refused, or taken, in spite of Terraform, and those that are refused for another reason.

use crate::common::record::assert_documented;

/// Where the name of a pair has all of these parts, and what its row of docs/differences.md begins with.
const MEANT: &[(&[&str], &str)] = &[
    (&["data argument ::"], "settings of `terraform_remote_state`"),
    (&["data config ::"], "settings of `terraform_remote_state`"),
    (&["data defaults ::"], "settings of `terraform_remote_state`"),
    (&["check data ::"], "settings of `terraform_remote_state`"),
    (&["replace_triggered_by ::"], "`replace_triggered_by` with a resource that has no instances"),
    (&["moved "], "`moved` from a resource to a data source"),
    (&["import for_each ::"], "keys in `to` of an `import` block"),
    (&[":: 1 / 0"], "infinite numbers"),
    (&["module.m.old"], "an unknown value whose type can never fit"),
    (&["many[2].output"], "an unknown value whose type can never fit"),
    (&["sensitive(terraform_data.one.output)"], "a sensitive unknown argument of"),
];

/// The same where both refuse it, and have no summary in common.
const OTHER_WORDS: &[(&[&str], &str)] = &[
    (&["provider::terraform::encode_expr"], "functions that a provider does not have, in conditions"),
    (&["provider::nope::f"], "functions that a provider does not have, in conditions"),
    (&["moved ", ":: data."], "`moved` from a resource to a data source"),
    (&["moved ", ":: kit_thing."], "a `moved` or `removed` block whose object is still declared"),
    (&["resource provider ::"], "`provider` with the alias of a provider that is not declared anywhere"),
    (&["json provider ::"], "`provider` with the alias of a provider that is not declared anywhere"),
    (&[":: 1 / 0"], "infinite numbers"),
    (&["json error message ::"], "a validation rule that fails with an error message"),
    (
        &["check ::", ":: -var.v"],
        "`each` and `count` in the arguments of a module call that has neither, mistakes in the assertions",
    ),
    (
        &["check ::", ":: var.nothing + 1"],
        "`each` and `count` in the arguments of a module call that has neither, mistakes in the assertions",
    ),
    (&["variable error message ::"], "a validation rule that fails with an error message"),
    (&[":: [for i in var.secret : i]"], "outputs made by `for` of a sensitive value"),
    (&[":: [for i in [3, 1, 2] : i if i > var.step]"], "a variable in a `for` expression"),
];

/// Whether it is intended that a pair is taken by one of the two alone. The reason is on the page.
pub fn is_verdict_meant(pair: &str) -> bool {
    is_among(MEANT, pair)
}

/// Whether it is intended that a pair is refused in other words. The reason is on the page.
pub fn are_words_meant(pair: &str) -> bool {
    is_among(OTHER_WORDS, pair)
}

fn is_among(intended: &[(&[&str], &str)], pair: &str) -> bool {
    intended.iter().any(|(parts, matter)| {
        assert_documented(matter);
        parts.iter().all(|part| pair.contains(part))
    })
}
