//! `run` blocks.

use std::sync::LazyLock;

use groma_diagnostics::{Diagnostic, Span};
use groma_hcl::{Attribute, Block, BodySchema, Traversal};
use groma_lang::{Reference, parse_reference};

use super::{RunContent, one_keyword, only_one, overriding, refuse_skipped_cleanup, values};
use crate::decode::context::Decoding;
use crate::decode::{condition, literal, module_call, name, output, version};
use crate::model::{LocalProvider, PassedProvider, RunModule};
use crate::module_source::ModuleSource;
use crate::version::Constraints;

static RUN: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .optional("command")
        .optional("expect_failures")
        .optional("parallel")
        .optional("providers")
        .optional("skip_cleanup")
        .optional("state_key")
        .block("assert", &[])
        .block("backend", &["type"])
        .block("module", &[])
        .block("override_data", &[])
        .block("override_module", &[])
        .block("override_resource", &[])
        .block("plan_options", &[])
        .block("variables", &[])
});

static PLAN_OPTIONS: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().optional("mode").optional("refresh").optional("replace").optional("target"));

static MODULE: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().optional("source").optional("version"));

/// Decodes a `run` block; `declared` contains the provider configurations of the file.
pub(super) fn run(
    block: &Block,
    declared: &[(LocalProvider, Span)],
    decoding: &mut Decoding<'_>,
) -> Option<RunContent> {
    let label = block.labels.first()?;
    name::check(label, "run block name", decoding);
    let content = decoding.content(&block.body, &RUN);
    if let Some(attribute) = content.get("command") {
        one_keyword(attribute, ["plan", "apply"], "Invalid \"command\" keyword", decoding);
    }
    if let Some(attribute) = content.get("expect_failures") {
        expect_failures(attribute, decoding);
    }
    if let Some(attribute) = content.get("parallel") {
        literal::boolean(attribute, decoding);
    }
    if let Some(attribute) = content.get("state_key") {
        literal::string(attribute, decoding);
    }
    let providers = content.get("providers").map(|attribute| passed_providers(attribute, declared, decoding));
    refuse_skipped_cleanup(&content, decoding);
    if let Some(block) = only_one(&content, "plan_options", decoding) {
        plan_options(block, decoding);
    }
    if let Some(block) = only_one(&content, "variables", decoding) {
        values(block, decoding);
    }
    let module = only_one(&content, "module", decoding).and_then(|block| module(block, decoding));
    for block in content.blocks_of("assert") {
        // Decoded only for its errors: tests are not executed here.
        condition::condition(block, decoding);
    }
    for block in content.blocks_of("backend") {
        let detail = "Test states are kept in memory. Remove the block.";
        decoding.error(block.header, "Invalid block", detail);
    }
    let overrides = overriding::blocks(&content, decoding);
    Some(RunContent { name: label.value.clone(), module, providers: providers.unwrap_or_default(), overrides })
}

/// Checks `expect_failures`: references to objects with conditions.
fn expect_failures(attribute: &Attribute, decoding: &mut Decoding<'_>) {
    for traversal in output::depends_on(attribute, decoding) {
        if let Err(problem) = has_conditions(&traversal) {
            decoding.report(*problem);
        }
    }
}

fn has_conditions(traversal: &Traversal) -> Result<(), Box<Diagnostic>> {
    let target = parse_reference(traversal).map_err(Box::new)?.target;
    // `output.x` and `check.x` are no references of the language, so they parse as resources, like `run.x`.
    let is_run = &*traversal.root.name == "run";
    if !is_run && matches!(target, Reference::Variable(_) | Reference::Resource(_)) {
        return Ok(());
    }
    let detail = "Only objects with conditions can be expected to fail: input variables, outputs, check blocks, resources and data sources.";
    Err(Box::new(Diagnostic::error("Invalid `expect_failures` reference", detail).at(traversal.span)))
}

fn passed_providers(
    attribute: &Attribute,
    declared: &[(LocalProvider, Span)],
    decoding: &mut Decoding<'_>,
) -> Vec<PassedProvider> {
    let found = module_call::providers(attribute, decoding);
    // A run can use only the provider configurations of its own file.
    for parent in found.iter().map(|passed| &passed.parent) {
        if !declared.iter().any(|(provider, _)| *provider == parent.provider) {
            let detail =
                "No provider or mock_provider block of this file declares this configuration. Add a block for it.";
            decoding.error(parent.span, format!("Missing provider definition for {}", parent.provider), detail);
        }
    }
    found
}

fn plan_options(block: &Block, decoding: &mut Decoding<'_>) {
    let content = decoding.content(&block.body, &PLAN_OPTIONS);
    let mode = content
        .get("mode")
        .and_then(|attribute| one_keyword(attribute, ["normal", "refresh-only"], "Invalid \"mode\" keyword", decoding));
    if let Some(attribute) = content.get("refresh") {
        let refresh = literal::boolean(attribute, decoding);
        if refresh == Some(false) && mode.as_deref() == Some("refresh-only") {
            let detail = "mode = refresh-only requires a refresh. Remove one of the two arguments.";
            decoding.error(attribute.name.span, "Incompatible plan options", detail);
        }
    }
    for addresses in ["replace", "target"].iter().filter_map(|name| content.get(name)) {
        output::depends_on(addresses, decoding);
    }
}

/// Decodes the `module` block of a run.
fn module(block: &Block, decoding: &mut Decoding<'_>) -> Option<RunModule> {
    let content = decoding.content(&block.body, &MODULE);
    let version = content.get("version");
    // Decoded first, so that an invalid version is reported even without a source.
    let constraints = version.map(|attribute| version::of_module(attribute, decoding));
    let Some(source) = content.get("source") else {
        let detail = "Set the module's source: a directory such as \"./setup\", or a registry module.";
        decoding.error(block.header, "Missing \"source\" attribute for module block", detail);
        return None;
    };
    let text = literal::string(source, decoding)?;
    let wrong = match ModuleSource::parse(&text) {
        Ok(ModuleSource::Local(_)) if version.is_some() => {
            "Only registry modules have versions. Remove the \"version\" argument.".into()
        }
        Ok(ModuleSource::Package(_)) => "Test modules must be local directories or registry modules.".into(),
        // An invalid version has been reported.
        Ok(found) => {
            let version = constraints.unwrap_or_else(|| Some(Constraints::default()))?;
            return Some(RunModule { source: found, version, block: block.header, span: source.expression.span });
        }
        Err(problem) => problem.to_string(),
    };
    let summary = match version {
        Some(_) => "Invalid registry module source address",
        None => "Invalid module source address",
    };
    decoding.error(source.expression.span, summary, wrong);
    None
}
