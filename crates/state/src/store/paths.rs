//! Which files belong to a state.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_encryption::Encryption;

/// The workspace that is there without being made.
const DEFAULT_WORKSPACE: &str = "default";

/// The files of one state, and how they are sealed.
#[derive(Clone, Debug)]
pub struct StatePaths {
    /// Where the state is read from, until it is written for the first time.
    pub read: PathBuf,
    /// Where it is written to; the lock, the journal and the backup belong to this file.
    pub write: PathBuf,
    /// Where the state before the first change is kept; none for no backup.
    pub backup: Option<PathBuf>,
    /// How all of them are sealed; none for not at all.
    pub encryption: Option<Arc<Encryption>>,
}

impl StatePaths {
    /// One file for reading and writing, with its backup beside it.
    pub fn of_file(state: impl Into<PathBuf>) -> Self {
        let state = state.into();
        Self { backup: Some(suffixed(&state, ".backup")), read: state.clone(), write: state, encryption: None }
    }

    /// The file of a workspace: `terraform.tfstate`, or `terraform.tfstate.d/NAME/terraform.tfstate`.
    pub fn of_workspace(directory: &Path, workspace: &str) -> Self {
        Self::of_file(match workspace {
            DEFAULT_WORKSPACE | "" => directory.join("terraform.tfstate"),
            name => directory.join("terraform.tfstate.d").join(name).join("terraform.tfstate"),
        })
    }

    /// The same with another file for writing (`-state-out`), and its backup beside that.
    #[must_use]
    pub fn writing_to(self, path: impl Into<PathBuf>) -> Self {
        Self { read: self.read, encryption: self.encryption, ..Self::of_file(path) }
    }

    /// The same with another backup (`-backup`).
    #[must_use]
    pub fn with_backup(self, backup: Option<PathBuf>) -> Self {
        Self { backup, ..self }
    }

    /// The same, sealed.
    #[must_use]
    pub fn encrypted(self, encryption: Option<Arc<Encryption>>) -> Self {
        Self { encryption, ..self }
    }

    /// What Terraform's lock tells about its holder: `.terraform.tfstate.lock.info`.
    pub fn lock_info(&self) -> PathBuf {
        self.hidden(".lock.info")
    }

    /// The journal: `.terraform.tfstate.journal`.
    pub fn journal(&self) -> PathBuf {
        self.hidden(".journal")
    }

    fn hidden(&self, suffix: &str) -> PathBuf {
        let name = self.write.file_name().unwrap_or_default().to_string_lossy();
        self.write.with_file_name(format!(".{}{suffix}", name.strip_prefix('.').unwrap_or(&name)))
    }
}

/// The path with more at the end of its name.
pub(super) fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_where_terraform_has_them() {
        let paths = StatePaths::of_workspace(Path::new("dir"), "default");
        assert_eq!(paths.write, Path::new("dir/terraform.tfstate"));
        assert_eq!(paths.backup.as_deref(), Some(Path::new("dir/terraform.tfstate.backup")));
        assert_eq!(paths.lock_info(), Path::new("dir/.terraform.tfstate.lock.info"));
        assert_eq!(paths.journal(), Path::new("dir/.terraform.tfstate.journal"));
        let paths = StatePaths::of_workspace(Path::new(""), "blue");
        assert_eq!(paths.read, Path::new("terraform.tfstate.d/blue/terraform.tfstate"));
        let paths = paths.writing_to("out/.hidden");
        assert_eq!(paths.read, Path::new("terraform.tfstate.d/blue/terraform.tfstate"));
        assert_eq!(paths.backup.as_deref(), Some(Path::new("out/.hidden.backup")));
        assert_eq!(paths.lock_info(), Path::new("out/.hidden.lock.info"));
    }
}
