//! `cloudcontrol adopt`: import blocks and configuration for existing objects of AWS.
//!
//! The blocks come from a plan of generated import blocks, next to the configuration of the working directory.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

use groma_address::{
    InstanceKey, Mode as ResourceMode, ModuleInstance, ProviderConfig, Resource, ResourceInstance, Target,
};
use groma_cloudcontrol::names::{resource_type, snake_case};
use groma_config::{Configuration, LoadOptions, with_blocks};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_engine::hooks::Silent;
use groma_engine::{Action, MissingResources, Plan, PlanOptions, Searched};
use groma_hcl::write_literal;
use groma_state::State;
use serde_json::{Map, Value as Json};

use super::backend::{StateOverrides, state_location};
use super::cloudcontrol::{catalogue_of, known};
use super::configuration::{Purpose, load_options, load_with_options};
use super::context::Context;
use super::operation::{peek_state, quiet_run};
use super::outcome::{Outcome, fail};
use super::variables::{Missing, values};
use crate::arguments::CloudControlAdopt;
use crate::settings::Questions;

/// The local name of the provider in a directory that names no other.
const PROVIDER: &str = "awscc";

/// The argument and the attribute of identities that name a region.
const REGION: &str = "region";

/// The name of the list block that searches for all objects of the type.
const SEARCH: &str = "adopt";

const PARALLELISM: i64 = 10;

/// Enough for the objects of a type in an account, because `list` blocks end at 100 by default.
const LIMIT: u32 = 1_000_000;

/// The longest name of a generated resource.
const LONGEST_NAME: usize = 60;

pub(super) fn run(context: &mut Context, arguments: &CloudControlAdopt) -> Outcome {
    // Standard output is a document, so that it can be redirected to a file.
    context.settings.questions = Questions::Forbidden;
    let catalogue = catalogue_of(context)?;
    let type_name = known(&catalogue, &arguments.type_name)?;
    let Some(resource_type) = resource_type(&type_name) else {
        return Err(fail(
            "Unknown resource type",
            format!("{type_name:?} has no resource type. \"cloudcontrol types\" lists all types."),
        ));
    };
    let source = Source { resource_type: &resource_type, provider: arguments.provider.as_deref().unwrap_or(PROVIDER) };
    let project = WorkingDirectory::load(context, arguments)?;
    let objects = match arguments.identifiers.as_slice() {
        [] => project.search(context, arguments, source)?,
        given => given.iter().map(|identifier| Found { identifier: identifier.clone(), region: None }).collect(),
    };
    let taken = project.names_in_use(&resource_type);
    let managed = project.managed_objects(source);
    let mut problems = Diagnostics::new();
    let mut new = Vec::new();
    for object in objects {
        match managed.iter().find(|managed| managed.is(&object)) {
            Some(managed) => problems.push(Diagnostic::warning(
                "Object already managed",
                format!(
                    "{type_name} {:?} is already in the state as {}, so no blocks are printed for it.",
                    object.identifier, managed.address
                ),
            )),
            None => new.push(object.identifier),
        }
    }
    let named = named(new, taken);
    if named.is_empty() {
        problems.push(Diagnostic::warning(
            "No objects to adopt",
            format!("There are no objects of {type_name} that the state does not manage yet."),
        ));
        context.show_on_stderr(&problems);
        return Ok(0);
    }
    let (plan, found) = project.plan(context, &named, source)?;
    problems.append(found);
    if let Some(plan) = &plan {
        problems.append(changes_warning(plan, &resource_type));
        context.streams.print(&document(context.persona.product(), plan, &named, source));
    }
    context.show_on_stderr(&problems);
    Ok(u8::from(problems.has_errors()))
}

/// An existing object.
struct Found {
    identifier: String,
    /// The region of the object, if the search returned it.
    region: Option<String>,
}

/// An object in the state, of the provider configuration that is searched.
struct Managed {
    address: ResourceInstance,
    identifier: String,
    /// The region that the object sets instead of that of the provider configuration.
    region: Option<String>,
}

impl Managed {
    /// Whether this is `found`. Identifiers are unique in an account and region only.
    fn is(&self, found: &Found) -> bool {
        self.identifier == found.identifier && (self.region.is_none() || self.region == found.region)
    }
}

/// The resource type to adopt and the provider block that finds its objects.
#[derive(Clone, Copy)]
struct Source<'a> {
    resource_type: &'a str,
    /// The value of the argument `provider`, such as `awscc.europe`.
    provider: &'a str,
}

impl Source<'_> {
    fn provider_argument(self) -> String {
        // The default configuration needs no argument.
        if self.provider == PROVIDER { String::new() } else { format!("  provider = {}\n", self.provider) }
    }

    fn import(self, name: &str, identifier: &str) -> String {
        let mut literal = String::new();
        write_literal(identifier, &mut literal);
        let text = format!(
            "import {{\n  to = {}.{name}\n{}  id = {literal}\n}}\n",
            self.resource_type,
            self.provider_argument()
        );
        groma_hcl::format(&text)
    }

    fn address(self, name: &str) -> ResourceInstance {
        let resource =
            Resource { mode: ResourceMode::Managed, type_name: self.resource_type.into(), name: name.into() };
        ResourceInstance { module: ModuleInstance::root(), resource, key: InstanceKey::None }
    }

    /// Returns the provider configuration that the argument `provider` means in the root module.
    fn configuration(self, configuration: &Configuration) -> ProviderConfig {
        let (name, alias) =
            self.provider.split_once('.').map_or((self.provider, None), |(name, alias)| (name, Some(alias)));
        let provider = configuration.root.provider_address(name);
        ProviderConfig { alias: alias.map(Into::into), ..ProviderConfig::default_in_root(provider) }
    }

    /// Returns a list block that finds all objects.
    fn list(self, inputs: &Map<String, Json>) -> String {
        let mut config = String::new();
        for (property, value) in inputs {
            let mut literal = String::new();
            write_literal(&value.to_string(), &mut literal);
            let _ = writeln!(config, "    {} = jsondecode({literal})", snake_case(property));
        }
        let Self { resource_type, provider } = self;
        format!(
            "list \"{resource_type}\" \"{SEARCH}\" {{\n  provider = {provider}\n  limit = {LIMIT}\n  config {{\n{config}  }}\n}}\n"
        )
    }
}

/// Parses the inputs of the list handler.
fn inputs(model: Option<&str>) -> Result<Map<String, Json>, Diagnostics> {
    let Some(model) = model else { return Ok(Map::new()) };
    match serde_json::from_str(model) {
        Ok(Json::Object(inputs)) => Ok(inputs),
        Ok(_) => Err(invalid_model("it is not an object")),
        Err(problem) => Err(invalid_model(&problem.to_string())),
    }
}

fn invalid_model(reason: &str) -> Diagnostics {
    let detail = format!(
        "-model is not a JSON object of properties: {reason}. Write it like -model='{{\"RestApiId\": \"abc\"}}'."
    );
    fail("Invalid model", detail)
}

/// The configuration and state of the working directory.
struct WorkingDirectory {
    configuration: Configuration,
    loading: LoadOptions,
    options: PlanOptions,
    state: State,
    problems: Diagnostics,
}

impl WorkingDirectory {
    fn load(context: &mut Context, arguments: &CloudControlAdopt) -> Result<Self, Diagnostics> {
        let loading = load_options(context);
        let (configuration, mut problems) = load_with_options(context, Purpose::Query, loading.clone())?;
        let (inputs, warnings) = values(context, &configuration.root, &arguments.variables, Missing::Ask)?;
        problems.append(warnings);
        let options = PlanOptions { inputs, missing: MissingResources::Generated, ..PlanOptions::default() };
        let state = state(context, &configuration)?;
        Ok(Self { configuration, loading, options, state, problems })
    }

    /// Returns the configuration with generated blocks.
    fn with(&self, context: &Context, text: String) -> Result<Configuration, Diagnostics> {
        with_blocks(&self.configuration, &self.loading, &context.sources, "generated blocks", text)
    }

    /// Returns all objects of the type, ordered by identifier.
    fn search(
        &self,
        context: &mut Context,
        arguments: &CloudControlAdopt,
        source: Source<'_>,
    ) -> Result<Vec<Found>, Diagnostics> {
        let list = source.list(&inputs(arguments.model.as_deref())?);
        let configuration = self.with(context, list)?;
        // Runs own their state, which is never copied; provider blocks may refer to it.
        let state = state(context, &configuration)?;
        let mut run = quiet_run(context, configuration, Arc::new(Silent), PARALLELISM)?;
        let (searched, problems) = run.query(state, self.options.clone());
        run.stop_providers();
        if problems.has_errors() {
            return Err(problems);
        }
        Ok(found(searched))
    }

    /// Plans the imports of the named objects.
    fn plan(
        mut self,
        context: &mut Context,
        named: &[(String, String)],
        source: Source<'_>,
    ) -> Result<(Option<Plan>, Diagnostics), Diagnostics> {
        let imports: Vec<String> = named.iter().map(|(name, identifier)| source.import(name, identifier)).collect();
        let configuration = self.with(context, imports.concat())?;
        // The rest of the configuration may have changes of its own, which are not the subject here.
        self.options.targets = named.iter().map(|(name, _)| Target::Instance(source.address(name))).collect();
        let mut run = quiet_run(context, configuration, Arc::new(Silent), PARALLELISM)?;
        let (plan, problems) = run.plan(self.state, &self.options);
        run.stop_providers();
        // The next plan repeats its warnings, and the one about targets is about this command's own.
        self.problems.append(problems.into_iter().filter(Diagnostic::is_error).collect::<Diagnostics>());
        Ok((plan, self.problems))
    }

    /// Returns the names of resources of the type that the configuration and the state use.
    fn names_in_use(&self, resource_type: &str) -> BTreeSet<String> {
        let declared = self.configuration.root.resources.keys();
        let recorded = self.state.resources().map(|(address, _)| &address.resource);
        let resources = declared.chain(recorded).filter(|resource| &*resource.type_name == resource_type);
        resources.map(|resource| resource.name.to_string()).collect()
    }

    /// Returns the objects of the type in the state that belong to the provider configuration of `source`. Other provider
    /// configurations have other accounts or regions, whose objects can have the same identifiers.
    fn managed_objects(&self, source: Source<'_>) -> Vec<Managed> {
        let provider = source.configuration(&self.configuration);
        let of_type = self.state.iter().filter(|view| &*view.resource.resource.type_name == source.resource_type);
        let managed = of_type.filter_map(|view| {
            let object = view.record.object(None).filter(|object| *view.manager(object) == provider)?;
            let attributes: Json = serde_json::from_str(object.attributes.as_str()).unwrap_or_default();
            let text = |name: &str| attributes[name].as_str().map(str::to_owned);
            Some(Managed { address: view.address(), identifier: text("id")?, region: text(REGION) })
        });
        managed.collect()
    }
}

/// Reads the state without its lock, because nothing is changed.
fn state(context: &mut Context, configuration: &Configuration) -> Result<State, Diagnostics> {
    let location = state_location(context, &configuration.root, StateOverrides::default())?;
    peek_state(context, location).map(Option::unwrap_or_default)
}

/// Returns the objects that the search found.
fn found(searched: Vec<Searched>) -> Vec<Found> {
    let searched = searched.into_iter().filter(|one| &*one.address.resource.name == SEARCH);
    let mut objects: Vec<Found> = searched
        .flat_map(|one| one.found)
        .map(|object| Found {
            region: object.identity.attribute(REGION).and_then(|region| region.as_str().map(str::to_owned)),
            identifier: object.display_name,
        })
        .collect();
    objects.sort_by(|left, right| left.identifier.cmp(&right.identifier));
    objects.dedup_by(|left, right| left.identifier == right.identifier);
    objects
}

/// Returns each identifier with the name of its resource.
fn named(identifiers: Vec<String>, mut taken: BTreeSet<String>) -> Vec<(String, String)> {
    let mut named = Vec::with_capacity(identifiers.len());
    for identifier in identifiers {
        let base = resource_name(&identifier);
        let mut name = base.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        named.push((name, identifier));
    }
    named
}

/// Derives the name of a resource from an identifier: the last part of an ARN or path, in characters that names may have.
fn resource_name(identifier: &str) -> String {
    let is_arn = identifier.starts_with("arn:");
    let last =
        identifier.trim_end_matches('/').rsplit(['/', ':']).next().filter(|_| is_arn || identifier.contains('/'));
    let part = last.unwrap_or(identifier);
    let mut name = String::new();
    for character in part.chars().take(LONGEST_NAME) {
        let character = if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '_' };
        if character != '_' || !name.ends_with('_') {
            name.push(character);
        }
    }
    let name = name.trim_matches('_');
    match name.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => name.to_owned(),
        Some(_) => format!("object_{name}"),
        None => "object".to_owned(),
    }
}

/// Returns the text to print: an import block and a resource block for each object.
fn document(product: &str, plan: &Plan, named: &[(String, String)], source: Source<'_>) -> String {
    let generated: HashMap<String, &str> = plan
        .changes
        .iter()
        .filter_map(|change| Some((change.address.to_string(), change.importing.as_ref()?.generated.as_deref()?)))
        .collect();
    let mut text = format!("# Generated by {product}. Review the blocks before you apply them.\n");
    for (name, identifier) in named {
        if let Some(block) = generated.get(&format!("{}.{name}", source.resource_type)) {
            let _ = write!(text, "\n{}\n{block}\n", source.import(name, identifier));
        }
    }
    text
}

/// Warns about objects that an apply of the printed blocks would change.
fn changes_warning(plan: &Plan, resource_type: &str) -> Diagnostics {
    let changed = plan.changes.iter().filter(|change| {
        &*change.address.resource.type_name == resource_type
            && change.importing.is_some()
            && change.action != Action::NoOp
    });
    let list: Vec<String> = changed.map(|change| format!("  - {}", change.address)).collect();
    if list.is_empty() {
        return Diagnostics::new();
    }
    let detail = format!(
        "Applying the printed blocks would also change these objects:\n{}\n\nCompare their blocks with the objects before you apply \
         them.",
        list.join("\n")
    );
    Diagnostic::warning("Objects differ from the printed configuration", detail).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_names_are_the_last_parts_of_identifiers() {
        assert_eq!(resource_name("Assets-Prod"), "assets_prod");
        assert_eq!(resource_name("arn:aws:sns:eu-central-1:000000000000:alerts"), "alerts");
        assert_eq!(resource_name("https://sqs.eu-central-1.amazonaws.com/000000000000/jobs"), "jobs");
        assert_eq!(resource_name("/aws/lambda/"), "lambda");
        assert_eq!(resource_name("10.0.0.0/16"), "object_16");
        assert_eq!(resource_name("abc|def"), "abc_def");
        assert_eq!(resource_name("***"), "object");
    }

    #[test]
    fn names_are_unique() {
        let identifiers = vec!["a".to_owned(), "A".to_owned(), "b".to_owned()];
        let names: Vec<String> =
            named(identifiers, BTreeSet::from(["b".to_owned()])).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "a_2", "b_2"]);
    }

    #[test]
    fn import_blocks_escape_identifiers() {
        let source = Source { resource_type: "awscc_s3_bucket", provider: "awscc.europe" };
        assert_eq!(
            source.import("x", "a${b}"),
            "import {\n  to       = awscc_s3_bucket.x\n  provider = awscc.europe\n  id       = \"a$${b}\"\n}\n"
        );
    }
}
