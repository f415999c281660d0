//! Text on its way to a terminal.

use std::borrow::Cow;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use groma_cli::terminal::{Palette, SafeWriter, printable, printable_line, word_wrap};

/// Nothing that a terminal acts on passes, safe text stays as it is, and it does not matter in how many writes a text comes.
pub fn terminal_text(bytes: &[u8]) {
    let whole = written(&[bytes]);
    assert!(is_safe(&whole), "{whole:?}");
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let parts = written(&[first, second]);
    assert!(is_safe(&parts), "{parts:?}");
    // A carriage return stays only before a line end of the same write.
    if !bytes.contains(&b'\r') {
        assert_eq!(parts, whole);
    }
    let text = String::from_utf8_lossy(bytes);
    let safe = printable(&text);
    assert!(is_safe(&safe) && matches!(printable(&safe), Cow::Borrowed(_)), "{safe:?}");
    let line = printable_line(&text);
    assert!(!line.contains(char::is_control) && printable_line(&line) == line, "{line:?}");
    assert!(is_safe(&word_wrap(&safe, 20)), "{safe:?}");
}

fn written(writes: &[&[u8]]) -> String {
    let screen = Screen::default();
    let mut writer = SafeWriter::new(screen.clone(), Palette::Plain);
    for bytes in writes {
        assert!(writer.write_all(bytes).is_ok());
    }
    let bytes = screen.0.lock().unwrap_or_else(PoisonError::into_inner);
    // What is written is text, whatever the bytes were.
    assert!(std::str::from_utf8(&bytes).is_ok());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Whether a terminal prints all of the text and acts on none of it but line ends and tabs.
fn is_safe(text: &str) -> bool {
    !text.replace("\r\n", "\n").contains(|character: char| {
        let turns = matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        );
        turns || (character.is_control() && !matches!(character, '\n' | '\t'))
    })
}
