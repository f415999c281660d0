//! Several runs at once.

use super::*;
use crate::error::StateErrorKind;

#[test]
fn two_runs_exclude_each_other_and_the_second_names_the_lock_holder() {
    let directory = folder_with(&[]);
    let (store, _) = open(directory.path());
    let error = open_error(directory.path());
    assert_eq!((error.kind, &*error.summary), (StateErrorKind::Locked, "Error acquiring the state lock"));
    assert!(error.detail.contains("Who:       somebody@somewhere"), "{error}");
    assert!(error.detail.contains("-lock-timeout"), "{error}");
    drop(store);
    open(directory.path());
}

#[test]
fn the_lock_is_waited_for_and_the_wait_can_be_interrupted() {
    let directory = folder_with(&[]);
    let (store, _) = open(directory.path());
    let interrupted = LocalStore::open(paths(directory.path()), VERSION, &request(Duration::from_secs(60)), &|| false);
    assert_eq!(interrupted.err().map(|error| error.kind), Some(StateErrorKind::Interrupted));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            LocalStore::open(paths(directory.path()), VERSION, &request(Duration::from_secs(60)), &|| true).is_ok()
        });
        // Long enough for the other thread to begin waiting.
        std::thread::sleep(Duration::from_millis(300));
        drop(store);
        assert!(waiting.join().unwrap());
    });
}

#[test]
fn two_changing_runs_without_the_lock_are_detected() {
    let directory = folder_with(&[]);
    let unlocked = || LocalStore::open(paths(directory.path()), VERSION, &Locking::Off, &|| true).unwrap();
    let ((mut one, first), (mut other, second)) = (unlocked(), unlocked());
    let (mut first, mut second) = (first.state.unwrap(), second.state.unwrap());
    let journal = one.begin_run(&mut first).unwrap();
    // The journal has a lock of its own, which -lock=false does not disable.
    assert_eq!(other.begin_run(&mut second).err().map(|error| error.kind), Some(StateErrorKind::Locked));
    first.insert(&address("x.y"), None, &provider(), object("a"));
    one.save(&mut first).unwrap();
    // The journal is closed as well, so only the content of the file shows that another run was here.
    drop((one, journal));
    second.insert(&address("x.z"), None, &provider(), object("b"));
    assert_eq!(other.save(&mut second).err().map(|error| error.kind), Some(StateErrorKind::Changed));
    // The result of the first run is not overwritten.
    assert_eq!(objects(&on_disk(directory.path())), ["x.y a"]);
}

#[test]
fn replaced_file_is_not_overwritten() {
    let directory = folder_with(&[("x.y", "a")]);
    let (mut store, opened) = open(directory.path());
    let mut state = opened.state.unwrap();
    terraform_runs(directory.path(), |state| {
        state.insert(&address("x.z"), None, &provider(), object("z"));
    });
    state.insert(&address("x.q"), None, &provider(), object("q"));
    let error = store.save(&mut state).unwrap_err();
    assert_eq!(error.kind, StateErrorKind::Changed);
    assert_eq!(objects(&on_disk(directory.path())), ["x.y a", "x.z z"]);
}

#[cfg(unix)]
#[test]
fn reader_waits_until_a_content_is_written_as_a_whole() {
    let directory = folder_with(&[("x.a", "a")]);
    let (store, _) = open(directory.path());
    let whole = fs::read(state_file(directory.path())).unwrap();
    // A file that is being written begins with this marker.
    let half = [b"#", &whole[1..]].concat();
    fs::write(state_file(directory.path()), half).unwrap();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            LocalStore::open(paths(directory.path()), VERSION, &Locking::Off, &|| true).map(|(_, opened)| opened)
        });
        std::thread::sleep(Duration::from_millis(50));
        let file = open::open_private(&state_file(directory.path())).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, &whole[..1], 0).unwrap();
        let opened = reader.join().unwrap().unwrap();
        assert_eq!(objects(&opened.state.unwrap()), ["x.a a"]);
        assert!(opened.warnings.is_empty(), "{:?}", opened.warnings);
    });
    drop(store);
}

#[test]
fn reader_distinguishes_a_running_from_a_killed_run() {
    let directory = folder_with(&[("x.a", "a")]);
    let (mut store, opened) = open(directory.path());
    let journal = store.begin_run(&mut opened.state.unwrap()).unwrap();
    journal.begin(&begin("x.b")).unwrap();
    let looked = || LocalStore::open(paths(directory.path()), VERSION, &Locking::Off, &|| true).unwrap().1;
    assert!(looked().in_flight.is_empty(), "it is being asked now");
    // A copy has the same content but no lock, like the files of a killed process.
    let killed = copy_of(directory.path());
    let (_, opened) = LocalStore::open(paths(killed.path()), VERSION, &Locking::Off, &|| true).unwrap();
    assert_eq!(opened.in_flight, [begin("x.b")]);
}
