//! The dependency lock file, `.terraform.lock.hcl`.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use groma_address::{DEFAULT_PROVIDER_HOST, ProviderAddress};
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span};
use groma_hcl::{Block, BodySchema, Content, Expression, parse_file};
use indexmap::IndexMap;

use crate::source::Files;
use crate::version::{Constraints, Version};

/// Name of the lock file in the root module's directory.
const LOCK_FILE: &str = ".terraform.lock.hcl";

/// The provider versions and checksums that `init` selected for a configuration.
#[derive(Clone, Debug, Default)]
pub struct LockFile {
    /// Locked providers by source address.
    pub providers: IndexMap<ProviderAddress, LockedProvider>,
}

/// A `provider` block of the lock file.
#[derive(Clone, Debug)]
pub struct LockedProvider {
    /// The selected version.
    pub version: Version,
    /// The version constraints at the time of the selection.
    pub constraints: Constraints,
    /// Checksums of the provider's packages, with their scheme: `h1:…`, `zh:…`.
    pub hashes: Vec<Arc<str>>,
    /// Span of the block's header.
    pub span: Span,
}

static FILE: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().block("provider", &["source_addr"]).block("module", &["path"]));

static PROVIDER: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().required("version").optional("constraints").optional("hashes"));

impl LockFile {
    /// Reads the lock file of the root module. A missing file locks nothing.
    pub fn read(sources: &Sources, files: &dyn Files) -> (Self, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let mut lock_file = Self::default();
        let problem = match files.read(Path::new(LOCK_FILE)) {
            Ok(bytes) => {
                // Invalid locks are reported and dropped; the valid ones remain.
                lock_file.parse(bytes, sources, &mut diagnostics);
                None
            }
            // Before the first `init` there is no lock file.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => Some(error.to_string()),
        };
        if let Some(problem) = problem {
            diagnostics.push(Diagnostic::error(
                "Failed to read dependency lock file",
                format!(
                    "Cannot read {LOCK_FILE}: {problem}. Repair the file, or delete it and run init to create it again."
                ),
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
            // The parser may have skipped a lock after a syntax error; a missing lock must not look like an unlocked
            // provider.
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
            // Two locks of one provider may disagree, and choosing one silently could select the wrong package.
            if self.providers.contains_key(&address) {
                diagnostics.push(
                    Diagnostic::error(
                        "Duplicate provider lock",
                        format!("{address} already has a lock above. Remove one of the two blocks."),
                    )
                    .at(block.header),
                );
                continue;
            }
            self.providers.insert(address, provider);
        }
    }
}

/// Warns about a `module` block, which Terraform reserves for future versions.
fn module_lock(block: &Block) -> Diagnostic {
    let detail = "This lock file selects module versions, but this version of Groma locks providers only. It uses the module \
                  versions that the configuration selects.";
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
    // `Version` accepts short and prefixed forms; a lock must name one version exactly, so only the canonical form is
    // valid.
    if let Some(attribute) = content.get("version")
        && attribute.expression.as_static_string().is_some_and(|text| *text != *version.to_string())
    {
        let detail = format!("The lock file must contain the complete version: \"{version}\".");
        diagnostics.push(Diagnostic::error("Invalid provider version number", detail).at(attribute.expression.span));
        return None;
    }
    let constraints = match content.get("constraints") {
        // An empty string means no constraints, as in Terraform.
        Some(attribute) if attribute.expression.as_static_string().is_none_or(|text| !text.is_empty()) => {
            parsed(&content, "constraints", "Invalid provider version constraints", diagnostics)?
        }
        _ => Constraints::default(),
    };
    let hashes = content.get("hashes").map(|attribute| hashes(&attribute.expression, diagnostics)).unwrap_or_default();
    Some((address, LockedProvider { version, constraints, hashes, span: block.header }))
}

/// Parses a provider label, which must be fully qualified and normalized: a short form could select the lock of a
/// different provider.
fn address(label: &str) -> Result<ProviderAddress, Diagnostic> {
    let wrong = |detail: String| Diagnostic::error("Invalid provider source address", detail);
    let address = ProviderAddress::parse(label, DEFAULT_PROVIDER_HOST).map_err(|error| wrong(error.to_string()))?;
    if address.is_builtin() {
        return Err(wrong(format!("{address} is built into this program, so it cannot be locked.")));
    }
    if address.is_legacy() {
        return Err(wrong(format!("{address} is a legacy address with an unknown namespace, so it cannot be locked.")));
    }
    if address.to_string() != label {
        let detail = format!("The lock file must contain the complete provider address in lower case: \"{address}\".");
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
                format!("The argument {name:?} is not valid. Delete the lock file and run init to create it again."),
            )
            .at(attribute.expression.span),
        );
    }
    value
}

/// Decodes the checksums of a lock. An invalid one is an error, because ignoring it would leave a package unchecked.
fn hashes(expression: &Expression, diagnostics: &mut Diagnostics) -> Vec<Arc<str>> {
    let list = expression.as_list().unwrap_or_default();
    if list.is_empty() {
        let detail = "\"hashes\" must be a list of at least one string. Remove the argument to have the checksums computed again.";
        diagnostics.push(Diagnostic::error("Invalid provider hash set", detail).at(expression.span));
    }
    let mut hashes = Vec::with_capacity(list.len());
    for element in list {
        // Unknown schemes are kept: a newer version may have written them.
        match element.as_static_string() {
            // The scheme says how to compute the checksum, so a hash without one cannot be verified.
            Some(hash) if hash.split_once(':').is_some_and(|(scheme, _)| !scheme.is_empty()) => {
                hashes.push(Arc::from(&*hash))
            }
            _ => {
                let detail = "A hash must be a string that begins with a scheme and a colon, such as h1: or zh:.";
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
    fn syntax_errors_hide_other_errors() {
        let (_, diagnostics) = read("provider \"x/y\" {\n");
        let summaries: Vec<&str> = diagnostics.iter().map(|problem| problem.summary.as_str()).collect();
        assert_eq!(summaries, ["Unclosed configuration block"]);
    }

    #[test]
    fn invalid_hashes_are_errors() {
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
    fn addresses_and_versions_must_be_canonical() {
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
    fn missing_lock_file_locks_nothing() {
        let (lock_file, diagnostics) = LockFile::read(&Sources::new(), &MemoryFiles::new());
        assert!(lock_file.providers.is_empty() && diagnostics.is_empty());
    }
}
