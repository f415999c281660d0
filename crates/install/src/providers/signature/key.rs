//! Public keys with their subkeys, and what they have signed.

use rsa::traits::PublicKeyParts;
use rsa::{BigUint, Pkcs1v15Sign, RsaPublicKey};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::armor::dearmor;
use super::error::SignatureError;
use super::packet::{Packet, Signature, integer, packets, take};
use crate::hex::hex;

const SIGNATURE: u8 = 2;
const PRIMARY_KEY: u8 = 6;
const SUBKEY: u8 = 14;

const BINARY_DOCUMENT: u8 = 0x00;
const SUBKEY_BINDING: u8 = 0x18;
const PRIMARY_KEY_BINDING: u8 = 0x19;
const KEY_REVOCATION: u8 = 0x20;
const SUBKEY_REVOCATION: u8 = 0x28;

/// A key that others sign with: the primary key and the subkeys that it vouches for.
#[derive(Clone, Debug)]
pub struct PublicKey {
    primary: SingleKey,
    subkeys: Vec<SingleKey>,
}

#[derive(Clone, Debug)]
struct SingleKey {
    /// The content of its packet: what is hashed for signatures over the key.
    content: Vec<u8>,
    fingerprint: [u8; 20],
    rsa: Option<RsaPublicKey>,
}

impl PublicKey {
    /// Reads a key in its text form.
    ///
    /// # Errors
    /// It is no key, or it has been revoked.
    pub fn parse(armored: &str) -> Result<Self, SignatureError> {
        let bytes = dearmor(armored).ok_or(SignatureError::Malformed)?;
        let packets = packets(&bytes)?;
        let mut packets = packets.iter();
        let first = packets.next().filter(|packet| packet.tag == PRIMARY_KEY).ok_or(SignatureError::Malformed)?;
        let mut key = Self { primary: SingleKey::parse(first.body)?, subkeys: Vec::new() };
        let mut pending: Option<Pending> = None;
        for packet in packets {
            match packet.tag {
                // Another primary key begins: the first one counts.
                PRIMARY_KEY => break,
                SUBKEY => {
                    key.subkeys.extend(pending.take().and_then(Pending::accepted));
                    pending = SingleKey::parse(packet.body).ok().map(Pending::new);
                }
                SIGNATURE => key.certify(packet, pending.as_mut())?,
                _ => {}
            }
        }
        key.subkeys.extend(pending.and_then(Pending::accepted));
        Ok(key)
    }

    /// Takes in a signature among the packets of a key: it binds a subkey, or revokes something.
    fn certify(&self, packet: &Packet<'_>, pending: Option<&mut Pending>) -> Result<(), SignatureError> {
        // Signatures of other versions and algorithms cannot be checked, so they change nothing.
        let Ok(signature) = Signature::parse(packet.body) else { return Ok(()) };
        match (signature.kind, pending) {
            (KEY_REVOCATION, _) if self.primary.has_revoked(&signature, &[&self.primary.framed()]) => {
                Err(SignatureError::Revoked)
            }
            (SUBKEY_BINDING, Some(pending)) => {
                pending.is_bound |= self.binds(&signature, &pending.key);
                Ok(())
            }
            (SUBKEY_REVOCATION, Some(pending)) => {
                let signed = [self.primary.framed(), pending.key.framed()];
                pending.is_revoked |= self.primary.has_revoked(&signature, &[&signed[0], &signed[1]]);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether the primary key vouches for the subkey, and the subkey in turn says that it belongs to the primary one.
    fn binds(&self, signature: &Signature<'_>, subkey: &SingleKey) -> bool {
        let (primary, sub) = (self.primary.framed(), subkey.framed());
        let signed: [&[u8]; 2] = [&primary, &sub];
        let Some(embedded) = signature.embedded.and_then(|body| Signature::parse(body).ok()) else { return false };
        self.primary.has_signed(signature, &signed).is_ok()
            && embedded.kind == PRIMARY_KEY_BINDING
            && subkey.has_signed(&embedded, &signed).is_ok()
    }

    /// The fingerprint of the primary key, in lower-case hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        hex(&self.primary.fingerprint)
    }

    /// The key's id: the last 16 digits of the fingerprint, in capitals.
    pub fn id(&self) -> String {
        self.fingerprint().get(24..).unwrap_or_default().to_uppercase()
    }

    /// Checks a detached signature over `content`.
    ///
    /// # Errors
    /// Nothing in `signature` was made by this key over this content.
    pub fn verify(&self, content: &[u8], signature: &[u8]) -> Result<(), SignatureError> {
        let armored = std::str::from_utf8(signature).ok().and_then(dearmor);
        let bytes = armored.as_deref().unwrap_or(signature);
        let mut problem = SignatureError::Malformed;
        for packet in packets(bytes)?.iter().filter(|packet| packet.tag == SIGNATURE) {
            match Signature::parse(packet.body).and_then(|signature| self.verify_one(content, &signature)) {
                Ok(()) => return Ok(()),
                Err(error) => problem = error,
            }
        }
        Err(problem)
    }

    fn verify_one(&self, content: &[u8], signature: &Signature<'_>) -> Result<(), SignatureError> {
        if signature.kind != BINARY_DOCUMENT {
            return Err(SignatureError::Unsupported("it is no signature of a file".to_owned()));
        }
        let mut problem = SignatureError::OtherKey;
        for key in std::iter::once(&self.primary).chain(&self.subkeys) {
            if signature.issuer.is_none_or(|issuer| key.fingerprint.ends_with(&issuer)) {
                match key.has_signed(signature, &[content]) {
                    Ok(()) => return Ok(()),
                    Err(error) => problem = error,
                }
            }
        }
        Err(problem)
    }
}

/// A subkey of which it is not known yet whether it counts.
struct Pending {
    key: SingleKey,
    is_bound: bool,
    is_revoked: bool,
}

impl Pending {
    fn new(key: SingleKey) -> Self {
        Self { key, is_bound: false, is_revoked: false }
    }

    fn accepted(self) -> Option<SingleKey> {
        (self.is_bound && !self.is_revoked).then_some(self.key)
    }
}

impl SingleKey {
    fn parse(content: &[u8]) -> Result<Self, SignatureError> {
        let mut rest = content;
        let head = take(&mut rest, 6).ok_or(SignatureError::Malformed)?;
        let [4, _, _, _, _, algorithm] = head else {
            return Err(SignatureError::Unsupported("its key is not of version 4".to_owned()));
        };
        let rsa = matches!(algorithm, 1 | 3).then(|| modulus_and_exponent(rest)).flatten();
        let mut key = Self { content: content.to_vec(), fingerprint: [0; 20], rsa };
        key.fingerprint = Sha1::digest(key.framed()).into();
        Ok(key)
    }

    /// The form in which a key is hashed.
    fn framed(&self) -> Vec<u8> {
        let length = u16::try_from(self.content.len()).unwrap_or(u16::MAX);
        let mut framed = vec![0x99];
        framed.extend(length.to_be_bytes());
        framed.extend(&self.content);
        framed
    }

    /// Whether it has withdrawn something. Owners of old keys did so with SHA-1, and who forges it wins nothing but distrust.
    fn has_revoked(&self, signature: &Signature<'_>, parts: &[&[u8]]) -> bool {
        self.has_signed_with(signature, parts, Hashes::OldOnesToo).is_ok()
    }

    fn has_signed(&self, signature: &Signature<'_>, parts: &[&[u8]]) -> Result<(), SignatureError> {
        self.has_signed_with(signature, parts, Hashes::Strong)
    }

    fn has_signed_with(
        &self,
        signature: &Signature<'_>,
        parts: &[&[u8]],
        hashes: Hashes,
    ) -> Result<(), SignatureError> {
        let key = self
            .rsa
            .as_ref()
            .filter(|_| matches!(signature.algorithm, 1 | 3))
            .ok_or_else(|| SignatureError::Unsupported("its key is no RSA key of 2048 to 8192 bits".to_owned()))?;
        let length = u32::try_from(signature.hashed.len()).map_err(|_| SignatureError::Malformed)?;
        let mut trailer = signature.hashed.to_vec();
        trailer.extend([4, 0xff]);
        trailer.extend(length.to_be_bytes());
        let mut all: Vec<&[u8]> = parts.to_vec();
        all.push(&trailer);
        let signed = marked_digest(signature.hash, &all, hashes).ok_or_else(|| {
            SignatureError::Unsupported("its hash is none of SHA-256, SHA-384 and SHA-512".to_owned())
        })?;
        let mut rest = signature.value;
        let value = integer(&mut rest).ok_or(SignatureError::Malformed)?;
        let missing = key.size().checked_sub(value.len()).ok_or(SignatureError::Wrong)?;
        let mut padded = vec![0; missing];
        padded.extend(value);
        key.verify(Pkcs1v15Sign::new_unprefixed(), &signed, &padded).map_err(|_| SignatureError::Wrong)
    }
}

fn modulus_and_exponent(mut rest: &[u8]) -> Option<RsaPublicKey> {
    let modulus = integer(&mut rest)?;
    let exponent = integer(&mut rest)?;
    if !(255..=1024).contains(&modulus.len()) {
        return None;
    }
    RsaPublicKey::new_with_max_size(BigUint::from_bytes_be(modulus), BigUint::from_bytes_be(exponent), 8192).ok()
}

/// Which hashes count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hashes {
    /// Those that nobody finds collisions of.
    Strong,
    /// SHA-1 too.
    OldOnesToo,
}

/// The digest of all parts, after the bytes that name its algorithm in an RSA signature.
fn marked_digest(algorithm: u8, parts: &[&[u8]], hashes: Hashes) -> Option<Vec<u8>> {
    const SHA_1: [u8; 15] = [0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04, 0x14];
    const COMMON: [u8; 14] = [0x30, 0, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02];
    let (mark, digest) = match algorithm {
        8 => (1, digest::<Sha256>(parts)),
        9 => (2, digest::<Sha384>(parts)),
        10 => (3, digest::<Sha512>(parts)),
        2 if hashes == Hashes::OldOnesToo => {
            let mut signed = SHA_1.to_vec();
            signed.extend(digest::<Sha1>(parts));
            return Some(signed);
        }
        _ => return None,
    };
    let size = u8::try_from(digest.len()).ok()?;
    let mut signed = COMMON.to_vec();
    signed[1] = 17 + size;
    signed.extend([mark, 0x05, 0x00, 0x04, size]);
    signed.extend(digest);
    Some(signed)
}

fn digest<D: Digest>(parts: &[&[u8]]) -> Vec<u8> {
    let mut hasher = D::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().to_vec()
}
