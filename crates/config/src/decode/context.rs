//! The context of decoding a file, and its diagnostics.

use std::collections::HashSet;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span};
use groma_hcl::{Block, Body, BodySchema, Content, Expression};

use crate::options::LoadOptions;

/// The role of a file in its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A file with declarations.
    Primary,
    /// Changes what primary files declare, so that arguments required there may be missing here.
    Override,
}

/// The product whose rules a file follows, by its name: `required_version` then refers to versions of that product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `.tf` files.
    Terraform,
    /// `.tofu` files.
    OpenTofu,
}

impl Dialect {
    /// Returns the product of the file called `name`.
    pub(crate) fn of_file(name: &str) -> Self {
        let endings = [".tofu", ".tofu.json", ".tofutest.hcl", ".tofutest.json"];
        if endings.iter().any(|ending| name.ends_with(ending)) { Self::OpenTofu } else { Self::Terraform }
    }

    /// Returns the product of the file that contains `place`, or Terraform without one.
    pub(crate) fn at(place: Span, sources: &Sources) -> Self {
        sources.file(place).map_or(Self::Terraform, |file| Self::of_file(file.name()))
    }
}

/// The context of decoding a file, with its diagnostics.
pub(crate) struct Decoding<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) options: &'a LoadOptions,
    pub(crate) role: Role,
    pub(crate) dialect: Dialect,
    pub(crate) diagnostics: Diagnostics,
    /// Whether something that the file declares is missing from the result, after an error.
    pub(crate) incomplete: bool,
    /// Names that many blocks of the file have in common.
    pub(crate) shared: HashSet<Name>,
    /// The locations of syntax errors.
    pub(crate) unparsed: Unparsed,
}

/// The locations of syntax errors: the starts of reported spans, sorted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unparsed(Vec<u32>);

impl Unparsed {
    /// The places of syntax errors.
    pub(crate) fn of(problems: &Diagnostics) -> Self {
        let errors = problems.iter().filter(|problem| problem.is_error());
        let mut starts: Vec<u32> = errors.filter_map(|problem| Some(problem.subject?.start())).collect();
        starts.sort_unstable();
        Self(starts)
    }

    /// Adds the places of another file.
    pub(crate) fn extend(&mut self, other: &Self) {
        if !other.0.is_empty() {
            self.0.extend(&other.0);
            self.0.sort_unstable();
        }
    }

    /// Whether something in the text at `span` could not be parsed, or what should follow its last character.
    pub(crate) fn is_in(&self, span: Span) -> bool {
        let before = self.0.partition_point(|start| *start < span.start());
        !span.is_none() && self.0.get(before).is_some_and(|start| *start <= span.end())
    }

    /// `problems` but for those of texts that could not be parsed: what they come to means nothing.
    pub(crate) fn leave_out(&self, problems: Diagnostics) -> Diagnostics {
        let follows = |problem: &Diagnostic| problem.subject.is_some_and(|span| self.is_in(span));
        match self.0.is_empty() {
            true => problems,
            false => problems.into_iter().filter(|problem| !follows(problem)).collect(),
        }
    }
}

impl Decoding<'_> {
    /// Reports problems in `expression`, unless it has a syntax error, which is reported already.
    pub(crate) fn report_of(&mut self, expression: &Expression, problems: Diagnostics) {
        if !self.unparsed.is_in(expression.span) {
            self.diagnostics.append(problems);
        }
    }

    /// `name` as it was met before. Names that are one in memory compare without a look elsewhere in it.
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

    /// Reports an error at `span`.
    pub(crate) fn error(&mut self, span: Span, summary: impl Into<String>, detail: impl Into<String>) {
        self.report(Diagnostic::error(summary, detail).at(span));
    }

    /// `main.tf:3,1-20`: a place for the middle of a sentence.
    pub(crate) fn place(&self, span: Span) -> String {
        place(self.sources, span)
    }

    /// The content of `body` by `schema`; anything else in it is reported.
    pub(crate) fn content(&mut self, body: &Body, schema: &BodySchema) -> Content {
        let (content, diagnostics) = match self.role {
            Role::Primary => body.content(schema),
            Role::Override => body.content(&without_required(schema)),
        };
        self.diagnostics.append(diagnostics);
        content
    }

    /// The content of `body` by `schema`, and the rest.
    pub(crate) fn partial_content(&mut self, body: &Body, schema: &BodySchema) -> (Content, Body) {
        let (content, rest, diagnostics) = match self.role {
            Role::Primary => body.partial_content(schema),
            Role::Override => body.partial_content(&without_required(schema)),
        };
        self.diagnostics.append(diagnostics);
        (content, rest)
    }

    /// Whether what is at `span` is written in the JSON syntax.
    pub(crate) fn is_json(&self, span: Span) -> bool {
        self.sources.locate(span).is_some_and(|location| location.file.name().ends_with(".json"))
    }

    pub(crate) fn is_override(&self) -> bool {
        self.role == Role::Override
    }

    /// Reports a block whose kind cannot be in an override file, if this is one.
    pub(crate) fn refuse_override(&mut self, block: &Block) -> bool {
        if self.is_override() {
            let kind = &block.kind.name;
            self.error(
                block.header,
                format!("Cannot override '{kind}' blocks"),
                format!("Override files cannot hold {kind:?} blocks. Write them in a file of another name."),
            );
        }
        self.is_override()
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
