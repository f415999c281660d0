//! From the files of a folder to one module: duplicates are found, overrides applied.

mod assembly;
mod overrides;
mod primary;
mod value;

use std::path::PathBuf;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources};
use indexmap::IndexMap;

use assembly::Assembly;

use crate::decode::{FileContent, versionless};
use crate::model::{Module, ModuleCall};

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
        required_versions: Vec::new(),
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
    for required in assembly.required_versions {
        assembly.diagnostics.append(required.problem);
        module.required_versions.push(required.requirement);
    }
    for call in module.calls.values() {
        check_version(call, assembly.diagnostics);
    }
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

/// Only modules of a registry have versions. A source that is not known yet is for later.
fn check_version(call: &ModuleCall, diagnostics: &mut Diagnostics) {
    let (Some(source), false) = (&call.source, call.version.is_empty()) else { return };
    if let Some(detail) = versionless(source) {
        let span = call.source_expression.as_ref().map_or(call.span, |expression| expression.span);
        diagnostics.push(Diagnostic::error("Invalid registry module source address", detail).at(span));
    }
}
