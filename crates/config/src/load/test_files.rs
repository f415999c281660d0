//! Loading of test files, which belong to no module.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span, io_reason};

use super::directory::Reader;
use crate::decode::{self, MockFile, Role, TestContent};
use crate::model::OverrideTarget;
use crate::options::{LoadOptions, TestDirectory};
use crate::source::{Files, display, mock_files, normalize, test_files};

/// Whether there are test files next to the root module or in `folder`.
#[must_use]
pub fn has_test_files(options: &LoadOptions, folder: &TestDirectory, files: &dyn Files) -> bool {
    folders(options, folder)
        .iter()
        .any(|directory| files.list(directory).is_ok_and(|entries| !test_files(entries).is_empty()))
}

/// Reads the test files next to the root module and in `folder`, each with its path.
///
/// An error in one file does not prevent the others from being read.
pub(super) fn read(
    options: &LoadOptions,
    folder: &TestDirectory,
    sources: &Sources,
    files: &dyn Files,
    diagnostics: &mut Diagnostics,
) -> Vec<(PathBuf, TestContent)> {
    // A separate reader: an incomplete test file must not suppress checks of the modules.
    let mut reader = Reader::new(options, sources, files);
    let mut found = Vec::new();
    for directory in folders(options, folder) {
        let entries = match files.list(&directory) {
            Ok(entries) => entries,
            // The default test directory need not exist, and the loader reports an unreadable root module itself.
            Err(error) if error.kind() == ErrorKind::NotFound || directory == options.directory => continue,
            Err(error) => {
                let detail = format!(
                    "Cannot read the test directory {}: {error}.",
                    display(&directory),
                    error = io_reason(&error)
                );
                diagnostics.push(Diagnostic::error("Failed to read test directory", detail));
                continue;
            }
        };
        for named in test_files(entries) {
            let content = reader.file(&directory, &named, Role::Primary, decode::test_file, diagnostics);
            found.extend(content.map(|content| (directory.join(&named.0), content)));
        }
    }
    if let TestDirectory::Named(name) = folder
        && files.list(&within(options, folder)).is_err_and(|error| error.kind() == ErrorKind::NotFound)
    {
        let detail =
            format!("The test directory {} does not exist, so no test files were read from it.", display(name));
        diagnostics.push(Diagnostic::warning("Test directory does not exist", detail));
    }
    check_mock_data(&mut reader, found.iter().flat_map(|(_, content)| &content.mocks), diagnostics);
    found
}

/// Returns the directories that contain test files. A set, because the test directory may be the root module's.
fn folders(options: &LoadOptions, folder: &TestDirectory) -> BTreeSet<PathBuf> {
    BTreeSet::from([options.directory.clone(), within(options, folder)])
}

fn within(options: &LoadOptions, folder: &TestDirectory) -> PathBuf {
    normalize(&options.directory.join(folder.path()))
}

/// Checks the mock data directories that test files refer to, each once.
fn check_mock_data<'a>(
    reader: &mut Reader<'_>,
    named: impl Iterator<Item = &'a (PathBuf, Span)>,
    diagnostics: &mut Diagnostics,
) {
    let mut known = HashSet::new();
    for (folder, block) in named {
        let directory = normalize(&reader.options.directory.join(folder));
        if !known.insert(directory.clone()) {
            continue;
        }
        let Ok(entries) = reader.files.list(&directory) else {
            let detail = format!(
                "Cannot read the directory {}. The path of mock data is relative to the root module, not to the test \
                 file.",
                display(folder)
            );
            diagnostics.push(Diagnostic::error("Failed to read mock data directory", detail).at(*block));
            continue;
        };
        let mut seen = MockData::default();
        for named in mock_files(entries) {
            let content = reader.file(&directory, &named, Role::Primary, decode::mock_file, diagnostics);
            if let Some(content) = content {
                seen.add(content, reader.sources, diagnostics);
            }
        }
    }
}

/// The mocks and overrides of a mock data directory, to detect duplicates across files.
#[derive(Default)]
struct MockData {
    mocked: HashMap<(String, String), Span>,
    overridden: HashMap<OverrideTarget, Span>,
}

impl MockData {
    /// Adds a file. Duplicates within the file have already been reported.
    fn add(&mut self, file: MockFile, sources: &Sources, diagnostics: &mut Diagnostics) {
        let mut twice = |summary, first: Span, other| {
            let detail = format!(
                "The same block is already at {}. Remove one of the two.",
                decode::location_text(sources, first)
            );
            diagnostics.push(Diagnostic::error(summary, detail).at(other));
        };
        let mocked = file.mocked.into_iter().map(|(kind, label, span)| ((kind.to_string(), label.to_string()), span));
        let overridden = file.overrides.into_iter().map(|one| (one.target, one.block));
        let (mut new_mocked, mut new_overridden) = (Vec::new(), Vec::new());
        for (key, span) in mocked {
            match self.mocked.get(&key) {
                Some(first) => twice("Duplicate mock resource block", *first, span),
                None => new_mocked.push((key, span)),
            }
        }
        for (target, span) in overridden {
            match self.overridden.get(&target) {
                Some(first) => twice("Duplicate override block", *first, span),
                None => new_overridden.push((target, span)),
            }
        }
        self.mocked.extend(new_mocked);
        self.overridden.extend(new_overridden);
    }
}

/// Returns the manifest key of the test file at `path`, relative to the root module; the modules of its runs are
/// installed below it.
pub(super) fn steps(path: &Path) -> Vec<String> {
    let mut steps = vec![String::from("test")];
    let parts = path.components().filter_map(|part| match part {
        std::path::Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        std::path::Component::ParentDir => Some(String::from("..")),
        _ => None,
    });
    steps.extend(parts);
    if let Some(file) = steps.last_mut()
        && let Some(name) = file.strip_suffix(".tftest.hcl")
    {
        *file = name.to_owned();
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_keys_of_test_files() {
        let key = |path: &str| steps(Path::new(path)).join(".");
        assert_eq!(key("main.tftest.hcl"), "test.main");
        assert_eq!(key("tests/deep/a.b.tftest.hcl"), "test.tests.deep.a.b");
        // Terraform and OpenTofu both strip only this suffix.
        assert_eq!(key("tests/a.tftest.json"), "test.tests.a.tftest.json");
        assert_eq!(key("../t/a.tofutest.hcl"), "test....t.a.tofutest.hcl");
    }
}
