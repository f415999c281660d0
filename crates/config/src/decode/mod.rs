//! From the syntax tree of one file to typed blocks.
//!
//! A file is decoded for itself, without knowing the rest of its module: what belongs together across files (duplicates,
//! overrides, references) is the business of [`assemble`](crate::assemble) and [`checks`](crate::checks).

mod actions;
mod check;
mod condition;
mod depends_on;
mod lifecycle;
mod literal;
mod meta;
mod module_call;
mod name;
mod output;
mod provider;
mod provisioner;
mod refactoring;
mod required_providers;
mod resource;
mod syntax;
mod terraform;
mod variable;

pub(crate) use literal::{constant, constant_template, without_templates};
pub(crate) use module_call::parse_source as module_source;
pub(crate) use output::OutputDraft;
pub(crate) use variable::VariableDraft;

use std::sync::LazyLock;

use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span};
use groma_hcl::{Block, Body, BodySchema};

use crate::LoadOptions;
use crate::model::{
    ActionBlock, Backend, Check, Cloud, Import, ListBlock, Local, ModuleCall, Moved, ProviderBlock, ProviderMeta,
    Removed, RequiredProvider, Resource, SettingsBlock, VersionRequirement,
};

/// Which part a file plays in its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Declares things.
    Primary,
    /// Changes what primary files declare, so that arguments required there may be missing here.
    Override,
}

/// Whose version numbers `required_version` speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `.tf` files.
    Terraform,
    /// `.tofu` files.
    OpenTofu,
}

/// What decoding a file needs to know and where it reports.
pub(crate) struct Decoding<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) options: &'a LoadOptions,
    pub(crate) role: Role,
    pub(crate) dialect: Dialect,
    pub(crate) diagnostics: Diagnostics,
    /// Whether something that the file declares is missing from the result, after an error.
    pub(crate) incomplete: bool,
}

/// The blocks of one file.
#[derive(Debug, Default)]
pub(crate) struct FileContent {
    pub(crate) required_versions: Vec<VersionRequirement>,
    pub(crate) required_providers: Vec<RequiredProviders>,
    pub(crate) backends: Vec<Backend>,
    pub(crate) clouds: Vec<Cloud>,
    pub(crate) settings: Vec<SettingsBlock>,
    pub(crate) provider_metas: Vec<ProviderMeta>,
    pub(crate) providers: Vec<ProviderBlock>,
    pub(crate) variables: Vec<VariableDraft>,
    pub(crate) locals: Vec<Local>,
    pub(crate) outputs: Vec<OutputDraft>,
    pub(crate) calls: Vec<ModuleCall>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) checks: Vec<(Check, Option<Resource>)>,
    pub(crate) moved: Vec<Moved>,
    pub(crate) removed: Vec<Removed>,
    pub(crate) imports: Vec<Import>,
    pub(crate) actions: Vec<ActionBlock>,
    pub(crate) lists: Vec<ListBlock>,
}

/// One `required_providers` block.
#[derive(Debug)]
pub(crate) struct RequiredProviders {
    pub(crate) entries: Vec<RequiredProvider>,
    pub(crate) span: Span,
}

impl Decoding<'_> {
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Reports an error at `span`.
    pub(crate) fn error(&mut self, span: Span, summary: impl Into<String>, detail: impl Into<String>) {
        self.report(Diagnostic::error(summary, detail).at(span));
    }

    /// `main.tf:3,1-20`: a place for the middle of a sentence.
    pub(crate) fn place(&self, span: Span) -> String {
        place(self.sources, span)
    }

    /// The content of `body` by `schema`; anything else in it is reported.
    pub(crate) fn content(&mut self, body: &Body, schema: &BodySchema) -> groma_hcl::Content {
        let (content, diagnostics) = match self.role {
            Role::Primary => body.content(schema),
            Role::Override => body.content(&without_required(schema)),
        };
        self.diagnostics.append(diagnostics);
        content
    }

    /// The content of `body` by `schema`, and the rest.
    pub(crate) fn partial_content(&mut self, body: &Body, schema: &BodySchema) -> (groma_hcl::Content, Body) {
        let (content, rest, diagnostics) = match self.role {
            Role::Primary => body.partial_content(schema),
            Role::Override => body.partial_content(&without_required(schema)),
        };
        self.diagnostics.append(diagnostics);
        (content, rest)
    }

    pub(crate) fn is_override(&self) -> bool {
        self.role == Role::Override
    }
}

/// `main.tf:3,1-20`, or `main.tf:3,1-5,2` where it spans lines.
pub(crate) fn place(sources: &Sources, span: Span) -> String {
    let Some(location) = sources.locate(span) else { return "an unknown place".to_owned() };
    let (start, end) = (location.start, location.end);
    let name = location.file.name();
    if start.line == end.line {
        format!("{name}:{},{}-{}", start.line, start.column, end.column)
    } else {
        format!("{name}:{},{}-{},{}", start.line, start.column, end.line, end.column)
    }
}

fn without_required(schema: &BodySchema) -> BodySchema {
    let mut schema = schema.clone();
    for attribute in &mut schema.attributes {
        attribute.required = false;
    }
    schema
}

static FILE: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .block("terraform", &[])
        .block("language", &[])
        .block("required_providers", &[])
        .block("provider", &["name"])
        .block("variable", &["name"])
        .block("locals", &[])
        .block("output", &["name"])
        .block("module", &["name"])
        .block("resource", &["type", "name"])
        .block("data", &["type", "name"])
        .block("ephemeral", &["type", "name"])
        .block("action", &["type", "name"])
        .block("list", &["type", "name"])
        .block("moved", &[])
        .block("removed", &[])
        .block("import", &[])
        .block("check", &["name"])
});

/// Decodes a whole file.
pub(crate) fn file(body: &Body, decoding: &mut Decoding<'_>) -> FileContent {
    let before = decoding.diagnostics.len();
    let content = decoding.content(body, &FILE);
    decoding.incomplete |= decoding.diagnostics.iter().skip(before).any(Diagnostic::is_error);
    let mut file = FileContent::default();
    for block in &content.blocks {
        top_level(block, &mut file, decoding);
    }
    file
}

fn top_level(block: &Block, file: &mut FileContent, decoding: &mut Decoding<'_>) {
    match &*block.kind.name {
        "terraform" => terraform::terraform(block, file, decoding),
        "language" => file.settings.push(terraform::settings(block)),
        "required_providers" => decoding.error(
            block.header,
            "Invalid required_providers block",
            "Provider requirements belong inside a \"terraform\" block: write terraform { required_providers { … } }.",
        ),
        "provider" => keep(provider::provider, block, &mut file.providers, decoding),
        "variable" => keep(variable::variable, block, &mut file.variables, decoding),
        "locals" => file.locals.extend(output::locals(block, decoding)),
        "output" => keep(output::output, block, &mut file.outputs, decoding),
        "module" => keep(module_call::module_call, block, &mut file.calls, decoding),
        "resource" => keep(resource::managed, block, &mut file.resources, decoding),
        "data" => keep(resource::data, block, &mut file.resources, decoding),
        "ephemeral" => keep(resource::ephemeral, block, &mut file.resources, decoding),
        "action" => keep(actions::action, block, &mut file.actions, decoding),
        "list" => keep(actions::list, block, &mut file.lists, decoding),
        "moved" => keep(refactoring::moved, block, &mut file.moved, decoding),
        "removed" => keep(refactoring::removed, block, &mut file.removed, decoding),
        "import" => keep(refactoring::import, block, &mut file.imports, decoding),
        "check" => keep(check::check, block, &mut file.checks, decoding),
        _ => {}
    }
}

/// Decodes `block` into `list`; a block that comes to nothing leaves the file incomplete.
fn keep<T>(
    decode: fn(&Block, &mut Decoding<'_>) -> Option<T>,
    block: &Block,
    list: &mut Vec<T>,
    decoding: &mut Decoding<'_>,
) {
    let decoded = decode(block, decoding);
    decoding.incomplete |= decoded.is_none() && !decoding.is_override();
    list.extend(decoded);
}
