//! Configurations with their diagnostics: each `suite/*.txt` contains the files of a configuration, and the `.snap` file of
//! the same name its diagnostics.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod support;

use std::fs;
use std::path::Path;

#[test]
fn diagnostics_match_snapshots() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let mut cases: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    cases.sort();
    assert!(!cases.is_empty());
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for case in cases {
            let text = fs::read_to_string(&case).unwrap();
            let (_, diagnostics, sources) = support::load_text(&text);
            let name = case.file_stem().unwrap().to_string_lossy().into_owned();
            insta::assert_snapshot!(name, support::print(&diagnostics, &sources));
        }
    });
}
