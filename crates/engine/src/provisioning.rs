//! Provisioners: commands that run when an object has come into being, or before it goes.

use std::sync::Arc;

use groma_address::{Name, ResourceInstance};
use groma_config::{Configuration, Connection as ConnectionBlock, OnFailure, Provisioner, ProvisionerWhen};
use groma_diagnostics::{Diagnostic, Diagnostics, Span, did_you_mean};
use groma_lang::Scope;
use groma_provider::{Block, BodyDecoder};
use groma_provisioning::{Kind, Task, connection_schema};

use crate::cancel::{Cancellation, Stop};
use crate::deprecation::report_deprecated_body;
use crate::evaluation::Evaluation;
use crate::hooks::Hooks;

/// A provisioner whose arguments are known.
pub struct Provision {
    kind: Name,
    span: Span,
    on_failure: OnFailure,
    task: Task,
}

/// The provisioners of a resource, with the connection that they share.
#[derive(Clone, Debug)]
pub struct Provisioners<'c> {
    /// The provisioner blocks, in order.
    pub blocks: &'c [Provisioner],
    /// The default connection of the resource.
    pub connection: Option<&'c ConnectionBlock>,
}

impl<'c> Provisioners<'c> {
    /// The connections of a block, the stronger one last.
    fn connections(&self, provisioner: &'c Provisioner) -> impl Iterator<Item = &'c ConnectionBlock> + use<'c> {
        self.connection.into_iter().chain(&provisioner.connection)
    }
}

/// The type of a provisioner.
fn kind_of(provisioner: &Provisioner) -> Result<Kind, Diagnostic> {
    Kind::of(&provisioner.kind).ok_or_else(|| {
        let other = &provisioner.kind;
        let meant = did_you_mean(other, Kind::NAMES);
        let detail = format!(
            "The provisioner \"{other}\" does not exist.{meant} Groma supports local-exec, remote-exec and file, \
             but no provisioner plugins."
        );
        Diagnostic::error("Missing required provisioner plugin", detail).at(provisioner.span)
    })
}

/// Reports the provisioners of types that do not exist. For that the providers of their resources need not be installed.
pub fn check_provisioner_types(configuration: &Configuration) -> Diagnostics {
    let modules = configuration.modules().into_iter();
    let provisioners = modules.flat_map(|module| module.resources.values()).flat_map(|resource| &resource.provisioners);
    provisioners.filter_map(|provisioner| kind_of(provisioner).err()).collect()
}

/// Whether each argument of a block is one that its type has. If not, an argument that seems to be missing may be one
/// that is misspelled.
fn has_known_arguments_only(provisioner: &Provisioner, schema: &Block) -> bool {
    let (arguments, _) = provisioner.body.attributes();
    let known = schema.shape().names();
    arguments.iter().all(|argument| known.iter().any(|name| **name == *argument.name.name))
}

/// Checks the blocks, as far as possible before they run.
pub fn check(provisioners: &Provisioners<'_>, scope: &dyn Scope, diagnostics: &mut Diagnostics) {
    for provisioner in provisioners.blocks {
        let kind = match kind_of(provisioner) {
            Ok(kind) => kind,
            Err(problem) => {
                diagnostics.push(problem);
                continue;
            }
        };
        let (body, mut problems) =
            BodyDecoder::with_meta_arguments(&provisioner.body, kind.schema(), Provisioner::META_ARGUMENTS);
        let (arguments, more) = body.evaluate(scope);
        problems.append(more);
        let arguments = report_deprecated_body(arguments, &body, &mut problems);
        if (!problems.has_errors() || has_known_arguments_only(provisioner, kind.schema()))
            && let Some(problem) = kind.problem(&arguments)
        {
            problems.push(problem.at(provisioner.span));
        }
        diagnostics.append(problems);
        check_connection(provisioner.connection.as_ref(), scope, diagnostics);
    }
    if !provisioners.blocks.is_empty() {
        check_connection(provisioners.connection, scope, diagnostics);
    }
    check_hosts(provisioners, diagnostics);
}

/// Reports connections that no block gives the machine for.
fn check_hosts(provisioners: &Provisioners<'_>, diagnostics: &mut Diagnostics) {
    let mut reported: Vec<Span> = Vec::new();
    for provisioner in provisioners.blocks {
        let blocks: Vec<_> = provisioners.connections(provisioner).collect();
        let has_host = |block: &&ConnectionBlock| {
            let (arguments, problems) = block.body.attributes();
            problems.has_errors() || arguments.iter().any(|argument| &*argument.name.name == "host")
        };
        let Some(first) = blocks.first().filter(|_| !blocks.iter().any(has_host)) else { continue };
        let span = first.body.missing_item_span();
        if !reported.contains(&span) {
            reported.push(span);
            let detail = "A connection requires the argument \"host\": the host name or address of the machine, \
             such as self.output.";
            diagnostics.push(Diagnostic::error("Missing required argument", detail).at(span));
        }
    }
}

fn check_connection(block: Option<&ConnectionBlock>, scope: &dyn Scope, diagnostics: &mut Diagnostics) {
    let Some(block) = block else { return };
    let (body, problems) = BodyDecoder::new(&block.body, connection_schema());
    diagnostics.append(problems);
    let (arguments, problems) = body.evaluate(scope);
    diagnostics.append(problems);
    report_deprecated_body(arguments, &body, diagnostics);
}

/// The provisioners of one stage with their arguments; none after an error, which is noted.
pub fn prepare(
    provisioners: &Provisioners<'_>,
    when: ProvisionerWhen,
    address: &ResourceInstance,
    scope: &dyn Scope,
    evaluation: &mut Evaluation,
) -> Option<Vec<Provision>> {
    let mut prepared = Vec::new();
    for provisioner in provisioners.blocks.iter().filter(|provisioner| provisioner.when == when) {
        let kind = noted(kind_of(provisioner), address, evaluation)?;
        let value = evaluated(&provisioner.body, kind.schema(), address, scope, evaluation)?;
        noted(kind.problem(&value).map_or(Ok(()), |problem| Err(problem.at(provisioner.span))), address, evaluation)?;
        let mut blocks = Vec::new();
        if kind.is_remote() {
            for block in provisioners.connections(provisioner) {
                blocks.push(evaluated(&block.body, connection_schema(), address, scope, evaluation)?);
            }
        }
        let task = Task::new(kind, &value, &blocks).map_err(|problem| {
            let summary = format!("{} provisioner error", provisioner.kind);
            Diagnostic::error(summary, problem.reason).at(provisioner.body.missing_item_span())
        });
        let task = noted(task, address, evaluation)?;
        let (kind, span) = (provisioner.kind.clone(), provisioner.body.missing_item_span());
        prepared.push(Provision { kind, span, on_failure: provisioner.on_failure, task });
    }
    Some(prepared)
}

fn noted<T>(result: Result<T, Diagnostic>, address: &ResourceInstance, evaluation: &mut Evaluation) -> Option<T> {
    result.map_err(|problem| evaluation.diagnostics.push(problem.about(address))).ok()
}

fn evaluated(
    body: &groma_hcl::Body,
    schema: &Arc<Block>,
    address: &ResourceInstance,
    scope: &dyn Scope,
    evaluation: &mut Evaluation,
) -> Option<groma_value::Value> {
    let (body, problems) = BodyDecoder::new(body, schema);
    let failed = problems.has_errors();
    evaluation.diagnostics.append(problems);
    if failed {
        return None;
    }
    evaluation.instance(&body, address, scope)
}

/// Runs them one after the other, up to the first that fails and may not. After a request to stop none begins.
pub async fn carry_out(
    provisions: Vec<Provision>,
    address: ResourceInstance,
    hooks: Arc<dyn Hooks>,
    cancellation: Cancellation,
) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for Provision { kind, span, on_failure, task } in provisions {
        hooks.provision_start(&address, &kind);
        let (line_hooks, line_address, line_kind) = (Arc::clone(&hooks), address.clone(), kind.clone());
        let report = move |line: &str| line_hooks.provision_output(&line_address, &line_kind, line);
        let Err(failure) = task.run(Arc::new(cancellation.clone()), report).await else {
            hooks.provision_complete(&address, &kind);
            continue;
        };
        hooks.provision_errored(&address, &kind);
        // What was cut off is not what may fail.
        if on_failure == OnFailure::Continue && cancellation.state() == Stop::No {
            continue;
        }
        let problem = Diagnostic::error(failure.summary, failure.detail);
        diagnostics.push(problem.at(span).about(&address));
        break;
    }
    diagnostics
}
