//! Context of decoding a file.

use std::collections::HashSet;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span};
use groma_hcl::{Block, Body, BodySchema, Content, Expression};

use crate::options::LoadOptions;

/// The role of a file in its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Declares objects.
    Primary,
    /// Changes declarations of primary files; required arguments may be missing.
    Override,
}

/// The product whose rules a file follows where Terraform and OpenTofu differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `.tf` files and test files for Terraform.
    Terraform,
    /// `.tofu` files and test files for OpenTofu.
    OpenTofu,
}

impl Dialect {
    /// Returns the dialect of the file with the given name.
    pub(crate) fn of_file(name: &str) -> Self {
        let endings = [".tofu", ".tofu.json", ".tofutest.hcl", ".tofutest.json"];
        if endings.iter().any(|ending| name.ends_with(ending)) { Self::OpenTofu } else { Self::Terraform }
    }

    /// Returns the dialect of the file that contains `span`; Terraform for no file.
    pub(crate) fn at(span: Span, sources: &Sources) -> Self {
        sources.file(span).map_or(Self::Terraform, |file| Self::of_file(file.name()))
    }
}

/// Context of decoding a file: inputs, collected diagnostics and state.
pub(crate) struct Decoding<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) options: &'a LoadOptions,
    pub(crate) role: Role,
    pub(crate) dialect: Dialect,
    pub(crate) diagnostics: Diagnostics,
    /// Whether a declaration is missing from the result because of an error.
    pub(crate) incomplete: bool,
    /// Names that many blocks share, such as resource types, to store them once.
    pub(crate) shared: HashSet<Name>,
    /// Syntax errors of the file.
    pub(crate) unparsed: Unparsed,
}

/// Start addresses of syntax errors, sorted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unparsed(Vec<u32>);

impl Unparsed {
    /// Collects the spans of syntax errors.
    pub(crate) fn of(problems: &Diagnostics) -> Self {
        let errors = problems.iter().filter(|problem| problem.is_error());
        let mut starts: Vec<u32> = errors.filter_map(|problem| Some(problem.subject?.start())).collect();
        starts.sort_unstable();
        Self(starts)
    }

    /// Adds the syntax errors of another file.
    pub(crate) fn extend(&mut self, other: &Self) {
        if !other.0.is_empty() {
            self.0.extend(&other.0);
            self.0.sort_unstable();
        }
    }

    /// Whether `span` contains a syntax error, or one directly follows it.
    pub(crate) fn is_in(&self, span: Span) -> bool {
        let before = self.0.partition_point(|start| *start < span.start());
        !span.is_none() && self.0.get(before).is_some_and(|start| *start <= span.end())
    }

    /// Removes problems of texts with syntax errors, which are likely follow-up errors.
    pub(crate) fn leave_out(&self, problems: Diagnostics) -> Diagnostics {
        let follows = |problem: &Diagnostic| problem.subject.is_some_and(|span| self.is_in(span));
        match self.0.is_empty() {
            true => problems,
            false => problems.into_iter().filter(|problem| !follows(problem)).collect(),
        }
    }
}

impl Decoding<'_> {
    /// Reports problems in `expression`, unless the parser has already reported a syntax error in it.
    pub(crate) fn report_of(&mut self, expression: &Expression, problems: Diagnostics) {
        if !self.unparsed.is_in(expression.span) {
            self.diagnostics.append(problems);
        }
    }

    /// Returns a shared copy of `name`. Names that share memory compare by pointer.
    pub(crate) fn shared_name(&mut self, name: &Name) -> Name {
        if let Some(known) = self.shared.get(name) {
            return Name::clone(known);
        }
        self.shared.insert(Name::clone(name));
        Name::clone(name)
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Reports an error with its subject at `span`.
    pub(crate) fn error(&mut self, span: Span, summary: impl Into<String>, detail: impl Into<String>) {
        self.report(Diagnostic::error(summary, detail).at(span));
    }

    /// Formats `span` for a message: `main.tf:3,1-20`.
    pub(crate) fn location(&self, span: Span) -> String {
        location_text(self.sources, span)
    }

    /// Decodes `body` by `schema`, and reports unexpected content.
    pub(crate) fn content(&mut self, body: &Body, schema: &BodySchema) -> Content {
        let (content, diagnostics) = match self.role {
            Role::Primary => body.content(schema),
            // Override files may contain any subset of the arguments.
            Role::Override => body.content(&without_required(schema)),
        };
        self.diagnostics.append(diagnostics);
        content
    }

    /// Decodes the part of `body` that `schema` describes, and returns the rest.
    pub(crate) fn partial_content(&mut self, body: &Body, schema: &BodySchema) -> (Content, Body) {
        let (content, rest, diagnostics) = match self.role {
            Role::Primary => body.partial_content(schema),
            Role::Override => body.partial_content(&without_required(schema)),
        };
        self.diagnostics.append(diagnostics);
        (content, rest)
    }

    /// Whether the text at `span` is in the JSON syntax.
    pub(crate) fn is_json(&self, span: Span) -> bool {
        self.sources.locate(span).is_some_and(|location| location.file.name().ends_with(".json"))
    }

    pub(crate) fn is_override(&self) -> bool {
        self.role == Role::Override
    }

    /// Reports a block that is not allowed in an override file; returns whether this is one.
    pub(crate) fn refuse_override(&mut self, block: &Block) -> bool {
        if self.is_override() {
            let kind = &block.kind.name;
            self.error(
                block.header,
                format!("Cannot override '{kind}' blocks"),
                format!("Override files cannot contain {kind:?} blocks. Move the block to another file."),
            );
        }
        self.is_override()
    }
}

/// Formats `span` for a message: `main.tf:3,1-20`, or `main.tf:3,1-5,2` if it spans several lines.
pub(crate) fn location_text(sources: &Sources, span: Span) -> String {
    let Some(location) = sources.locate(span) else { return "an unknown location".to_owned() };
    let (start, end) = (location.start, location.end);
    let name = location.file.name();
    if start.line == end.line {
        format!("{name}:{},{}-{}", start.line, start.column, end.column)
    } else {
        format!("{name}:{},{}-{},{}", start.line, start.column, end.line, end.column)
    }
}

fn without_required(schema: &BodySchema) -> BodySchema {
    // Schemas are shared statics, so the variant without required arguments is a copy.
    let mut schema = schema.clone();
    for attribute in &mut schema.attributes {
        attribute.required = false;
    }
    schema
}
