//! Product and command names in texts.

use std::path::Path;

use crate::persona::Persona;

/// Names of the program in sentences and in suggested commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wording {
    /// Product name in sentences: `Groma will perform the following actions`.
    pub product: &'static str,
    /// Command line that runs the program in the same directory, for suggestions: `groma`, `groma -chdir=live`.
    pub command: String,
}

impl Wording {
    /// Returns the names that `persona` uses, for an executable with the file name `program` that was started with
    /// `-chdir=directory`.
    pub fn of(persona: Persona, program: &str, directory: Option<&Path>) -> Self {
        Self { product: persona.product(), command: command_line(persona.command(program), directory) }
    }

    /// Returns the names in JSON, which are Terraform's in every persona: programs that read JSON get the same bytes, however this
    /// one is named.
    pub fn of_json(directory: Option<&Path>) -> Self {
        Self::of(Persona::Terraform, "terraform", directory)
    }
}

fn command_line(program: &str, directory: Option<&Path>) -> String {
    let Some(directory) = directory else { return program.to_owned() };
    let directory = directory.to_string_lossy();
    // Only characters that no common shell interprets; everything else is quoted.
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ',' | '@' | '%');
    if directory.chars().all(is_plain) {
        return format!("{program} -chdir={directory}");
    }
    format!("{program} -chdir='{}'", directory.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(persona: Persona, program: &str, directory: Option<&str>) -> String {
        Wording::of(persona, program, directory.map(Path::new)).command
    }

    #[test]
    fn suggested_commands_include_chdir() {
        assert_eq!(command(Persona::Groma, "groma", None), "groma");
        assert_eq!(command(Persona::Groma, "groma", Some("a/b")), "groma -chdir=a/b");
        assert_eq!(command(Persona::Groma, "groma", Some("a b's")), "groma -chdir='a b'\\''s'");
    }

    #[test]
    fn only_the_groma_persona_suggests_the_file_name() {
        assert_eq!(command(Persona::Groma, "tf", None), "tf");
        assert_eq!(command(Persona::Terraform, "groma", None), "terraform");
        assert_eq!(command(Persona::OpenTofu, "groma", Some("a")), "tofu -chdir=a");
        assert_eq!(Wording::of_json(Some(Path::new("a"))).command, "terraform -chdir=a");
    }
}
