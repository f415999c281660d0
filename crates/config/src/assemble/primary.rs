//! Assembly of primary files, in which each object is declared once.

use std::hash::{BuildHasher, Hash};

use groma_address::{Mode, Name};
use groma_diagnostics::{Diagnostic, Diagnostics, Sources, Span};
use indexmap::IndexMap;
use indexmap::map::Entry;

use crate::decode::{FileContent, OutputDraft, RequiredProviders, RequiredVersion, VariableDraft, location_text};
use crate::model::encryption::EncryptionBlock;
use crate::model::{Backend, Check, Local, Module, ProviderBlock, ProviderMeta, Resource};

/// The spans of two declarations with the same name.
struct Clash {
    first: Span,
    second: Span,
}

/// Inserts a new declaration; a duplicate is dropped and returned as a clash.
fn declare<K: Hash + Eq, V, S: BuildHasher>(
    map: &mut IndexMap<K, V, S>,
    key: K,
    item: V,
    span: fn(&V) -> Span,
) -> Option<Clash> {
    match map.entry(key) {
        Entry::Vacant(entry) => {
            entry.insert(item);
            None
        }
        Entry::Occupied(entry) => Some(Clash { first: span(entry.get()), second: span(&item) }),
    }
}

impl Assembly<'_> {
    /// Adds the content of a primary file.
    pub(super) fn add(&mut self, file: FileContent) {
        self.required_versions.extend(file.required_versions);
        file.required_providers.into_iter().for_each(|block| self.add_required_providers(block));
        file.backends.into_iter().for_each(|backend| self.add_backend(backend));
        file.clouds.into_iter().for_each(|cloud| self.add_cloud(cloud));
        file.encryptions.into_iter().for_each(|block| self.add_encryption(block));
        file.provider_metas.into_iter().for_each(|meta| self.add_provider_meta(meta));
        file.providers.into_iter().for_each(|provider| self.add_provider(provider));
        file.variables.into_iter().for_each(|variable| self.add_variable(variable));
        file.locals.into_iter().for_each(|local| self.add_local(local));
        file.outputs.into_iter().for_each(|output| self.add_output(output));
        for call in file.calls {
            let name = call.name.clone();
            if let Some(clash) = declare(&mut self.module.calls, name.clone(), call, |call| call.span) {
                self.report(clash, "Duplicate module call", &format!("a module call {name:?}"));
            }
        }
        // Generated files may have thousands of resources.
        self.module.resources.reserve(file.resources.len());
        file.resources.into_iter().for_each(|resource| self.add_resource(resource));
        file.checks.into_iter().for_each(|(check, data)| self.add_check(check, data));
        for action in file.actions {
            let (ty, name) = (action.type_name.clone(), action.name.clone());
            if let Some(clash) =
                declare(&mut self.module.actions, (ty.clone(), name.clone()), action, |action| action.span)
            {
                self.report(
                    clash,
                    &format!("Duplicate action {ty:?} configuration"),
                    &format!("an action action.{ty}.{name}"),
                );
            }
        }
        self.module.moved.extend(file.moved);
        self.module.removed.extend(file.removed);
        self.module.imports.extend(file.imports);
    }

    /// Reports a duplicate; `what` is a noun with its article: `a variable "x"`.
    fn report(&mut self, clash: Clash, summary: &str, what: &str) {
        let location = self.location(clash.first);
        let detail =
            format!("This module already has {what}, declared at {location}. Rename or remove one of the two.");
        self.error(clash.second, summary, detail);
    }

    fn add_required_providers(&mut self, block: RequiredProviders) {
        if let Some(first) = self.required_providers {
            let clash = Clash { first, second: block.span };
            return self.report(clash, "Duplicate required providers configuration", "a required_providers block");
        }
        self.required_providers = Some(block.span);
        self.module.required_providers.extend(block.entries.into_iter().map(|entry| (entry.name.clone(), entry)));
    }

    fn add_backend(&mut self, backend: Backend) {
        if let Some(first) = &self.module.backend {
            let clash = Clash { first: first.span, second: backend.span };
            return self.report(clash, "Duplicate 'backend' configuration block", "a backend");
        }
        self.module.backend = Some(backend);
    }

    fn add_cloud(&mut self, cloud: Backend) {
        if let Some(first) = &self.module.cloud {
            let clash = Clash { first: first.span, second: cloud.span };
            return self.report(clash, "Duplicate HCP Terraform configurations", "a 'cloud' block");
        }
        self.module.cloud = Some(cloud);
    }

    /// Reports a module with both a backend and a cloud block.
    pub(super) fn check_backend(&mut self) {
        let (Some(backend), Some(cloud)) = (&self.module.backend, &self.module.cloud) else { return };
        let clash = Clash { first: cloud.span, second: backend.span };
        self.report(clash, "Conflicting 'cloud' and 'backend' configuration blocks are present", "a 'cloud' block");
    }

    fn add_encryption(&mut self, block: EncryptionBlock) {
        if let Some(first) = &self.module.encryption_block {
            let clash = Clash { first: first.span, second: block.span };
            return self.report(clash, "Duplicate encryption configuration", "an encryption block");
        }
        self.module.encryption_block = Some(block);
    }

    fn add_provider_meta(&mut self, meta: ProviderMeta) {
        let name = meta.name.clone();
        if let Some(clash) = declare(&mut self.module.provider_metas, name.clone(), meta, |meta| meta.span) {
            self.report(clash, "Duplicate provider_meta block", &format!("a provider_meta block for {name:?}"));
        }
    }

    fn add_provider(&mut self, provider: ProviderBlock) {
        let key = provider.provider.clone();
        if let Some(clash) = declare(&mut self.module.providers, key.clone(), provider, |provider| provider.span) {
            let what = match &key.alias {
                None => format!("a configuration of the provider {:?} without alias", key.name),
                Some(alias) => format!("a configuration of the provider {:?} with the alias {alias:?}", key.name),
            };
            self.report(clash, "Duplicate provider configuration", &what);
        }
    }

    fn add_variable(&mut self, variable: VariableDraft) {
        let name = variable.name.clone();
        if let Some(clash) = declare(&mut self.variables, name.clone(), variable, |variable| variable.span) {
            self.report(clash, "Duplicate variable declaration", &format!("a variable {name:?}"));
        }
    }

    fn add_local(&mut self, local: Local) {
        let name = local.name.clone();
        if let Some(clash) = declare(&mut self.module.locals, name.clone(), local, |local| local.span) {
            self.report(clash, "Duplicate local value definition", &format!("a local value {name:?}"));
        }
    }

    fn add_output(&mut self, output: OutputDraft) {
        let name = output.name.clone();
        if let Some(clash) = declare(&mut self.outputs, name.clone(), output, |output| output.span) {
            self.report(clash, "Duplicate output definition", &format!("an output {name:?}"));
        }
    }

    fn add_resource(&mut self, resource: Resource) {
        let key = resource.address.clone();
        if let Some(clash) = declare(&mut self.module.resources, key.clone(), resource, |resource| resource.header_span)
        {
            let kind = match key.mode {
                Mode::Managed => "resource",
                Mode::Data => "data",
                Mode::Ephemeral => "ephemeral resource",
                Mode::List => "list",
            };
            self.report(
                clash,
                &format!("Duplicate {kind} {:?} configuration", key.type_name),
                &format!("an object {key}"),
            );
        }
    }

    fn add_check(&mut self, check: Check, data: Option<Resource>) {
        let name = check.name.clone();
        if let Some(clash) = declare(&mut self.module.checks, name.clone(), check, |check| check.span) {
            self.report(clash, &format!("Duplicate check {name:?} configuration"), &format!("a check {name:?}"));
        }
        if let Some(data) = data {
            self.add_resource(data);
        }
    }
}

/// A module under construction. Variables and outputs are drafts until all overrides are applied.
pub(super) struct Assembly<'a> {
    pub(super) module: Module,
    pub(super) variables: IndexMap<Name, VariableDraft>,
    pub(super) outputs: IndexMap<Name, OutputDraft>,
    pub(super) required_versions: Vec<RequiredVersion>,
    /// Span of the first `required_providers` block.
    pub(super) required_providers: Option<Span>,
    pub(super) sources: &'a Sources,
    pub(super) diagnostics: &'a mut Diagnostics,
}

impl Assembly<'_> {
    pub(super) fn error(&mut self, span: Span, summary: impl Into<String>, detail: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(span));
    }

    pub(super) fn location(&self, span: Span) -> String {
        location_text(self.sources, span)
    }
}
