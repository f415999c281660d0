//! `lifecycle` blocks of resources.

use std::sync::LazyLock;

use groma_address::Mode;
use groma_diagnostics::did_you_mean;
use groma_hcl::{Attribute, Block, BodySchema, Content, Expression, ExpressionKind, Traversal};
use groma_lang::{Reference, references};

use super::context::Decoding;
use super::meta::expression_of;
use super::{condition, literal, syntax};
use crate::model::{ActionTrigger, Condition, IgnoreChanges, Lifecycle};

/// A decoded lifecycle and its `enabled` argument, which is needed to report a conflict with `count`.
pub(super) struct Decoded {
    pub(super) lifecycle: Lifecycle,
    pub(super) enabled: Option<Attribute>,
}

static LIFECYCLE: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .optional("create_before_destroy")
        .optional("prevent_destroy")
        .optional("ignore_changes")
        .optional("replace_triggered_by")
        .optional("enabled")
        .optional("destroy")
        .block("precondition", &[])
        .block("postcondition", &[])
        .block("action_trigger", &[])
});

static TRIGGER: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().required("events").optional("condition").required("actions"));

/// Arguments that only managed resources support.
const MANAGED_ONLY: [&str; 5] =
    ["create_before_destroy", "prevent_destroy", "ignore_changes", "replace_triggered_by", "destroy"];

/// Decodes the `lifecycle` block of a resource of the given mode.
pub(super) fn lifecycle(block: &Block, mode: Mode, decoding: &mut Decoding<'_>) -> Decoded {
    let content = decoding.content(&block.body, &LIFECYCLE);
    let conditions = |kind: &str, decoding: &mut Decoding<'_>| -> Vec<Condition> {
        content.blocks_of(kind).filter_map(|nested| condition::condition(nested, decoding)).collect()
    };
    let mut lifecycle = Lifecycle {
        preconditions: conditions("precondition", decoding),
        postconditions: conditions("postcondition", decoding),
        enabled: expression_of(content.get("enabled")),
        span: block.header,
        ..Lifecycle::default()
    };
    if mode == Mode::Managed {
        managed(&content, &mut lifecycle, decoding);
    } else {
        refuse_managed(&content, mode, decoding);
    }
    Decoded { lifecycle, enabled: content.get("enabled").cloned() }
}

fn refuse_managed(content: &Content, mode: Mode, decoding: &mut Decoding<'_>) {
    let (kind, others) = match mode {
        Mode::Data => ("data resource", "data sources"),
        _ => ("ephemeral resource", "ephemeral resources"),
    };
    let detail =
        |name: &str| format!("Only managed resources (\"resource\" blocks) support {name:?}; {others} do not.");
    for attribute in MANAGED_ONLY.iter().filter_map(|name| content.get(name)) {
        let summary = format!("Invalid {kind} lifecycle argument");
        decoding.error(attribute.name.span, summary, detail(&attribute.name.name));
    }
    for block in content.blocks_of("action_trigger") {
        decoding.error(block.header, format!("Invalid {kind} lifecycle nested block"), detail(&block.kind.name));
    }
}

fn managed(content: &Content, lifecycle: &mut Lifecycle, decoding: &mut Decoding<'_>) {
    let mut truth = |name: &str| {
        let expression = expression_of(content.get(name))?;
        literal::check_boolean(&expression, decoding);
        Some(expression)
    };
    // Constants are checked now; other expressions are evaluated by the planner.
    lifecycle.create_before_destroy = truth("create_before_destroy");
    lifecycle.prevent_destroy = truth("prevent_destroy");
    lifecycle.destroy = truth("destroy");
    if let Some(attribute) = content.get("ignore_changes") {
        lifecycle.ignore_changes = ignore_changes(&attribute.expression, decoding);
    }
    if let Some(attribute) = content.get("replace_triggered_by") {
        lifecycle.replace_triggered_by = replace_triggered_by(&attribute.expression, decoding);
    }
    lifecycle.action_triggers =
        content.blocks_of("action_trigger").filter_map(|nested| action_trigger(nested, decoding)).collect();
}

/// Decodes `ignore_changes`: `all`, or a list of attribute paths. Other expressions are evaluated by the planner.
fn ignore_changes(expression: &Expression, decoding: &mut Decoding<'_>) -> IgnoreChanges {
    if expression.as_keyword().as_deref() == Some("all") {
        return IgnoreChanges::All;
    }
    let elements = match (expression.as_list(), &expression.kind) {
        (Some(elements), _) => elements,
        (None, ExpressionKind::Conditional(_) | ExpressionKind::Call(_) | ExpressionKind::For(_)) => {
            return IgnoreChanges::Expression(expression.clone());
        }
        (None, _) => {
            // A missing list is a common mistake: `ignore_changes = tags`.
            syntax::list(expression, decoding);
            return IgnoreChanges::None;
        }
    };
    // Terraform 0.11 had this wildcard; it is recognized for a message that names its replacement.
    let is_wildcard = |element: &&Expression| element.as_static_string().as_deref() == Some("*");
    let paths = elements.iter().filter(|element| !is_wildcard(element));
    let paths: Vec<Traversal> = paths.filter_map(|element| syntax::attribute_path(element, decoding)).collect();
    if elements.iter().any(|element| is_wildcard(&element)) {
        decoding.error(
            expression.span,
            "Invalid ignore_changes wildcard",
            "The wildcard [\"*\"] is no longer supported. Write ignore_changes = all.",
        );
        if elements.len() > 1 {
            decoding.error(
                expression.span,
                "Invalid ignore_changes ruleset",
                "The wildcard cannot be combined with attributes. Write ignore_changes = all, or list the attributes without \"*\".",
            );
        }
        // The author meant `all`, so later checks see that and report nothing else.
        return IgnoreChanges::All;
    }
    IgnoreChanges::Paths(paths)
}

fn replace_triggered_by(expression: &Expression, decoding: &mut Decoding<'_>) -> Vec<Expression> {
    let Some(elements) = syntax::list(expression, decoding) else { return Vec::new() };
    elements
        .iter()
        .filter_map(|element| {
            // In the JSON syntax a reference is a string, which would otherwise be a template.
            syntax::check_quoted(element, decoding)?;
            let element = element.unquoted().unwrap_or_else(|| element.clone());
            check_trigger(&element, decoding).then_some(element)
        })
        .collect()
}

/// Whether the element refers to exactly one resource, with no references other than `count.index` and `each.key` in
/// its index.
fn check_trigger(element: &Expression, decoding: &mut Decoding<'_>) -> bool {
    if let Some(index) = syntax::index_of_word(element) {
        decoding.error(index.brackets, "Invalid index key", syntax::KEYS);
        return false;
    }
    if let Some(key) = complex_key(element) {
        let detail =
            "An instance key in replace_triggered_by must be a quoted string, a whole number, count.index or each.key.";
        decoding.error(key.span, "Invalid expression", detail);
        return false;
    }
    let (found, diagnostics) = references(element);
    let mut fine = !diagnostics.has_errors();
    decoding.diagnostics.append(diagnostics);
    let mut resources = 0;
    for reference in &found {
        let problem = match &reference.target {
            Reference::Resource(resource) if matches!(resource.mode, Mode::Managed | Mode::Data) => {
                resources += 1;
                continue;
            }
            Reference::Each(name) if &**name == "key" => continue,
            Reference::Count(name) if &**name == "index" => continue,
            Reference::Each(_) => ("Invalid each reference in replace_triggered_by expression", "Only each.key"),
            Reference::Count(_) => ("Invalid count reference in replace_triggered_by expression", "Only count.index"),
            _ => ("Invalid reference in replace_triggered_by expression", "Only resources, count.index and each.key"),
        };
        decoding.error(reference.span, problem.0, format!("{} can be used in replace_triggered_by.", problem.1));
        fine = false;
    }
    // The number is meaningful only if every reference is valid: an invalid one may be the missing resource.
    if fine && resources != 1 {
        let detail = if resources == 0 {
            "Each element must refer to a resource, or to one of its instances or attributes."
        } else {
            "Each element must refer to a single resource. Use one element for each resource."
        };
        decoding.error(element.span, "Invalid replace_triggered_by expression", detail);
        fine = false;
    }
    if fine && !is_address(element) {
        let detail =
            "Each element must be a plain reference: TYPE.NAME, optionally with an instance key or an attribute.";
        decoding.error(element.span, "Invalid replace_triggered_by expression", detail);
        fine = false;
    }
    fine
}

/// Whether the element is a plain reference, which determines the triggering object.
fn is_address(element: &Expression) -> bool {
    match &element.kind {
        ExpressionKind::Traversal(_) | ExpressionKind::Invalid => true,
        ExpressionKind::Index(index) => is_address(&index.source),
        ExpressionKind::Relative(relative) => is_address(&relative.source),
        _ => false,
    }
}

/// Returns the instance key of the reference if it is neither a literal nor a plain reference.
fn complex_key(element: &Expression) -> Option<&Expression> {
    match &element.kind {
        ExpressionKind::Relative(relative) => complex_key(&relative.source),
        ExpressionKind::Index(index) => match &index.key.kind {
            ExpressionKind::Traversal(traversal) if traversal.steps().len() <= 1 => complex_key(&index.source),
            ExpressionKind::Invalid => None,
            _ => Some(&index.key),
        },
        _ => None,
    }
}

/// Events that can trigger an action.
const EVENTS: [&str; 4] = ["before_create", "after_create", "before_update", "after_update"];

fn action_trigger(block: &Block, decoding: &mut Decoding<'_>) -> Option<ActionTrigger> {
    let content = decoding.content(&block.body, &TRIGGER);
    let list = &content.get("actions")?.expression;
    let events = content.get("events").and_then(|events| syntax::list(&events.expression, decoding));
    let actions = syntax::list(list, decoding);
    // Both lists are decoded before either can end the function, so that both are reported.
    let (events, actions) = (events?, actions?);
    check_events(events, decoding);
    for (missing, list_name, summary) in
        [(events.is_empty(), "events", "No events specified"), (actions.is_empty(), "actions", "No actions specified")]
    {
        if missing {
            let detail = format!(
                "An action_trigger block without {list_name} has no effect. Add an element, or remove the block."
            );
            decoding.error(block.header, summary, detail);
        }
    }
    let condition = expression_of(content.get("condition"));
    let (events, actions) = (events.to_vec(), actions.to_vec());
    Some(ActionTrigger { events, condition, actions, span: block.header })
}

/// Reports unknown and duplicate events.
fn check_events(events: &[Expression], decoding: &mut Decoding<'_>) {
    let mut seen = Vec::new();
    for event in events {
        let keyword = event.as_keyword().unwrap_or_default();
        if !EVENTS.contains(&&*keyword) {
            let summary = format!("Invalid \"event\" value {keyword}");
            let meant = did_you_mean(&keyword, EVENTS);
            decoding.error(event.span, summary, format!("Valid events are {}.{meant}", EVENTS.join(", ")));
        } else if seen.contains(&keyword) {
            let summary = format!("Duplicate \"{keyword}\" event");
            decoding.error(event.span, summary, "The event is already in this list. Remove the duplicate.");
        }
        seen.push(keyword);
    }
}
