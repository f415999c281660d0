//! Signatures made by a widely used OpenPGP program, with keys made for these tests.

use groma_install::providers::signature::{PublicKey, SignatureError};

const KEY: &str = include_str!("signatures/key.asc");
const OTHER: &str = include_str!("signatures/other.asc");
const SUMS: &[u8] = include_bytes!("signatures/sums.txt");
const BY_SUBKEY: &[u8] = include_bytes!("signatures/sums.sig");
const BY_PRIMARY: &[u8] = include_bytes!("signatures/sums.primary.sig");

#[test]
fn primary_key_and_subkey_may_sign() {
    let key = PublicKey::parse(KEY).unwrap();
    assert_eq!(key.verify(SUMS, BY_PRIMARY), Ok(()));
    assert_eq!(key.verify(SUMS, BY_SUBKEY), Ok(()));
    assert!(!key.is_hashicorp());
    assert_eq!(key.id().len(), 16);
}

#[test]
fn other_keys_and_other_contents_are_rejected() {
    let key = PublicKey::parse(KEY).unwrap();
    let mut changed = SUMS.to_vec();
    // One bit is enough.
    changed[0] ^= 1;
    assert_eq!(key.verify(&changed, BY_PRIMARY), Err(SignatureError::Wrong));
    assert_eq!(key.verify(&changed, BY_SUBKEY), Err(SignatureError::Wrong));
    let other = PublicKey::parse(OTHER).unwrap();
    assert_eq!(other.verify(SUMS, BY_PRIMARY), Err(SignatureError::OtherKey));
}

#[test]
fn damaged_signatures_and_keys_are_rejected_without_panics() {
    let key = PublicKey::parse(KEY).unwrap();
    for at in 0..BY_PRIMARY.len() {
        let mut changed = BY_PRIMARY.to_vec();
        // Four bits of each byte, so that every byte is changed.
        changed[at] ^= 0x55;
        let cut = &BY_PRIMARY[..at];
        assert!(key.verify(SUMS, cut).is_err(), "cut at {at}");
        // Fields that are not signed, such as the hint on the key, may change; the call must only not panic.
        let _ = key.verify(SUMS, &changed);
    }
    // Each parse takes a while, so only some positions of the key are tried.
    for at in (0..KEY.len()).step_by(7) {
        let mut changed = KEY.as_bytes().to_vec();
        changed[at] ^= 1;
        let Ok(text) = String::from_utf8(changed) else { continue };
        let _ = PublicKey::parse(&text);
    }
    assert!(PublicKey::parse("").is_err());
    assert!(key.verify(SUMS, b"").is_err());
}

#[test]
fn unbound_subkey_is_rejected() {
    // Without the signatures that bind it, the subkey is just another key.
    let own = PublicKey::parse(KEY).unwrap();
    assert_eq!(own.verify(SUMS, BY_SUBKEY), Ok(()));
    let other = PublicKey::parse(OTHER).unwrap();
    assert!(other.verify(SUMS, BY_SUBKEY).is_err());
}

#[test]
fn revocation_with_an_old_hash_counts() {
    const BEFORE: &str = include_str!("signatures/withdrawn.before.asc");
    const AFTER: &str = include_str!("signatures/withdrawn.asc");
    const WITHOUT_SUBKEY: &str = include_str!("signatures/withdrawn.subkey.asc");
    const SUMS: &[u8] = include_bytes!("signatures/withdrawn.txt");
    const BY_PRIMARY: &[u8] = include_bytes!("signatures/withdrawn.primary.sig");
    const BY_SUBKEY: &[u8] = include_bytes!("signatures/withdrawn.sub.sig");
    let before = PublicKey::parse(BEFORE).unwrap();
    assert_eq!((before.verify(SUMS, BY_PRIMARY), before.verify(SUMS, BY_SUBKEY)), (Ok(()), Ok(())));
    assert_eq!(PublicKey::parse(AFTER).err(), Some(SignatureError::Revoked));
    let rest = PublicKey::parse(WITHOUT_SUBKEY).unwrap();
    assert_eq!(rest.verify(SUMS, BY_PRIMARY), Ok(()));
    assert_eq!(rest.verify(SUMS, BY_SUBKEY), Err(SignatureError::OtherKey));
}

#[test]
fn trust_signature_is_of_one_key_over_another() {
    const VOUCHER: &str = include_str!("signatures/voucher.asc");
    const AUTHOR: &str = include_str!("signatures/author.asc");
    const TRUST: &str = include_str!("signatures/author.trust.asc");
    let voucher = PublicKey::parse(VOUCHER).unwrap();
    assert_eq!(voucher.verify_trust(AUTHOR, TRUST), Ok(()));
    assert_eq!(voucher.verify_trust(OTHER, TRUST), Err(SignatureError::Wrong));
    assert!(voucher.verify_trust("no armor", TRUST).is_err());
    // What a registry that only claims to have partners would send.
    let partners = PublicKey::hashicorp_partners().unwrap();
    assert_eq!(partners.verify_trust(AUTHOR, TRUST), Err(SignatureError::OtherKey));
    assert_eq!(partners.verify_trust(AUTHOR, "yes"), Err(SignatureError::Malformed));
    assert_eq!(partners.fingerprint(), "51890657c5acdb4b823086567d72d4268e4660fc");
}
