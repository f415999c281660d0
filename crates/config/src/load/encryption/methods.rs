//! Evaluation of encryption methods and targets.

use std::sync::Arc;

use groma_address::Name;
use groma_diagnostics::{Diagnostics, suggest};
use groma_encryption::{ExternalMethod, Method, RemoteEncryption};

use super::check::{UNENCRYPTED, method_schema};
use super::keys::Arguments;
use super::keys::DEPTH_LIMIT;
use super::names::method_of;
use crate::load::early::Early;
use crate::model::EncryptionMethods;
use crate::model::encryption::{EncryptionBlock, EncryptionPart, EncryptionTarget, RemoteTargets};

/// Evaluates the targets of an encryption block with their methods and key providers.
pub(super) fn methods(block: &EncryptionBlock, early: &Early<'_>) -> Result<EncryptionMethods, Diagnostics> {
    let mut reader = Arguments { block, early, diagnostics: Diagnostics::new() };
    let methods = EncryptionMethods {
        state: block.state.as_ref().and_then(|target| reader.target(target)),
        plan: block.plan.as_ref().and_then(|target| reader.target(target)),
        remote: block.remote.as_ref().map(|targets| reader.remote(targets)).unwrap_or_default(),
    };
    if reader.diagnostics.has_errors() { Err(reader.diagnostics) } else { Ok(methods) }
}

impl Arguments<'_> {
    /// Evaluates a target to a list of methods: its own first, then its fallbacks.
    fn target(&mut self, target: &EncryptionTarget) -> Option<Arc<groma_encryption::Encryption>> {
        let mut methods = Vec::new();
        let mut next = Some(target);
        while let Some(here) = next {
            // Nested fallback blocks can be arbitrarily deep in a generated configuration.
            if methods.len() >= DEPTH_LIMIT {
                self.error(
                    here.span,
                    "Too many fallbacks",
                    format!("A target can have up to {DEPTH_LIMIT} methods, including fallbacks."),
                );
                return None;
            }
            let (key, part) = method_of(self.block, here).map_err(|problem| self.diagnostics.push(problem)).ok()?;
            if target.enforced && &*key.0 == UNENCRYPTED {
                self.error(
                    here.method.as_ref().map_or(here.span, |method| method.span),
                    "Unencrypted method is forbidden",
                    "The \"enforced\" argument forbids unencrypted data. Remove that argument or this method.",
                );
                return None;
            }
            methods.push(self.method(key, part)?);
            next = here.fallback.as_deref();
        }
        let mut methods = methods.into_iter();
        Some(Arc::new(groma_encryption::Encryption::new(methods.next()?, methods.collect())))
    }

    /// Evaluates the targets of states that `terraform_remote_state` reads.
    fn remote(&mut self, targets: &RemoteTargets) -> RemoteEncryption {
        let named = targets.named.iter().filter_map(|(name, target)| Some((name.to_string(), self.target(target)?)));
        let named = named.collect();
        RemoteEncryption { default: targets.default.as_ref().and_then(|target| self.target(target)), named }
    }

    fn method(&mut self, (kind, _): &(Name, Name), part: &EncryptionPart) -> Option<Method> {
        let Some(schema) = method_schema(kind) else {
            self.unknown_method(kind, part);
            return None;
        };
        let (content, _) = part.body.content(&schema);
        let keys = match content.get("keys") {
            Some(attribute) => Some(self.keys(&attribute.expression, &mut Vec::new())?),
            None => None,
        };
        match &**kind {
            "aes_gcm" => {
                let associated = match content.get("aad") {
                    Some(attribute) => self.bytes(attribute)?,
                    None => Vec::new(),
                };
                let method = Method::AesGcm { keys: keys?, associated };
                if let Err(problem) = method.check() {
                    let span = content.get("keys").map_or(part.span, |attribute| attribute.expression.span);
                    self.error(span, problem.summary, problem.detail);
                    return None;
                }
                Some(method)
            }
            "external" => {
                let encrypt = self.program(content.get("encrypt_command")?);
                let decrypt = self.program(content.get("decrypt_command")?);
                Some(Method::External { keys, programs: ExternalMethod { encrypt: encrypt?, decrypt: decrypt? } })
            }
            _ => Some(Method::Unencrypted),
        }
    }

    fn unknown_method(&mut self, kind: &str, part: &EncryptionPart) {
        let advice = suggest(kind, ["aes_gcm", "external", UNENCRYPTED]).map_or_else(
            || "Valid types are aes_gcm, external and unencrypted.".to_owned(),
            |similar| format!("Did you mean {similar:?}?"),
        );
        let detail = format!("{kind:?} is not an encryption method type. {advice}");
        self.error(part.span, "Unknown encryption method type", detail);
    }
}
