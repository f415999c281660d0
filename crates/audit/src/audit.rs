//! A whole provider, type by type.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_diagnostics::io_reason;
use groma_provider::{
    Attribute, Block, ClientCapabilities, ConfigureRequest, Name, NestedBlock, Provider, ProviderDiagnostic,
    ProviderDiagnostics, TERRAFORM_VERSION,
};
use groma_value::Value;

use crate::caller::Caller;
use crate::calls::{Called, arguments, call};
use crate::generate::Generator;
use crate::kind::Kind;
use crate::life::{End, Extent, Life, Subject};
use crate::options::{Given, Options};
use crate::report::{Finding, Report, TypeReport};
use crate::rule::{Observation, Rule, Step, Weight};
use crate::smaller::smaller;
use crate::text::{block_text, call_text};

/// Starts a provider, anew after each time that it fell silent.
pub type StartProvider<'a> = dyn Fn() -> Result<Arc<dyn Provider>, ProviderDiagnostics> + 'a;

/// A nearly valid configuration comes after so many valid ones.
const VALID_FOR_ONE_FLAWED: usize = 3;
/// A refused configuration is tried again so many times, with other values for what the provider named.
const REPAIRS: usize = 5;
/// So many lives are led to make the configuration of a finding smaller.
const SHRINKING: usize = 60;
/// After so many silences of the provider a type is given up.
const SILENCES: usize = 5;

type Key = (Rule, Weight, Step, String);

/// What is known of a finding before its configuration is made smaller.
struct Shown {
    observation: Observation,
    config: Value,
    changed: Option<Value>,
    times: usize,
}

/// Audits the provider that `start` starts.
///
/// `told` is called with the name of each type before its turn.
///
/// # Errors
///
/// The provider does not start, or does not take its configuration.
pub fn audit(
    start: &StartProvider<'_>,
    options: &Options,
    told: &mut dyn FnMut(&str),
) -> Result<Report, ProviderDiagnostics> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = Arc::new(runtime.map_err(|problem| {
        ProviderDiagnostic::error(
            "Cannot start",
            format!("The operating system gives no threads: {problem}.", problem = io_reason(&problem)),
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
            told(&name);
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
    /// Nothing after the provider fell silent.
    caller: Option<Arc<Caller>>,
}

impl Audit<'_> {
    /// The provider, configured.
    fn caller(&mut self) -> Result<Arc<Caller>, ProviderDiagnostics> {
        if let Some(caller) = &self.caller {
            return Ok(caller.clone());
        }
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
        let caller = Caller::new(provider, self.runtime.clone(), self.options.patience);
        let request = ConfigureRequest {
            terraform_version: TERRAFORM_VERSION.to_owned(),
            config,
            client_capabilities: ClientCapabilities::default(),
        };
        let problems = caller
            .call(|provider| provider.configure(request), |problems| problems)
            .map_err(|silence| ProviderDiagnostic::error("The provider cannot be configured", silence))?;
        if problems.has_errors() {
            return Err(problems);
        }
        let caller = Arc::new(caller);
        self.caller = Some(caller.clone());
        Ok(caller)
    }

    /// Functions have no schema: their arguments are made up from the signature.
    fn of_function(&mut self, name: &Name) -> Result<TypeReport, ProviderDiagnostics> {
        let mut report = TypeReport::of(Kind::Function, name);
        let Some(signature) = self.caller()?.provider.function(name) else { return Ok(report) };
        let nothing = Block::new(Vec::<(&str, Attribute)>::new(), Vec::<(&str, NestedBlock)>::new());
        let mut generator = Generator::new(&nothing, self.options.seed ^ seed_of(name));
        let mut found: BTreeMap<Key, Finding> = BTreeMap::new();
        for _ in 0..self.options.configurations {
            let arguments = arguments(&signature, &mut generator);
            let (called, observations) = call(&*self.caller()?, name, &signature, &arguments);
            if matches!(called, Called::Silent) {
                self.caller = None;
            }
            report.count_call(called);
            if report.silent >= SILENCES {
                break;
            }
            let text = call_text(name, &arguments);
            for observation in observations {
                let key = observation.key();
                let times = found.get(&key).map_or(0, |finding| finding.times) + 1;
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
        let found = self.lives(&what, &mut report)?;
        for (key, shown) in found {
            let shown = self.shrunk(&what, &key, shown);
            report.findings.push(finding(&what, shown));
        }
        report.findings.sort_by_key(|finding| finding.weight);
        Ok(report)
    }

    /// Leads many lives; what they show, each once.
    fn lives(&mut self, what: &Subject, report: &mut TypeReport) -> Result<BTreeMap<Key, Shown>, ProviderDiagnostics> {
        let (name, schema) = (&what.type_name, &what.schema);
        let mut found = BTreeMap::new();
        let mut generator = Generator::new(&schema.block, self.options.seed ^ seed_of(name));
        let is_given = |given: &&Given| given.kind == what.kind && given.type_name == *name;
        let given = self.options.given.iter().filter(is_given);
        let given: Vec<Value> = given.map(|one| one.config.clone()).collect();
        let count = if given.is_empty() { self.options.configurations } else { given.len() };
        let mut silences = 0;
        for turn in 0..count {
            let mut config = given.get(turn).cloned().unwrap_or_else(|| generator.valid(&schema.block));
            let mut repairs = if given.is_empty() { REPAIRS } else { 0 };
            let (end, observations, changed) = loop {
                let changed = generator.changed(&schema.block, &config);
                let caller = self.caller()?;
                let mut life = Life::new(&caller, what, self.options.extent);
                let end = life.lead(&config, changed.as_ref());
                let (End::Refused(problems) | End::Failed(problems)) = &end else {
                    break (end, life.observations, changed);
                };
                generator.learn(&schema.block, problems);
                let repaired = generator.repaired(&schema.block, &config, problems).filter(|_| repairs > 0);
                let Some(repaired) = repaired else { break (end, life.observations, changed) };
                repairs -= 1;
                keep(&mut found, life.observations, &config, changed.as_ref());
                config = repaired;
            };
            report.count(&end);
            if matches!(end, End::Silent) {
                self.caller = None;
                silences += 1;
            }
            keep(&mut found, observations, &config, changed.as_ref());
            if silences >= SILENCES {
                break;
            }
            if given.is_empty() && turn % VALID_FOR_ONE_FLAWED == 0 {
                self.flawed(what, &mut generator, &mut found, report)?;
            }
        }
        Ok(found)
    }

    /// A nearly valid configuration is refused, or treated as any other.
    fn flawed(
        &mut self,
        what: &Subject,
        generator: &mut Generator,
        found: &mut BTreeMap<Key, Shown>,
        report: &mut TypeReport,
    ) -> Result<(), ProviderDiagnostics> {
        let Some((config, flaw)) = generator.nearly_valid(&what.schema.block) else { return Ok(()) };
        let caller = self.caller()?;
        let mut life = Life::new(&caller, what, Extent::Plan);
        report.flawed += 1;
        let end = if flaw.is_refused_before() {
            life.validate(&config).err().unwrap_or(End::Lived)
        } else {
            life.lead(&config, None)
        };
        if matches!(end, End::Silent) {
            self.caller = None;
        }
        keep(found, life.observations, &config, None);
        Ok(())
    }

    /// The finding with the smallest configuration that shows it.
    fn shrunk(&mut self, what: &Subject, key: &Key, mut shown: Shown) -> Shown {
        let schema = &what.schema;
        let mut left = SHRINKING;
        if !needs_change(key.2) {
            shown.changed = None;
        }
        loop {
            let configs =
                smaller(&schema.block, &shown.config).into_iter().map(|config| (config, shown.changed.clone()));
            let changes = shown.changed.iter().flat_map(|changed| smaller(&schema.block, changed));
            let changes = changes.map(|changed| (shown.config.clone(), Some(changed)));
            let candidates: Vec<(Value, Option<Value>)> = configs.chain(changes).collect();
            let better = candidates.into_iter().find_map(|(config, changed)| {
                left = left.checked_sub(1)?;
                let observation = self.shows(what, key, &config, changed.as_ref())?;
                Some((config, changed, observation))
            });
            let Some((config, changed, observation)) = better else { return shown };
            shown = Shown { observation, config, changed, ..shown };
            if left == 0 {
                return shown;
            }
        }
    }

    fn shows(&mut self, what: &Subject, key: &Key, config: &Value, changed: Option<&Value>) -> Option<Observation> {
        let caller = self.caller().ok()?;
        let extent = if key.2 <= Step::Plan { Extent::Plan } else { self.options.extent };
        let mut life = Life::new(&caller, what, extent);
        let end = life.lead(config, changed);
        if matches!(end, End::Silent) {
            self.caller = None;
        }
        life.observations.into_iter().find(|observation| observation.key() == *key)
    }
}

/// Whether a finding in this step takes a second configuration.
fn needs_change(step: Step) -> bool {
    matches!(step, Step::PlanUpdate | Step::Update)
}

fn keep(found: &mut BTreeMap<Key, Shown>, observations: Vec<Observation>, config: &Value, changed: Option<&Value>) {
    for observation in observations {
        let key = observation.key();
        let shown = found.entry(key).or_insert_with(|| Shown {
            observation,
            config: config.clone(),
            changed: changed.cloned(),
            times: 0,
        });
        shown.times += 1;
    }
}

/// The name of a type as a number, so that each has configurations of its own.
fn seed_of(name: &str) -> u64 {
    name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

fn schema_finding(place: String, message: String) -> Finding {
    let observation = Observation { rule: Rule::Schema, weight: Weight::Error, step: Step::Schema, place, message };
    Finding::new(observation, String::new(), None, 1)
}

fn finding(what: &Subject, shown: Shown) -> Finding {
    let text = |config: &Value| block_text(what.kind, &what.type_name, &what.schema.block, config);
    let changed = shown.changed.as_ref().filter(|_| needs_change(shown.observation.step)).map(text);
    Finding::new(shown.observation, text(&shown.config), changed, shown.times)
}
