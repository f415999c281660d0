//! The `required_providers` block.

use groma_address::{Name, ProviderAddress, is_identifier};
use groma_diagnostics::Span;
use groma_hcl::{Attribute, Block, Expression};
use groma_value::{Type, convert};

use super::{Decoding, RequiredProviders, literal, name, provider, syntax, terraform};
use crate::model::{LocalProvider, RequiredProvider, default_provider};
use crate::version::Constraints;

/// Decodes all entries; wrong ones are reported and left out.
pub(super) fn decode(block: &Block, decoding: &mut Decoding<'_>) -> RequiredProviders {
    let (attributes, diagnostics) = block.body.attributes();
    decoding.diagnostics.append(diagnostics);
    let entries = attributes.iter().filter_map(|attribute| entry(attribute, decoding)).collect();
    RequiredProviders { entries, span: block.header }
}

fn entry(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<RequiredProvider> {
    let local_name = &attribute.name.name;
    if !provider_name(local_name, attribute.expression.span, decoding) {
        return None;
    }
    let mut required = RequiredProvider {
        name: local_name.clone(),
        address: default_provider(local_name, &decoding.options.default_registry),
        version: Constraints::default(),
        version_span: Span::NONE,
        aliases: Vec::new(),
        span: attribute.span,
    };
    let expression = &attribute.expression;
    if let Some(items) = expression.as_object() {
        for item in items {
            property(&item.key, &item.value, &mut required, decoding);
        }
        return Some(required);
    }
    let is_text = literal::constant(expression).is_ok_and(|value| convert::convert(&value, &Type::String).is_ok());
    if is_text {
        required.version = terraform::version_constraints(attribute, decoding).unwrap_or_default();
        required.version_span = expression.span;
        return Some(required);
    }
    decoding.error(
        expression.span,
        "Invalid required_providers object",
        "A provider requirement is an object such as { source = \"hashicorp/aws\", version = \"~> 5.0\" }, or just the version \
         constraint as a string.",
    );
    None
}

fn property(key: &Expression, value: &Expression, required: &mut RequiredProvider, decoding: &mut Decoding<'_>) {
    let key_text = key.as_static_string();
    match key_text.as_deref() {
        Some("version") => version(required, value, decoding),
        Some("source") => source(required, value, decoding),
        Some("configuration_aliases") => configuration_aliases(required, value, decoding),
        _ => decoding.error(
            key.span,
            "Invalid required_providers object",
            "A provider requirement has the attributes \"source\", \"version\" and \"configuration_aliases\". To configure \
             a provider, write a \"provider\" block.",
        ),
    }
}

fn version(required: &mut RequiredProvider, value: &Expression, decoding: &mut Decoding<'_>) {
    let Some(text) = value.as_static_string() else {
        decoding.error(value.span, "Invalid version constraint", "Write the version constraint as a string in quotes.");
        return;
    };
    if let Some(constraints) = terraform::parse_constraints(&text, value.span, decoding) {
        required.version = constraints;
        required.version_span = value.span;
    }
}

fn source(required: &mut RequiredProvider, value: &Expression, decoding: &mut Decoding<'_>) {
    let Some(text) = value.as_static_string() else {
        decoding.error(value.span, "Invalid source", "Write the provider's source address as a string in quotes.");
        return;
    };
    match ProviderAddress::parse(&text, &decoding.options.default_registry) {
        Ok(address) => required.address = address,
        Err(error) => decoding.error(value.span, "Invalid provider source string", error.to_string()),
    }
}

fn configuration_aliases(required: &mut RequiredProvider, value: &Expression, decoding: &mut Decoding<'_>) {
    let Some(elements) = syntax::list(value, decoding) else { return };
    for element in elements {
        let Some(traversal) = syntax::traversal(element, decoding) else { continue };
        let Some(reference) = provider::from_traversal(&traversal) else {
            decoding.error(
                element.span,
                "Invalid configuration_aliases value",
                "An alias is written as the provider's local name, a dot and the alias: aws.west.",
            );
            continue;
        };
        if reference.name != required.name {
            decoding.error(
                element.span,
                "Invalid configuration_aliases value",
                format!(
                    "Aliases of this provider begin with its local name {:?}, and this one begins with {:?}.",
                    required.name, reference.name
                ),
            );
            continue;
        }
        required.aliases.push(LocalProvider { name: reference.name, alias: reference.alias });
    }
}

/// Reports a local provider name that is no name, or not in lower case.
pub(super) fn provider_name(local_name: &Name, span: Span, decoding: &mut Decoding<'_>) -> bool {
    let normal = local_name.to_lowercase();
    if !is_identifier(local_name) {
        decoding.error(
            span,
            "Invalid provider local name",
            format!("{local_name:?} is no provider name. {}", name::RULE),
        );
        return false;
    }
    if *normal != **local_name {
        decoding.error(
            span,
            "Invalid provider local name",
            format!("Provider names are written in lower case: {normal:?} instead of {local_name:?}."),
        );
        return false;
    }
    true
}
