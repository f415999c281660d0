//! Methods, and which of them there are for what.

use std::sync::Arc;

use groma_address::Name;
use groma_diagnostics::{Diagnostics, suggest};
use groma_encryption::{ExternalMethod, Method, RemoteEncryption};

use super::arguments::Arguments;
use super::keys::DEPTH_LIMIT;
use super::names::method_of;
use super::schemas::{UNENCRYPTED, method_schema};
use crate::load::early::Early;
use crate::model::EncryptionMethods;
use crate::model::encryption::{EncryptionBlock, EncryptionPart, EncryptionTarget, RemoteTargets};

/// The methods that the block comes to with the values of its arguments.
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
    /// The methods of a target, the fallbacks within it after its own.
    fn target(&mut self, target: &EncryptionTarget) -> Option<Arc<groma_encryption::Encryption>> {
        let mut methods = Vec::new();
        let mut next = Some(target);
        while let Some(here) = next {
            if methods.len() >= DEPTH_LIMIT {
                self.error(here.span, "Too many fallbacks", format!("At most {DEPTH_LIMIT} methods can be tried."));
                return None;
            }
            let (key, part) = method_of(self.block, here).map_err(|problem| self.diagnostics.push(problem)).ok()?;
            if target.enforced && &*key.0 == UNENCRYPTED {
                self.error(
                    here.method.as_ref().map_or(here.span, |method| method.span),
                    "Unencrypted method is forbidden",
                    "The \"enforced\" argument says that nothing is ever in clear. Remove that argument, or this method.",
                );
                return None;
            }
            methods.push(self.method(key, part)?);
            next = here.fallback.as_deref();
        }
        let mut methods = methods.into_iter();
        Some(Arc::new(groma_encryption::Encryption::new(methods.next()?, methods.collect())))
    }

    /// Returns the encryption of remote states.
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
                    let place = content.get("keys").map_or(part.span, |attribute| attribute.expression.span);
                    self.error(place, problem.summary, problem.detail);
                    return None;
                }
                Some(method)
            }
            "external" => {
                let sealing = self.program(content.get("encrypt_command")?);
                let opening = self.program(content.get("decrypt_command")?);
                Some(Method::External { keys, programs: ExternalMethod { sealing: sealing?, opening: opening? } })
            }
            _ => Some(Method::Unencrypted),
        }
    }

    fn unknown_method(&mut self, kind: &str, part: &EncryptionPart) {
        let advice = suggest(kind, ["aes_gcm", "external", UNENCRYPTED]).map_or_else(
            || "There is aes_gcm, external and unencrypted.".to_owned(),
            |similar| format!("Did you mean {similar:?}?"),
        );
        let detail = format!("There is no method of the type {kind:?}. {advice}");
        self.error(part.span, "Unknown encryption method type", detail);
    }
}
