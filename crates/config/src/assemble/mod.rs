//! From the files of a folder to one module: duplicates are found, overrides applied.

mod overrides;
mod primary;
mod value;

use std::path::PathBuf;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span};
use indexmap::IndexMap;

use crate::decode::{FileContent, OutputDraft, VariableDraft, place};
use crate::model::Module;

/// A module on its way: variables and outputs are only complete after overrides.
struct Assembly<'a> {
    module: Module,
    variables: IndexMap<Name, VariableDraft>,
    outputs: IndexMap<Name, OutputDraft>,
    /// Where `required_providers` stood first.
    required_providers: Option<Span>,
    sources: &'a Sources,
    diagnostics: &'a mut Diagnostics,
}

/// The module that the files of `directory` make, without children.
pub(crate) fn assemble(
    directory: PathBuf,
    default_registry: Name,
    primary: Vec<FileContent>,
    overrides: Vec<FileContent>,
    sources: &Sources,
    diagnostics: &mut Diagnostics,
) -> Module {
    let module = Module { directory, default_registry, ..Module::default() };
    let mut assembly = Assembly {
        module,
        variables: IndexMap::new(),
        outputs: IndexMap::new(),
        required_providers: None,
        sources,
        diagnostics,
    };
    for file in primary {
        assembly.add(file);
    }
    assembly.check_backend();
    for file in overrides {
        assembly.apply_override(file);
    }
    assembly.finish()
}

impl Assembly<'_> {
    fn error(&mut self, span: Span, summary: impl Into<String>, detail: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(span));
    }

    fn place(&self, span: Span) -> String {
        place(self.sources, span)
    }

    fn finish(self) -> Module {
        let mut module = self.module;
        for (name, draft) in self.variables {
            let variable = value::variable(draft, self.diagnostics);
            module.variables.insert(name, variable);
        }
        for (name, draft) in self.outputs {
            // Without a value it has been reported already.
            if let Some(output) = value::output(draft) {
                module.outputs.insert(name, output);
            }
        }
        module
    }
}
