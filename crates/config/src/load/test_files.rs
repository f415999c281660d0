//! Reading the files of tests, which belong to no module.

use std::collections::BTreeSet;
use std::path::Path;

use groma_diagnostics::{Diagnostic, Diagnostics, Sources};

use super::folder::Reader;
use crate::decode::{self, Role};
use crate::options::LoadOptions;
use crate::source::{Files, display, normalize, test_files};

/// Says what is wrong with how the files of tests are written: those beside the root module, and those in `folder`, relative to it.
///
/// A mistake in one of them does not keep the others from being read.
pub fn check_test_files(
    options: &LoadOptions,
    folder: TestFolder<'_>,
    sources: &Sources,
    files: &dyn Files,
) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let mut reader = Reader::new(options, sources, files);
    let within = normalize(&options.directory.join(folder.path()));
    // One folder, where somebody has named that of the configuration.
    for directory in BTreeSet::from([&options.directory, &within]) {
        let Ok(entries) = files.list(directory) else { continue };
        for named in test_files(entries) {
            reader.file(directory, &named, Role::Primary, decode::test_file, &mut diagnostics);
        }
    }
    if let TestFolder::Named(name) = folder
        && files.list(&within).is_err()
    {
        let detail = format!("There is no folder {} with tests, so that none of it was read.", display(name));
        diagnostics.push(Diagnostic::warning("Test directory does not exist", detail));
    }
    diagnostics
}

/// Where files of tests are, beside those next to the configuration.
#[derive(Clone, Copy, Debug)]
pub enum TestFolder<'a> {
    /// Where they are if nobody says otherwise; it need not be there.
    Usual,
    /// A folder that somebody has named, relative to the root module's.
    Named(&'a Path),
}

impl<'a> TestFolder<'a> {
    fn path(self) -> &'a Path {
        match self {
            Self::Usual => Path::new("tests"),
            Self::Named(path) => path,
        }
    }
}
