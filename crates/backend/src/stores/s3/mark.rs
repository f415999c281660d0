//! The note on a state whether journals are beside it, so that a plan need not list them.
//!
//! The write that ends a run notes in the metadata of the object that no journal is left. The first segment of a later run
//! removes that note before anything else is written, so that a run that is killed leaves none. Terraform and OpenTofu
//! remove it with each write, and then the journals are listed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use groma_cloud::http::Method;

use super::S3Store;
use super::objects::{Objects, etag};
use crate::error::StoreError;
use crate::store::Version;
use crate::stores::digests::Object;
use crate::stores::xml;

/// The header of the note.
pub(super) const HEADER: &str = "x-amz-meta-groma-journals";

const CLOSED: &str = "closed";
const OPEN: &str = "open";

/// The number of runs that a note names: metadata is short, and a run rarely finds more than one journal.
const LONGEST: usize = 20;

/// The segment that makes the rest of a journal readable.
const FIRST: &str = "/00000001";

/// The notes on the states of this process, by key.
#[derive(Default)]
pub(super) struct Marks(Mutex<BTreeMap<String, Mark>>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Mark {
    /// The version of the object that has the note.
    version: String,
    /// Whether it says that no journal is open.
    is_closed: bool,
    /// Whether the note, or a listing after the state was read, says that there are no journals of earlier runs.
    is_alone: bool,
    /// The runs whose journals are part of the state, and perhaps not deleted yet.
    merged: BTreeSet<String>,
    /// The runs of this process, whose journals are merged by the write that ends them.
    own: BTreeSet<String>,
    /// The version that the note was removed from, which the caller may still expect.
    former: Option<String>,
}

impl Marks {
    fn with<T>(&self, key: &str, change: impl FnOnce(&mut Mark) -> T) -> T {
        change(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key.to_owned()).or_default())
    }

    /// Notes what a state says about its journals.
    pub fn read(&self, key: &str, found: Option<&Object>) {
        let note = found.and_then(|found| found.note.as_deref()).unwrap_or_default();
        let mut words = note.split(' ');
        let is_closed = words.next() == Some(CLOSED);
        let version = found.map(|found| found.version.clone()).unwrap_or_default();
        self.with(key, |mark| {
            // A state is read a second time after its journals were listed; while it is the same, the listing holds.
            mark.is_alone = is_closed || (mark.is_alone && mark.version == version);
            mark.version = version;
            mark.is_closed = is_closed;
            mark.merged = words.map(str::to_owned).collect();
            mark.former = None;
        });
    }

    /// Whether no journal is beside this version of a state.
    pub fn is_closed(&self, key: &str, version: &Version) -> bool {
        self.with(key, |mark| mark.is_closed && mark.version == version.0)
    }

    /// Returns the stored version that the caller calls `expected`.
    pub fn current(&self, key: &str, expected: &str) -> String {
        self.with(key, |mark| match mark.former.as_deref() == Some(expected) {
            true => mark.version.clone(),
            false => expected.to_owned(),
        })
    }

    /// Returns the note of a write after which no journal is open; `None` if there were journals of earlier runs, of which
    /// something may be left, or if too many runs would be part of the note.
    pub fn closing(&self, key: &str) -> Option<String> {
        self.with(key, |mark| {
            let runs: BTreeSet<String> = mark.merged.union(&mark.own).cloned().collect();
            (mark.is_alone && runs.len() <= LONGEST).then(|| note(CLOSED, &runs))
        })
    }

    /// Notes a write of this process.
    pub fn written(&self, key: &str, version: &str, note: Option<&str>) {
        self.with(key, |mark| {
            mark.version = version.to_owned();
            mark.is_closed = note.is_some();
            mark.former = None;
            // The written state contains these journals, but their objects stay if the run is killed now.
            if note.is_some() {
                let own = std::mem::take(&mut mark.own);
                mark.merged.extend(own);
            }
        });
    }

    /// Returns the segments of a listing that a run has to read: not the first ones of journals that are part of the state.
    /// What is left of those is deleted with the next journal.
    pub fn unmerged(&self, key: &str, folder: &str, names: Vec<String>) -> Vec<String> {
        self.with(key, |mark| {
            let run = |name: &str| name.strip_prefix(folder)?.split('/').next().map(str::to_owned);
            mark.is_alone = names.is_empty();
            let is_merged =
                |name: &String| name.ends_with(FIRST) && run(name).is_some_and(|run| mark.merged.contains(&run));
            names.into_iter().filter(|name| !is_merged(name)).collect()
        })
    }
}

fn note(word: &str, runs: &BTreeSet<String>) -> String {
    let runs: String = runs.iter().map(|run| format!(" {run}")).collect();
    format!("{word}{runs}")
}

impl S3Store {
    /// Prepares the first segment of a run: from here on, a journal is beside the state.
    pub(super) async fn open_journal(&self, key: &str, run: &str) -> Result<(), StoreError> {
        let closed = self.marks.with(key, |mark| {
            mark.own.insert(run.to_owned());
            mark.is_closed.then(|| (mark.version.clone(), note(OPEN, &mark.merged)))
        });
        let Some((version, note)) = closed else { return Ok(()) };
        // A refusal means that another run has replaced the state since this run read it.
        let Some(new) = self.objects.annotate(key, &version, &note, &self.state_tags).await? else {
            return Err(StoreError::Conflict { location: self.objects.location(key), found: None });
        };
        self.marks.with(key, |mark| {
            // The caller still expects the version that it has read, so that one is mapped to the copy.
            mark.former = Some(version);
            mark.version = new;
            mark.is_closed = false;
        });
        Ok(())
    }
}

impl Objects {
    /// Replaces the note on an object, if it has this ETag. Returns the new ETag; `None` if the object has another one.
    async fn annotate(
        &self,
        key: &str,
        version: &str,
        note: &str,
        tags: &[(String, String)],
    ) -> Result<Option<String>, StoreError> {
        let source = format!("{}/{key}", self.settings.bucket);
        // The header is a path: its slashes are not encoded.
        let source = source.split('/').map(groma_cloud::api::url_encoded).collect::<Vec<_>>().join("/");
        // With the condition, the copy cannot bring back a state that another run has replaced.
        let request = self.with_metadata(self.request(Method::PUT, "CopyObject", key), tags);
        let request = self
            .with_source_key(request)
            .with_header("x-amz-copy-source", source)
            .with_header("x-amz-copy-source-if-match", version)
            .with_header("x-amz-metadata-directive", "REPLACE")
            .with_header("x-amz-tagging-directive", "REPLACE")
            .with_header(HEADER, note);
        match self.client.send(request).await {
            Ok(response) => {
                let document = String::from_utf8_lossy(&response.body);
                // The service may fail after it has begun to answer.
                let copied =
                    xml::text(&document, "ETag").or_else(|| Some(etag(&response)).filter(|tag| !tag.is_empty()));
                copied.map(Some).ok_or_else(|| StoreError::Service {
                    service: "S3".to_owned(),
                    action: "change the metadata of the object".to_owned(),
                    reason: xml::text(&document, "Message").unwrap_or_else(|| "the answer is incomplete".to_owned()),
                })
            }
            Err(problem) if problem.status() == Some(412) => Ok(None),
            Err(problem) => Err(self.failed(key, "change the metadata of the object", &problem)),
        }
    }
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
        let marks = Marks::default();
        marks.read("a", Some(&object("1", Some("closed"))));
        assert!(marks.is_closed("a", &Version("1".to_owned())) && !marks.is_closed("a", &Version("2".to_owned())));
        for note in [None, Some("open"), Some("closedly")] {
            marks.read("a", Some(&object("1", note)));
            assert!(!marks.is_closed("a", &Version("1".to_owned())), "{note:?}");
        }
        assert!(!marks.is_closed("b", &Version("1".to_owned())));
    }

    #[test]
    fn merged_journals_are_named_until_they_are_gone() {
        let marks = Marks::default();
        marks.read("a", Some(&object("1", Some("open old"))));
        let names = ["a.j/old/00000001", "a.j/old/00000002", "a.j/new/00000001"].map(str::to_owned).to_vec();
        assert_eq!(marks.unmerged("a", "a.j/", names), ["a.j/old/00000002", "a.j/new/00000001"]);
        assert_eq!(marks.closing("a"), None, "the journal of another run was there");
        assert_eq!(marks.unmerged("a", "a.j/", Vec::new()), Vec::<String>::new());
        assert_eq!(marks.closing("a").as_deref(), Some("closed old"));
        marks.written("a", "2", Some("closed old"));
        assert!(marks.is_closed("a", &Version("2".to_owned())));
        marks.written("a", "3", None);
        marks.read("b", Some(&object("1", None)));
        assert_eq!(marks.closing("b"), None, "nobody has listed the journals");
        assert!(!marks.is_closed("a", &Version("3".to_owned())));
    }
}
