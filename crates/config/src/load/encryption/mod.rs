//! Evaluation of an `encryption` block, before anything is planned.

mod arguments;
mod check;
mod keys;
mod methods;
mod names;
mod schemas;
mod services;

use std::collections::HashSet;

use groma_diagnostics::{Diagnostic, Diagnostics, Sources};

use super::early::Early;
use super::folder::Reader;
use crate::decode::{self, Decoding, Dialect, Role, Unparsed};
use crate::model::encryption::EncryptionBlock;
use crate::model::{Encryption, Module};

/// Evaluates the encryption settings of the root module, or those of the environment that replace them.
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
    let is_sound = !problems.has_errors();
    let tell = |problem: Diagnostic| without_secrets(problem, reader.sources);
    let encryption = block.filter(|_| is_sound).map(|block| {
        check::check(&block, &mut problems);
        let methods = methods::methods(&block, early).map_err(|problems| problems.into_iter().map(tell).collect());
        Encryption { span: block.span, methods }
    });
    diagnostics.append(problems.into_iter().map(tell));
    encryption
}

/// Parses `TF_ENCRYPTION`, in either syntax.
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

/// A problem in the environment variable, told without its text, which holds secrets.
fn without_secrets(problem: Diagnostic, sources: &Sources) -> Diagnostic {
    let place = problem.subject.and_then(|span| sources.locate(span)).filter(|place| place.file.name() == VARIABLE);
    let Some(place) = place else { return problem };
    let detail = format!("In the environment variable {VARIABLE}, line {}: {}", place.start.line, problem.detail);
    Diagnostic { detail, subject: None, context: None, observed: Vec::new(), ..problem }
}

/// The name of the environment variable.
const VARIABLE: &str = "TF_ENCRYPTION";
