//! The note in the metadata of a state whether it has journals or a sharing document, so that a plan need not look for them.
//!
//! An exclusive run ends with a write which notes that no journal is left and that the state is not shared. The next run changes the
//! note before it writes its first segment; otherwise, if it were killed, the note would deny its journal. `state sharing enable`
//! withdraws that statement before it creates the sharing document. Terraform and OpenTofu remove the note with each write,
//! and then the objects next to the state are listed.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use groma_state::whole_merge_note;

use super::S3Store;
use super::objects::{Condition, Objects, Outcome};
use crate::error::StoreError;
use crate::store::{Companions, JournalsAfter, Version, sharing_object};
use crate::stores::digests::Object;
use crate::stores::object_store::{FOLDER, ObjectStore};

/// The header of the note.
pub(super) const HEADER: &str = "x-amz-meta-groma-journals";

/// The header with the run that has opened the journals. It tells this run's copy of the object from that of another run.
const RUN_HEADER: &str = "x-amz-meta-groma-run";

const CLOSED: &str = "closed";
const OPEN: &str = "open";

/// The largest number of runs in a note. Each run adds its own until the journals are listed again, and S3 limits the metadata
/// of an object to 2 KiB.
const LONGEST: usize = 20;

/// The segment that makes the rest of a journal readable.
const FIRST: &str = "/00000001";

/// The object that says how much of a journal was merged: see [`groma_state::SegmentId::is_merge_note`].
const MERGE_NOTE: &str = "/00000000";

/// The notes on the states of this process, by key.
#[derive(Default)]
pub(super) struct StateNotes(Mutex<BTreeMap<String, StateNote>>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct StateNote {
    /// The version of the object that has the note.
    version: String,
    /// Whether it says that no journal is open.
    is_closed: bool,
    /// Whether nothing accompanies the state, neither a journal of an earlier run nor a sharing document: according to the note, or to
    /// a listing after the state was read.
    is_alone: bool,
    /// The runs whose journals are part of the state, and perhaps not deleted yet, the latest last.
    merged: Vec<String>,
    /// The runs of this process, whose journals are merged by the write that ends them.
    own: BTreeSet<String>,
    /// The listed first segments of merged journals, which are deleted with the next journal.
    leftovers: Vec<String>,
    /// The version before this run changed the note, which the caller may still expect.
    former: Option<String>,
}

impl StateNotes {
    fn with<T>(&self, key: &str, change: impl FnOnce(&mut StateNote) -> T) -> T {
        change(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key.to_owned()).or_default())
    }

    /// Takes over the note of a state that was read, and returns what it says.
    pub fn read(&self, key: &str, found: Option<&Object>) -> JournalsAfter {
        let text = found.and_then(|found| found.note.as_deref()).unwrap_or_default();
        let mut words = text.split(' ');
        let is_closed = words.next() == Some(CLOSED);
        let version = found.map(|found| found.version.clone()).unwrap_or_default();
        self.with(key, |note| {
            // A state may be read again after its journals were listed; while it is the same, the listing holds.
            note.is_alone = is_closed || (note.is_alone && note.version == version);
            note.version = version;
            note.is_closed = is_closed;
            note.merged = words.map(str::to_owned).collect();
            note.former = None;
        });
        if is_closed { JournalsAfter::Closed } else { JournalsAfter::Open }
    }

    /// Returns the stored version that the caller calls `expected`.
    pub fn current(&self, key: &str, expected: &str) -> String {
        self.with(key, |note| match note.former.as_deref() == Some(expected) {
            true => note.version.clone(),
            false => expected.to_owned(),
        })
    }

    /// Returns the note of a write, if there is something to note. It names the runs whose journals are part of the state, and says
    /// that no journal is open unless there were journals of earlier runs, of which some segments may stay, or unless there are so many
    /// names that the next run has to list the journals.
    pub fn of_write(&self, key: &str, journals: JournalsAfter) -> Option<String> {
        self.with(key, |note| {
            let own = note.own.iter().filter(|_| journals == JournalsAfter::Closed);
            let mut runs = note.merged.clone();
            runs.extend(own.filter(|run| !note.merged.contains(run)).cloned());
            if journals == JournalsAfter::Closed && note.is_alone && runs.len() <= LONGEST {
                return Some(text(CLOSED, &runs));
            }
            // The first segments of the oldest ones were deleted by each of the later runs.
            let latest = &runs[runs.len().saturating_sub(LONGEST)..];
            (!latest.is_empty()).then(|| text(OPEN, latest))
        })
    }

    /// Records a write of this process with this text of the note.
    pub fn written(&self, key: &str, version: &str, text: Option<&str>) {
        let mut words = text.unwrap_or_default().split(' ');
        let is_closed = words.next() == Some(CLOSED);
        self.with(key, |note| {
            note.version = version.to_owned();
            note.is_closed = is_closed;
            note.former = None;
            // The written state contains these journals, but their objects stay if the run is killed now.
            note.merged = words.map(str::to_owned).collect();
            note.own.retain(|run| !note.merged.contains(run));
        });
    }

    /// Records that this run has changed the note of `former` to "open", which made the object the version `new`.
    fn opened(&self, key: &str, former: String, new: String) {
        self.with(key, |note| {
            // The caller still expects the version that it has read, so that one is mapped to the copy.
            note.former = Some(former);
            note.version = new;
            note.is_closed = false;
        });
    }

    /// Records whether a listing of everything next to the state has found nothing.
    pub fn listed(&self, key: &str, is_alone: bool) {
        self.with(key, |note| note.is_alone = is_alone);
    }

    /// Returns the version of the state that this process has read or written last.
    pub fn version(&self, key: &str) -> String {
        self.with(key, |note| note.version.clone())
    }

    /// Whether the state, as this process has written it last, contains all journals of its runs.
    pub fn is_closed(&self, key: &str) -> bool {
        self.with(key, |note| note.is_closed)
    }

    /// Returns the segments of a listing that a run has to read: all but the first ones of journals that are part of the state.
    pub fn unmerged(&self, key: &str, folder: &str, names: Vec<String>) -> Vec<String> {
        self.with(key, |note| {
            let run = |name: &str| name.strip_prefix(folder)?.split('/').next().map(str::to_owned);
            note.is_alone &= names.iter().all(|name| is_merge_note(name));
            let is_merged =
                |name: &String| name.ends_with(FIRST) && run(name).is_some_and(|run| note.merged.contains(&run));
            let (leftovers, unmerged): (Vec<_>, Vec<_>) = names.into_iter().partition(is_merged);
            note.merged.retain(|merged| leftovers.iter().any(|name| run(name).as_ref() == Some(merged)));
            note.leftovers = leftovers;
            unmerged
        })
    }

    /// Returns the first segments of merged journals that the last listing has found. They must not outlive the rest of their
    /// journals: a later run without the note would take them for whole ones.
    pub fn leftovers(&self, key: &str) -> Vec<String> {
        self.with(key, |note| note.leftovers.clone())
    }

    /// Returns the first segments of journals that the state has according to its note. They exist only if a run was killed after its
    /// last write, and must not outlive the note.
    pub fn possible_leftovers(&self, key: &str) -> Vec<String> {
        self.with(key, |note| note.merged.iter().map(|run| format!("{key}{FOLDER}{run}{FIRST}")).collect())
    }

    /// Forgets these segments after their deletion.
    pub fn forget_leftovers(&self, key: &str) {
        self.with(key, |note| note.leftovers.clear());
    }
}

/// Returns the text of a note.
fn text(word: &str, runs: &[String]) -> String {
    once(word).chain(runs.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

impl S3Store {
    /// Prepares the first segment of a run: from here on, the state has an open journal.
    pub(super) async fn open_journal(&self, key: &str, run: &str) -> Result<(), StoreError> {
        let closed = self.notes.with(key, |note| {
            note.own.insert(run.to_owned());
            note.is_closed.then(|| (note.version.clone(), text(OPEN, &note.merged)))
        });
        let Some((version, text)) = closed else { return Ok(()) };
        let metadata = [(HEADER, &*text), (RUN_HEADER, run)];
        match self.objects.replace_metadata(key, &version, &metadata, &self.state_tags).await? {
            Outcome::Done(new) => {
                self.notes.opened(key, version, new);
                Ok(())
            }
            // Another run has replaced the state since this run read it.
            Outcome::Refused => Err(StoreError::Conflict { location: self.objects.location(key), found: None }),
        }
    }

    /// Lists everything whose name begins with that of the state. In a bucket where many other objects do, each kind is asked for by
    /// itself.
    pub(super) async fn list_companions(&self, workspace: &str) -> Result<Companions, StoreError> {
        let key = self.key(workspace);
        let (folder, document) = (format!("{key}{FOLDER}"), sharing_object(&key));
        let page = self.objects.list(&key, None, None).await?;
        let (segments, state, has_sharing) = if page.next.is_none() {
            let etag = |name: &str| page.objects.iter().find(|object| object.key == name).map(|object| &*object.etag);
            let segments = page.objects.iter().map(|object| &object.key).filter(|name| name.starts_with(&folder));
            let segments = self.notes.unmerged(&key, &folder, segments.cloned().collect());
            let has_sharing = etag(&document).is_some();
            (segments, etag(&key).map(str::to_owned), has_sharing)
        } else {
            let segments = self.list_objects(&folder).await?;
            let has_sharing = self.objects.etag(&document).await?.is_some();
            (segments, self.objects.etag(&key).await?, has_sharing)
        };
        let read = self.notes.version(&key);
        let version = match state {
            // Services may write the same ETag in another way.
            Some(etag) if etag.trim_matches('"') == read.trim_matches('"') => Some(read),
            None if read.is_empty() => None,
            _ => self.objects.etag(&key).await?,
        };
        let has_journals = segments.iter().any(|name| !is_merge_note(name)) || !self.notes.leftovers(&key).is_empty();
        self.notes.listed(&key, !has_journals && !has_sharing);
        let segments = segments.iter().filter_map(|name| name.strip_prefix(&folder)).map(str::to_owned).collect();
        Ok(Companions { version: version.map(Version), segments, has_sharing })
    }
}

/// Notes that the journals which begin with these segments are part of the state. They stay, because this identity may not delete
/// them, and would be merged again when the note of the state names them no longer.
pub(super) async fn note_merged(objects: &Objects, segments: &[String]) {
    for journal in segments.iter().filter_map(|name| name.strip_suffix(FIRST)) {
        let note = whole_merge_note(SystemTime::now());
        // A failure matters only if the note of the state is lost as well, and the state has changed by then.
        let _ = objects.put(&format!("{journal}{MERGE_NOTE}"), &note, &[], Condition::Absent).await;
    }
}

/// Whether an object is a note about a journal that was merged. It is no journal itself.
pub(super) fn is_merge_note(name: &str) -> bool {
    name.ends_with(MERGE_NOTE)
}

/// Splits the names of segments into those that begin a journal and all others.
///
/// A service deletes the objects of one request in any order. So the first segments are deleted in a request before that of
/// the others: a journal without its first segment is known to be part of the state, but without a later one it would look like
/// a shorter journal.
pub(super) fn split_first(names: Vec<String>) -> (Vec<String>, Vec<String>) {
    names.into_iter().partition(|name| name.ends_with(FIRST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(version: &str, note: Option<&str>) -> Object {
        let (version, note) = (version.to_owned(), note.map(str::to_owned));
        Object { bytes: Vec::new(), version, age: None, modified: None, note }
    }

    #[test]
    fn state_is_closed_only_in_the_version_with_the_note() {
        let notes = StateNotes::default();
        assert_eq!(notes.read("a", Some(&object("1", Some("closed")))), JournalsAfter::Closed);
        for note in [None, Some("open"), Some("closedly")] {
            assert_eq!(notes.read("a", Some(&object("1", note))), JournalsAfter::Open, "{note:?}");
        }
        assert_eq!(notes.read("b", None), JournalsAfter::Open);
    }

    #[test]
    fn merged_journals_are_named_until_they_are_gone() {
        let notes = StateNotes::default();
        let at_end = |key: &str| notes.of_write(key, JournalsAfter::Closed);
        notes.read("a", Some(&object("1", Some("open old gone"))));
        let names = ["a.j/old/00000001", "a.j/old/00000002", "a.j/new/00000001"].map(str::to_owned).to_vec();
        assert_eq!(notes.unmerged("a", "a.j/", names), ["a.j/old/00000002", "a.j/new/00000001"]);
        let leftovers = ["a.j/old/00000001".to_owned()];
        assert_eq!(notes.leftovers("a"), leftovers, "it is deleted with the rest of its journal");
        assert_eq!(at_end("a").as_deref(), Some("open old"), "the journal of another run was there");
        notes.written("a", "2", Some("open old"));
        assert_eq!(notes.possible_leftovers("a"), ["a.groma-journal/old/00000001"]);
        assert_eq!(notes.unmerged("a", "a.j/", Vec::new()), Vec::<String>::new());
        assert_eq!(at_end("a"), None, "a listing of the journals says nothing about a sharing document");
        notes.listed("a", true);
        assert_eq!(at_end("a").as_deref(), Some("closed"));
        let is_closed = || notes.with("a", |note| note.is_closed);
        notes.written("a", "2", Some("closed"));
        assert!(is_closed());
        notes.opened("a", "2".to_owned(), "3".to_owned());
        assert_eq!(notes.current("a", "2"), "3", "the caller has read the version before the note was changed");
        assert!(!is_closed());
        notes.written("a", "4", None);
        assert_eq!(notes.current("a", "2"), "2");
        assert!(!is_closed());
        notes.read("b", Some(&object("1", None)));
        assert_eq!(at_end("b"), None, "nobody has listed the journals");
        notes.listed("b", true);
        let merged = vec!["b.j/old/00000000".to_owned()];
        assert_eq!(notes.unmerged("b", "b.j/", merged.clone()), merged);
        assert_eq!(at_end("b").as_deref(), Some("closed"), "a note about a merged journal is no journal");
    }

    #[test]
    fn names_of_merged_journals_survive_every_write() {
        let notes = StateNotes::default();
        notes.read("a", Some(&object("1", Some("closed killed"))));
        notes.with("a", |note| note.own.insert("own".to_owned()));
        assert_eq!(
            notes.of_write("a", JournalsAfter::Open).as_deref(),
            Some("open killed"),
            "in the middle of the run"
        );
        notes.written("a", "2", Some("open killed"));
        assert_eq!(notes.of_write("a", JournalsAfter::Closed).as_deref(), Some("closed killed own"));
        notes.written("a", "3", Some("closed killed own"));
        // The run that was killed before its deletion left a journal, which nobody lists while the note says "closed".
        let first = |run: &str| format!("a.groma-journal/{run}/00000001");
        assert_eq!(notes.possible_leftovers("a"), [first("killed"), first("own")]);
        let many: Vec<String> = (0..LONGEST).map(|number| format!("run{number}")).collect();
        notes.read("a", Some(&object("4", Some(&text(CLOSED, &many)))));
        notes.with("a", |note| note.own.insert("last".to_owned()));
        let latest: Vec<String> = many[1..].iter().cloned().chain(["last".to_owned()]).collect();
        assert_eq!(notes.of_write("a", JournalsAfter::Closed), Some(text(OPEN, &latest)), "the next run lists them");
    }

    #[test]
    fn first_segments_are_deleted_before_the_others() {
        let names = ["s.j/a/00000001", "s.j/a/00000002", "s.j/b/00000001", "s.j/b/00000012"].map(str::to_owned);
        let (first, later) = split_first(names.into());
        assert_eq!(first, ["s.j/a/00000001", "s.j/b/00000001"]);
        assert_eq!(later, ["s.j/a/00000002", "s.j/b/00000012"]);
    }
}
