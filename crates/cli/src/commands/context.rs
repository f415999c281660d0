//! The context that every command runs in.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use groma_backend::ReleaseReport;
use groma_config::Configuration;
use groma_config::variables::VariableOption;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, capitalized, io_reason};
use groma_install::settings::CliConfiguration;
use groma_plugin::client::PluginHost;
use groma_provider::TERRAFORM_VERSION;

use super::backend::unreleased as unreleased_lock;
use super::cli_configuration::cli_configuration;
use super::deprecation_filter::SuppressedDeprecations;
use super::outcome::{Outcome, no_thread};
use super::results::{json_file, json_twice};
use crate::arguments::{Deprecations, Flag, JsonMessages, Secrets, View};
use crate::clock;
use crate::log::{Level, Log};
use crate::persona::Persona;
use crate::settings::Settings;
use crate::terminal::{Colors, Device, Interrupts, Palette, Prompter, Streams};
use crate::views::diagnostic::{Alike, Consolidated, Consolidation, DiagnosticText, consolidated, in_order};
use crate::views::json::{Message, Stream};
use crate::views::plan::{PlanPatches, PlanText};
use crate::views::redaction::Redaction;
use crate::views::wording::Wording;

/// State shared by the steps of one command: settings, CLI configuration, source texts, and the presentation of its output.
///
/// A command creates nothing of this itself. It applies its presentation flags first ([`Context::configure_view`], [`Context::configure_json`],
/// [`Context::configure_secrets`]), and from then on reports through the context, which routes each message to text, to the JSON stream or
/// to both:
///
/// - [`Context::report`] and its variants print results and progress,
/// - [`Context::show`] prints diagnostics, consolidated and filtered as the flags demand,
/// - [`Context::finish`] shows the diagnostics that ended the command and returns the exit code.
///
/// The context guarantees that text for people is safe for a terminal, that JSON output contains nothing but JSON, and that a
/// failure to write standard output turns into exit code 1. It neither loads configurations nor opens states.
pub(super) struct Context {
    pub settings: Settings,
    pub cli: CliConfiguration,
    pub streams: Streams,
    pub sources: Arc<Sources>,
    pub persona: Persona,
    /// Names in output that is text only.
    pub text_wording: Wording,
    /// Names in messages, which may also be part of JSON output: those of JSON once JSON is requested.
    pub wording: Wording,
    json_wording: Wording,
    pub log: Log,
    /// Working directory at program start, before `-chdir`.
    pub original_directory: PathBuf,
    /// Directory of the configuration: the working directory, except with `import -config`.
    pub root_directory: PathBuf,
    /// Values of input variables from the command line.
    pub given: Vec<VariableOption>,
    /// Values of input variables from prompts that preceded opening the state.
    pub answers: Vec<VariableOption>,
    colors: Colors,
    warnings: Warnings,
    consolidation: Consolidation,
    pub progress: ProgressDisplay,
    pub redaction: Redaction,
    /// The `-deprecation` flag.
    deprecations: Deprecations,
    /// Deprecation warnings that the flag suppresses in the loaded configuration.
    suppressed: SuppressedDeprecations,
    /// JSON messages that replace text on standard output: `-json`.
    messages: Option<Stream>,
    /// JSON messages written to a file in addition to the normal output: `-json-into`.
    json_mirror: Option<Stream>,
    interrupts: Option<Interrupts>,
    /// Errors of releasing locks, which happens when a state is dropped.
    unreleased: Arc<Mutex<Diagnostics>>,
    /// The host of the command's provider plugins.
    pub plugin_host: Arc<PluginHost>,
    retained: Retained,
}

/// Names that the program was started under.
pub(super) struct Identity<'a> {
    pub persona: Persona,
    /// File name of the executable.
    pub program: &'a str,
    /// Directory of `-chdir`.
    pub directory: Option<&'a Path>,
}

/// Layout of warnings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Warnings {
    Full,
    Compact,
}

/// Whether progress messages are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgressDisplay {
    Shown,
    Hidden,
}

impl Context {
    pub fn new(identity: &Identity<'_>, settings: Settings, log: Log, original_directory: PathBuf) -> Self {
        // Both wordings exist from the start, because a later -json flag switches to the other one.
        let wording = Wording::of(identity.persona, identity.program, identity.directory);
        Self {
            colors: settings.colors,
            log,
            settings,
            cli: CliConfiguration::default(),
            streams: Streams::of_process(),
            sources: Arc::default(),
            persona: identity.persona,
            text_wording: wording.clone(),
            wording,
            json_wording: Wording::of_json(identity.directory),
            original_directory,
            root_directory: PathBuf::from("."),
            given: Vec::new(),
            answers: Vec::new(),
            warnings: Warnings::Full,
            consolidation: Consolidation::default(),
            progress: ProgressDisplay::Shown,
            redaction: Redaction::Redact,
            deprecations: Deprecations::default(),
            suppressed: SuppressedDeprecations::default(),
            messages: None,
            json_mirror: None,
            plugin_host: PluginHost::new(),
            retained: Retained::default(),
            interrupts: None,
            unreleased: Arc::default(),
        }
    }

    /// Returns the errors about locks that the end of the command shows.
    pub fn unreleased(&self) -> Arc<Mutex<Diagnostics>> {
        Arc::clone(&self.unreleased)
    }

    /// Returns the receiver of errors about locks that cannot be released. The end of the command shows them.
    pub fn release_report(&self) -> ReleaseReport {
        // The closure outlives this borrow, so it owns what it needs.
        let (unreleased, command) = (Arc::clone(&self.unreleased), self.wording.command.clone());
        Arc::new(move |problem, held| {
            unreleased.lock().unwrap_or_else(PoisonError::into_inner).push(unreleased_lock(problem, held, &command));
        })
    }

    /// Reads the CLI configuration files. Problems with them are reported on standard error immediately, and do not stop the command.
    pub fn read_cli_configuration(&mut self) {
        // Read before any flag is known, so that the JSON stream of a command never contains these problems, as in
        // Terraform.
        let (cli, problems) = cli_configuration(&self.settings, &self.original_directory);
        self.cli = cli;
        if problems.is_empty() {
            return;
        }
        let mut text = "There are some problems with the CLI configuration:\n".to_owned();
        let writer = self.text(self.streams.error);
        problems.iter().for_each(|problem| writer.write(problem, &self.sources, &mut text));
        if problems.has_errors() {
            let product = self.wording.product;
            text.push_str(&format!("\nAs a result of the above problems, {product} may not behave as intended.\n\n"));
        }
        self.streams.print_error(&text);
    }

    /// Applies the presentation flags.
    pub fn configure_view(&mut self, view: &View) {
        if view.no_color.is_some_and(Flag::is_on) {
            self.colors = Colors::Forbidden;
            // The streams also stop passing escape sequences, so that provider text cannot color the output.
            self.streams.forbid_colors();
        }
        if view.compact_warnings.is_some_and(Flag::is_on) {
            self.warnings = Warnings::Compact;
        }
        if view.consolidate_warnings.is_some_and(|flag| !flag.is_on()) {
            self.consolidation.warnings = Alike::Apart;
        }
        if view.consolidate_errors.is_some_and(Flag::is_on) {
            self.consolidation.errors = Alike::Together;
        }
        if view.concise.is_some_and(Flag::is_on) {
            self.progress = ProgressDisplay::Hidden;
        }
        self.deprecations = view.deprecation;
    }

    /// Applies `-show-sensitive`.
    pub fn configure_secrets(&mut self, secrets: &Secrets) {
        if secrets.show_sensitive.is_some_and(Flag::is_on) {
            self.redaction = Redaction::Reveal;
        }
    }

    /// Applies the `-deprecation` flag to the modules of `configuration`.
    pub fn filter_deprecations(&mut self, configuration: &Configuration) {
        self.suppressed = SuppressedDeprecations::of(self.deprecations, &configuration.root);
    }

    /// Returns the diagnostics that the `-deprecation` flag does not suppress.
    pub fn unsuppressed(&self, diagnostics: Diagnostics) -> Diagnostics {
        diagnostics.into_iter().filter(|diagnostic| !self.suppressed.contains(diagnostic, &self.sources)).collect()
    }

    /// Applies `-json` and `-json-into`.
    ///
    /// # Errors
    /// Both flags are set, or the file cannot be written.
    pub fn configure_json(&mut self, flags: &JsonMessages) -> Result<(), Diagnostics> {
        let is_json = flags.json.is_some_and(Flag::is_on);
        if is_json {
            self.switch_to_json().version(TERRAFORM_VERSION);
        }
        let Some(path) = &flags.json_into else { return Ok(()) };
        // Standard output can only be one of both, and a copy of it in a file would be redundant.
        if is_json {
            return Err(json_twice());
        }
        self.mirror_json(path)
    }

    /// Copies all further messages to a file as JSON.
    pub fn mirror_json(&mut self, path: &Path) -> Result<(), Diagnostics> {
        let stream = Stream::new(Arc::new(Mutex::new(json_file(path)?)), clock::now_in_microseconds);
        // The first message is the version, so that readers know the format.
        stream.version(TERRAFORM_VERSION);
        self.word_for_json();
        self.json_mirror = Some(stream);
        Ok(())
    }

    /// Replaces all further text output with JSON messages; returns their stream.
    pub fn switch_to_json(&mut self) -> Stream {
        // JSON goes to the writer for documents, which changes no bytes unless the output is a terminal.
        let stream = Stream::new(Arc::clone(self.streams.documents()), clock::now_in_microseconds);
        self.messages = Some(stream.clone());
        self.word_for_json();
        // What is still printed as text is next to JSON, so it is the same in every persona too.
        self.text_wording = self.json_wording.clone();
        stream
    }

    /// Makes all further messages use the names of JSON, because they become part of JSON output.
    pub fn word_for_json(&mut self) {
        self.wording = self.json_wording.clone();
    }

    /// Returns all JSON streams: standard output and the file of `-json-into`.
    pub fn json_streams(&self) -> impl Iterator<Item = &Stream> {
        self.messages.iter().chain(&self.json_mirror)
    }

    /// Returns the JSON stream of `-json-into`.
    pub fn json_mirror(&self) -> Option<&Stream> {
        self.json_mirror.as_ref()
    }

    /// Prints text, or a JSON message with the text on one line.
    pub fn report(&self, text: &str) {
        self.report_worded(|_| text.to_owned());
    }

    /// Prints a text as [`Context::report`] does; `text` returns it with the given names.
    pub fn report_worded(&self, text: impl Fn(&Wording) -> String) {
        self.report_as(&text(&self.text_wording), || {
            let text = text(&self.wording);
            // List items start with "- " in text; a JSON message needs neither the bullet nor the line breaks.
            let words: Vec<&str> = text.split_whitespace().skip_while(|word| *word == "-").collect();
            Message::untyped(words.join(" "))
        });
    }

    /// Prints text as [`Context::report`] does, unless it is empty.
    pub fn report_nonempty(&self, text: &str) {
        if !text.is_empty() {
            self.report(text);
        }
    }

    /// Prints text, or `message` as JSON.
    pub fn report_as(&self, text: &str, message: impl FnOnce() -> Message) {
        // -json and -json-into exclude each other, so at most one stream exists.
        if let Some(listener) = self.messages.as_ref().or(self.json_mirror.as_ref()) {
            listener.send(message());
        }
        if self.messages.is_none() {
            self.streams.print(text);
        }
    }

    /// Prints the value of an expression as a document, because scripts read it.
    pub fn print_result(&self, text: &str) {
        if let Some(listener) = self.messages.as_ref().or(self.json_mirror.as_ref()) {
            listener.send(Message::untyped(text));
        }
        if self.messages.is_none() {
            self.streams.print_document(&format!("{text}\n"));
        }
    }

    /// Returns the JSON stream that replaces text on standard output, if any.
    pub fn messages(&self) -> Option<&Stream> {
        self.messages.as_ref()
    }

    pub fn palette(&self) -> Palette {
        self.streams.output.palette(self.colors)
    }

    pub fn plan_text(&self) -> PlanText {
        PlanText {
            palette: self.palette(),
            columns: self.streams.output.columns(),
            wording: self.text_wording.clone(),
            reader: self.settings.reader,
            redaction: self.redaction,
            patches: PlanPatches::default(),
        }
    }

    /// Starts listening for interrupts, once.
    ///
    /// # Errors
    /// The operating system refuses to start another thread.
    pub fn interrupts(&mut self) -> Result<Interrupts, Diagnostics> {
        // Signal handlers must be installed only once per process.
        if let Some(interrupts) = &self.interrupts {
            return Ok(interrupts.clone());
        }
        let interrupts =
            Interrupts::listen(self.streams.clone(), self.text_wording.product, Arc::clone(&self.plugin_host));
        // Without the listening thread an interrupt would kill a run in the middle of a change.
        let interrupts = interrupts.map_err(|error| no_thread(&error))?;
        self.interrupts = Some(interrupts.clone());
        Ok(interrupts)
    }

    /// Returns a prompter whose prompts end at an interrupt.
    ///
    /// # Errors
    /// Fails like [`Context::interrupts`].
    pub fn prompter(&mut self) -> Result<Prompter, Diagnostics> {
        let interrupts = self.interrupts()?;
        Ok(Prompter::new(self.streams.clone(), self.palette(), interrupts))
    }

    /// Shows diagnostics: errors on standard error and warnings on standard output, or all of them as JSON messages.
    pub fn show(&self, diagnostics: &Diagnostics) {
        self.show_on(Channel::Output, diagnostics);
    }

    /// Shows diagnostics on standard error, for commands whose standard output is a document.
    pub fn show_on_stderr(&self, diagnostics: &Diagnostics) {
        self.show_on(Channel::Error, diagnostics);
    }

    fn show_on(&self, warnings: Channel, diagnostics: &Diagnostics) {
        for diagnostic in diagnostics {
            // Only the summary is logged: details may contain values.
            self.log.write(Level::Error, || diagnostic.summary.clone());
        }
        let mut ordered = in_order(diagnostics, &self.sources);
        // JSON streams receive every diagnostic separately; consolidation is for text only.
        ordered.retain(|diagnostic| !self.suppressed.contains(diagnostic, &self.sources));
        for stream in self.json_streams() {
            ordered.iter().for_each(|diagnostic| stream.diagnostic(diagnostic, &self.sources));
        }
        if self.messages.is_some() {
            return;
        }
        // Similar warnings of many instances would hide the errors.
        let shown = consolidated(&ordered, self.consolidation);
        // With errors, warnings are shown in full because they may explain the errors.
        let is_compact = self.warnings == Warnings::Compact && !diagnostics.has_errors();
        if is_compact && !ordered.is_empty() {
            let mut text = String::new();
            self.text(self.device(warnings)).write_compact(&shown, &self.sources, &mut text);
            self.print_on(warnings, &text);
            return;
        }
        for diagnostic in shown.iter().map(Consolidated::whole) {
            let channel = if diagnostic.is_error() { Channel::Error } else { warnings };
            let mut text = String::new();
            self.text(self.device(channel)).write(&diagnostic, &self.sources, &mut text);
            self.print_on(channel, &text);
        }
    }

    fn device(&self, channel: Channel) -> Device {
        match channel {
            Channel::Output => self.streams.output,
            Channel::Error => self.streams.error,
        }
    }

    fn print_on(&self, channel: Channel, text: &str) {
        match channel {
            Channel::Output => self.streams.print(text),
            Channel::Error => self.streams.print_error(text),
        }
    }

    fn text(&self, device: Device) -> DiagnosticText {
        DiagnosticText { palette: device.palette(self.colors), columns: device.columns() }
    }

    /// Keeps a large value, which nobody needs any more, until the process has ended.
    pub fn retain(&mut self, value: impl Any + Send) {
        // The mutex is not locked: exclusive access shows that no other thread uses it.
        self.retained.0.get_mut().unwrap_or_else(PoisonError::into_inner).push(Box::new(value));
    }

    /// Shows the diagnostics that ended the command, and ends it.
    pub fn finish(mut self, outcome: Outcome) -> Finished {
        let code = self.exit_code(outcome);
        Finished { code, _retained: std::mem::take(&mut self.retained) }
    }

    /// Shows the diagnostics that ended the command, and returns the exit code.
    pub fn exit_code(&self, outcome: Outcome) -> u8 {
        let mut code = outcome.unwrap_or_else(|diagnostics| {
            self.show(&diagnostics);
            1
        });
        // Locks are released when states are dropped, so their errors only arrive now.
        let unreleased = std::mem::take(&mut *self.unreleased.lock().unwrap_or_else(PoisonError::into_inner));
        if unreleased.has_errors() {
            self.show(&unreleased);
            code = 1;
        }
        // Erases live progress lines before the last messages.
        self.streams.print("");
        // Written last, because all output may fail, including that of the error above.
        let Some(error) = self.streams.finish() else { return code };
        let detail = format!(
            "{}. The output is incomplete, but the command itself was carried out.",
            capitalized(&io_reason(&error))
        );
        let mut text = String::new();
        let problem = Diagnostic::error("Failed to write to standard output", detail);
        self.text(self.streams.error).write(&problem, &self.sources, &mut text);
        self.streams.print_error(&text);
        1
    }
}

/// Large values that nobody needs any more. The process exits without dropping them: freeing a state of a million instances
/// piece by piece would only delay the exit. The mutex is never contended: it makes the context shareable between threads although
/// the values need not be.
#[derive(Default)]
struct Retained(Mutex<Vec<Box<dyn Any + Send>>>);

/// The end of a command: its exit code, and the values to keep until the process has ended.
pub struct Finished {
    code: u8,
    _retained: Retained,
}

impl Finished {
    /// Ends the process, without dropping what the command has retained.
    pub fn exit(self) -> ! {
        // `exit` skips destructors, which would free the retained values.
        std::process::exit(self.code.into())
    }
}

impl From<u8> for Finished {
    fn from(code: u8) -> Self {
        Self { code, _retained: Retained::default() }
    }
}

/// Destination of warnings.
#[derive(Clone, Copy)]
enum Channel {
    Output,
    Error,
}
