//! Guesses for types that the table does not know, by the names, formats and patterns of the schema.

use serde_json::{Number, Value as Json};

use super::{Context, node_at, put};
use crate::names::{resource_part, snake_case};
use crate::schema::{JsonTypes, Node, NodeId, Pointer, TypeSchema, sample};

const FINAL_STATES: [&str; 14] = [
    "ACTIVE",
    "Active",
    "AVAILABLE",
    "Available",
    "available",
    "ENABLED",
    "Enabled",
    "READY",
    "Ready",
    "CREATED",
    "Created",
    "COMPLETED",
    "SUCCEEDED",
    "DEPLOYED",
];

/// Services whose ARNs have another name than their types, in lower case.
const ARN_SERVICES: [(&str, &str); 24] = [
    ("acmpca", "acm-pca"),
    ("amazonmq", "mq"),
    ("appintegrations", "app-integrations"),
    ("applicationautoscaling", "application-autoscaling"),
    ("applicationsignals", "application-signals"),
    ("bedrockagentcore", "bedrock-agentcore"),
    ("certificatemanager", "acm"),
    ("codestarconnections", "codestar-connections"),
    ("codestarnotifications", "codestar-notifications"),
    ("customerprofiles", "profile"),
    ("efs", "elasticfilesystem"),
    ("emr", "elasticmapreduce"),
    ("emrcontainers", "emr-containers"),
    ("emrserverless", "emr-serverless"),
    ("eventschemas", "schemas"),
    ("iotcoredeviceadvisor", "iotdeviceadvisor"),
    ("kinesisfirehose", "firehose"),
    ("msk", "kafka"),
    ("neptunegraph", "neptune-graph"),
    ("opensearchserverless", "aoss"),
    ("opensearchservice", "es"),
    ("resourceexplorer2", "resource-explorer-2"),
    ("resourcegroups", "resource-groups"),
    ("vpclattice", "vpc-lattice"),
];

/// Parts of the primary identifier that nobody gave and the service draws.
pub fn identifiers(schema: &TypeSchema, model: &mut Json, context: &Context<'_>) {
    for pointer in &schema.primary_identifier {
        if pointer.find(model).is_some() {
            continue;
        }
        let Some(id) = node_at(schema, pointer) else { continue };
        let value = value(schema, id, pointer, context, model, Purpose::Identifier);
        put(model, pointer.steps(), &mut |_| value.clone());
    }
}

/// Read-only properties that are `open` to guesses, in every object that is there.
pub fn read_only(schema: &TypeSchema, model: &mut Json, context: &Context<'_>, open: impl Fn(&Pointer) -> bool) {
    for pointer in schema.read_only_list.iter().filter(|pointer| open(pointer)) {
        let Some(id) = node_at(schema, pointer) else { continue };
        let whole = model.clone();
        let mut number = 0u32;
        put(model, pointer.steps(), &mut |_| {
            // Elements of one array differ in what the service gives them.
            number += 1;
            let label = if number == 1 { String::new() } else { number.to_string() };
            value(schema, id, pointer, context, &whole, Purpose::Attribute(&label))
        });
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Purpose<'a> {
    Identifier,
    /// An attribute, with a label that tells it from those of other elements.
    Attribute(&'a str),
}

impl Purpose<'_> {
    fn label(&self) -> &str {
        match self {
            Self::Identifier => "",
            Self::Attribute(label) => label,
        }
    }
}

fn value(
    schema: &TypeSchema,
    id: NodeId,
    pointer: &Pointer,
    context: &Context<'_>,
    model: &Json,
    purpose: Purpose<'_>,
) -> Option<Json> {
    let node = schema.node(id);
    if let Some(final_state) = enumerated(node) {
        return Some(final_state);
    }
    let number = || Json::Number(Number::from(node.minimum.map_or(0, |least| least.ceil() as i64)));
    match node.type_order.first().copied().unwrap_or(JsonTypes::STRING) {
        JsonTypes::BOOLEAN => Some(Json::Bool(false)),
        JsonTypes::INTEGER | JsonTypes::NUMBER => Some(number()),
        JsonTypes::STRING => Some(Json::String(text(schema, node, pointer, context, model, purpose.label()))),
        _ if purpose == Purpose::Identifier => {
            Some(Json::String(text(schema, node, pointer, context, model, purpose.label())))
        }
        // Objects and lists of the service's own are left out: real ones often are as well.
        _ => None,
    }
}

fn enumerated(node: &Node) -> Option<Json> {
    let final_state =
        node.enumeration.iter().find(|value| value.as_str().is_some_and(|text| FINAL_STATES.contains(&text)));
    final_state.or(node.enumeration.first()).cloned()
}

fn text(
    schema: &TypeSchema,
    node: &Node,
    pointer: &Pointer,
    context: &Context<'_>,
    model: &Json,
    element: &str,
) -> String {
    let name = pointer.last_name();
    let label = format!("{}/{name}{element}", schema.type_name);
    let candidates = candidates(schema, node, (name, &label), context, model);
    let fits = |text: &&String| {
        let length = text.chars().count() as u64;
        node.pattern.as_ref().is_none_or(|pattern| pattern.matches(text))
            && node.min_length.is_none_or(|least| length >= least)
            && node.max_length.is_none_or(|most| length <= most)
    };
    let found = candidates.iter().find(fits).cloned();
    found.or_else(|| matching(node, &label, context)).or_else(|| candidates.into_iter().next()).unwrap_or_default()
}

/// Returns a text that the pattern of a node allows.
fn matching(node: &Node, name: &str, context: &Context<'_>) -> Option<String> {
    let length = |bound: Option<u64>, otherwise: usize| {
        bound.map_or(otherwise, |length| usize::try_from(length).unwrap_or(otherwise))
    };
    let (least, most) = (length(node.min_length, 0), length(node.max_length, usize::MAX));
    let Some(pattern) = &node.pattern else {
        return Some(context.source.text(name, b"abcdefghijklmnopqrstuvwxyz", least.max(12).min(most)));
    };
    let mut drawn = 0u32;
    let mut draw = |limit: usize| {
        drawn += 1;
        let most = u64::try_from(limit.saturating_sub(1)).unwrap_or(u64::MAX);
        usize::try_from(context.source.number(&format!("{name}/{drawn}"), 0, most)).unwrap_or_default()
    };
    // Identifiers of a few characters would soon repeat.
    [least.max(12).min(most), least]
        .into_iter()
        .find_map(|least| sample(pattern.text(), least, most, &mut draw).filter(|text| pattern.matches(text)))
}

fn candidates(
    schema: &TypeSchema,
    node: &Node,
    (name, label): (&str, &str),
    context: &Context<'_>,
    model: &Json,
) -> Vec<String> {
    let source = context.source;
    let part = resource_part(&schema.type_name).unwrap_or_default();
    let service = schema.type_name.split("::").nth(1).unwrap_or_default().to_ascii_lowercase();
    let arn_service = ARN_SERVICES.iter().find(|(known, _)| *known == service).map_or(&*service, |(_, name)| *name);
    let kebab = part.replace('_', "-");
    let snake = snake_case(name);
    let identifier = schema.identifier_of(model).map(|known| known.replace('|', "/"));
    let fill = |template: &str| context.fill(template, label, model);
    let arn_of = |kind: &str| {
        let last =
            identifier.clone().filter(|known| !known.starts_with("arn:")).unwrap_or_else(|| source.hex(label, 12));
        fill(&format!("arn:aws:{arn_service}:$(region):$(account):{kind}/{last}"))
    };
    let arn = || arn_of(&kebab);
    let mut first = Vec::new();
    if node.format.as_deref() == Some("date-time")
        || snake.ends_with("_at")
        || snake.ends_with("time")
        || snake.ends_with("date")
    {
        first.push(context.now());
    }
    if snake.ends_with("arn") || snake.ends_with("ar_n") {
        first.extend([arn(), arn_of(&kebab.replace('-', ""))]);
    } else if snake.ends_with("account_id") || snake == "account" {
        first.push(context.account.to_owned());
    } else if service == "ec2" && snake.ends_with("id") {
        first.push(format!("{kebab}-{}", source.hex(label, 17)));
    } else if snake.ends_with("url") || snake.ends_with("uri") {
        first.push(fill(&format!("https://$(lower:12).{service}.$(region).amazonaws.com")));
    } else if snake.ends_with("endpoint") || snake.ends_with("domain_name") || snake.ends_with("dns_name") {
        first.push(fill(&format!("$(lower:12).{service}.$(region).amazonaws.com")));
    } else if snake.ends_with("status") || snake.ends_with("state") {
        first.push("ACTIVE".to_owned());
    } else if snake.ends_with("version") {
        first.push("1".to_owned());
    } else if snake.ends_with("name") {
        first.push(fill(&format!("{kebab}-$(lower:12)")));
    }
    first.extend([
        source.text(label, b"abcdefghijklmnopqrstuvwxyz0123456789", 12),
        source.uuid(label),
        source.hex(label, 17),
        source.hex(label, 32),
        source.text(label, b"0123456789ABCDEF", 10),
        source.text(label, b"0123456789", 12),
        source.text(label, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", 21),
        format!("{kebab}-{}", source.hex(label, 8)),
        format!("{kebab}-{}", source.hex(label, 17)),
        fill("$(region)_$(alnum:9)"),
        arn(),
        "1".to_owned(),
        "true".to_owned(),
    ]);
    first
}
