//! What `init` says it does, to people or as messages.

use groma_address::ProviderAddress;
use groma_install::providers::Event;

use super::context::Context;
use crate::terminal::Tone;
use crate::views::json::{Message, Stream};

/// Where init tells what it does.
pub(super) enum Teller {
    Text,
    Messages(Stream),
}

impl Teller {
    pub fn line(&self, context: &Context, text: &str) {
        match self {
            Self::Text => context.streams.print(&format!("{text}\n")),
            Self::Messages(stream) => stream.send(Message::new("log", text)),
        }
    }

    pub fn heading(&self, context: &Context, text: &str, code: &'static str) {
        match self {
            Self::Text => context.streams.print(&format!("{}\n", context.palette().paint(Tone::Bold, text))),
            Self::Messages(stream) => stream.send(Message::new("init_output", text).with("message_code", code.into())),
        }
    }

    pub fn item(&self, context: &Context, text: &str) {
        match self {
            Self::Text => context.streams.print(&format!("- {text}\n")),
            Self::Messages(stream) => stream.send(Message::new("log", text)),
        }
    }

    /// A text of several lines; the message has a code.
    pub fn notice(&self, context: &Context, text: &str, code: &'static str) {
        match self {
            Self::Text => context.streams.print(text),
            Self::Messages(stream) => {
                stream.send(Message::new("init_output", text.trim()).with("message_code", code.into()))
            }
        }
    }

    /// What happens with a provider package.
    pub fn event(&self, context: &Context, event: &Event<'_>) {
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

    pub fn gap(&self, context: &Context) {
        if matches!(self, Self::Text) {
            context.streams.print("\n");
        }
    }

    /// There is nothing to get ready.
    pub fn empty(&self, context: &Context) {
        let product = &context.wording.product;
        let title = format!("{product} initialized in an empty directory!");
        let rest = format!("There are no configuration files here yet. Write one, and {product} can begin.");
        match self {
            Self::Text => {
                let title = context.palette().paint(Tone::BoldGreen, title);
                context.streams.print(&format!("{title}\n\n{rest}\n"));
            }
            Self::Messages(stream) => stream.send(
                Message::new("init_output", format!("{title}\n\n{rest}"))
                    .with("message_code", "output_init_empty_message".into()),
            ),
        }
    }

    pub fn success(&self, context: &Context) {
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
