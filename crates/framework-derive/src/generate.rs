//! The generated code of a model.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::declared::{Field, Kind, Model};

/// Generates the implementations for a struct.
pub(crate) fn model(model: &Model<'_>) -> TokenStream {
    let checks = model.fields.iter().map(check);
    let (object, field, block) = (as_model(model), as_field(model), as_block(model));
    quote! {
        #(#checks)*
        #object
        #field
        #block
    }
}

fn of_kind<'a>(model: &'a Model<'_>, kind: Kind) -> impl Iterator<Item = &'a Field<'a>> {
    model.fields.iter().filter(move |field| field.kind == kind)
}

/// Generates the attributes and blocks of a model.
fn as_model(model: &Model<'_>) -> TokenStream {
    let Model { ident, description, fields, .. } = model;
    let attributes = of_kind(model, Kind::Attribute).map(attribute);
    let blocks = of_kind(model, Kind::Block).map(block);
    let types = fields.iter().map(|Field { name, ty, .. }| {
        quote! { (#name, <#ty as ::groma_framework::model::Field>::ty()) }
    });
    let version = model.version.iter();
    quote! {
        #[automatically_derived]
        impl ::groma_framework::Model for #ident {
            fn attributes() -> ::std::vec::Vec<(::groma_framework::Name, ::groma_framework::Attribute)> {
                ::std::vec![#(#attributes),*]
            }

            fn blocks() -> ::std::vec::Vec<(::groma_framework::Name, ::groma_framework::NestedBlock)> {
                ::std::vec![#(#blocks),*]
            }

            fn object_type() -> &'static ::std::sync::Arc<::groma_framework::value::ObjectType> {
                static TYPE: ::std::sync::OnceLock<::std::sync::Arc<::groma_framework::value::ObjectType>> =
                    ::std::sync::OnceLock::new();
                TYPE.get_or_init(|| {
                    let types: ::std::vec::Vec<(&str, ::groma_framework::value::Type)> = ::std::vec![#(#types),*];
                    ::std::sync::Arc::new(::groma_framework::value::ObjectType::new(types))
                })
            }

            fn description() -> &'static str {
                #description
            }

            #(fn version() -> u64 { #version })*
        }
    }
}

/// Generates the conversions from and to values, and the attribute type of fields that hold the model.
fn as_field(model: &Model<'_>) -> TokenStream {
    let Model { ident, fields, .. } = model;
    let (idents, types): (Vec<_>, Vec<_>) = fields.iter().map(|field| (field.ident, field.ty)).unzip();
    let names: Vec<_> = fields.iter().map(|field| &field.name).collect();
    let positions = 0..fields.len();
    let shape = if of_kind(model, Kind::Block).next().is_some() {
        // Nested attributes hold no blocks: as an attribute, such an object is a plain value.
        quote! { ::groma_framework::model::FieldShape::Plain(<Self as ::groma_framework::model::Field>::ty()) }
    } else {
        quote! { ::groma_framework::model::FieldShape::Object(<Self as ::groma_framework::Model>::attributes()) }
    };
    quote! {
        #[automatically_derived]
        impl ::groma_framework::model::Field for #ident {
            fn ty() -> ::groma_framework::value::Type {
                ::groma_framework::value::Type::Object(<Self as ::groma_framework::Model>::object_type().clone())
            }

            fn shape() -> ::groma_framework::model::FieldShape {
                #shape
            }

            fn to_value(&self) -> ::groma_framework::value::Value {
                let values: ::std::vec::Vec<::groma_framework::value::Value> =
                    ::std::vec![#(<#types as ::groma_framework::model::Field>::to_value(&self.#idents)),*];
                ::groma_framework::value::Value::object_typed(<Self as ::groma_framework::Model>::object_type(), values)
            }

            fn from_value(
                value: &::groma_framework::value::Value,
                path: &mut ::groma_framework::value::Path,
            ) -> ::std::result::Result<Self, ::groma_framework::model::ModelError> {
                let parts = ::groma_framework::model::Parts::of(
                    value,
                    <Self as ::groma_framework::Model>::object_type(),
                    path,
                )?;
                ::std::result::Result::Ok(Self {
                    #(#idents: parts.field::<#types>(#positions, #names, path)?,)*
                })
            }
        }
    }
}

/// Generates the model as a required block.
fn as_block(model: &Model<'_>) -> TokenStream {
    let ident = model.ident;
    quote! {
        #[automatically_derived]
        impl ::groma_framework::model::BlockField for #ident {
            type Model = Self;
            const NESTING: ::groma_framework::Nesting = ::groma_framework::Nesting::Group;
        }
    }
}

/// Generates checks of the field types, which run when the author's code is compiled.
fn check(field: &Field<'_>) -> TokenStream {
    let Field { ty, name, options, kind, .. } = field;
    // A default may be unknown in a plan, so it needs the same kind of field.
    let computed = options.computed || options.default.is_some();
    let mut checks = Vec::new();
    if computed {
        let message = format!(
            "the attribute \"{name}\" is chosen by the provider, so plans do not know it: its field must be a Maybe<...>"
        );
        checks.push(quote_spanned! { ty.span() =>
            const _: () = assert!(<#ty as ::groma_framework::model::Field>::HOLDS_UNKNOWN, #message);
        });
    } else if options.optional || options.write_only {
        let reason = if options.optional { "may be left out" } else { "is never kept" };
        let message = format!(
            "the attribute \"{name}\" {reason}, so it can be null: its field must be an Option<...> or Maybe<...>"
        );
        checks.push(quote_spanned! { ty.span() =>
            const _: () = assert!(<#ty as ::groma_framework::model::Field>::HOLDS_NULL, #message);
        });
    }
    debug_assert!(*kind == Kind::Attribute || checks.is_empty());
    quote! { #(#checks)* }
}

fn usage(field: &Field<'_>) -> TokenStream {
    let Field { ty, options, .. } = field;
    let usage = quote! { ::groma_framework::Use };
    if options.default.is_some() || (options.computed && options.optional) {
        quote! { #usage::OptionalComputed }
    } else if options.computed {
        quote! { #usage::Computed }
    } else if options.optional {
        quote! { #usage::Optional }
    } else if options.required {
        quote! { #usage::Required }
    } else {
        quote! {
            // Decided by the compiler of the author's crate: the macro sees only the name of the type.
            if <#ty as ::groma_framework::model::Field>::HOLDS_NULL { #usage::Optional } else { #usage::Required }
        }
    }
}

fn attribute(field: &Field<'_>) -> TokenStream {
    let Field { ty, name, description, options, .. } = field;
    let usage = usage(field);
    let described = described(description);
    let flag = |set: bool, call: TokenStream| if set { call } else { TokenStream::new() };
    let sensitive = flag(options.sensitive, quote! { .sensitive() });
    let write_only = flag(options.write_only, quote! { .write_only() });
    let keeps = flag(options.keeps_state, quote! { .use_state_for_unknown() });
    let replaces = flag(options.requires_replace, quote! { .requires_replace() });
    let deprecated = options.deprecated.iter();
    let default = options.default.iter();
    let equality = options.equality.iter();
    let validators = options.validators.iter();
    let modifiers = options.modifiers.iter();
    quote! {
        (
            ::groma_framework::Name::from(#name),
            ::groma_framework::model::attribute::<#ty>()
                .used(#usage) #described #sensitive #write_only
                #(.deprecated(#deprecated))*
                #(.default(::groma_framework::DefaultValue::from(#default)))*
                #(.semantic_equality(#equality))*
                #(.validator(#validators))*
                #keeps
                #(.modifier(#modifiers))*
                #replaces
        )
    }
}

fn block(field: &Field<'_>) -> TokenStream {
    let Field { ty, name, description, options, .. } = field;
    let described = described(description);
    let deprecated = options.deprecated.iter();
    let least = options.least.iter();
    let greatest = options.greatest.iter();
    let validators = options.validators.iter();
    let modifiers = options.modifiers.iter();
    quote! {
        (
            ::groma_framework::Name::from(#name),
            ::groma_framework::model::block::<#ty>() #described
                #(.deprecated(#deprecated))*
                #(.at_least(#least))*
                #(.at_most(#greatest))*
                #(.validator(#validators))*
                #(.modifier(#modifiers))*
        )
    }
}

fn described(description: &str) -> TokenStream {
    if description.is_empty() {
        TokenStream::new()
    } else {
        quote! { .described(#description) }
    }
}
