//! Evaluation of key providers.

use std::sync::Arc;

use groma_address::Name;
use groma_diagnostics::{Span, suggest};
use groma_encryption::{ExternalKeys, HashFunction, KeyProvider, KeySource, Pbkdf2, SERVICES, Secret, WrittenKeys};
use groma_hcl::{Content, Expression};
use groma_value::Value;

use super::arguments::{Arguments, bytes_of};
use super::names::{KeyArgument, key_provider_in, key_provider_of, no_key};
use super::schemas::{ALIAS, key_provider_schema};
use crate::model::encryption::EncryptionPart;

/// Maximal length of a chain of key providers, and of nested fallbacks.
pub(super) const DEPTH_LIMIT: usize = 16;

impl Arguments<'_> {
    /// Returns the keys that `expression` names; `above` are the key providers that use them.
    pub(super) fn keys(&mut self, expression: &Expression, above: &mut Vec<(Name, Name)>) -> Option<KeyProvider> {
        let argument = KeyArgument::read(expression).map_err(|problem| self.diagnostics.push(problem)).ok()?;
        if let KeyArgument::Name((key, span)) = &argument {
            return self.key_provider(key, *span, above);
        }
        let value = self.early.keys(expression, "keys", &mut self.diagnostics)?;
        match value.as_str().map(|text| key_provider_in(text, expression.span)) {
            Some(Some(key)) => self.key_provider(&key, expression.span, above),
            None if value.as_object().is_some() || value.as_map().is_some() => self.written(&value, expression.span),
            _ => {
                self.diagnostics.push(no_key(expression.span));
                None
            }
        }
    }

    /// Keys that the configuration has itself.
    fn written(&mut self, value: &Value, span: Span) -> Option<KeyProvider> {
        let mut key = |name: &str| {
            let found = value.elements().find(|(key, _)| key.as_str() == Some(name));
            let bytes = found.and_then(|(_, value)| bytes_of(&value)).filter(|bytes| !bytes.is_empty());
            if bytes.is_none() {
                let detail = format!("The keys need {name}, a list of numbers from 0 to 255.");
                self.error(span, format!("Missing {name} value"), detail);
            }
            bytes
        };
        let (sealing, opening) = (key("encryption_key"), key("decryption_key"));
        let source = KeySource::Written(WrittenKeys { sealing: sealing?, opening: opening? });
        Some(KeyProvider { name: String::new(), source })
    }

    /// The key provider `key`, which is named at `span`.
    fn key_provider(&mut self, key: &(Name, Name), span: Span, above: &mut Vec<(Name, Name)>) -> Option<KeyProvider> {
        let found = key_provider_of(self.block, key, span).map_err(|problem| self.diagnostics.push(problem));
        let (key, part) = found.ok()?;
        let address = format!("key_provider.{}.{}", key.0, key.1);
        if above.contains(key) || above.len() >= DEPTH_LIMIT {
            let chain: Vec<String> =
                above.iter().chain([key]).map(|(kind, name)| format!("key_provider.{kind}.{name}")).collect();
            self.error(
                part.span,
                "Circular reference detected",
                format!("The key providers need each other: {}. Break the circle.", chain.join(" -> ")),
            );
            return None;
        }
        let Some(schema) = key_provider_schema(&key.0) else {
            self.unknown_key_provider(&key.0, part);
            return None;
        };
        let (content, _) = part.body.content(&schema);
        let name = match content.get(ALIAS) {
            Some(attribute) => self.text(attribute)?,
            None => address,
        };
        above.push(key.clone());
        let source = match &*key.0 {
            "external" => {
                let program = self.program(content.get("command")?)?;
                KeySource::Service(Arc::new(ExternalKeys { program }))
            }
            "pbkdf2" => self.pbkdf2(&content, part.span, above)?,
            kind => KeySource::Service(self.service(kind, &content, part.span)?),
        };
        above.pop();
        Some(KeyProvider { name, source })
    }

    fn unknown_key_provider(&mut self, kind: &str, part: &EncryptionPart) {
        let known = ["external", "pbkdf2"].into_iter().chain(SERVICES);
        let advice = suggest(kind, known.clone()).map_or_else(
            || format!("There is {}.", known.collect::<Vec<&str>>().join(", ")),
            |similar| format!("Did you mean {similar:?}?"),
        );
        let detail = format!("There is no key provider of the type {kind:?}. {advice}");
        self.error(part.span, "Unknown key_provider type", detail);
    }

    fn pbkdf2(&mut self, content: &Content, span: Span, above: &mut Vec<(Name, Name)>) -> Option<KeySource> {
        let secret = match (content.get("passphrase"), content.get("chain")) {
            (Some(passphrase), None) => Secret::passphrase(self.text(passphrase)?),
            (None, Some(chain)) => Secret::chain(self.keys(&chain.expression, above)?),
            (Some(_), Some(_)) => Err("passphrase and chain exclude each other".to_owned()),
            (None, None) => Err("there is neither a passphrase nor a chain".to_owned()),
        };
        let settings = self.derivation(content)?;
        // The text of the arguments is not shown: the passphrase may be in it.
        let source = secret.and_then(|secret| Ok(KeySource::Pbkdf2 { secret, settings: settings? }));
        source.map_err(|problem| self.unusable(span, &problem)).ok()
    }

    /// Returns the key derivation, or the reason why it is not possible.
    fn derivation(&mut self, content: &Content) -> Option<Result<Pbkdf2, String>> {
        let mut settings = Ok(Pbkdf2::default());
        type Set = fn(Pbkdf2, i64) -> Result<Pbkdf2, String>;
        let numbers: [(&str, Set); 3] = [
            ("key_length", Pbkdf2::with_key_length),
            ("iterations", Pbkdf2::with_iterations),
            ("salt_length", Pbkdf2::with_salt_length),
        ];
        for (name, set) in numbers {
            if let Some(attribute) = content.get(name) {
                let number = self.number(attribute)?;
                settings = settings.and_then(|settings| set(settings, number));
            }
        }
        if let Some(attribute) = content.get("hash_function") {
            let name = self.text(attribute)?;
            settings = settings.and_then(|settings| {
                let function = HashFunction::named(&name);
                let function = function.ok_or_else(|| format!("hash_function is sha256 or sha512, not {name:?}"))?;
                Ok(settings.with_hash_function(function))
            });
        }
        Some(settings)
    }

    pub(super) fn unusable(&mut self, span: Span, problem: &str) {
        self.error(span, "Unable to build encryption key data", format!("The key provider makes no key: {problem}."));
    }
}
