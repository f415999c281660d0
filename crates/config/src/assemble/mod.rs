//! From the files of a folder to one module: duplicates are found, overrides applied.

mod assembly;
mod overrides;
mod primary;
mod value;

use std::path::PathBuf;

use groma_address::Name;
use groma_diagnostics::{Diagnostics, Sources};
use indexmap::IndexMap;

use assembly::Assembly;

use crate::decode::FileContent;
use crate::model::Module;

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
    finish(assembly)
}

fn finish(assembly: Assembly<'_>) -> Module {
    let mut module = assembly.module;
    for (name, draft) in assembly.variables {
        let variable = value::variable(draft, assembly.diagnostics);
        module.variables.insert(name, variable);
    }
    for (name, draft) in assembly.outputs {
        // Without a value it has been reported already.
        if let Some(output) = value::output(draft) {
            module.outputs.insert(name, output);
        }
    }
    module
}
