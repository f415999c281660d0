//! A checked provider with one type, and shorthands for its calls.

use std::sync::{Arc, Mutex};

use groma_address::{ProviderAddress, ResourceInstance};
use groma_diagnostics::{Diagnostics, Sources, Span};
use groma_provider::{
    Answer, Applied, ApplyInput, Attribute, Block, BodyDecoder, Checked, Name, NestedBlock, Nesting, PlanInput,
    PlanPurpose, Planned, Schema, Subject, Use,
};
use groma_scripted::{ResourceScript, Scripted, World};
use groma_value::{Type, Value};

/// `id` computed, `name` and `secret` (sensitive) optional, `size` optional and computed, `token` write-only, `rule`
/// blocks.
pub fn schema() -> Schema {
    let port = Block::new([("port", Attribute::optional(Type::Number))], Vec::<(&str, NestedBlock)>::new());
    Schema::new(Block::new(
        [
            ("id", Attribute::computed(Type::String)),
            ("name", Attribute::optional(Type::String)),
            ("secret", Attribute::optional(Type::String).sensitive()),
            ("size", Attribute::optional_computed(Type::String)),
            ("token", Attribute::optional(Type::String).write_only()),
        ],
        [("rule", NestedBlock::new(Nesting::List, port))],
    ))
}

pub struct Setup {
    pub checked: Checked,
    pub provider: Arc<Scripted>,
    pub address: ResourceInstance,
    pub schema: Arc<Schema>,
    pub body: BodyDecoder,
    pub sources: Sources,
    pub log: Arc<Mutex<Vec<String>>>,
    pub span: Span,
}

/// The source of the resource that diagnostics point to.
const TEXT: &str = "name = \"web\"\nsize = \"large\"\nrule {\n  port = 80\n}\n";

impl Setup {
    pub fn new(script: impl FnOnce(ResourceScript) -> ResourceScript) -> Self {
        Self::of(schema(), script)
    }

    pub fn of(schema: Schema, script: impl FnOnce(ResourceScript) -> ResourceScript) -> Self {
        let schema = Arc::new(schema);
        let script = script(ResourceScript::new((*schema).clone()));
        let provider = Arc::new(Scripted::new("test").resource("test_object", script));
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let lines = Arc::clone(&log);
        let checked = Checked::new(provider.clone(), ProviderAddress::default_for("test"))
            .with_log(Arc::new(move |diagnostic| lines.lock().unwrap().push(diagnostic.summary.clone())));
        let sources = Sources::new();
        let file = sources.add("main.tf", TEXT).unwrap();
        let (parsed, _) = groma_hcl::parse_file(&file);
        let (body, _) = BodyDecoder::new(&parsed.body, &schema.block);
        let span = file.span(0, 4);
        let address = "test_object.web[0]".parse().unwrap();
        Self { checked, provider, address, schema, body, sources, log, span }
    }

    pub fn subject(&self) -> Subject<'_> {
        Subject { address: &self.address, schema: &self.schema, body: Some(&self.body), span: self.span }
    }

    pub fn world(&self) -> &World {
        self.provider.world()
    }

    /// Creates an object with these attributes; the others are empty.
    pub fn object<const N: usize>(&self, values: [(&str, Value); N]) -> Value {
        object(&self.schema.block, &values)
    }

    pub fn null(&self) -> Value {
        self.schema.block.null_value()
    }

    pub fn plan(&self, prior: Value, config: Value) -> (Option<Planned>, Diagnostics) {
        self.plan_for(PlanPurpose::Change, prior, config)
    }

    pub fn plan_for(&self, purpose: PlanPurpose, prior: Value, config: Value) -> (Option<Planned>, Diagnostics) {
        let input = PlanInput { purpose, prior, config, ..PlanInput::default() };
        wait(self.checked.plan(&self.subject(), input))
    }

    pub fn apply(&self, prior: Value, planned: Value, config: Value) -> (Applied, Diagnostics) {
        let input = ApplyInput { prior, planned, config, ..ApplyInput::default() };
        wait(self.checked.apply(&self.subject(), input))
    }

    /// Formats diagnostics as `summary [source text]: detail`.
    pub fn texts(&self, diagnostics: &Diagnostics) -> Vec<String> {
        let at = |span: Option<Span>| span.and_then(|span| self.sources.text(span)).unwrap_or_default();
        diagnostics.iter().map(|found| format!("{} [{}]: {}", found.summary, at(found.subject), found.detail)).collect()
    }
}

/// Checks the only diagnostic: its summary, its address, and that it reports a provider bug.
pub fn assert_provider_bug(diagnostics: &Diagnostics, summary: &str) -> String {
    let found: Vec<_> = diagnostics.iter().collect();
    let [only] = found.as_slice() else { panic!("one diagnostic expected: {diagnostics:#?}") };
    assert_eq!(only.summary, summary);
    assert_eq!(only.address.as_ref().map(ToString::to_string).as_deref(), Some("test_object.web[0]"));
    assert!(only.detail.contains("bug in the provider"), "{}", only.detail);
    assert!(only.detail.contains("registry.terraform.io/hashicorp/test"), "{}", only.detail);
    only.detail.clone()
}

pub fn object(block: &Block, values: &[(&str, Value)]) -> Value {
    let given = |name: &str| values.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone());
    block.object(
        block.slots().iter().map(|slot| given(&slot.name).unwrap_or_else(|| slot.item.empty_value().clone())).collect(),
    )
}

/// Changes one attribute of `object`.
pub fn with(object: &Value, name: &str, value: Value) -> Value {
    Value::object(
        object
            .as_object()
            .unwrap()
            .iter()
            .map(|(own, old)| (own.clone(), if **own == *name { value.clone() } else { old.clone() })),
    )
}

pub fn get(object: &Value, name: &str) -> Value {
    object.attribute(name).unwrap()
}

pub fn s(text: &str) -> Value {
    Value::string(text)
}

pub fn unknown() -> Value {
    Value::unknown(Type::String)
}

pub fn no_blocks() -> Vec<(Name, NestedBlock)> {
    Vec::new()
}

pub fn attribute(usage: Use) -> Attribute {
    Attribute::new(groma_provider::AttributeType::Type(Type::String), usage)
}

/// Blocks until the answer is ready.
pub fn wait<T: Unpin>(answer: Answer<'_, T>) -> T {
    answer.wait()
}
