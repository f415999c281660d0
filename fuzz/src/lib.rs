//! Fuzz targets for readers of untrusted bytes: no panics, no excessive work, and the invariants stated at each target.
//!
//! The fuzz targets call these with whatever the fuzzer thinks of; `crates/cli/tests/untrusted_input.rs` takes this file in too, and calls
//! them with damaged examples wherever the tests run.

mod kept;
mod packages;
mod services;
mod words;

use std::path::Path;
use std::sync::Arc;

use groma_config::variables::{VariableSources, collect};
use groma_config::version::Constraints;
use groma_config::{LoadOptions, LockFile, MemoryFiles, ModuleManifest, ModuleSource};
use groma_diagnostics::{Diagnostic, Diagnostics, SourceFile, Sources};
use groma_hcl::{BodySchema, Traversal};
use groma_install::settings;
use groma_lang::{FunctionContext, Resolved, Scope, console, evaluate, references, type_constraint};
use groma_state::{DamagedJournal, LocalStore, Locking, StatePaths, file, plan_file};
use groma_value::{Marks, Type, Value, json, msgpack};

pub use kept::{saved_plan, schema_cache, sealed};
pub use packages::{archive, emulator_file, plugin, signature, type_schema};
pub use services::{answers, key_services};
pub use words::{address, functions, terminal_text};

/// A reader with its name.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[
    ("scan", scan),
    ("parse", parse),
    ("template", template),
    ("json", json_syntax),
    ("evaluate", evaluation),
    ("format", format),
    ("configuration", configuration),
    ("variables", variables),
    ("state", state),
    ("plan_file", plan),
    ("journal", journal),
    ("msgpack", message_pack),
    ("value_json", value_json),
    ("lock_file", lock_file),
    ("cli_configuration", cli_configuration),
    ("module_source", module_source),
    ("address", address),
    ("functions", functions),
    ("archive", archive),
    ("signature", signature),
    ("answers", answers),
    ("plugin", plugin),
    ("type_schema", type_schema),
    ("emulator_file", emulator_file),
    ("sealed", sealed),
    ("key_services", key_services),
    ("saved_plan", saved_plan),
    ("schema_cache", schema_cache),
    ("terminal_text", terminal_text),
];

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

fn source(name: &str, bytes: &[u8]) -> Option<(Arc<SourceFile>, Arc<Sources>)> {
    let sources = Arc::new(Sources::new());
    Some((sources.add(name, text(bytes))?, sources))
}

/// The tokens put together are the text.
pub fn scan(bytes: &[u8]) {
    let text = text(bytes);
    let put_together: String = groma_hcl::tokenize(text).iter().map(|(_, range)| &text[range]).collect();
    assert_eq!(put_together, text);
}

/// Every text has a tree.
pub fn parse(bytes: &[u8]) {
    if let Some((file, _)) = source("fuzz.tf", bytes) {
        groma_hcl::parse_file(&file);
        groma_hcl::parse_expression(&file);
        groma_hcl::parse_traversal(&file);
    }
}

/// Every template has one.
pub fn template(bytes: &[u8]) {
    if let Some((file, sources)) = source("fuzz.tftpl", bytes) {
        let (template, _) = groma_hcl::parse_template(&file);
        evaluate(&template, &Names::new(sources), &mut Diagnostics::new());
    }
}

/// The JSON syntax has bodies that can be read.
pub fn json_syntax(bytes: &[u8]) {
    if let Some((file, _)) = source("fuzz.tf.json", bytes) {
        let (parsed, _) = groma_hcl::parse_json_file(&file);
        let schema = BodySchema::new().optional("a").required("b").block("c", &[]).block("d", &["type", "name"]);
        let (content, rest, _) = parsed.body.partial_content(&schema);
        rest.attributes();
        for block in &content.blocks {
            block.body.content(&schema);
        }
    }
}

/// Every expression has a value, which can be shown.
pub fn evaluation(bytes: &[u8]) {
    // Long texts are for the parser; here they would be loops in loops.
    if let Some((file, sources)) = source("fuzz", &bytes[..bytes.len().min(400)]) {
        let (expression, _) = groma_hcl::parse_expression(&file);
        let value = evaluate(&expression, &Names::new(sources), &mut Diagnostics::new());
        console::format(&value);
        references(&expression);
        type_constraint(&expression);
    }
}

/// A layout is stable, and a text without mistakes stays without mistakes.
pub fn format(bytes: &[u8]) {
    let has_mistakes = |text: &str| {
        source("fuzz.tf", text.as_bytes()).is_none_or(|(file, _)| groma_hcl::parse_file(&file).1.has_errors())
    };
    let once = groma_hcl::format(text(bytes));
    assert_eq!(groma_hcl::format(&once), once);
    assert_eq!(has_mistakes(&once), has_mistakes(text(bytes)));
}

/// Every configuration is read, in both syntaxes.
pub fn configuration(bytes: &[u8]) {
    for name in ["main.tf", "main.tf.json"] {
        let files = MemoryFiles::new().with(name, bytes);
        groma_config::load(&LoadOptions::default(), &Sources::new(), &files);
    }
}

/// Every variables file is read, in both syntaxes.
pub fn variables(bytes: &[u8]) {
    let declared =
        "variable \"a\" {\n  type = object({ x = optional(number, 1), y = list(string) })\n}\nvariable \"b\" {}\n";
    for name in ["terraform.tfvars", "terraform.tfvars.json"] {
        let files = MemoryFiles::new().with("main.tf", declared).with(name, bytes);
        let sources = Sources::new();
        let (Some(configuration), _) = groma_config::load(&LoadOptions::default(), &sources, &files) else { continue };
        let variables = &configuration.root.variables;
        let mut given = VariableSources::default();
        given.environment.push((String::from("a"), text(bytes).into()));
        let (values, _) = collect(variables, &given, &sources, &files);
        for (name, given) in &values {
            // Whether it fits is not the question here.
            let _ = variables.get(name).map(|variable| variable.accept(&given.value));
        }
    }
}

/// Every state file is read or refused.
pub fn state(bytes: &[u8]) {
    file::is_blank(bytes);
    let _ = file::read(bytes);
}

/// Every plan file is read or refused.
pub fn plan(bytes: &[u8]) {
    in_a_folder(|folder| {
        let path = folder.join("plan");
        if std::fs::write(&path, bytes).is_ok() {
            let _ = plan_file::read(&path, "0.1.0", None);
        }
    });
}

/// Whatever a killed run has left, the state can be opened or the reason is told: with the bytes as the file, and as
/// records whose checksums are right.
pub fn journal(bytes: &[u8]) {
    for journal in [bytes.to_vec(), records(bytes)] {
        for damaged in [DamagedJournal::Refuse, DamagedJournal::Recover] {
            in_a_folder(|folder| {
                let paths = StatePaths::of_file(folder.join("terraform.tfstate")).with_damaged_journal(damaged);
                if std::fs::write(paths.journal(), &journal).is_ok() {
                    let _ = LocalStore::open(paths, "1.15.5", &Locking::Off, &|| false);
                }
            });
        }
    }
}

/// A journal whose records are the parts of `bytes` between bytes that no text has.
fn records(bytes: &[u8]) -> Vec<u8> {
    let mut journal = b"groma journal 2\n".to_vec();
    // The beginning of a run from nothing.
    let run: &[u8] = b"\x01\x01l\x00\x01";
    for payload in [run].into_iter().chain(bytes.split(|byte| *byte == 0xfe)) {
        let length = (payload.len() as u64).to_le_bytes();
        let sum = packages::checksum(&[&length, payload].concat()).to_le_bytes();
        let header = [&length[..], &sum].concat();
        journal.extend([&header[..], &packages::checksum(&header).to_le_bytes(), payload].concat());
    }
    journal
}

/// What can be decoded is encoded; that, decoded, is encoded as the same. The number may be another one: a whole one beyond 64 bits is written
/// with the digits that tell it apart in the precision it came with, as Terraform does.
pub fn message_pack(bytes: &[u8]) {
    for ty in types() {
        let Ok(value) = msgpack::decode(bytes, &ty) else { continue };
        let Ok(once) = msgpack::encode(&value, &ty) else { continue };
        let again = msgpack::decode(&once, &ty).ok().and_then(|value| msgpack::encode(&value, &ty).ok());
        assert_eq!(again, Some(once), "{ty:?}");
    }
}

/// A decoded value survives encoding and decoding.
pub fn value_json(bytes: &[u8]) {
    let _ = json::implied_type(bytes);
    let Ok(value) = json::decode(bytes) else { return };
    if let Ok(again) = json::encode(&value) {
        assert_eq!(json::decode(again.as_bytes()).ok(), Some(value));
    }
}

/// Every lock file and module manifest is read or refused.
pub fn lock_file(bytes: &[u8]) {
    let files = MemoryFiles::new().with(".terraform.lock.hcl", bytes).with(".terraform/modules/modules.json", bytes);
    LockFile::read(&Sources::new(), &files);
    let _ = ModuleManifest::read(Path::new(".terraform"), &files);
}

/// Every CLI configuration is read, in both syntaxes.
pub fn cli_configuration(bytes: &[u8]) {
    in_a_folder(|folder| {
        for name in ["a.tfrc", "b.tfrc.json"] {
            let _ = std::fs::write(folder.join(name), bytes);
        }
        let sources = settings::ConfigSources { folder: Some(folder.to_owned()), ..settings::ConfigSources::default() };
        settings::read(&sources, &|| "registry.example.com".to_owned());
    });
}

/// Every address of a module and every version constraint is read or refused; an address that is read is read again from what it says.
pub fn module_source(bytes: &[u8]) {
    let text = text(bytes);
    let _ = text.parse::<Constraints>();
    if let Ok(source) = ModuleSource::parse(text) {
        let _ = ModuleSource::parse(&source.address("registry.example.com"));
    }
}

fn in_a_folder(work: impl FnOnce(&Path)) {
    if let Ok(folder) = tempfile::tempdir() {
        work(folder.path());
    }
}

fn types() -> [Type; 5] {
    [
        Type::Dynamic,
        Type::String,
        Type::Number,
        Type::list(Type::map(Type::Bool)),
        Type::object([("a", Type::set(Type::Number)), ("b", Type::tuple([Type::String, Type::Dynamic]))]),
    ]
}

/// Names of every sort of value.
struct Names(FunctionContext);

impl Names {
    fn new(sources: Arc<Sources>) -> Self {
        Self(FunctionContext::new("/nonexistent", sources))
    }
}

impl Scope for Names {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        let value = match &*traversal.root.name {
            "u" => Value::DYNAMIC,
            "v" => Value::unknown(Type::String).not_null(),
            "w" => Value::unknown(Type::list(Type::String)),
            "s" => Value::string("x").with_marks(&Marks::SENSITIVE),
            "l" => Value::list(Type::Number, vec![Value::number(1_i64), Value::unknown(Type::Number)]),
            "e" => Value::set(Type::String, vec![Value::string("a"), Value::unknown(Type::String)]),
            "m" => Value::map(Type::String, [("a", Value::string("x")), ("b", Value::null(Type::String))]),
            "o" => {
                Value::object([("a", Value::string("x")), ("b", Value::tuple(vec![]))]).with_marks(&Marks::EPHEMERAL)
            }
            _ => return Err(Diagnostic::error("Unknown", "")),
        };
        Ok(Resolved { value, consumed: 0 })
    }

    fn functions(&self) -> &FunctionContext {
        &self.0
    }
}
