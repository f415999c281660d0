//! What is expected here was recorded from Terraform 1.15 and from the Go library that it has.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use super::packed;

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut text).unwrap();
    text
}

#[track_caller]
fn packs_to(text: &[u8], base64: &str) {
    assert_eq!(STANDARD.encode(packed(text)), base64);
}

#[track_caller]
fn packs_to_digest(text: &[u8], length: usize, sha256: &str) {
    let packed = packed(text);
    let digest: String = Sha256::digest(&packed).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!((packed.len(), digest.as_str()), (length, sha256));
    assert!(unpacked(&packed) == text, "does not unpack to the text");
}

/// Numbers that look random and are always the same.
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(seed), |state| {
        Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    })
    .map(|state| state >> 33)
    .skip(1)
}

fn noise(seed: u64, length: usize) -> Vec<u8> {
    numbers(seed).map(|number| number as u8).take(length).collect()
}

/// Few different bytes, some of them rare, so that there are codes of all widths.
fn skewed(seed: u64, length: usize) -> Vec<u8> {
    numbers(seed).map(|number| b'a' + number.trailing_ones() as u8).take(length).collect()
}

/// Lines as in a script for new machines.
fn script(seed: u64, length: usize) -> Vec<u8> {
    const WORDS: [&str; 12] = [
        "echo",
        "install",
        "--yes",
        "/etc/app.conf",
        "systemctl",
        "enable",
        "&&",
        "curl",
        "user",
        "日本",
        "=",
        "export",
    ];
    let mut text = Vec::with_capacity(length + 20);
    for number in numbers(seed) {
        if text.len() >= length {
            break;
        }
        match number % 15 {
            12 => text.push(b'\n'),
            13 | 14 => text.extend_from_slice(format!("{number:x} ").as_bytes()),
            word => text.extend_from_slice(format!("{} ", WORDS[word as usize]).as_bytes()),
        }
    }
    text.truncate(length);
    text
}

/// Copies of what was before, from all distances and in lengths around those that are treated differently.
fn copies(seed: u64, length: usize) -> Vec<u8> {
    const LENGTHS: [usize; 12] = [3, 4, 5, 8, 15, 16, 17, 127, 128, 129, 258, 300];
    let mut text = noise(seed, 64);
    let mut numbers = numbers(seed.wrapping_add(1));
    let mut next = || numbers.next().unwrap_or_default() as usize;
    while text.len() < length {
        let distance = 1 + next() % text.len().min(40_000);
        for _ in 0..LENGTHS[next() % LENGTHS.len()] {
            text.push(text[text.len() - distance]);
        }
        text.extend((0..next() % 6).map(|_| next() as u8));
    }
    text.truncate(length);
    text
}

fn mixed(length: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for seed in 1.. {
        if text.len() >= length {
            break;
        }
        text.extend(script(seed, 17_000));
        text.extend(noise(seed, 40_000));
        text.extend(copies(seed, 30_000));
        text.extend(std::iter::repeat_n(b' ', 9_000));
        text.extend(skewed(seed, 20_000));
    }
    text.truncate(length);
    text
}

#[test]
fn short_texts() {
    packs_to(b"", "H4sIAAAAAAAA/wAAAP//AQAA//8AAAAAAAAAAA==");
    packs_to(b"a", "H4sIAAAAAAAA/0oEAAAA//8BAAD//0O+t+gBAAAA");
    packs_to(b"hello world", "H4sIAAAAAAAA/8pIzcnJVyjPL8pJAQAAAP//AQAA//+FEUoNCwAAAA==");
    packs_to("日本\n".as_bytes(), "H4sIAAAAAAAA/3o2femzOWu4AAAAAP//AQAA///FP8KgBwAAAA==");
    packs_to("abc".repeat(100).as_bytes(), "H4sIAAAAAAAA/0pMSh5FRCIAAAAA//8BAAD//4S4xNAsAQAA");
}

#[test]
fn a_script_for_new_machines() {
    let script = "#!/bin/sh\nset -eu\napt-get update\napt-get install --yes nginx\nsystemctl enable --now nginx\n";
    packs_to(
        script.as_bytes(),
        "H4sIAAAAAAAA/zzJMQqAMAwF0L2niDiHninVTy3EWEiK9vYu4vh465JLs+xHcgQxRpIeXBE0+i6Bn808RJWYJ5ysNnuSTw+cWyjBpCiI2a77\
         yxcAAP//AQAA//8b4mOfWgAAAA==",
    );
}

/// In case of doubt fixed codes go before own ones, and coded bytes before stored ones.
#[test]
fn forms_of_one_length() {
    packs_to(b"acfagadddjibcgddadaccdf", "H4sIAAAAAAAA/0pMTktMT0xJScnKTEpOT0lJTElMTk5JAwAAAP//AQAA//+/aqQmFwAAAA==");
    packs_to(b"ghgeehggfbhaabgbcggc", "H4sIAAAAAAAA/0rPSE9NzUhPT0vKSExMSk9KTk9PBgAAAP//AQAA//+IirFcFAAAAA==");
    packs_to(
        b"\x94>wZI\xa7\x13\xd6\xa6\xf0\xeb\xeb\xf0\xc2\xa5'\xf9\xcf\x0a\xab\x96\x92\xf4\x07\xf9\xc5\xd1\xc8\xc8\xbf\x94\xf0\x15\x93",
        "H4sIAAAAAAAA/5piVx7luVz42rIPr19/OLRU/ed5rtXTJn1h/3n04okT+6d8EJ0MAAAA//8BAAD//+O9QxkiAAAA",
    );
}

/// Four bytes that were 4096 bytes before are a repetition, from farther away they are not.
#[test]
fn short_repetitions_are_near() {
    let apart = |distance: usize| {
        let between: String = (0..1000).map(|number| format!("{},", number * 7919)).collect();
        format!("wxyz{}wxyz", &between[..distance - 4])
    };
    packs_to_digest(apart(4096).as_bytes(), 1888, "7fdc1efc6e1e552d064bd17909ae4c1fd1b7324ab8e7e570051e4591a8d38950");
    packs_to_digest(apart(4097).as_bytes(), 1891, "29c84c6611fca08f73717f650dd736d65129e5066720f103a02582c356e5ae55");
}

#[test]
fn long_texts() {
    packs_to_digest(&script(1, 100_000), 24_134, "b91bac304c9728cb94c7dc81fff779d049fd23e6a390b0ecfbd879360a9a26ea");
    packs_to_digest(&copies(1, 300_000), 24_566, "b4ff8e32348e24cbb701ef9a4d5c88be1b1e05b2843490e07542e004aed2cf32");
    packs_to_digest(&skewed(1, 300_000), 93_355, "35cc029fa14b0b7f3ed1e8b895644865d1c47e19acc9ea26e67ed8f62a6e7d43");
    packs_to_digest(&[b'a'; 300_000], 335, "ad8565c1840368ce479c3e66823e2147c19bc59041dcbc5c46b252bcf9e58ec9");
    packs_to_digest(&mixed(300_000), 158_312, "1a1e20e90438e1737628b8cb0c954500cceac2288e5dc7744855f40814ac8f9c");
}

#[test]
fn what_nothing_repeats_in_is_written_as_it_is() {
    packs_to_digest(&noise(1, 1000), 1033, "1f0c58a3d648d4f9fd41320706afc5d69c241e8362913b8174272e5a54449545");
    packs_to_digest(&noise(1, 100_000), 100_063, "4a57ebc6bf434c3e4efcac03bf6fec0ef5f9fae008d15984adaad0660fdb4bd9");
}

/// The window moves when it is full and there is more text, and with it what is looked at.
#[test]
fn texts_about_as_long_as_the_window() {
    packs_to_digest(&script(2, 65_536), 15_570, "a5349835772a612182d06c434b501f6be8f5629c2fac26aca87927dafbe5abd9");
    packs_to_digest(&script(2, 65_537), 15_571, "aefc95f268acd3cf8a729c09902037c64aa837c6af58b76d37d718276892647c");
    packs_to_digest(&copies(2, 98_050), 7873, "a562c83139de0d5b06b406067ad01540c2b8329fd4b82cf251c3ab737e022811");
    let farthest = noise(1, 32_768).repeat(4);
    packs_to_digest(&farthest, 34_131, "817ca463ca52b22d9df03ef8aef003c09c58f96ea9f83e388634793b1400ae53");
    let too_far = noise(1, 32_769).repeat(4);
    packs_to_digest(&too_far, 131_145, "fc475b373fdd61f6c410a09696f87f5011ed96ed9c423b30f9e4facf5148ca0b");
}

proptest! {
    #[test]
    fn whatever_is_packed_can_be_unpacked(parts in proptest::collection::vec((any::<u64>(), 0..5, 0..9000_usize), 0..12)) {
        let text: Vec<u8> = parts
            .into_iter()
            .flat_map(|(seed, kind, length)| match kind {
                0 => noise(seed, length),
                1 => skewed(seed, length),
                2 => script(seed, length),
                3 => copies(seed, length),
                _ => vec![seed as u8; length * 8],
            })
            .collect();
        prop_assert!(unpacked(&packed(&text)) == text);
    }
}
