//! `import`: adds an existing object to the state.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use groma_address::{Mode as ResourceMode, ResourceInstance, Target};
use groma_config::{Configuration, DiskFiles, Module};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_engine::hooks::{Silent, Subject};
use groma_engine::{Hooks, Importing, Mode, PlanOptions, Refresh};

use super::backend::{locking, state_location, unless_off};
use super::configuration::{Purpose, has_configuration, load_from, load_options};
use super::context::{Context, ProgressDisplay};
use super::operation::{open_state, run as new_run};
use super::outcome::{Outcome, fail};
use super::rescue::save;
use super::variables::{Missing, values};
use crate::arguments::ImportArguments;
use crate::settings::Questions;
use crate::terminal::{Palette, Tone};
use crate::views::json::{Message, Stream};
use crate::views::progress::{MessageProgress, Tee};

pub(super) fn run(context: &mut Context, arguments: &ImportArguments) -> Outcome {
    context.configure_view(&arguments.writing.view);
    context.configure_json(&arguments.json)?;
    if !unless_off(arguments.input) {
        context.settings.questions = Questions::Forbidden;
    }
    // The arguments are checked before the configuration is loaded, which may take seconds.
    let (address, id) = what(&arguments.rest)?;
    // -config only redirects the configuration: state, packages and variable files belong to the working directory.
    let (configuration, mut warnings) = match &arguments.config {
        Some(directory) => {
            // Absolute, so that `path.root` does not depend on the working directory.
            context.root_directory = std::path::absolute(directory).unwrap_or_else(|_| directory.clone());
            load(context, directory)?
        }
        None => load(context, Path::new("."))?,
    };
    // Without its block the object could not be assigned to a provider.
    must_be_configured(&configuration, &address)?;
    let location = state_location(context, &configuration.root, (&arguments.writing.files).into())?;
    let (inputs, problems) = values(context, &configuration.root, &arguments.writing.variables, Missing::Ask)?;
    warnings.append(problems);
    // Locked from here on: the state must not change between this check and the write.
    let (mut store, state) = open_state(context, location, &locking(&arguments.writing.locking, "import"))?;
    // Checked before any provider starts.
    if state.object(&address, None).is_some() {
        return Err(already_managed(context, &address));
    }
    let options = PlanOptions {
        // No changes are planned, and only the imported object is read.
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
    // A failed import leaves the state unchanged.
    if let Some(mut plan) = plan.filter(|_| !warnings.has_errors()) {
        save(context, &mut store, &mut plan.prior_state, &mut warnings);
        if !warnings.has_errors() {
            report_success(context);
        }
    }
    context.show(&warnings);
    Ok(u8::from(warnings.has_errors()))
}

/// Parses the arguments: the address to import to, and the import ID.
fn what(rest: &[String]) -> Result<(ResourceInstance, &str), Diagnostics> {
    let [text, id] = rest else {
        return Err(fail(
            "Wrong number of arguments",
            "The import command expects two arguments: the address of a resource instance, and the ID of the object.",
        ));
    };
    let address: ResourceInstance = text.parse().map_err(|problem: groma_address::ParseError| {
        Diagnostics::from(Diagnostic::error(
            "Invalid address",
            format!("{text:?} is not a valid resource address: {problem}"),
        ))
    })?;
    // Data sources are read in every plan, so there is nothing to import.
    if address.resource.mode != ResourceMode::Managed {
        return Err(fail(
            "A managed resource address is required. Importing into a data resource is not allowed.",
            "Use the address of a managed resource, such as aws_instance.web.",
        ));
    }
    Ok((address, id))
}

fn report_success(context: &Context) {
    let text = |product: &str| {
        format!(
            "Import successful!\n\nThe resources that were imported are shown above. These resources are now in\nyour {product} state \
             and will henceforth be managed by {product}."
        )
    };
    // A message is one line, however the text is wrapped.
    let message = || Message::untyped(text(context.wording.product).split_whitespace().collect::<Vec<_>>().join(" "));
    let shown = context.palette().paint(Tone::Green, text(context.text_wording.product));
    context.report_as(&format!("\n{shown}\n\n"), message);
}

fn load(context: &Context, directory: &Path) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let disk = DiskFiles::new(directory);
    if has_configuration(&disk) && directory.is_dir() {
        // During an import the configuration is often unfinished, so invalid references elsewhere are tolerated.
        let (configuration, problems) = load_from(context, Purpose::Import, load_options(context), &disk)?;
        // The tolerated errors would only distract from the result of the import.
        return Ok((configuration, problems.into_iter().filter(|problem| !problem.is_error()).collect()));
    }
    Err(fail(
        &format!("No {} configuration files", context.wording.product),
        format!(
            "The directory {} contains no configuration files (.tf), but an import needs the resource block. Set the directory of the \
             configuration with -config.",
            directory.display()
        ),
    ))
}

fn already_managed(context: &Context, address: &ResourceInstance) -> Diagnostics {
    let product = context.wording.product;
    let detail = format!(
        "{product} is already managing an object as {address}. To import another object to this address, first remove the existing one \
         from the state: {} state rm '{address}'.",
        context.wording.command
    );
    fail(&format!("Resource already managed by {product}"), detail)
}

/// Checks that a resource block exists for `address`, because it determines the provider.
fn must_be_configured(configuration: &Configuration, address: &ResourceInstance) -> Result<(), Diagnostics> {
    let mut module: &Module = &configuration.root;
    // Keys of module instances do not matter: all instances have the same block.
    for step in address.module.steps() {
        module = module.children.get(&step.name).ok_or_else(|| {
            fail(
                "Import to non-existent module",
                format!("{} does not exist in the configuration. Add a module block for it first.", address.module),
            )
        })?;
    }
    if module.resources.contains_key(&address.resource) {
        return Ok(());
    }
    let module = if address.module.is_root() { "the root module".to_owned() } else { address.module.to_string() };
    let resource = &address.resource;
    let detail = format!(
        "Add a block for it to {module} first, for example:\n\nresource \"{}\" \"{}\" {{\n  # (resource arguments)\n}}",
        resource.type_name, resource.name
    );
    Err(fail(&format!("resource address \"{address}\" does not exist in the configuration."), detail))
}

/// Returns the hooks that report the import.
fn hooks(context: &Context) -> Arc<dyn Hooks> {
    // Each receiver gets its own counter, which an import does not use.
    let messages = |stream: &Stream| Arc::new(MessageProgress::new(stream.clone(), Arc::default()));
    if let Some(stream) = context.messages() {
        return messages(stream);
    }
    let shown: Arc<dyn Hooks> = match context.progress {
        ProgressDisplay::Shown => {
            Arc::new(Lines { out: Arc::clone(context.streams.text()), palette: context.palette() })
        }
        ProgressDisplay::Hidden => Arc::new(Silent),
    };
    match context.json_mirror() {
        Some(stream) => Arc::new(Tee([shown, messages(stream)])),
        None => shown,
    }
}

/// Reports each stage of the import on a line.
struct Lines {
    out: Arc<Mutex<dyn std::io::Write + Send>>,
    palette: Palette,
}

impl Lines {
    fn line(&self, tone: Tone, text: String) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // A closed pipe must not stop an import.
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
