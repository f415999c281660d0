//! `moved` blocks.

use std::sync::LazyLock;

use groma_address::{InstanceKey, Mode, Target};
use groma_diagnostics::{Diagnostic, Span};
use groma_hcl::{Attribute, Block, BodySchema};

use crate::decode::address::{Address, Keyed};
use crate::decode::context::{Decoding, Dialect};
use crate::decode::syntax;
use crate::model::Moved;

static MOVED: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().required("from").required("to"));

/// Decodes a `moved` block.
pub(in crate::decode) fn moved(block: &Block, decoding: &mut Decoding<'_>) -> Option<Moved> {
    if decoding.refuse_override(block) {
        return None;
    }
    let content = decoding.content(&block.body, &MOVED);
    let from = content.get("from").and_then(|attribute| endpoint(attribute, decoding));
    let to = content.get("to").and_then(|attribute| endpoint(attribute, decoding));
    // Both addresses are decoded before either can end the function, so that both are reported.
    let (from, from_span) = from?;
    let (to, to_span) = to?;
    if matches!(from, Target::Module(_)) != matches!(to, Target::Module(_)) {
        decoding.error(
            block.header,
            "Invalid \"moved\" addresses",
            "Both addresses must be resources, or both must be modules.",
        );
        return None;
    }
    if mode(&from) != mode(&to) {
        decoding.error(
            block.header,
            "Invalid \"moved\" addresses",
            "Both addresses must be managed resources, or both must be data sources.",
        );
        return None;
    }
    Some(Moved { from, from_span, to, to_span, span: block.header })
}

fn endpoint(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<(Target, Span)> {
    let traversal = syntax::address(&attribute.expression, decoding)?;
    let span = attribute.expression.span;
    let address = Address::read(&traversal, decoding)?;
    if let Some(word) = &address.reserved {
        decoding.error(
            traversal.span,
            "Invalid address",
            format!(
                "{word:?} is a reserved word that does not refer to a resource. For a resource type of this name, write resource.{word}."
            ),
        );
        return None;
    }
    if let Some(key) = address.wrong_key {
        let summary = match key.of {
            Keyed::Module => "Invalid address operator",
            Keyed::Resource => "Invalid address",
        };
        decoding.error(key.span, summary, syntax::KEYS);
        return None;
    }
    let mode = address.resource.as_ref().map(|(resource, _)| resource.mode);
    if let Some(detail) = mode.and_then(in_no_state) {
        let problem = match decoding.dialect {
            // Terraform accepts such a move without any effect, so this is only a warning; OpenTofu refuses it.
            Dialect::Terraform => Diagnostic::warning("Invalid \"moved\" address", detail),
            Dialect::OpenTofu => Diagnostic::error("Invalid \"moved\" address", detail),
        };
        let is_error = problem.is_error();
        decoding.report(problem.at(span));
        if is_error {
            return None;
        }
    }
    match address.resource {
        None => Some((Target::Module(address.module), span)),
        Some((resource, InstanceKey::None)) => Some((Target::Resource(resource.absolute(address.module)), span)),
        Some((resource, key)) => Some((Target::Instance(resource.absolute(address.module).instance(key)), span)),
    }
}

/// Returns the reason why objects of a mode cannot be moved. Terraform ignores such blocks silently.
fn in_no_state(mode: Mode) -> Option<&'static str> {
    match mode {
        Mode::Managed | Mode::Data => None,
        Mode::Ephemeral => {
            Some("Ephemeral resources are not stored in the state, so they cannot be moved. Remove the block.")
        }
        Mode::List => Some("List resources are not stored in the state, so they cannot be moved. Remove the block."),
    }
}

fn mode(target: &Target) -> Option<Mode> {
    match target {
        Target::Module(_) => None,
        Target::Resource(resource) => Some(resource.resource.mode),
        Target::Instance(instance) => Some(instance.resource.mode),
    }
}
