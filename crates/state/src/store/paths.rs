//! The files that belong to a state.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_encryption::Encryption;

/// The workspace that is there without being made.
const DEFAULT_WORKSPACE: &str = "default";

/// The files of one state, and their encryption.
#[derive(Clone, Debug)]
pub struct StatePaths {
    /// The path to read the state from, until it is written for the first time.
    pub read: PathBuf,
    /// The path to write to; the lock, the journal and the backup belong to this file.
    pub write: PathBuf,
    /// The backup of the state before the first change.
    pub backup: Backup,
    /// The encryption of all these files; `None` if they are not encrypted.
    pub encryption: Option<Arc<Encryption>>,
    /// The answer to a damaged journal of an interrupted run.
    pub damaged_journal: DamagedJournal,
}

/// The backup of a state before it is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backup {
    /// The previous state is not kept.
    None,
    /// In this file, which is overwritten.
    At(PathBuf),
    /// In a new file next to the state, such as `terraform.tfstate.1795264899.backup`. Its name is chosen when it is written,
    /// under the lock, so that two changes never share one.
    New,
}

impl Backup {
    /// The file, if its name is known.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::At(path) => Some(path),
            Self::None | Self::New => None,
        }
    }
}

/// The answer to a journal with unreadable parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DamagedJournal {
    /// Open no state: objects may exist that nothing knows.
    #[default]
    Refuse,
    /// Take over what can be read, and keep the damaged file under another name.
    Recover,
}

impl StatePaths {
    /// Creates the paths of a state with one file for reading and writing, and its backup next to it.
    pub fn of_file(state: impl Into<PathBuf>) -> Self {
        let state = state.into();
        Self {
            backup: Backup::At(suffixed(&state, ".backup")),
            read: state.clone(),
            write: state,
            encryption: None,
            damaged_journal: DamagedJournal::default(),
        }
    }

    /// The file of a workspace: `terraform.tfstate`, or `terraform.tfstate.d/NAME/terraform.tfstate`.
    pub fn of_workspace(directory: &Path, workspace: &str) -> Self {
        Self::of_file(match workspace {
            // Terraform keeps the default workspace outside of the directory of the others.
            DEFAULT_WORKSPACE | "" => directory.join("terraform.tfstate"),
            name => directory.join("terraform.tfstate.d").join(name).join("terraform.tfstate"),
        })
    }

    /// Sets another file for writing (`-state-out`), with its backup next to it.
    #[must_use]
    pub fn writing_to(self, path: impl Into<PathBuf>) -> Self {
        Self {
            // The state is still read from the old path; lock, journal and backup belong to the new one.
            read: self.read,
            encryption: self.encryption,
            damaged_journal: self.damaged_journal,
            ..Self::of_file(path)
        }
    }

    /// Sets the backup (`-backup`).
    #[must_use]
    pub fn with_backup(self, backup: Backup) -> Self {
        Self { backup, ..self }
    }

    /// Sets the encryption of the files.
    #[must_use]
    pub fn encrypted(self, encryption: Option<Arc<Encryption>>) -> Self {
        Self { encryption, ..self }
    }

    /// Replaces the answer to a damaged journal.
    #[must_use]
    pub fn with_damaged_journal(self, damaged_journal: DamagedJournal) -> Self {
        Self { damaged_journal, ..self }
    }

    /// The file in which Terraform describes the holder of its lock, `.terraform.tfstate.lock.info`. Like Terraform's it is
    /// next to a symbolic link to a state, not next to its target.
    pub fn lock_info(&self) -> PathBuf {
        hidden(&self.write, ".lock.info")
    }

    /// The journal: `.terraform.tfstate.journal`. It belongs to the file behind a symbolic link, so that every folder with a
    /// link to the same state finds it.
    pub fn journal(&self) -> PathBuf {
        hidden(&behind_links(&self.write), ".journal")
    }
}

pub(super) fn hidden(file: &Path, suffix: &str) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    // A name that begins with a dot keeps one dot, as in Terraform.
    file.with_file_name(format!(".{}{suffix}", name.strip_prefix('.').unwrap_or(&name)))
}

/// As many symbolic links as Linux follows.
const LINKS: usize = 40;

/// Returns the file that a path leads to, which need not exist. The folders on the way to it stay as they are.
pub(super) fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // A loop of links ends here too, and opening the file then reports it.
    for _ in 0..LINKS {
        let Ok(target) = fs::read_link(&path) else { break };
        // A relative target counts from the directory of the link.
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
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
        assert_eq!(paths.backup.path(), Some(Path::new("dir/terraform.tfstate.backup")));
        assert_eq!(paths.lock_info(), Path::new("dir/.terraform.tfstate.lock.info"));
        assert_eq!(paths.journal(), Path::new("dir/.terraform.tfstate.journal"));
        let paths = StatePaths::of_workspace(Path::new(""), "blue");
        assert_eq!(paths.read, Path::new("terraform.tfstate.d/blue/terraform.tfstate"));
        let paths = paths.writing_to("out/.hidden");
        assert_eq!(paths.read, Path::new("terraform.tfstate.d/blue/terraform.tfstate"));
        assert_eq!(paths.backup.path(), Some(Path::new("out/.hidden.backup")));
        assert_eq!(paths.lock_info(), Path::new("out/.hidden.lock.info"));
    }

    #[cfg(unix)]
    #[test]
    fn journal_is_next_to_the_target_of_symbolic_links() {
        let folder = tempfile::tempdir().unwrap();
        let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, folder.path().join(name)).unwrap();
        fs::create_dir(folder.path().join("shared")).unwrap();
        link("shared/real.tfstate", "second");
        link("second", "first");
        link("loop", "loop");
        let paths = StatePaths::of_file(folder.path().join("first"));
        assert_eq!(paths.journal(), folder.path().join("shared/.real.tfstate.journal"));
        assert_eq!(paths.lock_info(), folder.path().join(".first.lock.info"));
        assert_eq!(StatePaths::of_file(folder.path().join("loop")).journal(), folder.path().join(".loop.journal"));
    }
}
