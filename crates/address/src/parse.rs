//! Addresses from text.

use std::fmt;
use std::str::FromStr;

use groma_diagnostics::{begins_name, continues_name};

use crate::{
    AbsResource, ConfigResource, DEFAULT_PROVIDER_HOST, InstanceKey, Mode, ModuleInstance, ModulePath, ModuleStep,
    Name, ProviderAddress, ProviderConfig, Resource, ResourceInstance, Target,
};

/// Why a text is not the address it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// A whole sentence.
    pub message: String,
    /// Where in the text, in bytes.
    pub offset: usize,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ParseError {}

/// Whether `text` is an identifier of the language.
pub fn is_identifier(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(begins_name) && characters.all(continues_name)
}

/// Reads a module as written, `module.a.module.b`; the empty text is the root module.
///
/// # Errors
/// When the text is something else, or has instance keys.
pub fn parse_module_path(text: &str) -> Result<ModulePath, ParseError> {
    let mut scanner = Scanner::new(text);
    let path = scanner.module_path_prefix(MODULE_FORM)?;
    if path.is_root() && !text.is_empty() {
        return Err(scanner.error(MODULE_FORM));
    }
    scanner.finish().map(|()| path)
}

/// Reads a module instance, `module.a["x"].module.b[0]`; the empty text is the root module.
///
/// # Errors
/// When the text is something else.
pub fn parse_module_instance(text: &str) -> Result<ModuleInstance, ParseError> {
    let mut scanner = Scanner::new(text);
    let module = scanner.module_prefix()?;
    if module.is_root() && !text.is_empty() {
        return Err(scanner.error(MODULE_FORM));
    }
    scanner.finish().map(|()| module)
}

/// Reads a resource as written, `module.a.aws_x.y`.
///
/// # Errors
/// When the text is something else, or has instance keys.
pub fn parse_config_resource(text: &str) -> Result<ConfigResource, ParseError> {
    let mut scanner = Scanner::new(text);
    let module =
        scanner.module_path_prefix("A resource address without instance keys is needed here, such as aws_x.y.")?;
    let resource = scanner.resource()?;
    scanner.refuse_key("This address names a whole resource, so an instance key cannot follow it.")?;
    scanner.finish().map(|()| ConfigResource { module, resource })
}

/// Reads a resource with all its instances, `module.a["x"].aws_x.y`.
///
/// # Errors
/// When the text is something else, or has an instance key at its end.
pub fn parse_abs_resource(text: &str) -> Result<AbsResource, ParseError> {
    let mut scanner = Scanner::new(text);
    let module = scanner.module_prefix()?;
    let resource = scanner.resource()?;
    scanner.refuse_key("This address names a whole resource, so an instance key cannot follow it.")?;
    scanner.finish().map(|()| AbsResource { module, resource })
}

/// Reads a resource instance, `module.a["x"].aws_x.y["k"]`.
///
/// # Errors
/// When the text is something else.
pub fn parse_resource_instance(text: &str) -> Result<ResourceInstance, ParseError> {
    let mut scanner = Scanner::new(text);
    let module = scanner.module_prefix()?;
    let resource = scanner.resource()?;
    let key = scanner.key()?;
    scanner.finish().map(|()| ResourceInstance { module, resource, key })
}

/// Reads a module instance, a resource or a resource instance.
///
/// # Errors
/// When the text is something else.
pub fn parse_target(text: &str) -> Result<Target, ParseError> {
    let mut scanner = Scanner::new(text);
    let module = scanner.module_prefix()?;
    if scanner.at_end() && !module.is_root() {
        return Ok(Target::Module(module));
    }
    let resource = scanner.resource()?;
    let key = scanner.key()?;
    scanner.finish()?;
    Ok(match key {
        InstanceKey::None => Target::Resource(AbsResource { module, resource }),
        key => Target::Instance(ResourceInstance { module, resource, key }),
    })
}

/// Reads a provider configuration, `module.m.provider["registry.terraform.io/hashicorp/aws"].west`, or one of its instances.
///
/// # Errors
/// When the text is something else.
pub fn parse_provider_config(text: &str) -> Result<ProviderConfig, ParseError> {
    let mut scanner = Scanner::new(text);
    let module =
        scanner.module_path_prefix("A provider configuration belongs to a module, not to one of its instances.")?;
    let start = scanner.offset;
    if scanner.identifier() != Some("provider") {
        return Err(scanner.error_at(start, PROVIDER_FORM));
    }
    let source_start = scanner.offset;
    let InstanceKey::String(source) = scanner.key()? else {
        return Err(scanner.error_at(source_start, PROVIDER_FORM));
    };
    let provider = ProviderAddress::parse_recorded(&source, DEFAULT_PROVIDER_HOST)
        .map_err(|invalid| ParseError { message: invalid.message, offset: source_start })?;
    let alias = match scanner.accept('.') {
        true => Some(scanner.name("An alias is needed after the dot.")?),
        false => None,
    };
    // OpenTofu itself writes keys without an alias where a resource goes over from one configuration to another.
    let key = scanner.key()?;
    scanner.finish().map(|()| ProviderConfig { module, provider, alias, key })
}

const MODULE_FORM: &str = "A module address is needed here, such as module.network or module.network[\"a\"].";
const PROVIDER_FORM: &str =
    "A provider configuration address is needed here, such as provider[\"registry.terraform.io/hashicorp/aws\"].";

/// What stands for something else than a resource type in expressions. A type of such a name is meant with `resource.` before it.
const RESERVED: [&str; 10] = ["arg", "count", "each", "lazy", "local", "path", "self", "template", "terraform", "var"];

/// Whether a resource type called `word` is only meant where `resource.` stands before it: elsewhere the word begins a reference to something else.
pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

fn reserved(word: &str) -> String {
    format!(
        "{word} is a reserved name, which means no resource. A resource type that is called so is written resource.{word}."
    )
}

macro_rules! from_str {
    ($($type:ty => $parse:path),* $(,)?) => {$(
        impl FromStr for $type {
            type Err = ParseError;
            fn from_str(text: &str) -> Result<Self, ParseError> {
                $parse(text)
            }
        }
    )*};
}

from_str! {
    ModulePath => parse_module_path,
    ModuleInstance => parse_module_instance,
    ConfigResource => parse_config_resource,
    AbsResource => parse_abs_resource,
    ResourceInstance => parse_resource_instance,
    ProviderConfig => parse_provider_config,
    Target => parse_target,
}

struct Scanner<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, offset: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    fn at_end(&self) -> bool {
        self.rest().is_empty()
    }

    fn error(&self, message: &str) -> ParseError {
        self.error_at(self.offset, message)
    }

    fn error_at(&self, offset: usize, message: &str) -> ParseError {
        ParseError { message: message.to_owned(), offset }
    }

    fn accept(&mut self, wanted: char) -> bool {
        let found = self.rest().starts_with(wanted);
        self.offset += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn skip_spaces(&mut self) {
        self.offset += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    fn identifier(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        if !rest.starts_with(begins_name) {
            return None;
        }
        let length = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
        self.offset += length;
        rest.get(..length)
    }

    fn name(&mut self, missing: &str) -> Result<Name, ParseError> {
        self.identifier().map(Into::into).ok_or_else(|| self.error(missing))
    }

    fn finish(&self) -> Result<(), ParseError> {
        if self.at_end() { Ok(()) } else { Err(self.error("The address is complete here, but more text follows.")) }
    }

    /// `module.NAME[KEY].` as often as it occurs; leaves off at what follows the last dot.
    fn module_prefix(&mut self) -> Result<ModuleInstance, ParseError> {
        let mut steps = Vec::new();
        loop {
            let start = self.offset;
            if self.identifier() != Some("module") {
                self.offset = start;
                break;
            }
            if !self.accept('.') {
                return Err(self.error("After \"module\", a dot and the name of a module call are needed."));
            }
            let name = self.name("After \"module.\", the name of a module call is needed.")?;
            steps.push(ModuleStep { name, key: self.key()? });
            if self.at_end() {
                break;
            }
            if !self.accept('.') {
                return Err(self.error("After a module, only a dot or an instance key can follow."));
            }
            if self.at_end() {
                return Err(self.error("After the dot, a module or a resource is needed."));
            }
        }
        Ok(ModuleInstance::from_steps(steps))
    }

    /// The same without keys; a key is the error `refusal`.
    fn module_path_prefix(&mut self, refusal: &str) -> Result<ModulePath, ParseError> {
        let module = self.module_prefix()?;
        if module.steps().iter().any(|step| !step.key.is_none()) {
            return Err(self.error_at(self.text.find('[').unwrap_or(0), refusal));
        }
        Ok(module.path())
    }

    fn resource(&mut self) -> Result<Resource, ParseError> {
        let start = self.offset;
        let word = self.identifier().unwrap_or_default();
        if is_reserved(word) {
            return Err(self.error_at(start, &reserved(word)));
        }
        let Some(mode) = Mode::beginning_with(word) else {
            self.offset = start;
            let missing = "A resource address is a type and a name, such as aws_instance.web.";
            return self.type_and_name(Mode::Managed, missing);
        };
        let missing = match mode {
            Mode::Managed => "After \"resource\", a resource type and a name are needed.",
            Mode::Data => "After \"data\", a data source type and a name are needed.",
            Mode::Ephemeral => "After \"ephemeral\", a resource type and a name are needed.",
            Mode::List => "After \"list\", a resource type and a name are needed.",
        };
        if !self.accept('.') {
            return Err(self.error(missing));
        }
        self.type_and_name(mode, missing)
    }

    fn type_and_name(&mut self, mode: Mode, missing: &str) -> Result<Resource, ParseError> {
        let type_name = self.name(missing)?;
        if !self.accept('.') {
            return Err(self.error(missing));
        }
        Ok(Resource { mode, type_name, name: self.name(missing)? })
    }

    fn refuse_key(&self, refusal: &str) -> Result<(), ParseError> {
        if self.rest().starts_with('[') { Err(self.error(refusal)) } else { Ok(()) }
    }

    fn key(&mut self) -> Result<InstanceKey, ParseError> {
        if !self.accept('[') {
            return Ok(InstanceKey::None);
        }
        self.skip_spaces();
        let key = match self.rest().chars().next() {
            Some('"') => InstanceKey::String(self.quoted()?.into()),
            Some('0'..='9') => InstanceKey::Int(self.integer()?),
            _ => return Err(self.error("An instance key is a whole number or a string in double quotes.")),
        };
        self.skip_spaces();
        if !self.accept(']') {
            return Err(self.error("The instance key needs a closing bracket."));
        }
        Ok(key)
    }

    fn integer(&mut self) -> Result<u64, ParseError> {
        let start = self.offset;
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = rest.get(..length).unwrap_or_default();
        self.offset += length;
        digits.parse().map_err(|_| self.error_at(start, "This number is too large for an instance key."))
    }

    fn quoted(&mut self) -> Result<String, ParseError> {
        let open = self.offset;
        self.offset += 1;
        let mut value = String::new();
        loop {
            let at = self.offset;
            let mut characters = self.rest().chars();
            let Some(c) = characters.next() else {
                return Err(self.error_at(
                    open,
                    "The string has no closing quote. A shell may have taken it away: put the whole address in single quotes.",
                ));
            };
            self.offset += c.len_utf8();
            match c {
                '"' => return Ok(value),
                '\\' => value.push(self.escape(at)?),
                '$' | '%' if characters.as_str().starts_with('{') => {
                    return Err(self.error_at(at, "An instance key in an address cannot have template sequences."));
                }
                '$' | '%' if characters.as_str().strip_prefix(c).is_some_and(|rest| rest.starts_with('{')) => {
                    value.push(c);
                    value.push('{');
                    self.offset += 2;
                }
                '\n' | '\r' => return Err(self.error_at(at, "A string cannot hold a line break; write \\n.")),
                c => value.push(c),
            }
        }
    }

    /// What a backslash at `at` introduces.
    fn escape(&mut self, at: usize) -> Result<char, ParseError> {
        let invalid = |scanner: &Self| {
            scanner
                .error_at(at, "This escape is not known. Known are \\n, \\r, \\t, \\\", \\\\, \\uNNNN and \\UNNNNNNNN.")
        };
        let Some(c) = self.rest().chars().next() else { return Err(invalid(self)) };
        self.offset += c.len_utf8();
        let digits = match c {
            'n' => return Ok('\n'),
            'r' => return Ok('\r'),
            't' => return Ok('\t'),
            '"' | '\\' => return Ok(c),
            'u' => 4,
            'U' => 8,
            _ => return Err(invalid(self)),
        };
        let code = self.rest().get(..digits).filter(|code| code.bytes().all(|b| b.is_ascii_hexdigit()));
        let found = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        self.offset += if found.is_some() { digits } else { 0 };
        found.ok_or_else(|| invalid(self))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error(result: Result<impl fmt::Debug, ParseError>) -> String {
        let error = result.unwrap_err();
        format!("{}: {}", error.offset, error.message)
    }

    #[test]
    fn addresses_read_back_as_they_are_written() {
        for text in [
            "aws_x.y",
            "data.aws_x.y[3]",
            "ephemeral.x.y",
            r#"module.a["x"].module.b[0].aws_x.y["k.[\"]$${x}\n"]"#,
            "module.a-b.données.été",
        ] {
            assert_eq!(parse_resource_instance(text).unwrap().to_string(), text);
            assert_eq!(parse_target(text).unwrap().to_string(), text);
        }
        for text in ["", "module.a", "module.a.module.b"] {
            assert_eq!(parse_module_path(text).unwrap().to_string(), text);
            assert_eq!(parse_module_instance(text).unwrap().to_string(), text);
        }
        for text in [
            r#"provider["registry.terraform.io/hashicorp/aws"]"#,
            r#"module.a.module.b.provider["example.com/a/b"].west"#,
            r#"provider["example.com/a/b"].by["a \"b\""]"#,
            r#"provider["example.com/a/b"]["a"]"#,
        ] {
            assert_eq!(parse_provider_config(text).unwrap().to_string(), text);
        }
        assert_eq!(parse_resource_instance(r#"x.y[ "\u00e9" ]"#).unwrap().to_string(), r#"x.y["é"]"#);
    }

    #[test]
    fn a_target_is_a_module_a_resource_or_an_instance() {
        assert!(matches!(parse_target("module.a[0]").unwrap(), Target::Module(_)));
        assert!(matches!(parse_target("module.a[0].x.y").unwrap(), Target::Resource(_)));
        assert!(matches!(parse_target("x.y[\"z\"]").unwrap(), Target::Instance(_)));
    }

    #[test]
    fn a_wrong_address_is_explained_at_the_place() {
        assert_eq!(
            error(parse_target("aws_instance")),
            "12: A resource address is a type and a name, such as aws_instance.web."
        );
        assert_eq!(error(parse_target("")), "0: A resource address is a type and a name, such as aws_instance.web.");
        assert_eq!(error(parse_target("x.y[a]")), "4: An instance key is a whole number or a string in double quotes.");
        assert_eq!(error(parse_target("x.y[1")), "5: The instance key needs a closing bracket.");
        assert_eq!(error(parse_target("x.y[1].z")), "6: The address is complete here, but more text follows.");
        assert_eq!(
            error(parse_target("x.y[\"${z}\"]")),
            "5: An instance key in an address cannot have template sequences."
        );
        assert_eq!(
            error(parse_target("x.y[99999999999999999999]")),
            "4: This number is too large for an instance key."
        );
        assert!(error(parse_target("x.y[\"z]")).contains("single quotes"));
        assert!(error(parse_target("x.y[\"\\q\"]")).starts_with("5: This escape is not known"));
        assert!(error(parse_target("x.y[\"\\ud800\"]")).starts_with("5: This escape is not known"));
        assert!(error(parse_target("module")).contains("a dot and the name"));
        assert!(error(parse_target("module.")).contains("the name of a module call"));
        assert!(error(parse_target("module.a.")).starts_with("9: After the dot"));
        assert!(error(parse_config_resource("module.a[0].x.y")).starts_with("8: "));
        assert!(error(parse_config_resource("x.y[0]")).starts_with("3: "));
        assert!(error(parse_module_instance("x.y")).contains("A module address"));
        assert!(error(parse_provider_config("provider.aws")).contains("A provider configuration address"));
        assert!(error(parse_provider_config(r#"module.a[0].provider["a/b"]"#)).contains("not to one of its instances"));
    }

    #[test]
    fn a_reserved_name_is_a_resource_type_only_where_that_is_said() {
        for word in RESERVED {
            assert!(error(parse_target(&format!("{word}.x"))).contains("is a reserved name"), "{word}");
            let told = error(parse_resource_instance(&format!("module.m.{word}.x[0]")));
            assert!(told.starts_with(&format!("9: {word} is a reserved name")), "{told}");
            let meant = parse_resource_instance(&format!("resource.{word}.x[0]")).unwrap();
            assert_eq!(meant.resource, Resource::managed(word, "x"));
        }
        assert_eq!(parse_target("module.m.resource.a.b").unwrap(), parse_target("module.m.a.b").unwrap());
        assert!(error(parse_target("resource.a")).contains("After \"resource\""));
        assert!(parse_target("data.var.x").is_ok());
    }

    #[test]
    fn a_list_of_a_query_has_an_address() {
        let list = Resource { mode: Mode::List, type_name: "a".into(), name: "b".into() };
        let instance = parse_resource_instance("module.m.list.a.b[0]").unwrap();
        assert_eq!((&instance.resource, instance.to_string().as_str()), (&list, "module.m.list.a.b[0]"));
        assert!(error(parse_target("list.a")).contains("After \"list\""));
        assert!(error(parse_target("list")).contains("After \"list\""));
    }

    #[test]
    fn identifiers_are_those_of_the_language() {
        assert!(["a", "_", "a-b", "é1", "a_1"].iter().all(|text| is_identifier(text)));
        assert!(!["", "1", "-a", "a b", "a.b"].iter().any(|text| is_identifier(text)));
    }

    fn key() -> impl Strategy<Value = InstanceKey> {
        prop_oneof![
            Just(InstanceKey::None),
            any::<u64>().prop_map(InstanceKey::Int),
            any::<String>().prop_map(|key| InstanceKey::String(key.into())),
        ]
    }

    proptest! {
        #[test]
        fn every_address_reads_back(
            steps in prop::collection::vec(("[a-z_][a-z0-9_-]{0,4}", key()), 0..4),
            type_name in "[a-z][a-z0-9_]{0,6}_x",
            name in "[a-z_][a-z0-9_-]{0,6}",
            key in key(),
        ) {
            let module = ModuleInstance::from_steps(
                steps.into_iter().map(|(name, key)| ModuleStep { name: name.into(), key }),
            );
            let address = ResourceInstance { module, resource: Resource::managed(type_name, name), key };
            prop_assert_eq!(&parse_resource_instance(&address.to_string()).unwrap(), &address);
            prop_assert_eq!(parse_module_instance(&address.module.to_string()).unwrap(), address.module);
        }

        #[test]
        fn no_text_panics(text in r#"(module|data|provider|x|\.|\[|\]|"|\\|u00|\$|\{|1|é| ){0,12}"#, other in any::<String>()) {
            for text in [&text, &other] {
                let _ = parse_target(text);
                let _ = parse_provider_config(text);
                let _ = parse_module_path(text);
                if let Err(error) = parse_resource_instance(text) {
                    prop_assert!(text.is_char_boundary(error.offset), "{error:?}");
                }
            }
        }
    }
}
