//! The guarantees that hosts expect from a state store.

use crate::project::Problems;
use crate::store::Store;

const IDS: [&str; 2] = ["promise-a", "promise-b"];

/// The maximum size of a tested state, so that a store with large chunks need not keep several of them.
const LARGEST: u64 = 1 << 20;

impl Store {
    /// Tests the guarantees of the store, and returns those that it breaks: written states are read back byte by byte,
    /// whatever their size; states are listed and independent; a deleted state is gone; a lock has one owner at a time,
    /// and nobody else can release it. The states `promise-a` and `promise-b` are written and deleted for that.
    ///
    /// # Errors
    ///
    /// Returns the errors of calls that must not fail.
    pub fn broken_promises(&self) -> Result<Vec<String>, Problems> {
        let mut found = Vec::new();
        contents(self, &mut found)?;
        neighbors(self, &mut found)?;
        locks(self, &mut found)?;
        deletions(self, &mut found)?;
        Ok(found)
    }
}

fn expect(found: &mut Vec<String>, kept: bool, promise: impl Into<String>) {
    if !kept {
        found.push(promise.into());
    }
}

/// Tests contents with every byte value, longer than a chunk, and shorter than the previous content.
fn contents(store: &Store, found: &mut Vec<String>) -> Result<(), Problems> {
    let [id, _] = IDS;
    expect(found, store.read(id)?.is_empty(), "a state that nobody wrote is empty");
    // Two whole chunks and a part of a third one.
    let pieces = store.chunk_size().min(LARGEST) * 2 + 7;
    // The last one is the smallest, so that a store which does not truncate is found.
    for size in [256, pieces, 3] {
        let content: Vec<u8> = (0..=u8::MAX).cycle().take(usize::try_from(size).unwrap_or(usize::MAX)).collect();
        store.write(id, &content)?;
        expect(found, store.read(id)? == content, format!("a state of {size} bytes is read as it was written"));
    }
    Ok(())
}

fn neighbors(store: &Store, found: &mut Vec<String>) -> Result<(), Problems> {
    let [first, second] = IDS;
    store.write(first, b"first")?;
    expect(found, store.read(second)?.is_empty(), "a state is not read under another id");
    store.write(second, b"second")?;
    expect(found, store.read(first)? == b"first", "a state stays as it is while another is written");
    let listed = store.list()?;
    let times = |id| listed.iter().filter(|listed| *listed == id).count();
    expect(found, IDS.iter().all(|id| times(*id) == 1), "each state that was written is listed once");
    Ok(())
}

fn locks(store: &Store, found: &mut Vec<String>) -> Result<(), Problems> {
    let [first, second] = IDS;
    // A store without locks has no guarantees about them.
    let Some(lock_id) = store.lock(first, "first")? else { return Ok(()) };
    expect(found, store.lock(first, "again").is_err(), "a lock that somebody has is not given to another");
    expect(found, store.unlock(first, "another lock").is_err(), "a lock is not given back by another id");
    expect(found, store.lock(first, "once more").is_err(), "a lock stays after somebody else tried to give it back");
    match store.lock(second, "second") {
        Ok(other) => {
            // With equal IDs the unlocking of one state could release the lock on another.
            expect(found, other.as_ref() != Some(&lock_id), "two locks have two ids");
            store.unlock(second, &other.unwrap_or_default())?;
        }
        Err(_) => expect(found, false, "the lock on a state does not lock another one"),
    }
    store.unlock(first, &lock_id)?;
    match store.lock(first, "after") {
        Ok(lock_id) => store.unlock(first, &lock_id.unwrap_or_default()),
        Err(_) => {
            expect(found, false, "a lock that was given back can be taken again");
            Ok(())
        }
    }
}

fn deletions(store: &Store, found: &mut Vec<String>) -> Result<(), Problems> {
    let [first, second] = IDS;
    store.delete(first)?;
    expect(found, store.read(first)?.is_empty(), "a state that was deleted is empty");
    expect(found, !store.list()?.iter().any(|id| id == first), "a state that was deleted is not listed");
    expect(found, store.read(second)? == b"second", "a state stays as it is while another is deleted");
    store.delete(second)
}
