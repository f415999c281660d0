//! Configurations that somebody wrote, out of a file.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Sources};
use groma_hcl::{Body, BodySchema};
use groma_lang::{EmptyScope, FunctionContext};
use groma_provider::{Block, BodyDecoder, Provider, ProviderDiagnostics};
use groma_value::Value;

use crate::audit::Given;

/// What a file says.
#[derive(Clone, Debug, Default)]
pub struct GivenFile {
    /// The provider's configuration, if there is a provider block.
    pub provider_config: Option<Value>,
    /// The resources.
    pub resources: Vec<Given>,
}

/// Reads `text`, a configuration of provider and resource blocks without references, for `provider`.
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
    let blocks = BodySchema::new().block("provider", &["name"]).block("resource", &["type", "name"]);
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
            (_, Some(type_name)) => match provider.resource_schema(&type_name.value) {
                Ok(Some(schema)) => {
                    let config = decoded(&block.body, &schema.block, &scope, &mut problems);
                    given.resources.push(Given { type_name: type_name.value.clone(), config });
                }
                Ok(None) => {
                    let detail = format!("The provider has no resource type {}.", type_name.value);
                    problems.push(Diagnostic::error("Unknown resource type", detail).at(block.header));
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
