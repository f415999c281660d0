//! Decoding of `required_providers` blocks.

use groma_address::{Name, ProviderAddress, ProviderPart};
use groma_diagnostics::{Diagnostic, Diagnostics, Span, did_you_mean};
use groma_hcl::{Attribute, Block, Expression};
use groma_value::{Type, convert};

use super::context::Decoding;
use super::{literal, name, provider, syntax, version};
use crate::model::{LocalProvider, RequiredProvider, default_provider};
use crate::version::Constraints;

/// The entries of a `required_providers` block.
#[derive(Debug)]
pub(crate) struct RequiredProviders {
    pub(crate) entries: Vec<RequiredProvider>,
    pub(crate) span: Span,
}

/// Decodes all entries; invalid ones are reported and dropped.
pub(super) fn decode(block: &Block, decoding: &mut Decoding<'_>) -> RequiredProviders {
    let before = decoding.diagnostics.len();
    let (attributes, diagnostics) = block.body.attributes();
    decoding.diagnostics.append(diagnostics);
    let entries = attributes.iter().filter_map(|attribute| entry(attribute, decoding)).collect();
    // With an invalid entry, local names may resolve to the wrong providers.
    decoding.incomplete |= decoding.diagnostics.iter().skip(before).any(Diagnostic::is_error);
    RequiredProviders { entries, span: block.header }
}

fn entry(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<RequiredProvider> {
    let (local_name, expression) = (&attribute.name.name, &attribute.expression);
    // Without a source the local name is also the provider's type.
    let is_fine = match expression.as_object() {
        Some(_) => name::provider_name(local_name, expression.span, decoding),
        None => name::provider_type(local_name, expression.span, decoding),
    };
    if !is_fine {
        return None;
    }
    let mut required = RequiredProvider {
        name: local_name.clone(),
        address: default_provider(local_name, &decoding.options.default_registry),
        version: Constraints::default(),
        version_span: Span::NONE,
        aliases: Vec::new(),
        span: attribute.span(),
    };
    if let Some(items) = expression.as_object() {
        for item in items {
            property(&item.key, &item.value, &mut required, decoding);
        }
        return Some(required);
    }
    let is_text = literal::constant(expression)
        .is_ok_and(|value| convert::convert(&value, &Type::String).is_ok_and(|text| !text.is_null()));
    if is_text {
        required.version = version::of_provider(attribute, decoding).unwrap_or_default();
        required.version_span = expression.span;
        return Some(required);
    }
    decoding.error(
        expression.span,
        "Invalid required_providers object",
        "A provider requirement must be an object such as { source = \"hashicorp/aws\", version = \"~> 5.0\" }, or a version \
         constraint as a string.",
    );
    None
}

fn property(key: &Expression, value: &Expression, required: &mut RequiredProvider, decoding: &mut Decoding<'_>) {
    // The parser has reported the syntax error.
    if syntax::is_invalid(value) {
        return;
    }
    let key_text = match key.as_static_string().map(Ok).unwrap_or_else(|| evaluated_key(key)) {
        Ok(text) => text,
        Err(problems) => return decoding.diagnostics.append(problems),
    };
    match &*key_text {
        "version" => version_property(required, value, decoding),
        "source" => source(required, value, decoding),
        "configuration_aliases" => configuration_aliases(required, value, decoding),
        other => {
            let meant = did_you_mean(other, ["source", "version", "configuration_aliases"]);
            let detail = format!(
                "A provider requirement can have the attributes \"source\", \"version\" and \"configuration_aliases\".{meant} To \
                 configure a provider, write a \"provider\" block."
            );
            decoding.error(key.span, "Invalid required_providers object", detail);
        }
    }
}

/// Evaluates a key that is not a plain string.
fn evaluated_key(key: &Expression) -> Result<Name, Diagnostics> {
    let value = literal::constant(key)?;
    value.as_str().map(Name::from).ok_or_else(|| {
        let detail =
            "The attributes of a provider requirement are \"source\", \"version\" and \"configuration_aliases\".";
        Diagnostic::error("Invalid Attribute", detail).at(key.span).into()
    })
}

fn version_property(required: &mut RequiredProvider, value: &Expression, decoding: &mut Decoding<'_>) {
    let Some(text) = value.as_static_string() else {
        decoding.error(value.span, "Invalid version constraint", "The version constraint must be a quoted string.");
        return;
    };
    if let Some(constraints) = version::parse_of_provider(&text, value.span, decoding) {
        required.version = constraints;
        required.version_span = value.span;
    }
}

fn source(required: &mut RequiredProvider, value: &Expression, decoding: &mut Decoding<'_>) {
    let Some(text) = value.as_static_string() else {
        decoding.error(value.span, "Invalid source", "The source address must be a quoted string.");
        return;
    };
    match ProviderAddress::parse(&text, &decoding.options.default_registry) {
        Ok(address) => required.address = address,
        Err(error) => {
            let summary = match error.part {
                ProviderPart::Source => "Invalid provider source string",
                ProviderPart::Host => "Invalid provider source hostname",
                ProviderPart::Namespace => "Invalid provider namespace",
                ProviderPart::Name => "Invalid provider type",
            };
            decoding.error(value.span, summary, error.to_string());
        }
    }
}

fn configuration_aliases(required: &mut RequiredProvider, value: &Expression, decoding: &mut Decoding<'_>) {
    let Some(elements) = syntax::list(value, decoding) else { return };
    for element in elements {
        let reference = match syntax::index_of_word(element) {
            Some(_) => None,
            None => {
                let Some(traversal) = syntax::address(element, decoding) else { continue };
                provider::from_traversal(&traversal)
            }
        };
        let Some(reference) = reference else {
            decoding.error(
                element.span,
                "Invalid configuration_aliases value",
                "An alias must be the provider's local name, a dot and the alias: aws.west.",
            );
            continue;
        };
        // The alias belongs to this entry's provider; another local name is most likely a typo.
        if reference.name != required.name {
            decoding.error(
                element.span,
                "Invalid configuration_aliases value",
                format!(
                    "Aliases of this provider must begin with its local name {:?}, but this one begins with {:?}.",
                    required.name, reference.name
                ),
            );
            continue;
        }
        required.aliases.push(LocalProvider { name: reference.name, alias: reference.alias });
    }
}
