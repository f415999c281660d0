//! The persona: the product that the program calls itself in text.

use thiserror::Error;

use crate::environment::Environment;

/// Name of the environment variable that selects the persona.
const VARIABLE: &str = "GROMA_PERSONA";

/// The product whose name text for people uses.
///
/// A wrapper that matches the text of Terraform or OpenTofu starts the program under that name, or sets `GROMA_PERSONA`. The
/// persona changes names in text only: exit codes, files and JSON are the same in every persona.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persona {
    Groma,
    Terraform,
    OpenTofu,
}

/// `GROMA_PERSONA` names no persona.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("GROMA_PERSONA is set to {value:?}, which is not a persona. Set it to groma, terraform or tofu, or unset it.")]
pub struct UnknownPersona {
    value: String,
}

impl Persona {
    /// Returns the persona that `GROMA_PERSONA` selects, else the one that the file name `program` of the executable selects, else
    /// [`Persona::Groma`].
    ///
    /// # Errors
    /// The variable names no persona.
    pub fn of(program: &str, environment: &Environment) -> Result<Self, UnknownPersona> {
        match environment.text(VARIABLE) {
            // A misspelled persona is an error: a wrapper would otherwise miss the text that it matches.
            Some(value) => Self::named(value).ok_or_else(|| UnknownPersona { value: value.to_owned() }),
            None => Ok(Self::named(program).unwrap_or(Self::Groma)),
        }
    }

    fn named(name: &str) -> Option<Self> {
        match name {
            "groma" => Some(Self::Groma),
            "terraform" => Some(Self::Terraform),
            "tofu" => Some(Self::OpenTofu),
            _ => None,
        }
    }

    /// Returns the product name in sentences.
    pub fn product(self) -> &'static str {
        match self {
            Self::Groma => "Groma",
            Self::Terraform => "Terraform",
            Self::OpenTofu => "OpenTofu",
        }
    }

    /// Returns the program name in suggested commands; the executable has the file name `program`.
    pub fn command(self, program: &str) -> &str {
        match self {
            // Users can run a suggestion unchanged, also under a name of their own such as `tf`.
            Self::Groma => program,
            Self::Terraform => "terraform",
            Self::OpenTofu => "tofu",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn persona(program: &str, variables: &[(&str, &str)]) -> Result<Persona, UnknownPersona> {
        Persona::of(program, &variables.iter().copied().collect())
    }

    #[test]
    fn file_name_selects_persona() {
        for (program, expected) in [
            ("groma", Persona::Groma),
            ("terraform", Persona::Terraform),
            ("tofu", Persona::OpenTofu),
            ("tf", Persona::Groma),
            // Names are compared exactly: a different case is another program.
            ("Terraform", Persona::Groma),
            ("", Persona::Groma),
        ] {
            assert_eq!(persona(program, &[]), Ok(expected), "{program}");
            // An empty variable selects nothing.
            assert_eq!(persona(program, &[(VARIABLE, "")]), Ok(expected), "{program}");
        }
    }

    #[test]
    fn variable_overrides_file_name() {
        assert_eq!(persona("groma", &[(VARIABLE, "terraform")]), Ok(Persona::Terraform));
        assert_eq!(persona("terraform", &[(VARIABLE, "tofu")]), Ok(Persona::OpenTofu));
        assert_eq!(persona("terraform", &[(VARIABLE, "groma")]), Ok(Persona::Groma));
        let problem = persona("terraform", &[(VARIABLE, "opentofu")]).unwrap_err().to_string();
        assert!(problem.contains("\"opentofu\"") && problem.contains("groma, terraform or tofu"), "{problem}");
    }
}
