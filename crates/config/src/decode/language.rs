//! `language` blocks, in which OpenTofu has what a module expects of the language.

use std::sync::LazyLock;

use groma_diagnostics::Diagnostic;
use groma_hcl::{Attribute, Block, BodySchema};

use super::context::Decoding;
use super::{syntax, version};
use crate::version::Version;

static LANGUAGE: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().optional("edition").optional("experiments").block("compatible_with", &[]));

static COMPATIBLE_WITH: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().optional("opentofu"));

/// The only existing edition.
const EDITION: &str = "tofu2024";

/// The last version that has no such blocks.
static BEFORE: LazyLock<Version> = LazyLock::new(|| Version::new(1, 11, 0));

/// Checks a `language` block. Nothing of it is needed later.
pub(super) fn check(block: &Block, decoding: &mut Decoding<'_>) {
    if decoding.is_override() {
        decoding.error(
            block.header,
            "Language selections in override file",
            "What a module expects of the language is said once, outside of override files. Move the block into another file.",
        );
        return;
    }
    let content = decoding.content(&block.body, &LANGUAGE);
    if let Some(attribute) = content.get("edition") {
        edition(attribute, decoding);
    }
    if let Some(attribute) = content.get("experiments") {
        experiments(attribute, decoding);
    }
    let mut constraint: Option<Attribute> = None;
    for nested in content.blocks_of("compatible_with") {
        // Other programs may have arguments of their own in it.
        let (content, _) = decoding.partial_content(&nested.body, &COMPATIBLE_WITH);
        if let Some(first) = &constraint {
            let place = decoding.place(first.expression.span);
            decoding.error(
                nested.header,
                "Duplicate compatible_with block",
                format!("The versions of OpenTofu are said at {place} already. Keep one of the two blocks."),
            );
            continue;
        }
        constraint = content.get("opentofu").cloned();
    }
    if let Some(attribute) = &constraint {
        compatible(attribute, decoding);
    }
}

fn edition(attribute: &Attribute, decoding: &mut Decoding<'_>) {
    let advice = format!(
        "There is one edition of the language: {EDITION}. Leave the argument out, or write that, without quotes."
    );
    let summary = match attribute.expression.as_keyword().as_deref() {
        Some(EDITION) => return,
        Some(_) => "Unsupported language edition",
        None => "Invalid language edition",
    };
    decoding.error(attribute.expression.span, summary, advice);
}

fn experiments(attribute: &Attribute, decoding: &mut Decoding<'_>) {
    let Some(elements) = syntax::list(&attribute.expression, decoding) else { return };
    for element in elements {
        match element.as_keyword() {
            Some(name) => {
                let detail = format!("There is no experiment {name:?} now. Remove it from the list.");
                decoding.error(element.span, "Unknown experiment keyword", detail);
            }
            None => decoding.error(
                element.span,
                "Invalid experiment keyword",
                "Experiments are named by words without quotes.",
            ),
        }
    }
}

fn compatible(attribute: &Attribute, decoding: &mut Decoding<'_>) {
    let Some(constraints) = version::version_constraints(attribute, decoding) else { return };
    let span = attribute.expression.span;
    if version::name_prerelease(&constraints, attribute) {
        decoding.report(version::prerelease("OpenTofu", span));
        return;
    }
    if constraints.allow(&BEFORE) {
        let detail = "OpenTofu before 1.12 does not know this block, and fails here whatever is written in it. Leave these versions out, \
                      such as with \">= 1.12\", or write required_version in a \"terraform\" block of a .tofu file.";
        decoding.report(Diagnostic::warning("Ineffective version constraint", detail).at(span));
    }
    let stands_for = &decoding.options.opentofu_version;
    if !constraints.allow(stands_for) {
        let detail = format!(
            "This module is written for OpenTofu {constraints}; this program stands for OpenTofu {stands_for}. Change the constraint, or \
             use a program version that meets it."
        );
        decoding.report(version::unsupported(version::UNSUPPORTED_OPENTOFU, detail).at(span));
    }
}
