//! The declaration of a struct by its author.

use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Expr, ExprLit, Fields, Ident, Lit, LitStr, Result, Type};

/// A struct that represents an object.
pub(crate) struct Model<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) description: String,
    pub(crate) version: Option<Expr>,
    /// The fields, sorted by their names in the schema, as the values of an object are.
    pub(crate) fields: Vec<Field<'a>>,
}

/// A field of the struct.
pub(crate) struct Field<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) ty: &'a Type,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) kind: Kind,
    pub(crate) options: Options,
}

/// The role of a field in the schema.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Attribute,
    Block,
}

impl<'a> Model<'a> {
    pub(crate) fn of(input: &'a DeriveInput) -> Result<Self> {
        // Schemas are kept in statics, which cannot depend on type parameters.
        if !input.generics.params.is_empty() {
            let message = "a model has no parameters: its schema is one and the same for all";
            return Err(Error::new(input.generics.span(), message));
        }
        let Data::Struct(data) = &input.data else {
            return Err(Error::new(input.ident.span(), "a model is a struct: one field for each attribute or block"));
        };
        let Fields::Named(named) = &data.fields else {
            return Err(Error::new(input.ident.span(), "the fields of a model need names: those of the attributes"));
        };
        let version = version(input)?;
        let mut problems: Option<Error> = None;
        let mut fields = Vec::new();
        for field in &named.named {
            match Field::of(field) {
                Ok(field) => fields.push(field),
                Err(problem) => match &mut problems {
                    // All fields are checked, so that an author sees every mistake in one build.
                    Some(all) => all.combine(problem),
                    None => problems = Some(problem),
                },
            }
        }
        if let Some(problems) = problems {
            return Err(problems);
        }
        // The order of an object's values, which `Parts` relies on.
        fields.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some([_, second]) = fields.windows(2).find(|pair| matches!(pair, [a, b] if a.name == b.name)) {
            return Err(Error::new(second.ident.span(), format!("another field is named \"{}\" too", second.name)));
        }
        Ok(Self { ident: &input.ident, description: doc_comment(&input.attrs), version, fields })
    }
}

fn version(input: &DeriveInput) -> Result<Option<Expr>> {
    let mut version = None;
    if let Some(attribute) = single(&input.attrs, "model")? {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("version") {
                return Err(
                    meta.error("a model can have a `version = ...`, the version of the shape of stored objects")
                );
            }
            version = Some(meta.value()?.parse()?);
            Ok(())
        })?;
    }
    Ok(version)
}

impl<'a> Field<'a> {
    fn of(field: &'a syn::Field) -> Result<Self> {
        let Some(ident) = &field.ident else {
            return Err(Error::new(field.span(), "the fields of a model need names: those of the attributes"));
        };
        let (attribute, block) = (single(&field.attrs, "attribute")?, single(&field.attrs, "block")?);
        let (kind, options) = match (attribute, block) {
            (Some(_), Some(block)) => {
                return Err(Error::new(block.span(), "a field is an attribute or a block, not both"));
            }
            (_, Some(block)) => (Kind::Block, Options::of_block(block)?),
            (Some(attribute), None) => (Kind::Attribute, Options::of_attribute(attribute)?),
            (None, None) => (Kind::Attribute, Options::default()),
        };
        if let Some(contradiction) = options.contradiction() {
            return Err(Error::new(ident.span(), format!("`{ident}`: {contradiction}")));
        }
        // Raw identifiers, such as `r#type`, lose their prefix.
        let name = options.name.as_ref().map_or_else(|| ident.unraw().to_string(), LitStr::value);
        if !is_name(&name) {
            let message =
                format!("\"{name}\" is no name of an attribute: those are made of a-z, 0-9 and _, a letter first");
            return Err(Error::new(ident.span(), message));
        }
        let description = options.description.as_ref().map_or_else(|| doc_comment(&field.attrs), LitStr::value);
        Ok(Self { ident, ty: &field.ty, name, description, kind, options })
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

/// The options of `#[attribute(...)]` or `#[block(...)]`.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) required: bool,
    pub(crate) optional: bool,
    pub(crate) computed: bool,
    pub(crate) sensitive: bool,
    pub(crate) write_only: bool,
    pub(crate) requires_replace: bool,
    pub(crate) keeps_state: bool,
    pub(crate) name: Option<LitStr>,
    pub(crate) deprecated: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) default: Option<Expr>,
    pub(crate) equality: Option<Expr>,
    pub(crate) validators: Vec<Expr>,
    pub(crate) modifiers: Vec<Expr>,
    pub(crate) least: Option<Expr>,
    pub(crate) greatest: Option<Expr>,
}

const ATTRIBUTE_KEYS: &str = "required, optional, computed, sensitive, write_only, force_new (or requires_replace), \
                              use_state_for_unknown, default, validator, modifier, equality, name, description and \
                              deprecated";
const BLOCK_KEYS: &str = "min, max, validator, modifier, name, description and deprecated";

impl Options {
    /// Parses the options of `#[attribute(...)]`.
    pub(crate) fn of_attribute(attribute: &Attribute) -> Result<Self> {
        let mut options = Self::default();
        if attribute.meta.require_path_only().is_err() {
            attribute.parse_nested_meta(|meta| options.attribute_key(&meta))?;
        }
        Ok(options)
    }

    /// Parses the options of `#[block(...)]`.
    pub(crate) fn of_block(attribute: &Attribute) -> Result<Self> {
        let mut options = Self::default();
        if attribute.meta.require_path_only().is_err() {
            attribute.parse_nested_meta(|meta| options.block_key(&meta))?;
        }
        Ok(options)
    }

    fn attribute_key(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match &*key {
            "required" => self.required = true,
            "optional" => self.optional = true,
            "computed" => self.computed = true,
            "sensitive" => self.sensitive = true,
            "write_only" => self.write_only = true,
            // `ForceNew` is the name in Terraform's older SDK, `RequiresReplace` that in the framework.
            "force_new" | "requires_replace" => self.requires_replace = true,
            "use_state_for_unknown" => self.keeps_state = true,
            "default" => self.default = Some(meta.value()?.parse()?),
            "equality" => self.equality = Some(meta.value()?.parse()?),
            _ if self.common_key(&key, meta)? => {}
            "min" | "max" => return Err(meta.error("`min` and `max` count blocks: they belong into #[block(...)]")),
            _ => return Err(meta.error(format!("an attribute can be {ATTRIBUTE_KEYS}"))),
        }
        Ok(())
    }

    fn block_key(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match &*key {
            "min" => self.least = Some(meta.value()?.parse()?),
            "max" => self.greatest = Some(meta.value()?.parse()?),
            _ if self.common_key(&key, meta)? => {}
            _ => return Err(meta.error(format!("a block can have {BLOCK_KEYS}"))),
        }
        Ok(())
    }

    /// Parses an option that attributes and blocks share; returns whether it is one.
    fn common_key(&mut self, key: &str, meta: &ParseNestedMeta<'_>) -> Result<bool> {
        match key {
            "validator" => self.validators.push(meta.value()?.parse()?),
            "modifier" => self.modifiers.push(meta.value()?.parse()?),
            "name" => self.name = Some(meta.value()?.parse()?),
            "description" => self.description = Some(meta.value()?.parse()?),
            "deprecated" => self.deprecated = Some(meta.value()?.parse()?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the first contradiction among the options.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        if self.required && (self.optional || self.computed || self.default.is_some()) {
            Some("what the configuration must give is neither optional nor computed, and needs no default")
        } else if self.write_only && (self.computed || self.default.is_some()) {
            Some("a write-only value is never kept, so the provider cannot choose it and it has no default")
        // A default implies "optional and computed"; `computed` alone contradicts that.
        } else if self.computed && self.default.is_some() && !self.optional {
            Some("an attribute with a default can be set: leave `computed` out, or add `optional`")
        } else {
            None
        }
    }
}

/// Returns the text of the doc comment, without the leading space of each line.
pub(crate) fn doc_comment(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let lines = lines.filter_map(|attribute| match &attribute.meta.require_name_value().ok()?.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    });
    // rustdoc keeps the space after `///`, which is no part of the text.
    let lines: Vec<String> =
        lines.map(|line| line.strip_prefix(' ').map(str::to_owned).unwrap_or(line).trim_end().to_owned()).collect();
    lines.join("\n").trim().to_owned()
}

/// Returns the attribute `name`, which may occur once.
pub(crate) fn single<'a>(attributes: &'a [Attribute], name: &str) -> Result<Option<&'a Attribute>> {
    let mut found = attributes.iter().filter(|attribute| attribute.path().is_ident(name));
    let first = found.next();
    match found.next() {
        Some(second) => Err(Error::new(second.span(), format!("put all of it into one #[{name}(...)]"))),
        None => Ok(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the description of a struct.
    fn said(text: &str) -> String {
        let input: DeriveInput = syn::parse_str(text).unwrap_or_else(|problem| panic!("{problem}"));
        match Model::of(&input) {
            Ok(model) => crate::generate::model(&model).to_string(),
            Err(problems) => problems.into_iter().map(|problem| problem.to_string()).collect::<Vec<_>>().join("\n"),
        }
    }

    #[test]
    fn fw_20_errors_in_a_model_are_readable() {
        assert_eq!(said("struct A<T> { a: T }"), "a model has no parameters: its schema is one and the same for all");
        assert!(said("enum A { B }").contains("a model is a struct"));
        assert!(said("struct A(u8);").contains("need names"));
        assert!(said("struct A { #[attribute(compute)] a: u8 }").starts_with("an attribute can be required, optional"));
        assert!(said("struct A { #[attribute(max = 1)] a: u8 }").contains("#[block(...)]"));
        assert!(said("struct A { #[attribute] #[block] a: u8 }").contains("not both"));
        assert!(said("struct A { #[attribute(computed)] #[attribute(sensitive)] a: u8 }").contains("into one"));
        assert!(
            said("struct A { #[attribute(required, computed)] a: u8 }").contains("`a`: what the configuration must")
        );
        assert!(said("struct A { #[attribute(write_only, computed)] a: u8 }").contains("never kept"));
        assert!(said("struct A { #[allow(x)] Upper: u8 }").contains("\"Upper\" is no name of an attribute"));
        assert!(
            said("struct A { a: u8, #[attribute(name = \"a\")] b: u8 }").contains("another field is named \"a\" too")
        );
        assert!(said("#[model(size = 1)] struct A { a: u8 }").contains("`version = ...`"));
    }

    #[test]
    fn fw_20_all_errors_are_reported_together() {
        let said = said("struct A { #[attribute(compute)] a: u8, #[block(sensitive)] b: u8 }");
        assert_eq!(said.lines().count(), 2, "{said}");
    }

    #[test]
    fn fw_20_field_type_that_cannot_hold_its_attribute_is_a_compile_error() {
        let code = said("struct A { #[attribute(computed)] a: u8, #[attribute(optional)] b: u8 }");
        assert!(code.contains("its field must be a Maybe<...>") && code.contains("HOLDS_UNKNOWN"), "{code}");
        assert!(code.contains("its field must be an Option<...> or Maybe<...>") && code.contains("HOLDS_NULL"));
    }
}
