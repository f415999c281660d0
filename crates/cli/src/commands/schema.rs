//! `providers schema`: prints the schemas of the required providers.

use std::sync::PoisonError;

use groma_address::ProviderAddress;
use groma_diagnostics::Diagnostics;
use groma_provider::ProviderDiagnostics;

use super::configuration::{Purpose, load};
use super::context::Context;
use super::lookup::Lookup;
use super::outcome::{Outcome, fail};
use crate::arguments::{Flag, Schema};
use crate::views::document::provider_json;
use crate::views::json::write_compact;

pub(super) fn run(context: &mut Context, arguments: &Schema) -> Outcome {
    context.configure_view(&arguments.common.view);
    if !arguments.json.is_some_and(Flag::is_on) {
        return Err(fail("The -json flag is required", "The schemas are only available as JSON. Add -json."));
    }
    let (configuration, _) = load(context, Purpose::Blocks)?;
    let mut lookup = Lookup::with_descriptions(context)?;
    let mut schemas = serde_json::Map::new();
    let mut addresses: Vec<_> = configuration.provider_requirements().keys().cloned().collect();
    addresses.sort_by_key(|address| address.to_string());
    for address in addresses {
        let provider = lookup.provider(&address)?;
        let json = provider_json(&**provider).map_err(|problems| not_given(&address, &problems))?;
        schemas.insert(address.to_string(), json);
    }
    let mut document = serde_json::Map::new();
    document.insert("format_version".into(), "1.0".into());
    if !schemas.is_empty() {
        document.insert("provider_schemas".into(), serde_json::Value::Object(schemas));
    }
    let mut out = context.streams.documents().lock().unwrap_or_else(PoisonError::into_inner);
    let _ = write_compact(&document, &mut *out).and_then(|()| out.write_all(b"\n"));
    Ok(0)
}

fn not_given(address: &ProviderAddress, problems: &ProviderDiagnostics) -> Diagnostics {
    let reasons: String = problems.iter().map(|problem| format!("\n  - {problem}")).collect();
    fail(
        "Failed to read a provider's schemas",
        format!("The provider {address} failed to return its schemas:{reasons}"),
    )
}
