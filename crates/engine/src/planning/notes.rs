//! Results of planning a managed object: its change, its drift, and its record.

use std::sync::Arc;

use groma_value::Value;

use super::draft::Draft;
use super::event::ManagedSubject;
use super::planner::Planner;
use crate::plan::{Action, Mode, ResourceChange};
use crate::record::{self, Circumstances, Object};

impl Planner<'_> {
    pub(super) fn note_change(&mut self, subject: &ManagedSubject, draft: Draft) {
        if let Some(instance) = subject.instance {
            self.change_of.insert(instance, self.changes.len());
        }
        let change = self.change(subject, draft);
        self.changes.push(change);
    }

    /// Returns the change of an object, with everything that belongs to it.
    pub(super) fn change(&self, subject: &ManagedSubject, draft: Draft) -> ResourceChange {
        // Where an object was before is of no interest once it goes with all others.
        let moves_matter = subject.deposed.is_none() && self.options.mode != Mode::Destroy;
        let previous_address =
            self.moves.previous.get(&subject.address).filter(|_| moves_matter).cloned().map(Box::new);
        ResourceChange {
            address: subject.address.clone(),
            previous_address,
            deposed: subject.deposed.clone(),
            provider: Arc::clone(&subject.provider),
            schema: Arc::clone(&subject.schema),
            action: draft.action,
            reason: draft.reason,
            before: draft.before,
            after: draft.after,
            replace_paths: draft.replace_paths,
            planned_private: draft.private,
            planned_identity: draft.identity,
            create_before_destroy: subject.create_before_destroy,
            importing: subject.importing.clone().map(Box::new),
        }
    }

    /// Records changes made outside of Terraform (LC-22); `gone` is the identity of an object that no longer exists.
    pub(super) fn note_drift(
        &mut self,
        subject: &ManagedSubject,
        previous: &Value,
        prior: Option<&Object>,
        gone: Option<Value>,
    ) {
        let null = subject.schema.block.null_value();
        let now = prior.map_or(&null, |object| &object.value);
        let moved = subject.deposed.is_none() && self.moves.previous.contains_key(&subject.address);
        // What has changed in an object that goes matters to nobody, as in Terraform.
        let goes = self.options.mode == Mode::Destroy;
        if previous.is_null() || goes || (previous == now && !moved) {
            return;
        }
        let action = match prior {
            None => Action::Delete,
            Some(_) if previous == now => Action::NoOp,
            Some(_) => Action::Update,
        };
        self.drift.push(ResourceChange {
            address: subject.address.clone(),
            previous_address: self.moves.previous.get(&subject.address).filter(|_| moved).cloned().map(Box::new),
            deposed: subject.deposed.clone(),
            provider: Arc::clone(&subject.provider),
            schema: Arc::clone(&subject.schema),
            action,
            reason: None,
            before: previous.clone(),
            after: now.clone(),
            replace_paths: Vec::new(),
            planned_private: Arc::default(),
            planned_identity: gone,
            create_before_destroy: false,
            importing: None,
        });
    }

    /// Updates the state to the refreshed object, from which apply starts.
    pub(super) fn note_prior(&mut self, subject: &ManagedSubject, previous: &Value, prior: Option<&Object>) {
        let Some(record) = self.state.object(&subject.address, subject.deposed.as_ref()).cloned() else {
            if let (Some(_), Some(prior)) = (&subject.importing, prior) {
                self.keep_prior(subject, prior, Circumstances::default());
            }
            return;
        };
        let Some(prior) = prior else {
            self.state.remove(&subject.address, subject.deposed.as_ref());
            return;
        };
        let same = *previous == prior.value
            && record.schema_version == subject.schema.version
            && record.flat_attributes().is_none()
            && record.private == prior.private
            && record::keeps_identity(&subject.schema, &record, prior.identity.as_ref());
        if same {
            // Another instance of its provider block may manage it now.
            if !record.is_managed_by(&subject.provider) {
                self.state.insert(&subject.address, subject.deposed.as_ref(), &subject.provider, record);
            }
            return;
        }
        let circumstances = Circumstances {
            status: record.status,
            dependencies: record.dependencies.clone(),
            create_before_destroy: record.create_before_destroy,
            is_kept: record.is_kept(),
        };
        self.keep_prior(subject, prior, circumstances);
    }

    fn keep_prior(&mut self, subject: &ManagedSubject, prior: &Object, circumstances: Circumstances) {
        match record::encode(&subject.schema, prior, circumstances) {
            Ok(record) => {
                self.state.insert(&subject.address, subject.deposed.as_ref(), &subject.provider, Arc::new(record));
            }
            Err(problem) => self.evaluation.diagnostics.push(record::unrecordable(&subject.address, &problem)),
        }
    }
}
