//! Installation of the modules that a configuration calls.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use groma_address::{ModulePath, Name};
use groma_config::version::Version;
use groma_config::{
    DiskFiles, Files, InstalledModule, ModuleLocator, ModuleManifest, ModuleRequest, ModuleSource, RegistryModule,
};
use groma_diagnostics::{Diagnostic, Span};
use tokio::runtime::Runtime;

use super::FetchError;
use super::address::shown;
use super::fetch::Fetcher;
use super::{address, registry};
use crate::discovery::Discovery;

/// Whether installed modules may be reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Reuses a module if its source address is unchanged and its version is allowed.
    Keep,
    /// Fetches every module again, in the newest allowed version: `init -upgrade`.
    Upgrade,
}

/// Receives the progress of the installation.
pub trait ModuleProgress {
    /// The package of the module `key` is being fetched from `address`.
    fn fetching(&mut self, key: &str, address: &str, version: Option<&Version>);

    /// The module `key` is now installed in `directory`.
    fn installed(&mut self, key: &str, directory: &str);
}

/// Directories and the default registry.
#[derive(Clone, Debug)]
pub struct ModulePaths {
    /// The root module's directory, relative to the working directory of the process.
    pub root: PathBuf,
    /// The data directory relative to the root module: `.terraform`.
    pub data_directory: PathBuf,
    /// The registry for addresses without a host.
    pub default_registry: Name,
}

/// Installs modules on request of the configuration loader.
pub struct ModuleInstaller<'a> {
    paths: ModulePaths,
    freshness: Freshness,
    discovery: &'a Discovery,
    runtime: &'a Runtime,
    progress: &'a mut dyn ModuleProgress,
    fetcher: Fetcher<'a>,
    before: ModuleManifest,
    now: ModuleManifest,
    /// The package directory of each module; none for the root module.
    packages: HashMap<ModulePath, PathBuf>,
    known_versions: HashMap<String, Option<Vec<Version>>>,
}

type Located<T> = Result<T, Box<Diagnostic>>;

impl<'a> ModuleInstaller<'a> {
    /// Creates an installer that reuses modules in `before` if `freshness` allows it.
    pub fn new(
        paths: ModulePaths,
        freshness: Freshness,
        before: ModuleManifest,
        discovery: &'a Discovery,
        runtime: &'a Runtime,
        progress: &'a mut dyn ModuleProgress,
    ) -> Self {
        let fetcher = Fetcher::new(discovery);
        // Modules that are no longer called may be used by the tests of another directory.
        let mut now = before.clone();
        now.insert(
            &ModulePath::root(),
            InstalledModule { source: String::new(), version: None, directory: PathBuf::new() },
        );
        Self {
            paths,
            freshness,
            discovery,
            runtime,
            progress,
            fetcher,
            before,
            now,
            packages: HashMap::new(),
            known_versions: HashMap::new(),
        }
    }

    /// Writes the manifest of installed modules.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write_manifest(&self) -> std::io::Result<()> {
        let folder = self.paths.root.join(&self.paths.data_directory).join("modules");
        std::fs::create_dir_all(&folder)?;
        // A temporary file and a rename, so that a killed run leaves no half manifest.
        let mut file = tempfile::NamedTempFile::new_in(&folder)?;
        std::io::Write::write_all(&mut file, self.now.text().as_bytes())?;
        file.persist(folder.join("modules.json")).map_err(|error| error.error)?;
        Ok(())
    }

    fn local(&mut self, request: &ModuleRequest<'_>, directory: &Path) -> Located<PathBuf> {
        if let Some(package) = request.path.parent().and_then(|parent| self.packages.get(&parent)).cloned() {
            // A package may be a link, and its files are below the target of the link.
            if !directory.starts_with(DiskFiles::new(&self.paths.root).follow(&package)) {
                return Err(problem(
                    request.source_span,
                    "Local module path escapes module package",
                    format!(
                        "The calling module was installed as part of a package, and the folder {} is outside of it. Give an address that \
                         is no local path.",
                        text(directory)
                    ),
                ));
            }
            self.packages.insert(request.path.clone(), package);
        }
        self.note(request, None, directory.to_owned(), Report::IfNew)
    }

    fn remote(&mut self, request: &ModuleRequest<'_>) -> Located<PathBuf> {
        let package_directory = self.paths.data_directory.join("modules").join(key(request.path));
        if let Some(kept) = self.kept(request, &package_directory).cloned() {
            self.packages.insert(request.path.clone(), package_directory);
            return self.note(request, kept.version, kept.directory, Report::Never);
        }
        let (package, version, subfolder) = match request.source {
            ModuleSource::Registry(module) => {
                let version = self.choose(request, module)?;
                let shown = module.package(&self.paths.default_registry);
                self.progress.fetching(&key(request.path), &shown, Some(&version));
                let host = module.host_or(&self.paths.default_registry).to_owned();
                let located = self.runtime.block_on(registry::location(self.discovery, module, &host, &version));
                let package = located.map_err(|error| {
                    problem(
                        request.call,
                        "Error accessing remote module registry",
                        format!(
                            "Cannot get the download address of {shown} {version} from the registry {host}: {error}."
                        ),
                    )
                })?;
                let subfolder = join(&package.subfolder, &module.subfolder);
                (package.address, Some(version), subfolder)
            }
            ModuleSource::Package(package) => {
                self.progress.fetching(&key(request.path), &shown(&package.address), None);
                (package.address.clone(), None, package.subfolder.clone())
            }
            ModuleSource::Local(relative) => return self.local(request, relative),
        };
        let target = self.paths.root.join(&package_directory);
        let fetched = self.runtime.block_on(self.fetcher.fetch(&package, &target));
        fetched.map_err(|error| not_fetched(request, &package, &error))?;
        let inner = address::expand(&target, &subfolder).map_err(|error| not_fetched(request, &package, &error))?;
        let directory = if inner.is_empty() { package_directory.clone() } else { package_directory.join(&inner) };
        if !self.paths.root.join(&directory).is_dir() {
            return Err(problem(
                request.source_span,
                "Unreadable module subdirectory",
                format!(
                    "The package {} has no directory {inner:?}. Check the path after // in the source.",
                    shown(&package)
                ),
            ));
        }
        self.packages.insert(request.path.clone(), package_directory);
        self.note(request, version, directory, Report::Always)
    }

    /// Returns the installed module for a call, if it can be reused.
    fn kept(&self, request: &ModuleRequest<'_>, directory: &Path) -> Option<&InstalledModule> {
        let module = self.before.get(request.path).filter(|_| self.freshness == Freshness::Keep)?;
        // The address, the version and the directory must all fit: any of them may have changed since.
        let fits = request.source.is(&module.source, &self.paths.default_registry)
            && module.version.as_ref().is_none_or(|version| request.version.allow(version))
            && module.version.is_some() == matches!(request.source, ModuleSource::Registry(_))
            && module.directory.starts_with(directory)
            && self.paths.root.join(&module.directory).is_dir();
        fits.then_some(module)
    }

    fn choose(&mut self, request: &ModuleRequest<'_>, module: &RegistryModule) -> Located<Version> {
        let host = module.host_or(&self.paths.default_registry).to_owned();
        let package = module.package(&self.paths.default_registry);
        // Several calls of one module request its versions once.
        if !self.known_versions.contains_key(&package) {
            let answer = self.runtime.block_on(registry::versions(self.discovery, module, &host));
            let versions = answer.map_err(|error| {
                problem(
                    request.call,
                    "Error accessing remote module registry",
                    format!("Cannot list the versions of the module {package} on {host}: {error}."),
                )
            })?;
            self.known_versions.insert(package.clone(), versions);
        }
        let Some(Some(versions)) = self.known_versions.get(&package) else {
            return Err(problem(
                request.call,
                "Module not found",
                format!("The registry at {host} does not know the module {package}. Check the spelling of its source."),
            ));
        };
        registry::newest(versions, request.version).ok_or_else(|| {
            // Named in the message, so that the author sees how far the constraint is off.
            let newest = versions.iter().filter(|version| !version.is_prerelease()).max();
            let newest =
                newest.map_or_else(|| "It has no versions.".to_owned(), |version| format!("The newest is {version}."));
            problem(
                request.call,
                "Unresolvable module version constraint",
                format!("No version of the module {package} matches the constraint {}. {newest}", request.version),
            )
        })
    }

    fn note(
        &mut self,
        request: &ModuleRequest<'_>,
        version: Option<Version>,
        directory: PathBuf,
        report: Report,
    ) -> Located<PathBuf> {
        let source = request.source.address(&self.paths.default_registry);
        let module = InstalledModule { source, version, directory: directory.clone() };
        let is_news = match report {
            Report::Always => true,
            Report::Never => false,
            // Local modules need no download, so only their first installation and an upgrade are worth a line.
            Report::IfNew => self.freshness == Freshness::Upgrade || self.before.get(request.path) != Some(&module),
        };
        if is_news {
            self.progress.installed(&key(request.path), &text(&directory));
        }
        self.now.insert(request.path, module);
        Ok(directory)
    }
}

/// The point in time at which progress is reported.
#[derive(Clone, Copy)]
enum Report {
    Always,
    IfNew,
    Never,
}

impl ModuleLocator for ModuleInstaller<'_> {
    fn locate(&mut self, request: &ModuleRequest<'_>) -> Located<PathBuf> {
        match request.local {
            Some(directory) => self.local(request, directory),
            None => self.remote(request),
        }
    }
}

/// Joins the names of the module calls that lead to a module, as in the manifest.
fn key(path: &ModulePath) -> String {
    path.steps().join(".")
}

fn join(above: &str, below: &str) -> String {
    [above, below].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

fn text(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    if text.is_empty() { ".".to_owned() } else { text }
}

fn not_fetched(request: &ModuleRequest<'_>, address: &str, error: &FetchError) -> Box<Diagnostic> {
    let name = key(request.path);
    problem(
        request.call,
        "Failed to download module",
        format!("Could not download module {name} from {:?}: {error}.", shown(address)),
    )
}

fn problem(span: Span, summary: &str, detail: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(summary, detail).at(span))
}
