//! What the expressions can name, for us and for Terraform: the same text on both sides.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Sources};
use groma_hcl::{Expression, Step, Traversal};
use groma_lang::{Availability, FunctionContext, Resolved, Scope, evaluate};
use groma_value::{Marks, Type, Value};

use crate::terraform::Ours;

/// Names whose values both sides make out of these expressions.
pub const LOCALS: &[(&str, &str)] = &[
    ("none", "null"),
    ("text", "\"a,b,c\""),
    ("names", "tolist([\"b\", \"a\", \"c\"])"),
    ("ids", "toset([\"x\", \"y\"])"),
    ("tags", "tomap({ k = \"v\", l = \"w\" })"),
    ("shape", "{ a = 1, b = [true, \"s\"], c = { d = null } }"),
    ("rows", "[{ id = 1, n = \"p\" }, { id = 2, n = \"q\" }]"),
    ("u_text", "terraform_data.later.id"),
    ("u_maybe", "terraform_data.later.output"),
    ("u_any", "jsondecode(terraform_data.later.output)"),
    ("u_count", "length(terraform_data.later.output)"),
    ("u_list", "split(\",\", terraform_data.later.id)"),
    ("u_bool", "terraform_data.later.output == \"x\""),
    ("u_map", "tomap({ k = terraform_data.later.id })"),
    ("u_set", "toset([\"x\", terraform_data.later.id])"),
    ("u_tuple", "[1, terraform_data.later.id, null]"),
    ("u_begun", "\"ab-${terraform_data.later.id}\""),
    ("u_either", "terraform_data.later.id == \"x\" ? \"y\" : null"),
    ("u_some", "tolist([\"x\", terraform_data.later.id, null])"),
    ("u_items", "tolist([{ id = \"i\", n = 2 }, { id = terraform_data.later.id, n = null }])"),
    ("held", "toset([{ a = \"p\" }, { a = null }])"),
    ("none_text", "tostring(null)"),
    ("none_list", "true ? null : tolist([\"a\"])"),
    ("later", "terraform_data.later"),
    ("s_text", "sensitive(\"hush\")"),
    ("s_list", "sensitive([\"p\", \"q\"])"),
    ("s_part", "{ open = 1, shut = sensitive(\"z\") }"),
    ("s_unknown", "sensitive(terraform_data.later.id)"),
];

/// The configuration that gives Terraform's console the same names.
pub fn configuration() -> String {
    let locals: Vec<String> = LOCALS.iter().map(|(name, text)| format!("  {name} = {text}\n")).collect();
    format!(
        "resource \"terraform_data\" \"later\" {{\n  input = uuid()\n}}\nvariable \"fleeting\" {{\n  default   = \"e\"\n  \
         ephemeral = true\n}}\nvariable \"optional\" {{\n  type = object({{\n    a = string\n    b = \
         optional(number, 5)\n    c = optional(list(string))\n  }})\n  default = {{ a = \"x\" }}\n}}\nlocals {{\n{}}}\n",
        locals.concat()
    )
}

/// The names as we have them.
pub struct World {
    later: Value,
    locals: BTreeMap<&'static str, Value>,
    functions: FunctionContext,
}

impl World {
    /// While planning: the resource is not there yet.
    pub fn new() -> Self {
        let unknown = Value::unknown(Type::String);
        Self::with(&unknown.clone().not_null(), &unknown)
    }

    /// With what the resource has as `id` and `output`.
    pub fn with(id: &Value, output: &Value) -> Self {
        let mut world =
            Self { later: later(id, output), locals: BTreeMap::new(), functions: functions(&Arc::new(Sources::new())) };
        let values: Vec<_> = LOCALS.iter().map(|(name, text)| (*name, world.value(text).unwrap())).collect();
        world.locals.extend(values);
        world
    }

    /// The value; nothing where there is a mistake.
    pub fn value(&self, text: &str) -> Option<Value> {
        let file = self.functions.sources.add("names", text)?;
        let (expression, mut diagnostics) = groma_hcl::parse_expression(&file);
        let value = evaluate(&expression, self, &mut diagnostics);
        (!diagnostics.has_errors()).then_some(value)
    }
}

/// An expression as it is read.
pub struct Read {
    pub expression: Expression,
    /// Where its text begins among all texts.
    pub start: u32,
    /// The first error in it.
    pub problem: Option<Diagnostic>,
}

impl World {
    /// What the text is; nothing where it cannot be parsed.
    pub fn read(&self, text: &str) -> Option<Read> {
        let file = self.functions.sources.add("<console-input>", text)?;
        let (expression, mut diagnostics) = groma_hcl::parse_expression(&file);
        if diagnostics.has_errors() {
            return None;
        }
        groma_lang::answer(&expression, self, &mut diagnostics);
        let problem = diagnostics.iter().find(|problem| problem.is_error()).cloned();
        Some(Read { expression, start: file.base(), problem })
    }
}

impl Ours for World {
    fn parses(&self, text: &str) -> bool {
        let file = self.functions.sources.add("parsed", text);
        file.is_some_and(|file| !groma_hcl::parse_expression(&file).1.has_errors())
    }

    fn answer(&self, text: &str) -> String {
        let file = self.functions.sources.add("<console-input>", text).unwrap();
        let (expression, mut diagnostics) = groma_hcl::parse_expression(&file);
        let answer = match diagnostics.has_errors() {
            true => None,
            false => groma_lang::answer(&expression, self, &mut diagnostics),
        };
        match diagnostics.iter().find(|problem| problem.is_error()) {
            Some(problem) => format!("error: {}", problem.summary),
            None => answer.unwrap_or_default(),
        }
    }
}

fn functions(sources: &Arc<Sources>) -> FunctionContext {
    let functions = FunctionContext::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"), Arc::clone(sources));
    FunctionContext { availability: Availability::Console, ..functions }
}

impl Scope for World {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        let first = traversal.steps().first().map(|step| match step {
            Step::Attribute { name, .. } => name.to_string(),
            _ => String::new(),
        });
        let name = first.as_deref().unwrap_or_default();
        let found = match &*traversal.root.name {
            "terraform_data" if name == "later" => Some(self.later.clone()),
            "var" if name == "fleeting" => Some(Value::string("e").with_marks(&Marks::EPHEMERAL)),
            "var" if name == "optional" => Some(Value::object([
                ("a", Value::string("x")),
                ("b", Value::number(5_i64)),
                ("c", Value::null(Type::list(Type::String))),
            ])),
            "local" => self.locals.get(name).cloned(),
            _ => None,
        };
        match found {
            Some(value) => Ok(Resolved { value, consumed: 1 }),
            None => Err(Diagnostic::error("Reference to undeclared resource", "").at(traversal.root.span)),
        }
    }

    fn functions(&self) -> &FunctionContext {
        &self.functions
    }
}

fn later(id: &Value, output: &Value) -> Value {
    Value::object([
        ("id", id.clone()),
        ("input", output.clone()),
        ("output", output.clone()),
        ("triggers_replace", Value::null(Type::Dynamic)),
    ])
}
