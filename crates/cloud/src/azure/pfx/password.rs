//! Password-based encryption: the legacy schemes of PKCS #12 (RFC 7292, appendix C) and PBES2 (RFC 8018).

use std::num::NonZeroU32;

use aws_lc_rs::cipher::{AES_128, AES_192, AES_256, DecryptionContext, PaddedBlockDecryptingKey, UnboundCipherKey};
use aws_lc_rs::{digest, hmac, pbkdf2};
use des::TdesEde3;
use des::cipher::{BlockCipherDecrypt, KeyInit};
use rc2::Rc2;

use super::{Der, OBJECT, OCTETS, SEQUENCE};

/// Limits the time that a manipulated file can cost.
const MAXIMUM_ITERATIONS: u32 = 1_000_000;

/// The prefix of the legacy schemes: 1.2.840.113549.1.12.1.N, without N.
const LEGACY: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x01];
/// 1.2.840.113549.1.5.N
const PBES2: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0D];
const PBKDF2: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0C];
/// The prefix of HMAC functions: 1.2.840.113549.2.N, without N.
const HMAC: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x02];
/// The prefix of AES ciphers: 2.16.840.1.101.3.4.1.N, without N.
const AES: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01];
/// 1.2.840.113549.3.7
const DES_EDE3_CBC: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x03, 0x07];
/// 1.3.14.3.2.26 and 2.16.840.1.101.3.4.2.N
const SHA1: &[u8] = &[0x2B, 0x0E, 0x03, 0x02, 0x1A];
const SHA256: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01];
const SHA384: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02];
const SHA512: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03];

/// The ID bytes for the purpose of a derived key (RFC 7292, appendix B.3).
const PURPOSE_KEY: u8 = 1;
const PURPOSE_IV: u8 = 2;
const PURPOSE_MAC: u8 = 3;

/// A password in the encodings of the two key derivations.
pub(super) struct Password {
    /// The password in UTF-8, for PBES2.
    utf8: Vec<u8>,
    /// UTF-16 in big-endian order with a final null character, for the legacy schemes.
    utf16: Vec<u8>,
}

impl Password {
    /// Returns the possible encodings. Tools disagree about the empty password: with or without a null character.
    pub(super) fn encodings(text: &str) -> Vec<Self> {
        let utf16 = text.encode_utf16().chain([0]).flat_map(u16::to_be_bytes).collect();
        let mut encodings = vec![Self { utf8: text.as_bytes().to_vec(), utf16 }];
        if text.is_empty() {
            encodings.push(Self { utf8: Vec::new(), utf16: Vec::new() });
        }
        encodings
    }

    /// Decrypts. Returns `None` if the algorithm is not supported or the password is wrong.
    pub(super) fn decrypt(&self, mut algorithm: Der<'_>, sealed: &[u8]) -> Option<Vec<u8>> {
        let name = algorithm.take(OBJECT)?;
        let mut parameters = algorithm.inside(SEQUENCE)?;
        if name == PBES2 {
            return self.decrypt_pbes2(&mut parameters, sealed);
        }
        let (salt, iterations) = (parameters.take(OCTETS)?, parameters.number()?);
        let derived = |purpose: u8, length: usize| {
            derive(&digest::SHA1_FOR_LEGACY_USE_ONLY, &self.utf16, salt, iterations, purpose, length)
        };
        // The legacy schemes derive the initialization vector as well, instead of storing it.
        let start = derived(PURPOSE_IV, 8)?;
        match name.strip_prefix(LEGACY)? {
            [3] => decrypt_cbc(&TdesEde3::new_from_slice(&derived(PURPOSE_KEY, 24)?).ok()?, &start, sealed),
            [4] => {
                // Two-key triple DES: the first key is also the third.
                let keys = derived(PURPOSE_KEY, 16)?;
                decrypt_cbc(&TdesEde3::new_from_slice(&[&keys[..], &keys[..8]].concat()).ok()?, &start, sealed)
            }
            [5] => decrypt_cbc(&Rc2::new_with_eff_key_len(&derived(PURPOSE_KEY, 16)?, 128), &start, sealed),
            [6] => decrypt_cbc(&Rc2::new_with_eff_key_len(&derived(PURPOSE_KEY, 5)?, 40), &start, sealed),
            _ => None,
        }
    }

    fn decrypt_pbes2(&self, parameters: &mut Der<'_>, sealed: &[u8]) -> Option<Vec<u8>> {
        let (mut derivation, mut cipher) = (parameters.inside(SEQUENCE)?, parameters.inside(SEQUENCE)?);
        if derivation.take(OBJECT)? != PBKDF2 {
            return None;
        }
        let mut derivation = derivation.inside(SEQUENCE)?;
        let salt = derivation.take(OCTETS)?;
        let iterations = NonZeroU32::new(derivation.number()?).filter(|count| count.get() <= MAXIMUM_ITERATIONS)?;
        // The optional key length is redundant: the cipher determines it.
        let _ = derivation.number();
        let function = match derivation.inside(SEQUENCE) {
            // The default of RFC 8018 is left out of the encoding.
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
            pbkdf2::derive(function, iterations, salt, &self.utf8, &mut key);
            key
        };
        let (name, start) = (cipher.take(OBJECT)?, cipher.take(OCTETS)?);
        if name == DES_EDE3_CBC {
            return decrypt_cbc(&TdesEde3::new_from_slice(&derived(24)).ok()?, start, sealed);
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

    /// Whether the MAC of a content was made with this password. Returns `None` if the algorithm is not supported.
    pub(super) fn verify_mac(
        &self,
        mut algorithm: Der<'_>,
        mac: &[u8],
        salt: &[u8],
        iterations: u32,
        content: &[u8],
    ) -> Option<bool> {
        let (hash, hmac_algorithm) = match algorithm.take(OBJECT)? {
            SHA1 => (&digest::SHA1_FOR_LEGACY_USE_ONLY, hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
            SHA256 => (&digest::SHA256, hmac::HMAC_SHA256),
            SHA384 => (&digest::SHA384, hmac::HMAC_SHA384),
            SHA512 => (&digest::SHA512, hmac::HMAC_SHA512),
            _ => return None,
        };
        // The MAC uses the legacy derivation even in files that are encrypted with PBES2.
        let key = derive(hash, &self.utf16, salt, iterations, PURPOSE_MAC, hash.output_len())?;
        Some(hmac::verify(&hmac::Key::new(hmac_algorithm, &key), content, mac).is_ok())
    }
}

/// Derives a key of a legacy scheme (RFC 7292, appendix B.2).
fn derive(
    hash: &'static digest::Algorithm,
    password: &[u8],
    salt: &[u8],
    iterations: u32,
    purpose: u8,
    length: usize,
) -> Option<Vec<u8>> {
    // The lengths come from the file too. Real ones are far shorter.
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
            // Adds `more` and one, as big-endian integers.
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

/// Decrypts with an 8-byte block cipher in CBC mode. Returns `None` if the PKCS #7 padding is wrong.
fn decrypt_cbc(cipher: &impl BlockCipherDecrypt, start: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
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
    // A wrong password shows up here as invalid padding, except for one in about 256 of them: those fail as invalid
    // DER.
    let padding = *opened.last()?;
    let (rest, end) = opened.split_at_checked(opened.len().checked_sub(usize::from(padding))?)?;
    let is_right = (1..=8).contains(&padding) && end.iter().all(|byte| *byte == padding);
    is_right.then(|| rest.to_vec())
}
