//! Finding repetitions in a text, and splitting it into blocks.

/// The shortest repetition that is looked for: four bytes are found by one number.
const SHORTEST: usize = 4;
/// The longest repetition that the format has.
const LONGEST: usize = 258;
/// Maximal distance of a repetition.
const REACH: usize = 1 << 15;
/// Maximal distance of one of the shortest repetitions: from farther away it costs as much as its bytes.
const REACH_OF_SHORTEST: usize = 4096;
/// Maximal number of earlier positions to try.
const TRIES: usize = 128;
/// With so long a repetition no longer one is looked for at the same place.
const LONG_ENOUGH: usize = 128;
/// With so long a repetition none is looked for at the next place.
const LONG_ENOUGH_TO_GO_ON: usize = 16;
/// The most tokens in a block.
const TOKENS: usize = 1 << 14;
/// Number of values of [`hash`].
const HASHES: usize = 1 << 17;

/// A byte, or a repetition of what was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Literal(u8),
    Repetition(Repetition),
}

/// `length` bytes from 4 to 258, as they are `distance` bytes from 1 to 32768 before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repetition {
    pub(super) length: u16,
    pub(super) distance: u16,
}

/// A part of the text.
pub(super) struct Block<'t> {
    pub(super) tokens: Vec<Token>,
    /// The part itself, if it may be written as it is.
    pub(super) plain: Option<&'t [u8]>,
}

/// The last place, where it is not decided yet whether its repetition counts: the next place may have a longer one,
/// and then its byte is written as it is.
struct Waiting {
    byte: u8,
    repetition: Option<Repetition>,
}

/// A way through a text.
pub(super) struct Matcher<'t> {
    text: &'t [u8],
    at: usize,
    waiting: Option<Waiting>,
    block_start: usize,
    window: usize,
    positions: Positions,
}

impl<'t> Matcher<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self { text, at: 0, waiting: None, block_start: 0, window: 0, positions: Positions::new() }
    }

    /// The next part of the text; none at its end.
    pub(super) fn next_block(&mut self) -> Option<Block<'t>> {
        let mut tokens = Vec::new();
        while tokens.len() < TOKENS && self.at < self.text.len() {
            tokens.extend(self.step());
        }
        if tokens.len() < TOKENS {
            tokens.extend(self.waiting.take().map(|last| Token::Literal(last.byte)));
        }
        if tokens.is_empty() {
            return None;
        }
        let start = std::mem::replace(&mut self.block_start, self.at - usize::from(self.waiting.is_some()));
        // A block whose beginning has left the window cannot be written as it is.
        let plain = (start >= self.window).then(|| &self.text[start..self.block_start]);
        Some(Block { tokens, plain })
    }

    /// Processes the next position, and returns a token that it completes.
    fn step(&mut self) -> Option<Token> {
        self.slide();
        let before = self.waiting.take();
        let earlier = before.as_ref().and_then(|before| before.repetition);
        let repetition = self.find(earlier);
        match earlier {
            Some(earlier) if repetition.is_none_or(|later| later.length <= earlier.length) => {
                self.skip(usize::from(earlier.length) - 1);
                Some(Token::Repetition(earlier))
            }
            _ => {
                self.waiting = Some(Waiting { byte: self.text[self.at], repetition });
                self.at += 1;
                before.map(|before| Token::Literal(before.byte))
            }
        }
    }

    /// The text goes through a window of twice the reach, which moves by one reach when there is more text and the
    /// longest repetition might not fit any more. Older text is not searched, even if it is within reach.
    fn slide(&mut self) {
        let end = self.window + 2 * REACH;
        if self.text.len() > end && end - self.at < SHORTEST + LONGEST {
            self.window += REACH;
        }
    }

    /// Notes this place, and finds its longest repetition unless the `earlier` one is good enough.
    fn find(&mut self, earlier: Option<Repetition>) -> Option<Repetition> {
        let rest = &self.text[self.at..];
        let candidate = self.positions.note(rest, self.at)?;
        let length = earlier.map_or(0, |earlier| usize::from(earlier.length));
        if length >= LONG_ENOUGH_TO_GO_ON || length >= rest.len() {
            return None;
        }
        self.longest(candidate)
    }

    /// The longest repetition here, the nearest of those of one length.
    fn longest(&self, candidate: usize) -> Option<Repetition> {
        let rest = &self.text[self.at..];
        let rest = &rest[..rest.len().min(LONGEST)];
        let oldest = self.window.max(self.at.saturating_sub(REACH));
        let mut candidate = Some(candidate);
        let mut best = SHORTEST - 1;
        let mut found = None;
        for _ in 0..TRIES {
            let Some(place) = candidate.filter(|place| *place >= oldest) else { break };
            let length = common_length(rest, &self.text[place..], best);
            let distance = self.at - place;
            if length > best && (length > SHORTEST || distance <= REACH_OF_SHORTEST) {
                best = length;
                // Both fit: at most 258, and at most the reach.
                found = Some(Repetition { length: length as u16, distance: distance as u16 });
                if length >= rest.len().min(LONG_ENOUGH) {
                    break;
                }
            }
            // The memory of the place one reach back is that of this place by now.
            candidate = (distance < REACH).then(|| self.positions.before(place)).flatten();
        }
        found
    }

    /// Passes over bytes that a repetition has; this place is noted already.
    fn skip(&mut self, count: usize) {
        for at in self.at + 1..self.at + count {
            self.positions.note(&self.text[at..], at);
        }
        self.at += count;
    }
}

/// Returns the length of the common prefix of `text` and `earlier`; 0 if it cannot exceed
/// `best`, which is less than the length of `text`.
fn common_length(text: &[u8], earlier: &[u8], best: usize) -> usize {
    if text.get(best) != earlier.get(best) {
        return 0;
    }
    text.iter().zip(earlier).take_while(|(a, b)| a == b).count()
}

/// The last positions of each hash of four bytes. Positions are stored plus one; 0 means none.
struct Positions {
    last: Vec<usize>,
    before: Vec<usize>,
}

impl Positions {
    fn new() -> Self {
        Self { last: vec![0; HASHES], before: vec![0; REACH] }
    }

    /// Stores the position `at`, where the text continues with `rest`, and returns the previous one with the same hash. The last
    /// three positions of a text are not stored.
    fn note(&mut self, rest: &[u8], at: usize) -> Option<usize> {
        let last = &mut self.last[hash(*rest.first_chunk()?)];
        let before = std::mem::replace(last, at + 1);
        self.before[at % REACH] = before;
        before.checked_sub(1)
    }

    /// The last place before `place` with the same hash.
    fn before(&self, place: usize) -> Option<usize> {
        self.before[place % REACH].checked_sub(1)
    }
}

/// A number below [`HASHES`]. Which one decides what shares its tries, and so what is found.
fn hash(bytes: [u8; SHORTEST]) -> usize {
    (u32::from_be_bytes(bytes).wrapping_mul(0x1e35_a7bd) >> (u32::BITS - HASHES.ilog2())) as usize
}
