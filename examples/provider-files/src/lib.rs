//! A provider for files in a folder: what `docs/provider-authors.md` builds.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use groma_framework::schema::{Validator, validator};
use groma_framework::value::Value;
use groma_framework::{
    Bundle, Call, ImportTarget, Maybe, Model, ModelResource, ProviderDiagnostic, ProviderDiagnostics,
};

/// Where the files are.
#[derive(Model)]
struct Settings {
    /// The folder; the working directory unless it is set.
    folder: Maybe<String>,
}

/// A file.
#[derive(Model)]
struct File {
    /// Its name within the folder. Another name is another file.
    #[attribute(force_new, validator = plain_name())]
    name: String,
    /// What is in it. Either this or `secret` is needed.
    content: Option<String>,
    /// What is in it and must not be shown.
    #[attribute(sensitive)]
    secret: Option<String>,
    /// Whether others may only read it.
    #[attribute(default = false)]
    read_only: Maybe<bool>,
    /// Where it is.
    #[attribute(computed, use_state_for_unknown)]
    path: Maybe<String>,
    /// How many bytes it has.
    #[attribute(computed)]
    size: Maybe<u64>,
}

fn plain_name() -> impl Validator {
    validator("must be a name, not a path", |name| match name.as_str() {
        Some(name) if name.is_empty() || name.contains('/') || name.starts_with('.') => {
            Err(format!("{name:?} is no name of a file in the folder. Use one without slashes and leading dots."))
        }
        _ => Ok(()),
    })
}

/// The folder, once the provider is configured.
#[derive(Clone, Default)]
struct Folder(Arc<OnceLock<PathBuf>>);

impl Folder {
    fn path(&self, name: &str) -> PathBuf {
        self.0.get().map_or(Path::new("."), PathBuf::as_path).join(name)
    }

    fn write(&self, plan: File) -> io::Result<File> {
        let path = self.path(&plan.name);
        let text = plan.content.as_ref().or(plan.secret.as_ref()).map_or("", String::as_str);
        // A file that is read-only can be replaced, but not written to.
        fs::remove_file(&path).or_else(gone_is_fine)?;
        fs::write(&path, text)?;
        let mut permissions = fs::metadata(&path)?.permissions();
        permissions.set_readonly(plan.read_only == Maybe::Known(true));
        fs::set_permissions(&path, permissions)?;
        let size = Maybe::Known(text.len() as u64);
        Ok(File { size, path: plan.path.or_chosen(|| path.display().to_string()), ..plan })
    }

    fn find(&self, name: String) -> io::Result<Option<File>> {
        let path = self.path(&name);
        if !path.try_exists()? {
            return Ok(None);
        }
        let (text, about) = (fs::read_to_string(&path)?, fs::metadata(&path)?);
        Ok(Some(File {
            name,
            size: Maybe::Known(about.len()),
            content: Some(text),
            secret: None,
            read_only: Maybe::Known(about.permissions().readonly()),
            path: Maybe::Known(path.display().to_string()),
        }))
    }
}

fn gone_is_fine(problem: io::Error) -> io::Result<()> {
    if problem.kind() == ErrorKind::NotFound { Ok(()) } else { Err(problem) }
}

fn failed(doing: &'static str) -> impl FnOnce(io::Error) -> ProviderDiagnostic {
    move |problem| ProviderDiagnostic::error(format!("The file cannot be {doing}"), problem.to_string())
}

impl ModelResource for Folder {
    type Model = File;

    async fn create(&self, plan: File, _: &mut Call) -> Result<File, ProviderDiagnostic> {
        self.write(plan).map_err(failed("written"))
    }

    async fn read(&self, state: File, _: &mut Call) -> Result<Option<File>, ProviderDiagnostic> {
        let found = self.find(state.name).map_err(failed("read"))?;
        // What was given as a secret is read as one.
        let secret = state.secret.is_some();
        Ok(found.map(|file| if secret { File { secret: file.content, content: None, ..file } } else { file }))
    }

    async fn update(&self, plan: File, _: File, _: &mut Call) -> Result<File, ProviderDiagnostic> {
        self.write(plan).map_err(failed("written"))
    }

    async fn delete(&self, state: File, _: &mut Call) -> Result<(), ProviderDiagnostic> {
        fs::remove_file(self.path(&state.name)).or_else(gone_is_fine).map_err(failed("deleted"))
    }

    async fn import(&self, target: ImportTarget, _: &mut Call) -> Result<Option<File>, ProviderDiagnostic> {
        let ImportTarget::Id(name) = target else { return Ok(None) };
        self.find(name.to_string()).map_err(failed("read"))
    }

    async fn validate(&self, config: Value) -> ProviderDiagnostics {
        let given = |name: &str| config.attribute(name).is_some_and(|value| !value.is_null());
        let problem = ProviderDiagnostic::error("Content needed", "A file has either content or secret.");
        (given("content") == given("secret")).then_some(problem).into_iter().collect()
    }
}

/// The provider.
pub fn provider() -> Bundle {
    let folder = Folder::default();
    let configured = folder.clone();
    Bundle::new()
        .configured(move |settings: Settings| {
            settings.folder.into_known().map(|path| configured.0.set(path.into()));
            Ok(())
        })
        .resource("files_file", folder)
}
