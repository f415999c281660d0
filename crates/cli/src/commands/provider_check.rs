//! `provider check`: tests a provider against the lifecycle rules.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_audit::{Extent, Kind, Options, Report, audit, parse_user_configs};
use groma_builtin::Terraform;
use groma_cloudcontrol::AwsCloudControl;
use groma_cloudcontrol::emulator::{Embedded, Settings, Store};
use groma_cloudcontrol::schema::Catalogue;
use groma_diagnostics::{Diagnostic, Diagnostics, io_reason};
use groma_install::providers::{Selection, executable};
use groma_plugin::client::{Plugin, PluginHost, Start};
use groma_plugin::transport::{Launch, NoLog};
use groma_provider::{Provider, ProviderDiagnostic, ProviderDiagnostics};

use super::builtin_providers::is_cloud_control;
use super::context::Context;
use super::outcome::{Outcome, fail};
use super::packages::Packages;
use crate::arguments::{Flag, ProviderCheck};
use crate::views::json::pretty;

pub(super) fn run(context: &mut Context, arguments: &ProviderCheck) -> Outcome {
    context.configure_view(&arguments.view);
    let scratch = scratch_folder()?;
    let known = Known::find(context, &arguments.provider)?;
    let start = || known.start(scratch.path());
    // Called for the configuration file and by the check, which each need a provider of their own.
    let mut options = Options {
        extent: if arguments.apply.is_some_and(Flag::is_on) { Extent::Full } else { Extent::Plan },
        configurations: arguments.count,
        seed: arguments.seed,
        call_timeout: arguments.timeout.0,
        types: arguments.types.clone(),
        ..Options::default()
    };
    if let Some(path) = &arguments.config {
        let text = std::fs::read_to_string(path).map_err(|problem| {
            fail("Unreadable file", format!("{}: {problem}.", path.display(), problem = io_reason(&problem)))
        })?;
        // This instance only parses the file; the check starts its own.
        let provider = start().map_err(|problems| plain(&problems))?;
        let given = parse_user_configs(&*provider, &path.to_string_lossy(), &text, &context.sources)?;
        options.provider_config = given.provider_config;
        options.user_configs = given.resources;
    }
    // Progress is not reported, because the report lists every type anyway.
    let report = audit(&start, &options, &mut |_| ()).map_err(|problems| plain(&problems))?;
    // A misspelled -type must not pass as a successful check.
    if report.types.is_empty() {
        return Err(fail(
            "Nothing to check",
            "The provider declares no types, or none of those that -type selects. Remove -type to check all its types.",
        ));
    }
    let text = if arguments.json.is_some_and(Flag::is_on) {
        json(&arguments.provider, &report)?
    } else {
        words(&report, &options)
    };
    context.streams.print(&text);
    Ok(u8::from(report.has_errors()))
}

fn words(report: &Report, options: &Options) -> String {
    let hint = match options.extent {
        Extent::Plan => "No objects were created, opened or invoked. Use -apply to test complete lifecycles.\n",
        Extent::Full => "",
    };
    format!("{report}{hint}")
}

fn json(provider: &str, report: &Report) -> Result<String, Diagnostics> {
    let mut document = serde_json::json!({ "format_version": "1.0", "provider": provider });
    for kind in Kind::ALL {
        let types = serde_json::to_value(report.of_kind(kind).collect::<Vec<_>>())
            .map_err(|problem| fail("Unwritable report", problem.to_string()))?;
        document[kind.key()] = types;
    }
    Ok(format!("{}\n", pretty(&document)))
}

fn plain(problems: &ProviderDiagnostics) -> Diagnostics {
    problems.iter().map(|one| Diagnostic::error(one.summary.clone(), one.detail.clone())).collect()
}

/// Location of the provider to check.
enum Known {
    Program(ProviderAddress, PathBuf),
    Builtin,
    CloudControl,
}

impl Known {
    fn find(context: &Context, word: &str) -> Result<Self, Diagnostics> {
        let path = Path::new(word);
        if path.is_file() {
            // Plugins start in another directory, so the path must be absolute.
            let program = std::path::absolute(path).map_err(|problem| fail("Unusable path", problem.to_string()))?;
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let name = name.strip_prefix("terraform-provider-").unwrap_or("checked").to_lowercase();
            // The file name has the form terraform-provider-NAME_vVERSION; only NAME is valid in an address.
            let name = name.split(['_', '.']).next().unwrap_or("checked");
            let address = ProviderAddress::parse(&format!("checked/{name}"), "registry.terraform.io")
                // A file name that is no valid provider name gets a placeholder.
                .or_else(|_| ProviderAddress::parse("checked/checked", "registry.terraform.io"));
            return Ok(Self::Program(address.map_err(|problem| fail("Unusable path", problem.to_string()))?, program));
        }
        let address = ProviderAddress::parse(word, "registry.terraform.io").map_err(|problem| {
            let detail = format!(
                "{word:?} is neither an existing file nor a source address such as hashicorp/random: {problem}. Check the \
                 path; a provider must be built before it can be checked."
            );
            fail("Invalid provider", detail)
        })?;
        if address == ProviderAddress::builtin_terraform() {
            return Ok(Self::Builtin);
        }
        // A package takes precedence over the built-in provider, as in other commands.
        match Packages::without_configuration(context)?.selection(&address) {
            Some(Selection::Override(folder) | Selection::Package { folder, .. }) => {
                let program = executable(&folder, &address)
                    .map_err(|problem| fail("Failed to start provider", problem.to_string()))?;
                let program =
                    std::path::absolute(program).map_err(|problem| fail("Unusable path", problem.to_string()))?;
                Ok(Self::Program(address, program))
            }
            _ if is_cloud_control(&address) => Ok(Self::CloudControl),
            _ => Err(fail(
                "Provider not installed",
                format!(
                    "The provider {address} is not installed in this directory. Run init in a directory that requires it, or \
                     pass the path of its executable."
                ),
            )),
        }
    }

    /// Starts a new instance of the provider. Plugin processes start in `folder`, so that files with relative names are created there.
    fn start(&self, folder: &Path) -> Result<Arc<dyn Provider>, ProviderDiagnostics> {
        match self {
            Self::Program(address, program) => {
                let mut launch = Launch::new(address.to_string(), program);
                launch.folder = Some(folder.to_owned());
                // A host of its own, so that a hanging call does not affect the other instances.
                Ok(Arc::new(Plugin::start(&PluginHost::new(), address.clone(), Start::Launch(launch), Arc::new(NoLog))))
            }
            Self::Builtin => Ok(Arc::new(Terraform::default())),
            Self::CloudControl => {
                let store = Store::in_memory(Arc::clone(Catalogue::shipped()), Settings::default())
                    .map_err(|problem| ProviderDiagnostic::error("Emulator Unusable", problem.to_string()))?;
                let api = Arc::new(Embedded::new(Arc::new(store), "us-east-1"));
                // The emulator completes requests at once, so polling delays would only slow the check down.
                let provider = AwsCloudControl::default().with_api(api).with_first_delay(std::time::Duration::ZERO);
                Ok(Arc::new(provider.served()))
            }
        }
    }
}

/// Creates a temporary working directory for plugin processes.
fn scratch_folder() -> Result<tempfile::TempDir, Diagnostics> {
    tempfile::tempdir().map_err(|problem| {
        fail("Failed to create a temporary directory", format!("{problem}.", problem = io_reason(&problem)))
    })
}
