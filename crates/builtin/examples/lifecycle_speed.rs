//! Measures the throughput of decoding, planning and applying `terraform_data` with all checks, in instances per
//! second.

use std::sync::Arc;
use std::time::Instant;

use groma_address::{InstanceKey, ProviderAddress, Resource, ResourceInstance};
use groma_builtin::Terraform;
use groma_diagnostics::{Sources, Span};
use groma_lang::{ChildScope, EmptyScope, FunctionContext};
use groma_provider::{ApplyInput, BodyDecoder, Checked, PlanInput, Subject};
use groma_value::Value;

const COUNT: u64 = 200_000;

const TEXT: &str =
    "input = {\n  name = \"web-${count.index}\"\n  tags = [\"a\", \"b\", \"c\"]\n}\ntriggers_replace = count.index\n";

fn main() {
    let checked = Checked::new(Arc::new(Terraform::default()), ProviderAddress::builtin_terraform());
    let Ok(Some(schema)) = checked.resource_schema("terraform_data") else { return };
    let sources = Arc::new(Sources::new());
    let Some(file) = sources.add("main.tf", TEXT) else { return };
    let (parsed, _) = groma_hcl::parse_file(&file);
    let (body, _) = BodyDecoder::new(&parsed.body, &schema.block);
    // One scope for all instances: only `count.index` differs.
    let empty = EmptyScope::new(FunctionContext::new("", sources));

    let started = Instant::now();
    let configs: Vec<Value> = (0..COUNT)
        .map(|index| {
            let count = Value::object([("index", Value::number(index))]);
            body.evaluate(&ChildScope::new(&empty, vec![("count".into(), count)])).0
        })
        .collect();
    report("decoded", started);

    let addresses: Vec<ResourceInstance> = (0..COUNT)
        .map(|index| ResourceInstance::in_root(Resource::managed("terraform_data", "a"), InstanceKey::Int(index)))
        .collect();
    let subject = |address| Subject { address, schema: &schema, body: Some(&body), span: Span::NONE };
    let plan = |address, prior: &Value, config: &Value| {
        let input = PlanInput { prior: prior.clone(), config: config.clone(), ..PlanInput::default() };
        checked.plan(&subject(address), input).now().ok().and_then(|(planned, _)| planned)
    };

    let null = schema.block.null_value();
    let started = Instant::now();
    let planned: Vec<Value> = addresses
        .iter()
        .zip(&configs)
        .filter_map(|(address, config)| plan(address, &null, config).map(|planned| planned.state))
        .collect();
    report("planned to create", started);

    let started = Instant::now();
    let states: Vec<Value> = addresses
        .iter()
        .zip(planned.iter().zip(&configs))
        .filter_map(|(address, (planned, config))| {
            let input = ApplyInput {
                prior: null.clone(),
                planned: planned.clone(),
                config: config.clone(),
                ..ApplyInput::default()
            };
            checked.apply(&subject(address), input).now().ok().map(|(applied, _)| applied.state)
        })
        .collect();
    report("applied", started);

    let started = Instant::now();
    let unchanged = addresses
        .iter()
        .zip(states.iter().zip(&configs))
        .filter(|(address, (state, config))| {
            plan(*address, state, config).is_some_and(|planned| planned.state == **state)
        })
        .count();
    report("planned without a change", started);
    // Guards the measurement: a plan that finds a change would take another path.
    assert_eq!(unchanged as u64, COUNT);
}

fn report(what: &str, started: Instant) {
    let seconds = started.elapsed().as_secs_f64();
    println!("{what}: {:.0} a second", COUNT as f64 / seconds);
}
