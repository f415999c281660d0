//! Splats: the same selection from every element.

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::{Expression, Selector, Splat};
use groma_value::{Type, Value};

use super::{Evaluator, Reporting, access};
use crate::ranges;

impl Evaluator<'_> {
    pub(super) fn splat(&mut self, splat: &Splat, expression: &Expression) -> Value {
        match self.attempt(&splat.source) {
            (_, true) => Value::DYNAMIC,
            (source, false) => self.each(source, &splat.each, &splat.source, expression),
        }
    }

    /// Applies `selectors` to every element of `source`. A value that is no sequence counts as a sequence of one, null as
    /// an empty one.
    fn each(&mut self, source: Value, selectors: &[Selector], origin: &Expression, whole: &Expression) -> Value {
        let ty = source.ty();
        let sequence = matches!(ty, Type::List(_) | Type::Set(_) | Type::Tuple(_));
        if source.is_null() {
            // A null object is an absent one: `resource[*]` has no elements then, as in Terraform.
            if !sequence {
                return Value::tuple(Vec::new()).with_marks(source.marks());
            }
            let problem =
                Diagnostic::error("Splat of null value", "A splat cannot be applied to a sequence that is null.")
                    .at(origin.span)
                    .within(whole.span);
            self.report_about(problem, origin);
            return Value::DYNAMIC;
        }
        if ty == Type::Dynamic {
            return Value::DYNAMIC.with_marks(source.marks());
        }
        if !sequence {
            let marks = source.marks().clone();
            let countless = !source.is_known() && !&source.is_definitely_not_null();
            let (value, failed) = self.selected(source, selectors, whole);
            let result = match (failed, countless) {
                // An unknown value may turn out to be null: nobody knows whether there will be an element.
                (_, true) => Value::DYNAMIC,
                (true, false) => Value::unknown(self.type_of_splat(&Type::tuple([ty]), selectors, whole)),
                (false, false) => Value::tuple(vec![value]),
            };
            return result.with_marks(&marks);
        }
        if !source.is_known() {
            return self.unknown_splat(&source, &ty, selectors, whole);
        }
        let marks = source.marks().clone();
        let mut values = Vec::new();
        let mut failed = false;
        for (_, element) in source.elements() {
            let (value, element_failed) = self.selected(element, selectors, whole);
            failed |= element_failed;
            values.push(value);
        }
        if failed {
            return Value::unknown(self.type_of_splat(&ty, selectors, whole)).with_marks(&marks);
        }
        if let Type::Tuple(_) = ty {
            return Value::tuple(values).with_marks(&marks);
        }
        self.list_of(values, &ty, selectors, whole).with_marks(&marks)
    }

    fn list_of(&mut self, values: Vec<Value>, source: &Type, selectors: &[Selector], whole: &Expression) -> Value {
        // An empty list still has an element type, which follows from the selectors alone.
        if values.is_empty() {
            let element = source.element().cloned().unwrap_or(Type::Dynamic);
            let (value, _) = self.selected(Value::unknown(element), selectors, whole);
            return Value::list(value.ty(), Vec::new());
        }
        // What has no type yet takes on that of the others.
        let mut types = values.iter().map(Value::ty).filter(|ty| *ty != Type::Dynamic);
        let element = types.next().unwrap_or(Type::Dynamic);
        if types.any(|ty| ty != element) {
            let problem = Diagnostic::error(
                "Invalid nested splat expressions",
                "The inner splat gives results of different types, which cannot be elements of one list. Use a for expression: \
                 its result is a tuple, whose elements may have different types.",
            );
            self.report(problem.at(whole.span));
            return Value::DYNAMIC;
        }
        Value::list(element, values)
    }

    /// The type, and so far as possible the length, of a splat over an unknown sequence.
    fn unknown_splat(&mut self, source: &Value, ty: &Type, selectors: &[Selector], whole: &Expression) -> Value {
        let result = match self.selected_type(ty, selectors, whole) {
            list @ Type::List(_) => ranges::as_long_as(source, list),
            tuple => Value::unknown(tuple).not_null(),
        };
        result.with_marks(source.marks())
    }

    /// Returns the type of a splat over a sequence type, and reports errors.
    fn selected_type(&mut self, ty: &Type, selectors: &[Selector], whole: &Expression) -> Type {
        let mut selected = |element: &Type| self.selected(Value::unknown(element.clone()), selectors, whole).0.ty();
        match ty {
            Type::Tuple(elements) => Type::tuple(elements.iter().map(selected).collect::<Vec<_>>()),
            _ => Type::list(selected(ty.element().unwrap_or(&Type::Dynamic))),
        }
    }

    /// Returns the type of a splat after an element failed. The failure is reported already, and an arm of a conditional
    /// needs a type even if it is not taken.
    fn type_of_splat(&mut self, ty: &Type, selectors: &[Selector], whole: &Expression) -> Type {
        let mut problems = Diagnostics::new();
        Evaluator {
            scope: self.scope,
            diagnostics: &mut problems,
            depth: self.depth,
            value_depth: self.value_depth,
            reporting: Reporting::Outcome,
        }
        .selected_type(ty, selectors, whole)
    }

    fn selected(&mut self, value: Value, selectors: &[Selector], whole: &Expression) -> (Value, bool) {
        let before = self.diagnostics.len();
        let mut value = value;
        for selector in selectors {
            let next = match selector {
                Selector::Step(step) => access::step(&value, step),
                Selector::Index { key, span } => {
                    let (key, failed) = self.attempt(key);
                    if failed {
                        return (Value::DYNAMIC, true);
                    }
                    access::index(&value, &key, *span)
                }
                Selector::Splat { each, .. } => {
                    self.depth += 1;
                    let inner = self.each(value, each, whole, whole);
                    self.depth -= 1;
                    Ok(inner)
                }
            };
            match next {
                Ok(next) => value = next,
                Err(problem) => {
                    self.report_about(problem.within(whole.span), whole);
                    return (Value::DYNAMIC, true);
                }
            }
        }
        let failed = super::observe::failed_since(self.diagnostics, before);
        (value, failed)
    }
}
