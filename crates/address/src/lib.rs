//! Addresses of modules, resources, instances and providers, and the names that they consist of.
//!
//! The state file, the plan and options such as `-target` use addresses. Every type here is cheap to clone (reference
//! counts only), hashes and compares by content, sorts and displays as in Terraform, and parses its displayed form.
//! This crate knows nothing about configurations, values or files.
//!
//! Static addresses ([`ModulePath`], [`ConfigResource`]) refer to what the author wrote; absolute ones
//! ([`ModuleInstance`], [`AbsResource`], [`ResourceInstance`]) refer to what `count` and `for_each` expand to.

mod deprecation;
mod host;
mod key;
mod module;
mod parse;
mod provider;
mod quote;
mod resource;
mod target;

pub use deprecation::DeprecationOrigin;
pub use host::normal_host;
pub use key::InstanceKey;
pub use module::{ModuleInstance, ModulePath, ModuleStep};
pub use parse::{
    ParseError, is_identifier, is_reserved, parse_abs_resource, parse_config_resource, parse_module_instance,
    parse_module_path, parse_provider_config, parse_resource_instance, parse_target,
};
pub use provider::{
    DEFAULT_PROVIDER_HOST, InvalidProvider, OPENTOFU_PROVIDER_HOST, ProviderAddress, ProviderConfig, ProviderPart,
};
pub use quote::{quoted, write_literal, write_literal_content, write_quoted};
pub use resource::{AbsResource, ActionInstance, ConfigResource, Mode, Resource, ResourceInstance};
pub use target::Target;

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
