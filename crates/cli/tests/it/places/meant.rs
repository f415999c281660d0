//! Pairs that are refused, or taken, in spite of Terraform.

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
    (&["sensitive(terraform_data.one.output)"], "a secret that is not known yet as an argument of"),
];

/// Whether a pair is one of these. Each of them is on the page.
pub fn is_meant(pair: &str) -> bool {
    MEANT.iter().any(|(parts, matter)| {
        assert_documented(matter);
        parts.iter().all(|part| pair.contains(part))
    })
}
