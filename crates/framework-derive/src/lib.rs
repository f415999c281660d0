//! `#[derive(Model)]`: the schema of a struct, and its conversion from and to values (FW-20).
//!
//! `groma_framework::model` documents the attributes.

mod declared;
mod generate;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `groma_framework::Model` for a struct with named fields.
#[proc_macro_derive(Model, attributes(model, attribute, block))]
pub fn derive_model(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    declared::Model::of(&input)
        .map_or_else(|problem| problem.to_compile_error(), |model| generate::model(&model))
        .into()
}
