//! The memory of threads.

/// Makes room in the heap of a thread that is going to keep something for so many things.
///
/// The allocator of glibc grows the heaps of threads page by page, each time by a call that halts the page faults of all
/// threads. What was room once stays room: it has it from a few calls, and is given no memory before that is written to.
pub(crate) fn make_room(things: usize) {
    /// The allocator has larger blocks from the system one by one.
    const BLOCK: usize = 120 << 10;
    /// Estimated size of one allocation.
    const EACH: usize = 800;
    /// A heap does not grow beyond 64 MB; what comes after that makes its own room.
    const MOST: usize = 256;
    let blocks = (things.saturating_mul(EACH) / BLOCK).min(MOST);
    let block = |_| {
        let mut block: Vec<u8> = Vec::new();
        // Where memory is short, it is left to those who need it.
        block.try_reserve_exact(BLOCK).is_ok().then_some(block)
    };
    let blocks: Vec<Vec<u8>> = (0..blocks).map_while(block).collect();
    drop(std::hint::black_box(blocks));
}
