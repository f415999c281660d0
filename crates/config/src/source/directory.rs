//! Classification of the files in a directory by name.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};

use super::Entry;

/// The syntax of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// Native syntax: `.tf`, `.tofu`, `.tfquery.hcl`.
    Native,
    /// JSON syntax: `.tf.json`, `.tofu.json`, `.tfquery.json`.
    Json,
}

/// The configuration files of a directory, each list sorted by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DirectoryFiles {
    pub(crate) primary: Vec<(OsString, Syntax)>,
    pub(crate) overrides: Vec<(OsString, Syntax)>,
    /// Query files, which only some commands read.
    pub(crate) queries: Vec<(OsString, Syntax)>,
}

/// A suffix, its syntax, and the suffix of the OpenTofu file that shadows a file of the same base name.
type Suffix = (&'static str, Syntax, Option<&'static str>);

const SUFFIXES: [Suffix; 4] = [
    (".tf", Syntax::Native, Some(".tofu")),
    (".tf.json", Syntax::Json, Some(".tofu.json")),
    (".tofu", Syntax::Native, None),
    (".tofu.json", Syntax::Json, None),
];

/// Suffixes of query files.
const QUERIES: [(&str, Syntax); 2] = [(".tfquery.hcl", Syntax::Native), (".tfquery.json", Syntax::Json)];

/// Suffixes of test files, each with the one that shadows it.
const TESTS: [Suffix; 4] = [
    (".tftest.hcl", Syntax::Native, Some(".tofutest.hcl")),
    (".tftest.json", Syntax::Json, Some(".tofutest.json")),
    (".tofutest.hcl", Syntax::Native, None),
    (".tofutest.json", Syntax::Json, None),
];

/// Suffixes of mock data files.
const MOCKS: [Suffix; 2] = [(".tfmock.hcl", Syntax::Native, None), (".tfmock.json", Syntax::Json, None)];

/// Returns the test files among the entries of a directory, sorted by name. `x.tofutest.hcl` shadows `x.tftest.hcl`.
pub(crate) fn test_files(entries: Vec<Entry>) -> Vec<(OsString, Syntax)> {
    files_of(&TESTS, entries)
}

/// Returns the mock data files among the entries of a directory, sorted by name.
pub(crate) fn mock_files(entries: Vec<Entry>) -> Vec<(OsString, Syntax)> {
    files_of(&MOCKS, entries)
}

fn files_of(suffixes: &[Suffix], mut entries: Vec<Entry>) -> Vec<(OsString, Syntax)> {
    entries.retain(|entry| !entry.is_directory && !is_ignored(&entry.name));
    entries.sort();
    let names: HashSet<&[u8]> = entries.iter().map(|entry| entry.name.as_encoded_bytes()).collect();
    let files = entries.iter().filter_map(|entry| {
        let (base, syntax, rival) = classify(&entry.name, suffixes)?;
        (!is_shadowed(&names, base, rival)).then(|| (entry.name.clone(), syntax))
    });
    files.collect()
}

/// Sorts the entries of a module's directory into primary, override and query files. Hidden files and editor backups
/// are ignored, and `x.tofu` shadows `x.tf`.
pub(crate) fn module_files(mut entries: Vec<Entry>) -> DirectoryFiles {
    entries.retain(|entry| !entry.is_directory && !is_ignored(&entry.name));
    entries.sort();
    let names: HashSet<&[u8]> = entries.iter().map(|entry| entry.name.as_encoded_bytes()).collect();
    let mut files = DirectoryFiles::default();
    for entry in &entries {
        if let Some((_, syntax)) =
            QUERIES.iter().find(|(suffix, _)| entry.name.as_encoded_bytes().ends_with(suffix.as_bytes()))
        {
            files.queries.push((entry.name.clone(), *syntax));
            continue;
        }
        let Some((base, syntax, rival)) = classify(&entry.name, &SUFFIXES) else { continue };
        if is_shadowed(&names, base, rival) {
            continue;
        }
        // Terraform's rule: exactly `override`, or the suffix `_override`, before the extension.
        let is_override = base == b"override" || base.ends_with(b"_override");
        let list = if is_override { &mut files.overrides } else { &mut files.primary };
        list.push((entry.name.clone(), syntax));
    }
    files
}

/// Splits a file name into base name and suffix; returns the base, the syntax and the shadowing suffix.
///
/// Works on bytes, because file names may be invalid UTF-8.
fn classify<'n>(name: &'n OsStr, suffixes: &[Suffix]) -> Option<(&'n [u8], Syntax, Option<&'static str>)> {
    let name = name.as_encoded_bytes();
    suffixes.iter().find_map(|(suffix, syntax, rival)| Some((name.strip_suffix(suffix.as_bytes())?, *syntax, *rival)))
}

/// Whether `names` contains the shadowing file of `base`.
fn is_shadowed(names: &HashSet<&[u8]>, base: &[u8], rival: Option<&str>) -> bool {
    rival.is_some_and(|suffix| names.contains(&*[base, suffix.as_bytes()].concat()))
}

/// Whether the file is hidden, or a backup of vim (`x~`) or emacs (`#x#`).
fn is_ignored(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b".") || name.ends_with(b"~") || (name.starts_with(b"#") && name.ends_with(b"#"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(names: &[&str]) -> (Vec<String>, Vec<String>) {
        let entries = names.iter().map(|name| Entry { name: name.into(), is_directory: false }).collect();
        let files = module_files(entries);
        let only_names =
            |list: Vec<(OsString, Syntax)>| list.into_iter().map(|(name, _)| name.into_string().unwrap()).collect();
        (only_names(files.primary), only_names(files.overrides))
    }

    #[test]
    fn primary_and_override_files_are_separated() {
        let (primary, overrides) = sorted(&[
            "z.tf",
            "a.tf.json",
            "override.tf",
            "x_override.tf.json",
            "y_override.tofu",
            "README.md",
            "override.tf.bak",
            "a.tfvars",
            "unit.tftest.hcl",
            "unit.tftest.json",
        ]);
        assert_eq!(primary, ["a.tf.json", "z.tf"]);
        assert_eq!(overrides, ["override.tf", "x_override.tf.json", "y_override.tofu"]);
    }

    #[test]
    fn tofu_files_shadow_tf_files_of_the_same_name() {
        let (primary, overrides) = sorted(&[
            "a.tf",
            "a.tofu",
            "b.tf.json",
            "b.tofu.json",
            "c.tf",
            "c.tofu.json",
            "override.tf",
            "override.tofu",
        ]);
        assert_eq!(primary, ["a.tofu", "b.tofu.json", "c.tf", "c.tofu.json"]);
        assert_eq!(overrides, ["override.tofu"]);
    }

    #[test]
    fn tofutest_files_shadow_tftest_files() {
        let names = [
            "z.tftest.hcl",
            "a.tftest.json",
            "b.tftest.hcl",
            "b.tofutest.hcl",
            ".c.tftest.hcl",
            "d.tf",
            "e.tftest.hcl~",
        ];
        let entries = names.map(|name| Entry { name: name.into(), is_directory: false });
        let found = test_files(entries.to_vec());
        let names: Vec<&str> = found.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(names, ["a.tftest.json", "b.tofutest.hcl", "z.tftest.hcl"]);
    }

    #[test]
    fn hidden_and_backup_files_are_ignored() {
        let (primary, overrides) = sorted(&[".a.tf", "a.tf~", "#a.tf#", ".#a.tf", "~a.tf"]);
        assert_eq!(primary, ["~a.tf"]);
        assert!(overrides.is_empty());
    }
}
