//! Values by their numbers in a journal's records.

use std::cell::Cell;

use groma_address::{Name, ProviderConfig};

use super::codec::Decoder;
use crate::dependencies::{AddressTable, Dependencies, Paper};

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
