use groma_address::ProviderAddress;
use proptest::prelude::*;

use super::*;
use crate::object::AttributesJson;

fn provider() -> ProviderConfig {
    ProviderConfig::default_in_root(ProviderAddress::builtin_terraform())
}

fn address(text: &str) -> ResourceInstance {
    text.parse().unwrap()
}

fn object(id: &str) -> Arc<ObjectRecord> {
    Arc::new(ObjectRecord::new(0, AttributesJson::new(format!("{{\"id\":\"{id}\"}}"))))
}

fn shown(state: &State) -> Vec<String> {
    let current = |view: InstanceView<'_>| {
        let deposed: Vec<_> = view.record.deposed.values().filter_map(|object| object.id_json()).collect();
        let current = view.record.current.as_ref().and_then(|object| object.id_json());
        format!("{} {} {deposed:?}", view.address(), current.unwrap_or_default())
    };
    state.iter().map(current).collect()
}

#[test]
fn instances_come_in_terraforms_order() {
    let mut state = State::new("1.15.5");
    for text in ["module.a.x.y", "x.y[10]", "x.y[9]", "x.y", "data.x.y", "x.a"] {
        state.insert(&address(text), None, &provider(), object("i"));
    }
    let order: Vec<_> = state.iter().map(|view| view.address().to_string()).collect();
    assert_eq!(order, ["data.x.y", "x.a", "x.y", "x.y[9]", "x.y[10]", "module.a.x.y"]);
    assert_eq!(state.len(), 6);
}

#[test]
fn a_replaced_object_is_deposed_until_it_is_deleted() {
    let mut state = State::new("1.15.5");
    let x = address("x.y");
    state.insert(&x, None, &provider(), object("old"));
    let key = state.depose(&x).unwrap();
    state.insert(&x, None, &provider(), object("new"));
    assert_eq!(shown(&state), ["x.y \"new\" [\"\\\"old\\\"\"]"]);
    assert!(!state.restore(&x, &key), "there is a current object");
    assert!(state.remove(&x, None).is_some());
    assert!(state.restore(&x, &key));
    assert_eq!(shown(&state), ["x.y \"old\" []"]);
    assert!(state.remove(&x, None).is_some());
    assert!(state.is_empty());
    assert_eq!(state.len(), 0);
}

#[test]
fn a_moved_instance_keeps_its_objects_and_its_provider() {
    let mut state = State::new("1.15.5");
    state.insert(&address("x.y"), None, &provider(), object("a"));
    state.insert(&address("x.z"), None, &provider(), object("b"));
    assert!(!state.rename(&address("x.y"), &address("x.z")), "the place is taken");
    assert!(state.rename(&address("x.y"), &address("module.m.x.y[0]")));
    assert!(!state.rename(&address("x.y"), &address("x.q")), "it is gone");
    assert_eq!(shown(&state), ["x.z \"b\" []", "module.m.x.y[0] \"a\" []"]);
    assert_eq!(state.provider(&address("module.m.x.y[0]"), None), Some(&provider()));
}

#[test]
fn recorded_dependencies_can_be_renamed() {
    let mut state = State::new("1.15.5");
    let resource = |text: &str| address(text).config_resource();
    let on = |list: &[&str]| {
        let dependencies = Dependencies::new(list.iter().map(|text| resource(text)));
        Arc::new(ObjectRecord { dependencies, ..(*object("i")).clone() })
    };
    let shared = on(&["x.old", "x.other"]);
    for text in ["x.a", "x.b"] {
        state.insert(&address(text), None, &provider(), Arc::clone(&shared));
    }
    state.insert(&address("x.c"), None, &provider(), on(&["x.other"]));
    let names = BTreeSet::from([resource("x.new"), resource("module.m.x.split")]);
    state.rename_dependencies(&HashMap::from([(resource("x.old"), names)]));
    let described = |text: &str| {
        let object = state.object(&address(text), None).unwrap();
        object.dependencies.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(described("x.a"), "module.m.x.split x.new x.other");
    assert_eq!(described("x.b"), described("x.a"));
    assert_eq!(described("x.c"), "x.other");
}

#[test]
fn refreshed_objects_keep_their_provider_instance() {
    let alias = ProviderConfig { alias: Some("each".into()), ..provider() };
    let manager = alias.instance(InstanceKey::String("a".into()));
    let (mut state, mut made) = (State::new("1.15.5"), State::new("1.15.5"));
    state.insert(&address("x.y"), None, &provider(), object("old"));
    made.insert(&address("x.z"), None, &manager, object("new"));
    state.absorb(made);
    assert_eq!(state.provider(&address("x.z"), None), Some(&manager));
    assert_eq!(state.provider_instances().collect::<Vec<_>>(), [&manager]);
    let read = crate::file::read(&crate::file::write(&state)).unwrap();
    assert_eq!(read.provider(&address("x.z"), None), Some(&manager));
}

proptest! {
    #[test]
    fn it_behaves_as_a_map_of_objects(steps in prop::collection::vec((0..2_u8, 0..4_u64, 0..3_u8, any::<bool>()), 0..60)) {
        let mut state = State::new("1.15.5");
        let mut model = BTreeMap::new();
        let keys = [None, DeposedKey::new("00000001"), DeposedKey::new("00000002")];
        for (number, (resource, key, deposed, insert)) in steps.into_iter().enumerate() {
            let instance = address(&format!("x.r{resource}[{key}]"));
            let deposed = keys[usize::from(deposed)].clone();
            let slot = (instance.clone(), deposed.clone());
            let expected = if insert {
                let new = object(&number.to_string());
                prop_assert_eq!(
                    state.insert(&instance, deposed.as_ref(), &provider(), new.clone()),
                    model.insert(slot, new)
                );
                continue;
            } else {
                model.remove(&slot)
            };
            prop_assert_eq!(state.remove(&instance, deposed.as_ref()), expected);
        }
        let mut found = BTreeMap::new();
        for view in state.iter() {
            prop_assert!(!view.record.is_empty());
            found.extend(view.record.current.iter().map(|object| ((view.address(), None), object.clone())));
            found.extend(
                view.record.deposed.iter().map(|(key, object)| ((view.address(), Some(key.clone())), object.clone())),
            );
        }
        prop_assert_eq!(found, model);
        prop_assert_eq!(state.len(), state.iter().count());
    }
}
