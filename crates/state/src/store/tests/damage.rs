//! Journals of killed runs that are no longer what was written.

use super::*;

fn killed_with_six() -> TempDir {
    let directory = folder_with(&[("x.old", "old")]);
    killed_after(directory.path(), |store, state| {
        let journal = store.begin_run(state).unwrap();
        for number in 0..6 {
            let (text, id) = (format!("x.y[{number}]"), format!("i{number}"));
            journal.finished(&address(&text), None, &provider(), None, Outcome::Present(object(&id))).unwrap();
        }
        journal.begin(&begin("x.unknown")).unwrap();
    })
}

/// Changes a byte in the middle of the first text that is `needle`.
fn damage(directory: &Path, needle: &str) -> Vec<u8> {
    let path = paths(directory).journal();
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(needle.len()).position(|found| found == needle.as_bytes()).unwrap();
    bytes[at + 1] ^= 1;
    fs::write(&path, &bytes).unwrap();
    bytes
}

fn try_open(
    directory: &Path,
    damaged: DamagedJournal,
    locking: &Locking,
) -> Result<(LocalStore, Opened), crate::StateError> {
    LocalStore::open(paths(directory).with_damaged_journal(damaged), VERSION, locking, &|| true)
}

#[test]
fn damaged_journal_stops_the_run_and_nothing_changes() {
    let killed = killed_with_six();
    let damaged = damage(killed.path(), "of i2");
    let before = fs::read(state_file(killed.path())).unwrap();
    let error = open_error(killed.path());
    assert_eq!(error.summary, "Damaged journal");
    for part in [".terraform.tfstate.journal", "bytes of it cannot be read", "GROMA_DAMAGED_JOURNAL=recover"] {
        assert!(error.detail.contains(part), "{error}");
    }
    assert_eq!(fs::read(state_file(killed.path())).unwrap(), before);
    assert_eq!(fs::read(paths(killed.path()).journal()).unwrap(), damaged);
}

#[test]
fn damaged_journal_is_recovered_in_part_when_asked_for_and_kept() {
    let killed = killed_with_six();
    let damaged = damage(killed.path(), "of i2");
    // Looking changes nothing.
    let (_, opened) = try_open(killed.path(), DamagedJournal::Recover, &Locking::Off).unwrap();
    let expected = ["x.old old", "x.y[0] i0", "x.y[1] i1", "x.y[3] i3", "x.y[4] i4", "x.y[5] i5"];
    assert_eq!(objects(&opened.state.unwrap()), expected);
    assert_eq!(fs::read(paths(killed.path()).journal()).unwrap(), damaged);
    let (store, opened) = try_open(killed.path(), DamagedJournal::Recover, &request(Duration::ZERO)).unwrap();
    assert_eq!(objects(&opened.state.unwrap()), expected);
    let warning = opened.warnings.iter().next().unwrap();
    assert_eq!(warning.summary, "Damaged journal recovered in part");
    drop(store);
    let kept = names(killed.path()).into_iter().find(|name| name.ends_with(".damaged")).unwrap();
    assert!(warning.detail.contains(&kept), "{}", warning.detail);
    assert_eq!(fs::read(killed.path().join(kept)).unwrap(), damaged);
    assert_eq!(objects(&on_disk(killed.path())), expected);
    // The open call is still known, and the damage is no longer in the way.
    let (_, opened) = open(killed.path());
    assert_eq!(opened.in_flight, [begin("x.unknown")]);
    assert!(opened.warnings.is_empty());
}
