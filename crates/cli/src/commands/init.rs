//! `init`: there is nothing to download for what is built in; everything is checked all the same.

use groma_config::Configuration;
use groma_diagnostics::Diagnostics;
use groma_install::modules::Freshness;

use super::backend::{Elsewhere, state_paths};
use super::configuration::{Empty, has_files, load_directory};
use super::context::Context;
use super::installation::{Lines, install};
use super::outcome::{Outcome, fail};
use super::packages::Packages;
use super::provider_source::{chosen_package, is_cloud_control, is_included};
use crate::arguments::{Flag, Init};
use crate::settings::TERRAFORM_VERSION;
use crate::terminal::Tone;
use crate::views::json::{Message, Stream};

/// Where init tells what it does.
enum Teller {
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
    let packages = Packages::of(context, &configuration);
    let mut absent = Diagnostics::new();
    for address in configuration.provider_requirements().keys() {
        if let Some(reason) = packages.reason(address).filter(|_| is_cloud_control(address)) {
            absent.push(chosen_package(address, reason));
        } else if is_included(address) {
            teller.item(context, &format!("{address} is built in to {}", context.wording.product));
        } else {
            absent.append(fail(
                "Provider not available",
                format!("The configuration needs the provider {address}. This version of Groma does not install provider packages yet."),
            ));
        }
    }
    teller.gap(context);
    teller.heading(context, "Initializing the backend...", "initializing_backend_message");
    state_paths(context, root, Elsewhere::default())?;
    if !absent.is_empty() {
        return Err(absent);
    }
    context.show(&warnings);
    teller.success(context);
    Ok(0)
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

    fn item(&self, context: &Context, text: &str) {
        match self {
            Self::Text => context.streams.print(&format!("- {text}\n")),
            Self::Messages(stream) => stream.send(Message::new("log", text)),
        }
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
