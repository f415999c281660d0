//! Evaluation of the `encryption` block, before planning.

mod check;
mod keys;
mod methods;
mod names;
mod services;

use std::collections::HashSet;

use groma_diagnostics::{Diagnostic, Diagnostics, Sources};

use super::directory::Reader;
use super::early::Early;
use crate::decode::{self, Decoding, Dialect, Role, Unparsed};
use crate::model::encryption::EncryptionBlock;
use crate::model::{Encryption, Module};

/// Evaluates the root module's encryption block, with the settings of `TF_ENCRYPTION` merged over it.
pub(super) fn read(
    module: &Module,
    reader: &Reader<'_>,
    early: &Early<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Encryption> {
    let mut problems = Diagnostics::new();
    let given = reader.options.encryption.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let given = given.and_then(|text| given_block(text, reader, &mut problems));
    let block = match (module.encryption_block.clone(), given) {
        (Some(written), Some(given)) => Some(written.overridden_by(given)),
        (written, given) => written.or(given),
    };
    let is_valid = !problems.has_errors();
    let redact = |problem: Diagnostic| without_secrets(problem, reader.sources);
    let encryption = block.filter(|_| is_valid).map(|block| {
        check::check(&block, &mut problems);
        let methods = methods::methods(&block, early).map_err(|problems| problems.into_iter().map(redact).collect());
        Encryption { span: block.span, methods }
    });
    diagnostics.append(problems.into_iter().map(redact));
    encryption
}

/// Parses and decodes `TF_ENCRYPTION`, in native or JSON syntax.
fn given_block(text: &str, reader: &Reader<'_>, diagnostics: &mut Diagnostics) -> Option<EncryptionBlock> {
    let file = reader.sources.add(VARIABLE, text.to_owned())?;
    let (parsed, problems) =
        if text.starts_with('{') { groma_hcl::parse_json_file(&file) } else { groma_hcl::parse_file(&file) };
    if problems.has_errors() {
        diagnostics.append(problems);
        return None;
    }
    let mut decoding = Decoding {
        sources: reader.sources,
        options: reader.options,
        role: Role::Primary,
        // The variable exists in OpenTofu only, so its rules apply.
        dialect: Dialect::OpenTofu,
        diagnostics: Diagnostics::new(),
        incomplete: false,
        shared: HashSet::new(),
        unparsed: Unparsed::default(),
    };
    let block = decode::encryption(&parsed.body, &mut decoding);
    diagnostics.append(decoding.diagnostics);
    Some(block)
}

/// Removes the snippet of a diagnostic about `TF_ENCRYPTION`, whose text contains secrets, and names the line instead.
fn without_secrets(problem: Diagnostic, sources: &Sources) -> Diagnostic {
    let location =
        problem.subject.and_then(|span| sources.locate(span)).filter(|location| location.file.name() == VARIABLE);
    let Some(location) = location else { return problem };
    let detail = format!("In the environment variable {VARIABLE}, line {}: {}", location.start.line, problem.detail);
    Diagnostic { detail, subject: None, context: None, evidence: None, ..problem }
}

/// Environment variable with additional encryption settings.
const VARIABLE: &str = "TF_ENCRYPTION";
