//! Numbers of values in records: strings, providers, lists of dependencies.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use groma_address::ProviderConfig;

use super::{form, frame};
use crate::dependencies::{ByAddress, Dependencies};

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

    /// Returns the number of a list of dependencies, encoding it first if it is new; 0 is the empty one.
    pub(super) fn list(&mut self, list: &Dependencies, out: &mut Vec<u8>) -> u64 {
        let Some(place) = list.place() else { return 0 };
        if let Some((number, _)) = self.dependencies.get(&place) {
            return *number;
        }
        let number = self.lists + 1;
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
        self.dependencies.insert(place, (number, list.clone()));
        number
    }

    /// The numbers of the lists at these places, if all of them were noted.
    fn numbers_of(&self, places: impl Iterator<Item = usize>) -> Option<Vec<u64>> {
        places.map(|place| self.dependencies.get(&place).map(|(number, _)| *number)).collect()
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

    /// Forgets the latest numbers, if their values could not be written: they are encoded again when needed.
    pub(super) fn forget(&mut self, texts: u64, lists: u64) {
        *self = Self { texts, lists, ..Self::default() };
    }
}
