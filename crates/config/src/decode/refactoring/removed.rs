//! `removed` blocks.

use std::sync::LazyLock;

use groma_address::Mode;
use groma_diagnostics::{Diagnostic, Span};
use groma_hcl::{Attribute, Block, BodySchema, Content, Traversal};

use crate::decode::address::{Address, KeyPlace, Keyed, NoAddress, Why};
use crate::decode::context::{Decoding, Dialect};
use crate::decode::meta::duplicate_lifecycle;
use crate::decode::{literal, provisioner, syntax};
use crate::model::{Provisioner, ProvisionerWhen, Removed, RemovedFrom};

static REMOVED: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new().required("from").block("lifecycle", &[]).block("provisioner", &["type"]).block("connection", &[])
});

static REMOVED_LIFECYCLE: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().optional("destroy"));

/// Decodes a `removed` block.
pub(in crate::decode) fn removed(block: &Block, decoding: &mut Decoding<'_>) -> Option<Removed> {
    if decoding.refuse_override(block) {
        return None;
    }
    let content = decoding.content(&block.body, &REMOVED);
    let from = content.get("from").and_then(|attribute| removed_from(attribute, decoding));
    let destroy = removed_destroy(&content, decoding);
    let provisioners = removed_provisioners(&content, decoding);
    let is_about_module = matches!(&from, Some((RemovedFrom::Module(_), _)));
    if is_about_module {
        about_a_module(block, &content, &provisioners, decoding);
    }
    let (from, from_span) = from?;
    // Omissions are not reported next to errors.
    let are_wrong = provisioners.len() < content.blocks_of("provisioner").count();
    let is_sound = !are_wrong && (provisioners.is_empty() || !is_about_module);
    if decoding.dialect == Dialect::OpenTofu && is_sound {
        decoding.diagnostics.append(left_unsaid(block, destroy, &provisioners));
    }
    let destroy = match destroy {
        Destroy::Said(destroy) => destroy,
        Destroy::Unsaid | Destroy::Unclear => decoding.dialect == Dialect::Terraform,
    };
    Some(Removed { from, from_span, destroy, provisioners, span: block.header })
}

/// Reports what a block about a module cannot have.
fn about_a_module(block: &Block, content: &Content, provisioners: &[Provisioner], decoding: &mut Decoding<'_>) {
    if let Some(first) = provisioners.first() {
        let (span, summary) = match decoding.dialect {
            Dialect::Terraform => (first.span, "Invalid provisioner block"),
            Dialect::OpenTofu => (block.header, "Invalid \"removed\" block"),
        };
        decoding.error(span, summary, "Only a resource can have provisioners; this block is about a module.");
    }
    if let Some(first) = content.blocks_of("connection").next() {
        decoding.error(
            first.header,
            "Invalid connection block",
            "Only provisioners of a resource connect to anything; this block is about a module.",
        );
    }
}

fn removed_from(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<(RemovedFrom, Span)> {
    // A word in brackets is no part of a traversal, but what is wrong with it is the same.
    if let Some(index) = syntax::index_of_word(&attribute.expression) {
        let address = removed_address(&index.source.as_traversal()?, decoding)?;
        let of = if address.resource.is_some() { Keyed::Resource } else { Keyed::Module };
        has_key(address.first_key.unwrap_or(KeyPlace { span: index.brackets, of }), decoding);
        return None;
    }
    let traversal = syntax::address(&attribute.expression, decoding)?;
    let address = removed_address(&traversal, decoding)?;
    if let Some(word) = &address.reserved {
        decoding.report(
            Diagnostic::warning(
                "Reserved word in an address",
                format!(
                    "The word {word:?} begins references to other things than resources. Here it is taken for the name of a resource type, \
                     so that the block does nothing unless there is such a type."
                ),
            )
            .at(traversal.span),
        );
    }
    if let Some(key) = address.first_key {
        has_key(key, decoding);
        return None;
    }
    let span = attribute.expression.span;
    let module = address.module.path();
    match address.resource {
        None => Some((RemovedFrom::Module(module), span)),
        Some((resource, _)) if resource.mode == Mode::Managed => {
            Some((RemovedFrom::Resource(resource.in_module(module)), span))
        }
        Some((resource, _)) => {
            let (what, why) = match resource.mode {
                Mode::Ephemeral => ("Ephemeral resource", "ephemeral resources are in no state"),
                Mode::List => ("List", "lists of queries are in no state"),
                Mode::Data | Mode::Managed => ("Data source", "data sources leave the state when their block goes"),
            };
            let detail = format!("Only managed resources can be removed: {why}. Remove this block.");
            decoding.error(span, not_allowed(&format!("{what} address"), decoding), detail);
            None
        }
    }
}

/// Reads an address; what goes on behind that of a resource is taken for a part of one instance.
fn removed_address(traversal: &Traversal, decoding: &mut Decoding<'_>) -> Option<Address> {
    match Address::of(traversal) {
        Ok(address) => return Some(address),
        Err(NoAddress { first_key: Some(key), .. }) => has_key(key, decoding),
        Err(NoAddress { why: Why::GoesOn, .. }) => {
            let detail = "A removed block is about a whole resource, with all its instances. Nothing can follow its type and name: leave \
                          the rest out.";
            decoding.error(traversal.span, keys_not_allowed("Resource", decoding), detail);
        }
        Err(no_address) => no_address.report(traversal.span, decoding),
    }
    None
}

/// Reports an instance key.
fn has_key(key: KeyPlace, decoding: &mut Decoding<'_>) {
    let (what, whole) = match key.of {
        Keyed::Resource => ("Resource", "resource"),
        Keyed::Module => ("Module", "module"),
    };
    let detail = format!("A removed block is about a whole {whole}, with all its instances. Leave the key out.");
    decoding.error(key.span, keys_not_allowed(what, decoding), detail);
}

/// The summary of an address that has the keys of instances.
fn keys_not_allowed(what: &str, decoding: &Decoding<'_>) -> String {
    match decoding.dialect {
        Dialect::Terraform => format!("{what} instance keys not allowed"),
        Dialect::OpenTofu => not_allowed(&format!("{what} instance address with keys"), decoding),
    }
}

/// Returns the summary of the error in the words of the file's product.
fn not_allowed(what: &str, decoding: &Decoding<'_>) -> String {
    match decoding.dialect {
        Dialect::Terraform => format!("{what} not allowed"),
        Dialect::OpenTofu => format!("{what} is not allowed"),
    }
}

/// Returns OpenTofu's warnings: of a block that does not choose between destroying and forgetting (OpenTofu forgets, Terraform destroys),
/// and
/// of provisioners without effect, because the object is forgotten.
fn left_unsaid(block: &Block, destroy: Destroy, provisioners: &[Provisioner]) -> Option<Diagnostic> {
    let (summary, detail) = match destroy {
        Destroy::Unsaid => (
            "Missing lifecycle from the removed block",
            "In a .tofu file the object is forgotten, not destroyed, unless the block says otherwise; in a .tf file it is destroyed. Say which \
             is meant: lifecycle { destroy = false }, or true.",
        ),
        Destroy::Said(false) if !provisioners.is_empty() => (
            "Removed block provisioners will not be executed",
            "The object is forgotten, not destroyed, so that nothing is run for it. Remove the provisioners, or set destroy = true.",
        ),
        Destroy::Said(_) | Destroy::Unclear => return None,
    };
    Some(Diagnostic::warning(summary, detail).at(block.header))
}

/// The choice of a block between destroying and forgetting the object.
#[derive(Clone, Copy)]
enum Destroy {
    Said(bool),
    Unsaid,
    /// Something is wrong that may have been meant to say it.
    Unclear,
}

fn removed_destroy(content: &Content, decoding: &mut Decoding<'_>) -> Destroy {
    let unsaid = |content: &Content| if content.is_whole() { Destroy::Unsaid } else { Destroy::Unclear };
    let mut blocks = content.blocks_of("lifecycle");
    let Some(first) = blocks.next() else { return unsaid(content) };
    for block in blocks {
        duplicate_lifecycle(block, first.header, "removed block", decoding);
    }
    let lifecycle = decoding.content(&first.body, &REMOVED_LIFECYCLE);
    match lifecycle.get("destroy") {
        Some(destroy) => literal::boolean(destroy, decoding).map_or(Destroy::Unclear, Destroy::Said),
        None => unsaid(&lifecycle),
    }
}

fn removed_provisioners(content: &Content, decoding: &mut Decoding<'_>) -> Vec<Provisioner> {
    let connections: Vec<&Block> = content.blocks_of("connection").collect();
    let shared = provisioner::connection(&connections, "removed block", decoding);
    let mut provisioners = Vec::new();
    for block in content.blocks_of("provisioner") {
        let Some(mut decoded) = provisioner::provisioner(block, decoding) else { continue };
        if decoded.when != ProvisionerWhen::Destroy {
            let summary = match decoding.dialect {
                Dialect::Terraform => "Invalid provisioner block",
                Dialect::OpenTofu => "Invalid \"removed.provisioner\" block",
            };
            decoding.error(
                block.header,
                summary,
                "A removed block runs provisioners on destruction only. Add when = destroy.",
            );
            continue;
        }
        decoded.connection = decoded.connection.or_else(|| shared.clone());
        provisioners.push(decoded);
    }
    provisioners
}
