//! Configurations that somebody wrote, out of a file.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Sources};
use groma_hcl::{Body, BodySchema};
use groma_lang::{EmptyScope, FunctionContext};
use groma_provider::{Block, BodyDecoder, Provider, ProviderDiagnostics};
use groma_value::Value;

use crate::kind::Kind;
use crate::options::Given;

/// What a file may have blocks for.
const GIVEN: [Kind; 3] = [Kind::Resource, Kind::DataSource, Kind::EphemeralResource];

fn kind_of(word: &str) -> Kind {
    GIVEN.into_iter().find(|kind| kind.block() == word).unwrap_or(Kind::Resource)
}

/// What a file says.
#[derive(Clone, Debug, Default)]
pub struct GivenFile {
    /// The provider's configuration, if there is a provider block.
    pub provider_config: Option<Value>,
    /// The resources, data sources and ephemeral resources.
    pub resources: Vec<Given>,
}

/// Reads `text`, a configuration of provider, resource, data and ephemeral blocks without references, for `provider`.
///
/// # Errors
///
/// What is wrong with the text; `sources` has it.
pub fn given_file(
    provider: &dyn Provider,
    name: &str,
    text: &str,
    sources: &Arc<Sources>,
) -> Result<GivenFile, Diagnostics> {
    let Some(file) = sources.add(name, text) else {
        return Err(Diagnostic::error("Unreadable file", format!("The file {name} is too large.")).into());
    };
    let (parsed, mut problems) = groma_hcl::parse_file(&file);
    let scope = EmptyScope::new(FunctionContext::new(".", sources.clone()));
    let mut blocks = BodySchema::new().block("provider", &["name"]);
    for kind in GIVEN {
        blocks = blocks.block(kind.block(), &["type", "name"]);
    }
    let (content, _, found) = parsed.body.partial_content(&blocks);
    problems.append(found);
    let mut given = GivenFile::default();
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
                    given.resources.push(Given { kind, type_name: type_name.value.clone(), config });
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

/// What is in a body, apart from the arguments that are the language's and not the type's.
fn decoded(body: &Body, block: &Arc<Block>, scope: &EmptyScope, problems: &mut Diagnostics) -> Value {
    let mut of_the_language = BodySchema::new();
    for name in ["count", "for_each", "depends_on", "provider"] {
        of_the_language = of_the_language.optional(name);
    }
    for (kind, labels) in [("lifecycle", &[][..]), ("connection", &[]), ("provisioner", &["type"])] {
        of_the_language = of_the_language.block(kind, labels);
    }
    let (_, body, found) = body.partial_content(&of_the_language);
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
