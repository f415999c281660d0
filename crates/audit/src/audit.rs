//! The audit of a whole provider, type by type.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_diagnostics::io_reason;
use groma_provider::{
    Attribute, Block, ClientCapabilities, ConfigureRequest, Name, NestedBlock, Provider, ProviderDiagnostic,
    ProviderDiagnostics, TERRAFORM_VERSION,
};
use groma_value::Value;

use crate::calls::Caller;
use crate::calls::{CallOutcome, arguments, call};
use crate::generate::Generator;
use crate::lifecycle::{Extent, Lifecycle, Outcome, Subject};
use crate::options::Kind;
use crate::options::{Options, UserConfig};
use crate::report::{Finding, Report, TypeReport};
use crate::rule::{Observation, Rule, Step, Weight};
use crate::shrink::shrink_candidates;
use crate::text::{block_text, call_text};

/// Starts a provider; called again whenever the provider has become unresponsive.
pub type StartProvider<'a> = dyn Fn() -> Result<Arc<dyn Provider>, ProviderDiagnostics> + 'a;

/// The number of valid configurations between two nearly valid ones.
const VALID_PER_FLAWED: usize = 3;
/// The number of repair attempts for a rejected configuration, with other values for the reported attributes.
const MAX_REPAIRS: usize = 5;
/// The maximum number of lifecycle runs to shrink the configuration of a finding.
const MAX_SHRINK_RUNS: usize = 60;
/// The number of missing responses after which the audit of a type is abandoned.
const MAX_UNRESPONSIVE: usize = 5;

type Key = (Rule, Weight, Step, String);

/// A finding with its configuration before shrinking.
struct Reproduction {
    observation: Observation,
    config: Value,
    changed: Option<Value>,
    times: usize,
}

/// Audits the provider that `start` starts.
///
/// `progress` receives the name of each type before its audit.
///
/// # Errors
///
/// The provider cannot be started or configured.
pub fn audit(
    start: &StartProvider<'_>,
    options: &Options,
    progress: &mut dyn FnMut(&str),
) -> Result<Report, ProviderDiagnostics> {
    // Two workers, so that a blocking provider call does not stop the timeout of another.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = Arc::new(runtime.map_err(|problem| {
        ProviderDiagnostic::error(
            "Cannot start audit",
            format!("The operating system cannot start threads: {problem}.", problem = io_reason(&problem)),
        )
    })?);
    let mut audit = Audit { start, options, runtime, caller: None };
    let caller = audit.caller()?;
    let mut report = Report::default();
    for kind in Kind::ALL {
        for name in kind.names(&*caller.provider) {
            if !options.is_wanted(kind, &name) {
                continue;
            }
            progress(&name);
            report.types.push(match kind {
                Kind::Function => audit.of_function(&name)?,
                _ => audit.of_type(kind, &name)?,
            });
        }
    }
    Ok(report)
}

struct Audit<'a> {
    start: &'a StartProvider<'a>,
    options: &'a Options,
    runtime: Arc<tokio::runtime::Runtime>,
    /// `None` before the start and after the provider became unresponsive.
    caller: Option<Arc<Caller>>,
}

impl Audit<'_> {
    /// Returns the configured provider, started if necessary.
    fn caller(&mut self) -> Result<Arc<Caller>, ProviderDiagnostics> {
        if let Some(caller) = &self.caller {
            return Ok(caller.clone());
        }
        // Plugins spawn tasks while they start.
        let guard = self.runtime.enter();
        let provider = (self.start)()?;
        let block = provider.schema()?.config.block.clone();
        let config = self.options.provider_config.clone().unwrap_or_else(|| {
            let needs = block.slots().iter().any(|slot| match &slot.item {
                groma_provider::Item::Attribute(attribute) => attribute.usage() == groma_provider::Use::Required,
                groma_provider::Item::Block(nested) => nested.min() > 0,
            });
            if needs { Generator::new(&block, self.options.seed).valid(&block) } else { block.empty_value().clone() }
        });
        drop(guard);
        let caller = Caller::new(provider, self.runtime.clone(), self.options.call_timeout);
        let request = ConfigureRequest {
            terraform_version: TERRAFORM_VERSION.to_owned(),
            config,
            client_capabilities: ClientCapabilities::default(),
        };
        let problems = caller
            .call(|provider| provider.configure(request), |problems| problems)
            .map_err(|no_response| ProviderDiagnostic::error("The provider cannot be configured", no_response))?;
        if problems.has_errors() {
            return Err(problems);
        }
        let caller = Arc::new(caller);
        self.caller = Some(caller.clone());
        Ok(caller)
    }

    /// Audits a function. Functions have no schema, so arguments are generated from the signature.
    fn of_function(&mut self, name: &Name) -> Result<TypeReport, ProviderDiagnostics> {
        let mut report = TypeReport::of(Kind::Function, name);
        let Some(signature) = self.caller()?.provider.function(name) else { return Ok(report) };
        let nothing = Block::new(Vec::<(&str, Attribute)>::new(), Vec::<(&str, NestedBlock)>::new());
        let mut generator = Generator::new(&nothing, self.options.seed ^ seed_of(name));
        let mut found: BTreeMap<Key, Finding> = BTreeMap::new();
        for _ in 0..self.options.configurations {
            let arguments = arguments(&signature, &mut generator);
            let (called, observations) = call(&*self.caller()?, name, &signature, &arguments);
            // The next call starts a new process.
            if matches!(called, CallOutcome::Unresponsive) {
                self.caller = None;
            }
            report.count_call(called);
            if report.silent >= MAX_UNRESPONSIVE {
                break;
            }
            let text = call_text(name, &arguments);
            for observation in observations {
                let key = observation.key();
                let times = found.get(&key).map_or(0, |finding| finding.times) + 1;
                // The shortest call is the simplest reproduction.
                let shorter = found.get(&key).is_none_or(|finding| finding.configuration.len() > text.len());
                if shorter {
                    found.insert(key, Finding::new(observation, text.clone(), None, times));
                } else if let Some(finding) = found.get_mut(&key) {
                    finding.times = times;
                }
            }
        }
        report.findings.extend(found.into_values());
        Ok(report)
    }

    fn of_type(&mut self, kind: Kind, name: &Name) -> Result<TypeReport, ProviderDiagnostics> {
        let mut report = TypeReport::of(kind, name);
        let caller = self.caller()?;
        let schema = match kind.schema(&*caller.provider, name) {
            Ok(Some(schema)) => schema,
            Ok(None) => return Ok(report),
            Err(problems) => {
                let problem = problems.iter().map(|problem| problem.detail.clone()).collect::<Vec<_>>().join(" ");
                report.findings.push(schema_finding(String::new(), problem));
                return Ok(report);
            }
        };
        report.findings.extend(
            schema.problems().into_iter().map(|problem| schema_finding(format!(".{}", problem.path), problem.message)),
        );
        let what = Subject { kind, type_name: name.clone(), schema };
        let found = self.run_lifecycles(&what, &mut report)?;
        for (key, shown) in found {
            let shown = self.shrink(&what, &key, shown);
            report.findings.push(finding(&what, shown));
        }
        report.findings.sort_by_key(|finding| finding.weight);
        Ok(report)
    }

    /// Runs many lifecycles; returns each finding once.
    fn run_lifecycles(
        &mut self,
        what: &Subject,
        report: &mut TypeReport,
    ) -> Result<BTreeMap<Key, Reproduction>, ProviderDiagnostics> {
        let (name, schema) = (&what.type_name, &what.schema);
        let mut found = BTreeMap::new();
        let mut generator = Generator::new(&schema.block, self.options.seed ^ seed_of(name));
        let is_given = |given: &&UserConfig| given.kind == what.kind && given.type_name == *name;
        let selected = self.options.user_configs.iter().filter(is_given);
        let user_configs: Vec<Value> = selected.map(|one| one.config.clone()).collect();
        let count = if user_configs.is_empty() { self.options.configurations } else { user_configs.len() };
        let mut unresponsive = 0;
        for turn in 0..count {
            let mut config = user_configs.get(turn).cloned().unwrap_or_else(|| generator.valid(&schema.block));
            // User-provided configurations are taken literally.
            let mut repairs = if user_configs.is_empty() { MAX_REPAIRS } else { 0 };
            let (end, observations, changed) = loop {
                let changed = generator.changed(&schema.block, &config);
                let caller = self.caller()?;
                let mut lifecycle = Lifecycle::new(&caller, what, self.options.extent);
                let end = lifecycle.run(&config, changed.as_ref());
                let (Outcome::Refused(problems) | Outcome::Failed(problems)) = &end else {
                    break (end, lifecycle.observations, changed);
                };
                // Errors often quote the valid values.
                generator.learn(&schema.block, problems);
                let repaired = generator.repaired(&schema.block, &config, problems).filter(|_| repairs > 0);
                let Some(repaired) = repaired else { break (end, lifecycle.observations, changed) };
                repairs -= 1;
                keep(&mut found, lifecycle.observations, &config, changed.as_ref());
                config = repaired;
            };
            report.count(&end);
            if matches!(end, Outcome::Unresponsive) {
                self.caller = None;
                unresponsive += 1;
            }
            keep(&mut found, observations, &config, changed.as_ref());
            if unresponsive >= MAX_UNRESPONSIVE {
                break;
            }
            if user_configs.is_empty() && turn % VALID_PER_FLAWED == 0 {
                self.flawed(what, &mut generator, &mut found, report)?;
            }
        }
        Ok(found)
    }

    /// Runs a nearly valid configuration, which must be rejected or treated like any other.
    fn flawed(
        &mut self,
        what: &Subject,
        generator: &mut Generator,
        found: &mut BTreeMap<Key, Reproduction>,
        report: &mut TypeReport,
    ) -> Result<(), ProviderDiagnostics> {
        let Some((config, flaw)) = generator.nearly_valid(&what.schema.block) else { return Ok(()) };
        let caller = self.caller()?;
        let mut lifecycle = Lifecycle::new(&caller, what, Extent::Plan);
        report.flawed += 1;
        let end = if flaw.is_rejected_by_engine() {
            lifecycle.validate(&config).err().unwrap_or(Outcome::Completed)
        } else {
            lifecycle.run(&config, None)
        };
        if matches!(end, Outcome::Unresponsive) {
            self.caller = None;
        }
        keep(found, lifecycle.observations, &config, None);
        Ok(())
    }

    /// Shrinks the configuration of a finding as long as the finding persists.
    fn shrink(&mut self, what: &Subject, key: &Key, mut shown: Reproduction) -> Reproduction {
        let schema = &what.schema;
        let mut left = MAX_SHRINK_RUNS;
        if !needs_change(key.2) {
            shown.changed = None;
        }
        loop {
            let configs = shrink_candidates(&schema.block, &shown.config)
                .into_iter()
                .map(|config| (config, shown.changed.clone()));
            let changes = shown.changed.iter().flat_map(|changed| shrink_candidates(&schema.block, changed));
            let changes = changes.map(|changed| (shown.config.clone(), Some(changed)));
            let candidates: Vec<(Value, Option<Value>)> = configs.chain(changes).collect();
            let better = candidates.into_iter().find_map(|(config, changed)| {
                left = left.checked_sub(1)?;
                let observation = self.reproduce(what, key, &config, changed.as_ref())?;
                Some((config, changed, observation))
            });
            let Some((config, changed, observation)) = better else { return shown };
            shown = Reproduction { observation, config, changed, ..shown };
            if left == 0 {
                return shown;
            }
        }
    }

    fn reproduce(&mut self, what: &Subject, key: &Key, config: &Value, changed: Option<&Value>) -> Option<Observation> {
        let caller = self.caller().ok()?;
        let extent = if key.2 <= Step::Plan { Extent::Plan } else { self.options.extent };
        let mut lifecycle = Lifecycle::new(&caller, what, extent);
        let end = lifecycle.run(config, changed);
        if matches!(end, Outcome::Unresponsive) {
            self.caller = None;
        }
        lifecycle.observations.into_iter().find(|observation| observation.key() == *key)
    }
}

/// Whether reproducing a finding in this step requires a second configuration.
fn needs_change(step: Step) -> bool {
    matches!(step, Step::PlanUpdate | Step::Update)
}

fn keep(
    found: &mut BTreeMap<Key, Reproduction>,
    observations: Vec<Observation>,
    config: &Value,
    changed: Option<&Value>,
) {
    for observation in observations {
        let key = observation.key();
        let shown = found.entry(key).or_insert_with(|| Reproduction {
            observation,
            config: config.clone(),
            changed: changed.cloned(),
            times: 0,
        });
        shown.times += 1;
    }
}

/// Derives a seed from a type name (FNV-1a), so that each type gets different configurations.
fn seed_of(name: &str) -> u64 {
    name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

fn schema_finding(path: String, message: String) -> Finding {
    let observation = Observation { rule: Rule::Schema, weight: Weight::Error, step: Step::Schema, path, message };
    Finding::new(observation, String::new(), None, 1)
}

fn finding(what: &Subject, shown: Reproduction) -> Finding {
    let text = |config: &Value| block_text(what.kind, &what.type_name, &what.schema.block, config);
    let changed = shown.changed.as_ref().filter(|_| needs_change(shown.observation.step)).map(text);
    Finding::new(shown.observation, text(&shown.config), changed, shown.times)
}
