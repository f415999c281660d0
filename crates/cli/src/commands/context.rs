//! What every command works with.

use std::path::PathBuf;
use std::sync::Arc;

use groma_config::variables::VariableOption;
use groma_diagnostics::{Diagnostics, Severity, Sources};
use groma_install::settings::CliConfiguration;

use super::cli_configuration::cli_configuration;
use super::outcome::Outcome;
use crate::arguments::{Flag, View};
use crate::clock;
use crate::log::{Level, Log};
use crate::settings::Settings;
use crate::terminal::{Colors, Device, Interrupts, Palette, Prompter, Streams};
use crate::views::diagnostic::{Consolidated, DiagnosticText, consolidated, in_order};
use crate::views::json::Stream;
use crate::views::plan::PlanText;
use crate::views::wording::Wording;

/// Settings, streams and names.
pub(super) struct Context {
    pub settings: Settings,
    /// What the files of the CLI configuration say.
    pub cli: CliConfiguration,
    pub streams: Streams,
    pub sources: Arc<Sources>,
    pub wording: Wording,
    pub log: Log,
    /// Where the program was started; `-chdir` leads away from it.
    pub original_directory: PathBuf,
    /// Where the configuration is: the working directory, but for `import -config`.
    pub root_directory: PathBuf,
    /// Values of variables on the command line.
    pub given: Vec<VariableOption>,
    /// Those that the user was asked for before the state was opened.
    pub answers: Vec<VariableOption>,
    colors: Colors,
    warnings: Warnings,
    messages: Option<Stream>,
    interrupts: Option<Interrupts>,
}

/// How warnings are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Warnings {
    Full,
    Compact,
}

impl Context {
    pub fn new(program: &str, settings: Settings, original_directory: PathBuf) -> Self {
        let wording = Wording { command: program.to_owned(), ..Wording::default() };
        Self {
            colors: settings.colors,
            log: Log::open(settings.log.as_ref()),
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
            messages: None,
            interrupts: None,
        }
    }

    /// Reads the files of the CLI configuration. What is wrong with them ends no command, and is no part of its output: it is told on
    /// standard error at once.
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
        }
        if view.compact_warnings.is_some_and(Flag::is_on) {
            self.warnings = Warnings::Compact;
        }
    }

    /// From here on everything is told as JSON messages.
    pub fn speak_json(&mut self) -> Stream {
        let stream = Stream::new(Arc::clone(self.streams.stdout()), clock::now_in_microseconds);
        self.messages = Some(stream.clone());
        stream
    }

    /// The message stream, if that is how things are told.
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
        }
    }

    /// Begins to listen to interrupts.
    pub fn interrupts(&mut self) -> Interrupts {
        let listen = || Interrupts::listen(self.streams.clone(), self.wording.product.clone());
        self.interrupts.get_or_insert_with(listen).clone()
    }

    pub fn prompter(&mut self) -> Prompter {
        let interrupts = self.interrupts();
        Prompter::new(self.streams.clone(), self.palette(), interrupts)
    }

    /// Shows problems: errors on standard error, warnings on standard output; or all as messages.
    pub fn show(&self, diagnostics: &Diagnostics) {
        for diagnostic in diagnostics {
            self.log.write(Level::Error, || diagnostic.summary.clone());
        }
        let ordered = in_order(diagnostics, &self.sources);
        if let Some(stream) = &self.messages {
            ordered.iter().for_each(|diagnostic| stream.diagnostic(diagnostic, &self.sources));
            return;
        }
        let told = consolidated(&ordered);
        let is_compact = self.warnings == Warnings::Compact && !diagnostics.has_errors();
        if is_compact && !diagnostics.is_empty() {
            let mut text = String::new();
            self.text(self.streams.output).write_compact(&told, &self.sources, &mut text);
            self.streams.print(&text);
            return;
        }
        for diagnostic in told.iter().map(Consolidated::whole) {
            let mut text = String::new();
            match diagnostic.severity {
                Severity::Error => {
                    self.text(self.streams.error).write(&diagnostic, &self.sources, &mut text);
                    self.streams.print_error(&text);
                }
                Severity::Warning => {
                    self.text(self.streams.output).write(&diagnostic, &self.sources, &mut text);
                    self.streams.print(&text);
                }
            }
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
        code
    }
}
