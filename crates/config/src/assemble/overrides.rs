//! Override files: their arguments replace those of the primary files, one by one.

use std::sync::Arc;

use groma_address::Mode;
use groma_diagnostics::Span;
use groma_hcl::{Expression, Traversal};
use indexmap::map::Entry;

use super::primary::Assembly;
use crate::decode::{FileContent, OutputDraft, VariableDraft};
use crate::model::{ActionBlock, IgnoreChanges, Lifecycle, ModuleCall, Product, ProviderBlock, Resource};

impl Assembly<'_> {
    /// Applies an override file.
    pub(super) fn apply_override(&mut self, file: FileContent) {
        self.override_settings(&file);
        file.providers.into_iter().for_each(|provider| self.override_provider(provider));
        file.variables.into_iter().for_each(|variable| self.override_variable(variable));
        for local in file.locals {
            if !self.module.locals.contains_key(&local.name) {
                let what = format!("local value {:?}", local.name);
                self.nothing_to_override(local.span, "Missing base local value definition to override", &what);
            }
            // Inserted even if the base is missing: that is reported, and references to the value are no further errors.
            self.module.locals.insert(local.name.clone(), local);
        }
        file.outputs.into_iter().for_each(|output| self.override_output(output));
        file.calls.into_iter().for_each(|call| self.override_call(call));
        file.resources.into_iter().for_each(|resource| self.override_resource(resource));
        file.actions.into_iter().for_each(|action| self.override_action(action));
    }

    fn override_settings(&mut self, file: &FileContent) {
        if !file.required_versions.is_empty() {
            self.required_versions = file.required_versions.clone();
        }
        for entry in file.required_providers.iter().flat_map(|block| &block.entries) {
            self.module.required_providers.insert(entry.name.clone(), entry.clone());
        }
        for extra in file.backends.iter().skip(1) {
            self.error(
                extra.span,
                "Duplicate backend configuration",
                "An override file can have only one backend block. Remove the others.",
            );
        }
        // A backend block replaces a cloud block and vice versa: a configuration has a single state storage.
        if let Some(backend) = file.backends.first() {
            self.module.backend = Some(backend.clone());
            self.module.cloud = None;
        }
        for extra in file.clouds.iter().skip(1) {
            self.error(
                extra.span,
                "Duplicate HCP Terraform configurations",
                "An override file can have only one cloud block. Remove the others.",
            );
        }
        if let Some(cloud) = file.clouds.first() {
            self.module.cloud = Some(cloud.clone());
            self.module.backend = None;
        }
        for extra in file.encryptions.iter().skip(1) {
            self.error(
                extra.span,
                "Duplicate encryption configuration",
                "An override file can have only one encryption block. Remove the others.",
            );
        }
        if let Some(block) = file.encryptions.first() {
            self.module.encryption_block = Some(match self.module.encryption_block.take() {
                Some(base) => base.overridden_by(block.clone()),
                None => block.clone(),
            });
        }
        for meta in &file.provider_metas {
            self.module.provider_metas.insert(meta.name.clone(), meta.clone());
        }
    }

    fn nothing_to_override(&mut self, span: Span, summary: &str, what: &str) {
        self.error(
            span,
            summary,
            format!(
                "No other file declares the {what}, and override files can only change existing declarations. Check the name."
            ),
        );
    }

    fn override_provider(&mut self, provider: ProviderBlock) {
        match self.module.providers.entry(provider.provider.clone()) {
            Entry::Occupied(mut entry) => {
                let base = entry.get_mut();
                // Without a schema the bodies cannot be merged yet, so the override is applied when the body is decoded.
                base.body = base.body.overridden_by(&provider.body);
                if !provider.version.is_empty() {
                    base.version = provider.version;
                }
                base.for_each = provider.for_each.or_else(|| base.for_each.take());
            }
            // The default configuration exists implicitly, so an override may declare it.
            Entry::Vacant(entry) if provider.provider.alias.is_none() => {
                entry.insert(provider);
            }
            Entry::Vacant(_) => {
                let what = format!("provider configuration {}", provider.provider);
                self.nothing_to_override(provider.span, "Missing base provider configuration for override", &what);
            }
        }
    }

    fn override_variable(&mut self, variable: VariableDraft) {
        let Some(base) = self.variables.get_mut(&variable.name) else {
            let what = format!("variable {:?}", variable.name);
            return self.nothing_to_override(variable.span, "Missing base variable declaration to override", &what);
        };
        // If only the type or only the default is overridden, a mismatch is reported at the override.
        let limits = variable.constraint.is_some() || variable.nullable.is_some();
        if limits || variable.default.is_some() {
            let problems = super::value::default_problems(base);
            if problems.has_errors() {
                // Reported here against the original type, and dropped to avoid a second report.
                base.default = None;
                self.diagnostics.append(problems);
            }
            let both = limits && variable.default.is_some();
            base.overridden = (!both).then_some(variable.span);
        }
        replace(&mut base.constraint, variable.constraint);
        replace(&mut base.default, variable.default);
        replace(&mut base.sensitive, variable.sensitive);
        replace(&mut base.ephemeral, variable.ephemeral);
        replace(&mut base.nullable, variable.nullable);
        replace(&mut base.constant, variable.constant);
        replace(&mut base.description, variable.description);
        if variable.deprecated.is_some() {
            base.deprecated_span = variable.deprecated_span;
        }
        replace(&mut base.deprecated, variable.deprecated);
    }

    fn override_output(&mut self, output: OutputDraft) {
        self.refuse_depends_on(&output.depends_on);
        let Some(base) = self.outputs.get_mut(&output.name) else {
            let what = format!("output {:?}", output.name);
            return self.nothing_to_override(output.span, "Missing base output definition to override", &what);
        };
        replace(&mut base.expression, output.expression);
        replace(&mut base.constraint, output.constraint);
        replace(&mut base.sensitive, output.sensitive);
        replace(&mut base.ephemeral, output.ephemeral);
        // Terraform ignores `deprecated` in override files; only `.tofu` files have no span here.
        if output.deprecated_span.is_none() {
            replace(&mut base.deprecated, output.deprecated);
        }
        replace(&mut base.description, output.description);
    }

    fn override_call(&mut self, call: ModuleCall) {
        self.refuse_depends_on(&call.depends_on);
        let Some(base) = self.module.calls.get_mut(&call.name) else {
            let what = format!("module call {:?}", call.name);
            return self.nothing_to_override(call.span, "Missing module call to override", &what);
        };
        // The parsed source and its expression belong together: an invalid source must not leave the old one in use.
        if call.source_expression.is_some() {
            base.source = call.source;
            base.source_expression = call.source_expression;
        }
        if call.version_expression.is_some() {
            base.version = call.version;
            base.version_expression = call.version_expression;
        }
        repeat(&mut base.count, &mut base.for_each, call.count, call.for_each);
        replace(&mut base.enabled, call.enabled);
        if call.written_for == Product::OpenTofu {
            base.written_for = call.written_for;
        }
        // The argument is replaced as a whole, not merged entry by entry, as in Terraform.
        if !call.providers.is_empty() {
            base.providers = call.providers;
        }
        base.body = base.body.overridden_by(&call.body);
    }

    fn override_resource(&mut self, resource: Resource) {
        self.refuse_depends_on(&resource.depends_on);
        let Some(base) = self.module.resources.get_mut(&resource.address) else {
            let summary = match resource.address.mode {
                Mode::Managed => "Missing resource to override",
                Mode::Data => "Missing data resource to override",
                Mode::Ephemeral => "Missing ephemeral resource to override",
                Mode::List => "Missing list block to override",
            };
            let what = format!("object {}", resource.address);
            return self.nothing_to_override(resource.header_span, summary, &what);
        };
        repeat(&mut base.count, &mut base.for_each, resource.count, resource.for_each);
        replace(&mut base.provider, resource.provider);
        replace(&mut base.connection, resource.connection);
        // All provisioners are replaced together: they have no identity to merge by.
        if !resource.provisioners.is_empty() {
            base.provisioners = resource.provisioners;
        }
        if !resource.lifecycle.span.is_none() {
            override_lifecycle(Arc::make_mut(&mut base.lifecycle), &resource.lifecycle);
        }
        base.body = base.body.overridden_by(&resource.body);
    }

    fn override_action(&mut self, action: ActionBlock) {
        let key = (action.type_name.clone(), action.name.clone());
        let Some(base) = self.module.actions.get_mut(&key) else {
            let what = format!("action {}.{}", action.type_name, action.name);
            return self.nothing_to_override(action.span, "Missing resource to override", &what);
        };
        repeat(&mut base.count, &mut base.for_each, action.count, action.for_each);
        replace(&mut base.provider, action.provider);
        base.config = match (base.config.take(), action.config) {
            (Some(base), Some(change)) => Some(base.overridden_by(&change)),
            (base, change) => change.or(base),
        };
    }

    fn refuse_depends_on(&mut self, depends_on: &[Traversal]) {
        if let Some(first) = depends_on.first() {
            self.error(
                first.span,
                "Unsupported override",
                "An override file cannot change depends_on. Change it where the object is declared.",
            );
        }
    }
}

fn override_lifecycle(base: &mut Lifecycle, change: &Lifecycle) {
    replace(&mut base.create_before_destroy, change.create_before_destroy.clone());
    replace(&mut base.prevent_destroy, change.prevent_destroy.clone());
    replace(&mut base.destroy, change.destroy.clone());
    replace(&mut base.enabled, change.enabled.clone());
    if change.ignore_changes != IgnoreChanges::None {
        base.ignore_changes = change.ignore_changes.clone();
    }
    if !change.replace_triggered_by.is_empty() {
        base.replace_triggered_by = change.replace_triggered_by.clone();
    }
    if !change.action_triggers.is_empty() {
        base.action_triggers = change.action_triggers.clone();
    }
}

/// Overrides `count` and `for_each`. If each comes from a different file, `count` wins, as in Terraform.
fn repeat(
    count: &mut Option<Expression>,
    for_each: &mut Option<Expression>,
    new_count: Option<Expression>,
    new_for_each: Option<Expression>,
) {
    replace(count, new_count);
    replace(for_each, new_for_each);
    if count.is_some() {
        *for_each = None;
    }
}

/// Replaces the base value if the override sets one.
fn replace<T>(base: &mut Option<T>, change: Option<T>) {
    if change.is_some() {
        *base = change;
    }
}
