//! `list` blocks of query files.

use std::sync::LazyLock;

use groma_address::{Mode, Resource as ResourceAddress};
use groma_hcl::{Block, Body, BodySchema, Content};

use super::context::Decoding;
use super::meta::expression_of;
use super::{meta, name, provider};
use crate::model::{Lifecycle, Resource, Search};

static LIST: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .optional("count")
        .optional("for_each")
        .optional("provider")
        .optional("include_resource")
        .optional("limit")
        .block("config", &[])
});

/// Decodes a `list` block.
pub(super) fn list(block: &Block, decoding: &mut Decoding<'_>) -> Option<Resource> {
    let [type_label, name_label] = block.labels.as_slice() else { return None };
    name::check(type_label, "list resource type name", decoding);
    name::check(name_label, "list resource name", decoding);
    let content = decoding.content(&block.body, &LIST);
    let (count, for_each) = (content.get("count"), content.get("for_each"));
    meta::one_repetition(&[("count", count), ("for_each", for_each)], "searches", decoding);
    let body = config(&content, block, decoding);
    // Unlike for resources, the type does not imply the provider here.
    let Some(provider) = content.get("provider") else {
        decoding.error(
            block.header,
            "Missing \"provider\" attribute",
            "A list block requires a provider configuration. Add the \"provider\" argument.",
        );
        return None;
    };
    let search = Search {
        include_resource: expression_of(content.get("include_resource")),
        limit: expression_of(content.get("limit")),
        body_start: block.body.missing_item_span(),
    };
    Some(Resource {
        address: ResourceAddress {
            mode: Mode::List,
            type_name: type_label.value.clone(),
            name: name_label.value.clone(),
        },
        body,
        count: expression_of(count),
        for_each: expression_of(for_each),
        provider: provider::reference(&provider.expression, "provider", decoding),
        depends_on: Vec::new(),
        lifecycle: Lifecycle::none(),
        provisioners: Vec::new(),
        connection: None,
        check: None,
        search: Some(Box::new(search)),
        span: block.span,
        header_span: block.header,
        type_span: type_label.span,
    })
}

/// Returns the content of the `config` block, or an empty body.
fn config(content: &Content, block: &Block, decoding: &mut Decoding<'_>) -> Body {
    let mut configs = content.blocks_of("config");
    let config = configs.next();
    for extra in configs {
        decoding.error(
            extra.header,
            "Duplicate config block",
            "A list block can have only one config block. Merge the two blocks.",
        );
    }
    config.map_or_else(|| Body::new(Vec::new(), Vec::new(), block.header), |nested| nested.body.clone())
}
