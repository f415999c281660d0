//! What is needed to speak with registries: the client, the credentials, what hosts offer.

use std::path::Path;
use std::sync::Arc;

use groma_diagnostics::{Diagnostics, Sources};
use groma_hcl::{Body, BodySchema, parse_file};
use groma_install::credentials::{Credentials, Token, tokens_of_environment};
use groma_install::discovery::{Discovery, Services};
use groma_install::http::{Http, HttpOptions};
use groma_lang::evaluate_constant;
use serde_json::{Map, Value};

use super::context::Context;
use super::outcome::fail;

/// What the CLI configuration file says about hosts.
#[derive(Default)]
struct Hosts {
    services: Vec<Services>,
    tokens: Vec<(String, Token)>,
}

/// What hosts offer, as the settings and the network say.
///
/// # Errors
/// The HTTP client cannot be made.
pub(super) fn discovery(context: &Context) -> Result<Discovery, Diagnostics> {
    let http = Http::new(HttpOptions::default()).map_err(|error| fail("Network not usable", format!("{error}.")))?;
    let hosts = context.settings.cli_configuration.as_deref().map(read).unwrap_or_default();
    let environment: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let tokens = tokens_of_environment(&environment).into_iter().chain(hosts.tokens);
    Ok(Discovery::new(http, Arc::new(Credentials::new(tokens, None)), hosts.services))
}

/// A file that is not there says nothing.
fn read(file: &Path) -> Hosts {
    let Ok(text) = std::fs::read_to_string(file) else { return Hosts::default() };
    let sources = Sources::new();
    let Some(source) = sources.add(file.to_string_lossy(), text) else { return Hosts::default() };
    let (parsed, _) = parse_file(&source);
    let schema = BodySchema::new().block("host", &["name"]).block("credentials", &["name"]);
    let (content, _, _) = parsed.body.partial_content(&schema);
    let mut hosts = Hosts::default();
    for block in &content.blocks {
        let Some(host) = block.labels.first().map(|label| label.value.clone()) else { continue };
        match &*block.kind.name {
            "host" => hosts.services.extend(services(&block.body).and_then(|entries| Services::of(&host, entries).ok())),
            _ => {
                let token = argument(&block.body, "token").and_then(|value| value.as_str().map(Token::new));
                hosts.tokens.extend(token.map(|token| (host.to_string(), token)));
            }
        }
    }
    hosts
}

fn services(body: &Body) -> Option<Map<String, Value>> {
    match argument(body, "services")? {
        Value::Object(entries) => Some(entries),
        _ => None,
    }
}

fn argument(body: &Body, name: &str) -> Option<Value> {
    let (attributes, _) = body.attributes();
    let attribute = attributes.iter().find(|attribute| &*attribute.name.name == name)?;
    let value = evaluate_constant(&attribute.expression, &mut Diagnostics::new());
    let bytes = groma_value::json::to_json(&value, &value.ty()).ok()?;
    serde_json::from_slice(&bytes).ok()
}
