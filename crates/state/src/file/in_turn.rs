//! The pieces of a long text, made on all processors and passed on in their order.

use std::io;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};

/// Takes the next piece of a text.
pub(crate) type Take<'a> = dyn FnMut(&[u8]) -> io::Result<()> + Send + 'a;

/// So few pieces are made before a thread for them has started.
const FEW: usize = 3;

/// Runs `make` for each of the `pieces` on several threads, with the piece's number and per-thread data, and
/// passes them on to `take`: one at a time and in order, while others are made. Ends at the first error.
pub(super) fn in_turn<K: Default>(
    pieces: usize,
    make: impl Fn(usize, &mut K, &mut Vec<u8>) + Sync,
    take: &mut Take<'_>,
) -> io::Result<()> {
    let line = Line {
        pieces,
        given_out: AtomicUsize::new(0),
        turn: Mutex::new(Turn { next: 0, taken: Ok(()), take }),
        passed: Condvar::new(),
    };
    let work = || line.work(&make);
    let helpers = match pieces {
        // A small state is written before threads would have started.
        ..FEW => 0,
        _ => thread::available_parallelism().map_or(1, NonZero::get).min(pieces) - 1,
    };
    thread::scope(|scope| {
        for _ in 0..helpers {
            // With fewer threads it only takes longer.
            let _ = Builder::new().name("state".to_owned()).spawn_scoped(scope, work);
        }
        work();
    });
    line.turn.into_inner().unwrap_or_else(PoisonError::into_inner).taken
}

struct Line<T> {
    pieces: usize,
    /// The number of pieces that are in progress or done.
    given_out: AtomicUsize,
    turn: Mutex<Turn<T>>,
    /// The turn has passed to the next piece.
    passed: Condvar,
}

struct Turn<T> {
    /// The piece that is passed on next.
    next: usize,
    taken: io::Result<()>,
    take: T,
}

impl<T: FnMut(&[u8]) -> io::Result<()>> Line<T> {
    fn work<K: Default>(&self, make: &impl Fn(usize, &mut K, &mut Vec<u8>)) {
        let (mut kept, mut out) = (K::default(), Vec::new());
        loop {
            // Threads take the next piece when they are free, since pieces differ in size.
            let piece = self.given_out.fetch_add(1, Ordering::Relaxed);
            if piece >= self.pieces {
                return;
            }
            // Should making it panic, nobody waits for it.
            let address = LinePosition { line: self, piece };
            out.clear();
            make(piece, &mut kept, &mut out);
            address.pass_on(&out);
        }
    }

    fn wait_for(&self, piece: usize) -> MutexGuard<'_, Turn<T>> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.passed.wait_while(turn, |turn| turn.next != piece).unwrap_or_else(PoisonError::into_inner)
    }
}

/// The position of a piece in the line, which is left when its turn has come.
struct LinePosition<'a, T: FnMut(&[u8]) -> io::Result<()>> {
    line: &'a Line<T>,
    piece: usize,
}

impl<T: FnMut(&[u8]) -> io::Result<()>> LinePosition<'_, T> {
    fn pass_on(self, bytes: &[u8]) {
        let mut turn = self.line.wait_for(self.piece);
        // After an error the remaining pieces are made but no longer passed on.
        if turn.taken.is_ok() {
            turn.taken = (turn.take)(bytes);
        }
    }
}

impl<T: FnMut(&[u8]) -> io::Result<()>> Drop for LinePosition<'_, T> {
    fn drop(&mut self) {
        // Also after a panic, so that the other threads do not wait forever.
        self.line.wait_for(self.piece).next += 1;
        self.line.passed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_passed_on_in_their_order() {
        for pieces in [0, 1, 2, 3, 100] {
            let mut text = String::new();
            let make = |piece: usize, made: &mut usize, out: &mut Vec<u8>| {
                *made += 1;
                // Early pieces take longest.
                thread::sleep(std::time::Duration::from_micros((200 - 2 * piece) as u64));
                out.extend_from_slice(format!("{piece},").as_bytes());
            };
            in_turn(pieces, make, &mut |piece| {
                text.push_str(std::str::from_utf8(piece).unwrap());
                Ok(())
            })
            .unwrap();
            assert_eq!(text, (0..pieces).map(|piece| format!("{piece},")).collect::<String>());
        }
    }

    #[test]
    fn nothing_is_passed_on_after_an_error() {
        let mut taken = 0;
        let result = in_turn(50, |_, _: &mut (), out| out.push(1), &mut |_| {
            taken += 1;
            if taken == 3 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        });
        assert_eq!((result.unwrap_err().kind(), taken), (io::ErrorKind::StorageFull, 3));
    }
}
