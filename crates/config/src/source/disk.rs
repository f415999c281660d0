//! Configuration files on disk.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::files::{Entry, Files};

/// The files below (and beside) a root module's directory.
#[derive(Clone, Debug)]
pub struct DiskFiles {
    root: PathBuf,
}

impl DiskFiles {
    /// The files seen from the root module in `root`.
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
            let is_directory = if kind.is_symlink() { entry.path().is_dir() } else { kind.is_dir() };
            entries.push(Entry { name: entry.file_name(), is_directory });
        }
        Ok(entries)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(self.root.join(path))
    }

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

/// Maximal number of symbolic links in a path; more of them form a cycle.
const LINKS: usize = 255;

/// The steps of a path, the last first.
fn steps(path: &Path) -> Vec<PathBuf> {
    let steps = path.components().filter(|step| *step != Component::CurDir);
    steps.rev().map(|step| PathBuf::from(step.as_os_str())).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_on_the_way_to_a_folder_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let link = |target: &Path, place: &str| std::os::unix::fs::symlink(target, folder.path().join(place)).unwrap();
        fs::create_dir_all(folder.path().join("root/modules")).unwrap();
        fs::create_dir_all(folder.path().join("common/network/inner")).unwrap();
        link(Path::new("../../common/network"), "root/modules/network");
        link(&folder.path().join("common"), "root/everything");
        link(Path::new("circle"), "root/circle");
        let files = DiskFiles::new(folder.path().join("root"));
        let follow = |path: &str| files.follow(Path::new(path));
        assert_eq!(follow("modules/network/inner"), Path::new("../common/network/inner"));
        assert_eq!(follow("everything/network"), folder.path().join("common/network"));
        assert_eq!(follow("modules/nothing"), Path::new("modules/nothing"));
        assert_eq!(follow("../common"), Path::new("../common"));
        assert_eq!(follow("circle/x"), Path::new("circle/x"));
    }
}
