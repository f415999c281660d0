//! `run` blocks.

use std::sync::LazyLock;

use groma_diagnostics::{Diagnostic, Span};
use groma_hcl::{Attribute, Block, BodySchema, Traversal};
use groma_lang::{Reference, parse_reference};

use super::{RunContent, one_word, only_one, overriding, refuse_skipped_cleanup, values};
use crate::decode::context::Decoding;
use crate::decode::{condition, depends_on, literal, module_call, name, version};
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

/// Decodes a `run` block; `declared` are the configurations that the file has.
pub(super) fn run(
    block: &Block,
    declared: &[(LocalProvider, Span)],
    decoding: &mut Decoding<'_>,
) -> Option<RunContent> {
    let label = block.labels.first()?;
    name::check(label, "run block name", decoding);
    let content = decoding.content(&block.body, &RUN);
    if let Some(attribute) = content.get("command") {
        one_word(attribute, ["plan", "apply"], "Invalid \"command\" keyword", decoding);
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
        condition::condition(block, decoding);
    }
    for block in content.blocks_of("backend") {
        let detail = "The states of tests are kept in memory. Remove the block.";
        decoding.error(block.header, "Invalid block", detail);
    }
    let overrides = overriding::blocks(&content, decoding);
    Some(RunContent { name: label.value.clone(), module, providers: providers.unwrap_or_default(), overrides })
}

/// Decodes `expect_failures`: objects with conditions that must fail for the test to pass.
fn expect_failures(attribute: &Attribute, decoding: &mut Decoding<'_>) {
    for traversal in depends_on::depends_on(attribute, decoding) {
        if let Err(problem) = has_conditions(&traversal) {
            decoding.report(*problem);
        }
    }
}

fn has_conditions(traversal: &Traversal) -> Result<(), Box<Diagnostic>> {
    let target = parse_reference(traversal).map_err(Box::new)?.target;
    // To the language outputs and checks are no names, so that they look like resources, as runs do.
    let is_run = &*traversal.root.name == "run";
    if !is_run && matches!(target, Reference::Variable(_) | Reference::Resource(_)) {
        return Ok(());
    }
    let detail = "Only what has conditions can fail them: input variables, outputs, check blocks, resources and data.";
    Err(Box::new(Diagnostic::error("Invalid `expect_failures` reference", detail).at(traversal.span)))
}

fn passed_providers(
    attribute: &Attribute,
    declared: &[(LocalProvider, Span)],
    decoding: &mut Decoding<'_>,
) -> Vec<PassedProvider> {
    let found = module_call::providers(attribute, decoding);
    for parent in found.iter().map(|passed| &passed.parent) {
        if !declared.iter().any(|(provider, _)| *provider == parent.provider) {
            let detail =
                "No provider or mock_provider block of this file declares it. Add one, with an alias if need be.";
            decoding.error(parent.span, format!("Missing provider definition for {}", parent.provider), detail);
        }
    }
    found
}

fn plan_options(block: &Block, decoding: &mut Decoding<'_>) {
    let content = decoding.content(&block.body, &PLAN_OPTIONS);
    let mode = content
        .get("mode")
        .and_then(|attribute| one_word(attribute, ["normal", "refresh-only"], "Invalid \"mode\" keyword", decoding));
    if let Some(attribute) = content.get("refresh") {
        let refresh = literal::boolean(attribute, decoding);
        if refresh == Some(false) && mode.as_deref() == Some("refresh-only") {
            let detail =
                "A plan that does nothing but refresh cannot be made without. Remove one of the two arguments.";
            decoding.error(attribute.name.span, "Incompatible plan options", detail);
        }
    }
    for addresses in ["replace", "target"].iter().filter_map(|name| content.get(name)) {
        depends_on::depends_on(addresses, decoding);
    }
}

/// Decodes the module that a run tests instead of the configuration.
fn module(block: &Block, decoding: &mut Decoding<'_>) -> Option<RunModule> {
    let content = decoding.content(&block.body, &MODULE);
    let version = content.get("version");
    let constraints = version.map(|attribute| version::of_module(attribute, decoding));
    let Some(source) = content.get("source") else {
        let detail = "Say where the module comes from: a folder such as \"./setup\", or a registry.";
        decoding.error(block.header, "Missing \"source\" attribute for module block", detail);
        return None;
    };
    let text = literal::string(source, decoding)?;
    let wrong = match ModuleSource::parse(&text) {
        Ok(ModuleSource::Local(_)) if version.is_some() => {
            "Only modules of a registry have versions. Remove the \"version\" argument.".into()
        }
        Ok(ModuleSource::Package(_)) => "The modules of tests come from folders and registries only.".into(),
        // A version that cannot be read has been reported.
        Ok(found) => {
            let version = constraints.unwrap_or_else(|| Some(Constraints::default()))?;
            return Some(RunModule { source: found, version, block: block.header, span: source.expression.span });
        }
        Err(detail) => detail,
    };
    let summary = match version {
        Some(_) => "Invalid registry module source address",
        None => "Invalid module source address",
    };
    decoding.error(source.expression.span, summary, wrong);
    None
}
