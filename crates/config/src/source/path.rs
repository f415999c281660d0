//! Paths relative to the root module's directory.

use std::path::{Component, Path, PathBuf};

/// The path without `.` steps and without `x/..` detours; what leads out of the root module's directory keeps its `..`.
///
/// Symbolic links are not resolved, as in Terraform: the text of a source is normalized before it is opened.
pub(crate) fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match normal.components().next_back() {
                Some(Component::Normal(_)) => {
                    normal.pop();
                }
                Some(Component::RootDir) => {}
                _ => normal.push(".."),
            },
            other => normal.push(other),
        }
    }
    normal
}

/// The path as people read it: `/` between the steps, `.` for the root module's directory itself.
pub(crate) fn display(path: &Path) -> String {
    if path.as_os_str().is_empty() {
        return ".".to_owned();
    }
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' { text.into_owned() } else { text.replace(std::path::MAIN_SEPARATOR, "/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detours_vanish_and_ways_out_stay() {
        let normal = |path: &str| display(&normalize(Path::new(path)));
        assert_eq!(normal("./a/../b/./c"), "b/c");
        assert_eq!(normal("a/../../c"), "../c");
        assert_eq!(normal("../../x"), "../../x");
        assert_eq!(normal("./"), ".");
        assert_eq!(normal("/a/../../b"), "/b");
    }
}
