//! `#[derive(Model)]`: the schema of a struct, and the way between it and a value (FW-20).
//!
//! `groma_framework::model` documents the attributes.

mod declared;
mod generate;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct with named fields a `groma_framework::Model`.
#[proc_macro_derive(Model, attributes(model, attribute, block))]
pub fn derive_model(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    declared::Model::of(&input)
        .map_or_else(|problem| problem.to_compile_error(), |model| generate::model(&model))
        .into()
}
