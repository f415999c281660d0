//! The local backend: which files its states are in.

use std::io;
use std::path::{Path, PathBuf};

use groma_diagnostics::{Diagnostics, io_reason};
use groma_state::StatePaths;
use serde::{Deserialize, Serialize};

use super::super::outcome::fail;
use crate::settings::DEFAULT_WORKSPACE;

/// The settings of a `backend "local"` block; empty without a block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Local {
    /// The file of the default workspace.
    pub path: Option<String>,
    /// The folder with a folder for each other workspace.
    pub workspace_dir: Option<String>,
}

impl Local {
    /// The files of a workspace's state, in clear.
    pub fn files(&self, workspace: &str) -> StatePaths {
        match (&self.path, workspace) {
            (Some(file), DEFAULT_WORKSPACE) => StatePaths::of_file(file),
            (None, DEFAULT_WORKSPACE) => StatePaths::of_workspace(Path::new(""), workspace),
            (_, name) => StatePaths::of_file(self.workspace_directory().join(name).join("terraform.tfstate")),
        }
    }

    /// The folder with a folder for each workspace but the default one.
    pub fn workspace_directory(&self) -> PathBuf {
        self.workspace_dir.as_deref().map_or_else(|| PathBuf::from("terraform.tfstate.d"), PathBuf::from)
    }

    /// Makes a workspace, so that it is listed before it has a state. The default one is always there.
    ///
    /// # Errors
    /// Its folder cannot be made.
    pub fn make(&self, workspace: &str) -> Result<(), Diagnostics> {
        if workspace == DEFAULT_WORKSPACE {
            return Ok(());
        }
        let folder = self.workspace_directory().join(workspace);
        std::fs::create_dir_all(&folder).map_err(|problem| {
            fail(
                &format!("Failed to make {}", folder.display()),
                format!("The operating system says: {problem}.", problem = io_reason(&problem)),
            )
        })
    }

    /// The names of the workspaces, the default one first, the others sorted.
    ///
    /// # Errors
    /// The directory of workspaces cannot be read; a missing one is not an error.
    pub fn workspaces(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        match std::fs::read_dir(self.workspace_directory()) {
            Ok(entries) => {
                let folders = entries.flatten().filter(|entry| entry.path().is_dir());
                names.extend(folders.filter_map(|entry| entry.file_name().into_string().ok()));
            }
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => {}
            Err(problem) => return Err(problem),
        }
        names.retain(|name| name != DEFAULT_WORKSPACE);
        names.sort();
        names.insert(0, DEFAULT_WORKSPACE.to_owned());
        Ok(names)
    }

    /// The number by which Terraform knows the block again: the checksum of its kind and its arguments, as go-cty writes them down
    /// for hashing.
    pub fn hash(&self) -> i64 {
        let written = |text: &Option<String>| text.as_ref().map_or_else(|| "~".to_owned(), |text| format!("{text:?}"));
        let text = format!("<\"local\";<{};{};>;>", written(&self.path), written(&self.workspace_dir));
        i64::from(crc32fast::hash(text.as_bytes()))
    }

    /// Describes the settings that differ in `new`: `path was "a", and is "b" now`.
    pub fn difference(&self, new: &Self) -> String {
        let shown =
            |text: &Option<String>| text.as_ref().map_or_else(|| "not set".to_owned(), |text| format!("{text:?}"));
        let pairs = [("path", &self.path, &new.path), ("workspace_dir", &self.workspace_dir, &new.workspace_dir)];
        let changed = pairs.into_iter().filter(|(_, old, new)| old != new);
        let told: Vec<String> =
            changed.map(|(name, old, new)| format!("{name} was {}, and is {} now", shown(old), shown(new))).collect();
        told.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str) -> Local {
        Local { path: Some(path.to_owned()), ..Local::default() }
    }

    #[test]
    fn terraform_knows_the_block_again() {
        // What Terraform 1.15 records of these blocks.
        assert_eq!(at("a.tfstate").hash(), 2_985_648_108);
        assert_eq!(at("b.tfstate").hash(), 2_554_194_718);
        assert_eq!(Local::default().hash(), 666_019_178);
    }

    #[test]
    fn a_difference_is_told_in_words() {
        let new = Local { workspace_dir: Some("w".to_owned()), ..at("b") };
        let told = at("a").difference(&new);
        assert_eq!(told, "path was \"a\", and is \"b\" now; workspace_dir was not set, and is \"w\" now");
    }
}
