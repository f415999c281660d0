//! Configuration files on disk.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{Entry, Files};

/// Files on disk, with paths relative to the root module's directory.
#[derive(Clone, Debug)]
pub struct DiskFiles {
    root: PathBuf,
}

impl DiskFiles {
    /// Creates a view of the file system for the root module in `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }
}

impl Files for DiskFiles {
    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(self.root.join(directory))? {
            let entry = entry?;
            let kind = entry.file_type()?;
            // A link to a directory counts as a directory, so that it is not read as a configuration file.
            let is_directory = if kind.is_symlink() { entry.path().is_dir() } else { kind.is_dir() };
            entries.push(Entry { name: entry.file_name(), is_directory });
        }
        Ok(entries)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(self.root.join(path))
    }

    // Not `fs::canonicalize`: the result stays relative to the root module, and steps that do not exist are kept.
    fn follow(&self, path: &Path) -> PathBuf {
        let mut real = PathBuf::new();
        let mut rest = steps(path);
        let mut links = 0;
        while let Some(step) = rest.pop() {
            if step == Path::new("..") {
                match real.components().next_back() {
                    Some(Component::Normal(_)) => drop(real.pop()),
                    Some(Component::RootDir) => {}
                    _ => real.push(step),
                }
                continue;
            }
            let here = real.join(step);
            match fs::read_link(self.root.join(&here)) {
                Ok(_) if links == LINKS => return path.to_owned(),
                Ok(target) => {
                    links += 1;
                    rest.extend(steps(&target));
                }
                Err(_) => real = here,
            }
        }
        real
    }
}

/// Maximum number of symbolic links in a path, after which a cycle is assumed.
const LINKS: usize = 255;

/// Returns the components of a path, last first, without `.`.
fn steps(path: &Path) -> Vec<PathBuf> {
    let steps = path.components().filter(|step| *step != Component::CurDir);
    steps.rev().map(|step| PathBuf::from(step.as_os_str())).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn symbolic_links_in_a_path_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let link = |target: &Path, path: &str| std::os::unix::fs::symlink(target, folder.path().join(path)).unwrap();
        fs::create_dir_all(folder.path().join("root/modules")).unwrap();
        fs::create_dir_all(folder.path().join("common/network/inner")).unwrap();
        link(Path::new("../../common/network"), "root/modules/network");
        link(&folder.path().join("common"), "root/everything");
        link(Path::new("cycle"), "root/cycle");
        let files = DiskFiles::new(folder.path().join("root"));
        let follow = |path: &str| files.follow(Path::new(path));
        assert_eq!(follow("modules/network/inner"), Path::new("../common/network/inner"));
        assert_eq!(follow("everything/network"), folder.path().join("common/network"));
        assert_eq!(follow("modules/nothing"), Path::new("modules/nothing"));
        assert_eq!(follow("../common"), Path::new("../common"));
        assert_eq!(follow("cycle/x"), Path::new("cycle/x"));
    }
}
