//! Every type through its whole life, with configurations drawn from its schema: the contract of the lifecycle holds, and
//! what was created needs no further change (CC-36).

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use groma_framework::Server;
use groma_provider::{
    ApplyRequest, ApplyResponse, ClientCapabilities, ConfigureRequest, ImportRequest, ImportTarget, PlanRequest,
    PlanResponse, Private, Provider, ReadRequest, contract, proposed_new_state,
};
use groma_value::{Kind, Value};
use serde_json::Value as Json;

use super::AwsCloudControl;
use super::check::check;
use super::document::{Part, of_object, same_meaning};
use super::fields::{Change, Fields, Shape};
use super::interpreted::{Interpreted, Types};
use super::patch::patch;
use super::same::{is_empty, same_in_any_order};
use super::sampler::{Sampler, with_fixed};
use crate::emulator::{Embedded, Faults, Settings, Store};
use crate::names;
use crate::schema::{Catalogue, Draw, TypeSchema};

fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return done;
        }
    }
}

/// What became of the objects of all types.
#[derive(Debug, Default)]
struct Counts {
    lived: usize,
    refused: usize,
    updated: usize,
    not_updated: usize,
    imported_unchanged: usize,
    imported_updated: usize,
    /// The types with an object whose life did not go as it must.
    broken: Vec<String>,
    /// The first reason of each type whose update failed.
    reasons: std::collections::BTreeMap<String, String>,
}

impl Counts {
    fn note(&mut self, name: &str, failed: &ApplyResponse) {
        let detail = failed.diagnostics.iter().next().map(|problem| problem.detail.clone());
        self.reasons.entry(name.to_owned()).or_insert_with(|| detail.unwrap_or_default());
    }
}

/// The object without the values that no read returns.
fn write_only_as_null(fields: &Fields, object: &Value) -> Value {
    let Some(view) = object.as_object() else { return object.clone() };
    let values = fields.list.iter().zip(view.values()).map(|(field, value)| {
        if field.write_only || field.read_only() || field.default.is_some() {
            return Value::null(field.shape.ty());
        }
        match (&field.shape, value.kind()) {
            (Shape::Object(inner), Kind::Object(_)) => {
                let inside = write_only_as_null(inner, value);
                if is_empty(&field.shape, &inside) { Value::null(field.shape.ty()) } else { inside }
            }
            (Shape::List(element, _), Kind::List(values)) => match &**element {
                Shape::Object(inner) => {
                    Value::list(element.ty(), values.iter().map(|value| write_only_as_null(inner, value)).collect())
                }
                _ => value.clone(),
            },
            (Shape::Set(element), Kind::Set(values)) => match &**element {
                Shape::Object(inner) => {
                    Value::set(element.ty(), values.iter().map(|value| write_only_as_null(inner, value)).collect())
                }
                _ => value.clone(),
            },
            _ => value.clone(),
        }
    });
    fields.block.object(values.collect())
}

struct Life<'a> {
    provider: &'a Server,
    interpreted: &'a Interpreted,
    name: String,
}

impl Life<'_> {
    fn plan(&self, config: &Value, prior: &Value, private: &Private) -> PlanResponse {
        let block = &self.interpreted.fields.block;
        let planned = wait(self.provider.plan_resource(PlanRequest {
            type_name: self.name.as_str().into(),
            prior_state: prior.clone(),
            proposed_new_state: proposed_new_state(block, prior, config),
            config: config.clone(),
            prior_private: private.clone(),
            ..PlanRequest::default()
        }));
        assert!(!planned.diagnostics.has_errors(), "{}: {:?}", self.name, planned.diagnostics);
        let violations = contract::check_planned(block, prior, config, &planned.planned_state);
        assert!(violations.is_empty(), "{}: {violations:?}", self.name);
        planned
    }

    fn apply(&self, config: &Value, prior: &Value, plan: &PlanResponse) -> ApplyResponse {
        let applied = wait(self.provider.apply_resource(ApplyRequest {
            type_name: self.name.as_str().into(),
            prior_state: prior.clone(),
            planned_state: plan.planned_state.clone(),
            config: config.clone(),
            planned_private: plan.planned_private.clone(),
            ..ApplyRequest::default()
        }));
        if !applied.diagnostics.has_errors() {
            let state = applied.new_state.as_ref().unwrap();
            let violations = contract::check_compatible(&self.interpreted.fields.block, &plan.planned_state, state);
            assert!(violations.is_empty(), "{}: {violations:?}", self.name);
            assert!(state.is_wholly_known(), "{}", self.name);
        }
        applied
    }

    fn read(&self, state: &Value) -> Value {
        self.read_with(state, &Private::default()).0
    }

    fn read_with(&self, state: &Value, private: &Private) -> (Value, Private) {
        let read = wait(self.provider.read_resource(ReadRequest {
            type_name: self.name.as_str().into(),
            current_state: state.clone(),
            private: private.clone(),
            ..ReadRequest::default()
        }));
        (read.new_state, read.private)
    }

    /// The object as an import without its configuration finds it.
    fn import(&self, state: &Value) -> (Value, Private) {
        let identifier = state.attribute("id").unwrap().as_str().unwrap().to_owned();
        let imported = wait(self.provider.import_resource(ImportRequest {
            type_name: self.name.as_str().into(),
            target: ImportTarget::Id(identifier),
            config: None,
            client_capabilities: ClientCapabilities::default(),
        }));
        self.read_with(&imported.imported[0].state, &imported.imported[0].private)
    }

    fn delete(&self, state: &Value, private: &Private) {
        let null = Value::null(state.ty());
        let deleted = wait(self.provider.apply_resource(ApplyRequest {
            type_name: self.name.as_str().into(),
            prior_state: state.clone(),
            planned_state: null.clone(),
            config: null,
            planned_private: private.clone(),
            ..ApplyRequest::default()
        }));
        assert!(!deleted.diagnostics.has_errors(), "{}: {:?}", self.name, deleted.diagnostics);
    }

    /// Takes an object through its life if the service accepts the configuration.
    fn live(&self, config: &Value, smaller: &Value, counts: &mut Counts) -> bool {
        let null = Value::null(self.interpreted.fields.block.implied_type().clone());
        let plan = self.plan(config, &null, &Private::default());
        let created = self.apply(config, &null, &plan);
        if created.diagnostics.has_errors() {
            return false;
        }
        let state = created.new_state.unwrap();
        let read = self.read(&state);
        assert_eq!(difference(&state, &read), None, "{}: a read changes the state", self.name);
        let again = self.plan(config, &read, &created.private);
        assert_eq!(difference(&read, &again.planned_state), None, "{}: another plan changes something", self.name);
        assert!(again.requires_replace.is_empty(), "{}", self.name);

        let (imported, private) = self.import(&state);
        let adopted = self.plan(config, &imported, &private);
        assert!(adopted.requires_replace.is_empty(), "{}: an import leads to a replacement", self.name);
        if imported == adopted.planned_state {
            counts.imported_unchanged += 1;
        } else {
            counts.imported_updated += 1;
            // Only what cannot be read may differ.
            let hidden = write_only_as_null(&self.interpreted.fields, &adopted.planned_state);
            let known = write_only_as_null(&self.interpreted.fields, &imported);
            let fields = &self.interpreted.fields;
            let pairs = known.as_object().unwrap().values().iter().zip(hidden.as_object().unwrap().values());
            for (field, (known, hidden)) in fields.list.iter().zip(pairs) {
                let is_same = same_in_any_order(&field.shape, known, hidden);
                assert!(is_same, "{}: an import changes {}: {known:?} {hidden:?}", self.name, field.attribute);
            }
        }

        let plan = self.plan(smaller, &state, &created.private);
        let (mut state, mut private) = (state, created.private);
        if plan.requires_replace.is_empty() && plan.planned_state != state {
            let updated = self.apply(smaller, &state, &plan);
            if updated.diagnostics.has_errors() {
                counts.not_updated += 1;
                counts.note(&self.name, &updated);
            } else {
                counts.updated += 1;
                state = updated.new_state.unwrap();
                private = updated.private;
                let again = self.plan(smaller, &self.read(&state), &private);
                assert_eq!(difference(&state, &again.planned_state), None, "{}: an update does not settle", self.name);
            }
        }
        self.delete(&state, &private);
        assert!(self.read(&state).is_null(), "{}", self.name);
        true
    }
}

/// The first difference of two values, for a message a person can read.
fn difference(left: &Value, right: &Value) -> Option<String> {
    if left == right {
        return None;
    }
    let mut found = None;
    left.walk(|path, value| {
        let other = right.path_get(path).ok();
        let differs = other.as_ref() != Some(value);
        if differs && found.as_ref().is_none_or(|(depth, _)| path.len() > *depth) {
            found = Some((path.len(), format!("{path}: {value:?} and {other:?}")));
        }
        differs
    });
    Some(found.map_or_else(|| "as a whole".to_owned(), |(_, text)| text))
}

fn without_some(fields: &Fields, config: &Value, draw: &mut Draw) -> Value {
    let view = config.as_object().unwrap();
    let values = fields.list.iter().zip(view.values()).map(|(field, value)| {
        let optional = field.usage == groma_provider::Use::OptionalComputed && field.change == Change::InPlace;
        let removable = optional && draw.below(2) == 0;
        if removable { Value::null(field.shape.ty()) } else { value.clone() }
    });
    fields.block.object(values.collect())
}

#[test]
fn cc_36_every_type_obeys_the_contract_and_converges() {
    let catalogue = Catalogue::shipped();
    // AWS may return lists in any order.
    let faults = Faults { shuffle: true, ..Faults::default() };
    let settings = Settings { faults, ..Settings::default() };
    let store = Arc::new(Store::in_memory(catalogue.clone(), settings).unwrap());
    let types = Types::new(catalogue.clone());
    let provider = AwsCloudControl::default().with_api(Arc::new(Embedded::new(store, "eu-central-1"))).served();
    let config = provider.schema().unwrap().config.block.empty_value().clone();
    let request = ConfigureRequest {
        terraform_version: "1.15.0".to_owned(),
        config,
        client_capabilities: ClientCapabilities::default(),
    };
    assert!(wait(provider.configure(request)).is_empty());
    // A ninth of the types keeps the test short; GROMA_EVERY_TYPE selects all.
    let step = std::env::var("GROMA_EVERY_TYPE").map_or(9, |_| 1);
    let mut counts = Counts::default();
    for (number, cloud_name) in catalogue.type_names().into_iter().enumerate() {
        // The largest types take seconds each in a build for tests.
        if number % step != 0 || cloud_name.starts_with("AWS::QuickSight") {
            continue;
        }
        let name = names::resource_type(cloud_name).unwrap();
        let Ok(Some(interpreted)) = types.one(&name) else { continue };
        let fields = &interpreted.fields;
        for round in 0..4 {
            let mut sampler = Sampler { schema: &interpreted.schema, draw: Draw(number as u64 * 31 + round) };
            let config = sampler.object(fields, 0);
            if check(&interpreted.schema, fields, &config).has_errors() {
                counts.refused += 1;
                continue;
            }
            let smaller = without_some(fields, &config, &mut sampler.draw);
            let life = Life { provider: &provider, interpreted: &interpreted, name: name.clone() };
            // The failure of one type must not hide those of others.
            let outcome = catch_unwind(AssertUnwindSafe(|| life.live(&config, &smaller, &mut counts)));
            match outcome {
                Ok(true) => counts.lived += 1,
                Ok(false) => counts.refused += 1,
                Err(_) => counts.broken.push(cloud_name.to_owned()),
            }
        }
    }
    println!("{counts:#?}");
    assert!(counts.broken.is_empty(), "{:?}", counts.broken);
    assert!(counts.lived > counts.refused, "{counts:?}");
    assert!(counts.updated > 10 * counts.not_updated, "{counts:?}");
}

#[test]
fn cc_42_a_patch_turns_the_prior_document_into_the_planned_one() {
    let catalogue = Catalogue::shipped();
    let types = Types::new(catalogue.clone());
    let mut compared = 0;
    for (number, cloud_name) in catalogue.type_names().into_iter().enumerate() {
        if number % 5 != 0 || cloud_name.starts_with("AWS::QuickSight") {
            continue;
        }
        let Ok(Some(interpreted)) = types.one(&names::resource_type(cloud_name).unwrap()) else { continue };
        // What cannot be read is not part of the document that a patch is for.
        if !interpreted.schema.write_only.is_empty() {
            continue;
        }
        let fields = &interpreted.fields;
        for round in 0..3 {
            let mut sampler = Sampler { schema: &interpreted.schema, draw: Draw(number as u64 * 17 + round) };
            let prior = sampler.object(fields, 0);
            let other = with_fixed(fields, &sampler.object(fields, 0), &prior);
            for planned in [&other, &without_some(fields, &prior, &mut sampler.draw), &prior] {
                let operations = patch(fields, &prior, planned);
                let mut document = Json::Object(of_object(fields, &prior, Part::Readable));
                let steps: json_patch::Patch = serde_json::from_value(Json::Array(operations)).unwrap();
                json_patch::patch(&mut document, &steps).unwrap();
                let wanted = Json::Object(of_object(fields, planned, Part::Given));
                assert!(same_meaning(&document, &wanted), "{cloud_name}: {document} instead of {wanted} by {steps:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 1_000, "{compared}");
}

#[test]
fn cc_03_attributes_convert_back_to_properties_exactly() {
    fn walk(schema: &TypeSchema, fields: &Fields, top: bool) {
        let node = schema.node(fields.node);
        let properties: Vec<&str> = fields.list.iter().filter_map(|field| field.property.as_deref()).collect();
        let distinct: std::collections::HashSet<&str> = properties.iter().copied().collect();
        assert_eq!(distinct.len(), properties.len(), "{}", schema.type_name);
        if !node.properties.is_empty() {
            assert!(
                node.properties.iter().all(|(name, _)| distinct.contains(&**name)),
                "{} loses a property",
                schema.type_name
            );
        }
        for field in &fields.list {
            let property = field.property.as_deref().unwrap_or("id");
            assert!(top || *field.attribute == *names::snake_case(property), "{} {property}", schema.type_name);
            inner(schema, &field.shape);
        }
    }
    fn inner(schema: &TypeSchema, shape: &Shape) {
        match shape {
            Shape::Object(fields) => walk(schema, fields, false),
            Shape::List(element, _) | Shape::Set(element) | Shape::Map(element) => inner(schema, element),
            _ => {}
        }
    }
    let types = Types::new(Catalogue::shipped().clone());
    for cloud_name in Catalogue::shipped().type_names() {
        if let Ok(Some(interpreted)) = types.one(&names::resource_type(cloud_name).unwrap()) {
            walk(&interpreted.schema, &interpreted.fields, true);
        }
    }
}
