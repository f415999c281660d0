//! The final report of an apply.

use std::path::Path;

use groma_engine::plan::Counts;
use groma_state::State;

use super::ready::Kind;
use crate::commands::context::Context;
use crate::commands::output;
use crate::terminal::Tone;
use crate::views::json::Counted;

/// Prints the numbers of changed objects, and the location of the state if the flags have moved it `elsewhere`.
pub(super) fn tell_done(context: &Context, kind: Kind, counts: Counts, state: &State, elsewhere: Option<&Path>) {
    for stream in context.listeners() {
        match kind {
            Kind::Destroy => stream.counts(counts, Counted::Destroy),
            Kind::Refresh => stream.outputs(output::stream_json(state)),
            Kind::Apply => {
                stream.counts(counts, Counted::Apply);
                stream.outputs(output::stream_json(state));
            }
        }
    }
    if context.messages().is_some() {
        return;
    }
    let palette = context.palette();
    let text = match kind {
        Kind::Refresh => String::new(),
        Kind::Destroy => format!("Destroy complete! Resources: {} destroyed.", counts.destroy),
        Kind::Apply => format!(
            "Apply complete! Resources: {}{} added, {} changed, {} destroyed.{}",
            if counts.import > 0 { format!("{} imported, ", counts.import) } else { String::new() },
            counts.add,
            counts.change,
            counts.destroy,
            if counts.invoke > 0 { format!(" Actions: {} invoked.", counts.invoke) } else { String::new() }
        ),
    };
    if !text.is_empty() {
        context.streams.print(&format!("\n{}\n", palette.paint(Tone::BoldGreen, text)));
    }
    if let Some(path) = elsewhere.filter(|_| kind == Kind::Apply && counts.add + counts.change > 0) {
        context.streams.print(&format!(
            "\nThe state was not written to its usual place, but to this file. Keep it: whoever changes or destroys what was\n\
             made needs it.\n\nState path: {}\n",
            path.display()
        ));
    }
    if kind != Kind::Destroy && !state.outputs.is_empty() {
        let title = palette.paint(Tone::BoldGreen, "Outputs:");
        context.streams.print(&format!("\n{title}\n\n{}", output::list(state, context.secrecy)));
    }
}
