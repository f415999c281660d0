//! `removed` blocks.

use std::sync::LazyLock;

use groma_address::Mode;
use groma_diagnostics::{Diagnostic, Span};
use groma_hcl::{Attribute, Block, BodySchema, Content, Traversal};

use crate::decode::address::{Address, KeySpan, Keyed, NoAddress, Why};
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
        refuse_module_blocks(block, &content, &provisioners, decoding);
    }
    // Checked only now, so that errors in the rest of the block are reported as well.
    let (from, from_span) = from?;
    // The warning about a missing `destroy` is only useful if the block is otherwise valid.
    let has_invalid = provisioners.len() < content.blocks_of("provisioner").count();
    let is_valid = !has_invalid && (provisioners.is_empty() || !is_about_module);
    if decoding.dialect == Dialect::OpenTofu && is_valid {
        decoding.diagnostics.append(destroy_warning(block, destroy, &provisioners));
    }
    let destroy = match destroy {
        Destroy::Set(destroy) => destroy,
        // Without the argument, Terraform destroys the object and OpenTofu forgets it.
        Destroy::Missing | Destroy::Invalid => decoding.dialect == Dialect::Terraform,
    };
    Some(Removed { from, from_span, destroy, provisioners, span: block.header })
}

/// Reports blocks that are not allowed in a removed block for a module.
fn refuse_module_blocks(block: &Block, content: &Content, provisioners: &[Provisioner], decoding: &mut Decoding<'_>) {
    if let Some(first) = provisioners.first() {
        let (span, summary) = match decoding.dialect {
            Dialect::Terraform => (first.span, "Invalid provisioner block"),
            Dialect::OpenTofu => (block.header, "Invalid \"removed\" block"),
        };
        decoding.error(span, summary, "Only resources can have provisioners, but this block removes a module.");
    }
    if let Some(first) = content.blocks_of("connection").next() {
        decoding.error(
            first.header,
            "Invalid connection block",
            "Only resources can have connections, but this block removes a module.",
        );
    }
}

fn removed_from(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<(RemovedFrom, Span)> {
    // The parser does not treat `x[null]` as a traversal, but the error is the same as for other keys.
    if let Some(index) = syntax::index_of_word(&attribute.expression) {
        let address = removed_address(&index.source.as_traversal()?, decoding)?;
        let of = if address.resource.is_some() { Keyed::Resource } else { Keyed::Module };
        has_key(address.first_key.unwrap_or(KeySpan { span: index.brackets, of }), decoding);
        return None;
    }
    let traversal = syntax::address(&attribute.expression, decoding)?;
    let address = removed_address(&traversal, decoding)?;
    if let Some(word) = &address.reserved {
        decoding.report(
            Diagnostic::warning(
                "Reserved word in an address",
                format!(
                    "{word:?} is a reserved word that does not refer to a resource. Here it is used as a resource type, so the block has no \
                     effect unless such a type exists."
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
                Mode::Ephemeral => ("Ephemeral resource", "ephemeral resources are not stored in the state"),
                Mode::List => ("List", "list resources are not stored in the state"),
                Mode::Data | Mode::Managed => {
                    ("Data source", "data sources are removed from the state with their block")
                }
            };
            let detail = format!("Only managed resources can be removed: {why}. Remove this block.");
            decoding.error(span, not_allowed(&format!("{what} address"), decoding), detail);
            None
        }
    }
}

/// Parses the address of a removed block. Anything after a resource is reported as an instance key.
fn removed_address(traversal: &Traversal, decoding: &mut Decoding<'_>) -> Option<Address> {
    match Address::of(traversal) {
        Ok(address) => return Some(address),
        Err(NoAddress { first_key: Some(key), .. }) => has_key(key, decoding),
        Err(NoAddress { why: Why::ExtraSteps, .. }) => {
            let detail = "A removed block applies to a whole resource with all its instances. Remove everything after its type and \
                          name.";
            decoding.error(traversal.span, keys_not_allowed("Resource", decoding), detail);
        }
        Err(no_address) => no_address.report(traversal.span, decoding),
    }
    None
}

/// Reports an instance key in the address.
fn has_key(key: KeySpan, decoding: &mut Decoding<'_>) {
    let (what, whole) = match key.of {
        Keyed::Resource => ("Resource", "resource"),
        Keyed::Module => ("Module", "module"),
    };
    let detail = format!("A removed block applies to a whole {whole} with all its instances. Remove the key.");
    decoding.error(key.span, keys_not_allowed(what, decoding), detail);
}

/// Returns the product's summary for an address with instance keys.
fn keys_not_allowed(what: &str, decoding: &Decoding<'_>) -> String {
    match decoding.dialect {
        Dialect::Terraform => format!("{what} instance keys not allowed"),
        Dialect::OpenTofu => not_allowed(&format!("{what} instance address with keys"), decoding),
    }
}

/// Returns the product's summary for a disallowed address.
fn not_allowed(what: &str, decoding: &Decoding<'_>) -> String {
    match decoding.dialect {
        Dialect::Terraform => format!("{what} not allowed"),
        Dialect::OpenTofu => format!("{what} is not allowed"),
    }
}

/// Returns OpenTofu's warnings: about a missing `destroy` (OpenTofu then forgets the object, but Terraform destroys
/// it), and about provisioners of forgotten objects, which never run.
fn destroy_warning(block: &Block, destroy: Destroy, provisioners: &[Provisioner]) -> Option<Diagnostic> {
    let (summary, detail) = match destroy {
        Destroy::Missing => (
            "Missing lifecycle from the removed block",
            "In a .tofu file the object is forgotten unless the block has \"destroy\"; in a .tf file it is destroyed. Set the argument \
             explicitly: lifecycle { destroy = false } or lifecycle { destroy = true }.",
        ),
        Destroy::Set(false) if !provisioners.is_empty() => (
            "Removed block provisioners will not be executed",
            "The object is forgotten, not destroyed, so its provisioners never run. Remove the provisioners, or set destroy = true.",
        ),
        Destroy::Set(_) | Destroy::Invalid => return None,
    };
    Some(Diagnostic::warning(summary, detail).at(block.header))
}

/// The `destroy` argument of a removed block.
#[derive(Clone, Copy)]
enum Destroy {
    Set(bool),
    Missing,
    /// An invalid argument or block, which may have been meant to set it.
    Invalid,
}

fn removed_destroy(content: &Content, decoding: &mut Decoding<'_>) -> Destroy {
    let missing = |content: &Content| if content.is_whole() { Destroy::Missing } else { Destroy::Invalid };
    let mut blocks = content.blocks_of("lifecycle");
    let Some(first) = blocks.next() else { return missing(content) };
    for block in blocks {
        duplicate_lifecycle(block, first.header, "removed block", decoding);
    }
    let lifecycle = decoding.content(&first.body, &REMOVED_LIFECYCLE);
    match lifecycle.get("destroy") {
        Some(destroy) => literal::boolean(destroy, decoding).map_or(Destroy::Invalid, Destroy::Set),
        None => missing(&lifecycle),
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
                "Removed blocks support only destroy-time provisioners. Add when = destroy.",
            );
            continue;
        }
        // The block's connection is the default of its provisioners, as in a resource.
        decoded.connection = decoded.connection.or_else(|| shared.clone());
        provisioners.push(decoded);
    }
    provisioners
}
