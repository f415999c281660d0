//! `override_resource`, `override_data` and `override_module` blocks: values that replace those of a provider or a
//! module.

use std::sync::LazyLock;

use groma_address::Mode;
use groma_hcl::{Attribute, Block, BodySchema, Content};

use super::{Seen, one_keyword};
use crate::decode::address::Address;
use crate::decode::context::Decoding;
use crate::decode::syntax;
use crate::model::{Override, OverrideTarget};

static OBJECT: LazyLock<BodySchema> = LazyLock::new(|| overriding().optional("values"));

static MODULE: LazyLock<BodySchema> = LazyLock::new(|| overriding().optional("outputs"));

fn overriding() -> BodySchema {
    BodySchema::new().optional("target").optional("override_during")
}

/// The kind of object that a block type overrides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    Object(Mode),
    Module,
}

/// A block type: its name, its object, and the noun for duplicates.
struct Kind {
    name: &'static str,
    twice: &'static str,
    about: About,
}

const KINDS: [Kind; 3] = [
    Kind { name: "override_resource", twice: "override_resource block", about: About::Object(Mode::Managed) },
    Kind { name: "override_data", twice: "override_data block", about: About::Object(Mode::Data) },
    Kind { name: "override_module", twice: "override_module block", about: About::Module },
];

/// Decodes the override blocks of a body, and reports duplicate targets.
pub(super) fn blocks(content: &Content, decoding: &mut Decoding<'_>) -> Vec<Override> {
    let mut found = Vec::new();
    for kind in &KINDS {
        let mut seen = Seen::new(kind.twice);
        for block in content.blocks_of(kind.name) {
            if let Some(overridden) = overridden(block, kind.about, decoding) {
                seen.add(overridden.target.clone(), block.header, decoding);
                found.push(overridden);
            }
        }
    }
    found
}

/// Decodes an override block.
fn overridden(block: &Block, about: About, decoding: &mut Decoding<'_>) -> Option<Override> {
    let schema = if about == About::Module { &MODULE } else { &OBJECT };
    let content = decoding.content(&block.body, schema);
    if let Some(attribute) = content.get("override_during") {
        during(attribute, decoding);
    }
    // Optional in the schema, so that the message can be more specific.
    let Some(attribute) = content.get("target") else {
        let detail = "Set the address of the overridden object: target = ADDRESS.";
        decoding.error(block.header, "Missing target attribute", detail);
        return None;
    };
    let target = target(attribute, about, decoding)?;
    Some(Override { target, block: block.header, span: attribute.expression.span })
}

/// Checks the `override_during` argument.
pub(super) fn during(attribute: &Attribute, decoding: &mut Decoding<'_>) {
    one_keyword(attribute, ["plan", "apply"], "Invalid override_during value", decoding);
}

fn target(attribute: &Attribute, about: About, decoding: &mut Decoding<'_>) -> Option<OverrideTarget> {
    let traversal = syntax::address(&attribute.expression, decoding)?;
    let address = Address::read(&traversal, decoding)?;
    let span = attribute.expression.span;
    if let Some(word) = &address.reserved {
        let detail = format!("{word} is a reserved word that does not refer to a resource.");
        decoding.error(span, "Invalid address", detail);
        return None;
    }
    if let Some(key) = address.wrong_key {
        decoding.error(key.span, "Invalid address", syntax::KEYS);
        return None;
    }
    let found = address.resource.as_ref().map_or(About::Module, |(resource, _)| About::Object(resource.mode));
    if found != about {
        let expected = match about {
            About::Object(Mode::Data) => "a data source: data.TYPE.NAME",
            About::Object(_) => "a managed resource: TYPE.NAME",
            About::Module => "a module: module.NAME",
        };
        decoding.error(span, "Invalid override target", format!("The target of this block must be {expected}."));
        return None;
    }
    Some(OverrideTarget { module: address.module, resource: address.resource })
}
