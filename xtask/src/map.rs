//! ARCHITECTURE.md against the code: every file and path that it names must exist.
//!
//! The map is read before the code, so a name in it that leads nowhere costs a newcomer more than a missing one.

use std::fs;
use std::path::{Path, PathBuf};

/// Checks the map at the root of the repository.
pub fn check(root: &Path) -> Result<(), String> {
    let path = root.join("ARCHITECTURE.md");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let missing: Vec<&str> = quoted(&text).filter(|name| !leads_somewhere(root, name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("ARCHITECTURE.md names what does not exist:\n  {}\nFollow the code.", missing.join("\n  ")))
}

/// Returns the texts in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    // Fenced blocks hold diagrams, in which a backtick would have no partner.
    text.split("```").step_by(2).flat_map(|part| part.split('`').skip(1).step_by(2))
}

/// Whether a name is neither a file nor a path of the code, or exists.
fn leads_somewhere(root: &Path, name: &str) -> bool {
    let crates = root.join("crates");
    if name.ends_with(".rs") && name.contains("/src/") {
        return crates.join(name).is_file();
    }
    let mut segments = name.split("::");
    let (Some(first), true) = (segments.next(), name.contains("::")) else { return true };
    let source = crates.join(first.replace('_', "-")).join("src");
    if source.is_dir() {
        return exists_below(&source, &segments.collect::<Vec<_>>());
    }
    // The section about the engine leaves the name of the crate out.
    let engine = crates.join("engine/src");
    match is_module(&engine, first) {
        true => exists_below(&engine, &name.split("::").collect::<Vec<_>>()),
        // A path of another kind, such as an enum with its variant.
        false => true,
    }
}

/// Whether the module whose files are in `directory` has a module of this name in a file of its own.
fn is_module(directory: &Path, name: &str) -> bool {
    directory.join(format!("{name}.rs")).is_file() || directory.join(name).is_dir()
}

/// Whether a path of modules and items exists in the module whose files are in `directory`.
fn exists_below(directory: &Path, segments: &[&str]) -> bool {
    let Some((first, rest)) = segments.split_first() else { return true };
    if is_module(directory, first) {
        let (file, folder) = (directory.join(format!("{first}.rs")), directory.join(first));
        let below = rest.is_empty() || exists_below(&folder, rest);
        return below
            || rest.first().is_some_and(|item| [file, folder.join("mod.rs")].iter().any(|f| has_word(f, item)));
    }
    let roots = ["mod.rs", "lib.rs"].map(|name| directory.join(name));
    let parent = directory.with_extension("rs");
    roots.iter().chain([&parent]).any(|file: &PathBuf| has_word(file, first))
}

/// Whether the name of an item is in a file.
fn has_word(file: &Path, item: &str) -> bool {
    let name: String = item.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    #[test]
    fn files_modules_and_items_are_found() {
        for name in
            ["engine/src/run.rs", "engine::planning", "value::Marks", "state::journal", "applying::applier", "Plan"]
        {
            assert!(leads_somewhere(&root(), name), "{name}");
        }
    }

    #[test]
    fn names_that_lead_nowhere_are_found() {
        for name in
            ["engine/src/walking.rs", "engine::walking", "value::Marques", "applying::applies", "state::journal::Diary"]
        {
            assert!(!leads_somewhere(&root(), name), "{name}");
        }
    }
}
