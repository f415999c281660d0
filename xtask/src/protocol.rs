//! Generates the messages and stubs of the plugin protocol from the definitions in `crates/plugin/src/proto`.
//!
//! The result is committed: the generator and its dependencies would cost every build of the program half a minute of processor time, for files
//! that change once a year. A test compares them with the definitions.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;

use prost_types::DescriptorProto;

/// The directory of the definitions.
const DIRECTORY: &str = "crates/plugin/src/proto";
/// The directory of the generated code.
const GENERATED: &str = "crates/plugin/src/proto/generated";
/// The provider services. Client and server dispatch their calls by tables of their own instead of generated stubs.
const PROVIDER: [&str; 2] = ["tfplugin6.proto", "tfplugin5.proto"];
/// The auxiliary services of a plugin process.
const HOST: [&str; 2] = ["plugin.proto", "health.proto"];

/// Names of version 5 and their counterparts in version 6.
const RENAMED: [(&str, &str); 5] = [
    ("Configure", "ConfigureProvider"),
    ("PrepareProviderConfig", "ValidateProviderConfig"),
    ("ValidateResourceTypeConfig", "ValidateResourceConfig"),
    ("ValidateDataSourceConfig", "ValidateDataResourceConfig"),
    ("Stop", "StopProvider"),
];

/// Messages that differ between the versions on the wire, or contain one that does.
const DIFFERENT: [&str; 4] = ["Schema", "ActionSchema", "GetProviderSchema", "GetProviderSchema.Response"];

/// Writes the generated code into the plugin crate.
pub fn run(workspace: &Path) -> Result<(), String> {
    let generated = generate(workspace).map_err(|error| format!("cannot generate the protocol: {error}"))?;
    for (name, code) in generated {
        let path = workspace.join(GENERATED).join(&name);
        fs::write(&path, code).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

/// Returns the generated code by file name.
fn generate(workspace: &Path) -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    let definitions = workspace.join(DIRECTORY);
    let out = tempfile::tempdir()?;
    generate_host(&definitions, out.path())?;
    generate_provider(&definitions, out.path())?;
    Ok(read_all(out.path())?)
}

/// Returns the text of each file in a directory.
fn read_all(directory: &Path) -> io::Result<BTreeMap<String, String>> {
    fs::read_dir(directory)?
        .map(|entry| {
            let entry = entry?;
            Ok((entry.file_name().to_string_lossy().into_owned(), fs::read_to_string(entry.path())?))
        })
        .collect()
}

fn generate_host(definitions: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let descriptors = protox::compile(HOST, [definitions])?;
    Ok(tonic_prost_build::configure().build_transport(false).out_dir(out).compile_fds(descriptors)?)
}

/// Generates both versions; version 5 reuses the messages of version 6 that are identical on the wire.
fn generate_provider(definitions: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let descriptors = protox::compile(PROVIDER, [definitions])?;
    let version_5 = descriptors.file.iter().find(|file| file.package() == "tfplugin5");
    let mut names = Vec::new();
    for message in version_5.into_iter().flat_map(|file| &file.message_type) {
        collect(message, "", &mut names);
    }
    let mut builder = tonic_prost_build::configure()
        .build_client(false)
        .build_server(false)
        .build_transport(false)
        // `Bytes` instead of `Vec`: values of objects are then slices of the received message, without a copy.
        .bytes(".tfplugin6")
        .out_dir(out);
    // Sharing one type halves the generated code, and conversions need no version of their own.
    for name in names.iter().filter(|name| !differs(name)) {
        builder = builder.extern_path(format!(".tfplugin5.{name}"), rust_path(name));
    }
    Ok(builder.extern_path(".tfplugin5.StringKind", rust_path("StringKind")).compile_fds(descriptors)?)
}

fn differs(name: &str) -> bool {
    DIFFERENT.contains(&name) || name.starts_with("Schema.")
}

/// Collects the names of a message, its nested messages and its enums.
fn collect(message: &DescriptorProto, prefix: &str, names: &mut Vec<String>) {
    // Map entries have no type in the generated code.
    if message.options.as_ref().is_some_and(|options| options.map_entry()) {
        return;
    }
    let name = format!("{prefix}{}", message.name());
    let inner = format!("{name}.");
    names.extend(message.enum_type.iter().map(|one| format!("{inner}{}", one.name())));
    message.nested_type.iter().for_each(|nested| collect(nested, &inner, names));
    // After its nested messages; the order does not matter to `extern_path`.
    names.push(name);
}

/// Returns the path of the version 6 type that corresponds to the version 5 message `name`.
fn rust_path(name: &str) -> String {
    let (first, rest) = name.split_once('.').map_or((name, None), |(first, rest)| (first, Some(rest)));
    let first = RENAMED.iter().find(|(old, _)| *old == first).map_or(first, |(_, new)| new);
    let whole = rest.map_or_else(|| first.to_owned(), |rest| format!("{first}.{rest}"));
    let mut parts: Vec<String> = whole.split('.').map(str::to_owned).collect();
    let last = parts.pop().unwrap_or_default();
    let modules: String = parts.iter().map(|part| format!("{}::", snake(part))).collect();
    format!("crate::proto::v6::{modules}{last}")
}

fn snake(name: &str) -> String {
    let mut text = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_ascii_uppercase() && at > 0 {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committed_code_is_what_the_definitions_generate() {
        let workspace = crate::workspace_root();
        let generated = generate(&workspace).expect("the definitions compile");
        let committed = read_all(&workspace.join(GENERATED)).expect("the generated code is committed");
        assert!(generated.keys().eq(committed.keys()), "{GENERATED} has other files: {:?}", committed.keys());
        for (name, code) in generated {
            assert!(committed[&name] == code, "{GENERATED}/{name} is not current; run `cargo xtask protocol`");
        }
    }
}
