//! User-provided configurations from a file.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Sources};
use groma_hcl::{Body, BodySchema};
use groma_lang::{EmptyScope, FunctionContext};
use groma_provider::{Block, BodyDecoder, Provider, ProviderDiagnostics};
use groma_value::Value;

use crate::options::Kind;
use crate::options::UserConfig;

/// The categories that a file may contain blocks of.
const KINDS: [Kind; 3] = [Kind::Resource, Kind::DataSource, Kind::EphemeralResource];

fn kind_of(word: &str) -> Kind {
    KINDS.into_iter().find(|kind| kind.block() == word).unwrap_or(Kind::Resource)
}

/// The content of a configuration file.
#[derive(Clone, Debug, Default)]
pub struct UserConfigFile {
    /// The provider configuration, if the file has a provider block.
    pub provider_config: Option<Value>,
    /// The configurations of resources, data sources and ephemeral resources.
    pub resources: Vec<UserConfig>,
}

/// Reads `text`, a configuration for `provider` that consists of provider, resource, data and ephemeral blocks without
/// references.
///
/// # Errors
///
/// The errors in the text, with locations in `sources`.
pub fn parse_user_configs(
    provider: &dyn Provider,
    name: &str,
    text: &str,
    sources: &Arc<Sources>,
) -> Result<UserConfigFile, Diagnostics> {
    let Some(file) = sources.add(name, text) else {
        return Err(Diagnostic::error("Unreadable file", format!("The file {name} is too large.")).into());
    };
    let (parsed, mut problems) = groma_hcl::parse_file(&file);
    let scope = EmptyScope::new(FunctionContext::new(".", sources.clone()));
    let mut blocks = BodySchema::new().block("provider", &["name"]);
    for kind in KINDS {
        blocks = blocks.block(kind.block(), &["type", "name"]);
    }
    let (content, _, found) = parsed.body.partial_content(&blocks);
    problems.append(found);
    let mut given = UserConfigFile::default();
    for block in &content.blocks {
        match (&*block.kind.name, block.labels.first()) {
            ("provider", _) => match provider.schema() {
                Ok(schema) => {
                    given.provider_config = Some(decoded(&block.body, &schema.config.block, &scope, &mut problems));
                }
                Err(found) => problems.append(plain(&found)),
            },
            (word, Some(type_name)) => match kind_of(word).schema(provider, &type_name.value) {
                Ok(Some(schema)) => {
                    let kind = kind_of(word);
                    let config = decoded(&block.body, &schema.block, &scope, &mut problems);
                    given.resources.push(UserConfig { kind, type_name: type_name.value.clone(), config });
                }
                Ok(None) => {
                    let kind = kind_of(word).name();
                    let detail = format!("The provider has no {kind} {}.", type_name.value);
                    problems.push(Diagnostic::error(format!("Unknown {kind}"), detail).at(block.header));
                }
                Err(found) => problems.append(plain(&found)),
            },
            _ => {}
        }
    }
    if problems.has_errors() { Err(problems) } else { Ok(given) }
}

/// Decodes a body, ignoring meta-arguments.
fn decoded(body: &Body, block: &Arc<Block>, scope: &EmptyScope, problems: &mut Diagnostics) -> Value {
    let mut meta_arguments = BodySchema::new();
    for name in ["count", "for_each", "depends_on", "provider"] {
        meta_arguments = meta_arguments.optional(name);
    }
    for (kind, labels) in [("lifecycle", &[][..]), ("connection", &[]), ("provisioner", &["type"])] {
        meta_arguments = meta_arguments.block(kind, labels);
    }
    let (_, body, found) = body.partial_content(&meta_arguments);
    problems.append(found);
    let (decoder, found) = BodyDecoder::new(&body, block);
    problems.append(found);
    let (value, found) = decoder.evaluate(scope);
    problems.append(found);
    value
}

fn plain(problems: &ProviderDiagnostics) -> Diagnostics {
    problems.iter().map(|one| Diagnostic::error(one.summary.clone(), one.detail.clone())).collect()
}
