//! The widths of a block's codes, as they are written at its beginning: shortened, and coded themselves.

use super::block::Bits;
use super::huffman::Codes;

/// Symbols below are widths; this one repeats the last width three to six times.
const AGAIN: u8 = 16;
/// Three to ten zeros.
const SOME_ZEROS: u8 = 17;
/// Eleven to 138 zeros.
const MANY_ZEROS: u8 = 18;
/// The symbols in the order in which the widths of their codes are written.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/// The fewest of these widths that can be written.
const FEWEST: usize = 4;

/// One symbol, and the bits that follow its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    symbol: u8,
    extra: u8,
}

impl Entry {
    fn plain(symbol: u8) -> Self {
        Self { symbol, extra: 0 }
    }

    fn extra_width(self) -> u8 {
        match self.symbol {
            AGAIN => 2,
            SOME_ZEROS => 3,
            MANY_ZEROS => 7,
            _ => 0,
        }
    }
}

/// Widths, ready to be written.
pub(super) struct Table {
    entries: Vec<Entry>,
    codes: Codes,
    /// Number of code lengths of the code length alphabet that are written.
    count: usize,
    cost: usize,
}

impl Table {
    /// The shortest way to write `widths`, each at most 15.
    pub(super) fn new(widths: &[u8]) -> Self {
        let entries: Vec<Entry> = widths.chunk_by(|a, b| a == b).flat_map(shortened).collect();
        let mut counts = [0; ORDER.len()];
        entries.iter().for_each(|entry| counts[usize::from(entry.symbol)] += 1);
        let codes = Codes::for_counts(&counts, 7);
        let count = ORDER.iter().rposition(|symbol| counts[*symbol] > 0).map_or(FEWEST, |last| (last + 1).max(FEWEST));
        let extra: usize = entries.iter().map(|entry| usize::from(entry.extra_width())).sum();
        let cost = 4 + 3 * count + codes.cost(&counts) + extra;
        Self { entries, codes, count, cost }
    }

    /// Returns the total number of bits.
    pub(super) fn cost(&self) -> usize {
        self.cost
    }

    /// Writes how many of the codes' own widths there are; what tells the sizes of the alphabets goes before it.
    pub(super) fn write(&self, out: &mut Bits) {
        out.push((self.count - FEWEST) as u32, 4);
        for symbol in &ORDER[..self.count] {
            out.push(u32::from(self.codes.width(*symbol)), 3);
        }
        for entry in &self.entries {
            self.codes.write(out, usize::from(entry.symbol));
            out.push(u32::from(entry.extra), entry.extra_width());
        }
    }
}

/// A run of one width in few entries.
fn shortened(run: &[u8]) -> Vec<Entry> {
    let Some((width, again)) = run.split_first() else { return Vec::new() };
    match width {
        0 => zeros(run.len()),
        _ => std::iter::once(Entry::plain(*width)).chain(repeated(*width, again.len())).collect(),
    }
}

fn zeros(mut count: usize) -> Vec<Entry> {
    let mut entries = Vec::new();
    while count >= 11 {
        let taken = count.min(138);
        entries.push(Entry { symbol: MANY_ZEROS, extra: (taken - 11) as u8 });
        count -= taken;
    }
    if count >= 3 {
        entries.push(Entry { symbol: SOME_ZEROS, extra: (count - 3) as u8 });
        count = 0;
    }
    entries.extend(std::iter::repeat_n(Entry::plain(0), count));
    entries
}

/// `count` times the width that was before.
fn repeated(width: u8, mut count: usize) -> Vec<Entry> {
    let mut entries = Vec::new();
    while count >= 3 {
        let taken = count.min(6);
        entries.push(Entry { symbol: AGAIN, extra: (taken - 3) as u8 });
        count -= taken;
    }
    entries.extend(std::iter::repeat_n(Entry::plain(width), count));
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_shortened() {
        let entries = |run: &[u8]| -> Vec<(u8, u8)> {
            shortened(run).into_iter().map(|entry| (entry.symbol, entry.extra)).collect()
        };
        assert_eq!(entries(&[0; 2]), [(0, 0), (0, 0)]);
        assert_eq!(entries(&[0; 10]), [(SOME_ZEROS, 7)]);
        assert_eq!(entries(&[0; 140]), [(MANY_ZEROS, 127), (0, 0), (0, 0)]);
        assert_eq!(entries(&[5; 3]), [(5, 0), (5, 0), (5, 0)]);
        assert_eq!(entries(&[5; 9]), [(5, 0), (AGAIN, 3), (5, 0), (5, 0)]);
    }
}
