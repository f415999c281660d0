//! Installs the modules of the working directory, for `init` and `get`.

use std::path::PathBuf;

use groma_config::version::Version;
use groma_config::{Configuration, DiskFiles, LoadOptions, ModuleManifest, References, TestDirectory, load_with};
use groma_diagnostics::{Diagnostics, io_reason};
use groma_install::modules::{Freshness, ModuleInstaller, ModulePaths, ModuleProgress};

use super::configuration::{load_options, test_folder};
use super::context::Context;
use super::outcome::{Outcome, fail};
use super::servers::discovery;
use super::variables::check_given;
use crate::arguments::{Flag, Get};

/// Treatment of an empty module manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EmptyList {
    /// The manifest is written, as `get` does.
    Written,
    /// No manifest is written, as `init` does.
    LeftOut,
}

/// Result of a module installation.
pub(super) struct Installed {
    configuration: Option<Configuration>,
    problems: Diagnostics,
}

impl Installed {
    /// Whether the configuration calls modules.
    pub fn calls_modules(&self) -> bool {
        self.configuration.as_ref().is_some_and(Configuration::calls_modules)
    }

    /// Returns the configuration with its warnings.
    ///
    /// # Errors
    /// The configuration is invalid, or a module cannot be installed.
    pub fn sound(self) -> Result<(Configuration, Diagnostics), Diagnostics> {
        match self.configuration {
            Some(configuration) if !self.problems.has_errors() => Ok((configuration, self.problems)),
            _ => Err(self.problems),
        }
    }
}

/// Loads the configuration, and installs the modules that it and its test runs call.
///
/// # Errors
/// The network cannot be used, or the manifest cannot be written.
pub(super) fn install(
    context: &Context,
    freshness: Freshness,
    empty_list: EmptyList,
    tests: TestDirectory,
    progress: &mut dyn ModuleProgress,
) -> Result<Installed, Diagnostics> {
    // References are not checked: they may refer to modules that are about to be installed.
    let options = LoadOptions { references: References::Unchecked, tests: Some(tests), ..load_options(context) };
    let files = DiskFiles::new(".");
    // An unreadable manifest only means that modules are installed again.
    let before = ModuleManifest::read(&options.data_directory, &files).unwrap_or_default();
    let discovery = discovery(context)?;
    // Module sources are fetched one after the other while the configuration is loaded.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime
        .map_err(|error| fail("Cannot start the async runtime", format!("{error}.", error = io_reason(&error))))?;
    let locations = ModulePaths {
        root: PathBuf::from("."),
        data_directory: options.data_directory.clone(),
        default_registry: options.default_registry.clone(),
    };
    let mut installer = ModuleInstaller::new(locations, freshness, before, &discovery, &runtime, progress);
    // The installer is the module locator: loading the configuration downloads what it finds.
    let (configuration, problems) = load_with(&options, &context.sources, &files, &mut installer);
    let installed = Installed { configuration, problems };
    // After an error the old manifest stays, so that the previous installation keeps working.
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

/// Reports module installation as lines of text.
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

pub(super) fn get(context: &mut Context, arguments: &Get) -> Outcome {
    context.configure_view(&arguments.common.view);
    context.configure_json(&arguments.json)?;
    let tests = test_folder(arguments.test_directory.as_deref());
    let freshness = if arguments.update.is_some_and(Flag::is_on) { Freshness::Upgrade } else { Freshness::Keep };
    let mut print = |line: &str| context.report(&format!("{line}\n"));
    let installed = install(context, freshness, EmptyList::Written, tests, &mut Lines(&mut print))?;
    let (configuration, warnings) = installed.sound()?;
    // Values of undeclared variables are reported, although installation uses none of them.
    check_given(context, &configuration.root)?;
    context.show(&warnings);
    Ok(0)
}
