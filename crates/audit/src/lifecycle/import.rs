//! Import of the created object (LC-23, LC-24).

use groma_provider::contract::{check_compatible, check_shape, check_unknowns, check_write_only};
use groma_provider::{ImportRequest, ImportTarget, Private};
use groma_value::{Kind, Value};

use super::{Lifecycle, Object, StepResult, capabilities};
use crate::rule::{Rule, Step, Weight};

impl Lifecycle<'_> {
    /// Imports the object by its identity, or by its ID without one. The provider may not support import (LC-25).
    pub(super) fn import(&mut self, object: &Object) -> StepResult<()> {
        let step = Step::Import;
        let Some(target) = target(object) else { return Ok(()) };
        let request = ImportRequest { type_name: self.type_name.clone(), target, client_capabilities: capabilities() };
        let answer = self.caller.call(|provider| provider.import_resource(request), |response| &response.diagnostics);
        let response = answer.map_err(|no_response| self.unresponsive(step, no_response))?;
        // Import is optional, so a refusal is no violation.
        if response.diagnostics.has_errors() || response.deferred.is_some() {
            return Ok(());
        }
        let schema = self.schema.clone();
        let block = &schema.block;
        let [imported] = &*response.imported else { return Ok(()) };
        if imported.type_name != self.type_name {
            return Ok(());
        }
        if imported.state.is_null() {
            let message = "succeeded without returning an object".to_owned();
            self.observe(Rule::Import, Weight::Error, step, String::new(), message);
            return Ok(());
        }
        let shape = check_shape(block.implied_type(), &imported.state);
        if !shape.is_empty() {
            self.note(&shape, Weight::Error, step, |_| Rule::Shape);
            return Ok(());
        }
        self.note(&check_unknowns(&imported.state), Weight::Error, step, |_| Rule::Known);
        self.note(&check_write_only(block, &imported.state), Weight::Error, step, |_| Rule::WriteOnly);
        if !imported.state.is_wholly_known() {
            return Ok(());
        }
        let stub = Object {
            state: imported.state.clone(),
            private: Private::clone(&imported.private),
            identity: imported.identity.clone(),
        };
        let read = self.read(step, &stub)?;
        if read.diagnostics.has_errors() {
            return Ok(());
        }
        if read.new_state.is_null() {
            let message = "the new object cannot be found by its identity or ID".to_owned();
            self.observe(Rule::Import, Weight::Advice, step, String::new(), message);
            return Ok(());
        }
        if check_shape(block.implied_type(), &read.new_state).is_empty() {
            // Attributes that the import leaves null are set by the next plan, so only different values count.
            let both = fill_missing(&object.state, &read.new_state);
            let mut paths: Vec<String> =
                check_compatible(block, &object.state, &both).iter().map(|wrong| wrong.location()).collect();
            paths.dedup();
            if !paths.is_empty() {
                let message =
                    format!("importing it by the ID in its state returns different values in {}", paths.join(", "));
                self.observe(Rule::Import, Weight::Advice, step, String::new(), message);
            }
        }
        Ok(())
    }
}

fn target(object: &Object) -> Option<ImportTarget> {
    if let Some(identity) = object.identity.as_ref().filter(|identity| !identity.is_null()) {
        return Some(ImportTarget::Identity(identity.clone()));
    }
    let id = object.state.attribute("id")?;
    id.as_str().filter(|id| !id.is_empty()).map(|id| ImportTarget::Id(id.to_owned()))
}

/// Completes `found` with values of `made` where `found` has none.
fn fill_missing(made: &Value, found: &Value) -> Value {
    let (Kind::Object(made), Kind::Object(view)) = (made.kind(), found.kind()) else { return found.clone() };
    let empty = |value: &Value| value.is_null() || value.held_length() == Some(0);
    let values = made.values().iter().zip(view.values());
    Value::object_shaped(
        view.shape(),
        values.map(|(made, found)| if empty(found) { made } else { found }.clone()).collect(),
    )
}
