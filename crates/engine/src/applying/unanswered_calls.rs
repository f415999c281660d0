//! Provider calls without an answer, and calls that were never made because the provider had ended.

use std::collections::BTreeMap;

use groma_address::{ProviderAddress, ResourceInstance};
use groma_diagnostics::{Diagnostic, Diagnostics, Severity};
use groma_state::{Begin, Operation as Recorded};

use super::apply_call::Repeatable;
use crate::hooks::Operation;

/// The longest list of operations in a message.
const SHOWN: usize = 10;

/// Adds the operation to the errors of an unanswered call, and what to do about it.
pub(super) fn explain_unanswered_call(problems: &mut Diagnostics, begin: &Begin, repeatable: Repeatable) {
    let address = &begin.address;
    let explanation = match (begin.operation, repeatable) {
        (Recorded::Create, Repeatable::Yes) => format!(
            "It is unknown whether {address} was created. The journal next to the state keeps the request. The next \
             apply repeats it first: if the object was created, the provider returns it instead of creating a \
             second one."
        ),
        (Recorded::Create, Repeatable::No) => format!(
            "It is unknown whether {address} was created, and the provider cannot find it without a record in the \
             state. Check for the object before the next apply. If it exists, import or delete it; otherwise the \
             next apply creates a second one."
        ),
        (Recorded::Update, _) => format!(
            "It is unknown whether {address} was updated. The state still contains its previous values. The next \
             plan reads the object and shows the remaining changes."
        ),
        (Recorded::Delete, _) => format!(
            "It is unknown whether {address} was destroyed. The state still contains it. The next plan reads the \
             object and shows whether it exists."
        ),
    };
    let explained = std::mem::take(problems).into_iter().map(|mut problem| {
        // Warnings stay as they are: the explanation belongs to what interrupted the call.
        if problem.severity == Severity::Error {
            problem.detail = format!("{}\n\n{explanation}", problem.detail);
        }
        problem
    });
    *problems = explained.collect();
}

/// Operations that were not begun because their provider had ended. Each provider is reported once, whatever their number.
#[derive(Default)]
pub(super) struct NotBegun {
    providers: BTreeMap<ProviderAddress, Operations>,
}

#[derive(Default)]
struct Operations {
    count: usize,
    /// The first of them.
    shown: Vec<String>,
    /// The reason why the provider ended.
    reason: Option<String>,
}

impl NotBegun {
    /// Notes one operation, with the problems that it has only because the provider had ended.
    pub(super) fn note(
        &mut self,
        provider: &ProviderAddress,
        address: &ResourceInstance,
        operation: Operation,
        problems: Diagnostics,
    ) {
        let operations = self.providers.entry(provider.clone()).or_default();
        operations.count += 1;
        if operations.shown.len() < SHOWN {
            operations.shown.push(format!("\n  - {address} ({})", verb(operation)));
        }
        // All operations fail for the same reason, so that of the first is representative.
        if operations.reason.is_none() {
            operations.reason = problems.into_iter().find(Diagnostic::is_error).map(|problem| problem.detail);
        }
    }

    /// Reports the operations of each provider.
    pub(super) fn report(self) -> Diagnostics {
        let report = |(provider, operations): (ProviderAddress, Operations)| {
            let Operations { count, shown, reason } = operations;
            let more = match count - shown.len() {
                0 => String::new(),
                more => format!("\n  - and {more} more"),
            };
            let what = if count == 1 { "operation was" } else { "operations were" };
            let detail = format!(
                "{}\n\n{count} {what} not started, because the process of the provider {provider} had ended. They \
                 changed nothing; the next apply plans them again:{}{more}",
                reason.unwrap_or_default(),
                shown.concat()
            );
            Diagnostic::error("Plugin did not respond", detail)
        };
        self.providers.into_iter().map(report).collect()
    }
}

fn verb(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "create",
        Operation::Update => "update",
        Operation::Delete => "destroy",
        Operation::Read => "read",
    }
}
