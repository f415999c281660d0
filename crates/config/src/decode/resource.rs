//! `resource`, `data` and `ephemeral` blocks.

use std::sync::LazyLock;

use groma_address::{Mode, Name, Resource as ResourceAddress, is_identifier};
use groma_diagnostics::Span;
use groma_hcl::{Attribute, Block, Body, BodySchema, Content};

use super::context::Decoding;
use super::meta::{duplicate_lifecycle, expression_of};
use super::{condition, lifecycle, meta, name, output, provider, provisioner};
use crate::model::{Connection, Lifecycle, Provisioner, ProvisionerWhen, Resource, implied_provider};

/// Meta-arguments of all modes, so that one in the wrong mode gets a specific message.
static RESOURCE: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .optional("count")
        .optional("for_each")
        .optional("provider")
        .optional("depends_on")
        .block("_", &[])
        .block("lifecycle", &[])
        .reserved("locals")
        .block("connection", &[])
        .block("provisioner", &["type"])
});

static DATA: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .optional("count")
        .optional("for_each")
        .optional("provider")
        .optional("depends_on")
        .block("_", &[])
        .block("lifecycle", &[])
        .reserved("locals")
});

/// Decodes a `resource` block.
pub(super) fn managed(block: &Block, decoding: &mut Decoding<'_>) -> Option<Resource> {
    let mut common = Common::decode(block, Mode::Managed, &RESOURCE, decoding)?;
    let connections: Vec<&Block> = common.content.blocks_of("connection").collect();
    let connection = provisioner::connection(&connections, "resource", decoding);
    // Taken out, because `finish` consumes the rest.
    let content = std::mem::take(&mut common.content);
    let provisioners: Vec<Provisioner> =
        content.blocks_of("provisioner").filter_map(|b| provisioner::provisioner(b, decoding)).collect();
    let at_destruction = |provisioner: &Provisioner| provisioner.when == ProvisionerWhen::Destroy;
    // The resource's connection is the default of its provisioners, so their rule applies to it.
    if let (Some(connection), true) = (&connection, provisioners.iter().any(at_destruction)) {
        provisioner::only_self_references(&connection.body, decoding);
    }
    let mut resource = common.finish(&content, decoding);
    resource.connection = connection;
    resource.provisioners = provisioners;
    Some(resource)
}

/// Decodes a `data` block of a module.
pub(super) fn data(block: &Block, decoding: &mut Decoding<'_>) -> Option<Resource> {
    unmanaged(block, Mode::Data, &DATA, decoding)
}

/// Decodes an `ephemeral` block.
pub(super) fn ephemeral(block: &Block, decoding: &mut Decoding<'_>) -> Option<Resource> {
    let resource = unmanaged(block, Mode::Ephemeral, &RESOURCE, decoding)?;
    Some(resource)
}

/// Decodes the `data` block of the check block `check`.
pub(super) fn scoped_data(block: &Block, check: &Name, decoding: &mut Decoding<'_>) -> Option<Resource> {
    let mut common = Common::decode(block, Mode::Data, &DATA, decoding)?;
    // Dropped, so that the expressions of arguments that are errors anyway are not checked.
    common.repetition.count = None;
    common.repetition.for_each = None;
    for attribute in ["count", "for_each"].iter().filter_map(|name| common.content.get(name)) {
        let name = &attribute.name.name;
        decoding.error(
            attribute.name.span,
            format!("Invalid {name:?} attribute"),
            format!("A data block inside a check block has a single instance, so {name:?} is not allowed."),
        );
    }
    if let Some(lifecycle) = common.content.blocks_of("lifecycle").next() {
        decoding.error(
            lifecycle.header,
            "Invalid lifecycle block",
            "A data block inside a check block cannot have a lifecycle block. Remove it.",
        );
    }
    // Without the content: a lifecycle block, which is an error here, would only cause more.
    let mut resource = common.finish(&Content::default(), decoding);
    resource.check = Some(check.clone());
    Some(resource)
}

fn unmanaged(block: &Block, mode: Mode, schema: &BodySchema, decoding: &mut Decoding<'_>) -> Option<Resource> {
    let mut common = Common::decode(block, mode, schema, decoding)?;
    // Taken out, because `finish` consumes the rest.
    let content = std::mem::take(&mut common.content);
    if mode == Mode::Ephemeral {
        for nested in content.blocks.iter().filter(|nested| matches!(&*nested.kind.name, "connection" | "provisioner"))
        {
            decoding.error(
                nested.kind.span,
                "Invalid block in ephemeral resource",
                format!("Only \"resource\" blocks can have {:?} blocks. Remove the block.", nested.kind.name),
            );
        }
    }
    Some(common.finish(&content, decoding))
}

/// The common parts of resources of all modes.
struct Common<'a> {
    block: &'a Block,
    address: ResourceAddress,
    content: Content,
    body: Body,
    repetition: Repetition,
}

#[derive(Default)]
struct Repetition {
    count: Option<Attribute>,
    for_each: Option<Attribute>,
    provider: Option<Attribute>,
    depends_on: Option<Attribute>,
}

impl<'a> Common<'a> {
    fn decode(block: &'a Block, mode: Mode, schema: &BodySchema, decoding: &mut Decoding<'_>) -> Option<Self> {
        let [type_label, name_label] = block.labels.as_slice() else { return None };
        let (content, rest) = decoding.partial_content(&block.body, schema);
        let (type_what, name_what) = match mode {
            Mode::Managed => ("resource type name", "resource name"),
            Mode::Data => ("data source name", "data resource name"),
            Mode::Ephemeral => ("ephemeral resource type", "ephemeral resource name"),
            Mode::List => ("list resource type name", "list resource name"),
        };
        name::check(type_label, type_what, decoding);
        name::check(name_label, name_what, decoding);
        // Without a provider argument the type implies the provider, so its prefix must be a provider name.
        if content.get("provider").is_none() && is_identifier(&type_label.value) {
            name::implied_provider_name(&implied_provider(&type_label.value), type_label.span, decoding);
        }
        for reserved in content.blocks_of("locals") {
            meta::reserved_block(reserved, mode.block_keyword(), decoding);
        }
        let body = meta::with_escape_block(&content, rest, mode.block_keyword(), decoding);
        // Thousands of resources share few types; sharing saves memory and makes comparisons fast.
        let type_name = decoding.shared_name(&type_label.value);
        let address = ResourceAddress { mode, type_name, name: name_label.value.clone() };
        let take = |name: &str| content.get(name).cloned();
        let repetition = Repetition {
            count: take("count"),
            for_each: take("for_each"),
            provider: take("provider"),
            depends_on: take("depends_on"),
        };
        Some(Self { block, address, content, body, repetition })
    }

    fn finish(self, content: &Content, decoding: &mut Decoding<'_>) -> Resource {
        let lifecycle = lifecycle_block(content, self.address.mode, decoding);
        let enabled = lifecycle.as_ref().and_then(|decoded| decoded.enabled.as_ref());
        let Repetition { count, for_each, provider, depends_on } = self.repetition;
        let noun = match self.address.mode {
            Mode::Managed => "resources",
            Mode::Data => "data sources",
            Mode::Ephemeral => "ephemeral resources",
            Mode::List => "searches",
        };
        let repetition = [("count", count.as_ref()), ("for_each", for_each.as_ref()), ("enabled", enabled)];
        meta::one_repetition(&repetition, noun, decoding);
        if let Some(decoded) = &lifecycle {
            let lifecycle = &decoded.lifecycle;
            condition::check_own_name(&lifecycle.preconditions, "precondition", &self.address, decoding);
            condition::check_own_name(&lifecycle.postconditions, "postcondition", &self.address, decoding);
        }
        Resource {
            address: self.address,
            body: self.body,
            count: expression_of(count.as_ref()),
            for_each: expression_of(for_each.as_ref()),
            provider: provider.and_then(|a| provider::reference(&a.expression, "provider", decoding)),
            depends_on: depends_on.map(|a| output::depends_on(&a, decoding)).unwrap_or_default(),
            lifecycle: lifecycle.map_or_else(Lifecycle::none, |decoded| decoded.lifecycle.into()),
            provisioners: Vec::new(),
            connection: None::<Connection>,
            check: None,
            search: None,
            span: self.block.span,
            header_span: self.block.header,
            type_span: self.block.labels.first().map_or(self.block.header, |label| label.span),
        }
    }
}

fn lifecycle_block(content: &Content, mode: Mode, decoding: &mut Decoding<'_>) -> Option<lifecycle::Decoded> {
    let mut first: Option<(&Block, Span)> = None;
    for block in content.blocks_of("lifecycle") {
        match first {
            Some((_, span)) => duplicate_lifecycle(block, span, "resource", decoding),
            None => first = Some((block, block.header)),
        }
    }
    first.map(|(block, _)| lifecycle::lifecycle(block, mode, decoding))
}
