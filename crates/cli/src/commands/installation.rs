//! Installing the modules of the working directory.

use std::path::PathBuf;

use groma_config::version::Version;
use groma_config::{Configuration, DiskFiles, LoadOptions, ModuleManifest, References, TestFolder, load_with};
use groma_diagnostics::{Diagnostics, io_reason};
use groma_install::modules::{Freshness, ModuleInstaller, ModuleProgress, Places};

use super::configuration::load_options;
use super::context::Context;
use super::outcome::fail;
use super::servers::discovery;

/// Whether the list of installed modules is written where no module is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EmptyList {
    /// The manifest is written.
    Written,
    /// A folder that needs none gets none.
    LeftOut,
}

/// A configuration whose modules were to be installed.
pub(super) struct Installed {
    configuration: Option<Configuration>,
    problems: Diagnostics,
}

impl Installed {
    /// Whether there was a module to install.
    pub fn calls_modules(&self) -> bool {
        self.configuration.as_ref().is_some_and(Configuration::calls_modules)
    }

    /// The configuration with the warnings about it.
    ///
    /// # Errors
    /// Returns the configuration, or an error if it is wrong or a module is missing.
    pub fn sound(self) -> Result<(Configuration, Diagnostics), Diagnostics> {
        match self.configuration {
            Some(configuration) if !self.problems.has_errors() => Ok((configuration, self.problems)),
            _ => Err(self.problems),
        }
    }
}

/// Loads the configuration, and installs the modules that it calls and those that runs of tests name.
///
/// # Errors
/// Modules cannot be looked for at all, or what is installed cannot be recorded.
pub(super) fn install(
    context: &Context,
    freshness: Freshness,
    empty_list: EmptyList,
    tests: TestFolder,
    progress: &mut dyn ModuleProgress,
) -> Result<Installed, Diagnostics> {
    let options = LoadOptions { references: References::LeftAlone, tests: Some(tests), ..load_options(context) };
    let files = DiskFiles::new(".");
    // An unreadable manifest is replaced.
    let before = ModuleManifest::read(&options.data_directory, &files).unwrap_or_default();
    let discovery = discovery(context)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| fail("Network not usable", format!("{error}.", error = io_reason(&error))))?;
    let places = Places {
        root: PathBuf::from("."),
        data_directory: options.data_directory.clone(),
        default_registry: options.default_registry.clone(),
    };
    let mut installer = ModuleInstaller::new(places, freshness, before, &discovery, &runtime, progress);
    let (configuration, problems) = load_with(&options, &context.sources, &files, &mut installer);
    let installed = Installed { configuration, problems };
    if !installed.problems.has_errors() && (empty_list == EmptyList::Written || installed.calls_modules()) {
        installer.write_manifest().map_err(|error| {
            fail(
                "Failed to update module manifest",
                format!("The list of installed modules cannot be written: {error}.", error = io_reason(&error)),
            )
        })?;
    }
    Ok(installed)
}

/// Lines for people; `line` prints one.
pub(super) struct Lines<'a>(pub &'a mut dyn FnMut(&str));

impl ModuleProgress for Lines<'_> {
    fn fetching(&mut self, key: &str, address: &str, version: Option<&Version>) {
        let version = version.map(|version| format!(" {version}")).unwrap_or_default();
        (self.0)(&format!("Downloading {address}{version} for {key}..."));
    }

    fn installed(&mut self, key: &str, directory: &str) {
        (self.0)(&format!("- {key} in {directory}"));
    }
}
