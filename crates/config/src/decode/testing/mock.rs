//! `mock_provider` blocks.

use std::sync::LazyLock;

use groma_hcl::{Block, BodySchema};

use super::{Seen, overriding};
use crate::decode::context::Decoding;
use crate::decode::{name, provider};
use crate::model::LocalProvider;

static PROVIDER: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .optional("alias")
        .optional("override_during")
        .optional("source")
        .block("mock_data", &["type"])
        .block("mock_resource", &["type"])
        .block("override_data", &[])
        .block("override_resource", &[])
});

static MOCK: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().optional("defaults").optional("override_during"));

/// Checks the block, and gives the configuration that it stands for.
pub(super) fn provider(block: &Block, decoding: &mut Decoding<'_>) -> Option<LocalProvider> {
    let label = block.labels.first()?;
    let content = decoding.content(&block.body, &PROVIDER);
    if let Some(attribute) = content.get("override_during") {
        overriding::during(attribute, decoding);
    }
    for (kind, twice) in [("mock_resource", "mock_resource block"), ("mock_data", "mock_data block")] {
        let mut seen = Seen::new(twice);
        for block in content.blocks_of(kind) {
            mock(block, decoding);
            if let Some(label) = block.labels.first() {
                seen.add(label.value.clone(), block.header, decoding);
            }
        }
    }
    overriding::blocks(&content, decoding);
    let alias = content.get("alias").and_then(|attribute| provider::alias(attribute, decoding));
    let is_name = name::provider_name(&label.value, label.span, decoding);
    is_name.then(|| LocalProvider { name: label.value.clone(), alias })
}

fn mock(block: &Block, decoding: &mut Decoding<'_>) {
    let content = decoding.content(&block.body, &MOCK);
    if let Some(attribute) = content.get("override_during") {
        overriding::during(attribute, decoding);
    }
}
