//! Symbolic links in archives, none of which may lead outside.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use super::limits::{LEADS_OUTSIDE, refused};

/// The policy for links in an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Links are created if they stay inside.
    Inside,
    /// An archive with links is refused.
    Refused,
}

pub(super) fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Refuses the link `name` in the directory `from` if it leads out of the archive, or if links are not allowed.
pub(super) fn check_link(name: &str, from: &Path, leads: &Path, links: Links) -> io::Result<()> {
    if links == Links::Refused {
        return Err(refused(name, "is a link, which packages of providers must not have"));
    }
    // Counted on the text of the path: this link may point to something that is extracted later.
    let mut depth = 0_usize;
    for step in from.components().chain(leads.components()) {
        match step {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            // Above the top, or an absolute path.
            _ => return Err(refused(name, LEADS_OUTSIDE)),
        }
    }
    Ok(())
}

/// Refuses and removes links that lead outside through other links. Runs once all links exist.
pub(super) fn check_links(target: &Path, made: &[PathBuf]) -> io::Result<()> {
    let root = fs::canonicalize(target)?;
    for name in made {
        let destination = target.join(name);
        if !stays_below(&root, &destination) {
            fs::remove_file(&destination)?;
            return Err(refused(&name.to_string_lossy(), LEADS_OUTSIDE));
        }
    }
    Ok(())
}

/// Whether resolving `link` step by step never leaves `root`, which is a path without links.
fn stays_below(root: &Path, link: &Path) -> bool {
    // More links than any operating system follows.
    const MOST_LINKS: usize = 64;
    let (Some(folder), Some(name)) = (link.parent(), link.file_name()) else { return false };
    let Ok(mut at) = fs::canonicalize(folder) else { return false };
    // A stack of the steps still to take; following a link replaces it by the steps of its target.
    let mut steps: Vec<OsString> = vec![name.to_owned()];
    let mut followed = 0;
    while let Some(step) = steps.pop() {
        if !at.starts_with(root) {
            return false;
        }
        if step == ".." {
            at.pop();
            continue;
        }
        at.push(step);
        if let Ok(leads) = fs::read_link(&at) {
            followed += 1;
            // A cycle of links never ends, and an absolute path leaves the package.
            if followed > MOST_LINKS || leads.is_absolute() {
                return false;
            }
            at.pop();
            let further = leads.components().rev().filter(|part| *part != Component::CurDir);
            steps.extend(further.map(|part| part.as_os_str().to_owned()));
        }
    }
    at.starts_with(root)
}

/// Creates a symbolic link.
#[cfg(unix)]
pub(super) fn link(leads: &Path, destination: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(leads, destination)
}

#[cfg(not(unix))]
pub(super) fn link(_: &Path, destination: &Path) -> io::Result<()> {
    Err(refused(&destination.to_string_lossy(), "is a link, which this system cannot make"))
}
