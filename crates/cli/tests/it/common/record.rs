//! What was found before, and what is meant.

use std::path::Path;

use super::normalization::first_difference;

/// What docs/differences.md has to say.
const DOCUMENTED: &str = include_str!("../../../../../docs/differences.md");

/// Holds what was found against a record, a file below `tests/it`, which `GROMA_UPDATE=1` writes anew.
pub fn assert_recorded(record: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(record);
    if std::env::var_os("GROMA_UPDATE").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let recorded = std::fs::read_to_string(path).unwrap();
    assert!(recorded == found, "{}", first_difference(&recorded, found));
}

/// A difference that is meant has a row on the page, which begins so.
pub fn assert_documented(matter: &str) {
    assert!(DOCUMENTED.contains(&format!("\n| {matter}")), "not in docs/differences.md: {matter}");
}
