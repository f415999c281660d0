//! Values that mean the same in another form (FW-17).

use groma_value::Value;

use crate::ResourceSchema;
use crate::rewrite::{Next, ObjectStates, rewrite};

/// `value` with the form of `prior` wherever an attribute's semantic equality says that the two mean the same.
pub(crate) fn keep_prior_form(schema: &ResourceSchema, value: &Value, prior: &Value) -> Value {
    if !schema.rules().has.equality || value.is_null() || prior.is_null() || value == prior {
        return value.clone();
    }
    let triple = ObjectStates { config: value, plan: value, state: prior };
    rewrite(schema.block(), schema.rules(), triple, &mut |visit| {
        let comparable = |value: &Value| !value.is_null() && value.is_wholly_known();
        match &visit.rules.own.equality {
            Some(equal) if visit.plan != visit.state && comparable(visit.plan) && comparable(visit.state) => {
                let same = equal(visit.plan, visit.state);
                Next::Past(if same { visit.state } else { visit.plan }.clone())
            }
            _ => Next::Into(visit.plan.clone()),
        }
    })
}
