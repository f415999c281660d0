//! Generates the messages and stubs of the plugin protocol from its definitions.

use std::path::Path;

/// The definitions of the provider's calls, for which the client has a table of its own instead of stubs.
const PROVIDER: [&str; 2] = ["tfplugin6", "tfplugin5"];
/// The definitions of what surrounds them.
const HOST: [&str; 2] = ["plugin", "health"];
/// Where the definitions are.
const FOLDER: &str = "crates/plugin/src/proto";

/// What version 5 calls otherwise than version 6.
const RENAMED: [(&str, &str); 5] = [
    ("Configure", "ConfigureProvider"),
    ("PrepareProviderConfig", "ValidateProviderConfig"),
    ("ValidateResourceTypeConfig", "ValidateResourceConfig"),
    ("ValidateDataSourceConfig", "ValidateDataResourceConfig"),
    ("Stop", "StopProvider"),
];

/// The messages that differ between the versions on the wire, or hold one that does.
const OF_THEIR_OWN: [&str; 4] = ["Schema", "ActionSchema", "GetProviderSchema", "GetProviderSchema.Response"];

/// Writes the generated code; with `check`, only says whether it is as it would be written.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err("proto takes --check or nothing".to_owned()),
    };
    let folder = root.join(FOLDER);
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    generate(&folder, scratch.path())?;
    let generated = folder.join("generated");
    std::fs::create_dir_all(&generated).map_err(|error| error.to_string())?;
    for name in ["tfplugin6.rs", "tfplugin5.rs", "plugin.rs", "grpc.health.v1.rs"] {
        let made = std::fs::read_to_string(scratch.path().join(name)).map_err(|error| format!("{name}: {error}"))?;
        let path = generated.join(name);
        if check {
            if std::fs::read_to_string(&path).ok().as_deref() != Some(&*made) {
                return Err(format!("{} is not what its definition says: run cargo xtask proto", path.display()));
            }
        } else {
            std::fs::write(&path, made).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

fn generate(folder: &Path, out: &Path) -> Result<(), String> {
    let host =
        protox::compile(HOST.map(|name| format!("{name}.proto")), [folder]).map_err(|error| error.to_string())?;
    let builder = tonic_prost_build::configure().build_transport(false).out_dir(out);
    builder.compile_fds(host).map_err(|error| error.to_string())?;
    let files = PROVIDER.map(|name| format!("{name}.proto"));
    let descriptors = protox::compile(files, [folder]).map_err(|error| error.to_string())?;
    let of_version_5 = descriptors.file.iter().find(|file| file.package() == "tfplugin5");
    let mut names = Vec::new();
    for message in of_version_5.into_iter().flat_map(|file| &file.message_type) {
        collect(message, "", &mut names);
    }
    let mut builder = tonic_prost_build::configure()
        .build_client(false)
        .build_transport(false)
        .generate_default_stubs(true)
        .bytes(".tfplugin6")
        .out_dir(out);
    for name in names.iter().filter(|name| !is_of_its_own(name)) {
        builder = builder.extern_path(format!(".tfplugin5.{name}"), rust_path(name));
    }
    builder = builder.extern_path(".tfplugin5.StringKind", rust_path("StringKind"));
    builder.compile_fds(descriptors).map_err(|error| error.to_string())
}

fn is_of_its_own(name: &str) -> bool {
    OF_THEIR_OWN.contains(&name) || name.starts_with("Schema.")
}

fn collect(message: &prost_types::DescriptorProto, prefix: &str, names: &mut Vec<String>) {
    // The entries of maps have no type of their own in the generated code.
    if message.options.as_ref().is_some_and(|options| options.map_entry()) {
        return;
    }
    let name = format!("{prefix}{}", message.name());
    let inner = format!("{name}.");
    names.extend(message.enum_type.iter().map(|one| format!("{inner}{}", one.name())));
    message.nested_type.iter().for_each(|nested| collect(nested, &inner, names));
    names.push(name);
}

/// Where the generated code of version 6 has a message that version 5 calls `name`.
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
