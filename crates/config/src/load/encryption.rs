//! What the arguments of an `encryption` block come to, before anything is planned.

use std::collections::HashSet;
use std::sync::Arc;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span, suggest};
use groma_encryption::{HashFunction, KeyProvider, Method, Pbkdf2, Secret};
use groma_hcl::{Attribute, BodySchema, Content, Expression, ExpressionKind, Step, Traversal};
use groma_value::{Type, Value, convert};

use super::early::Early;
use super::folder::Reader;
use crate::decode::{self, Decoding, Dialect, Role};
use crate::model::encryption::{EncryptionBlock, EncryptionPart, EncryptionTarget};
use crate::model::{Encryption, EncryptionMethods, Module};

/// Key providers that OpenTofu has and that are not there.
const ABSENT_KEY_PROVIDERS: [&str; 5] = ["aws_kms", "azure_vault", "external", "gcp_kms", "openbao"];

/// How many key providers may be chained, and fallbacks lie within each other.
const DEPTH_LIMIT: usize = 16;

/// Reports what is wrong whatever values the arguments have.
fn check(block: &EncryptionBlock, diagnostics: &mut Diagnostics) {
    for target in block.targets() {
        let mut targets = vec![target];
        while let Some(target) = targets.pop() {
            diagnostics.append(method_of(block, target).err());
            targets.extend(target.fallback.as_deref());
        }
    }
    for ((kind, _), part) in &block.methods {
        if let Some(schema) = method_schema(kind) {
            let (content, problems) = part.body.content(&schema);
            diagnostics.append(problems);
            if let Some(keys) = content.get("keys") {
                diagnostics.append(key_provider_of(block, &keys.expression).err());
            }
        }
    }
    for ((kind, _), part) in &block.key_providers {
        if &**kind == "pbkdf2" {
            let (content, problems) = part.body.content(&pbkdf2_schema());
            diagnostics.append(problems);
            if let Some(chain) = content.get("chain") {
                diagnostics.append(key_provider_of(block, &chain.expression).err());
            }
        }
    }
}

/// The encryption that the root module asks for, with what the environment says in place of it.
pub(super) fn read(
    module: &Module,
    reader: &Reader<'_>,
    early: &Early<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Encryption> {
    let mut problems = Diagnostics::new();
    let given = reader.options.encryption.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let given = given.and_then(|text| given_block(text, reader, &mut problems));
    let block = match (module.encryption_block.clone(), given) {
        (Some(written), Some(given)) => Some(written.overridden_by(given)),
        (written, given) => written.or(given),
    };
    let is_sound = !problems.has_errors();
    let tell = |problem: Diagnostic| without_secrets(problem, reader.sources);
    let encryption = block.filter(|_| is_sound).map(|block| {
        check(&block, &mut problems);
        problems.append(in_clear(&block));
        let methods = methods(&block, early).map_err(|problems| problems.into_iter().map(tell).collect());
        Encryption { span: block.span, methods }
    });
    diagnostics.append(problems.into_iter().map(tell));
    encryption
}

/// What `TF_ENCRYPTION` says, in either syntax.
fn given_block(text: &str, reader: &Reader<'_>, diagnostics: &mut Diagnostics) -> Option<EncryptionBlock> {
    let file = reader.sources.add(VARIABLE, text.to_owned())?;
    let (parsed, problems) =
        if text.starts_with('{') { groma_hcl::parse_json_file(&file) } else { groma_hcl::parse_file(&file) };
    if problems.has_errors() {
        diagnostics.append(problems);
        return None;
    }
    let mut decoding = Decoding {
        sources: reader.sources,
        options: reader.options,
        role: Role::Primary,
        dialect: Dialect::OpenTofu,
        diagnostics: Diagnostics::new(),
        incomplete: false,
        shared: HashSet::new(),
    };
    let block = decode::encryption(&parsed.body, &mut decoding);
    diagnostics.append(decoding.diagnostics);
    Some(block)
}

/// A problem in the environment variable, told without its text, which holds secrets.
fn without_secrets(problem: Diagnostic, sources: &Sources) -> Diagnostic {
    let place = problem.subject.and_then(|span| sources.locate(span)).filter(|place| place.file.name() == VARIABLE);
    let Some(place) = place else { return problem };
    let detail = format!("In the environment variable {VARIABLE}, line {}: {}", place.start.line, problem.detail);
    Diagnostic { detail, subject: None, context: None, observed: Vec::new(), ..problem }
}

/// The environment variable.
const VARIABLE: &str = "TF_ENCRYPTION";

/// The methods that the block comes to with the values of its arguments.
fn methods(block: &EncryptionBlock, early: &Early<'_>) -> Result<EncryptionMethods, Diagnostics> {
    let mut reader = Arguments { block, early, diagnostics: Diagnostics::new() };
    let state = block.state.as_ref().map(|target| reader.target(target));
    let plan = block.plan.as_ref().map(|target| reader.target(target));
    if reader.diagnostics.has_errors() {
        return Err(reader.diagnostics);
    }
    Ok(EncryptionMethods { state: state.flatten().map(Arc::new), plan: plan.flatten().map(Arc::new) })
}

/// A warning where something may be in clear.
fn in_clear(block: &EncryptionBlock) -> Option<Diagnostic> {
    let (_, part) = block.methods.iter().find(|((kind, _), _)| &**kind == UNENCRYPTED)?;
    Some(
        Diagnostic::warning(
            "Unencrypted method configured",
            "The method \"unencrypted\" lets states or plans be in clear. It is meant for the time of a migration only.",
        )
        .at(part.span),
    )
}

const UNENCRYPTED: &str = "unencrypted";

fn method_schema(kind: &str) -> Option<BodySchema> {
    match kind {
        "aes_gcm" => Some(BodySchema::new().required("keys").optional("aad")),
        _ => None,
    }
}

fn pbkdf2_schema() -> BodySchema {
    let arguments =
        ["passphrase", "chain", "key_length", "iterations", "hash_function", "salt_length", "encrypted_metadata_alias"];
    arguments.iter().fold(BodySchema::new(), |schema, name| schema.optional(*name))
}

type Named<'a> = (&'a (Name, Name), &'a EncryptionPart);

fn method_of<'a>(block: &'a EncryptionBlock, target: &EncryptionTarget) -> Result<Named<'a>, Diagnostic> {
    let summary = "Invalid encryption method identifier";
    let advice = "A method is named as method.TYPE.NAME.";
    let Some(expression) = &target.method else {
        return Err(Diagnostic::error(summary, format!("There is no \"method\" here. {advice}")).at(target.span));
    };
    let key = named("method", expression).ok_or_else(|| Diagnostic::error(summary, advice).at(expression.span))?;
    block
        .methods
        .get_key_value(&key)
        .ok_or_else(|| undeclared(expression.span, "encryption method", "method", &key, block.methods.keys()))
}

fn key_provider_of<'a>(block: &'a EncryptionBlock, expression: &Expression) -> Result<Named<'a>, Diagnostic> {
    let key = named("key_provider", expression).ok_or_else(|| {
        Diagnostic::error(
            "Invalid Key Provider expression format",
            "Keys come from a key provider of this block, named as key_provider.TYPE.NAME.",
        )
        .at(expression.span)
    })?;
    block
        .key_providers
        .get_key_value(&key)
        .ok_or_else(|| undeclared(expression.span, "key provider", "key_provider", &key, block.key_providers.keys()))
}

fn undeclared<'a>(
    span: Span,
    what: &str,
    kind: &str,
    (ty, name): &(Name, Name),
    declared: impl Iterator<Item = &'a (Name, Name)>,
) -> Diagnostic {
    let known: Vec<String> = declared.map(|(ty, name)| format!("{kind}.{ty}.{name}")).collect();
    let wanted = format!("{kind}.{ty}.{name}");
    let advice = match suggest(&wanted, known.iter().map(String::as_str)) {
        Some(similar) => format!("Did you mean {similar}?"),
        None => format!("Declare it with a block {kind} {ty:?} {name:?}."),
    };
    Diagnostic::error(
        format!("Reference to undeclared {what}"),
        format!("There is no {wanted} in the encryption block. {advice}"),
    )
    .at(span)
}

/// `ROOT.TYPE.NAME`, bare or in a string.
fn named(root: &str, expression: &Expression) -> Option<(Name, Name)> {
    let inner = match &expression.kind {
        ExpressionKind::JsonString(string) => match &string.template.kind {
            ExpressionKind::Template(template) => template.wrapped(),
            _ => None,
        },
        _ => None,
    };
    let traversal = inner.unwrap_or(expression).as_traversal()?;
    let Traversal { root: found, steps, .. } = &*traversal;
    match steps {
        [Step::Attribute { name: ty, .. }, Step::Attribute { name, .. }] if &*found.name == root => {
            Some((ty.clone(), name.clone()))
        }
        _ => None,
    }
}

struct Arguments<'a> {
    block: &'a EncryptionBlock,
    early: &'a Early<'a>,
    diagnostics: Diagnostics,
}

impl Arguments<'_> {
    /// The methods of a target, the fallbacks within it after its own.
    fn target(&mut self, target: &EncryptionTarget) -> Option<groma_encryption::Encryption> {
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
        Some(groma_encryption::Encryption::new(methods.next()?, methods.collect()))
    }

    fn method(&mut self, (kind, name): &(Name, Name), part: &EncryptionPart) -> Option<Method> {
        match &**kind {
            UNENCRYPTED => Some(Method::Unencrypted),
            "aes_gcm" => {
                let (content, _) = part.body.content(&method_schema(kind)?);
                let keys = self.key_provider(&content.get("keys")?.expression, &mut Vec::new())?;
                let associated = match content.get("aad") {
                    Some(attribute) => self.bytes(attribute)?,
                    None => Vec::new(),
                };
                Some(Method::AesGcm { keys, associated })
            }
            "external" => {
                self.error(
                    part.span,
                    "Unsupported encryption method",
                    format!("The method {kind}.{name} calls another program, which this version of Groma does not do. Nothing was read or written."),
                );
                None
            }
            _ => {
                let advice = suggest(kind, ["aes_gcm", UNENCRYPTED]).map_or_else(
                    || "There is aes_gcm and unencrypted.".to_owned(),
                    |similar| format!("Did you mean {similar:?}?"),
                );
                self.error(
                    part.span,
                    "Unknown encryption method type",
                    format!("There is no method of the type {kind:?}. {advice}"),
                );
                None
            }
        }
    }

    fn key_provider(&mut self, expression: &Expression, above: &mut Vec<(Name, Name)>) -> Option<KeyProvider> {
        let found = key_provider_of(self.block, expression).map_err(|problem| self.diagnostics.push(problem));
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
        if &*key.0 != "pbkdf2" {
            self.unknown_key_provider(&key.0, part);
            return None;
        }
        above.push(key.clone());
        let (content, _) = part.body.content(&pbkdf2_schema());
        let name = match content.get("encrypted_metadata_alias") {
            Some(attribute) => self.text(attribute)?,
            None => address,
        };
        let settings = self.pbkdf2(&content, part.span, above)?;
        above.pop();
        Some(KeyProvider { name, settings })
    }

    fn unknown_key_provider(&mut self, kind: &str, part: &EncryptionPart) {
        let (summary, detail) = if ABSENT_KEY_PROVIDERS.contains(&kind) {
            let detail = format!(
                "The key provider {kind:?} of OpenTofu is not in this version of Groma, which knows pbkdf2 only. Nothing was read or written."
            );
            ("Unsupported key_provider type", detail)
        } else {
            let advice = suggest(kind, ["pbkdf2"]).map_or("There is pbkdf2.", |_| "Did you mean \"pbkdf2\"?");
            ("Unknown key_provider type", format!("There is no key provider of the type {kind:?}. {advice}"))
        };
        self.error(part.span, summary, detail);
    }

    fn pbkdf2(&mut self, content: &Content, span: Span, above: &mut Vec<(Name, Name)>) -> Option<Pbkdf2> {
        let secret = match (content.get("passphrase"), content.get("chain")) {
            (Some(passphrase), None) => Secret::Passphrase(self.text(passphrase)?),
            (None, Some(chain)) => Secret::Chain(Box::new(self.key_provider(&chain.expression, above)?)),
            (Some(_), Some(_)) => {
                self.unusable(span, "passphrase and chain exclude each other");
                return None;
            }
            (None, None) => {
                self.unusable(span, "there is neither a passphrase nor a chain");
                return None;
            }
        };
        let mut settings = Pbkdf2::new(secret);
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
        // The text of the arguments is not shown: the passphrase may be in it.
        settings.map_err(|problem| self.unusable(span, &problem)).ok()
    }

    fn unusable(&mut self, span: Span, problem: &str) {
        self.error(span, "Unable to build encryption key data", format!("The key provider makes no key: {problem}."));
    }

    fn text(&mut self, attribute: &Attribute) -> Option<String> {
        let value = self.value(attribute, &Type::String)?;
        value.as_str().map(str::to_owned)
    }

    fn number(&mut self, attribute: &Attribute) -> Option<i64> {
        let value = self.value(attribute, &Type::Number)?;
        let number = value.as_number().and_then(|number| number.to_i64());
        if number.is_none() {
            self.error(attribute.name.span, "Invalid encryption argument", "The argument has to be a whole number.");
        }
        number
    }

    fn bytes(&mut self, attribute: &Attribute) -> Option<Vec<u8>> {
        let value = self.value(attribute, &Type::List(Arc::new(Type::Number)))?;
        let byte = |number: &Value| number.as_number().and_then(|number| u8::try_from(number.to_i64()?).ok());
        let bytes = value.as_slice().and_then(|numbers| numbers.iter().map(byte).collect::<Option<Vec<u8>>>());
        if bytes.is_none() {
            self.error(
                attribute.name.span,
                "Invalid encryption argument",
                "The argument has to be a list of numbers from 0 to 255.",
            );
        }
        bytes
    }

    /// The value of an argument, which may be a secret; messages about it show its name only.
    fn value(&mut self, attribute: &Attribute, ty: &Type) -> Option<Value> {
        let value = self.early.secret(&attribute.expression, "encryption argument", &mut self.diagnostics)?;
        match convert::convert(&value, ty) {
            Ok(value) if !value.is_null() => Some(value),
            _ => {
                let detail = format!("The argument {:?} has to be a {}.", attribute.name.name, ty.friendly_name());
                self.error(attribute.name.span, "Invalid encryption argument", detail);
                None
            }
        }
    }

    fn error(&mut self, span: Span, summary: &str, detail: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(span));
    }
}
