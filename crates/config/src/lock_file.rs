//! The dependency lock file, `.terraform.lock.hcl`.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use groma_address::{DEFAULT_PROVIDER_HOST, ProviderAddress};
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span};
use groma_hcl::{Block, BodySchema, Content, Expression, parse_file};
use indexmap::IndexMap;

use crate::source::Files;
use crate::version::{Constraints, Version};

/// The file's name, in the root module's directory.
const LOCK_FILE: &str = ".terraform.lock.hcl";

/// The provider packages of the last `init`.
#[derive(Clone, Debug, Default)]
pub struct LockFile {
    /// The providers by address.
    pub providers: IndexMap<ProviderAddress, LockedProvider>,
}

/// A provider package that is locked.
#[derive(Clone, Debug)]
pub struct LockedProvider {
    /// The selected version.
    pub version: Version,
    /// The constraints that selected it.
    pub constraints: Constraints,
    /// Checksums of its packages, with their scheme: `h1:…`, `zh:…`.
    pub hashes: Vec<Arc<str>>,
    /// The location of the block's header.
    pub span: Span,
}

static FILE: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().block("provider", &["source_addr"]).block("module", &["path"]));

static PROVIDER: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().required("version").optional("constraints").optional("hashes"));

impl LockFile {
    /// Reads the lock file of the root module; a missing one locks nothing.
    pub fn read(sources: &Sources, files: &dyn Files) -> (Self, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let mut lock_file = Self::default();
        let problem = match files.read(Path::new(LOCK_FILE)) {
            Ok(bytes) => {
                lock_file.parse(bytes, sources, &mut diagnostics);
                None
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => Some(error.to_string()),
        };
        if let Some(problem) = problem {
            diagnostics.push(Diagnostic::error(
                "Failed to read dependency lock file",
                format!("{LOCK_FILE} cannot be read: {problem}. Repair it, or remove it to have it written anew."),
            ));
        }
        (lock_file, diagnostics)
    }

    fn parse(&mut self, bytes: Vec<u8>, sources: &Sources, diagnostics: &mut Diagnostics) {
        let Some(file) = sources.add_bytes(LOCK_FILE, bytes) else { return };
        let (parsed, problems) = parse_file(&file);
        let is_broken = problems.has_errors();
        diagnostics.append(problems);
        if is_broken {
            // What is missing in it may have been lost.
            return;
        }
        let (content, problems) = parsed.body.content(&FILE);
        diagnostics.append(problems);
        for block in &content.blocks {
            if &*block.kind.name == "module" {
                diagnostics.push(module_lock(block));
                continue;
            }
            let Some((address, provider)) = provider(block, diagnostics) else { continue };
            if self.providers.contains_key(&address) {
                diagnostics.push(
                    Diagnostic::error(
                        "Duplicate provider lock",
                        format!("{address} is locked above already. Remove one of the two."),
                    )
                    .at(block.header),
                );
                continue;
            }
            self.providers.insert(address, provider);
        }
    }
}

/// Returns the error for a block type that Terraform reserves for later versions.
fn module_lock(block: &Block) -> Diagnostic {
    let detail = "The lock file says which versions of modules to use. This version of Groma knows locks of providers only, and takes the \
                  modules that the configuration asks for.";
    Diagnostic::warning("Dependency locks for modules are not yet supported", detail).at(block.header)
}

fn provider(block: &Block, diagnostics: &mut Diagnostics) -> Option<(ProviderAddress, LockedProvider)> {
    let label = block.labels.first()?;
    let address = match address(&label.value) {
        Ok(address) => address,
        Err(problem) => {
            diagnostics.push(problem.at(label.span));
            return None;
        }
    };
    let (content, problems) = block.body.content(&PROVIDER);
    diagnostics.append(problems);
    let version: Version = parsed(&content, "version", "Invalid provider version number", diagnostics)?;
    if let Some(attribute) = content.get("version")
        && attribute.expression.as_static_string().is_some_and(|text| *text != *version.to_string())
    {
        let detail = format!("The lock file has versions in full: \"{version}\".");
        diagnostics.push(Diagnostic::error("Invalid provider version number", detail).at(attribute.expression.span));
        return None;
    }
    let constraints = match content.get("constraints") {
        Some(attribute) if attribute.expression.as_static_string().is_none_or(|text| !text.is_empty()) => {
            parsed(&content, "constraints", "Invalid provider version constraints", diagnostics)?
        }
        _ => Constraints::default(),
    };
    let hashes = content.get("hashes").map(|attribute| hashes(&attribute.expression, diagnostics)).unwrap_or_default();
    Some((address, LockedProvider { version, constraints, hashes, span: block.header }))
}

/// Parses the complete address in `label`: a lock must not be missed, or taken for another's, because of its notation.
fn address(label: &str) -> Result<ProviderAddress, Diagnostic> {
    let wrong = |detail: String| Diagnostic::error("Invalid provider source address", detail);
    let address = ProviderAddress::parse(label, DEFAULT_PROVIDER_HOST).map_err(|error| wrong(error.to_string()))?;
    if address.is_builtin() {
        return Err(wrong(format!("{address} is a part of this program and has no version of its own to lock.")));
    }
    if address.is_half_named() {
        return Err(wrong(format!(
            "{address} stands for a provider whose namespace is not known; it cannot be locked."
        )));
    }
    if address.to_string() != label {
        let detail = format!("The lock file has addresses of providers in full and in lower case: \"{address}\".");
        return Err(Diagnostic::error("Non-normalized provider source address", detail));
    }
    Ok(address)
}

fn parsed<T: std::str::FromStr>(
    content: &Content,
    name: &str,
    summary: &str,
    diagnostics: &mut Diagnostics,
) -> Option<T> {
    let attribute = content.get(name)?;
    let value = attribute.expression.as_static_string().and_then(|text| text.parse().ok());
    if value.is_none() {
        diagnostics.push(
            Diagnostic::error(
                summary,
                format!("The argument {name:?} cannot be read. Remove the lock file to have it written anew."),
            )
            .at(attribute.expression.span),
        );
    }
    value
}

/// The hashes of a package. One that cannot be read is an error: a package must not go unchecked for a slip.
fn hashes(expression: &Expression, diagnostics: &mut Diagnostics) -> Vec<Arc<str>> {
    let list = expression.as_list().unwrap_or_default();
    if list.is_empty() {
        let detail =
            "The hashes are a list of at least one string. Leave the argument out to have them worked out anew.";
        diagnostics.push(Diagnostic::error("Invalid provider hash set", detail).at(expression.span));
    }
    let mut hashes = Vec::with_capacity(list.len());
    for element in list {
        match element.as_static_string() {
            Some(hash) if hash.split_once(':').is_some_and(|(scheme, _)| !scheme.is_empty()) => {
                hashes.push(Arc::from(&*hash))
            }
            _ => {
                let detail = "A hash is a string that begins with its scheme and a colon, such as h1: or zh:.";
                diagnostics.push(Diagnostic::error("Invalid provider hash string", detail).at(element.span));
            }
        }
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryFiles;

    fn read(text: &str) -> (LockFile, Diagnostics) {
        LockFile::read(&Sources::new(), &MemoryFiles::new().with(LOCK_FILE, text))
    }

    #[test]
    fn locked_providers_are_read_with_their_hashes() {
        let (lock_file, diagnostics) = read(
            "# made by a tool\nprovider \"registry.terraform.io/hashicorp/awscc\" {\n  version     = \"1.2.3\"\n  constraints = \"~> 1.2\"\n  \
             hashes = [\n    \"h1:abc=\",\n    \"zh:00ff\",\n  ]\n}\n",
        );
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let provider = &lock_file.providers[&ProviderAddress::default_for("awscc")];
        assert_eq!(provider.version, Version::new(1, 2, 3));
        assert!(provider.constraints.allow(&provider.version));
        assert_eq!(provider.hashes.iter().map(|hash| &**hash).collect::<Vec<_>>(), ["h1:abc=", "zh:00ff"]);
    }

    #[test]
    fn wrong_entries_are_reported_and_left_out() {
        let (lock_file, diagnostics) =
            read("provider \"a/b/c/d\" {}\nprovider \"registry.terraform.io/x/y\" {\n  version = \"new\"\n}\n");
        assert!(lock_file.providers.is_empty());
        let summaries: Vec<&str> = diagnostics.iter().map(|d| d.summary.as_str()).collect();
        assert_eq!(summaries, ["Invalid provider source address", "Invalid provider version number"]);
    }

    #[test]
    fn of_a_file_that_cannot_be_parsed_nothing_else_is_told() {
        let (_, diagnostics) = read("provider \"x/y\" {\n");
        let summaries: Vec<&str> = diagnostics.iter().map(|problem| problem.summary.as_str()).collect();
        assert_eq!(summaries, ["Unclosed configuration block"]);
    }

    #[test]
    fn hashes_that_cannot_be_read_are_not_passed_over() {
        let of = |hashes: &str| {
            read(&format!(
                "provider \"registry.terraform.io/x/y\" {{\n  version = \"1.0.0\"\n  hashes = {hashes}\n}}\n"
            ))
            .1
        };
        for hash in ["1", "var.x", "null", "\"\"", "\"71sNUDvm\"", "\":71sNUDvm\""] {
            let problems = of(&format!("[\"h1:abc=\", {hash}]"));
            let summaries: Vec<&str> = problems.iter().map(|problem| problem.summary.as_str()).collect();
            assert_eq!(summaries, ["Invalid provider hash string"], "{hash}");
        }
        for set in ["[]", "\"h1:abc=\"", "{}"] {
            let problems = of(set);
            assert_eq!(problems.iter().next().unwrap().summary, "Invalid provider hash set", "{set}");
        }
        assert!(of("[\"h1:abc=\", \"h9:to-come\"]").is_empty());
    }

    #[test]
    fn addresses_and_versions_are_written_in_full() {
        let of = |label: &str, version: &str| {
            let (locks, problems) = read(&format!("provider \"{label}\" {{\n  version = \"{version}\"\n}}\n"));
            assert!(locks.providers.is_empty(), "{label}");
            problems.iter().next().unwrap().summary.clone()
        };
        for label in ["random", "hashicorp/random", "registry.terraform.io/hashicorp/Random"] {
            assert_eq!(of(label, "1.0.0"), "Non-normalized provider source address");
        }
        for label in ["terraform.io/builtin/terraform", "registry.terraform.io/-/random"] {
            assert_eq!(of(label, "1.0.0"), "Invalid provider source address");
        }
        assert_eq!(of("registry.terraform.io/hashicorp/random", "1.0"), "Invalid provider version number");
    }

    #[test]
    fn constraints_may_be_empty() {
        let (lock_file, problems) =
            read("provider \"registry.terraform.io/x/y\" {\n  version = \"1.0.0\"\n  constraints = \"\"\n}\n");
        assert!(problems.is_empty() && lock_file.providers.len() == 1);
    }

    #[test]
    fn no_lock_file_is_fine() {
        let (lock_file, diagnostics) = LockFile::read(&Sources::new(), &MemoryFiles::new());
        assert!(lock_file.providers.is_empty() && diagnostics.is_empty());
    }
}
