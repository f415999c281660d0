//! A root module in a scratch folder, and packages for it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use groma_config::version::Version;
use groma_config::{DiskFiles, LoadOptions, ModuleManifest, load_with};
use groma_diagnostics::Sources;
use groma_install::credentials::{Credentials, Stores};
use groma_install::discovery::{Discovery, Services};
use groma_install::http::{Http, HttpOptions};
use groma_install::modules::{Freshness, ModuleInstaller, ModulePaths, ModuleProgress};
use tempfile::TempDir;

pub struct Workspace {
    folder: TempDir,
    registries: Vec<(String, String)>,
    environment: Vec<(String, String)>,
}

impl Workspace {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let space = Self { folder: tempfile::tempdir().unwrap(), registries: Vec::new(), environment: Vec::new() };
        files.iter().for_each(|(path, text)| space.write(path, text));
        space
    }

    pub fn with_registry(mut self, host: &str, url: &str) -> Self {
        self.registries.push((host.to_owned(), url.to_owned()));
        self
    }

    pub fn write(&self, path: &str, text: &str) {
        write(self.folder.path(), path, text);
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn manifest(&self) -> String {
        fs::read_to_string(self.path(".terraform/modules/modules.json")).unwrap()
    }

    /// The same with an environment variable.
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns the lines of progress, or all errors in one text.
    pub fn install(&self, freshness: Freshness) -> Result<Vec<String>, String> {
        let http =
            // Failures are final: retries have their own tests.
            Http::new(HttpOptions { retries: 0, first_pause: Duration::ZERO, ..HttpOptions::default() }).unwrap();
        let services = self.registries.iter().map(|(host, url)| {
            let entries = serde_json::json!({ "modules.v1": url });
            Services::of(host, entries.as_object().unwrap().clone()).unwrap()
        });
        let discovery = Discovery::new(
            http,
            Arc::new(Credentials::default().with_stores(Stores::new(self.environment.clone(), None))),
            services.collect(),
        );
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let options = LoadOptions::default();
        let files = DiskFiles::new(self.folder.path());
        let before = ModuleManifest::read(&options.data_directory, &files).unwrap();
        let paths = ModulePaths {
            root: self.folder.path().to_owned(),
            data_directory: options.data_directory.clone(),
            default_registry: options.default_registry.clone(),
        };
        let mut lines = Lines::default();
        let mut installer = ModuleInstaller::new(paths, freshness, before, &discovery, &runtime, &mut lines);
        let (_, diagnostics) = load_with(&options, &Sources::new(), &files, &mut installer);
        if diagnostics.has_errors() {
            return Err(diagnostics
                .iter()
                .map(|problem| format!("{}: {}\n", problem.summary, problem.detail))
                .collect());
        }
        installer.write_manifest().unwrap();
        Ok(lines.0)
    }
}

#[derive(Default)]
struct Lines(Vec<String>);

impl ModuleProgress for Lines {
    fn fetching(&mut self, key: &str, address: &str, version: Option<&Version>) {
        let version = version.map(|version| format!(" {version}")).unwrap_or_default();
        self.0.push(format!("Downloading {address}{version} for {key}..."));
    }

    fn installed(&mut self, key: &str, directory: &str) {
        self.0.push(format!("- {key} in {directory}"));
    }
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A repository with one commit, tagged `v1`; nothing where there is no git.
pub fn repository(files: &[(&str, &str)]) -> Option<TempDir> {
    let folder = tempfile::tempdir().unwrap();
    git(&folder, &["init", "-q", "-b", "main"])?;
    commit(&folder, files)?;
    git(&folder, &["tag", "v1"])?;
    Some(folder)
}

/// Writes files into a repository and commits everything.
pub fn commit(repository: &TempDir, files: &[(&str, &str)]) -> Option<()> {
    files.iter().for_each(|(path, text)| write(repository.path(), path, text));
    git(repository, &["add", "-A"])?;
    git(repository, &["commit", "-qm", "all"])
}

/// Runs git in a repository; nothing where there is no git.
pub fn git(repository: &TempDir, arguments: &[&str]) -> Option<()> {
    // Machines that run tests may have no identity configured, without which git does not commit.
    let identity = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
    let output = Command::new("git").args(identity).args(arguments).current_dir(repository.path()).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

pub fn tarball(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        // The default mode makes files unreadable for everybody.
        header.set_mode(0o644);
        builder.append_data(&mut header, path, text.as_bytes()).unwrap();
    }
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&builder.into_inner().unwrap()).unwrap();
    packed.finish().unwrap()
}
