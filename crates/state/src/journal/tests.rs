use std::path::PathBuf;
use std::sync::Arc;

use groma_address::{ProviderAddress, ProviderConfig, ResourceInstance};
use groma_value::Path;
use proptest::prelude::*;

use super::record::Prior;
use super::*;
use crate::dependencies::{Dependencies, OrderedAddresses};
use crate::error::StateErrorKind;
use crate::model::State;
use crate::object::{AttributesJson, DeposedKey, ForeignKeys, Identity, ObjectRecord, ObjectStatus};
use crate::storage::Storage;
use crate::storage::faulty::Faulty;

fn provider() -> ProviderConfig {
    ProviderConfig::default_in_root(ProviderAddress::default_for("aws"))
}

fn address(text: &str) -> ResourceInstance {
    text.parse().unwrap()
}

fn header() -> RunHeader {
    RunHeader { lineage: "line".into(), serial: 4, from_nothing: false }
}

fn start(file: &Faulty) -> Journal {
    resume(Arc::new(file.clone()), None)
}

fn resume(storage: Arc<dyn Storage>, before: Option<&Recovered>) -> Journal {
    let (end, in_flight) = before.map_or((0, Vec::new()), |before| (before.end, before.in_flight()));
    let journal = Journal::open(PathBuf::from("journal"), storage, end, &in_flight, Seal::default());
    journal.start_run(&header()).unwrap();
    journal
}

fn read(file: &Faulty) -> Recovered {
    recover(&file.bytes()).unwrap().unwrap()
}

fn object(id: &str) -> ObjectRecord {
    ObjectRecord::new(1, AttributesJson::new(format!("{{\"id\":\"{id}\"}}")))
}

fn dependencies(texts: &[&str]) -> Dependencies {
    Dependencies::new(texts.iter().map(|text| text.parse().unwrap()))
}

fn begin(text: &str) -> Begin {
    Begin {
        address: address(text),
        deposed: None,
        operation: Operation::Create,
        provider: provider(),
        request: Some(CreateRequest {
            schema_version: 3,
            planned_private: (*b"token").into(),
            planned_state: (*b"state").into(),
            config: (*b"config").into(),
            meta: (*b"meta").into(),
        }),
        dependencies: dependencies(&["a.b", "a.c"]),
        create_before_destroy: true,
        is_kept: true,
        status: ObjectStatus::Tainted,
    }
}

fn finish(journal: &Journal, text: &str, id: &str) {
    journal.finished(&address(text), None, &provider(), None, Outcome::Present(Arc::new(object(id)))).unwrap();
}

/// What happened, as `address id` or `address gone`.
fn described(events: &[Event]) -> Vec<String> {
    let describe = |event: &Event| match event {
        Event::Finished(finished) => match &finished.outcome {
            Outcome::Present(object) => {
                format!("{} {}", finished.object_address.0, object.id_json().unwrap_or_default())
            }
            Outcome::Gone => format!("{} gone", finished.object_address.0),
        },
        Event::Outputs(outputs, _) => format!("{} outputs", outputs.len()),
    };
    events.iter().map(describe).collect()
}

#[test]
fn records_are_read_back_completely() {
    let file = Faulty::default();
    let journal = start(&file);
    let mut full = object("i-1");
    full.status = ObjectStatus::Tainted;
    full.sensitive_attributes = vec![Path::root().attribute("a").position(3), Path::root().attribute("b")];
    full.private = (*b"\x00private").into();
    full.identity = Some(Arc::new(Identity { schema_version: 2, json: Some(AttributesJson::new("{\"n\":1}")) }));
    full.dependencies = dependencies(&["module.a.x.y", "data.p.q"]);
    full.create_before_destroy = true;
    full.foreign =
        Some(Box::new(ForeignKeys { skip_destroy: true, depends_on: Some("[1]".into()), ..Default::default() }));
    let key = DeposedKey::new("deadbeef").unwrap();
    journal.begin(&begin("x.y[1]")).unwrap();
    let outcome = Outcome::Present(Arc::new(full.clone()));
    journal.finished(&address("x.z"), Some(&key), &provider(), Some(&object("before")), outcome.clone()).unwrap();
    journal.outputs(&State::new("1.15.5")).unwrap();
    let found = read(&file);
    assert_eq!(found.header, header());
    assert_eq!(found.in_flight, [begin("x.y[1]")]);
    let [Event::Finished(finished), Event::Outputs(..)] = &found.events[..] else { panic!("{:?}", found.events) };
    assert_eq!(finished.object_address, (address("x.z"), Some(key)));
    assert_eq!(finished.outcome, outcome);
    assert_eq!(
        finished.prior,
        Some(Prior { fingerprint: object("before").fingerprint(), id: Some("\"before\"".into()) })
    );
    assert_eq!(finished.provider, provider());
}

#[test]
fn object_is_recorded_with_its_provider_instance() {
    let file = Faulty::default();
    let journal = start(&file);
    let instance = provider().instance("west".into());
    let outcome = Outcome::Present(Arc::new(object("i-1")));
    journal.finished(&address("x.y"), None, &instance, None, outcome).unwrap();
    let found = read(&file);
    let [Event::Finished(finished)] = &found.events[..] else { panic!("{:?}", found.events) };
    let Outcome::Present(object) = &finished.outcome else { panic!("{:?}", finished.outcome) };
    assert_eq!((&finished.provider, object.provider().map(|own| &**own)), (&instance, Some(&instance)));
}

/// A chain in which each depends on the one before and the one before that, and on what these depend on.
fn chain(length: u32) -> Vec<Dependencies> {
    let names = (0..length).map(|number| format!("x.y{number:03}"));
    let mut table = OrderedAddresses::new(names.map(|name| (name.clone(), name.parse().unwrap())));
    let mut lists = vec![Dependencies::default()];
    for number in 1..length {
        let before = [number - 1, number.saturating_sub(2)];
        let lists_before = before.map(|before| lists[before as usize].clone());
        lists.push(table.union(&before, &lists_before));
    }
    lists
}

#[test]
fn unions_of_lists_are_recorded_as_unions() {
    let lists = chain(400);
    // Some objects are changed first, and what one of them depends on is not changed at all.
    let order = (200..400).chain((0..200).filter(|number| *number != 50));
    let file = Faulty::default();
    let journal = start(&file);
    for number in order.clone() {
        let object = ObjectRecord { dependencies: lists[number].clone(), ..object("i") };
        let address = address(&format!("x.y{number:03}"));
        journal.finished(&address, None, &provider(), None, Outcome::Present(Arc::new(object))).unwrap();
    }
    let found = read(&file);
    assert_eq!(found.events.len(), 399);
    for (event, number) in found.events.iter().zip(order) {
        let Event::Finished(finished) = event else { panic!("{event:?}") };
        let Outcome::Present(object) = &finished.outcome else { panic!("{event:?}") };
        assert_eq!(object.dependencies, lists[number], "{number}");
    }
    let flat: usize = lists.iter().map(Dependencies::len).sum();
    assert!(file.bytes().len() < flat, "{} bytes for {flat} mentions", file.bytes().len());
}

#[test]
fn lists_of_dependencies_are_written_once() {
    let file = Faulty::default();
    let journal = start(&file);
    let list = dependencies(&["module.network.aws_subnet.private", "aws_vpc.main"]);
    let mut sizes = Vec::new();
    for number in 0..3 {
        let mut object = object("i");
        object.dependencies = list.clone();
        let outcome = Outcome::Present(Arc::new(object));
        journal.finished(&address(&format!("x.y[{number}]")), None, &provider(), None, outcome).unwrap();
        sizes.push(file.bytes().len());
    }
    assert!(sizes[2] - sizes[1] < 60, "{sizes:?}");
    for event in &read(&file).events {
        let Event::Finished(finished) = event else { panic!("{event:?}") };
        let Outcome::Present(object) = &finished.outcome else { panic!("{finished:?}") };
        assert_eq!(object.dependencies, list);
    }
}

#[test]
fn a_call_is_in_flight_until_its_result_is_noted() {
    let file = Faulty::default();
    let journal = start(&file);
    for text in ["x.a", "x.b", "x.c"] {
        journal.begin(&begin(text)).unwrap();
    }
    finish(&journal, "x.b", "b");
    journal.resolved(&address("x.c"), None).unwrap();
    let found = read(&file);
    assert_eq!(found.in_flight.iter().map(|begin| begin.address.to_string()).collect::<Vec<_>>(), ["x.a"]);
    assert_eq!(described(&found.events), ["x.b \"b\""]);
}

#[test]
fn a_fold_forgets_what_happened_but_not_what_is_in_flight() {
    let file = Faulty::default();
    let journal = start(&file);
    journal.begin(&begin("x.a")).unwrap();
    finish(&journal, "x.b", "b");
    journal.snapshot("line", 5, &[b"{", b"}"]).unwrap();
    let found = read(&file);
    assert_eq!(described(&found.events), ["x.b \"b\""]);
    let snapshot = found.snapshot.as_ref().unwrap();
    assert_eq!((&*snapshot.lineage, snapshot.serial, &*snapshot.bytes), ("line", 5, &b"{}"[..]));
    finish(&journal, "x.c", "c");
    assert_eq!(described(&read(&file).later), ["x.c \"c\""]);
    journal.start_run(&RunHeader { serial: 5, ..header() }).unwrap();
    assert!(read(&file).is_folded());
    finish(&journal, "x.d", "d");
    let found = read(&file);
    assert_eq!(found.header.serial, 5);
    assert_eq!(described(&found.events), ["x.d \"d\""]);
    assert_eq!(found.in_flight, [begin("x.a")]);
}

#[test]
fn the_next_run_continues_after_a_torn_record() {
    let file = Faulty::default();
    let journal = start(&file);
    finish(&journal, "x.a", "a");
    let whole = file.bytes().len();
    finish(&journal, "x.b", "b");
    drop(journal);
    file.0.lock().unwrap().bytes.truncate(whole + 5);
    let found = read(&file);
    assert_eq!((found.end, described(&found.events)), (whole as u64, vec!["x.a \"a\"".to_owned()]));
    let journal = resume(Arc::new(file.clone()), Some(&found));
    finish(&journal, "x.c", "c");
    assert_eq!(described(&read(&file).events), ["x.c \"c\""]);
}

#[test]
fn full_disk_stops_new_calls_and_keeps_the_results_of_running_ones() {
    let complete = Faulty::default();
    let journal = start(&complete);
    let before = complete.bytes().len();
    journal.begin(&begin("x.a")).unwrap();
    let needed = complete.bytes().len() - before;
    for room in 0..needed {
        let file = Faulty::default();
        let journal = start(&file);
        file.set_room(Some(room));
        let error = journal.begin(&begin("x.a")).unwrap_err();
        assert_eq!(error.kind, StateErrorKind::DiskFull);
        assert!(error.detail.contains("Make room"), "{error}");
        file.set_room(None);
        finish(&journal, "x.b", "b");
        journal.begin(&begin("x.c")).unwrap();
        let found = read(&file);
        assert_eq!(described(&found.events), ["x.b \"b\""]);
        assert_eq!(found.in_flight, [begin("x.c")]);
    }
}

#[test]
fn a_file_that_is_no_journal_of_this_version_is_refused() {
    assert!(recover(b"").unwrap().is_none());
    assert!(recover(&MAGIC[..5]).unwrap().is_none());
    assert!(recover(MAGIC).unwrap().is_none());
    assert!(recover(&[0; 100]).unwrap().is_none());
    assert_eq!(recover(b"groma journal 1\n").unwrap_err().summary, "Unknown journal");
    assert_eq!(recover(b"something else entirely").unwrap_err().summary, "Unknown journal");
    let mut unknown = MAGIC.to_vec();
    frame::append(&mut unknown, |out| out.push(200));
    assert!(recover(&unknown).unwrap_err().detail.contains("does not know"));
}

#[test]
fn records_reach_the_disk_without_waiting_for_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let file = std::fs::File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    let journal = Arc::new(resume(Arc::new(file), None));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let journal = journal.clone();
            scope.spawn(move || (0..50).for_each(|number| finish(&journal, &format!("x.t{thread}[{number}]"), "i")));
        }
    });
    // Written before each call returned: the file says so without any waiting.
    assert_eq!(recover(&std::fs::read(&path).unwrap()).unwrap().unwrap().events.len(), 200);
    journal.sync().unwrap();
    drop(journal);
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(recover(&bytes).unwrap().unwrap().end, bytes.len() as u64, "nothing reserved is left behind");
}

#[test]
fn preallocated_journal_continues_after_its_last_record() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let open = || std::fs::File::options().read(true).write(true).create(true).truncate(false).open(&path).unwrap();
    let journal = resume(Arc::new(open()), None);
    (0..20_000).for_each(|number| finish(&journal, &format!("x.a[{number}]"), "i"));
    // As a killed process leaves it: nobody gives back what was reserved.
    let killed = std::fs::read(&path).unwrap();
    drop(journal);
    std::fs::write(&path, &killed).unwrap();
    let found = recover(&killed).unwrap().unwrap();
    assert_eq!(found.events.len(), 20_000);
    let journal = resume(Arc::new(open()), Some(&found));
    finish(&journal, "x.b", "b");
    assert_eq!(described(&recover(&std::fs::read(&path).unwrap()).unwrap().unwrap().events), ["x.b \"b\""]);
}

#[test]
fn call_is_only_begun_where_its_result_has_room() {
    let mut begun = 0;
    for room in (0..120_000).step_by(997) {
        let file = Faulty::with(&[], None);
        let journal = start(&file);
        file.0.lock().unwrap().reserves = true;
        file.set_room(Some(room));
        let mut in_flight = Vec::new();
        for number in 0..4 {
            let text = format!("x.y[{number}]");
            match journal.begin(&begin(&text)) {
                Ok(()) => in_flight.push(text),
                Err(error) => {
                    assert_eq!(error.kind, StateErrorKind::DiskFull);
                    break;
                }
            }
        }
        begun += in_flight.len();
        for text in in_flight {
            // As much as a result that is larger than usual takes.
            finish(&journal, &text, &"i".repeat(8000));
        }
        assert!(journal.is_complete(), "{room}");
    }
    assert!(begun > 100, "{begun}");
}

/// A journal with a call in flight and results that share providers and lists.
fn journal_with_everything() -> Vec<u8> {
    let file = Faulty::default();
    let journal = start(&file);
    journal.begin(&begin("x.in_flight")).unwrap();
    for number in 0..6 {
        let object = ObjectRecord { dependencies: dependencies(&["a.b", "a.c"]), ..object("i") };
        let address = address(&format!("x.y[{number}]"));
        journal.finished(&address, None, &provider(), None, Outcome::Present(Arc::new(object))).unwrap();
    }
    file.bytes()
}

#[test]
fn damaged_byte_costs_at_most_its_own_record_and_is_reported() {
    let bytes = journal_with_everything();
    let whole = recover(&bytes).unwrap().unwrap();
    assert!(whole.damage.is_none());
    for at in MAGIC.len()..bytes.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= change;
            let found = recover(&damaged).unwrap().unwrap();
            assert_eq!(found.damage.bytes.len(), 1, "byte {at}: {:?}", found.damage);
            let range = &found.damage.bytes[0];
            assert!(range.contains(&(at as u64)), "byte {at}: {range:?}");
            let missing = (whole.events.len() + whole.in_flight.len()) - (found.events.len() + found.in_flight.len());
            assert!(missing <= 1, "byte {at}: {missing} lost");
            for event in &found.events {
                let Event::Finished(finished) = event else { panic!("{event:?}") };
                assert_eq!(finished.provider, provider(), "byte {at}");
            }
        }
    }
}

#[test]
fn damage_is_forgotten_once_it_is_accepted() {
    let mut bytes = journal_with_everything();
    let at = bytes.len() - 100;
    bytes[at] ^= 1;
    let found = recover(&bytes).unwrap().unwrap();
    let file = Faulty::with(&bytes, None);
    let journal =
        Journal::open(PathBuf::from("j"), Arc::new(file.clone()), found.end, &found.in_flight(), Seal::default());
    journal.accept_damage().unwrap();
    journal.start_run(&header()).unwrap();
    let found = recover(&file.bytes()).unwrap().unwrap();
    assert!(found.damage.is_none(), "{:?}", found.damage);
    assert_eq!(found.in_flight.len(), 1);
}

proptest! {
    #[test]
    fn whatever_the_process_was_killed_at_no_noted_result_is_lost(steps in prop::collection::vec((0..5_u8, 0..3_u8), 1..20)) {
        let file = Faulty::default();
        let journal = start(&file);
        let mut marks = vec![(file.bytes().len(), Vec::new())];
        for (number, (kind, object_address)) in steps.into_iter().enumerate() {
            let text = format!("x.y[{object_address}]");
            let mut events = marks.last().unwrap().1.clone();
            match kind {
                0 => journal.begin(&begin(&text)).unwrap(),
                1 => {
                    journal.finished(&address(&text), None, &provider(), None, Outcome::Gone).unwrap();
                    events.push(format!("{text} gone"));
                }
                _ => {
                    finish(&journal, &text, &number.to_string());
                    events.push(format!("{text} \"{number}\""));
                }
            }
            marks.push((file.bytes().len(), events));
        }
        let bytes = file.bytes();
        for cut in marks[0].0..=bytes.len() {
            let found = recover(&bytes[..cut]).unwrap().unwrap();
            let expected = &marks.iter().rfind(|(end, _)| *end <= cut).unwrap().1;
            prop_assert_eq!(&described(&found.events), expected);
        }
    }

    #[test]
    fn damaged_journals_never_panic(at in any::<prop::sample::Index>(), to in any::<u8>()) {
        let file = Faulty::default();
        let journal = start(&file);
        journal.begin(&begin("x.a")).unwrap();
        finish(&journal, "x.b", "b");
        journal.snapshot("line", 5, &[b"{}"]).unwrap();
        let mut bytes = file.bytes();
        let at = at.index(bytes.len());
        bytes[at] = to;
        let _ = recover(&bytes);
        // The same inside a payload, with the right checksum.
        let mut framed = MAGIC.to_vec();
        frame::append(&mut framed, |out| out.extend_from_slice(&bytes[at..]));
        let _ = recover(&framed);
    }
}
