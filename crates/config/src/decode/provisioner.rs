//! `provisioner` and `connection` blocks.

use std::sync::LazyLock;

use groma_diagnostics::Diagnostic;
use groma_hcl::{Attribute, Block, Body, BodySchema, Content};
use groma_lang::{Reference, for_each_traversal, parse_reference};

use super::context::Decoding;
use super::{meta, syntax};
use crate::model::{Connection, OnFailure, Provisioner, ProvisionerWhen};

static PROVISIONER: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .optional("when")
        .optional("on_failure")
        .block("_", &[])
        .block("connection", &[])
        .reserved("lifecycle")
});

/// Vendor provisioners that Terraform 0.15 removed.
const REMOVED: [&str; 4] = ["chef", "habitat", "puppet", "salt-masterless"];

/// Decodes a `provisioner` block.
pub(super) fn provisioner(block: &Block, decoding: &mut Decoding<'_>) -> Option<Provisioner> {
    let label = block.labels.first()?;
    let (content, rest) = decoding.partial_content(&block.body, &PROVISIONER);
    if REMOVED.contains(&&*label.value) {
        decoding.error(
            label.span,
            format!("The {:?} provisioner has been removed", label.value),
            "Terraform 0.15 removed vendor provisioners. Use a prepared machine image, or local-exec.",
        );
        return None;
    }
    let when = content.get("when").map(|attribute| when(attribute, decoding)).unwrap_or_default();
    let on_failure = content.get("on_failure").map(|attribute| on_failure(attribute, decoding)).unwrap_or_default();
    for reserved in content.blocks_of("lifecycle") {
        meta::reserved_block(reserved, "provisioner", decoding);
    }
    let connections: Vec<&Block> = content.blocks_of("connection").collect();
    let connection = connection(&connections, "provisioner", decoding);
    if when == ProvisionerWhen::Destroy {
        only_self_references(&rest, decoding);
        if let Some(connection) = &connection {
            only_self_references(&connection.body, decoding);
        }
    }
    let body = with_escape(&content, rest, decoding);
    Some(Provisioner { kind: label.value.clone(), when, on_failure, body, connection, span: block.header })
}

fn with_escape(content: &Content, rest: Body, decoding: &mut Decoding<'_>) -> Body {
    meta::with_escape_block(content, rest, "provisioner", decoding)
}

fn when(attribute: &Attribute, decoding: &mut Decoding<'_>) -> ProvisionerWhen {
    match syntax::keyword(&attribute.expression, decoding).as_deref() {
        Some("create") => ProvisionerWhen::Create,
        Some("destroy") => ProvisionerWhen::Destroy,
        _ => {
            // The default keeps the provisioner in the result, so that its body is still checked.
            wrong_keyword(attribute, "create or destroy", decoding);
            ProvisionerWhen::Create
        }
    }
}

fn on_failure(attribute: &Attribute, decoding: &mut Decoding<'_>) -> OnFailure {
    match syntax::keyword(&attribute.expression, decoding).as_deref() {
        Some("continue") => OnFailure::Continue,
        Some("fail") => OnFailure::Fail,
        _ => {
            // The default keeps the provisioner in the result, so that its body is still checked.
            wrong_keyword(attribute, "continue or fail", decoding);
            OnFailure::Fail
        }
    }
}

fn wrong_keyword(attribute: &Attribute, choices: &str, decoding: &mut Decoding<'_>) {
    let name = &attribute.name.name;
    decoding.error(
        attribute.expression.span,
        format!("Invalid {name:?} keyword"),
        format!("Write {choices}, without quotes."),
    );
}

/// Decodes the `connection` block, and reports duplicates.
pub(super) fn connection(blocks: &[&Block], holder: &str, decoding: &mut Decoding<'_>) -> Option<Connection> {
    let (first, others) = blocks.split_first()?;
    for block in others {
        let location = decoding.location(first.header);
        decoding.error(
            block.header,
            "Duplicate connection block",
            format!("This {holder} already has a connection block at {location}. Merge the two blocks."),
        );
    }
    Some(Connection { body: first.body.clone(), span: first.header })
}

/// Reports references to other objects from destroy-time provisioners: those may have been destroyed before.
pub(super) fn only_self_references(body: &Body, decoding: &mut Decoding<'_>) {
    let (attributes, _) = body.attributes();
    for attribute in &attributes {
        let mut foreign = false;
        for_each_traversal(&attribute.expression, &mut |traversal| match parse_reference(traversal) {
            Ok(reference) => foreign |= !is_own(&reference.target),
            Err(problem) if &*traversal.root.name == "self" => decoding.report(problem),
            // An invalid reference to another object is still a foreign one.
            Err(_) => foreign |= !matches!(&*traversal.root.name, "path" | "terraform" | "tofu"),
        });
        if foreign {
            let span = attribute.expression.span;
            let detail = "A destroy-time provisioner and its connection can refer only to the object itself: self, count.index and \
                          each.key. Other objects may already be destroyed.";
            let problem = Diagnostic::error("Invalid reference from destroy provisioner", detail).at(span);
            // Other errors about this expression follow from the same mistake.
            decoding.report(problem.suppressing(span));
        }
    }
}

fn is_own(target: &Reference) -> bool {
    match target {
        Reference::SelfObject | Reference::Path(_) | Reference::Terraform(_) | Reference::OpenTofu(_) => true,
        Reference::Count(name) => &**name == "index",
        Reference::Each(name) => &**name == "key",
        _ => false,
    }
}
