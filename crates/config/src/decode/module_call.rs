//! `module` blocks.

use std::sync::LazyLock;

use groma_diagnostics::Diagnostic;
use groma_hcl::{Attribute, Block, BodySchema, Content, Expression, ObjectItem};

use super::context::{Decoding, Dialect};
use super::meta::{duplicate_lifecycle, expression_of};
use super::{literal, meta, name, output, provider, syntax, version};
use crate::model::{LocalProvider, ModuleCall, PassedProvider, Product};
use crate::module_source::ModuleSource;

static MODULE: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .required("source")
        .optional("version")
        .optional("count")
        .optional("for_each")
        .optional("providers")
        .optional("depends_on")
        .optional("ignore_nested_deprecations")
        // The escape block: its arguments are inputs even if they are named like meta-arguments.
        .block("_", &[])
        .block("lifecycle", &[])
        .reserved("locals")
        .block("provider", &["type"])
});

static LIFECYCLE: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().optional("enabled"));

/// Whether `name` is a meta-argument or block of a module block, so that no input can have it.
pub(super) fn is_meta_argument(name: &str) -> bool {
    MODULE.attributes.iter().any(|attribute| &*attribute.name == name)
        || MODULE.blocks.iter().any(|block| &*block.kind == name)
}

/// Decodes a `module` block.
pub(super) fn module_call(block: &Block, decoding: &mut Decoding<'_>) -> Option<ModuleCall> {
    let label = block.labels.first()?;
    let (content, body) = decoding.partial_content(&block.body, &MODULE);
    name::check(label, "module instance name", decoding);
    let (count, for_each) = (content.get("count"), content.get("for_each"));
    let enabled = nested_blocks(&content, decoding);
    meta::one_repetition(
        &[("count", count), ("for_each", for_each), ("enabled", enabled.as_ref())],
        "modules",
        decoding,
    );
    // With a syntax error in either, the requested module is unknown.
    let mut arguments = ["source", "version"].into_iter().filter_map(|name| content.get(name));
    let is_unparsed = arguments.any(|attribute| decoding.unparsed.is_in(attribute.expression.span));
    let source_argument = content.get("source").filter(|_| !is_unparsed);
    // In OpenTofu, a null version means that the argument is not set.
    let is_version = |attribute: &&Attribute| !is_unparsed && !is_null(&attribute.expression);
    let version_argument = content.get("version").filter(is_version);
    let source = source_argument.and_then(|attribute| constant_source(attribute, version_argument, decoding));
    let version = match version_argument {
        Some(attribute) if is_constant(&attribute.expression) => version::of_module(attribute, decoding),
        _ => None,
    };
    let body = meta::with_escape_block(&content, body, "module", decoding);
    Some(ModuleCall {
        name: label.value.clone(),
        source,
        source_expression: expression_of(source_argument),
        version: version.unwrap_or_default(),
        version_expression: expression_of(version_argument),
        body,
        count: expression_of(count),
        for_each: expression_of(for_each),
        written_for: written_for(enabled.as_ref(), decoding),
        enabled: expression_of(enabled.as_ref()),
        providers: content.get("providers").map(|a| providers(a, decoding)).unwrap_or_default(),
        ignore_nested_deprecations: content
            .get("ignore_nested_deprecations")
            .and_then(|attribute| literal::boolean(attribute, decoding))
            .unwrap_or_default(),
        depends_on: content.get("depends_on").map(|a| output::depends_on(a, decoding)).unwrap_or_default(),
        has_depends_on: content.get("depends_on").is_some(),
        span: block.header,
    })
}

fn written_for(enabled: Option<&Attribute>, decoding: &Decoding<'_>) -> Product {
    match (enabled, decoding.dialect) {
        (Some(_), _) | (_, Dialect::OpenTofu) => Product::OpenTofu,
        (None, Dialect::Terraform) => Product::Terraform,
    }
}

/// Returns the reason why a module from `source` cannot have a version; `None` for registry modules, which can.
pub(crate) fn versionless(source: &ModuleSource) -> Option<String> {
    let what = match source {
        ModuleSource::Local(_) => "a directory",
        ModuleSource::Package(_) => "not a registry address",
        ModuleSource::Registry(_) => return None,
    };
    Some(format!("Only registry modules have versions, but this source is {what}. Remove the \"version\" argument."))
}

fn is_constant(expression: &Expression) -> bool {
    literal::constant_template(expression).is_ok()
}

fn is_null(expression: &Expression) -> bool {
    literal::constant_template(expression).is_ok_and(|value| value.is_null())
}

/// Parses the source unless it refers to variables, which early evaluation handles.
fn constant_source(
    attribute: &Attribute,
    version: Option<&Attribute>,
    decoding: &mut Decoding<'_>,
) -> Option<ModuleSource> {
    if !is_constant(&attribute.expression) {
        return None;
    }
    const WRONG: &str = "Incorrect value type";
    if is_null(&attribute.expression) {
        decoding.error(
            attribute.expression.span,
            WRONG,
            "The source must not be null. Set it to the address of a module.",
        );
    }
    let text = literal::template_or(attribute, WRONG, decoding)?;
    match ModuleSource::parse(&text) {
        Ok(source) => Some(source),
        Err(detail) => {
            // A version shows that a registry module is meant.
            let summary = match version {
                Some(_) => "Invalid registry module source address",
                None => "Invalid module source address",
            };
            decoding.error(attribute.expression.span, summary, detail.to_string());
            None
        }
    }
}

/// Decodes `lifecycle { enabled }`, and reports reserved blocks.
fn nested_blocks(content: &Content, decoding: &mut Decoding<'_>) -> Option<Attribute> {
    let mut lifecycle: Option<&Block> = None;
    for block in &content.blocks {
        match &*block.kind.name {
            "_" => {}
            "lifecycle" => match lifecycle {
                Some(first) => duplicate_lifecycle(block, first.header, "module", decoding),
                None => lifecycle = Some(block),
            },
            _ => meta::reserved_block(block, "module", decoding),
        }
    }
    let content = decoding.content(&lifecycle?.body, &LIFECYCLE);
    content.get("enabled").cloned()
}

/// Decodes the `providers` argument.
pub(super) fn providers(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Vec<PassedProvider> {
    let Some(items) = attribute.expression.as_object() else {
        decoding.error(
            attribute.expression.span,
            "Invalid expression",
            "The value must be an object that maps the child module's provider names to provider configurations of this module.",
        );
        return Vec::new();
    };
    let mut passed: Vec<PassedProvider> = Vec::with_capacity(items.len());
    for item in items {
        let Some(entry) = passed_provider(item, decoding) else { continue };
        if let Some(first) = passed.iter().find(|other| other.child == entry.child) {
            let location = decoding.location(first.child_span);
            decoding.report(
                Diagnostic::error(
                    "Duplicate provider address",
                    format!(
                        "{} already has a provider configuration at {location}. Remove one of the two.",
                        entry.child
                    ),
                )
                .at(entry.parent.span),
            );
            continue;
        }
        passed.push(entry);
    }
    passed
}

fn passed_provider(item: &ObjectItem, decoding: &mut Decoding<'_>) -> Option<PassedProvider> {
    let child = child_provider(&item.key, decoding)?;
    // The parser turns a bare key into a string, so only the source text shows quotes.
    let is_quoted = decoding.sources.text(item.key.span).is_some_and(|text| text.starts_with('"'));
    if is_quoted && !decoding.is_json(item.key.span) {
        syntax::warn_of_quotes(&item.key, "reference", decoding);
    }
    let parent = provider::reference(&item.value, "providers", decoding)?;
    Some(PassedProvider { child, child_span: item.key.span, parent })
}

/// Decodes a key of the `providers` argument.
fn child_provider(key: &Expression, decoding: &mut Decoding<'_>) -> Option<LocalProvider> {
    let Some(provider) = key.as_traversal().and_then(|traversal| provider::from_traversal(&traversal)) else {
        decoding.error(
            key.span,
            "Invalid provider configuration reference",
            "Write the child module's local name of the provider, optionally with a dot and an alias: aws or aws.west.",
        );
        return None;
    };
    name::provider_name(&provider.name, key.span, decoding).then_some(provider)
}
