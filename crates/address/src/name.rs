//! Names and the characters that they may contain.

/// A name or another short string that many objects share: one pointer wide and cheap to clone.
pub type Name = arcstr::ArcStr;

/// Whether an identifier may begin with the character: a letter (Unicode property `ID_Start`) or `_`.
pub fn begins_name(character: char) -> bool {
    character == '_' || unicode_ident::is_xid_start(character) || is_id_start_but_not_xid(character)
}

/// Whether an identifier may contain the character after the first (Unicode property `ID_Continue`, or `-`).
pub fn continues_name(character: char) -> bool {
    character == '-' || unicode_ident::is_xid_continue(character) || is_id_start_but_not_xid(character)
}

/// Whether the letter has `ID_Start` but not `XID_Start`, which excludes letters that normal form KC changes.
/// Terraform does not normalize identifiers to that form, so it accepts them.
fn is_id_start_but_not_xid(character: char) -> bool {
    matches!(
        character,
        '\u{37a}' | '\u{e33}' | '\u{eb3}' | '\u{309b}' | '\u{309c}' | '\u{fc5e}'
            ..='\u{fc63}'
                | '\u{fdfa}'
                | '\u{fdfb}'
                | '\u{fe70}'
                | '\u{fe72}'
                | '\u{fe74}'
                | '\u{fe76}'
                | '\u{fe78}'
                | '\u{fe7a}'
                | '\u{fe7c}'
                | '\u{fe7e}'
                | '\u{ff9e}'
                | '\u{ff9f}'
    )
}
