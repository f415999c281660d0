//! Progress reports of `init`, as text or messages.

use groma_address::ProviderAddress;
use groma_install::providers::Event;

use super::context::Context;
use crate::terminal::Tone;
use crate::views::json::Message;
use crate::views::plan::Reader;

/// Tells what init does: to people, as messages, or both.
pub(super) struct Teller;

/// The receiver of the reports.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listener {
    Person,
    Program,
}

impl Teller {
    pub fn line(&self, context: &Context, text: &str) {
        context.say_as(&format!("{text}\n"), || Message::new("log", text));
    }

    pub fn heading(&self, context: &Context, text: &str, code: &'static str) {
        let shown = context.palette().paint(Tone::Bold, text);
        context.say_as(&format!("{shown}\n"), || coded(text, code));
    }

    pub fn item(&self, context: &Context, text: &str) {
        context.say_as(&format!("- {text}\n"), || Message::new("log", text));
    }

    /// A text of several lines; the message has a code.
    pub fn notice(&self, context: &Context, text: &str, code: &'static str) {
        context.say_as(text, || coded(text.trim(), code));
    }

    /// Reports an event of a provider package.
    pub fn event(&self, context: &Context, event: &Event<'_>) {
        let shown = event_text(event, Listener::Person);
        context.say_as(&format!("- {shown}\n"), || Message::new("log", event_text(event, Listener::Program)));
    }

    pub fn gap(&self, context: &Context) {
        if context.messages().is_none() {
            context.streams.print("\n");
        }
    }

    /// There is nothing to get ready.
    pub fn empty(&self, context: &Context) {
        let product = &context.wording.product;
        let title = format!("{product} initialized in an empty directory!");
        let rest = format!("There are no configuration files here yet. Write one, and {product} can begin.");
        let shown = context.palette().paint(Tone::BoldGreen, &title);
        let message = || coded(&format!("{title}\n\n{rest}"), "output_init_empty_message");
        context.say_as(&format!("{shown}\n\n{rest}\n"), message);
    }

    pub fn success(&self, context: &Context) {
        let title = format!("{} has been successfully initialized!", context.wording.product);
        let command = &context.wording.command;
        let shown = context.palette().paint(Tone::BoldGreen, &title);
        context.say_as(&format!("\n{shown}\n"), || coded(&title, "output_init_success_message"));
        if context.settings.reader == Reader::Person {
            let next = format!(
                "Modules, providers and the backend are in place. Run \"{command} plan\" to see what\nan apply would do."
            );
            context.say_as(&format!("\n{next}\n"), || coded(&next, "output_init_success_cli_message"));
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
