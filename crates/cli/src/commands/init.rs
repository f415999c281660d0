//! `init`: modules, providers, the backend.

use groma_address::ProviderAddress;
use groma_config::Configuration;
use groma_diagnostics::Diagnostics;
use groma_install::modules::{Freshness, copy_module};
use groma_install::providers::Event;

use super::backend::{Elsewhere, state_paths};
use super::configuration::{Empty, has_files, load_directory, load_options};
use super::context::Context;
use super::init_providers::ProviderSteps;
use super::installation::{Lines, install};
use super::operation::peek_state;
use super::outcome::{Outcome, fail};
use super::servers::{discovery, wait};
use crate::arguments::{Flag, Init};
use crate::settings::TERRAFORM_VERSION;
use crate::terminal::Tone;
use crate::views::json::{Message, Stream};

/// Where init tells what it does.
pub(super) enum Teller {
    Text,
    Messages(Stream),
}

pub(super) fn run(context: &mut Context, arguments: &Init) -> Outcome {
    context.view(&arguments.view);
    let teller = if arguments.json.is_some_and(Flag::is_on) {
        let stream = context.speak_json();
        stream.version(TERRAFORM_VERSION);
        Teller::Messages(stream)
    } else {
        Teller::Text
    };
    if let Some(address) = &arguments.from_module {
        begin_with_copy(context, &teller, address)?;
    }
    let (configuration, warnings) = if arguments.get.is_none_or(Flag::is_on) && has_files() {
        let freshness = if arguments.upgrade.is_some_and(Flag::is_on) { Freshness::Upgrade } else { Freshness::Keep };
        modules(context, &teller, freshness)?
    } else {
        load_directory(context, Empty::Fine)?
    };
    let root = &configuration.root;
    teller.heading(
        context,
        "Initializing provider plugins found in the configuration...",
        "initializing_provider_plugin_from_config_message",
    );
    let mut providers = ProviderSteps::begin(context, &teller, arguments)?;
    providers.configuration(&configuration)?;
    teller.gap(context);
    teller.heading(context, "Initializing the backend...", "initializing_backend_message");
    let paths = state_paths(context, root, Elsewhere::default())?;
    if paths.read.exists() {
        teller.gap(context);
        teller.heading(
            context,
            "Initializing provider plugins found in the state...",
            "initializing_provider_plugin_from_state_message",
        );
        providers.state(&peek_state(paths)?)?;
    }
    let notices = providers.finish()?;
    notices.tell(context, &teller);
    context.show(&warnings);
    teller.success(context);
    Ok(0)
}

/// Copies the module at `address` into the working directory.
fn begin_with_copy(context: &Context, teller: &Teller, address: &str) -> Result<(), Diagnostics> {
    if has_files() {
        return Err(fail(
            "The working directory already contains files",
            "With -from-module init copies a module into an empty directory. To get the configuration ready that is here, leave the \
             option out.",
        ));
    }
    let mut entries = std::fs::read_dir(".").into_iter().flatten().flatten();
    if entries.any(|entry| entry.file_name() != ".terraform") {
        let detail = "The working directory is not empty, so no module is copied into it by -from-module.";
        return Err(fail("Can't populate non-empty directory", detail));
    }
    teller.line(context, &format!("Copying configuration from {address:?}..."));
    let discovery = discovery(context)?;
    let registry = load_options(context).default_registry;
    let copied = wait(copy_module(address, std::path::Path::new("."), &registry, &discovery))?;
    copied.map_err(|problem| {
        fail("Failed to download module", format!("The module cannot be had from {address:?}: {problem}."))
    })
}

/// The configuration, with all modules installed.
fn modules(
    context: &Context,
    teller: &Teller,
    freshness: Freshness,
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let mut is_headed = false;
    let mut head = || {
        if !std::mem::replace(&mut is_headed, true) {
            match freshness {
                Freshness::Keep => teller.heading(context, "Initializing modules...", "initializing_modules_message"),
                Freshness::Upgrade => teller.heading(context, "Upgrading modules...", "upgrading_modules_message"),
            }
        }
    };
    let mut print = |line: &str| {
        head();
        teller.line(context, line);
    };
    let installed = install(context, freshness, &mut Lines(&mut print));
    if installed.as_ref().is_ok_and(|(configuration, _)| !configuration.root.calls.is_empty()) {
        head();
    }
    installed
}

impl Teller {
    fn line(&self, context: &Context, text: &str) {
        match self {
            Self::Text => context.streams.print(&format!("{text}\n")),
            Self::Messages(stream) => stream.send(Message::new("log", text)),
        }
    }

    fn heading(&self, context: &Context, text: &str, code: &'static str) {
        match self {
            Self::Text => context.streams.print(&format!("{}\n", context.palette().paint(Tone::Bold, text))),
            Self::Messages(stream) => stream.send(Message::new("init_output", text).with("message_code", code.into())),
        }
    }

    pub(super) fn item(&self, context: &Context, text: &str) {
        match self {
            Self::Text => context.streams.print(&format!("- {text}\n")),
            Self::Messages(stream) => stream.send(Message::new("log", text)),
        }
    }

    /// A text of several lines; the message has a code.
    pub(super) fn notice(&self, context: &Context, text: &str, code: &'static str) {
        match self {
            Self::Text => context.streams.print(text),
            Self::Messages(stream) => {
                stream.send(Message::new("init_output", text.trim()).with("message_code", code.into()))
            }
        }
    }

    /// What happens with a provider package.
    pub(super) fn event(&self, context: &Context, event: &Event<'_>) {
        let is_text = matches!(self, Self::Text);
        let text = match event {
            Event::Reusing(address) => {
                let address = address.display_short();
                match is_text {
                    true => format!("Reusing previous version of {address} from the dependency lock file"),
                    false => format!("{address}: Reusing previous version from the dependency lock file"),
                }
            }
            Event::Finding(address, constraints) => finding(address, constraints, is_text),
            Event::Installing(address, version) => match is_text {
                true => format!("Installing {} v{version}...", address.display_short()),
                false => format!("Installing provider version: {} v{version}...", address.display_short()),
            },
            Event::Installed(address, version, authentication) => match is_text {
                true => format!("Installed {} v{version} ({authentication})", address.display_short()),
                false => {
                    format!("Installed provider version: {} v{version} ({authentication})", address.display_short())
                }
            },
            Event::Present(address, version) => match is_text {
                true => format!("Using previously-installed {} v{version}", address.display_short()),
                false => format!("{} v{version}: Using previously-installed provider version", address.display_short()),
            },
            Event::Cached(address, version) => match is_text {
                true => format!("Using {} v{version} from the shared cache directory", address.display_short()),
                false => format!("{} v{version}: Using from the shared cache directory", address.display_short()),
            },
        };
        self.item(context, &text);
    }

    fn gap(&self, context: &Context) {
        if matches!(self, Self::Text) {
            context.streams.print("\n");
        }
    }

    fn success(&self, context: &Context) {
        let title = format!("{} has been successfully initialized!", context.wording.product);
        match self {
            Self::Text => {
                let command = &context.wording.command;
                let title = context.palette().paint(Tone::BoldGreen, title);
                context.streams.print(&format!(
                    "\n{title}\n\nModules, providers and the backend are in place. Run \"{command} plan\" to see what\nan apply would do.\n"
                ));
            }
            Self::Messages(stream) => {
                stream.send(
                    Message::new("init_output", title).with("message_code", "output_init_success_message".into()),
                );
            }
        }
    }
}

fn finding(address: &ProviderAddress, constraints: &str, is_text: bool) -> String {
    let address = address.display_short();
    match (is_text, constraints.is_empty()) {
        (true, true) => format!("Finding latest version of {address}..."),
        (true, false) => format!("Finding {address} versions matching \"{constraints}\"..."),
        (false, true) => format!("{address}: Finding latest version..."),
        (false, false) => {
            format!("Finding matching versions for provider: {address}, version_constraint: \"{constraints}\"")
        }
    }
}
