//! Parsers for addresses: one function for each kind, built on a common scanner.

mod scanner;

use std::fmt;
use std::str::FromStr;

use crate::{
    AbsResource, ConfigResource, DEFAULT_PROVIDER_HOST, InstanceKey, ModuleInstance, ModulePath, ProviderAddress,
    ProviderConfig, ResourceInstance, Target, begins_name, continues_name,
};
use scanner::Scanner;
pub use scanner::is_reserved;

/// Reason why a string is not the expected address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// A complete sentence for the user.
    pub message: String,
    /// Byte offset of the problem in the parsed string.
    pub offset: usize,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ParseError {}

/// Whether `text` is a valid identifier of the language.
pub fn is_identifier(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(begins_name) && characters.all(continues_name)
}

/// Parses a module path, `module.a.module.b`; the empty string is the root module.
///
/// # Errors
/// The string is not a module path, or it has instance keys.
pub fn parse_module_path(text: &str) -> Result<ModulePath, ParseError> {
    let mut scanner = Scanner::new(text);
    let path = scanner.module_path_prefix(MODULE_FORM)?;
    if path.is_root() && !text.is_empty() {
        return Err(scanner.error(MODULE_FORM));
    }
    scanner.finish().map(|()| path)
}

/// Parses a module instance, `module.a["x"].module.b[0]`; the empty string is the root module.
///
/// # Errors
/// The string is not a module instance address.
pub fn parse_module_instance(text: &str) -> Result<ModuleInstance, ParseError> {
    let mut scanner = Scanner::new(text);
    let module = scanner.module_prefix()?;
    if module.is_root() && !text.is_empty() {
        return Err(scanner.error(MODULE_FORM));
    }
    scanner.finish().map(|()| module)
}

/// Parses a resource without instance keys, `module.a.aws_x.y`.
///
/// # Errors
/// The string is not a resource address, or it has instance keys.
pub fn parse_config_resource(text: &str) -> Result<ConfigResource, ParseError> {
    let mut scanner = Scanner::new(text);
    let module = scanner.module_path_prefix("Expected a resource address without instance keys, such as aws_x.y.")?;
    let resource = scanner.resource()?;
    scanner.refuse_key("This address must refer to a whole resource, so it cannot end in an instance key.")?;
    scanner.finish().map(|()| ConfigResource { module, resource })
}

/// Parses a resource with all its instances, `module.a["x"].aws_x.y`.
///
/// # Errors
/// The string is not a resource address, or it ends in an instance key.
pub fn parse_abs_resource(text: &str) -> Result<AbsResource, ParseError> {
    let mut scanner = Scanner::new(text);
    let module = scanner.module_prefix()?;
    let resource = scanner.resource()?;
    scanner.refuse_key("This address must refer to a whole resource, so it cannot end in an instance key.")?;
    scanner.finish().map(|()| AbsResource { module, resource })
}

/// Parses a resource instance, `module.a["x"].aws_x.y["k"]`.
///
/// # Errors
/// The string is not a resource instance address.
pub fn parse_resource_instance(text: &str) -> Result<ResourceInstance, ParseError> {
    let mut scanner = Scanner::new(text);
    let module = scanner.module_prefix()?;
    let resource = scanner.resource()?;
    let key = scanner.key()?;
    scanner.finish().map(|()| ResourceInstance { module, resource, key })
}

/// Parses a module instance, a resource or a resource instance.
///
/// # Errors
/// The string is none of the three.
pub fn parse_target(text: &str) -> Result<Target, ParseError> {
    let mut scanner = Scanner::new(text);
    let module = scanner.module_prefix()?;
    // `module.a` alone is a module; with anything after it, the rest must be a resource.
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

/// Parses a provider configuration or one of its instances:
/// `module.m.provider["registry.terraform.io/hashicorp/aws"].west`.
///
/// # Errors
/// The string is not a provider configuration address.
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
        true => Some(scanner.name("Expected an alias after the dot.")?),
        false => None,
    };
    // OpenTofu writes a key without an alias when a resource moves from one configuration to another.
    let key = scanner.key()?;
    scanner.finish().map(|()| ProviderConfig { module, provider, alias, key })
}

const MODULE_FORM: &str = "Expected a module address, such as module.network or module.network[\"a\"].";
const PROVIDER_FORM: &str =
    "Expected a provider configuration address, such as provider[\"registry.terraform.io/hashicorp/aws\"].";

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

#[cfg(test)]
mod tests;
