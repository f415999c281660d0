//! Reader of module directories: parses and decodes each directory once.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, SourceFile, Sources, io_reason};
use groma_hcl::Body;

use crate::assemble::assemble;
use crate::configuration::LoadedFile;
use crate::decode::{self, Decoding, Dialect, FileContent, Role, Unparsed};
use crate::model::Module;
use crate::options::{LoadOptions, Queries};
use crate::source::{Files, Syntax, display, module_files, normalize};

/// Decoder of a file's body.
type Decode<T> = fn(&Body, &mut Decoding<'_>) -> T;

/// Reads the files of module directories. Each directory is read once, even if several module calls use it.
pub(super) struct Reader<'a> {
    pub(super) options: &'a LoadOptions,
    pub(super) sources: &'a Sources,
    pub(super) files: &'a dyn Files,
    read: Vec<LoadedFile>,
    directories: HashMap<PathBuf, ModuleDirectory>,
    links: HashSet<PathBuf>,
    incomplete: bool,
    unparsed: Unparsed,
}

/// The result of reading a module directory.
#[derive(Clone)]
pub(super) enum ModuleDirectory {
    /// The decoded module, without its children.
    Module(Arc<Module>),
    /// The directory exists but contains no configuration files.
    Empty,
    /// The directory does not exist or cannot be listed.
    Missing,
}

impl<'a> Reader<'a> {
    pub(super) fn new(options: &'a LoadOptions, sources: &'a Sources, files: &'a dyn Files) -> Self {
        Self {
            options,
            sources,
            files,
            read: Vec::new(),
            directories: HashMap::new(),
            links: HashSet::new(),
            incomplete: false,
            unparsed: Unparsed::default(),
        }
    }

    /// Whether a declaration is missing because of an error, so that an undeclared name may not be a mistake.
    pub(super) fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Returns all files that were read.
    pub(super) fn into_files(self) -> Arc<[LoadedFile]> {
        self.read.into()
    }

    /// Adds the manifest of installed modules to the files that were read.
    pub(super) fn keep_manifest(&mut self) {
        let path = self.options.data_directory.join("modules").join("modules.json");
        // Without a readable manifest there is nothing to keep; `load` reports an invalid one.
        if let Some(text) = self.files.read(&path).ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
            self.read.push(LoadedFile { path, text: text.into() });
        }
    }

    /// Resolves a local source of the module in `caller` to a directory. Symbolic links are recorded among the files,
    /// so that a snapshot can resolve them.
    pub(super) fn local(&mut self, caller: &Path, relative: &Path) -> PathBuf {
        let path = normalize(&caller.join(relative));
        let directory = self.files.follow(&path);
        if directory != path && self.links.insert(path.clone()) {
            let text = display(&directory).into();
            self.read.push(LoadedFile { path, text });
        }
        directory
    }

    /// Returns the module in `directory`; its problems are reported on the first call only.
    pub(super) fn module_directory(&mut self, directory: &Path, diagnostics: &mut Diagnostics) -> ModuleDirectory {
        if let Some(known) = self.directories.get(directory) {
            return known.clone();
        }
        let read = self.read_directory(directory, diagnostics);
        self.directories.insert(directory.to_owned(), read.clone());
        read
    }

    /// Drops the cached module in `directory`, so that the caller's copy is the only reference.
    pub(super) fn forget(&mut self, directory: &Path) {
        self.directories.remove(directory);
    }

    fn read_directory(&mut self, directory: &Path, diagnostics: &mut Diagnostics) -> ModuleDirectory {
        let Ok(entries) = self.files.list(directory) else { return ModuleDirectory::Missing };
        // Subdirectories are not part of a module.
        let mut files = module_files(entries);
        // Only the root module's query files are used, as in Terraform.
        if self.options.queries == Queries::Ignored || !directory.as_os_str().is_empty() {
            files.queries.clear();
        }
        if files.primary.is_empty() && files.overrides.is_empty() && files.queries.is_empty() {
            return ModuleDirectory::Empty;
        }
        let mut decode_all =
            |names: &[(OsString, Syntax)], role: Role, decode: Decode<FileContent>| -> Vec<FileContent> {
                let decoded = names.iter().filter_map(|named| self.file(directory, named, role, decode, diagnostics));
                decoded.collect()
            };
        let mut primary = decode_all(&files.primary, Role::Primary, decode::file);
        primary.extend(decode_all(&files.queries, Role::Primary, decode::query));
        let overrides = decode_all(&files.overrides, Role::Override, decode::file);
        let registry = self.options.default_registry.clone();
        // Kept apart, to drop the errors that follow from syntax errors.
        let mut problems = Diagnostics::new();
        let module = assemble(directory.to_owned(), registry, primary, overrides, self.sources, &mut problems);
        diagnostics.append(self.unparsed.leave_out(problems));
        ModuleDirectory::Module(Arc::new(module))
    }

    /// Parses a file and decodes it with `decode`; returns `None` if it cannot be read.
    pub(super) fn file<T>(
        &mut self,
        directory: &Path,
        (name, syntax): &(OsString, Syntax),
        role: Role,
        decode: Decode<T>,
        diagnostics: &mut Diagnostics,
    ) -> Option<T> {
        let Some(file) = self.register(&directory.join(name), diagnostics) else {
            // The declarations of the file are missing.
            self.incomplete = true;
            return None;
        };
        let (parsed, problems) = match syntax {
            Syntax::Native => groma_hcl::parse_file(&file),
            Syntax::Json => groma_hcl::parse_json_file(&file),
        };
        self.incomplete |= problems.has_errors();
        let unparsed = Unparsed::of(&problems);
        self.unparsed.extend(&unparsed);
        diagnostics.append(problems);
        let mut decoding = Decoding {
            sources: self.sources,
            options: self.options,
            role,
            dialect: Dialect::of_file(&name.to_string_lossy()),
            diagnostics: Diagnostics::new(),
            incomplete: false,
            shared: HashSet::new(),
            unparsed,
        };
        let content = decode(&parsed.body, &mut decoding);
        self.incomplete |= decoding.incomplete;
        diagnostics.append(decoding.unparsed.leave_out(decoding.diagnostics));
        Some(content)
    }

    fn register(&mut self, path: &Path, diagnostics: &mut Diagnostics) -> Option<Arc<SourceFile>> {
        let name = display(path);
        let bytes = match self.files.read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                diagnostics.push(Diagnostic::error(
                    "Failed to read file",
                    format!("The file {name:?} cannot be read: {error}.", error = io_reason(&error)),
                ));
                return None;
            }
        };
        let Some(file) = self.sources.add_bytes(name, bytes) else {
            diagnostics.push(Diagnostic::error(
                "Configuration too large",
                "The source files together exceed the limit of 4 GiB.",
            ));
            return None;
        };
        self.read.push(LoadedFile { path: path.to_owned(), text: Arc::clone(file.text()) });
        Some(file)
    }
}

/// Whether a file of the module in `directory` contains `word`, or a JSON escape that may encode it. Faster than
/// parsing.
pub(super) fn mentions(word: &[u8], directory: &Path, files: &dyn Files) -> bool {
    let Ok(entries) = files.list(directory) else { return false };
    let module = module_files(entries);
    let mut all = module.primary.iter().chain(&module.overrides);
    all.any(|(name, syntax)| {
        // An unreadable file is reported when the module is loaded.
        let text = files.read(&directory.join(name)).unwrap_or_default();
        let has = |part: &[u8]| memchr::memmem::find(&text, part).is_some();
        has(word) || *syntax == Syntax::Json && has(b"\\u")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryFiles;

    #[test]
    fn mentions_finds_words_and_json_escapes() {
        let has = |name: &str, text: &str| {
            let mut files = MemoryFiles::new();
            files.insert(Path::new(name), text.as_bytes().to_vec());
            mentions(b"encryption", Path::new(""), &files)
        };
        assert!(has("main.tf", "terraform { encryption {} }"));
        assert!(!has("main.tf", "terraform {}"));
        assert!(!has("other.txt", "encryption"));
        // The JSON escape represents the letter e, so a search for the word alone would miss it.
        assert!(has("main.tf.json", r#"{"terraform": {"\u0065ncryption": {}}}"#));
    }
}
