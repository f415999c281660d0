//! States that are sealed: no file of theirs ever holds a value in clear.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use groma_encryption::{Encryption, KeyProvider, KeySource, Method, Pbkdf2, Secret, is_sealed};
use tempfile::TempDir;

use super::{address, provider};
use crate::journal::{Begin, CreateRequest, Outcome};
use crate::model::State;
use crate::object::{AttributesJson, ObjectRecord};
use crate::store::*;

const SECRET: &str = "the value that nobody may see";
const OLD: &str = "the passphrase of old";
const NEW: &str = "the passphrase of now";

fn aes(passphrase: &str) -> Method {
    let settings = Pbkdf2::default().with_iterations(200_000).unwrap();
    let source = KeySource::Pbkdf2 { secret: Secret::Passphrase(passphrase.into()), settings };
    Method::AesGcm { keys: KeyProvider { name: "key_provider.pbkdf2.main".into(), source }, associated: Vec::new() }
}

fn sealed_by(first: Method, fallbacks: Vec<Method>) -> Option<Arc<Encryption>> {
    Some(Arc::new(Encryption::new(first, fallbacks)))
}

fn try_open(
    directory: &Path,
    encryption: Option<Arc<Encryption>>,
) -> Result<(LocalStore, Opened), crate::error::StateError> {
    let paths = StatePaths::of_workspace(directory, "default").encrypted(encryption);
    LocalStore::open(paths, "1.15.5", &Locking::Off, &|| true)
}

fn open(directory: &Path, encryption: Option<Arc<Encryption>>) -> (LocalStore, Opened) {
    try_open(directory, encryption).unwrap()
}

fn object(id: &str) -> Arc<ObjectRecord> {
    Arc::new(ObjectRecord::new(0, AttributesJson::new(format!("{{\"id\":\"{id}\",\"secret\":\"{SECRET}\"}}"))))
}

fn begin(text: &str) -> Begin {
    let secret: Arc<[u8]> = SECRET.as_bytes().into();
    let request = CreateRequest {
        schema_version: 0,
        planned_private: secret.clone(),
        planned_state: secret.clone(),
        config: secret.clone(),
        meta: secret,
    };
    Begin { request: Some(request), ..tests::begin(text) }
}

fn add(directory: &Path, encryption: Option<Arc<Encryption>>, text: &str) {
    let (mut store, opened) = open(directory, encryption);
    let mut state = opened.state.unwrap_or_default();
    let journal = store.begin_run(&mut state).unwrap();
    journal.begin(&begin(text)).unwrap();
    journal.finished(&address(text), None, &provider(), None, Outcome::Present(object(text))).unwrap();
    state.insert(&address(text), None, &provider(), object(text));
    store.save(&mut state).unwrap();
}

fn addresses(state: &State) -> Vec<String> {
    state.iter().map(|view| view.address().to_string()).collect()
}

/// The files of a folder that hold the secret in clear.
fn in_clear(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        if bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()) {
            names.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    names.sort();
    names
}

fn copy_of(directory: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    copy
}

#[test]
fn state_and_backup_are_sealed_and_read_again() {
    let directory = tempfile::tempdir().unwrap();
    add(directory.path(), sealed_by(aes(OLD), vec![]), "x.one");
    add(directory.path(), sealed_by(aes(OLD), vec![]), "x.two");
    assert!(in_clear(directory.path()).is_empty());
    for file in ["terraform.tfstate", "terraform.tfstate.backup"] {
        assert!(is_sealed(&fs::read(directory.path().join(file)).unwrap()), "{file}");
    }
    let (mut store, opened) = open(directory.path(), sealed_by(aes(OLD), vec![]));
    let mut state = opened.state.unwrap();
    assert_eq!((addresses(&state), state.serial), (vec!["x.one".to_owned(), "x.two".to_owned()], 2));
    assert_eq!(store.save(&mut state).unwrap(), Saved::Unchanged);
    let path = write_errored(directory.path(), &state, store.paths().encryption.as_deref()).unwrap();
    assert!(is_sealed(&fs::read(path).unwrap()));
}

#[test]
fn without_the_key_nothing_is_read_and_nothing_written() {
    let directory = tempfile::tempdir().unwrap();
    add(directory.path(), sealed_by(aes(OLD), vec![]), "x.one");
    let before = fs::read(directory.path().join("terraform.tfstate")).unwrap();
    let refused = |encryption| try_open(directory.path(), encryption).map(|_| ()).unwrap_err();
    assert_eq!(refused(sealed_by(aes(NEW), vec![])).summary, "Decryption failed for all provided methods");
    assert!(refused(None).detail.contains("TF_ENCRYPTION"));
    assert_eq!(fs::read(directory.path().join("terraform.tfstate")).unwrap(), before);
}

#[test]
fn a_state_whose_envelope_is_of_another_one_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    add(directory.path(), sealed_by(aes(OLD), vec![]), "x.one");
    let file = directory.path().join("terraform.tfstate");
    let text = fs::read_to_string(&file).unwrap().replacen("\"serial\":1", "\"serial\":9", 1);
    fs::write(&file, text).unwrap();
    let refused = try_open(directory.path(), sealed_by(aes(OLD), vec![])).map(|_| ()).unwrap_err();
    assert_eq!(refused.summary, "Invalid state metadata");
}

#[test]
fn plaintext_state_and_its_backup_are_encrypted_by_the_next_write() {
    let directory = tempfile::tempdir().unwrap();
    add(directory.path(), None, "x.one");
    assert_eq!(in_clear(directory.path()), ["terraform.tfstate"]);
    let refused = try_open(directory.path(), sealed_by(aes(OLD), vec![])).map(|_| ()).unwrap_err();
    assert!(refused.summary.starts_with("Unencrypted content"));
    // Nothing but the sealing changes.
    let moving = || sealed_by(aes(OLD), vec![Method::Unencrypted]);
    let (mut store, opened) = open(directory.path(), moving());
    assert_eq!(store.save(&mut opened.state.unwrap()).unwrap(), Saved::Written(2));
    drop(store);
    assert!(in_clear(directory.path()).is_empty());
    // To another key, and back to no key.
    for change in [sealed_by(aes(NEW), vec![aes(OLD)]), sealed_by(Method::Unencrypted, vec![aes(NEW)])] {
        let (mut store, opened) = open(directory.path(), change);
        assert!(matches!(store.save(&mut opened.state.unwrap()).unwrap(), Saved::Written(_)));
    }
    assert_eq!(in_clear(directory.path()), ["terraform.tfstate", "terraform.tfstate.backup"]);
    assert_eq!(addresses(&open(directory.path(), None).1.state.unwrap()), ["x.one"]);
}

/// A run that was killed in the middle of things.
fn killed(directory: &Path, encryption: Option<Arc<Encryption>>, text: &str) -> TempDir {
    let (mut store, opened) = open(directory, encryption);
    let mut state = opened.state.unwrap_or_default();
    let journal = store.begin_run(&mut state).unwrap();
    journal.begin(&begin(text)).unwrap();
    journal.finished(&address(text), None, &provider(), None, Outcome::Present(object(text))).unwrap();
    journal.begin(&begin(&format!("{text}_unknown"))).unwrap();
    copy_of(directory)
}

#[test]
fn the_journal_of_a_killed_run_is_sealed_and_taken_up() {
    let directory = tempfile::tempdir().unwrap();
    add(directory.path(), sealed_by(aes(OLD), vec![]), "x.one");
    let killed = killed(directory.path(), sealed_by(aes(OLD), vec![]), "x.two");
    assert!(in_clear(killed.path()).is_empty());
    for other in [None, sealed_by(aes(NEW), vec![])] {
        assert!(try_open(killed.path(), other).is_err());
    }
    // The key changes before the next run, and calls stay under way.
    let (mut store, opened) = open(killed.path(), sealed_by(aes(NEW), vec![aes(OLD)]));
    let mut state = opened.state.unwrap();
    assert_eq!(addresses(&state), ["x.one", "x.two"]);
    assert_eq!(opened.in_flight, [begin("x.two_unknown")]);
    store.save(&mut state).unwrap();
    drop(store);
    assert!(in_clear(killed.path()).is_empty());
    let (mut store, opened) = open(killed.path(), sealed_by(aes(NEW), vec![aes(OLD)]));
    assert_eq!(opened.in_flight, [begin("x.two_unknown")]);
    let mut state = opened.state.unwrap();
    store.begin_run(&mut state).unwrap().resolved(&address("x.two_unknown"), None).unwrap();
    store.save(&mut state).unwrap();
    drop(store);
    let (_, opened) = open(killed.path(), sealed_by(aes(NEW), vec![]));
    assert_eq!((addresses(&opened.state.unwrap()).len(), opened.in_flight.len()), (2, 0));
}

#[test]
fn encryption_may_begin_and_end_while_calls_are_in_flight() {
    let directory = tempfile::tempdir().unwrap();
    let in_clear_first = killed(directory.path(), None, "x.one");
    let mut folder = in_clear_first;
    let changes = [
        sealed_by(aes(OLD), vec![Method::Unencrypted]),
        sealed_by(Method::Unencrypted, vec![aes(OLD)]),
        sealed_by(aes(OLD), vec![Method::Unencrypted]),
    ];
    for (number, encryption) in changes.into_iter().enumerate() {
        folder = killed(folder.path(), encryption, &format!("x.more{number}"));
    }
    let (_, opened) = open(folder.path(), sealed_by(aes(OLD), vec![Method::Unencrypted]));
    assert_eq!(addresses(&opened.state.unwrap()), ["x.more0", "x.more1", "x.more2", "x.one"]);
    let in_flight: Vec<String> = opened.in_flight.iter().map(|begin| begin.address.to_string()).collect();
    assert_eq!(in_flight, ["x.one_unknown", "x.more0_unknown", "x.more1_unknown", "x.more2_unknown"]);
}

#[test]
fn whatever_byte_of_a_sealed_journal_is_missing_the_rest_is_read() {
    let directory = tempfile::tempdir().unwrap();
    add(directory.path(), sealed_by(aes(OLD), vec![]), "x.one");
    let killed = killed(directory.path(), sealed_by(aes(OLD), vec![]), "x.two");
    let path = killed.path().join(".terraform.tfstate.journal");
    let whole = fs::read(&path).unwrap();
    let encryption = sealed_by(aes(OLD), vec![]);
    let used = whole.iter().rposition(|byte| *byte != 0).unwrap_or(0) + 1;
    // Each cut costs a key that is derived anew: records are longer than five bytes, so that none is left out.
    for cut in (0..=used).step_by(5).chain([used]) {
        let unsealed = crate::journal::unseal(&whole[..cut], encryption.as_deref()).unwrap();
        let end = unsealed.end.unwrap_or_default();
        assert!(end as usize <= cut, "{cut}");
        crate::journal::recover(&unsealed.bytes).unwrap();
    }
}
