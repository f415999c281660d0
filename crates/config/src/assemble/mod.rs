//! Assembly of a directory's files into a module: detects duplicates and applies overrides.

mod overrides;
mod primary;
mod value;

use std::path::PathBuf;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources};
use indexmap::IndexMap;

use primary::Assembly;

use crate::decode::{FileContent, versionless};
use crate::model::{Module, ModuleCall};

/// Assembles the module of the files in `directory`, without its children.
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
    // Before overrides, which may legitimately replace a cloud block by a backend or vice versa.
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
        // A missing value has been reported by the decoder.
        if let Some(output) = value::output(draft) {
            module.outputs.insert(name, output);
        }
    }
    module
}

/// Reports a version of a module that is not from a registry. A source that needs evaluation is checked later.
fn check_version(call: &ModuleCall, diagnostics: &mut Diagnostics) {
    let (Some(source), false) = (&call.source, call.version.is_empty()) else { return };
    if let Some(detail) = versionless(source) {
        let span = call.source_expression.as_ref().map_or(call.span, |expression| expression.span);
        diagnostics.push(Diagnostic::error("Invalid registry module source address", detail).at(span));
    }
}
