//! Addresses from text: each kind of address has a form of its own, made of the parts that the scanner reads.

mod error;
mod scanner;

use std::str::FromStr;

use groma_diagnostics::{begins_name, continues_name};

use crate::{
    AbsResource, ConfigResource, DEFAULT_PROVIDER_HOST, InstanceKey, ModuleInstance, ModulePath, ProviderAddress,
    ProviderConfig, ResourceInstance, Target,
};
pub use error::ParseError;
use scanner::Scanner;
pub use scanner::is_reserved;

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
