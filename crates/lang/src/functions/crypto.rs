//! Functions of digests, identifiers and keys.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_value::{Type, Value};
use md5::Md5;
use rsa::pkcs1::DecodeRsaPrivateKey as _;
use rsa::pkcs8::DecodePrivateKey as _;
use rsa::{Pkcs1v15Encrypt, RsaPrivateKey};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};
use uuid::Uuid;

use super::encoding::decoded;
use super::openssh;
use super::signature::{Arguments, Function, FunctionError, Outcome, Parameter};
use crate::context::Purity;

pub(super) fn functions() -> Vec<Function> {
    let text = Parameter::text;
    let of_text = |name, body| Function::fixed(name, Type::String, body).takes(Parameter::text("str"));
    vec![
        of_text("md5", |call| Ok(Value::string(hexadecimal::<Md5>(call.text(0).as_bytes())))),
        of_text("sha1", |call| Ok(Value::string(hexadecimal::<Sha1>(call.text(0).as_bytes())))),
        of_text("sha256", |call| Ok(Value::string(hexadecimal::<Sha256>(call.text(0).as_bytes())))),
        of_text("sha512", |call| Ok(Value::string(hexadecimal::<Sha512>(call.text(0).as_bytes())))),
        of_text("base64sha256", |call| Ok(Value::string(in_base64::<Sha256>(call.text(0).as_bytes())))),
        of_text("base64sha512", |call| Ok(Value::string(in_base64::<Sha512>(call.text(0).as_bytes())))),
        of_text("bcrypt", bcrypt).takes_more(Parameter::number("cost")),
        Function::fixed("uuid", Type::String, uuid),
        Function::fixed("uuidv5", Type::String, uuidv5).takes(text("namespace")).takes(text("name")),
        Function::fixed("rsadecrypt", Type::String, rsadecrypt).takes(text("ciphertext")).takes(text("privatekey")),
    ]
}

pub(super) fn hexadecimal<D: Digest>(bytes: &[u8]) -> String {
    D::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn in_base64<D: Digest>(bytes: &[u8]) -> String {
    STANDARD.encode(D::digest(bytes))
}

fn bcrypt(arguments: &Arguments<'_>) -> Outcome {
    let cost = match arguments.values.len() {
        0 | 1 => 10,
        2 => arguments.integer(1)?,
        _ => return Err(FunctionError::new("bcrypt() takes one argument or two: the text and the cost")),
    };
    // Smaller costs mean the default, as they always have.
    let cost = if cost < 4 { 10 } else { cost };
    let cost = u32::try_from(cost)
        .ok()
        .filter(|cost| *cost <= 31)
        .ok_or_else(|| FunctionError::new(format!("the cost {cost} is outside of the allowed range: 4 to 31")))?;
    let password = arguments.text(0);
    if password.len() > 72 {
        return Err(FunctionError::new("bcrypt takes no more than 72 bytes"));
    }
    if arguments.context().purity == Purity::Unknown {
        return Ok(Value::unknown(Type::String));
    }
    let hashed = ::bcrypt::hash_with_result(password, cost)
        .map_err(|problem| FunctionError::new(format!("error occurred generating password {problem}")))?;
    Ok(Value::string(hashed.format_for_version(::bcrypt::Version::TwoA)))
}

fn uuid(arguments: &Arguments<'_>) -> Outcome {
    if arguments.context().purity == Purity::Unknown {
        return Ok(Value::unknown(Type::String));
    }
    Ok(Value::string(Uuid::new_v4().to_string()))
}

fn uuidv5(arguments: &Arguments<'_>) -> Outcome {
    let namespace = match arguments.text(0) {
        "dns" => Uuid::NAMESPACE_DNS,
        "url" => Uuid::NAMESPACE_URL,
        "oid" => Uuid::NAMESPACE_OID,
        "x500" => Uuid::NAMESPACE_X500,
        other => Uuid::parse_str(other)
            .map_err(|problem| FunctionError::new(format!("uuidv5() doesn't support namespace {other} ({problem})")))?,
    };
    Ok(Value::string(Uuid::new_v5(&namespace, arguments.text(1).as_bytes()).to_string()))
}

/// The private key of a PEM text in one of the two common formats.
fn private_key(pem: &str) -> Option<RsaPrivateKey> {
    RsaPrivateKey::from_pkcs1_pem(pem)
        .ok()
        .or_else(|| RsaPrivateKey::from_pkcs8_pem(pem).ok())
        .or_else(|| openssh::rsa_private_key(pem))
}

fn rsadecrypt(arguments: &Arguments<'_>) -> Outcome {
    let ciphertext = decoded(arguments.text(0))
        .ok_or_else(|| FunctionError::argument(0, "the encrypted text must be given in Base64"))?;
    let key = private_key(arguments.text(1)).ok_or_else(|| {
        FunctionError::argument(
            1,
            "invalid private key: it must be an RSA key without passphrase in PEM, as PKCS #1 or PKCS #8, or in the format of OpenSSH",
        )
    })?;
    let plain = key
        .decrypt(Pkcs1v15Encrypt, &ciphertext)
        .map_err(|_| FunctionError::new("failed to decrypt: the cipher text was not made for this key"))?;
    String::from_utf8(plain).map(Value::string).map_err(|_| FunctionError::new("the decrypted text is not valid UTF-8"))
}
