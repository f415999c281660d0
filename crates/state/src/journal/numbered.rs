//! The numbers by which records of a journal refer to strings, providers and dependency lists: as a writer assigns them, and as a
//! reader resolves them.

use std::cell::Cell;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use groma_address::{Name, ProviderConfig};

use super::codec::Decoder;
use super::{form, frame};
use crate::dependencies::{AddressTable, ByAddress, Dependencies, Paper};

/// The values that earlier records have numbered.
#[derive(Default)]
pub(super) struct Numbered {
    texts: Vec<Option<Text>>,
    addresses: AddressTable,
    /// The ranks of addresses by their numbers.
    ranks: Vec<Option<u32>>,
    lists: Vec<Option<Dependencies>>,
    paper: Paper,
    /// The longest run of numbers that may be missing, because the records that assign them are unreadable.
    gap: usize,
    /// The number of objects without dependencies because their list is missing.
    missing_lists: Cell<usize>,
}

/// A text is either a resource or a provider configuration; which one shows when it is used.
struct Text {
    text: Name,
    /// Its number among the addresses, if it is one.
    resource: Option<u32>,
    provider: Option<ProviderConfig>,
}

impl Numbered {
    /// Prepares for numbers that are missing because `bytes` bytes of the journal cannot be read.
    pub fn allow_gaps(&mut self, bytes: u64) {
        self.gap = self.gap.saturating_add(usize::try_from(bytes).unwrap_or(usize::MAX)).saturating_add(1);
    }

    /// Starts the numbering again, with the gaps that are allowed so far.
    pub fn restarted(&self) -> Self {
        Self { gap: self.gap, ..Self::default() }
    }

    /// Takes how many objects got no dependencies since the last call.
    pub fn take_missing_lists(&self) -> usize {
        self.missing_lists.take()
    }

    pub fn add_text(&mut self, number: u64, text: &str, rank: Option<u32>) -> Option<()> {
        let at = self.slot(number, self.texts.len())?;
        if self.texts.get(at).is_some_and(Option::is_some) {
            // What all results need is there twice.
            return Some(());
        }
        let resource = text.parse().ok().map(|address| self.addresses.add(address));
        if resource.is_some() {
            self.ranks.push(rank);
        }
        put(&mut self.texts, at, Text { text: text.into(), resource, provider: text.parse().ok() });
        Some(())
    }

    pub fn add_list(&mut self, number: u64, resources: &[u64]) -> Option<()> {
        let at = self.slot(number.checked_sub(1)?, self.lists.len())?;
        // A union or list whose sources are unreadable is unreadable itself.
        let list = self.resources(resources)?;
        put(&mut self.lists, at, self.addresses.list(list.into()));
        Some(())
    }

    pub fn add_union(&mut self, number: u64, own: &[u64], lists: &[u64]) -> Option<()> {
        let at = self.slot(number.checked_sub(1)?, self.lists.len())?;
        let own = self.resources(own)?;
        let list = |number: &u64| self.lists.get(usize::try_from(number.checked_sub(1)?).ok()?)?.as_ref();
        let lists = lists.iter().map(list).collect::<Option<Vec<_>>>()?;
        let rank = |number: u32| self.ranks.get(number as usize).copied().flatten();
        let all = own.iter().chain(lists.iter().flat_map(|list| list.numbers()));
        // Without ranks the order of the union cannot be reconstructed.
        if !all.copied().all(|number| rank(number).is_some()) {
            return None;
        }
        let numbers = lists.iter().map(|list| list.numbers());
        let list = self.paper.unite(&own, numbers, |number| rank(number).unwrap_or_default()).into();
        put(&mut self.lists, at, self.addresses.list(list));
        Some(())
    }

    /// The position of a number among `known` ones; none if numbers before it are missing and no damage explains that.
    fn slot(&self, number: u64, known: usize) -> Option<usize> {
        let at = usize::try_from(number).ok()?;
        (at <= known.saturating_add(self.gap)).then_some(at)
    }

    fn resources(&self, numbers: &[u64]) -> Option<Vec<u32>> {
        numbers.iter().map(|number| self.texts.get(usize::try_from(*number).ok()?)?.as_ref()?.resource).collect()
    }

    pub fn provider(&self, decoder: &mut Decoder<'_>) -> Option<ProviderConfig> {
        let text = self.texts.get(usize::try_from(decoder.number()?).ok()?)?.as_ref()?;
        debug_assert!(text.provider.is_some(), "{} is no provider configuration", text.text);
        text.provider.clone()
    }

    /// List number zero is the empty one, and so is one whose record is lost.
    pub fn list(&self, decoder: &mut Decoder<'_>) -> Option<Dependencies> {
        let Some(at) = decoder.number()?.checked_sub(1) else { return Some(Dependencies::default()) };
        match self.lists.get(usize::try_from(at).ok()?) {
            Some(Some(list)) => Some(list.clone()),
            // After damage a result is worth more than its dependencies: the object is kept, and the loss is reported.
            _ if self.gap > 0 => {
                self.missing_lists.set(self.missing_lists.get() + 1);
                Some(Dependencies::default())
            }
            _ => None,
        }
    }
}

/// Puts an entry at a position, after empty ones if the list is shorter.
fn put<T>(entries: &mut Vec<Option<T>>, at: usize, entry: T) {
    if at >= entries.len() {
        entries.resize_with(at + 1, || None);
    }
    entries[at] = Some(entry);
}

/// The numbers by which records name what was noted before, since the beginning of a run.
#[derive(Default)]
pub(super) struct Known {
    pub(super) texts: u64,
    pub(super) lists: u64,
    providers: HashMap<ProviderConfig, u64, RandomState>,
    /// Mostly the next record has it again.
    last_provider: Option<(ProviderConfig, u64)>,
    resources: ByAddress<u64>,
    /// By the memory address of the list, which stays valid while the list is kept in the value. A list that occurs twice in
    /// memory gets two numbers, which only costs room.
    dependencies: HashMap<usize, (u64, Dependencies), RandomState>,
}

impl Known {
    /// The number of a provider configuration, which is noted in `out` where it has none yet.
    pub(super) fn provider(&mut self, provider: &ProviderConfig, out: &mut Vec<u8>) -> u64 {
        // Most records follow one of the same provider.
        if let Some((_, number)) = self.last_provider.as_ref().filter(|(last, _)| last == provider) {
            return *number;
        }
        let number = match self.providers.get(provider) {
            Some(number) => *number,
            None => {
                let (number, text) = (self.texts, provider.to_string());
                // Every result refers to its provider, so damage to one record must not cost all of them.
                for _ in 0..2 {
                    frame::append(out, |out| form::encode_text(number, None, &text, out));
                }
                self.texts += 1;
                number
            }
        };
        self.providers.insert(provider.clone(), number);
        self.last_provider = Some((provider.clone(), number));
        number
    }

    /// Returns the number of a dependency list; 0 is the empty one.
    pub(super) fn list(&mut self, list: &Dependencies, out: &mut Vec<u8>) -> u64 {
        let Some(memory_address) = list.memory_address() else { return 0 };
        if let Some((number, _)) = self.dependencies.get(&memory_address) {
            return *number;
        }
        // Zero is the number of the empty list.
        let number = self.lists + 1;
        // The parts are named only if they have numbers themselves; otherwise the list is written out.
        match list.parts().and_then(|(own, lists)| Some((own, self.numbers_of(lists)?))) {
            Some((own, lists)) => {
                let own = self.texts_of(list, own, out);
                frame::append(out, |out| form::encode_union(number, &own, &lists, out));
            }
            None => {
                let numbers = self.texts_of(list, list.numbers(), out);
                frame::append(out, |out| form::encode_list(number, &numbers, out));
            }
        }
        self.lists = number;
        // The list is kept, so that no other list gets its memory address.
        self.dependencies.insert(memory_address, (number, list.clone()));
        number
    }

    /// The numbers of the lists at these places, if all of them were noted.
    fn numbers_of(&self, places: impl Iterator<Item = usize>) -> Option<Vec<u64>> {
        places.map(|memory_address| self.dependencies.get(&memory_address).map(|(number, _)| *number)).collect()
    }

    /// The numbers of resources, which are given here to those that have none yet.
    fn texts_of(&mut self, list: &Dependencies, resources: &[u32], out: &mut Vec<u8>) -> Vec<u64> {
        let mut numbers = Vec::with_capacity(resources.len());
        let texts = &mut self.texts;
        let write = |rank: Option<u32>, text: &str| {
            let number = *texts;
            frame::append(out, |out| form::encode_text(number, rank, text, out));
            *texts += 1;
            number
        };
        self.resources.each_of(list, resources, write, |number| numbers.push(*number));
        numbers
    }

    /// Forgets numbers whose records could not be written, so that the values are written again when they are needed.
    pub(super) fn forget(&mut self, texts: u64, lists: u64) {
        *self = Self { texts, lists, ..Self::default() };
    }
}
