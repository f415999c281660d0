//! Writing blocks of RFC 1951 in the shortest of their three forms.

use std::sync::LazyLock;

use super::huffman::Codes;
use super::matching::{Block, Token};
use super::widths::Table;

/// The symbol that ends a block; those below are bytes, those above lengths.
const END: usize = 256;
/// Number of symbols for bytes, the end and lengths.
const LITERALS: usize = 286;
/// Number of symbols for distances.
const DISTANCES: usize = 30;
/// No code of a byte, a length or a distance is wider.
const WIDEST: usize = 15;
/// The most bytes that a block can have as they are.
const MOST_STORED: usize = 0xffff;

/// The codes that a block has without telling them.
static FIXED: LazyLock<Coding> = LazyLock::new(|| {
    let width = |symbol| match symbol {
        144..256 => 9,
        256..280 => 7,
        _ => 8,
    };
    let literals: Vec<u8> = (0..288).map(width).collect();
    Coding { literals: Codes::of_widths(&literals), distances: Codes::of_widths(&[5; DISTANCES]) }
});

/// Whether more blocks follow.
#[derive(Clone, Copy)]
pub(super) enum BlockPosition {
    Within,
    Last,
}

/// Writes a block after which others follow.
pub(super) fn write(out: &mut Bits, block: &Block<'_>) {
    let counts = Counts::of(&block.tokens);
    let own = OwnCoding::new(&counts);
    let fixed_cost = FIXED.cost(&counts);
    let own_cost = own.cost(&counts);

    // In case of doubt fixed codes go before own ones, and both before the bytes as they are.
    let best = 3 + counts.extra_bits + fixed_cost.min(own_cost);
    if let Some(plain) = block.plain.filter(|plain| plain.len() <= MOST_STORED && (plain.len() + 5) * 8 < best) {
        write_stored(out, BlockPosition::Within, plain);
    } else if own_cost < fixed_cost {
        out.push(0b100, 3);
        own.write(out);
        own.coding.write(out, &block.tokens);
    } else {
        out.push(0b010, 3);
        FIXED.write(out, &block.tokens);
    }
}

/// Writes bytes as they are, at most 65535 of them.
pub(super) fn write_stored(out: &mut Bits, place: BlockPosition, bytes: &[u8]) {
    out.push(u32::from(matches!(place, BlockPosition::Last)), 3);
    let length = bytes.len() as u16;
    out.push_bytes(&length.to_le_bytes());
    out.push_bytes(&(!length).to_le_bytes());
    out.push_bytes(bytes);
}

/// The codes of a block's symbols.
struct Coding {
    literals: Codes,
    distances: Codes,
}

impl Coding {
    /// Returns the number of bits that the codes of a block take.
    fn cost(&self, counts: &Counts) -> usize {
        self.literals.cost(&counts.literals) + self.distances.cost(&counts.distances)
    }

    fn write(&self, out: &mut Bits, tokens: &[Token]) {
        for token in tokens {
            let (literal, distance) = symbols(*token);
            self.literals.write(out, literal.symbol);
            literal.write_extra(out);
            if let Some(distance) = distance {
                self.distances.write(out, distance.symbol);
                distance.write_extra(out);
            }
        }
        self.literals.write(out, END);
    }
}

/// The codes of one block, which are written at its beginning.
struct OwnCoding {
    coding: Coding,
    literals: usize,
    distances: usize,
    widths: Table,
}

impl OwnCoding {
    fn new(counts: &Counts) -> Self {
        let coding = Coding {
            literals: Codes::for_counts(&counts.literals, WIDEST),
            distances: Codes::for_counts(&counts.distances, WIDEST),
        };
        let (literals, distances) = (used(&counts.literals), used(&counts.distances));
        let widths: Vec<u8> = (0..literals)
            .map(|symbol| coding.literals.width(symbol))
            .chain((0..distances).map(|symbol| coding.distances.width(symbol)))
            .collect();
        Self { coding, literals, distances, widths: Table::new(&widths) }
    }

    fn cost(&self, counts: &Counts) -> usize {
        5 + 5 + self.widths.cost() + self.coding.cost(counts)
    }

    fn write(&self, out: &mut Bits) {
        // The counts of symbols; a block has at least all up to its end, and one distance.
        out.push((self.literals - (END + 1)) as u32, 5);
        out.push((self.distances - 1) as u32, 5);
        self.widths.write(out);
    }
}

/// Returns the number of symbols up to the last one in use.
fn used(counts: &[u32]) -> usize {
    counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1)
}

/// The frequencies of a block's symbols.
struct Counts {
    literals: [u32; LITERALS],
    distances: [u32; DISTANCES],
    /// Number of extra bits after codes.
    extra_bits: usize,
}

impl Counts {
    fn of(tokens: &[Token]) -> Self {
        let mut counts = Self { literals: [0; LITERALS], distances: [0; DISTANCES], extra_bits: 0 };
        counts.literals[END] = 1;
        for token in tokens {
            let (literal, distance) = symbols(*token);
            counts.literals[literal.symbol] += 1;
            counts.extra_bits += usize::from(literal.extra_width);
            if let Some(distance) = distance {
                counts.distances[distance.symbol] += 1;
                counts.extra_bits += usize::from(distance.extra_width);
            }
        }
        if used(&counts.distances) == 0 {
            // Own codes need one for distances. Its bit counts as written when the forms are compared.
            counts.distances[0] = 1;
        }
        counts
    }
}

/// A symbol, and the bits that follow its code.
struct Symbol {
    symbol: usize,
    extra: u32,
    extra_width: u8,
}

impl Symbol {
    fn plain(symbol: usize) -> Self {
        Self { symbol, extra: 0, extra_width: 0 }
    }

    /// Numbers have symbols of their own while they are small. Of larger ones the symbol tells the size and the
    /// highest bits below the first, `precise` of them, and the extra bits tell the others.
    fn of_number(number: u32, precise: u32) -> Self {
        let extra_width = number.checked_ilog2().unwrap_or(0).saturating_sub(precise);
        let symbol = (extra_width << precise) + (number >> extra_width);
        Self { symbol: symbol as usize, extra: number & ((1 << extra_width) - 1), extra_width: extra_width as u8 }
    }

    fn write_extra(&self, out: &mut Bits) {
        out.push(self.extra, self.extra_width);
    }
}

/// The symbols of a token: a byte or a length, and with a length a distance.
fn symbols(token: Token) -> (Symbol, Option<Symbol>) {
    match token {
        Token::Literal(byte) => (Symbol::plain(usize::from(byte)), None),
        Token::Repetition(repetition) => {
            let distance = Symbol::of_number(u32::from(repetition.distance) - 1, 1);
            (length_symbol(repetition.length), Some(distance))
        }
    }
}

fn length_symbol(length: u16) -> Symbol {
    // The longest has a symbol of its own.
    if length == 258 {
        return Symbol::plain(LITERALS - 1);
    }
    let number = Symbol::of_number(u32::from(length) - 3, 2);
    Symbol { symbol: END + 1 + number.symbol, ..number }
}

/// Bytes, and the bits that do not fill one yet.
pub(super) struct Bits {
    bytes: Vec<u8>,
    pending: u64,
    count: u32,
}

impl Bits {
    /// Continues after whole bytes.
    pub(super) fn after(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), pending: 0, count: 0 }
    }

    /// Appends the lowest `width` bits of `value`, which has no others. At most 32.
    pub(super) fn push(&mut self, value: u32, width: u8) {
        self.pending |= u64::from(value) << self.count;
        self.count += u32::from(width);
        while self.count >= 8 {
            self.take_byte();
            self.count -= 8;
        }
    }

    /// Fills the byte that has begun with zeros.
    pub(super) fn align(&mut self) {
        if self.count > 0 {
            self.take_byte();
            self.count = 0;
        }
    }

    /// Appends whole bytes at the border of a byte.
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) {
        self.align();
        self.bytes.extend_from_slice(bytes);
    }

    /// Everything, the last byte filled with zeros.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        self.align();
        self.bytes
    }

    fn take_byte(&mut self) {
        self.bytes.push((self.pending & 0xff) as u8);
        self.pending >>= 8;
    }
}
