//! `import` blocks.

use std::sync::LazyLock;

use groma_address::{ConfigResource, ModulePath, Name, Resource};
use groma_hcl::{Block, BodySchema, Content, Expression, ExpressionKind, Step};

use super::address::is_reserved;
use crate::decode::context::Decoding;
use crate::decode::meta::expression_of;
use crate::decode::provider;
use crate::model::{Import, ImportIdentity};

static IMPORT: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new().required("to").optional("id").optional("identity").optional("for_each").optional("provider")
});

/// Decodes an `import` block.
pub(in crate::decode) fn import(block: &Block, decoding: &mut Decoding<'_>) -> Option<Import> {
    if decoding.refuse_override(block) {
        return None;
    }
    let content = decoding.content(&block.body, &IMPORT);
    let identity = import_identity(block, &content, decoding);
    let provider = content.get("provider").and_then(|a| provider::reference(&a.expression, "provider", decoding));
    let to = &content.get("to")?.expression;
    let Some(to_expression) = to.unquoted() else {
        not_an_address(to, decoding);
        return None;
    };
    let to = import_target(&to_expression, decoding)?;
    Some(Import {
        to,
        to_expression,
        identity: identity?,
        for_each: expression_of(content.get("for_each")),
        provider,
        span: block.header,
    })
}

fn import_identity(block: &Block, content: &Content, decoding: &mut Decoding<'_>) -> Option<ImportIdentity> {
    match (content.get("id"), content.get("identity")) {
        (Some(id), None) => Some(ImportIdentity::Id(id.expression.clone())),
        (None, Some(identity)) => Some(ImportIdentity::Identity(identity.expression.clone())),
        (None, None) => {
            decoding.error(
                block.header,
                "Invalid import block",
                "Add \"id\" or \"identity\": what the object is called outside.",
            );
            None
        }
        (Some(_), Some(_)) => {
            decoding.error(block.header, "Invalid import block", "Use one of \"id\" and \"identity\", not both.");
            None
        }
    }
}

/// The resource that `to` names, whatever its keys will come out as.
fn import_target(expression: &Expression, decoding: &mut Decoding<'_>) -> Option<ConfigResource> {
    let mut names = Vec::new();
    if !static_names(expression, &mut names) || names.is_empty() {
        not_an_address(expression, decoding);
        return None;
    }
    let mut rest = names.as_slice();
    let mut modules = Vec::new();
    while let [word, name, more @ ..] = rest {
        if &**word != "module" {
            break;
        }
        modules.push(name.clone());
        rest = more;
    }
    let resource = match rest {
        [type_name, name] if !is_reserved(type_name) => Resource::managed(type_name.clone(), name.clone()),
        [word, type_name, name] if &**word == "resource" => Resource::managed(type_name.clone(), name.clone()),
        [word, _, _] if matches!(&**word, "data" | "ephemeral") => {
            decoding.error(expression.span, "Invalid import address", "Only managed resources can be imported.");
            return None;
        }
        _ => {
            decoding.error(
                expression.span,
                "Invalid address",
                "An import is into one resource instance: TYPE.NAME, with module steps before it and a key after it if need be.",
            );
            return None;
        }
    };
    Some(resource.in_module(ModulePath::from_names(modules)))
}

fn not_an_address(expression: &Expression, decoding: &mut Decoding<'_>) {
    decoding.error(
        expression.span,
        "Invalid expression",
        "Write the address of a resource instance; its keys, in brackets, may be expressions: aws_vpc.main[each.key].",
    );
}

/// Gathers the names along an address, passing over keys; false for anything that is no address.
fn static_names(expression: &Expression, names: &mut Vec<Name>) -> bool {
    match &expression.kind {
        ExpressionKind::Traversal(traversal) => {
            names.push(traversal.root.name.clone());
            step_names(traversal.steps(), names);
            true
        }
        ExpressionKind::Index(index) => static_names(&index.source, names),
        ExpressionKind::Relative(relative) => {
            let fine = static_names(&relative.source, names);
            step_names(&relative.steps, names);
            fine
        }
        ExpressionKind::Parentheses(inner) => static_names(inner, names),
        _ => false,
    }
}

fn step_names(steps: &[Step], names: &mut Vec<Name>) {
    names.extend(steps.iter().filter_map(|step| match step {
        Step::Attribute { name, .. } => Some(name.clone()),
        Step::Index { .. } => None,
    }));
}
