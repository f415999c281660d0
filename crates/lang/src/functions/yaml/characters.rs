//! Characters that YAML documents may contain literally, and the escapes of others.

/// The line breaks of YAML 1.1.
pub(super) const ENDS_OF_LINES: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// The line breaks that a scalar may contain without an escape.
pub(super) const BREAKS: [char; 3] = ['\n', '\u{2028}', '\u{2029}'];

/// Whether a document may have the character as it is, without an escape.
pub(super) fn may_be_read(character: char) -> bool {
    is_printable(character) || matches!(character, '\t' | '\r' | '\u{85}' | '\u{feff}' | '\u{10000}'..)
}

/// Whether a scalar may be written with the character as it is.
pub(super) fn is_printable(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// The escape that the character needs in double quotes; none if it needs none.
pub(super) fn escape(character: char) -> Option<String> {
    let short = match character {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        printable if is_printable(printable) => return None,
        other => return Some(numbered(other)),
    };
    Some(format!("\\{short}"))
}

/// The escape of a character by its number.
pub(super) fn numbered(character: char) -> String {
    let code = u32::from(character);
    match code {
        0..=0xFF => format!("\\x{code:02X}"),
        0x100..=0xFFFF => format!("\\u{code:04X}"),
        _ => format!("\\U{code:08X}"),
    }
}
