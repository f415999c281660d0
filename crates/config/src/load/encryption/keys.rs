//! Evaluation of key providers.

use std::sync::Arc;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics, Span, suggest};
use groma_encryption::{
    ExternalKeys, HashFunction, KeyError, KeyProvider, KeySource, Pbkdf2, Program, SERVICES, Secret, StaticKeys,
};
use groma_hcl::{Attribute, Content, Expression, ExpressionKind};
use groma_value::{Type, Value, convert};

use super::check::{ALIAS, key_provider_schema};
use super::names::{KeyArgument, key_provider_in, key_provider_of, no_key};
use crate::load::early::Early;
use crate::model::encryption::{EncryptionBlock, EncryptionPart};

/// Maximum length of a chain of key providers, and of a list of fallbacks.
pub(super) const DEPTH_LIMIT: usize = 16;

impl Arguments<'_> {
    /// Evaluates an argument with keys: a key provider or literal keys. `above` contains the key providers that are
    /// being evaluated, to detect cycles.
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

    /// Reads literal keys from an object.
    fn written(&mut self, value: &Value, span: Span) -> Option<KeyProvider> {
        let mut key = |name: &str| {
            let found = value.elements().find(|(key, _)| key.as_str() == Some(name));
            let bytes = found.and_then(|(_, value)| bytes_of(&value)).filter(|bytes| !bytes.is_empty());
            if bytes.is_none() {
                let detail = format!("The keys must contain {name}, a list of numbers from 0 to 255.");
                self.error(span, format!("Missing {name} value"), detail);
            }
            bytes
        };
        let (encryption_key, decryption_key) = (key("encryption_key"), key("decryption_key"));
        let source = KeySource::Static(StaticKeys { encryption_key: encryption_key?, decryption_key: decryption_key? });
        Some(KeyProvider { name: String::new(), source })
    }

    /// Evaluates the key provider `key`, which is referenced at `span`.
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
                format!("The key providers form a cycle: {}. Remove one of the references.", chain.join(" -> ")),
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
            || format!("Valid types are {}.", known.collect::<Vec<&str>>().join(", ")),
            |similar| format!("Did you mean {similar:?}?"),
        );
        let detail = format!("{kind:?} is not a key provider type. {advice}");
        self.error(part.span, "Unknown key_provider type", detail);
    }

    fn pbkdf2(&mut self, content: &Content, span: Span, above: &mut Vec<(Name, Name)>) -> Option<KeySource> {
        let secret = match (content.get("passphrase"), content.get("chain")) {
            (Some(passphrase), None) => Secret::passphrase(self.text(passphrase)?),
            (None, Some(chain)) => Secret::chain(self.keys(&chain.expression, above)?),
            (Some(_), Some(_)) => {
                Err(KeyError::Argument("passphrase and chain exclude each other; set one of them".to_owned()))
            }
            (None, None) => Err(KeyError::Argument("set either passphrase or chain".to_owned())),
        };
        let settings = self.derivation(content)?;
        // The source text is not quoted, because it may contain the passphrase.
        let source = secret.and_then(|secret| Ok(KeySource::Pbkdf2 { secret, settings: settings? }));
        source.map_err(|problem| self.unusable(span, &problem.to_string())).ok()
    }

    /// Reads the parameters of the key derivation. The inner error is reported together with other problems of the
    /// block.
    fn derivation(&mut self, content: &Content) -> Option<Result<Pbkdf2, KeyError>> {
        let mut settings = Ok(Pbkdf2::default());
        type Set = fn(Pbkdf2, i64) -> Result<Pbkdf2, KeyError>;
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
                let function = function.ok_or_else(|| {
                    KeyError::Argument(format!("hash_function must be \"sha256\" or \"sha512\", not {name:?}"))
                })?;
                Ok(settings.with_hash_function(function))
            });
        }
        Some(settings)
    }

    pub(super) fn unusable(&mut self, span: Span, problem: &str) {
        self.error(
            span,
            "Unable to build encryption key data",
            format!("The key provider cannot produce a key: {problem}."),
        );
    }
}

/// Evaluates arguments and collects their problems.
pub(super) struct Arguments<'a> {
    pub(super) block: &'a EncryptionBlock,
    pub(super) early: &'a Early<'a>,
    pub(super) diagnostics: Diagnostics,
}

impl Arguments<'_> {
    /// Evaluates a string argument.
    pub(super) fn text(&mut self, attribute: &Attribute) -> Option<String> {
        let value = self.value(attribute, &Type::String)?;
        value.as_str().map(str::to_owned)
    }

    /// Evaluates an integer argument.
    pub(super) fn number(&mut self, attribute: &Attribute) -> Option<i64> {
        let value = self.value(attribute, &Type::Number)?;
        let number = value.as_number().and_then(|number| number.to_i64());
        if number.is_none() {
            self.error(attribute.name.span, "Invalid encryption argument", "The argument must be a whole number.");
        }
        number
    }

    /// Evaluates a list of bytes; null is the empty list.
    pub(super) fn bytes(&mut self, attribute: &Attribute) -> Option<Vec<u8>> {
        if attribute.expression.kind == ExpressionKind::Null {
            return Some(Vec::new());
        }
        let value = self.value(attribute, &Type::List(Arc::new(Type::Number)))?;
        let bytes = bytes_of(&value);
        if bytes.is_none() {
            self.error(
                attribute.name.span,
                "Invalid encryption argument",
                "The argument must be a list of whole numbers from 0 to 255.",
            );
        }
        bytes
    }

    /// Evaluates a command: a list of the program and its arguments.
    pub(super) fn program(&mut self, attribute: &Attribute) -> Option<Program> {
        let value = self.value(attribute, &Type::List(Arc::new(Type::String)))?;
        let words = value.as_slice().unwrap_or_default().iter().map(|word| word.as_str().map(str::to_owned));
        let program = words
            .collect::<Option<Vec<String>>>()
            .ok_or_else(|| KeyError::Argument("a command must not contain null".to_owned()));
        match program.and_then(Program::new) {
            Ok(program) => Some(program),
            Err(problem) => {
                let detail = format!("The argument {:?} is not a valid command: {problem}.", attribute.name.name);
                self.error(attribute.name.span, "Invalid encryption argument", detail);
                None
            }
        }
    }

    /// Evaluates an argument and converts it to `ty`. Messages contain only the argument's name, because the value may
    /// be a secret.
    fn value(&mut self, attribute: &Attribute, ty: &Type) -> Option<Value> {
        let value = self.early.secret(&attribute.expression, "encryption argument", &mut self.diagnostics)?;
        match convert::convert(&value, ty) {
            Ok(value) if !value.is_null() => Some(value),
            _ => {
                let detail = format!("The argument {:?} must be a {}.", attribute.name.name, ty.friendly_name());
                self.error(attribute.name.span, "Invalid encryption argument", detail);
                None
            }
        }
    }

    /// Reports a problem once: several targets may use the same keys.
    pub(super) fn error(&mut self, span: Span, summary: impl Into<String>, detail: impl Into<String>) {
        let problem = Diagnostic::error(summary, detail).at(span);
        if self.diagnostics.iter().all(|known| *known != problem) {
            self.diagnostics.push(problem);
        }
    }
}

/// Converts a list of numbers to bytes; returns `None` if a number is out of range.
pub(super) fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    let numbers = convert::convert(value, &Type::List(Arc::new(Type::Number))).ok()?;
    let byte = |number: &Value| number.as_number().and_then(|number| u8::try_from(number.to_i64()?).ok());
    numbers.as_slice()?.iter().map(byte).collect()
}
