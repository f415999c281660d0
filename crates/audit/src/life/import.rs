//! The object found again by what names it (LC-23, LC-24).

use groma_provider::contract::{check_compatible, check_shape, check_unknowns, check_write_only};
use groma_provider::{ImportRequest, ImportTarget, Private};
use groma_value::{Kind, Value};

use super::{Life, Object, Stepped, capabilities};
use crate::rule::{Rule, Step, Weight};

impl Life<'_> {
    /// Imports the object by its identity, or by its id where there is none. A provider may refuse (LC-25).
    pub(super) fn import(&mut self, object: &Object) -> Stepped<()> {
        let step = Step::Import;
        let Some(target) = target(object) else { return Ok(()) };
        let request = ImportRequest { type_name: self.type_name.clone(), target, client_capabilities: capabilities() };
        let answer = self.caller.call(|provider| provider.import_resource(request), |response| &response.diagnostics);
        let response = answer.map_err(|silence| self.silent(step, silence))?;
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
            let message = "it succeeded, and there is no object".to_owned();
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
            let message = "what was just made is not found by what names it".to_owned();
            self.observe(Rule::Import, Weight::Advice, step, String::new(), message);
            return Ok(());
        }
        if check_shape(block.implied_type(), &read.new_state).is_empty() {
            // What an import leaves out, the next plan sets: only other values are wrong.
            let both = only_where_both(&object.state, &read.new_state);
            let mut places: Vec<String> =
                check_compatible(block, &object.state, &both).iter().map(|wrong| wrong.place()).collect();
            places.dedup();
            if !places.is_empty() {
                let message =
                    format!("by the id that is in its state, it is found with other values in {}", places.join(", "));
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

/// `found` with the values of `made` where `found` has none.
fn only_where_both(made: &Value, found: &Value) -> Value {
    let (Kind::Object(made), Kind::Object(view)) = (made.kind(), found.kind()) else { return found.clone() };
    let empty = |value: &Value| value.is_null() || value.held_length() == Some(0);
    let values = made.values().iter().zip(view.values());
    Value::object_shaped(
        view.shape(),
        values.map(|(made, found)| if empty(found) { made } else { found }.clone()).collect(),
    )
}
