//! What the numbers in a journal's records mean.

use groma_address::{Name, ProviderConfig};

use super::codec::Decoder;
use crate::dependencies::{AddressTable, Dependencies, Paper};

/// What earlier records have given numbers.
#[derive(Default)]
pub(super) struct Numbered {
    texts: Vec<Text>,
    addresses: AddressTable,
    /// The ranks of addresses by their numbers.
    ranks: Vec<Option<u32>>,
    lists: Vec<Dependencies>,
    paper: Paper,
}

/// A text is either a resource or a provider configuration; which one shows when it is used.
struct Text {
    text: Name,
    /// Its number among the addresses, if it is one.
    resource: Option<u32>,
    provider: Option<ProviderConfig>,
}

impl Numbered {
    pub fn add_text(&mut self, text: &str, rank: Option<u32>) {
        let resource = text.parse().ok().map(|address| self.addresses.add(address));
        if resource.is_some() {
            self.ranks.push(rank);
        }
        self.texts.push(Text { text: text.into(), resource, provider: text.parse().ok() });
    }

    pub fn add_list(&mut self, numbers: &[u64]) -> Option<()> {
        let list = self.resources(numbers)?;
        self.lists.push(self.addresses.list(list.into()));
        Some(())
    }

    pub fn add_union(&mut self, own: &[u64], lists: &[u64]) -> Option<()> {
        let own = self.resources(own)?;
        let list = |number: &u64| self.lists.get(usize::try_from(number.checked_sub(1)?).ok()?);
        let lists = lists.iter().map(list).collect::<Option<Vec<_>>>()?;
        let rank = |number: u32| self.ranks.get(number as usize).copied().flatten();
        let all = own.iter().chain(lists.iter().flat_map(|list| list.numbers()));
        if !all.copied().all(|number| rank(number).is_some()) {
            return None;
        }
        let numbers = lists.iter().map(|list| list.numbers());
        let list = self.paper.unite(&own, numbers, |number| rank(number).unwrap_or_default()).into();
        self.lists.push(self.addresses.list(list));
        Some(())
    }

    fn resources(&self, numbers: &[u64]) -> Option<Vec<u32>> {
        numbers.iter().map(|number| self.texts.get(usize::try_from(*number).ok()?)?.resource).collect()
    }

    pub fn provider(&self, decoder: &mut Decoder<'_>) -> Option<ProviderConfig> {
        let text = self.texts.get(usize::try_from(decoder.number()?).ok()?)?;
        debug_assert!(text.provider.is_some(), "{} is no provider configuration", text.text);
        text.provider.clone()
    }

    /// List number zero is the empty one.
    pub fn list(&self, decoder: &mut Decoder<'_>) -> Option<Dependencies> {
        match decoder.number()? {
            0 => Some(Dependencies::default()),
            number => self.lists.get(usize::try_from(number - 1).ok()?).cloned(),
        }
    }
}
