//! What is sealed with a password: in the old ways of PKCS #12, and in those of PBES2.

use std::num::NonZeroU32;

use aws_lc_rs::cipher::{AES_128, AES_192, AES_256, DecryptionContext, PaddedBlockDecryptingKey, UnboundCipherKey};
use aws_lc_rs::{digest, hmac, pbkdf2};
use des::TdesEde3;
use des::cipher::{BlockCipherDecrypt, KeyInit};
use rc2::Rc2;

use super::der::{Der, OBJECT, OCTETS, SEQUENCE};

/// No file makes us work for longer than this.
const MAXIMUM_ITERATIONS: u32 = 1_000_000;

/// 1.2.840.113549.1.12.1.N, without N.
const OLD: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x01];
/// 1.2.840.113549.1.5.N
const PBES2: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0D];
const PBKDF2: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0C];
/// 1.2.840.113549.2.N, without N.
const HMAC: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x02];
/// 2.16.840.1.101.3.4.1.N, without N.
const AES: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01];
/// 1.2.840.113549.3.7
const TRIPLE: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x03, 0x07];
/// 1.3.14.3.2.26 and 2.16.840.1.101.3.4.2.N
const SHA1: &[u8] = &[0x2B, 0x0E, 0x03, 0x02, 0x1A];
const SHA256: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01];
const SHA384: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02];
const SHA512: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03];

/// What keys of PKCS #12 are for.
const FOR_KEY: u8 = 1;
const FOR_START: u8 = 2;
const FOR_SUM: u8 = 3;

/// A password, as the two ways of deriving keys take it.
pub(super) struct Password {
    plain: Vec<u8>,
    wide: Vec<u8>,
}

impl Password {
    /// The ways to take a text: none at all may be nothing, or an end without a text before it.
    pub(super) fn ways(text: &str) -> Vec<Self> {
        let wide = text.encode_utf16().chain([0]).flat_map(u16::to_be_bytes).collect();
        let mut ways = vec![Self { plain: text.as_bytes().to_vec(), wide }];
        if text.is_empty() {
            ways.push(Self { plain: Vec::new(), wide: Vec::new() });
        }
        ways
    }

    /// What was sealed, in the way that `algorithm` tells; nothing if the way is not known or the password is another one.
    pub(super) fn open(&self, mut algorithm: Der<'_>, sealed: &[u8]) -> Option<Vec<u8>> {
        let name = algorithm.take(OBJECT)?;
        let mut parameters = algorithm.inside(SEQUENCE)?;
        if name == PBES2 {
            return self.open_new(&mut parameters, sealed);
        }
        let (salt, iterations) = (parameters.take(OCTETS)?, parameters.number()?);
        let derived = |purpose: u8, length: usize| {
            derive(&digest::SHA1_FOR_LEGACY_USE_ONLY, &self.wide, salt, iterations, purpose, length)
        };
        let start = derived(FOR_START, 8)?;
        match name.strip_prefix(OLD)? {
            [3] => chained(&TdesEde3::new_from_slice(&derived(FOR_KEY, 24)?).ok()?, &start, sealed),
            [4] => {
                // The first of two keys is also the third.
                let two = derived(FOR_KEY, 16)?;
                chained(&TdesEde3::new_from_slice(&[&two[..], &two[..8]].concat()).ok()?, &start, sealed)
            }
            [5] => chained(&Rc2::new_with_eff_key_len(&derived(FOR_KEY, 16)?, 128), &start, sealed),
            [6] => chained(&Rc2::new_with_eff_key_len(&derived(FOR_KEY, 5)?, 40), &start, sealed),
            _ => None,
        }
    }

    fn open_new(&self, parameters: &mut Der<'_>, sealed: &[u8]) -> Option<Vec<u8>> {
        let (mut derivation, mut cipher) = (parameters.inside(SEQUENCE)?, parameters.inside(SEQUENCE)?);
        if derivation.take(OBJECT)? != PBKDF2 {
            return None;
        }
        let mut derivation = derivation.inside(SEQUENCE)?;
        let salt = derivation.take(OCTETS)?;
        let iterations = NonZeroU32::new(derivation.number()?).filter(|count| count.get() <= MAXIMUM_ITERATIONS)?;
        // How long the key is, the cipher says too.
        let _ = derivation.number();
        let function = match derivation.inside(SEQUENCE) {
            None => pbkdf2::PBKDF2_HMAC_SHA1,
            Some(mut function) => match function.take(OBJECT)?.strip_prefix(HMAC)? {
                [7] => pbkdf2::PBKDF2_HMAC_SHA1,
                [9] => pbkdf2::PBKDF2_HMAC_SHA256,
                [10] => pbkdf2::PBKDF2_HMAC_SHA384,
                [11] => pbkdf2::PBKDF2_HMAC_SHA512,
                _ => return None,
            },
        };
        let derived = |length: usize| {
            let mut key = vec![0; length];
            pbkdf2::derive(function, iterations, salt, &self.plain, &mut key);
            key
        };
        let (name, start) = (cipher.take(OBJECT)?, cipher.take(OCTETS)?);
        if name == TRIPLE {
            return chained(&TdesEde3::new_from_slice(&derived(24)).ok()?, start, sealed);
        }
        let (algorithm, length) = match name.strip_prefix(AES)? {
            [2] => (&AES_128, 16),
            [22] => (&AES_192, 24),
            [42] => (&AES_256, 32),
            _ => return None,
        };
        let key = UnboundCipherKey::new(algorithm, &derived(length)).ok()?;
        let start: [u8; 16] = start.try_into().ok()?;
        let mut opened = sealed.to_vec();
        let key = PaddedBlockDecryptingKey::cbc_pkcs7(key).ok()?;
        let length = key.decrypt(&mut opened, DecryptionContext::Iv128(start.into())).ok()?.len();
        opened.truncate(length);
        Some(opened)
    }

    /// Whether this is the password of a file: the sum `sum` of its content was made with it. Nothing if that cannot be said.
    pub(super) fn fits(
        &self,
        mut algorithm: Der<'_>,
        sum: &[u8],
        salt: &[u8],
        iterations: u32,
        content: &[u8],
    ) -> Option<bool> {
        let (hash, sums) = match algorithm.take(OBJECT)? {
            SHA1 => (&digest::SHA1_FOR_LEGACY_USE_ONLY, hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
            SHA256 => (&digest::SHA256, hmac::HMAC_SHA256),
            SHA384 => (&digest::SHA384, hmac::HMAC_SHA384),
            SHA512 => (&digest::SHA512, hmac::HMAC_SHA512),
            _ => return None,
        };
        let key = derive(hash, &self.wide, salt, iterations, FOR_SUM, hash.output_len())?;
        Some(hmac::verify(&hmac::Key::new(sums, &key), content, sum).is_ok())
    }
}

/// A key of PKCS #12 (RFC 7292, appendix B.2).
fn derive(
    hash: &'static digest::Algorithm,
    password: &[u8],
    salt: &[u8],
    iterations: u32,
    purpose: u8,
    length: usize,
) -> Option<Vec<u8>> {
    if iterations == 0 || iterations > MAXIMUM_ITERATIONS || salt.len() > 1024 || password.len() > 8192 {
        return None;
    }
    let block = hash.block_len();
    let filled = |bytes: &[u8]| -> Vec<u8> {
        bytes
            .iter()
            .copied()
            .cycle()
            .take(if bytes.is_empty() { 0 } else { bytes.len().next_multiple_of(block) })
            .collect()
    };
    let mut mixed = [filled(salt), filled(password)].concat();
    let mut key = Vec::new();
    while key.len() < length {
        let mut sum = digest::digest(hash, &[&vec![purpose; block][..], &mixed].concat());
        for _ in 1..iterations {
            sum = digest::digest(hash, sum.as_ref());
        }
        key.extend(sum.as_ref());
        let more: Vec<u8> = sum.as_ref().iter().copied().cycle().take(block).collect();
        for part in mixed.chunks_mut(block) {
            // Added as whole numbers, and one more.
            let mut carry = 1;
            for (digit, more) in part.iter_mut().zip(&more).rev() {
                let total = u16::from(*digit) + u16::from(*more) + carry;
                [_, *digit] = total.to_be_bytes();
                carry = total >> 8;
            }
        }
    }
    key.truncate(length);
    Some(key)
}

/// What a cipher of blocks of eight bytes has sealed in a chain; nothing if the padding is wrong.
fn chained(cipher: &impl BlockCipherDecrypt, start: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    if sealed.is_empty() || !sealed.len().is_multiple_of(8) || start.len() != 8 {
        return None;
    }
    let mut opened = Vec::with_capacity(sealed.len());
    let mut before = start;
    for part in sealed.chunks(8) {
        let mut block = part.try_into().ok()?;
        cipher.decrypt_block(&mut block);
        opened.extend(block.iter().zip(before).map(|(byte, before)| byte ^ before));
        before = part;
    }
    let padding = *opened.last()?;
    let (rest, end) = opened.split_at_checked(opened.len().checked_sub(usize::from(padding))?)?;
    let is_right = (1..=8).contains(&padding) && end.iter().all(|byte| *byte == padding);
    is_right.then(|| rest.to_vec())
}
