//! Parsing of the attributes of a field.

use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Result};

/// Everything that `#[attribute(...)]` or `#[block(...)]` says about a field.
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
    /// Parses `#[attribute(...)]` options.
    pub(crate) fn of_attribute(attribute: &Attribute) -> Result<Self> {
        let mut options = Self::default();
        if attribute.meta.require_path_only().is_err() {
            attribute.parse_nested_meta(|meta| options.attribute_key(&meta))?;
        }
        Ok(options)
    }

    /// Parses `#[block(...)]` options.
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

    /// The first contradiction in it, if there is one.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        if self.required && (self.optional || self.computed || self.default.is_some()) {
            Some("what the configuration must give is neither optional nor computed, and needs no default")
        } else if self.write_only && (self.computed || self.default.is_some()) {
            Some("a write-only value is never kept, so the provider cannot choose it and it has no default")
        } else if self.computed && self.default.is_some() && !self.optional {
            Some("an attribute with a default can be set: leave `computed` out, or add `optional`")
        } else {
            None
        }
    }
}

/// The text of the doc comment: its lines without the space in front.
pub(crate) fn doc_comment(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let lines = lines.filter_map(|attribute| match &attribute.meta.require_name_value().ok()?.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    });
    let lines: Vec<String> =
        lines.map(|line| line.strip_prefix(' ').map(str::to_owned).unwrap_or(line).trim_end().to_owned()).collect();
    lines.join("\n").trim().to_owned()
}

/// The attribute `name`, which may be there once.
pub(crate) fn single<'a>(attributes: &'a [Attribute], name: &str) -> Result<Option<&'a Attribute>> {
    let mut found = attributes.iter().filter(|attribute| attribute.path().is_ident(name));
    let first = found.next();
    match found.next() {
        Some(second) => Err(syn::Error::new(second.span(), format!("put all of it into one #[{name}(...)]"))),
        None => Ok(first),
    }
}
