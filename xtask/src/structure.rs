//! Checks of the source text: the order of modules, and code that decides on the text of a diagnostic.
//!
//! The order of modules: in each crate, the top-level modules that use each other form no cycle of more than two.
//!
//! The check reads the source text: `crate::name`, `use crate::{...}` and chains of `super` that reach the root. What is
//! re-exported by the root counts as the module that holds it. Tests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::{map, placeholders, summaries};

/// The largest cycle that a crate may have.
const LARGEST: usize = 2;

/// The modules that each module uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Checks every crate of the workspace.
pub fn run(root: &Path) -> Result<(), String> {
    let mut crates: Vec<PathBuf> = entries(&root.join("crates"))?;
    crates.sort();
    let (mut problems, mut sources) = (Vec::new(), Vec::new());
    for path in crates {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let source = path.join("src");
        if !source.is_dir() {
            continue;
        }
        sources.extend(files(&source, &[])?.into_iter().map(|(_, file)| file));
        for cycle in cycles(&graph(&source)?) {
            if cycle.len() > LARGEST {
                problems.push(format!("{name}: {}", cycle.join(", ")));
            }
        }
    }
    summaries::check(&sources)?;
    placeholders::check(&sources)?;
    map::check(root)?;
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!(
        "modules use each other in a cycle of more than {LARGEST}:\n  {}\nMove what they share into a module below them.",
        problems.join("\n  ")
    ))
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    fs::read_dir(directory).map_err(failed)?.map(|entry| entry.map(|entry| entry.path()).map_err(failed)).collect()
}

/// All source files below a directory, each with the path of its module.
fn files(directory: &Path, module: &[String]) -> Result<Vec<(Vec<String>, PathBuf)>, String> {
    let mut found = Vec::new();
    for path in entries(directory)? {
        let Some(stem) = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else { continue };
        if stem == "tests" || stem == "test" || stem.starts_with("testing_") {
            continue;
        }
        let mut inner = module.to_vec();
        if path.is_dir() {
            inner.push(stem);
            found.extend(files(&path, &inner)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            if stem != "mod" {
                inner.push(stem);
            }
            found.push((inner, path));
        }
    }
    Ok(found)
}

/// The modules of a crate and what they use.
fn graph(source: &Path) -> Result<Graph, String> {
    let files = files(source, &[])?;
    let is_root = |module: &[String]| matches!(module, [only] if only == "lib" || only == "main");
    let mut graph: Graph = files
        .iter()
        .filter(|(module, _)| !is_root(module))
        .filter_map(|(module, _)| Some((module.first()?.clone(), BTreeSet::new())))
        .collect();
    let mut texts = Vec::with_capacity(files.len());
    let mut held = BTreeMap::new();
    for (module, path) in &files {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        if is_root(module) {
            held.extend(re_exports(&text));
        } else {
            texts.push((module, code(&text)));
        }
    }
    for (module, text) in texts {
        let Some(top) = module.first() else { continue };
        for name in names_at_root(&text, module.len()) {
            let used = if graph.contains_key(&name) { name } else { held.get(&name).cloned().unwrap_or(name) };
            if used != *top
                && graph.contains_key(&used)
                && let Some(uses) = graph.get_mut(top)
            {
                uses.insert(used);
            }
        }
    }
    Ok(graph)
}

/// The text without its tests and the lines that are comments.
pub(crate) fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The names that the root of a crate takes out of its modules, each with its module.
fn re_exports(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for statement in text.split(';').filter_map(|part| part.rsplit_once("pub use ").map(|(_, path)| path)) {
        let Some((module, names)) = statement.split_once("::") else { continue };
        found.extend(identifiers(names).map(|name| (name.to_owned(), module.trim().to_owned())));
    }
    found
}

/// The names that a module at this depth uses from the root of its crate.
fn names_at_root(text: &str, depth: usize) -> Vec<String> {
    let mut names = Vec::new();
    let supers = "super::".repeat(depth);
    for prefix in ["crate::", &supers] {
        for (at, _) in text.match_indices(prefix) {
            let is_longer =
                text[..at].ends_with("super::") || text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let rest = &text[at + prefix.len()..];
            if is_longer || rest.starts_with("super::") {
                continue;
            }
            match rest.strip_prefix('{') {
                Some(group) => names.extend(first_names(group)),
                None => names.extend(identifiers(rest).next().filter(|name| rest.starts_with(name)).map(str::to_owned)),
            }
        }
    }
    names
}

/// The first name of each path in a group, up to its end.
fn first_names(group: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0;
    let mut is_start = true;
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => is_start = true,
            _ if is_start && (character.is_alphabetic() || character == '_') => {
                names.extend(identifiers(&group[at..]).next().map(str::to_owned));
                is_start = false;
            }
            _ => {}
        }
    }
    names
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_').filter(|name| !name.is_empty())
}

/// The groups of modules that all reach each other.
fn cycles(graph: &Graph) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        graph.keys().map(|module| (module, reachable(graph, module))).collect();
    let mut cycles: Vec<Vec<String>> = Vec::new();
    for (module, from_here) in &reached {
        let others = from_here.iter().filter(|other| reached.get(**other).is_some_and(|back| back.contains(module)));
        let mut cycle: Vec<String> = others.map(|other| (*other).clone()).collect();
        cycle.sort();
        if cycle.len() > 1 && !cycles.contains(&cycle) {
            cycles.push(cycle);
        }
    }
    cycles
}

fn reachable<'g>(graph: &'g Graph, from: &'g String) -> BTreeSet<&'g String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for next in graph.get(module).into_iter().flatten() {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &[&str])]) -> Graph {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        edges.iter().map(|(from, to)| ((*from).to_owned(), owned(to))).collect()
    }

    #[test]
    fn names_at_the_root_are_found_in_paths_and_groups() {
        let text = "use crate::a::B;\nuse crate::{c, d::{e, f}, g::H};\nlet x = crate::i::j();";
        assert_eq!(names_at_root(text, 1), ["a", "c", "d", "g", "i"]);
        assert_eq!(names_at_root("use super::super::a::B; use super::c;", 2), ["a"]);
        assert_eq!(names_at_root("use super::super::a::B; use super::c;", 1), ["c"]);
        assert_eq!(names_at_root("use my_crate::a;", 1), [""; 0]);
    }

    #[test]
    fn modules_that_reach_each_other_are_a_cycle() {
        let graph = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"]), ("d", &["a", "e"]), ("e", &["d"])]);
        assert_eq!(cycles(&graph), [vec!["a", "b", "c"], vec!["d", "e"]]);
    }
}
