//! Codes of few bits for what is frequent, of a limited length, as RFC 1951 orders them.

use super::block::Bits;

/// The code of a symbol, in the order in which its bits are written. A symbol that does not occur has a width of 0.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(super) struct Code {
    bits: u16,
    pub(super) width: u8,
}

/// A code for each symbol of an alphabet.
pub(super) struct Codes(Vec<Code>);

impl Codes {
    /// The shortest codes for symbols that occur so many times, none wider than `limit` bits.
    pub(super) fn for_counts(counts: &[u32], limit: usize) -> Self {
        Self::of_widths(&widths(counts, limit))
    }

    /// The codes that follow from their widths alone: short before long, and by symbol among those of one width.
    pub(super) fn of_widths(widths: &[u8]) -> Self {
        let mut codes = vec![Code::default(); widths.len()];
        let widest = widths.iter().copied().max().unwrap_or(0);
        let mut next: u16 = 0;
        for width in 1..=widest {
            next <<= 1;
            for (code, _) in codes.iter_mut().zip(widths).filter(|(_, of)| **of == width) {
                // Codes are written from their highest bit on, all else from the lowest.
                *code = Code { bits: next.reverse_bits() >> (16 - u32::from(width)), width };
                next = next.wrapping_add(1);
            }
        }
        Self(codes)
    }

    /// Returns the number of bits for symbols with these frequencies.
    pub(super) fn cost(&self, counts: &[u32]) -> usize {
        self.0.iter().zip(counts).map(|(code, count)| usize::from(code.width) * *count as usize).sum()
    }

    /// Returns the length of a symbol's code in bits.
    pub(super) fn width(&self, symbol: usize) -> u8 {
        self.0[symbol].width
    }

    /// Writes the code of a symbol.
    pub(super) fn write(&self, out: &mut Bits, symbol: usize) {
        let code = self.0[symbol];
        out.push(u32::from(code.bits), code.width);
    }
}

/// Returns the code length of each symbol.
fn widths(counts: &[u32], limit: usize) -> Vec<u8> {
    let mut widths = vec![0; counts.len()];
    let mut rarest_first: Vec<usize> = (0..counts.len()).filter(|symbol| counts[*symbol] > 0).collect();
    if rarest_first.len() <= 2 {
        // A code of no bits cannot be written, even where there is nothing to tell apart.
        rarest_first.into_iter().for_each(|symbol| widths[symbol] = 1);
        return widths;
    }
    rarest_first.sort_by_key(|symbol| (counts[*symbol], *symbol));
    let weights: Vec<u32> = rarest_first.iter().map(|symbol| counts[*symbol]).collect();
    for count in wider_by_one(&weights, limit.min(weights.len() - 1)) {
        rarest_first[..count].iter().for_each(|symbol| widths[*symbol] += 1);
    }
    widths
}

/// Package-merge: for each of `limit` rows, how many of the lightest leaves are in it. The width of a leaf is the
/// number of rows that it is in.
///
/// Each row has the leaves and the pairs of neighbours from the row before, by weight. Where several codes would be
/// as short in all, what decides is that a pair goes before a leaf of the same weight.
fn wider_by_one(weights: &[u32], limit: usize) -> Vec<usize> {
    let mut row: Vec<u32> = weights.to_vec();
    let mut which_are_leaves: Vec<Vec<bool>> = vec![vec![true; row.len()]];
    while which_are_leaves.len() < limit {
        let pairs: Vec<u32> = row.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
        let leaves;
        (row, leaves) = merged(weights, &pairs);
        which_are_leaves.push(leaves);
    }
    let mut taken = 2 * weights.len() - 2;
    let mut counts = Vec::with_capacity(limit);
    for leaves in which_are_leaves.iter().rev() {
        let count = leaves.iter().take(taken).filter(|is_leaf| **is_leaf).count();
        counts.push(count);
        taken = 2 * (taken.min(leaves.len()) - count);
    }
    counts
}

/// Two rows as one by weight, and for each of its items whether it is a leaf.
fn merged(leaves: &[u32], pairs: &[u32]) -> (Vec<u32>, Vec<bool>) {
    let mut leaves = leaves.iter().copied().peekable();
    let mut pairs = pairs.iter().copied().peekable();
    let (mut weights, mut are_leaves) = (Vec::new(), Vec::new());
    loop {
        let pair = pairs.peek().copied();
        let leaf = leaves.next_if(|leaf| pair.is_none_or(|pair| *leaf < pair));
        let Some(weight) = leaf.or_else(|| pairs.next()) else { return (weights, are_leaves) };
        weights.push(weight);
        are_leaves.push(leaf.is_some());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_symbols_get_short_codes_within_the_limit() {
        assert_eq!(widths(&[8, 4, 2, 1, 0, 1], 15), [1, 2, 3, 4, 0, 4]);
        assert_eq!(widths(&[8, 4, 2, 1, 0, 1], 3), [1, 3, 3, 3, 0, 3]);
        assert_eq!(widths(&[0, 7, 0], 15), [0, 1, 0]);
        assert_eq!(widths(&[0, 0], 15), [0, 0]);
    }

    #[test]
    fn codes_follow_from_their_widths() {
        // The example of RFC 1951, 3.2.2.
        let codes = Codes::of_widths(&[3, 3, 3, 3, 3, 2, 4, 4]);
        let text = |code: &Code| {
            format!("{:0width$b}", code.bits.reverse_bits() >> (16 - code.width), width = usize::from(code.width))
        };
        let texts: Vec<String> = codes.0.iter().map(text).collect();
        assert_eq!(texts, ["010", "011", "100", "101", "110", "00", "1110", "1111"]);
    }
}
