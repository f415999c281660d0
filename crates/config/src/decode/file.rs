//! Decoding of a whole file, block by block.

use std::sync::LazyLock;

use groma_hcl::{Block, Body, BodySchema};

use super::content::FileContent;
use super::context::Decoding;
use super::{
    actions, check, language, list, module_call, output, provider, refactoring, resource, terraform, variable,
};

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
        .block("moved", &[])
        .block("removed", &[])
        .block("import", &[])
        .block("check", &["name"])
});

/// Schema of query files, whose declarations belong to the root module.
static QUERY: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .block("provider", &["name"])
        .block("variable", &["name"])
        .block("locals", &[])
        .block("list", &["type", "name"])
});

/// Schema of generated blocks.
static GENERATED: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().block("import", &[]).block("list", &["type", "name"]));

/// Decodes a configuration file.
pub(crate) fn file(body: &Body, decoding: &mut Decoding<'_>) -> FileContent {
    blocks(body, &FILE, decoding)
}

/// Decodes a query file.
pub(crate) fn query(body: &Body, decoding: &mut Decoding<'_>) -> FileContent {
    blocks(body, &QUERY, decoding)
}

/// Decodes generated `import` and `list` blocks.
pub(crate) fn generated(body: &Body, decoding: &mut Decoding<'_>) -> FileContent {
    blocks(body, &GENERATED, decoding)
}

fn blocks(body: &Body, schema: &BodySchema, decoding: &mut Decoding<'_>) -> FileContent {
    let content = decoding.content(body, schema);
    decoding.incomplete |= !content.is_whole();
    let mut file = FileContent::default();
    for block in &content.blocks {
        top_level(block, &mut file, decoding);
    }
    file
}

fn top_level(block: &Block, file: &mut FileContent, decoding: &mut Decoding<'_>) {
    match &*block.kind.name {
        "terraform" => terraform::terraform(block, file, decoding),
        "language" => language::check(block, decoding),
        // Listed in the schema only for this message.
        "required_providers" => decoding.error(
            block.header,
            "Invalid required_providers block",
            "Provider requirements must be in a \"terraform\" block: write terraform { required_providers { … } }.",
        ),
        "provider" => keep(provider::provider, block, &mut file.providers, decoding),
        "variable" => keep(variable::variable, block, &mut file.variables, decoding),
        "locals" => file.locals.extend(output::locals(block, decoding)),
        "output" => keep(output::output, block, &mut file.outputs, decoding),
        "module" => keep(module_call::module_call, block, &mut file.calls, decoding),
        "resource" => keep(resource::managed, block, &mut file.resources, decoding),
        "data" => keep(resource::data, block, &mut file.resources, decoding),
        "ephemeral" => keep(resource::ephemeral, block, &mut file.resources, decoding),
        "list" => keep(list::list, block, &mut file.resources, decoding),
        "action" => keep(actions::action, block, &mut file.actions, decoding),
        // No other block refers to these, so a failed one does not make the file incomplete.
        "moved" => file.moved.extend(refactoring::moved(block, decoding)),
        "removed" => file.removed.extend(refactoring::removed(block, decoding)),
        "import" => file.imports.extend(refactoring::import(block, decoding)),
        "check" => file.checks.extend(check::check(block, decoding)),
        _ => {}
    }
}

/// Decodes `block` into `list`; a failure makes the file incomplete.
fn keep<T>(
    decode: fn(&Block, &mut Decoding<'_>) -> Option<T>,
    block: &Block,
    list: &mut Vec<T>,
    decoding: &mut Decoding<'_>,
) {
    let decoded = decode(block, decoding);
    // An override only changes declarations, so all of them remain without it.
    decoding.incomplete |= decoded.is_none() && !decoding.is_override();
    list.extend(decoded);
}
