//! How long a resource with a large set takes to plan: `cargo run --release -p groma-framework --no-default-features
//! --example sets`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use groma_framework::model::{Field as _, Set};
use groma_framework::{Bundle, Call, Maybe, Model, ModelResource, ProviderDiagnostic};
use groma_provider::{PlanRequest, Provider, proposed_new_state};
use groma_value::Value;

/// A group with as many members as a set can have.
#[derive(Model)]
struct Group {
    #[attribute(computed, use_state_for_unknown)]
    id: Maybe<String>,
    names: Set<String>,
    #[block]
    member: Set<Member>,
}

#[derive(Model)]
struct Member {
    name: String,
    #[attribute(default = "reader")]
    role: Maybe<String>,
    #[attribute(computed, use_state_for_unknown)]
    number: Maybe<u64>,
}

struct Groups;

impl ModelResource for Groups {
    type Model = Group;

    async fn create(&self, plan: Group, _: &mut Call) -> Result<Group, ProviderDiagnostic> {
        Ok(plan)
    }

    async fn read(&self, state: Group, _: &mut Call) -> Result<Option<Group>, ProviderDiagnostic> {
        Ok(Some(state))
    }

    async fn delete(&self, _: Group, _: &mut Call) -> Result<(), ProviderDiagnostic> {
        Ok(())
    }
}

fn group(members: std::ops::Range<u64>, made: Maybe<u64>) -> Value {
    let names = members.clone().map(|number| format!("name-{number}")).collect();
    // A configuration leaves computed and defaulted values out; a stored object has them.
    let role = if made == Maybe::Null { Maybe::Null } else { Maybe::Known("reader".to_owned()) };
    let id = if made == Maybe::Null { Maybe::Null } else { Maybe::Known("g-1".to_owned()) };
    let member = |number: u64| Member {
        name: format!("member-{number}"),
        role: role.clone(),
        number: if made == Maybe::Null { Maybe::Null } else { Maybe::Known(number) },
    };
    Group { id, names, member: members.map(member).collect() }.to_value()
}

/// Plans with `count` elements in either set, of which the first goes and another comes; what it took.
fn planned(server: &dyn Provider, count: u64) -> Duration {
    let Ok(Some(schema)) = server.resource_schema("test_group") else { return Duration::MAX };
    let prior = group(0..count, Maybe::Known(1));
    let config = group(1..count + 1, Maybe::Null);
    let start = Instant::now();
    let request = PlanRequest {
        type_name: "test_group".into(),
        proposed_new_state: proposed_new_state(&schema.block, &prior, &config),
        prior_state: prior,
        config,
        ..PlanRequest::default()
    };
    let response = server.plan_resource(request).wait();
    let took = start.elapsed();
    assert!(response.diagnostics.is_empty(), "{:?}", response.diagnostics);
    took
}

fn main() {
    let server = match Bundle::new().resource("test_group", Groups).build() {
        Ok(server) => Arc::new(server),
        Err(problems) => return eprintln!("{problems:?}"),
    };
    // Builds the types before the measurement begins.
    planned(&*server, 100);
    for count in [1_000, 10_000, 100_000] {
        // The best of several runs: other programs only ever add time.
        let best = (0..5).map(|_| planned(&*server, count)).min().unwrap_or_default();
        println!("{count:>7} elements in each of two sets: {:.1} ms", best.as_secs_f64() * 1e3);
    }
}
