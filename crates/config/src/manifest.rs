//! The manifest of installed modules, `modules/modules.json` in the data directory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use groma_address::ModulePath;
use groma_diagnostics::{io_reason, json_reason};
use serde::{Deserialize, Serialize};

use crate::source::{Files, display, normalize};
use crate::version::Version;

/// The installed modules by the path of their call.
#[derive(Clone, Debug, Default)]
pub struct ModuleManifest {
    modules: HashMap<String, InstalledModule>,
}

/// An entry of the module manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledModule {
    /// The source that the module was installed from, as recorded.
    pub source: String,
    /// The selected version of a registry module.
    pub version: Option<Version>,
    /// The module's directory, relative to the root module's directory or absolute.
    pub directory: PathBuf,
}

#[derive(Deserialize, Serialize)]
struct Document {
    #[serde(rename = "Modules", default)]
    modules: Vec<Record>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Record {
    key: String,
    #[serde(default)]
    source: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    version: String,
    dir: String,
}

impl Record {
    fn of(key: &str, module: &InstalledModule) -> Self {
        Self {
            key: key.to_owned(),
            source: module.source.clone(),
            version: module.version.as_ref().map(ToString::to_string).unwrap_or_default(),
            dir: display(&module.directory),
        }
    }
}

/// The reason why the manifest of modules cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The file is not a manifest.
    #[error("{0}")]
    Invalid(String),
}

impl ModuleManifest {
    /// Reads the manifest in `data_directory`. Without a manifest no module is installed.
    ///
    /// # Errors
    /// The file exists but is not a valid manifest.
    pub fn read(data_directory: &Path, files: &dyn Files) -> Result<Self, ManifestError> {
        let path = data_directory.join("modules").join("modules.json");
        match files.read(&path) {
            Ok(bytes) => Self::parse(&bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(ManifestError::Unreadable(io_reason(&error))),
        }
    }

    fn parse(bytes: &[u8]) -> Result<Self, ManifestError> {
        let document: Document =
            serde_json::from_slice(bytes).map_err(|error| ManifestError::Invalid(json_reason(&error)))?;
        let modules = document.modules.into_iter().map(|record| {
            // Entries of local modules have an empty version.
            // Only registry modules have a version; without one, the constraints of the call are not checked.
            let version = record.version.parse().ok();
            let directory = normalize(Path::new(&record.dir));
            (record.key, InstalledModule { source: record.source, version, directory })
        });
        Ok(Self { modules: modules.collect() })
    }

    /// Records the module installed for the call at `path`.
    pub fn insert(&mut self, path: &ModulePath, module: InstalledModule) {
        self.modules.insert(path.steps().join("."), module);
    }

    /// Serializes the manifest to one line, sorted by key.
    pub fn text(&self) -> String {
        let mut records: Vec<Record> = self.modules.iter().map(|(key, module)| Record::of(key, module)).collect();
        // The order of a hash map is random, and equal manifests should be equal files.
        records.sort_by(|a, b| a.key.cmp(&b.key));
        let text = serde_json::to_string(&Document { modules: records }).unwrap_or_default();
        // Terraform escapes these characters in JSON; they occur inside of strings only.
        text.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
    }

    /// Returns the module installed for the call at `path`.
    pub fn get(&self, path: &ModulePath) -> Option<&InstalledModule> {
        self.modules.get(&path.steps().join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryFiles;

    #[test]
    fn installed_modules_are_found_by_module_path() {
        let text = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},
            {"Key":"a.b","Source":"registry.terraform.io/x/y/z","Version":"1.2.3","Dir":".terraform/modules/a.b/sub"}]}"#;
        let files = MemoryFiles::new().with(".terraform/modules/modules.json", text);
        let manifest = ModuleManifest::read(Path::new(".terraform"), &files).unwrap();
        let path = ModulePath::from_names(["a".into(), "b".into()]);
        let module = manifest.get(&path).unwrap();
        assert_eq!(module.directory, Path::new(".terraform/modules/a.b/sub"));
        assert_eq!(module.version, Some(Version::new(1, 2, 3)));
        assert!(manifest.get(&ModulePath::from_names(["a".into()])).is_none());
    }

    #[test]
    fn missing_manifest_is_empty_and_broken_one_is_an_error() {
        assert!(ModuleManifest::read(Path::new(".terraform"), &MemoryFiles::new()).is_ok());
        let broken = MemoryFiles::new().with("d/modules/modules.json", "{");
        assert!(ModuleManifest::read(Path::new("d"), &broken).is_err());
    }
}
