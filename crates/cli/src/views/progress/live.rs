//! Progress on a terminal: a live line for each operation in flight, below the lines of completed ones.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use groma_address::ResourceInstance;
use groma_diagnostics::Diagnostics;
use groma_engine::hooks::{EphemeralPhase, Operation, Subject};
use groma_engine::plan::Invocation;
use groma_engine::{Hooks, Importing};
use groma_value::Value;

use super::tee::Counter;
use super::texts;
use super::ticker::Progress;
use crate::terminal::{Overlay, Palette, Tone, printable, printable_line};

/// Maximum number of live lines; further operations are only counted.
const MOST_LINES: usize = 12;

/// Draws live lines and, above them, a line for each completed operation.
pub struct LiveProgress {
    palette: Palette,
    columns: usize,
    out: Arc<Mutex<dyn Write + Send>>,
    counter: Arc<Counter>,
    scene: Mutex<Scene>,
}

#[derive(Default)]
struct Scene {
    running: Vec<Running>,
    /// Lines to print above the live ones at the next redraw.
    finished: String,
    /// Number of live lines on the screen.
    drawn: usize,
    frame: usize,
}

struct Running {
    name: String,
    verb: &'static str,
    since: Instant,
}

impl LiveProgress {
    /// Creates progress that draws on `out`, a terminal of `columns`, and counts in `counter`.
    pub fn new(palette: Palette, columns: usize, out: Arc<Mutex<dyn Write + Send>>, counter: Arc<Counter>) -> Self {
        Self { palette, columns, out, counter, scene: Mutex::default() }
    }

    fn draw(&self, scene: &Scene, text: &mut String) -> usize {
        const FRAMES: [&str; 8] = ["⠋", "⠙", "⠸", "⠴", "⠦", "⠇", "⠏", "⠹"];
        let frame = FRAMES[scene.frame % FRAMES.len()];
        for running in scene.running.iter().take(MOST_LINES) {
            let clock = texts::clock(running.since.elapsed());
            let line = format!("{}: {} [{clock} elapsed]", running.name, running.verb);
            // A line that wraps would make the number of lines to erase wrong.
            let line: String = printable_line(&line).chars().take(self.columns.saturating_sub(3)).collect();
            let _ = writeln!(text, "{} {line}", self.palette.paint(Tone::Cyan, frame));
        }
        let more = scene.running.len().saturating_sub(MOST_LINES);
        if more > 0 {
            let _ = writeln!(text, "{}", self.palette.paint(Tone::Gray, format!("  and {more} more")));
        }
        scene.running.len().min(MOST_LINES) + usize::from(more > 0)
    }

    fn put(&self, text: &str) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
    }

    fn finished(&self, line: &str) {
        let mut scene = self.scene.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(scene.finished, "{}", self.palette.paint(Tone::Bold, printable(line)));
    }

    /// Returns the time since the operation on `name` started.
    fn elapsed(&self, name: &str) -> Duration {
        let scene = self.scene.lock().unwrap_or_else(PoisonError::into_inner);
        scene
            .running
            .iter()
            .find(|running| running.name == name)
            .map_or(Duration::ZERO, |running| running.since.elapsed())
    }

    fn ended(&self, name: &str) {
        let mut scene = self.scene.lock().unwrap_or_else(PoisonError::into_inner);
        scene.running.retain(|running| running.name != name);
    }
}

/// Returns the escape sequence that erases `lines` lines above the cursor.
fn erase(lines: usize) -> String {
    if lines == 0 { String::new() } else { format!("\x1b[{lines}A\x1b[0J") }
}

impl Hooks for LiveProgress {
    fn import_planned(&self, address: &ResourceInstance, importing: &Importing) {
        self.finished(&format!("{address}: Preparing import...{}", texts::import_id(importing)));
    }

    fn imported(&self, address: &ResourceInstance, importing: &Importing) {
        self.counter.count_import();
        let id = texts::import_id(importing);
        self.finished(&format!("{address}: Importing...{id}"));
        self.finished(&format!("{address}: Import complete{id}"));
    }

    fn refresh_start(&self, subject: &Subject) {
        self.finished(&format!("{}: Refreshing state...{}", texts::name(subject), texts::identifier(subject)));
    }

    fn read_start(&self, address: &ResourceInstance) {
        self.apply_start(&texts::unnamed(address), Operation::Read);
    }

    fn read_complete(&self, address: &ResourceInstance, value: &Value) {
        let elapsed = self.elapsed(&address.to_string());
        self.apply_complete(&texts::unnamed(address), Operation::Read, value, elapsed);
    }

    fn provision_start(&self, address: &ResourceInstance, provisioner: &str) {
        self.finished(&format!("{address}: Provisioning with '{provisioner}'..."));
    }

    fn provision_output(&self, address: &ResourceInstance, provisioner: &str, line: &str) {
        self.finished(&format!("{address} ({provisioner}): {line}"));
    }

    fn ephemeral_start(&self, address: &ResourceInstance, phase: EphemeralPhase) {
        let [verb, ..] = texts::ephemeral(phase);
        let running = Running { name: address.to_string(), verb, since: Instant::now() };
        self.scene.lock().unwrap_or_else(PoisonError::into_inner).running.push(running);
    }

    fn ephemeral_complete(&self, address: &ResourceInstance, phase: EphemeralPhase, elapsed: Duration) {
        let [_, done, _] = texts::ephemeral(phase);
        self.ended(&address.to_string());
        self.finished(&format!("{address}: {done} after {}", texts::rounded(elapsed)));
    }

    fn ephemeral_errored(&self, address: &ResourceInstance, phase: EphemeralPhase, elapsed: Duration) {
        let [_, _, failed] = texts::ephemeral(phase);
        self.ended(&address.to_string());
        self.finished(&format!("{address}: {failed} after {}", texts::rounded(elapsed)));
    }

    fn action_start(&self, invocation: &Invocation) {
        let name = format!("{} ({})", invocation.action, texts::cause(invocation));
        let running = Running { name, verb: "Invoking...", since: Instant::now() };
        self.scene.lock().unwrap_or_else(PoisonError::into_inner).running.push(running);
    }

    fn action_progress(&self, invocation: &Invocation, message: &str) {
        self.finished(&format!("Action {} ({}): {message}", invocation.action, texts::cause(invocation)));
    }

    fn action_complete(&self, invocation: &Invocation) {
        self.counter.count_invocation();
        let name = format!("{} ({})", invocation.action, texts::cause(invocation));
        self.ended(&name);
        self.finished(&format!("Action complete: {name}"));
    }

    fn action_errored(&self, invocation: &Invocation, problems: &Diagnostics) {
        let name = format!("{} ({})", invocation.action, texts::cause(invocation));
        self.ended(&name);
        self.finished(&format!("Action failed: {name} - {}", texts::first_problem(problems)));
    }

    fn apply_start(&self, subject: &Subject, operation: Operation) {
        let running = Running { name: texts::name(subject), verb: texts::beginning(operation), since: Instant::now() };
        self.scene.lock().unwrap_or_else(PoisonError::into_inner).running.push(running);
    }

    fn apply_complete(&self, subject: &Subject, operation: Operation, value: &Value, elapsed: Duration) {
        self.counter.count(operation);
        let name = texts::name(subject);
        self.ended(&name);
        let identifier =
            texts::identifier_of(value).map(|(key, value)| format!(" [{key}={value}]")).unwrap_or_default();
        let address = &subject.address;
        self.finished(&format!("{address}: {} after {}{identifier}", texts::done(operation), texts::rounded(elapsed)));
    }

    fn apply_errored(&self, subject: &Subject, operation: Operation, _problems: &Diagnostics, elapsed: Duration) {
        let name = texts::name(subject);
        self.ended(&name);
        self.finished(&format!("{name}: {} after {}", texts::failed(operation), texts::rounded(elapsed)));
    }
}

impl Overlay for LiveProgress {
    fn lift(&self) {
        let mut scene = self.scene.lock().unwrap_or_else(PoisonError::into_inner);
        // Erasing and redrawing in one write avoids flicker.
        let mut text = erase(scene.drawn);
        text.push_str(&std::mem::take(&mut scene.finished));
        scene.drawn = 0;
        self.put(&text);
    }
}

impl Progress for LiveProgress {
    fn tick(&self) {
        let mut scene = self.scene.lock().unwrap_or_else(PoisonError::into_inner);
        scene.frame += 1;
        // Nothing to draw or erase: an idle terminal must not flicker.
        if scene.running.is_empty() && scene.finished.is_empty() && scene.drawn == 0 {
            return;
        }
        let mut text = erase(scene.drawn);
        text.push_str(&std::mem::take(&mut scene.finished));
        scene.drawn = self.draw(&scene, &mut text);
        self.put(&text);
    }

    fn settle(&self) {
        self.lift();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(address: &str) -> Subject {
        Subject { address: address.parse().unwrap(), deposed: None, identifier: None }
    }

    #[test]
    fn completed_lines_stay_and_live_lines_are_redrawn() {
        let out: Arc<Mutex<Vec<u8>>> = Arc::default();
        let shared = Arc::clone(&out) as Arc<Mutex<dyn Write + Send>>;
        let live = LiveProgress::new(Palette::Plain, 60, shared, Arc::default());
        let taken = || String::from_utf8(std::mem::take(&mut *out.lock().unwrap())).unwrap();
        live.apply_start(&subject("a.one"), Operation::Create);
        live.apply_start(&subject("a.two"), Operation::Delete);
        live.tick();
        let drawn = taken();
        assert!(drawn.contains("a.one: Creating... [00m00s elapsed]\n"), "{drawn}");
        assert!(drawn.contains("a.two: Destroying... [00m00s elapsed]\n"), "{drawn}");
        live.apply_complete(
            &subject("a.one"),
            Operation::Create,
            &Value::object([("id", Value::string("i"))]),
            Duration::ZERO,
        );
        live.tick();
        let drawn = taken();
        assert!(drawn.starts_with("\x1b[2A\x1b[0Ja.one: Creation complete after 0s [id=i]\n"), "{drawn:?}");
        assert!(drawn.contains("a.two"), "{drawn:?}");
        live.apply_complete(&subject("a.two"), Operation::Delete, &Value::NULL, Duration::from_secs(2));
        live.settle();
        assert_eq!(taken(), "\x1b[1A\x1b[0Ja.two: Destruction complete after 2s\n");
        assert_eq!(live.counter.counts(), groma_engine::plan::Counts { add: 1, destroy: 1, ..Default::default() });
    }
}
