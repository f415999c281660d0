//! Packing with gzip, to the byte as Terraform does it.
//!
//! What a packer makes of a text is not laid down, only how to read it. Configurations hand the packed text to
//! machines that are replaced when it changes, so it must not depend on who packs: this gives what Terraform's packer
//! gives, which is that of Go at its default level. `matching` splits the text into blocks of literals and repetitions,
//! `block` writes each in its shortest form, with the codes of `huffman`, which `widths` tells.

mod block;
mod huffman;
mod matching;
#[cfg(test)]
mod tests;
mod widths;

use block::Bits;
use matching::Matcher;

/// Gzip, packed with deflate; no flags, no time, ordinary effort, unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// `text` packed: one member of a gzip file.
pub(super) fn packed(text: &[u8]) -> Vec<u8> {
    let mut out = Bits::after(&HEADER);
    let mut matcher = Matcher::new(text);
    while let Some(block) = matcher.next_block() {
        block::write(&mut out, &block);
    }
    // Terraform flushes before it closes. Either leaves an empty block, and only the last says that it is the last.
    block::write_stored(&mut out, block::BlockPosition::Within, &[]);
    block::write_stored(&mut out, block::BlockPosition::Last, &[]);

    let mut checksum = flate2::Crc::new();
    checksum.update(text);
    let mut bytes = out.into_bytes();
    bytes.extend_from_slice(&checksum.sum().to_le_bytes());
    bytes.extend_from_slice(&checksum.amount().to_le_bytes());
    bytes
}
