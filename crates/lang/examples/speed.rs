//! Evaluations a second of a few typical expressions: `cargo run --release -p groma-lang --example speed`. The first, an
//! attribute of a resource in a template, is to be 1,000,000 and more.

use std::sync::Arc;
use std::time::Instant;

use groma_diagnostics::{Diagnostic, Diagnostics, Sources};
use groma_hcl::{Traversal, parse_expression};
use groma_lang::{FunctionContext, Resolved, Scope, evaluate};
use groma_value::Value;

struct Names {
    object: Value,
    list: Value,
    functions: FunctionContext,
}

impl Scope for Names {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        match &*traversal.root.name {
            "object" => Ok(Resolved { value: self.object.clone(), consumed: 0 }),
            "list" => Ok(Resolved { value: self.list.clone(), consumed: 0 }),
            _ => Err(Diagnostic::error("Unknown variable", "")),
        }
    }

    fn functions(&self) -> &FunctionContext {
        &self.functions
    }
}

fn main() {
    let sources = Arc::new(Sources::new());
    let attributes = ["id", "name", "region", "tags", "zone"].map(|name| (name, Value::string(name)));
    let names = Names {
        object: Value::object(attributes),
        list: Value::tuple((0..1_000_i64).map(Value::number).collect()),
        functions: FunctionContext::new(".", Arc::clone(&sources)),
    };
    for (text, turns) in [
        ("\"prefix-${object.name}\"", 3_000_000),
        ("object.name", 3_000_000),
        ("object.name == \"name\" ? 1 : 2", 1_000_000),
        ("merge({ a = object.name }, { b = 2 })", 500_000),
        ("jsonencode({ a = object.name, b = [1, true] })", 500_000),
        ("upper(object.name)", 1_000_000),
        ("[for x in list : x + 1]", 2_000),
        ("{for x in list : \"k${x}\" => x if x > 10}", 1_000),
        ("list[*]", 2_000),
        ("try(object.nope, 1)", 300_000),
        ("format(\"%s-%03d\", object.name, 7)", 500_000),
        ("length(distinct(flatten([for a in list : [for b in list : a * 1000 + b]])))", 1),
        ("length(setproduct(list, list))", 1),
        ("length(toset([for p in setproduct(list, list) : \"${p[0]}-${p[1]}\"]))", 1),
        ("length(jsonencode([for a in list : [for b in list : b]]))", 1),
        ("length(merge([for a in list : {for b in range(100) : \"${a}-${b}\" => b}]...))", 1),
    ] {
        let file = sources.add("speed", text).expect("room for a line");
        let (expression, _) = parse_expression(&file);
        let mut diagnostics = Diagnostics::new();
        let (start, begun) = (Instant::now(), processor_seconds());
        for _ in 0..turns {
            std::hint::black_box(evaluate(&expression, &names, &mut diagnostics));
        }
        let seconds = match (begun, processor_seconds()) {
            (Some(begun), Some(ended)) if ended > begun => ended - begun,
            _ => start.elapsed().as_secs_f64(),
        };
        println!("{:>12.0} a second  {text}", f64::from(turns) / seconds);
    }
}

/// What this thread has had of the processor, where the system tells: a busy machine changes it little.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? / 1e9)
}
