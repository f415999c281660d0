//! Reading and decoding the files of one folder.

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

/// The decoder of a file's body.
type Decode<T> = fn(&Body, &mut Decoding<'_>) -> T;

/// Reads folders, each once however many modules are made of it.
pub(super) struct Reader<'a> {
    pub(super) options: &'a LoadOptions,
    pub(super) sources: &'a Sources,
    pub(super) files: &'a dyn Files,
    read: Vec<LoadedFile>,
    folders: HashMap<PathBuf, Folder>,
    links: HashSet<PathBuf>,
    incomplete: bool,
    unparsed: Unparsed,
}

/// The module that a folder's files make.
#[derive(Clone)]
pub(super) enum Folder {
    /// There are configuration files.
    Module(Arc<Module>),
    /// The folder is there and holds none.
    Empty,
    /// The folder cannot be read.
    Missing,
}

impl<'a> Reader<'a> {
    pub(super) fn new(options: &'a LoadOptions, sources: &'a Sources, files: &'a dyn Files) -> Self {
        Self {
            options,
            sources,
            files,
            read: Vec::new(),
            folders: HashMap::new(),
            links: HashSet::new(),
            incomplete: false,
            unparsed: Unparsed::default(),
        }
    }

    /// Whether something that the files declare is missing after an error, so that references to it mean nothing.
    pub(super) fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Everything that was read.
    pub(super) fn into_files(self) -> Arc<[LoadedFile]> {
        self.read.into()
    }

    /// Remembers the manifest of installed modules among the files.
    pub(super) fn keep_manifest(&mut self) {
        let path = self.options.data_directory.join("modules").join("modules.json");
        if let Some(text) = self.files.read(&path).ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
            self.read.push(LoadedFile { path, text: text.into() });
        }
    }

    /// The folder that a local source of the module in `caller` leads to. Links on the way are remembered among the files.
    pub(super) fn local(&mut self, caller: &Path, relative: &Path) -> PathBuf {
        let path = normalize(&caller.join(relative));
        let folder = self.files.follow(&path);
        if folder != path && self.links.insert(path.clone()) {
            let text = display(&folder).into();
            self.read.push(LoadedFile { path, text });
        }
        folder
    }

    /// The module in `directory`; its problems are reported when it is read for the first time.
    pub(super) fn folder(&mut self, directory: &Path, diagnostics: &mut Diagnostics) -> Folder {
        if let Some(known) = self.folders.get(directory) {
            return known.clone();
        }
        let folder = self.read_folder(directory, diagnostics);
        self.folders.insert(directory.to_owned(), folder.clone());
        folder
    }

    /// Gives up the module in `directory`.
    pub(super) fn forget(&mut self, directory: &Path) {
        self.folders.remove(directory);
    }

    fn read_folder(&mut self, directory: &Path, diagnostics: &mut Diagnostics) -> Folder {
        let Ok(entries) = self.files.list(directory) else { return Folder::Missing };
        let mut files = module_files(entries);
        // Only the root module is asked to search.
        if self.options.queries == Queries::LeftOut || !directory.as_os_str().is_empty() {
            files.queries.clear();
        }
        if files.primary.is_empty() && files.overrides.is_empty() && files.queries.is_empty() {
            return Folder::Empty;
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
        let mut problems = Diagnostics::new();
        let module = assemble(directory.to_owned(), registry, primary, overrides, self.sources, &mut problems);
        diagnostics.append(self.unparsed.leave_out(problems));
        Folder::Module(Arc::new(module))
    }

    /// Decodes one file; `None` if it cannot be read.
    pub(super) fn file<T>(
        &mut self,
        directory: &Path,
        (name, syntax): &(OsString, Syntax),
        role: Role,
        decode: Decode<T>,
        diagnostics: &mut Diagnostics,
    ) -> Option<T> {
        let Some(file) = self.register(&directory.join(name), diagnostics) else {
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
                "All source files together may hold 4 GiB at most, and these hold more.",
            ));
            return None;
        };
        self.read.push(LoadedFile { path: path.to_owned(), text: Arc::clone(file.text()) });
        Some(file)
    }
}

/// Whether a file of the module in `directory` has `word` anywhere in its text, or may have it behind an escape of JSON.
pub(super) fn mentions(word: &[u8], directory: &Path, files: &dyn Files) -> bool {
    let Ok(entries) = files.list(directory) else { return false };
    let module = module_files(entries);
    let mut all = module.primary.iter().chain(&module.overrides);
    all.any(|(name, syntax)| {
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
    fn a_word_is_found_in_the_text_of_a_module_and_may_be_behind_an_escape_of_json() {
        let has = |name: &str, text: &str| {
            let mut files = MemoryFiles::new();
            files.insert(Path::new(name), text.as_bytes().to_vec());
            mentions(b"encryption", Path::new(""), &files)
        };
        assert!(has("main.tf", "terraform { encryption {} }"));
        assert!(!has("main.tf", "terraform {}"));
        assert!(!has("other.txt", "encryption"));
        assert!(has("main.tf.json", r#"{"terraform": {"\u0065ncryption": {}}}"#));
    }
}
