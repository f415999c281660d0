//! Provisioners: commands that run when an object has come into being, or before it goes.

mod local_exec;

use std::sync::Arc;

use groma_address::{Name, ResourceInstance};
use groma_config::{OnFailure, Provisioner, ProvisionerWhen};
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_lang::Scope;
use groma_provider::BodyDecoder;

use crate::evaluation::Evaluation;
use crate::hooks::Hooks;
use local_exec::LocalExec;

const LOCAL_EXEC: &str = "local-exec";

/// A provisioner whose arguments are known.
pub struct Provision {
    kind: Name,
    span: Span,
    on_failure: OnFailure,
    command: LocalExec,
}

/// What is wrong with the blocks, as far as that can be told before they run.
pub fn check(provisioners: &[Provisioner], scope: &dyn Scope, diagnostics: &mut Diagnostics) {
    for provisioner in provisioners {
        if &*provisioner.kind != LOCAL_EXEC {
            diagnostics.push(unavailable(provisioner));
            continue;
        }
        let (body, problems) = BodyDecoder::new(&provisioner.body, local_exec::schema());
        diagnostics.append(problems);
        let (_, problems) = body.evaluate(scope);
        diagnostics.append(problems);
    }
}

fn unavailable(provisioner: &Provisioner) -> Diagnostic {
    let detail = format!(
        "This version of Groma runs the provisioner \"local-exec\" only; there is no \"{}\". Do what it does with a command of \
         local-exec, or prepare the machine's image instead.",
        provisioner.kind
    );
    Diagnostic::error("Missing required provisioner plugin", detail).at(provisioner.span)
}

/// The provisioners of one stage with their arguments; none after an error, which is noted.
pub fn prepare(
    provisioners: &[Provisioner],
    when: ProvisionerWhen,
    address: &ResourceInstance,
    scope: &dyn Scope,
    evaluation: &mut Evaluation,
) -> Option<Vec<Provision>> {
    let mut prepared = Vec::new();
    for provisioner in provisioners.iter().filter(|provisioner| provisioner.when == when) {
        if &*provisioner.kind != LOCAL_EXEC {
            evaluation.diagnostics.push(unavailable(provisioner).about(address.to_string()));
            return None;
        }
        let (body, problems) = BodyDecoder::new(&provisioner.body, local_exec::schema());
        let failed = problems.has_errors();
        evaluation.diagnostics.append(problems);
        if failed {
            return None;
        }
        let arguments = evaluation.instance(&body, address, scope)?;
        prepared.push(Provision {
            kind: provisioner.kind.clone(),
            span: provisioner.span,
            on_failure: provisioner.on_failure,
            command: LocalExec::new(&arguments),
        });
    }
    Some(prepared)
}

/// Runs them one after the other, up to the first that fails and may not.
pub async fn carry_out(provisions: Vec<Provision>, address: ResourceInstance, hooks: Arc<dyn Hooks>) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for provision in provisions {
        hooks.provision_start(&address, &provision.kind);
        let (line_hooks, line_address, line_kind) = (Arc::clone(&hooks), address.clone(), provision.kind.clone());
        let tell = move |line: &str| line_hooks.provision_output(&line_address, &line_kind, line);
        match provision.command.run(tell).await {
            Ok(()) => hooks.provision_complete(&address, &provision.kind),
            Err(failure) => {
                hooks.provision_errored(&address, &provision.kind);
                if provision.on_failure == OnFailure::Continue {
                    continue;
                }
                let problem = Diagnostic::error(failure.summary, failure.detail);
                diagnostics.push(problem.at(provision.span).about(address.to_string()));
                break;
            }
        }
    }
    diagnostics
}
