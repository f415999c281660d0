//! OpenTofu's `language` blocks: requirements of a module on the language.

use std::sync::LazyLock;

use groma_diagnostics::Diagnostic;
use groma_hcl::{Attribute, Block, BodySchema};

use super::context::Decoding;
use super::{syntax, version};
use crate::version::Version;

static LANGUAGE: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().optional("edition").optional("experiments").block("compatible_with", &[]));

static COMPATIBLE_WITH: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().optional("opentofu"));

/// The only supported edition.
const EDITION: &str = "tofu2024";

/// The last OpenTofu version that does not support language blocks.
static BEFORE: LazyLock<Version> = LazyLock::new(|| Version::new(1, 11, 0));

/// Checks a `language` block, which has no effect after loading.
pub(super) fn check(block: &Block, decoding: &mut Decoding<'_>) {
    if decoding.is_override() {
        decoding.error(
            block.header,
            "Language selections in override file",
            "Language requirements cannot be overridden. Move the block to a file that is not an override file.",
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
        // The block may contain arguments for other programs.
        let (content, _) = decoding.partial_content(&nested.body, &COMPATIBLE_WITH);
        if let Some(first) = &constraint {
            let location = decoding.location(first.expression.span);
            decoding.error(
                nested.header,
                "Duplicate compatible_with block",
                format!(
                    "The compatible OpenTofu versions are already set at {location}. Remove one of the two blocks."
                ),
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
    let advice =
        format!("The only supported edition is {EDITION}. Remove the argument, or set it to {EDITION} without quotes.");
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
                let detail = format!("The experiment {name:?} does not exist. Remove it from the list.");
                decoding.error(element.span, "Unknown experiment keyword", detail);
            }
            None => decoding.error(
                element.span,
                "Invalid experiment keyword",
                "An experiment must be a keyword without quotes.",
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
        let detail = "OpenTofu before 1.12 does not support this block and fails regardless of its content. Exclude these versions, for \
                      example with \">= 1.12\", or set required_version in a \"terraform\" block of a .tofu file.";
        decoding.report(Diagnostic::warning("Ineffective version constraint", detail).at(span));
    }
    let supported = &decoding.options.opentofu_version;
    if !constraints.allow(supported) {
        let detail = format!(
            "This module requires OpenTofu {constraints}, but this program implements OpenTofu {supported}. Change the constraint, or \
             use a program version that satisfies it."
        );
        decoding.report(version::unsupported(version::UNSUPPORTED_OPENTOFU, detail).at(span));
    }
}
