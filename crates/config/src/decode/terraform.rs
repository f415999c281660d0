//! The `terraform` block.

use std::sync::LazyLock;

use groma_diagnostics::Diagnostic;
use groma_hcl::{Attribute, Block, BodySchema, Content};
use indexmap::IndexMap;

use super::content::{FileContent, RequiredVersion};
use super::context::{Decoding, Dialect};
use super::version::{UNSUPPORTED_OPENTOFU, UNSUPPORTED_TERRAFORM, version_constraints};
use super::{encryption, literal, name, required_providers, version};
use crate::model::{Backend, ProviderMeta, VersionRequirement};

static TERRAFORM: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .optional("required_version")
        .optional("experiments")
        .optional("language")
        .block("backend", &["type"])
        .block("state_store", &["type"])
        .block("cloud", &[])
        .block("required_providers", &[])
        .block("provider_meta", &["provider"])
        .block("encryption", &[])
});

/// Decodes a `terraform` block into `file`.
pub(super) fn terraform(block: &Block, file: &mut FileContent, decoding: &mut Decoding<'_>) {
    let content = decoding.content(&block.body, &TERRAFORM);
    settings_arguments(&content, file, decoding);
    for nested in &content.blocks {
        match &*nested.kind.name {
            "backend" => file.backends.extend(backend(nested)),
            "state_store" => decoding.error(
                nested.kind.span,
                "Unsupported block type",
                "State stores of providers are an experiment that no released version of Terraform supports. Nothing was read or \
                 written. Use a \"backend\" block instead.",
            ),
            "cloud" => file.clouds.push(cloud(nested)),
            "required_providers" => file.required_providers.push(required_providers::decode(nested, decoding)),
            "provider_meta" => file.provider_metas.extend(provider_meta(nested, decoding)),
            "encryption" => file.encryptions.push(encryption::encryption(nested, decoding)),
            _ => {}
        }
    }
}

fn settings_arguments(content: &Content, file: &mut FileContent, decoding: &mut Decoding<'_>) {
    if let Some(attribute) = content.get("required_version") {
        file.required_versions.extend(required_version(attribute, decoding));
    }
    if let Some(attribute) = content.get("language") {
        language_edition(attribute, decoding);
    }
    if let Some(attribute) = content.get("experiments") {
        experiments(attribute, decoding);
    }
}

/// Decodes `required_version`, and checks it against the version that this program implements.
fn required_version(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<RequiredVersion> {
    let constraints = version_constraints(attribute, decoding)?;
    let span = attribute.expression.span;
    let (product, current, summary) = match decoding.dialect {
        Dialect::Terraform => ("Terraform", &decoding.options.terraform_version, UNSUPPORTED_TERRAFORM),
        Dialect::OpenTofu => ("OpenTofu", &decoding.options.opentofu_version, UNSUPPORTED_OPENTOFU),
    };
    if version::name_prerelease(&constraints, attribute) {
        let problem = Some(version::prerelease(product, attribute.span()));
        return Some(RequiredVersion { requirement: VersionRequirement { constraints, span }, problem });
    }
    // Not reported yet: an override file may replace the requirement.
    let problem = (!constraints.allow(current)).then(|| {
        let detail = format!(
            "This configuration requires {product} {constraints}, but this program implements {product} {current}. Change the \
             requirement, or use a program version that satisfies it."
        );
        version::unsupported(summary, detail).at(attribute.span())
    });
    Some(RequiredVersion { requirement: VersionRequirement { constraints, span }, problem })
}

/// Checks the `language` argument. OpenTofu ignores it, because it cannot know Terraform's editions.
fn language_edition(attribute: &Attribute, decoding: &mut Decoding<'_>) {
    if decoding.dialect == Dialect::OpenTofu {
        return;
    }
    let summary = match attribute.expression.as_keyword().as_deref() {
        Some("TF2021") => return,
        Some(_) => "Unsupported language edition",
        None => "Invalid language edition",
    };
    decoding.error(
        attribute.expression.span,
        summary,
        "The only supported edition is TF2021. Remove the argument, or set it to TF2021 without quotes.",
    );
}

/// Warns about language experiments, which no released version supports. An empty list is valid.
fn experiments(attribute: &Attribute, decoding: &mut Decoding<'_>) {
    if attribute.expression.as_list().is_some_and(<[_]>::is_empty) {
        return;
    }
    decoding.report(
        Diagnostic::warning(
            "Experimental features ignored",
            "This configuration enables language experiments. They are ignored: the features are either part of the language by now \
             or unknown.",
        )
        .at(attribute.name.span),
    );
}

fn backend(block: &Block) -> Option<Backend> {
    let label = block.labels.first()?;
    Some(Backend {
        kind: label.value.clone(),
        body: block.body.clone(),
        // Filled by the loader, which evaluates the arguments early.
        known: IndexMap::new(),
        unusable: IndexMap::new(),
        kind_span: label.span,
        span: block.header,
    })
}

fn cloud(block: &Block) -> Backend {
    Backend {
        kind: Backend::CLOUD.into(),
        body: block.body.clone(),
        known: IndexMap::new(),
        unusable: IndexMap::new(),
        kind_span: block.header,
        span: block.header,
    }
}

/// Decodes a `provider_meta` block. Its arguments must be constant, because they are sent before anything is
/// evaluated.
fn provider_meta(block: &Block, decoding: &mut Decoding<'_>) -> Option<ProviderMeta> {
    let label = block.labels.first()?;
    name::provider_name(&label.value, block.header, decoding);
    let (attributes, diagnostics) = block.body.attributes();
    decoding.diagnostics.append(diagnostics);
    for attribute in attributes {
        if let Err(diagnostics) = literal::constant(&attribute.expression) {
            decoding.diagnostics.append(diagnostics);
        }
    }
    Some(ProviderMeta { name: label.value.clone(), body: block.body.clone(), span: block.header })
}
