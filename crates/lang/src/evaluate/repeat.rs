//! `for` expressions.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use groma_diagnostics::{Diagnostic, Span, quoted};
use groma_hcl::{Expression, For, Ident, Name};
use groma_value::{Kind, Marks, Type, Value, convert};

use super::arms::truth;
use super::{Evaluator, Nested};

/// The result of a `for` expression under construction.
struct Building {
    marks: Marks,
    /// Whether every element could be decided upon; if not, the result is unknown.
    known: bool,
}

impl Evaluator<'_> {
    pub(super) fn comprehension(&mut self, comprehension: &For, whole: Span) -> Value {
        let Some(collection) = self.iterated(&comprehension.collection, whole) else { return Value::DYNAMIC };
        if collection.ty() == Type::Dynamic {
            return Value::DYNAMIC.with_marks(collection.marks());
        }
        let mut building = Building { marks: collection.marks().clone(), known: true };
        let names = variables(comprehension.key.as_ref(), &comprehension.value);
        self.with_variables(names, |nested| {
            if let Some(condition) = &comprehension.condition {
                match nested.plausible(condition, whole) {
                    Some(_) if collection.is_known() => {}
                    Some(marks) => return Value::DYNAMIC.with_marks(&building.marks.union(&marks)),
                    None => return Value::DYNAMIC,
                }
            }
            if !collection.is_known() {
                return Value::DYNAMIC.with_marks(&building.marks);
            }
            let value = match &comprehension.key_expression {
                Some(key) if comprehension.grouping.is_some() => {
                    nested.groups(comprehension, key, &collection, &mut building, whole)
                }
                Some(key) => nested.entries(comprehension, key, &collection, &mut building, whole),
                None => nested.elements(comprehension, &collection, &mut building, whole),
            };
            if building.known { value.with_marks(&building.marks) } else { Value::DYNAMIC.with_marks(&building.marks) }
        })
    }

    /// The collection, if it can be walked or may turn out to be walkable.
    pub(super) fn iterated(&mut self, collection: &Expression, whole: Span) -> Option<Value> {
        let (value, failed) = self.attempt(collection);
        // The elements of a collection with an error may still be checked; that it is not a collection follows from the error.
        let is_walkable = matches!(
            value.ty(),
            Type::List(_) | Type::Set(_) | Type::Map(_) | Type::Object(_) | Type::Tuple(_) | Type::Dynamic
        );
        if failed {
            return (is_walkable && !value.is_null()).then_some(value);
        }
        if value.is_null() {
            let detail = "A null value cannot be the collection of a 'for' expression.";
            let problem = Diagnostic::error("Iteration over null value", detail).at(collection.span).within(whole);
            self.report_about(problem, collection);
            return None;
        }
        if is_walkable {
            return Some(value);
        }
        let ty = value.ty();
        let detail = format!("A value of type {} cannot be the collection of a 'for' expression.", ty.friendly_name());
        let problem = Diagnostic::error("Iteration over non-iterable value", detail).at(collection.span).within(whole);
        self.report_about(problem, collection);
        None
    }
}

/// The variables of a `for`, unknown as yet; the key comes first.
pub(super) fn variables(key: Option<&Ident>, value: &Ident) -> Vec<(Name, Value)> {
    key.into_iter().chain([value]).map(|name| (name.name.clone(), Value::DYNAMIC)).collect()
}

impl Nested<'_, '_> {
    /// Evaluates the condition once with unknown variables: a condition of the wrong type is reported once, not for
    /// each element. Gives its marks unless it is wrong.
    fn plausible(&mut self, condition: &Expression, whole: Span) -> Option<Marks> {
        let mut evaluator = self.evaluator();
        let (value, failed) = evaluator.attempt(condition);
        if failed {
            return None;
        }
        let problem = if value.is_null() {
            Diagnostic::error("Condition is null", "The condition after 'if' is null; it must be true or false.")
        } else if let Err(problem) = convert::convert(&value, &Type::Bool) {
            wrong_condition(&problem.message)
        } else {
            return Some(value.marks().clone());
        };
        evaluator.report_about(problem.at(condition.span).within(whole), condition);
        None
    }

    /// Whether the element that is bound right now counts. Nothing if that cannot be said.
    fn included(&mut self, condition: Option<&Expression>, building: &mut Building, whole: Span) -> Option<bool> {
        let Some(condition) = condition else { return Some(true) };
        let mut evaluator = self.evaluator();
        let (value, failed) = evaluator.attempt(condition);
        building.marks = building.marks.union(value.marks());
        if failed {
            building.known = false;
            return None;
        }
        let problem = if value.is_null() {
            Diagnostic::error("Invalid 'for' condition", "The condition after 'if' is null; it must be true or false.")
        } else {
            match convert::convert(&value, &Type::Bool) {
                Ok(value) => {
                    let truth = truth(&value);
                    building.known &= truth.is_some();
                    return truth;
                }
                Err(problem) => wrong_condition(&problem.message),
            }
        };
        // As in HCL, a wrong condition is not reported once an element was undecided.
        if building.known {
            evaluator.report_about(problem.at(condition.span).within(whole), condition);
        }
        building.known = false;
        None
    }

    fn elements(&mut self, comprehension: &For, collection: &Value, building: &mut Building, whole: Span) -> Value {
        let mut values = Vec::new();
        for (key, element) in collection.elements() {
            self.bind(comprehension.key.as_ref().map(|_| key), element);
            if self.included(comprehension.condition.as_ref(), building, whole) == Some(true) {
                values.push(self.evaluator().evaluate(&comprehension.value_expression));
            }
        }
        Value::tuple(values)
    }

    fn entries(
        &mut self,
        comprehension: &For,
        key_expression: &Expression,
        collection: &Value,
        building: &mut Building,
        whole: Span,
    ) -> Value {
        let mut entries: BTreeMap<Name, Value> = BTreeMap::new();
        for (key, element) in collection.elements() {
            self.bind(comprehension.key.as_ref().map(|_| key), element);
            if self.included(comprehension.condition.as_ref(), building, whole) != Some(true) {
                continue;
            }
            let Some(name) = self.entry_key(key_expression, building, whole) else { continue };
            let value = self.evaluator().evaluate(&comprehension.value_expression);
            match entries.entry(name) {
                Entry::Vacant(entry) => {
                    entry.insert(value);
                }
                Entry::Occupied(entry) => {
                    // A sensitive key must not appear in the message.
                    let detail = if building.marks.is_sensitive() {
                        "Two elements gave the same key. To collect the values of equal keys, write an ellipsis (...) after the \
                         value expression."
                            .to_owned()
                    } else {
                        format!(
                            "Two elements gave the key {}. To collect the values of equal keys, write an ellipsis (...) after \
                             the value expression.",
                            quoted(entry.key())
                        )
                    };
                    let problem =
                        Diagnostic::error("Duplicate object key", detail).at(key_expression.span).within(whole);
                    self.evaluator().report_about(problem, key_expression);
                }
            }
        }
        Value::object(entries)
    }

    fn groups(
        &mut self,
        comprehension: &For,
        key_expression: &Expression,
        collection: &Value,
        building: &mut Building,
        whole: Span,
    ) -> Value {
        let mut groups: BTreeMap<Name, Vec<Value>> = BTreeMap::new();
        for (key, element) in collection.elements() {
            self.bind(comprehension.key.as_ref().map(|_| key), element);
            if self.included(comprehension.condition.as_ref(), building, whole) != Some(true) {
                continue;
            }
            let Some(name) = self.entry_key(key_expression, building, whole) else { continue };
            let value = self.evaluator().evaluate(&comprehension.value_expression);
            groups.entry(name).or_default().push(value);
        }
        Value::object(groups.into_iter().map(|(name, values)| (name, Value::tuple(values))))
    }

    fn entry_key(&mut self, expression: &Expression, building: &mut Building, whole: Span) -> Option<Name> {
        let known = building.known;
        let mut evaluator = self.evaluator();
        let (value, failed) = evaluator.attempt(expression);
        building.marks = building.marks.union(value.marks());
        let problem = if failed {
            None
        } else if value.is_null() {
            Some("The key of an element must not be null.".to_owned())
        } else {
            match convert::convert(&value, &Type::String) {
                Ok(text) => match text.kind() {
                    Kind::String(text) => return Some(text.clone()),
                    _ => None,
                },
                Err(problem) => Some(format!("The key of an element has the wrong type: {}.", problem.message)),
            }
        };
        // As in HCL, a wrong key is not reported once an element was undecided.
        if let (Some(detail), true) = (problem, known) {
            let problem = Diagnostic::error("Invalid object key", detail).at(expression.span).within(whole);
            evaluator.report_about(problem, expression);
        }
        building.known = false;
        None
    }
}

fn wrong_condition(message: &str) -> Diagnostic {
    Diagnostic::error("Invalid 'for' condition", format!("The condition after 'if' must be true or false: {message}."))
}
