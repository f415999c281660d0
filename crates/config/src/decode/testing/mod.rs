//! Files of tests, and the files of the folders that their mocked providers name.
//!
//! Syntax errors are reported. Of the content only the parts that other files and commands need are kept.

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

/// The references of a test file to other files.
#[derive(Debug, Default)]
pub(crate) struct TestContent {
    /// Its runs, in their order.
    pub(crate) runs: Vec<RunContent>,
    /// The overrides for all runs.
    pub(crate) overrides: Vec<Override>,
    /// The provider configurations that runs can be given, each with the header of its block.
    pub(crate) providers: Vec<(LocalProvider, Span)>,
    /// The folders that mocked providers name, each with the header of the block.
    pub(crate) mocks: Vec<(PathBuf, Span)>,
}

/// The references of a run to other files.
#[derive(Debug)]
pub(crate) struct RunContent {
    /// The name of the run.
    pub(crate) name: Name,
    /// The module that is tested instead of the configuration.
    pub(crate) module: Option<RunModule>,
    /// Provider configurations of the file that are handed to what is run, under names of its own.
    pub(crate) providers: Vec<PassedProvider>,
    /// The overrides for this run.
    pub(crate) overrides: Vec<Override>,
}

/// Decodes a whole file of tests.
pub(crate) fn test_file(body: &Body, decoding: &mut Decoding<'_>) -> TestContent {
    let content = decoding.content(body, &FILE);
    if let Some(block) = only_one(&content, "variables", decoding) {
        values(block, decoding);
    }
    if let Some(block) = only_one(&content, "test", decoding) {
        settings(block, decoding);
    }
    let mut found = TestContent::default();
    providers(&content, &mut found, decoding);
    found.overrides.extend(overriding::blocks(&content, decoding));
    let mut runs = Seen::new("\"run\" block names");
    for block in content.blocks_of("run") {
        // OpenTofu tells runs apart by their places.
        let is_told_apart = decoding.dialect == Dialect::OpenTofu;
        let add = |label: &Label| runs.add(label.value.clone(), block.header, decoding);
        let is_first = is_told_apart || block.labels.first().is_some_and(add);
        let run = run::run(block, &found.providers, decoding);
        found.runs.extend(run.filter(|_| is_first));
    }
    found
}

/// Decodes the values of variables.
fn values(block: &Block, decoding: &mut Decoding<'_>) {
    let (_, problems) = block.body.attributes();
    decoding.diagnostics.append(problems);
}

fn settings(block: &Block, decoding: &mut Decoding<'_>) {
    let content = decoding.content(&block.body, &TEST);
    if let Some(attribute) = content.get("parallel") {
        literal::boolean(attribute, decoding);
    }
    refuse_skipped_cleanup(&content, decoding);
}

/// Reports `skip_cleanup`, which released versions of Terraform refuse.
fn refuse_skipped_cleanup(content: &Content, decoding: &mut Decoding<'_>) {
    if let Some(attribute) = content.get("skip_cleanup") {
        let detail = "What a test has made is always destroyed after it. Remove the argument.";
        decoding.error(attribute.name.span, "Invalid attribute", detail);
    }
}

/// The provider configurations that the runs of the file can be given.
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

/// The block of `kind`, of which there can be one.
fn only_one<'c>(content: &'c Content, kind: &'c str, decoding: &mut Decoding<'_>) -> Option<&'c Block> {
    let mut blocks = content.blocks_of(kind);
    let first = blocks.next()?;
    for other in blocks {
        let place = decoding.place(first.header);
        let detail = format!("There is one at {place} already. Write everything in one block.");
        decoding.error(other.header, format!("Multiple \"{kind}\" blocks"), detail);
    }
    Some(first)
}

/// Things of which each can be there once.
struct Seen<T> {
    what: &'static str,
    first: HashMap<T, Span>,
}

impl<T: Eq + std::hash::Hash> Seen<T> {
    fn new(what: &'static str) -> Self {
        Self { what, first: HashMap::new() }
    }

    /// Whether `thing` is the first of its kind; another is reported.
    fn add(&mut self, thing: T, span: Span, decoding: &mut Decoding<'_>) -> bool {
        if let Some(first) = self.first.get(&thing) {
            let place = decoding.place(*first);
            let detail = format!("There is the same at {place} already. Remove one of the two.");
            decoding.error(span, format!("Duplicate {}", self.what), detail);
            return false;
        }
        self.first.insert(thing, span).is_none()
    }
}

/// One of `words`, which stands without quotes; anything else is reported.
fn one_word(attribute: &Attribute, words: [&str; 2], summary: &str, decoding: &mut Decoding<'_>) -> Option<Name> {
    let expression = &attribute.expression;
    let found = word(expression, decoding).filter(|word| words.contains(&&**word));
    if found.is_none() && !syntax::is_invalid(expression) {
        let [one, other] = words;
        decoding.error(expression.span, summary, format!("Write {one} or {other} here, without quotes."));
    }
    found
}

/// The single word that `expression` is; quotes are for the JSON syntax, which has nothing else.
fn word(expression: &Expression, decoding: &Decoding<'_>) -> Option<Name> {
    if matches!(expression.kind, ExpressionKind::String(_)) {
        return None;
    }
    let traversal = syntax::reference(expression, decoding)?;
    traversal.steps().is_empty().then(|| traversal.root.name.clone())
}
