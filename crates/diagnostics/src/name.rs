//! Names, of which there is one kind for all crates.

/// A name or another short text that many things share: one pointer wide, cheap to clone.
pub type Name = arcstr::ArcStr;

/// Whether a name may begin with the character: a letter of Unicode (its property `ID_Start`), or `_`.
pub fn begins_name(character: char) -> bool {
    character == '_' || unicode_ident::is_xid_start(character) || is_letter_in_no_normal_form(character)
}

/// Whether the character may follow the first one of a name (its property `ID_Continue`, or `-`).
pub fn continues_name(character: char) -> bool {
    character == '-' || unicode_ident::is_xid_continue(character) || is_letter_in_no_normal_form(character)
}

/// Letters that normal form KC writes as something that begins no name, so that `XID_Start` leaves them out. Terraform's names are not in
/// that form.
fn is_letter_in_no_normal_form(character: char) -> bool {
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
