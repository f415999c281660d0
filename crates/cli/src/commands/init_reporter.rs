//! Progress messages of `init`, as text and as JSON messages.

use groma_address::ProviderAddress;
use groma_install::providers::Event;

use super::context::Context;
use crate::terminal::Tone;
use crate::views::json::Message;
use crate::views::plan::Reader;
use crate::views::wording::Wording;

/// Reports the progress of `init`.
pub(super) struct InitReporter;

/// Reader of a message; Terraform words some messages differently in JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listener {
    Person,
    Program,
}

impl InitReporter {
    pub fn line(&self, context: &Context, text: &str) {
        context.report_as(&format!("{text}\n"), || Message::new("log", text));
    }

    pub fn heading(&self, context: &Context, text: &str, code: &'static str) {
        let shown = context.palette().paint(Tone::Bold, text);
        context.report_as(&format!("{shown}\n"), || coded(text, code));
    }

    pub fn item(&self, context: &Context, text: impl Fn(&Wording) -> String) {
        let message = || Message::new("log", text(&context.wording));
        context.report_as(&format!("- {}\n", text(&context.text_wording)), message);
    }

    /// Reports a text of several lines, whose JSON message has a `code`; `text` returns it with the given names.
    pub fn notice(&self, context: &Context, code: &'static str, text: impl Fn(&Wording) -> String) {
        // JSON messages have no leading and trailing line breaks.
        context.report_as(&text(&context.text_wording), || coded(text(&context.wording).trim(), code));
    }

    /// Reports an event of a provider installation.
    pub fn event(&self, context: &Context, event: &Event<'_>) {
        let shown = event_text(event, Listener::Person);
        context.report_as(&format!("- {shown}\n"), || Message::new("log", event_text(event, Listener::Program)));
    }

    pub fn gap(&self, context: &Context) {
        // An empty line separates sections of text only.
        if context.messages().is_none() {
            context.streams.print("\n");
        }
    }

    /// Reports that the directory contains no configuration.
    pub fn empty(&self, context: &Context) {
        let title = |product: &str| format!("{product} initialized in an empty directory!");
        let rest = "The directory contains no configuration files yet. Create one to get started.";
        let shown = context.palette().paint(Tone::BoldGreen, title(context.text_wording.product));
        let message = || coded(&format!("{}\n\n{rest}", title(context.wording.product)), "output_init_empty_message");
        context.report_as(&format!("{shown}\n\n{rest}\n"), message);
    }

    pub fn success(&self, context: &Context) {
        let title = |product: &str| format!("{product} has been successfully initialized!");
        let shown = context.palette().paint(Tone::BoldGreen, title(context.text_wording.product));
        let message = || coded(&title(context.wording.product), "output_init_success_message");
        context.report_as(&format!("\n{shown}\n"), message);
        // Terraform also omits this advice in automation.
        if context.settings.reader == Reader::Person {
            self.notice(context, "output_init_success_cli_message", |Wording { command, .. }| {
                format!(
                    "\nModules, providers and the backend are ready. Run \"{command} plan\" to preview\nthe changes that apply would \
                     make.\n"
                )
            });
        }
    }
}

fn coded(text: &str, code: &'static str) -> Message {
    Message::new("init_output", text).with("message_code", code.into())
}

fn event_text(event: &Event<'_>, listener: Listener) -> String {
    let is_text = listener == Listener::Person;
    match event {
        Event::Reusing(address) => {
            let address = address.display_short();
            match is_text {
                true => format!("Reusing previous version of {address} from the dependency lock file"),
                false => format!("{address}: Reusing previous version from the dependency lock file"),
            }
        }
        Event::Finding(address, constraints) => finding(address, constraints, listener),
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
    }
}

fn finding(address: &ProviderAddress, constraints: &str, listener: Listener) -> String {
    let address = address.display_short();
    match (listener, constraints.is_empty()) {
        (Listener::Person, true) => format!("Finding latest version of {address}..."),
        (Listener::Person, false) => format!("Finding {address} versions matching \"{constraints}\"..."),
        (Listener::Program, true) => format!("{address}: Finding latest version..."),
        (Listener::Program, false) => {
            format!("Finding matching versions for provider: {address}, version_constraint: \"{constraints}\"")
        }
    }
}
