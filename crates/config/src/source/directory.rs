//! Selection of configuration files in a directory.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};

use super::files::Entry;

/// The syntax of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// `.tf`, `.tofu`, `.tfquery.hcl`.
    Native,
    /// `.tf.json`, `.tofu.json`, `.tfquery.json`.
    Json,
}

/// The configuration files of one folder, each list sorted by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DirectoryFiles {
    pub(crate) primary: Vec<(OsString, Syntax)>,
    pub(crate) overrides: Vec<(OsString, Syntax)>,
    /// Searches, which only some commands read.
    pub(crate) queries: Vec<(OsString, Syntax)>,
}

/// The suffix, the syntax, and the suffix of the file that replaces it if both exist.
type Suffix = (&'static str, Syntax, Option<&'static str>);

const SUFFIXES: [Suffix; 4] = [
    (".tf", Syntax::Native, Some(".tofu")),
    (".tf.json", Syntax::Json, Some(".tofu.json")),
    (".tofu", Syntax::Native, None),
    (".tofu.json", Syntax::Json, None),
];

/// The suffixes of query files.
const QUERIES: [(&str, Syntax); 2] = [(".tfquery.hcl", Syntax::Native), (".tfquery.json", Syntax::Json)];

/// The suffixes of files of tests, each with that of the file that takes its place if both are there.
const TESTS: [Suffix; 4] = [
    (".tftest.hcl", Syntax::Native, Some(".tofutest.hcl")),
    (".tftest.json", Syntax::Json, Some(".tofutest.json")),
    (".tofutest.hcl", Syntax::Native, None),
    (".tofutest.json", Syntax::Json, None),
];

/// The suffixes of files of mock data.
const MOCKS: [Suffix; 2] = [(".tfmock.hcl", Syntax::Native, None), (".tfmock.json", Syntax::Json, None)];

/// The files of tests among the entries of a folder, sorted by name; `x.tftest.hcl` is left out beside `x.tofutest.hcl`.
pub(crate) fn test_files(entries: Vec<Entry>) -> Vec<(OsString, Syntax)> {
    files_of(&TESTS, entries)
}

/// The files of mock data among the entries of a folder, sorted by name.
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

/// Sorts the entries of a module's folder into primary, override and query files; hidden files, editors' backups and everything
/// else are left out, and so is `x.tf` beside `x.tofu`.
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
        let is_override = base == b"override" || base.ends_with(b"_override");
        let list = if is_override { &mut files.overrides } else { &mut files.primary };
        list.push((entry.name.clone(), syntax));
    }
    files
}

/// The name before the suffix, how the file is written, and the suffix of the file that takes its place.
///
/// Names are compared as bytes, because they need not be UTF-8.
fn classify<'n>(name: &'n OsStr, suffixes: &[Suffix]) -> Option<(&'n [u8], Syntax, Option<&'static str>)> {
    let name = name.as_encoded_bytes();
    suffixes.iter().find_map(|(suffix, syntax, rival)| Some((name.strip_suffix(suffix.as_bytes())?, *syntax, *rival)))
}

/// Whether `names` has the file with the suffix `rival` that takes the place of another one.
fn is_shadowed(names: &HashSet<&[u8]>, base: &[u8], rival: Option<&str>) -> bool {
    rival.is_some_and(|suffix| names.contains(&*[base, suffix.as_bytes()].concat()))
}

/// Hidden files, and what vim (`x~`) and emacs (`#x#`) leave behind.
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
    fn files_are_sorted_into_primary_and_override() {
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
    fn files_of_tests_are_shadowed_by_those_of_opentofu() {
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
