//! Decoding of test files and mock data files.
//!
//! The syntax is checked completely, but only blocks that affect loading are kept; tests are not executed.

mod mock;
mod overriding;
mod run;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use groma_diagnostics::Span;
use groma_hcl::{Attribute, Block, Body, BodySchema, Content, Expression, ExpressionKind, Label, Name};

use super::context::{Decoding, Dialect};
use super::{literal, provider, syntax};
use crate::model::{LocalProvider, Override, PassedProvider, RunModule};

pub(crate) use mock::{MockFile, mock_file};

static FILE: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .block("run", &["name"])
        .block("variables", &[])
        .block("provider", &["name"])
        .block("mock_provider", &["name"])
        .block("override_resource", &[])
        .block("override_data", &[])
        .block("override_module", &[])
        .block("test", &[])
});

static TEST: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().optional("parallel").optional("skip_cleanup"));

/// The blocks of a test file that affect loading.
#[derive(Debug, Default)]
pub(crate) struct TestContent {
    /// `run` blocks in source order.
    pub(crate) runs: Vec<RunContent>,
    /// `override_*` blocks that apply to all runs.
    pub(crate) overrides: Vec<Override>,
    /// Provider configurations that runs can use, each with the header of its block.
    pub(crate) providers: Vec<(LocalProvider, Span)>,
    /// Mock data directories of mocked providers, each with the header of its block.
    pub(crate) mocks: Vec<(PathBuf, Span)>,
}

/// The parts of a `run` block that affect loading.
#[derive(Debug)]
pub(crate) struct RunContent {
    /// The block's label.
    pub(crate) name: Name,
    /// The `module` block, which replaces the configuration under test.
    pub(crate) module: Option<RunModule>,
    /// Provider configurations of the file that are passed to the configuration under test, under its own names.
    pub(crate) providers: Vec<PassedProvider>,
    /// `override_*` blocks that apply to this run only.
    pub(crate) overrides: Vec<Override>,
}

/// Decodes a test file.
pub(crate) fn test_file(body: &Body, decoding: &mut Decoding<'_>) -> TestContent {
    let content = decoding.content(body, &FILE);
    if let Some(block) = only_one(&content, "variables", decoding) {
        values(block, decoding);
    }
    if let Some(block) = only_one(&content, "test", decoding) {
        settings(block, decoding);
    }
    let mut found = TestContent::default();
    // Before the runs, which may refer to these configurations.
    providers(&content, &mut found, decoding);
    found.overrides.extend(overriding::blocks(&content, decoding));
    let mut runs = Seen::new("\"run\" block names");
    for block in content.blocks_of("run") {
        // OpenTofu allows runs of the same name: it identifies them by position.
        let allows_duplicates = decoding.dialect == Dialect::OpenTofu;
        let add = |label: &Label| runs.add(label.value.clone(), block.header, decoding);
        let is_first = allows_duplicates || block.labels.first().is_some_and(add);
        // A duplicate is decoded for its errors, but not kept.
        let run = run::run(block, &found.providers, decoding);
        found.runs.extend(run.filter(|_| is_first));
    }
    found
}

/// Checks the syntax of a `variables` block.
fn values(block: &Block, decoding: &mut Decoding<'_>) {
    // The values do not matter: tests are not executed here.
    let (_, problems) = block.body.attributes();
    decoding.diagnostics.append(problems);
}

fn settings(block: &Block, decoding: &mut Decoding<'_>) {
    let content = decoding.content(&block.body, &TEST);
    if let Some(attribute) = content.get("parallel") {
        // Decoded only for its errors: tests are not executed here.
        literal::boolean(attribute, decoding);
    }
    refuse_skipped_cleanup(&content, decoding);
}

/// Reports `skip_cleanup`, which released versions of Terraform refuse.
fn refuse_skipped_cleanup(content: &Content, decoding: &mut Decoding<'_>) {
    if let Some(attribute) = content.get("skip_cleanup") {
        let detail = "Tests always destroy the objects that they create. Remove the argument.";
        decoding.error(attribute.name.span, "Invalid attribute", detail);
    }
}

/// Decodes the provider configurations that the runs of the file can use.
fn providers(content: &Content, found: &mut TestContent, decoding: &mut Decoding<'_>) {
    let mut seen = Seen::new("provider block");
    for block in &content.blocks {
        let declared = match &*block.kind.name {
            "provider" => provider::of_tests(block, decoding),
            "mock_provider" => mock::provider(block, found, decoding),
            _ => None,
        };
        if let Some(declared) = declared
            && seen.add(declared.clone(), block.header, decoding)
        {
            found.providers.push((declared, block.header));
        }
    }
}

/// Returns the single block of `kind`, and reports others.
fn only_one<'c>(content: &'c Content, kind: &'c str, decoding: &mut Decoding<'_>) -> Option<&'c Block> {
    let mut blocks = content.blocks_of(kind);
    let first = blocks.next()?;
    for other in blocks {
        let location = decoding.location(first.header);
        let detail = format!("A {kind} block is already at {location}. Merge the two blocks.");
        decoding.error(other.header, format!("Multiple \"{kind}\" blocks"), detail);
    }
    Some(first)
}

/// Detector of duplicate declarations.
struct Seen<T> {
    what: &'static str,
    first: HashMap<T, Span>,
}

impl<T: Eq + std::hash::Hash> Seen<T> {
    fn new(what: &'static str) -> Self {
        Self { what, first: HashMap::new() }
    }

    /// Whether `key` is new; reports a duplicate.
    fn add(&mut self, key: T, span: Span, decoding: &mut Decoding<'_>) -> bool {
        if let Some(first) = self.first.get(&key) {
            let location = decoding.location(*first);
            let detail = format!("The same declaration is already at {location}. Remove one of the two.");
            decoding.error(span, format!("Duplicate {}", self.what), detail);
            return false;
        }
        self.first.insert(key, span).is_none()
    }
}

/// Decodes one of two keywords, without quotes; reports anything else.
fn one_keyword(attribute: &Attribute, words: [&str; 2], summary: &str, decoding: &mut Decoding<'_>) -> Option<Name> {
    let expression = &attribute.expression;
    let found = word(expression, decoding).filter(|word| words.contains(&&**word));
    if found.is_none() && !syntax::is_invalid(expression) {
        let [one, other] = words;
        decoding.error(expression.span, summary, format!("The value must be {one} or {other}, without quotes."));
    }
    found
}

/// Returns the keyword in `expression`. Quotes are allowed only in the JSON syntax, which requires them.
fn word(expression: &Expression, decoding: &Decoding<'_>) -> Option<Name> {
    if matches!(expression.kind, ExpressionKind::String(_)) {
        return None;
    }
    let traversal = syntax::reference(expression, decoding)?;
    traversal.steps().is_empty().then(|| traversal.root.name.clone())
}
