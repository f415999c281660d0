//! The context that all commands share.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use groma_config::Configuration;
use groma_config::variables::VariableOption;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, capitalized, io_reason};
use groma_install::settings::CliConfiguration;

use super::cli_configuration::cli_configuration;
use super::deprecated_use::Untold;
use super::json_into::{json_file, json_twice};
use super::outcome::{Outcome, no_thread};
use crate::arguments::{Deprecations, Flag, JsonMessages, Secrets, View};
use crate::clock;
use crate::log::{Level, Log};
use crate::settings::{Settings, TERRAFORM_VERSION};
use crate::terminal::{Colors, Device, Interrupts, Palette, Prompter, Streams};
use crate::views::diagnostic::{Alike, Consolidated, Consolidation, DiagnosticText, consolidated, in_order};
use crate::views::json::{Message, Stream};
use crate::views::plan::PlanText;
use crate::views::secrecy::Secrecy;
use crate::views::wording::Wording;

/// Settings, streams and names.
pub(super) struct Context {
    pub settings: Settings,
    /// The CLI configuration files.
    pub cli: CliConfiguration,
    pub streams: Streams,
    pub sources: Arc<Sources>,
    pub wording: Wording,
    pub log: Log,
    /// The directory in which the program was started, before `-chdir`.
    pub original_directory: PathBuf,
    /// The directory of the root module: the working directory, except for `import -config`.
    pub root_directory: PathBuf,
    /// Values of variables on the command line.
    pub given: Vec<VariableOption>,
    /// Answers to prompts for variables, given before the state was opened.
    pub answers: Vec<VariableOption>,
    colors: Colors,
    warnings: Warnings,
    consolidation: Consolidation,
    /// Whether progress is reported.
    pub progress: Telling,
    /// The treatment of sensitive values in output.
    pub secrecy: Secrecy,
    /// The deprecation warnings to show.
    deprecations: Deprecations,
    /// The deprecation warnings to suppress.
    untold: Untold,
    messages: Option<Stream>,
    /// The message stream to a file, in addition to the shown output.
    aside: Option<Stream>,
    interrupts: Option<Interrupts>,
}

/// The style in which warnings are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Warnings {
    Full,
    Compact,
}

/// Whether progress is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    Told,
    LeftOut,
}

impl Context {
    pub fn new(program: &str, settings: Settings, log: Log, original_directory: PathBuf) -> Self {
        let wording = Wording { command: program.to_owned(), ..Wording::default() };
        Self {
            colors: settings.colors,
            log,
            settings,
            cli: CliConfiguration::default(),
            streams: Streams::of_process(),
            sources: Arc::default(),
            wording,
            original_directory,
            root_directory: PathBuf::from("."),
            given: Vec::new(),
            answers: Vec::new(),
            warnings: Warnings::Full,
            consolidation: Consolidation::default(),
            progress: Telling::Told,
            secrecy: Secrecy::Hidden,
            deprecations: Deprecations::default(),
            untold: Untold::default(),
            messages: None,
            aside: None,
            interrupts: None,
        }
    }

    /// Reads the CLI configuration files. Errors in them end no command and are not part of its output: they are reported on standard
    /// error at once.
    pub fn read_cli_configuration(&mut self) {
        let (cli, problems) = cli_configuration(&self.settings, &self.original_directory);
        self.cli = cli;
        if problems.is_empty() {
            return;
        }
        let mut text = "There are some problems with the CLI configuration:\n".to_owned();
        let writer = self.text(self.streams.error);
        problems.iter().for_each(|problem| writer.write(problem, &self.sources, &mut text));
        if problems.has_errors() {
            let product = &self.wording.product;
            text.push_str(&format!("\nAs a result of the above problems, {product} may not behave as intended.\n\n"));
        }
        self.streams.print_error(&text);
    }

    /// Takes the flags of texts into account.
    pub fn view(&mut self, view: &View) {
        if view.no_color.is_some_and(Flag::is_on) {
            self.colors = Colors::Forbidden;
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
            self.progress = Telling::LeftOut;
        }
        self.deprecations = view.deprecation;
    }

    /// Takes the flag about secrets into account.
    pub fn reveal(&mut self, secrets: &Secrets) {
        if secrets.show_sensitive.is_some_and(Flag::is_on) {
            self.secrecy = Secrecy::Revealed;
        }
    }

    /// Selects the deprecation warnings of `configuration` to show from here on.
    pub fn tell_deprecations(&mut self, configuration: &Configuration) {
        self.untold = Untold::of(self.deprecations, &configuration.root);
    }

    /// Removes suppressed deprecation warnings.
    pub fn wanted(&self, diagnostics: Diagnostics) -> Diagnostics {
        diagnostics.into_iter().filter(|diagnostic| !self.untold.contains(diagnostic, &self.sources)).collect()
    }

    /// Switches output to messages as the flags ask for: instead of text, or in addition to it.
    ///
    /// # Errors
    /// Both were asked for, or the file cannot be written.
    pub fn speak(&mut self, flags: &JsonMessages) -> Result<(), Diagnostics> {
        let is_json = flags.json.is_some_and(Flag::is_on);
        if is_json {
            self.speak_json().version(TERRAFORM_VERSION);
        }
        let Some(path) = &flags.json_into else { return Ok(()) };
        if is_json {
            return Err(json_twice());
        }
        self.speak_into(path)
    }

    /// Writes messages to that file in addition to the shown output.
    pub fn speak_into(&mut self, path: &Path) -> Result<(), Diagnostics> {
        let stream = Stream::new(Arc::new(Mutex::new(json_file(path)?)), clock::now_in_microseconds);
        stream.version(TERRAFORM_VERSION);
        self.aside = Some(stream);
        Ok(())
    }

    /// Switches all output to JSON messages.
    pub fn speak_json(&mut self) -> Stream {
        let stream = Stream::new(Arc::clone(self.streams.documents()), clock::now_in_microseconds);
        self.messages = Some(stream.clone());
        stream
    }

    /// Iterates over the message streams, that of the output and that of a file.
    pub fn listeners(&self) -> impl Iterator<Item = &Stream> {
        self.messages.iter().chain(&self.aside)
    }

    /// Returns the message stream to a file, if there is one.
    pub fn aside(&self) -> Option<&Stream> {
        self.aside.as_ref()
    }

    /// Prints a text for people, or sends it as one message to programs.
    pub fn say(&self, text: &str) {
        self.say_as(text, || {
            let words: Vec<&str> = text.split_whitespace().skip_while(|word| *word == "-").collect();
            Message::said(words.join(" "))
        });
    }

    /// Prints a text, unless it is empty.
    pub fn say_if_any(&self, text: &str) {
        if !text.is_empty() {
            self.say(text);
        }
    }

    /// Prints a text for people, or sends `message` to programs.
    pub fn say_as(&self, text: &str, message: impl FnOnce() -> Message) {
        if let Some(listener) = self.messages.as_ref().or(self.aside.as_ref()) {
            listener.send(message());
        }
        if self.messages.is_none() {
            self.streams.print(text);
        }
    }

    /// Gives the value of an expression: scripts read it.
    pub fn answer(&self, text: &str) {
        if let Some(listener) = self.messages.as_ref().or(self.aside.as_ref()) {
            listener.send(Message::said(text));
        }
        if self.messages.is_none() {
            self.streams.print_document(&format!("{text}\n"));
        }
    }

    /// Returns the message stream that replaces text output, if there is one.
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
            wording: self.wording.clone(),
            reader: self.settings.reader,
            secrecy: self.secrecy,
        }
    }

    /// Begins to listen to interrupts.
    ///
    /// # Errors
    /// The operating system does not allow another thread.
    pub fn interrupts(&mut self) -> Result<Interrupts, Diagnostics> {
        if let Some(interrupts) = &self.interrupts {
            return Ok(interrupts.clone());
        }
        let interrupts = Interrupts::listen(self.streams.clone(), self.wording.product.clone());
        let interrupts = interrupts.map_err(|error| no_thread(&error))?;
        self.interrupts = Some(interrupts.clone());
        Ok(interrupts)
    }

    /// Asks questions; an interrupt breaks them off.
    ///
    /// # Errors
    /// As [`Context::interrupts`].
    pub fn prompter(&mut self) -> Result<Prompter, Diagnostics> {
        let interrupts = self.interrupts()?;
        Ok(Prompter::new(self.streams.clone(), self.palette(), interrupts))
    }

    /// Shows problems: errors on standard error, warnings on standard output; or all as messages.
    pub fn show(&self, diagnostics: &Diagnostics) {
        self.show_on(Channel::Output, diagnostics);
    }

    /// Shows diagnostics on standard error, for commands whose standard output is a document.
    pub fn show_aside(&self, diagnostics: &Diagnostics) {
        self.show_on(Channel::Error, diagnostics);
    }

    fn show_on(&self, warnings: Channel, diagnostics: &Diagnostics) {
        for diagnostic in diagnostics {
            self.log.write(Level::Error, || diagnostic.summary.clone());
        }
        let mut ordered = in_order(diagnostics, &self.sources);
        ordered.retain(|diagnostic| !self.untold.contains(diagnostic, &self.sources));
        for stream in self.listeners() {
            ordered.iter().for_each(|diagnostic| stream.diagnostic(diagnostic, &self.sources));
        }
        if self.messages.is_some() {
            return;
        }
        let told = consolidated(&ordered, self.consolidation);
        let is_compact = self.warnings == Warnings::Compact && !diagnostics.has_errors();
        if is_compact && !ordered.is_empty() {
            let mut text = String::new();
            self.text(self.device(warnings)).write_compact(&told, &self.sources, &mut text);
            self.print_on(warnings, &text);
            return;
        }
        for diagnostic in told.iter().map(Consolidated::whole) {
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

    /// Shows what ended a command; returns the exit code.
    pub fn finish(&self, outcome: Outcome) -> u8 {
        let code = outcome.unwrap_or_else(|diagnostics| {
            self.show(&diagnostics);
            1
        });
        self.streams.print("");
        let Some(error) = self.streams.finish() else { return code };
        let detail = format!(
            "{}. The output is incomplete. What the command did otherwise is not affected.",
            capitalized(&io_reason(&error))
        );
        let mut text = String::new();
        let problem = Diagnostic::error("Failed to write to standard output", detail);
        self.text(self.streams.error).write(&problem, &self.sources, &mut text);
        self.streams.print_error(&text);
        1
    }
}

/// The output of a text.
#[derive(Clone, Copy)]
enum Channel {
    Output,
    Error,
}
