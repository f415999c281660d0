//! Decoding of `mock_provider` blocks and mock data files.

use std::path::PathBuf;
use std::sync::LazyLock;

use groma_diagnostics::Span;
use groma_hcl::{Block, Body, BodySchema, Content, Name};

use super::{Seen, TestContent, overriding};
use crate::decode::context::Decoding;
use crate::decode::{literal, name, provider};
use crate::model::{LocalProvider, Override};

static PROVIDER: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .optional("alias")
        .optional("for_each")
        .optional("override_during")
        .optional("source")
        .block("mock_data", &["type"])
        .block("mock_resource", &["type"])
        .block("override_data", &[])
        .block("override_resource", &[])
});

static MOCK: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().optional("defaults").optional("override_during"));

static FILE: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .block("mock_data", &["type"])
        .block("mock_resource", &["type"])
        .block("override_data", &[])
        .block("override_resource", &[])
});

/// The contents of a mock data file that must be unique within its directory.
#[derive(Debug)]
pub(crate) struct MockFile {
    /// Mocked types: block type, label and header span.
    pub(crate) mocked: Vec<(Name, Name, Span)>,
    /// `override_*` blocks of the file.
    pub(crate) overrides: Vec<Override>,
}

/// Decodes a mock data file.
pub(crate) fn mock_file(body: &Body, decoding: &mut Decoding<'_>) -> MockFile {
    let content = decoding.content(body, &FILE);
    MockFile { mocked: mocks(&content, decoding), overrides: overriding::blocks(&content, decoding) }
}

/// Decodes a `mock_provider` block into `found`, and returns the configuration that it declares.
pub(super) fn provider(block: &Block, found: &mut TestContent, decoding: &mut Decoding<'_>) -> Option<LocalProvider> {
    let label = block.labels.first()?;
    let content = decoding.content(&block.body, &PROVIDER);
    if let Some(attribute) = content.get("override_during") {
        overriding::during(attribute, decoding);
    }
    let source = content.get("source").and_then(|attribute| literal::string(attribute, decoding));
    // An empty string means no source, as in Terraform.
    let source = source.filter(|source| !source.is_empty());
    found.mocks.extend(source.map(|source| (PathBuf::from(&*source), block.header)));
    // Decoded only for their errors.
    mocks(&content, decoding);
    found.overrides.extend(overriding::blocks(&content, decoding));
    let alias = content.get("alias").and_then(|attribute| provider::alias(attribute, decoding));
    let is_name = name::provider_name(&label.value, label.span, decoding);
    is_name.then(|| LocalProvider { name: label.value.clone(), alias })
}

/// Decodes the mock blocks of a body, and reports duplicates.
fn mocks(content: &Content, decoding: &mut Decoding<'_>) -> Vec<(Name, Name, Span)> {
    let mut found = Vec::new();
    for (kind, twice) in [("mock_resource", "mock_resource block"), ("mock_data", "mock_data block")] {
        let mut seen = Seen::new(twice);
        for block in content.blocks_of(kind) {
            mock(block, decoding);
            if let Some(label) = block.labels.first() {
                seen.add(label.value.clone(), block.header, decoding);
                found.push((kind.into(), label.value.clone(), block.header));
            }
        }
    }
    found
}

fn mock(block: &Block, decoding: &mut Decoding<'_>) {
    let content = decoding.content(&block.body, &MOCK);
    if let Some(attribute) = content.get("override_during") {
        overriding::during(attribute, decoding);
    }
}
