//! Modules of a configuration, put where the loader finds them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use groma_address::{ModulePath, Name};
use groma_config::version::Version;
use groma_config::{
    DiskFiles, Files, InstalledModule, ModuleLocator, ModuleManifest, ModuleRequest, ModuleSource, RegistryModule,
};
use groma_diagnostics::{Diagnostic, Span};
use tokio::runtime::Runtime;

use super::error::FetchError;
use super::fetch::Fetcher;
use super::shown::shown;
use super::{pattern, registry};
use crate::discovery::Discovery;

/// Whether what is installed already is good enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// If it comes from the same address and its version is allowed.
    Keep,
    /// Never: everything is fetched again, in its newest version.
    Upgrade,
}

/// Receives progress reports.
pub trait ModuleProgress {
    /// The package of the module `key` is fetched from `address`.
    fn fetching(&mut self, key: &str, address: &str, version: Option<&Version>);

    /// The module `key` is in `directory` now.
    fn installed(&mut self, key: &str, directory: &str);
}

/// The directories of modules and data.
#[derive(Clone, Debug)]
pub struct Places {
    /// The root module's directory, as the process sees it.
    pub root: PathBuf,
    /// The data directory relative to the root module: `.terraform`.
    pub data_directory: PathBuf,
    /// The registry of addresses that name none.
    pub default_registry: Name,
}

/// Installs a module when the loader asks for it.
pub struct ModuleInstaller<'a> {
    places: Places,
    freshness: Freshness,
    discovery: &'a Discovery,
    runtime: &'a Runtime,
    progress: &'a mut dyn ModuleProgress,
    fetcher: Fetcher<'a>,
    before: ModuleManifest,
    now: ModuleManifest,
    /// The folder of the package that each module is in; nothing for the root module's.
    packages: HashMap<ModulePath, PathBuf>,
    known_versions: HashMap<String, Option<Vec<Version>>>,
}

type Located<T> = Result<T, Box<Diagnostic>>;

impl<'a> ModuleInstaller<'a> {
    /// Modules that `before` has are kept if `freshness` allows it.
    pub fn new(
        places: Places,
        freshness: Freshness,
        before: ModuleManifest,
        discovery: &'a Discovery,
        runtime: &'a Runtime,
        progress: &'a mut dyn ModuleProgress,
    ) -> Self {
        let fetcher = Fetcher::new(discovery);
        // What is not called any more may be called by the tests of another folder.
        let mut now = before.clone();
        now.insert(
            &ModulePath::root(),
            InstalledModule { source: String::new(), version: None, directory: PathBuf::new() },
        );
        Self {
            places,
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

    /// Writes the manifest of what is installed now.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_manifest(&self) -> std::io::Result<()> {
        let folder = self.places.root.join(&self.places.data_directory).join("modules");
        std::fs::create_dir_all(&folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&folder)?;
        std::io::Write::write_all(&mut file, self.now.text().as_bytes())?;
        file.persist(folder.join("modules.json")).map_err(|error| error.error)?;
        Ok(())
    }

    fn local(&mut self, request: &ModuleRequest<'_>, directory: &Path) -> Located<PathBuf> {
        if let Some(package) = request.path.parent().and_then(|parent| self.packages.get(&parent)).cloned() {
            // A package may be a link, and what is in it is where the link leads.
            if !directory.starts_with(DiskFiles::new(&self.places.root).follow(&package)) {
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
        self.note(request, None, directory.to_owned(), Told::IfNew)
    }

    fn remote(&mut self, request: &ModuleRequest<'_>) -> Located<PathBuf> {
        let place = self.places.data_directory.join("modules").join(key(request.path));
        if let Some(kept) = self.kept(request, &place).cloned() {
            self.packages.insert(request.path.clone(), place);
            return self.note(request, kept.version, kept.directory, Told::Never);
        }
        let (package, version, subfolder) = match request.source {
            ModuleSource::Registry(module) => {
                let version = self.choose(request, module)?;
                let shown = module.package(&self.places.default_registry);
                self.progress.fetching(&key(request.path), &shown, Some(&version));
                let host = module.host_or(&self.places.default_registry).to_owned();
                let located = self.runtime.block_on(registry::location(self.discovery, module, &host, &version));
                let package = located.map_err(|error| {
                    problem(
                        request.call,
                        "Error accessing remote module registry",
                        format!("The registry {host} does not say where version {version} of {shown} is: {error}."),
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
        let target = self.places.root.join(&place);
        let fetched = self.runtime.block_on(self.fetcher.fetch(&package, &target));
        fetched.map_err(|error| not_fetched(request, &package, &error))?;
        let inner = pattern::expand(&target, &subfolder).map_err(|error| not_fetched(request, &package, &error))?;
        let directory = if inner.is_empty() { place.clone() } else { place.join(&inner) };
        if !self.places.root.join(&directory).is_dir() {
            return Err(problem(
                request.source_span,
                "Unreadable module subdirectory",
                format!(
                    "The package {} has no folder {inner:?}. Check what follows the // in the source.",
                    shown(&package)
                ),
            ));
        }
        self.packages.insert(request.path.clone(), place);
        self.note(request, version, directory, Told::Always)
    }

    /// Returns the installed module of a call, if it satisfies the request.
    fn kept(&self, request: &ModuleRequest<'_>, place: &Path) -> Option<&InstalledModule> {
        let module = self.before.get(request.path).filter(|_| self.freshness == Freshness::Keep)?;
        let fits = request.source.is(&module.source, &self.places.default_registry)
            && module.version.as_ref().is_none_or(|version| request.version.allow(version))
            && module.version.is_some() == matches!(request.source, ModuleSource::Registry(_))
            && module.directory.starts_with(place)
            && self.places.root.join(&module.directory).is_dir();
        fits.then_some(module)
    }

    fn choose(&mut self, request: &ModuleRequest<'_>, module: &RegistryModule) -> Located<Version> {
        let host = module.host_or(&self.places.default_registry).to_owned();
        let package = module.package(&self.places.default_registry);
        if !self.known_versions.contains_key(&package) {
            let answer = self.runtime.block_on(registry::versions(self.discovery, module, &host));
            let versions = answer.map_err(|error| {
                problem(
                    request.call,
                    "Error accessing remote module registry",
                    format!("The versions of the module {package} cannot be had from {host}: {error}."),
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
            let newest = versions.iter().filter(|version| !version.is_prerelease()).max();
            let newest =
                newest.map_or_else(|| "It has no versions.".to_owned(), |version| format!("The newest is {version}."));
            problem(
                request.call,
                "Unresolvable module version constraint",
                format!("No version of the module {package} fits the constraint {}. {newest}", request.version),
            )
        })
    }

    fn note(
        &mut self,
        request: &ModuleRequest<'_>,
        version: Option<Version>,
        directory: PathBuf,
        told: Told,
    ) -> Located<PathBuf> {
        let source = request.source.address(&self.places.default_registry);
        let module = InstalledModule { source, version, directory: directory.clone() };
        let is_news = match told {
            Told::Always => true,
            Told::Never => false,
            Told::IfNew => self.freshness == Freshness::Upgrade || self.before.get(request.path) != Some(&module),
        };
        if is_news {
            self.progress.installed(&key(request.path), &text(&directory));
        }
        self.now.insert(request.path, module);
        Ok(directory)
    }
}

/// The time of a progress report about a module.
#[derive(Clone, Copy)]
enum Told {
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

/// The names of the calls that lead to the module, as the manifest joins them.
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
