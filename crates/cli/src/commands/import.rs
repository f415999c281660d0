//! `import`: an object that exists already becomes part of the state.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use groma_address::{Mode as ResourceMode, ResourceInstance, Target};
use groma_config::{Configuration, DiskFiles, Module};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_engine::hooks::{Silent, Subject};
use groma_engine::{Hooks, Importing, Mode, PlanOptions, Refresh};

use super::backend::{locking, state_paths, unless_off};
use super::configuration::{has_configuration, load_blocks_in};
use super::context::{Context, Telling};
use super::operation::{open_state, run as new_run};
use super::outcome::{Outcome, fail};
use super::rescue::save;
use super::variables::{Missing, values};
use crate::arguments::ImportArguments;
use crate::settings::Questions;
use crate::terminal::{Palette, Tone};
use crate::views::json::{Message, Stream};
use crate::views::progress::{MessageProgress, Twofold};

pub(super) fn run(context: &mut Context, arguments: &ImportArguments) -> Outcome {
    context.view(&arguments.writing.view);
    context.speak(&arguments.json)?;
    if !unless_off(arguments.input) {
        context.settings.questions = Questions::Forbidden;
    }
    let (address, id) = what(&arguments.rest)?;
    // Only the configuration is elsewhere: the state, packages and files with values are where the command was given.
    let (configuration, mut warnings) = match &arguments.config {
        Some(directory) => {
            context.root_directory = std::path::absolute(directory).unwrap_or_else(|_| directory.clone());
            load(context, directory)?
        }
        None => load(context, Path::new("."))?,
    };
    must_be_configured(&configuration, &address)?;
    let paths = state_paths(context, &configuration.root, (&arguments.writing.files).into())?;
    let (inputs, problems) = values(context, &configuration.root, &arguments.writing.variables, Missing::Ask)?;
    warnings.append(problems);
    let (mut store, state) = open_state(context, paths, &locking(&arguments.writing.locking, "import"))?;
    if state.object(&address, None).is_some() {
        return Err(already_managed(context, &address));
    }
    let options = PlanOptions {
        // Nothing is planned, and nothing but the object is read.
        mode: Mode::RefreshOnly,
        refresh: Refresh::Trust,
        targets: vec![Target::Instance(address.clone())],
        import: Some((address, id.to_owned())),
        inputs,
        ..PlanOptions::default()
    };
    let hooks = hooks(context);
    let mut run = new_run(context, configuration, hooks, arguments.parallelism)?;
    let (plan, problems) = run.plan(state, &options);
    warnings.append(problems);
    if let Some(mut plan) = plan.filter(|_| !warnings.has_errors()) {
        save(context, &mut store, &mut plan.prior_state, &mut warnings);
        if !warnings.has_errors() {
            tell_success(context);
        }
    }
    context.show(&warnings);
    Ok(u8::from(warnings.has_errors()))
}

/// Parses the target address and the identifier.
fn what(rest: &[String]) -> Result<(ResourceInstance, &str), Diagnostics> {
    let [text, id] = rest else {
        return Err(fail(
            "Wrong number of arguments",
            "The import command takes two arguments: the address of a resource instance, and the id of the object.",
        ));
    };
    let address: ResourceInstance = text.parse().map_err(|problem: groma_address::ParseError| {
        Diagnostics::from(Diagnostic::error("Invalid address", format!("{text:?} is no address: {problem}")))
    })?;
    if address.resource.mode != ResourceMode::Managed {
        return Err(fail(
            "A managed resource address is required. Importing into a data resource is not allowed.",
            "Only managed resources can be imported into.",
        ));
    }
    Ok((address, id))
}

fn tell_success(context: &Context) {
    let text = format!(
        "Import successful!\n\nThe resources that were imported are shown above. These resources are now in\nyour {} state and \
         will henceforth be managed by {}.",
        context.wording.product, context.wording.product
    );
    let message = || Message::said(text.split_whitespace().collect::<Vec<_>>().join(" "));
    context.say_as(&format!("\n{}\n\n", context.palette().paint(Tone::Green, &text)), message);
}

fn load(context: &Context, directory: &Path) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let disk = DiskFiles::new(directory);
    if has_configuration(&disk) && directory.is_dir() {
        // The block is often a stub yet, and so may be others: names that are not needed for the import may be wrong.
        let (configuration, problems) = load_blocks_in(context, &disk)?;
        return Ok((configuration, problems.into_iter().filter(|problem| !problem.is_error()).collect()));
    }
    Err(fail(
        &format!("No {} configuration files", context.wording.product),
        format!(
            "There is no configuration file (.tf) in {}. An object is imported into a block of a configuration: name its directory \
             with -config.",
            directory.display()
        ),
    ))
}

fn already_managed(context: &Context, address: &ResourceInstance) -> Diagnostics {
    let product = &context.wording.product;
    let detail = format!(
        "{product} manages an object as {address} already. To import another one there, take the present one out of the state first: \
         {} state rm '{address}'.",
        context.wording.command
    );
    fail(&format!("Resource already managed by {product}"), detail)
}

/// There must be a block to import into: it says which provider is asked.
fn must_be_configured(configuration: &Configuration, address: &ResourceInstance) -> Result<(), Diagnostics> {
    let mut module: &Module = &configuration.root;
    for step in address.module.steps() {
        module = module.children.get(&step.name).ok_or_else(|| {
            fail(
                "Import to non-existent module",
                format!("{} is not in the configuration. Add a module block for it first.", address.module),
            )
        })?;
    }
    if module.resources.contains_key(&address.resource) {
        return Ok(());
    }
    let place = if address.module.is_root() { "the root module".to_owned() } else { address.module.to_string() };
    let resource = &address.resource;
    let detail = format!(
        "Write a block for it in {place} first, for example:\n\nresource \"{}\" \"{}\" {{\n  # (resource arguments)\n}}",
        resource.type_name, resource.name
    );
    Err(fail(&format!("resource address \"{address}\" does not exist in the configuration."), detail))
}

/// Returns the hooks that report the import.
fn hooks(context: &Context) -> Arc<dyn Hooks> {
    let messages = |stream: &Stream| Arc::new(MessageProgress::new(stream.clone(), Arc::default()));
    if let Some(stream) = context.messages() {
        return messages(stream);
    }
    let shown: Arc<dyn Hooks> = match context.progress {
        Telling::Told => Arc::new(Lines { out: Arc::clone(context.streams.text()), palette: context.palette() }),
        Telling::LeftOut => Arc::new(Silent),
    };
    match context.aside() {
        Some(stream) => Arc::new(Twofold([shown, messages(stream)])),
        None => shown,
    }
}

/// Reports an import, one line for each stage.
struct Lines {
    out: Arc<Mutex<dyn std::io::Write + Send>>,
    palette: Palette,
}

impl Lines {
    fn line(&self, tone: Tone, text: String) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // A reader that went away does not stop an import.
        let _ = writeln!(out, "{}", self.palette.paint(tone, text));
    }
}

impl Hooks for Lines {
    fn import_planned(&self, address: &ResourceInstance, importing: &Importing) {
        let id = importing.id().unwrap_or_default();
        self.line(Tone::Bold, format!("{address}: Importing from ID {id:?}..."));
    }

    fn import_prepared(&self, address: &ResourceInstance) {
        self.line(Tone::Bold, format!("{address}: Import prepared!"));
        self.line(Tone::Green, format!("  Prepared {} for import", address.resource.type_name));
    }

    fn refresh_start(&self, subject: &Subject) {
        let identifier = subject.identifier.as_ref().map(|(key, id)| format!(" [{key}={id}]")).unwrap_or_default();
        self.line(Tone::Bold, format!("{}: Refreshing state...{identifier}", subject.address));
    }
}
