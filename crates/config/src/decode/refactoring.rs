//! `moved`, `removed` and `import` blocks.

use std::sync::LazyLock;

use groma_address::{ConfigResource, InstanceKey, Mode, ModuleInstance, ModulePath, Name, Resource, Target};
use groma_diagnostics::Span;
use groma_hcl::{Attribute, Block, BodySchema, Content, Expression, ExpressionKind, Step, Traversal};
use groma_lang::instance_key;

use super::module_call::{duplicate_lifecycle, expression_of};
use super::{Decoding, literal, provider, provisioner, syntax};
use crate::model::{Import, ImportIdentity, Moved, Provisioner, ProvisionerWhen, Removed, RemovedFrom};

static MOVED: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().required("from").required("to"));

static REMOVED: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new().required("from").block("lifecycle", &[]).block("provisioner", &["type"]).block("connection", &[])
});

static REMOVED_LIFECYCLE: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().optional("destroy"));

static IMPORT: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new().required("to").optional("id").optional("identity").optional("for_each").optional("provider")
});

/// Decodes a `moved` block.
pub(super) fn moved(block: &Block, decoding: &mut Decoding<'_>) -> Option<Moved> {
    if refuse_override(block, decoding) {
        return None;
    }
    let content = decoding.content(&block.body, &MOVED);
    let from = content.get("from").and_then(|attribute| endpoint(attribute, decoding));
    let to = content.get("to").and_then(|attribute| endpoint(attribute, decoding));
    let (from, from_span) = from?;
    let (to, to_span) = to?;
    if matches!(from, Target::Module(_)) != matches!(to, Target::Module(_)) {
        decoding.error(
            block.header,
            "Invalid \"moved\" addresses",
            "Both addresses have to be resources, or both modules. One of these is a resource and the other a module.",
        );
        return None;
    }
    if mode(&from) != mode(&to) {
        decoding.error(
            block.header,
            "Invalid \"moved\" addresses",
            "Both addresses have to be managed resources, or both data sources.",
        );
        return None;
    }
    Some(Moved { from, from_span, to, to_span, span: block.header })
}

fn refuse_override(block: &Block, decoding: &mut Decoding<'_>) -> bool {
    if decoding.is_override() {
        let kind = &block.kind.name;
        decoding.error(
            block.header,
            format!("Cannot override '{kind}' blocks"),
            format!("Override files cannot hold {kind:?} blocks. Write them in a file of another name."),
        );
    }
    decoding.is_override()
}

fn endpoint(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<(Target, Span)> {
    let traversal = syntax::address(&attribute.expression, decoding)?;
    let span = attribute.expression.span;
    let address = Address::read(&traversal, decoding)?;
    match address.resource {
        None => Some((Target::Module(address.module), span)),
        Some((resource, _)) if resource.mode == Mode::Ephemeral => {
            decoding.error(
                span,
                "Invalid \"moved\" address",
                "Ephemeral resources are opened anew in every run; there is nothing to move. Remove the block.",
            );
            None
        }
        Some((resource, InstanceKey::None)) => Some((Target::Resource(resource.absolute(address.module)), span)),
        Some((resource, key)) => Some((Target::Instance(resource.absolute(address.module).instance(key)), span)),
    }
}

fn mode(target: &Target) -> Option<Mode> {
    match target {
        Target::Module(_) => None,
        Target::Resource(resource) => Some(resource.resource.mode),
        Target::Instance(instance) => Some(instance.resource.mode),
    }
}

/// An address written as a reference: module steps, then perhaps a resource with its key.
struct Address {
    module: ModuleInstance,
    resource: Option<(Resource, InstanceKey)>,
    /// The first key that stands there.
    key_span: Option<Span>,
}

impl Address {
    fn read(traversal: &Traversal, decoding: &mut Decoding<'_>) -> Option<Self> {
        let mut reader = Reader { words: words(traversal), at: 0, key_span: None };
        let address = reader.address();
        if address.is_none() {
            decoding.error(
                traversal.span,
                "Invalid address",
                "An address is a resource (TYPE.NAME), a module (module.NAME), or a resource in a module \
                 (module.NAME.TYPE.NAME), each with an instance key in brackets where needed.",
            );
        }
        address
    }
}

enum Word<'a> {
    Name(&'a Name),
    Key(Option<InstanceKey>, Span),
}

fn words(traversal: &Traversal) -> Vec<Word<'_>> {
    let steps = traversal.steps.iter().map(|step| match step {
        Step::Attribute { name, .. } => Word::Name(name),
        Step::Index { key, span } => Word::Key(instance_key(key), *span),
    });
    std::iter::once(Word::Name(&traversal.root.name)).chain(steps).collect()
}

struct Reader<'a> {
    words: Vec<Word<'a>>,
    at: usize,
    key_span: Option<Span>,
}

impl<'a> Reader<'a> {
    fn name(&mut self) -> Option<&'a Name> {
        let Some(Word::Name(name)) = self.words.get(self.at) else { return None };
        self.at += 1;
        Some(name)
    }

    fn key(&mut self) -> Option<InstanceKey> {
        let Some(Word::Key(key, span)) = self.words.get(self.at) else { return Some(InstanceKey::None) };
        self.at += 1;
        self.key_span = self.key_span.or(Some(*span));
        key.clone()
    }

    fn address(&mut self) -> Option<Address> {
        let mut module = ModuleInstance::root();
        while let Some(Word::Name(word)) = self.words.get(self.at) {
            if &***word != "module" {
                break;
            }
            self.at += 1;
            let name = self.name()?;
            module = module.child(name.clone(), self.key()?);
        }
        let resource = if self.at == self.words.len() { None } else { Some(self.resource()?) };
        if self.at < self.words.len() || (resource.is_none() && module.is_root()) {
            return None;
        }
        Some(Address { module, resource, key_span: self.key_span })
    }

    fn resource(&mut self) -> Option<(Resource, InstanceKey)> {
        let first = self.name()?;
        let (mode, type_name) = match &**first {
            "data" => (Mode::Data, self.name()?),
            "ephemeral" => (Mode::Ephemeral, self.name()?),
            "resource" => (Mode::Managed, self.name()?),
            _ => (Mode::Managed, first),
        };
        let name = self.name()?;
        let key = self.key()?;
        Some((Resource { mode, type_name: type_name.clone(), name: name.clone() }, key))
    }
}

/// Decodes a `removed` block.
pub(super) fn removed(block: &Block, decoding: &mut Decoding<'_>) -> Option<Removed> {
    if refuse_override(block, decoding) {
        return None;
    }
    let content = decoding.content(&block.body, &REMOVED);
    let from = content.get("from").and_then(|attribute| removed_from(attribute, decoding));
    let destroy = removed_destroy(&content, decoding);
    let provisioners = removed_provisioners(&content, decoding);
    let (from, from_span) = from?;
    if let (RemovedFrom::Module(_), Some(first)) = (&from, provisioners.first()) {
        decoding.error(
            first.span,
            "Invalid provisioner block",
            "Only a resource can have provisioners; this block is about a module.",
        );
    }
    Some(Removed { from, from_span, destroy, provisioners, span: block.header })
}

fn removed_from(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<(RemovedFrom, Span)> {
    let traversal = syntax::address(&attribute.expression, decoding)?;
    let address = Address::read(&traversal, decoding)?;
    if let Some(span) = address.key_span {
        let (what, whole) = match address.resource {
            Some(_) => ("Resource", "resource"),
            None => ("Module", "module"),
        };
        decoding.error(
            span,
            format!("{what} instance keys not allowed"),
            format!("A removed block is about a whole {whole}, with all its instances. Leave the key out."),
        );
        return None;
    }
    let span = attribute.expression.span;
    let module = address.module.path();
    match address.resource {
        None => Some((RemovedFrom::Module(module), span)),
        Some((resource, _)) if resource.mode == Mode::Managed => {
            Some((RemovedFrom::Resource(resource.in_module(module)), span))
        }
        Some(_) => {
            decoding.error(
                span,
                "Data source address not allowed",
                "Only managed resources can be removed: data sources leave the state when their block goes. Remove this block.",
            );
            None
        }
    }
}

fn removed_destroy(content: &Content, decoding: &mut Decoding<'_>) -> bool {
    let mut blocks = content.blocks_of("lifecycle");
    let Some(first) = blocks.next() else { return true };
    for block in blocks {
        duplicate_lifecycle(block, first.header, "removed block", decoding);
    }
    let lifecycle = decoding.content(&first.body, &REMOVED_LIFECYCLE);
    lifecycle.get("destroy").and_then(|attribute| literal::boolean(attribute, decoding)).unwrap_or(true)
}

fn removed_provisioners(content: &Content, decoding: &mut Decoding<'_>) -> Vec<Provisioner> {
    let connections: Vec<&Block> = content.blocks_of("connection").collect();
    let shared = provisioner::connection(&connections, "removed block", decoding);
    let mut provisioners = Vec::new();
    for block in content.blocks_of("provisioner") {
        let Some(mut decoded) = provisioner::provisioner(block, decoding) else { continue };
        if decoded.when != ProvisionerWhen::Destroy {
            decoding.error(
                block.header,
                "Invalid provisioner block",
                "A removed block runs provisioners on destruction only. Add when = destroy.",
            );
            continue;
        }
        decoded.connection = decoded.connection.or_else(|| shared.clone());
        provisioners.push(decoded);
    }
    provisioners
}

/// Decodes an `import` block.
pub(super) fn import(block: &Block, decoding: &mut Decoding<'_>) -> Option<Import> {
    if refuse_override(block, decoding) {
        return None;
    }
    let content = decoding.content(&block.body, &IMPORT);
    let identity = import_identity(block, &content, decoding);
    let provider = content.get("provider").and_then(|a| provider::reference(&a.expression, "provider", decoding));
    let to_expression = content.get("to")?.expression.unquoted()?;
    let to = import_target(&to_expression, decoding)?;
    Some(Import {
        to,
        to_expression,
        identity: identity?,
        for_each: expression_of(content.get("for_each")),
        provider,
        span: block.header,
    })
}

fn import_identity(block: &Block, content: &Content, decoding: &mut Decoding<'_>) -> Option<ImportIdentity> {
    match (content.get("id"), content.get("identity")) {
        (Some(id), None) => Some(ImportIdentity::Id(id.expression.clone())),
        (None, Some(identity)) => Some(ImportIdentity::Identity(identity.expression.clone())),
        (None, None) => {
            decoding.error(
                block.header,
                "Invalid import block",
                "Add \"id\" or \"identity\": what the object is called outside.",
            );
            None
        }
        (Some(_), Some(_)) => {
            decoding.error(block.header, "Invalid import block", "Use one of \"id\" and \"identity\", not both.");
            None
        }
    }
}

/// The resource that `to` names, whatever its keys will come out as.
fn import_target(expression: &Expression, decoding: &mut Decoding<'_>) -> Option<ConfigResource> {
    let mut names = Vec::new();
    if !static_names(expression, &mut names) || names.is_empty() {
        decoding.error(
            expression.span,
            "Invalid expression",
            "Write the address of a resource instance; its keys, in brackets, may be expressions: aws_vpc.main[each.key].",
        );
        return None;
    }
    let mut rest = names.as_slice();
    let mut modules = Vec::new();
    while let [word, name, more @ ..] = rest {
        if &**word != "module" {
            break;
        }
        modules.push(name.clone());
        rest = more;
    }
    let resource = match rest {
        [type_name, name] => Resource::managed(type_name.clone(), name.clone()),
        [word, type_name, name] if &**word == "resource" => Resource::managed(type_name.clone(), name.clone()),
        [word, _, _] if matches!(&**word, "data" | "ephemeral") => {
            decoding.error(expression.span, "Invalid import address", "Only managed resources can be imported.");
            return None;
        }
        _ => {
            decoding.error(
                expression.span,
                "Invalid address",
                "An import is into one resource instance: TYPE.NAME, with module steps before it and a key after it if need be.",
            );
            return None;
        }
    };
    Some(resource.in_module(ModulePath::from_names(modules)))
}

/// Gathers the names along an address, passing over keys; false for anything that is no address.
fn static_names(expression: &Expression, names: &mut Vec<Name>) -> bool {
    match &expression.kind {
        ExpressionKind::Traversal(traversal) => {
            names.push(traversal.root.name.clone());
            step_names(&traversal.steps, names);
            true
        }
        ExpressionKind::Index(index) => static_names(&index.source, names),
        ExpressionKind::Relative(relative) => {
            let fine = static_names(&relative.source, names);
            step_names(&relative.steps, names);
            fine
        }
        ExpressionKind::Parentheses(inner) => static_names(inner, names),
        _ => false,
    }
}

fn step_names(steps: &[Step], names: &mut Vec<Name>) {
    names.extend(steps.iter().filter_map(|step| match step {
        Step::Attribute { name, .. } => Some(name.clone()),
        Step::Index { .. } => None,
    }));
}
