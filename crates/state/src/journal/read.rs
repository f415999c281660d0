//! The reading side: what an interrupted run has left.

use std::collections::BTreeMap;

use groma_address::Name;

use super::MAGIC;
use super::form;
use super::frame::Frames;
use super::numbered::Numbered;
use super::record::{Begin, Finished, Place, Record, RunHeader};
use crate::error::StateError;
use crate::file::{decode_check_results, decode_outputs};
use crate::model::{CheckResult, OutputValue};

/// One thing that happened, in the order in which it did.
#[derive(Debug)]
pub(crate) enum Event {
    Finished(Box<Finished>),
    Outputs(BTreeMap<Name, OutputValue>, Option<Vec<CheckResult>>),
}

/// A state file that was about to be written.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub lineage: String,
    pub serial: u64,
    pub bytes: Vec<u8>,
}

/// What a journal says that may not be in the state file.
#[derive(Debug)]
pub(crate) struct Recovered {
    /// The run that wrote the rest.
    pub header: RunHeader,
    /// What happened before the last snapshot, or at all.
    pub events: Vec<Event>,
    /// The last snapshot.
    pub snapshot: Option<Snapshot>,
    /// What happened after it.
    pub later: Vec<Event>,
    /// Calls that were begun, by this run or earlier ones, and neither finished nor settled; in their order.
    pub in_flight: Vec<Begin>,
    /// Where the whole records end.
    pub end: u64,
}

impl Recovered {
    /// Whether the state file lacks nothing for certain: the run wrote nothing, or all of it was folded in.
    pub fn is_folded(&self) -> bool {
        self.events.is_empty() && self.snapshot.is_none() && self.later.is_empty()
    }

    /// Where calls are under way.
    pub fn under_way(&self) -> Vec<Place> {
        self.in_flight.iter().map(|begin| (begin.address.clone(), begin.deposed.clone())).collect()
    }
}

/// Reads a journal; none when it says nothing, because no run got as far as its first record.
///
/// # Errors
/// When it is no journal, or one of another version.
pub(crate) fn recover(bytes: &[u8]) -> Result<Option<Recovered>, StateError> {
    // A machine that stops may leave a file that was given room, but nothing of what was written there.
    let is_unwritten = bytes.iter().all(|byte| *byte == 0);
    if is_unwritten || bytes.len() < MAGIC.len() && MAGIC.starts_with(bytes) {
        return Ok(None);
    }
    let Some(content) = bytes.strip_prefix(MAGIC) else {
        return Err(StateError::malformed(
            "Unknown journal",
            "The journal beside the state file was not written by this version. If another version of Groma was \
             interrupted here, run that version once more, so that it folds its journal into the state file.",
        ));
    };
    let mut frames = Frames::new(content);
    let mut reader = Reader::default();
    let mut understood = |payload| reader.take(form::decode(payload, &reader.numbered)?);
    if !frames.by_ref().all(|payload| understood(payload).is_some()) {
        // Whole by its checksum, and still not understood: newer than this program, and not to be passed over.
        return Err(StateError::malformed(
            "Unknown journal",
            "The journal beside the state file has a record that this version does not know. Run the version of Groma \
             that was interrupted here once more, so that it folds its journal into the state file.",
        ));
    }
    let end = (bytes.len() - frames.torn()) as u64;
    Ok(reader.header.map(|header| Recovered {
        header,
        events: reader.events,
        snapshot: reader.snapshot,
        later: reader.later,
        in_flight: reader.in_flight.into_values().map(|begin| *begin).collect(),
        end,
    }))
}

#[derive(Default)]
struct Reader {
    numbered: Numbered,
    header: Option<RunHeader>,
    events: Vec<Event>,
    snapshot: Option<Snapshot>,
    later: Vec<Event>,
    in_flight: BTreeMap<u64, Box<Begin>>,
    places: BTreeMap<Place, u64>,
    begun: u64,
}

impl Reader {
    fn take(&mut self, record: Record<'_>) -> Option<()> {
        match record {
            Record::Run(header) => {
                self.header = Some(header);
                self.events.clear();
                self.later.clear();
                self.snapshot = None;
                // A writer numbers its texts and lists from the beginning of its run on.
                self.numbered = Numbered::default();
            }
            Record::Text(text) => self.numbered.add_text(text, None),
            Record::RankedText(rank, text) => self.numbered.add_text(text, Some(rank)),
            Record::List(numbers) => self.numbered.add_list(&numbers)?,
            Record::Union { own, lists } => self.numbered.add_union(&own, &lists)?,
            Record::Begin(begin) => {
                let place = (begin.address.clone(), begin.deposed.clone());
                self.settle(&place);
                self.places.insert(place, self.begun);
                self.in_flight.insert(self.begun, begin);
                self.begun += 1;
            }
            Record::Finished(finished) => {
                self.settle(&finished.place);
                self.push(Event::Finished(finished));
            }
            Record::Settled(place) => self.settle(&place),
            Record::Outputs { outputs, check_results } => {
                self.push(Event::Outputs(decode_outputs(outputs).ok()?, decode_check_results(check_results).ok()?));
            }
            Record::Snapshot { lineage, serial, bytes } => {
                self.events.append(&mut self.later);
                self.snapshot = Some(Snapshot { lineage: lineage.to_owned(), serial, bytes: bytes.to_vec() });
            }
        }
        Some(())
    }

    fn settle(&mut self, place: &Place) {
        if let Some(number) = self.places.remove(place) {
            self.in_flight.remove(&number);
        }
    }

    fn push(&mut self, event: Event) {
        if self.snapshot.is_some() { &mut self.later } else { &mut self.events }.push(event);
    }
}
