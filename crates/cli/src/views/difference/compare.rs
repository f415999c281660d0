//! Compares values: by their type if it is fixed, else by their form.

use groma_value::{Kind, Name, ObjectType, Type, Value};

use super::align::{align_sets, align_values};
use super::pair::{Pair, Paths, Relevance, Texts};
use super::tree::{Change, Content, Difference, Sensitivity, Style};

/// Compares two values without a fixed type, such as those of an output.
pub fn compare_values(before: Option<&Value>, after: Option<&Value>) -> Difference {
    compare_dynamic(&Pair {
        before,
        after,
        replace: Paths::default(),
        relevance: Relevance::All,
        texts: Texts::AsWritten,
    })
}

/// Compares a value with itself, to render it unchanged.
pub fn compare_unchanged(value: &Value, ty: &Type) -> Difference {
    let pair = Pair {
        before: Some(value),
        after: Some(value),
        replace: Paths::default(),
        relevance: Relevance::All,
        texts: Texts::EmptyIsNull,
    };
    compare_type(&pair, ty)
}

/// Compares two values. If either is sensitive, they are compared without marks, and `hidden` replaces the content.
pub(super) fn sensitive_or(
    pair: &Pair<'_>,
    hidden: impl FnOnce(Sensitivity) -> Content,
    compare: impl Fn(&Pair<'_>) -> Difference,
) -> Difference {
    let (before, after) = (pair.is_before_sensitive(), pair.is_after_sensitive());
    if !before && !after {
        return compare(pair);
    }
    // Marks are removed for the comparison: they would hide the content from it.
    let bare = |value: Option<&Value>| value.map(|value| value.unmark().0);
    let (bare_before, bare_after) = (bare(pair.before), bare(pair.after));
    let inner = compare(&Pair {
        before: bare_before.as_ref(),
        after: bare_after.as_ref(),
        texts: Texts::EmptyIsNull,
        ..pair.clone()
    });
    let is_absent = pair.before.is_none() && pair.after.is_none();
    let change = match inner.change {
        // A value that becomes sensitive changes even if it is equal otherwise.
        Change::None if before != after && !is_absent => Change::Update,
        change => change,
    };
    let content = hidden(Sensitivity { before, after, inner: inner.change });
    Difference { change, forces_replacement: pair.replace.end_here(), content }
}

/// Like [`unknown_in_value_or`], but renders an empty string that becomes unknown as null.
pub(super) fn unknown_or(pair: &Pair<'_>, compare: impl Fn(&Pair<'_>) -> Difference) -> Difference {
    let mut difference = unknown_in_value_or(pair, compare);
    if let Content::Unknown(Some(before)) = &mut difference.content
        && let Content::Scalar { before: Some(text), .. } = &mut before.content
        && text.as_str() == Some("")
    {
        // The legacy SDK stores null as an empty string, and the change to unknown would show it.
        *text = Value::null(Type::String);
    }
    difference
}

/// Returns the difference to an unknown value, with the old value; compares known values.
fn unknown_in_value_or(pair: &Pair<'_>, compare: impl Fn(&Pair<'_>) -> Difference) -> Difference {
    if pair.after.is_none_or(Value::is_known) {
        return compare(pair);
    }
    let (change, before) = match pair.before {
        None => (Change::Create, None),
        Some(before) if before.is_null() => (Change::Create, None),
        // A value compared with itself, such as the configuration of an action.
        Some(before) if !before.is_known() => (Change::None, None),
        Some(_) => (Change::Update, Some(Box::new(compare(&pair.given_up())))),
    };
    Difference { change, forces_replacement: pair.replace.end_here(), content: Content::Unknown(before) }
}

/// Compares two values of one type.
pub(super) fn compare_type(pair: &Pair<'_>, ty: &Type) -> Difference {
    sensitive_or(pair, Content::Sensitive, |pair| match ty {
        Type::String => unknown_or(&pair.clone().of_texts(), |pair| compare_known(pair, ty)),
        _ => unknown_or(pair, |pair| compare_known(pair, ty)),
    })
}

/// Compares two attributes of an object, for which null means absence.
pub(super) fn compare_part(pair: &Pair<'_>, ty: &Type) -> Difference {
    match ty {
        Type::String => sensitive_or(pair, Content::Sensitive, |pair| {
            unknown_or(&pair.clone().of_texts().implicit(), |pair| compare_known(pair, ty))
        }),
        _ => compare_type(pair, ty),
    }
}

/// Compares two list elements. A null element that becomes unknown counts as unchanged.
fn compare_element(pair: &Pair<'_>, ty: &Type) -> Difference {
    let difference = compare_type(pair, ty);
    match difference.content {
        // Null and unknown are both nothing to show, so Terraform reports no change.
        Content::Unknown(None) if pair.before.is_some() => Difference { change: Change::None, ..difference },
        _ => difference,
    }
}

fn compare_known(pair: &Pair<'_>, ty: &Type) -> Difference {
    let (change, content) = match ty {
        Type::Dynamic => return compare_dynamic(pair),
        Type::Bool | Type::Number | Type::String => (pair.change(), scalar(pair)),
        Type::Object(object) => object_parts(pair, object),
        Type::Map(element) => {
            let (change, entries) = entries(pair, |pair| compare_type(pair, element));
            (change, Content::Map(entries, Style::Plain))
        }
        Type::List(element) => {
            // Objects at one position are compared by attribute; other elements are replaced as a whole.
            let of_objects = matches!(**element, Type::Object(_));
            let pairs = align_values(pair.elements_before(), pair.elements_after(), |_, _| of_objects);
            let parts = pairs.into_iter().map(|(before, after)| compare_element(&pair.element(before, after), element));
            let (change, parts) = gather(pair.change_of_whole(), parts);
            (change, Content::List(parts, Style::Plain))
        }
        Type::Tuple(types) => {
            // Tuples have fixed positions, so elements never move.
            let parts = types.iter().enumerate().map(|(position, ty)| {
                let held = |elements: &[Value]| (position < elements.len()).then_some(position);
                let part = pair.at(held(pair.elements_before()), held(pair.elements_after()));
                compare_type(&part.relevant(), ty)
            });
            let (change, parts) = gather(pair.change_of_whole(), parts);
            (change, Content::List(parts, Style::Plain))
        }
        Type::Set(element) => {
            let (change, parts) = set_parts(pair, |pair| compare_type(pair, element));
            (change, Content::Set(parts, Style::Plain))
        }
    };
    Difference { change, forces_replacement: pair.replace.end_here(), content }
}

fn object_parts(pair: &Pair<'_>, ty: &ObjectType) -> (Change, Content) {
    let mut change = pair.change_of_whole();
    let mut parts = Vec::with_capacity(ty.len());
    for (name, ty) in ty.iter() {
        let part = pair.named(name).relevant().implicit();
        let difference = compare_part(&part, ty);
        // Attributes without any value are omitted, because a schema may have hundreds.
        if difference.change == Change::None && part.is_nothing() {
            continue;
        }
        change = change.with_part(difference.change);
        parts.push((name.clone(), difference));
    }
    (change, Content::Object(parts, Style::Plain))
}

/// Compares the elements of two sets.
pub(super) fn set_parts(pair: &Pair<'_>, compare: impl Fn(&Pair<'_>) -> Difference) -> (Change, Vec<Difference>) {
    let pairs = align_sets(pair.elements_before(), pair.elements_after());
    let parts = pairs.into_iter().map(|(before, after)| compare(&pair.element(before, after)));
    gather(pair.change_of_whole(), parts)
}

/// Compares the entries of two maps by key.
pub(super) fn entries(pair: &Pair<'_>, compare: impl Fn(&Pair<'_>) -> Difference) -> (Change, Vec<(Name, Difference)>) {
    let mut change = pair.change_of_whole();
    let mut parts = Vec::new();
    for key in keys(pair) {
        let difference = compare(&pair.named(&key).relevant());
        change = change.with_part(difference.change);
        parts.push((key, difference));
    }
    (change, parts)
}

/// Combines the change of the whole with those of its parts.
pub(super) fn gather(whole: Change, parts: impl Iterator<Item = Difference>) -> (Change, Vec<Difference>) {
    let parts: Vec<Difference> = parts.collect();
    (parts.iter().fold(whole, |change, part| change.with_part(part.change)), parts)
}

fn keys(pair: &Pair<'_>) -> Vec<Name> {
    let mut all: Vec<Name> = names(pair.before).iter().chain(names(pair.after)).cloned().collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn names(value: Option<&Value>) -> &[Name] {
    match value.map(Value::kind) {
        Some(Kind::Object(object)) => object.shape().names(),
        Some(Kind::Map(map)) => map.keys(),
        _ => &[],
    }
}

fn scalar(pair: &Pair<'_>) -> Content {
    Content::Scalar { before: pair.before.cloned(), after: pair.after.cloned() }
}

/// Form of a value without a fixed type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Null,
    Bool,
    Number,
    String,
    Sequence,
    Mapping,
}

fn form(value: Option<&Value>) -> Form {
    match value.map(Value::kind) {
        None | Some(Kind::Null | Kind::Unknown(_)) => Form::Null,
        Some(Kind::Bool(_)) => Form::Bool,
        Some(Kind::Number(_)) => Form::Number,
        Some(Kind::String(_)) => Form::String,
        // Terraform renders the three kinds alike, because JSON cannot tell them apart.
        Some(Kind::List(_) | Kind::Set(_) | Kind::Tuple(_)) => Form::Sequence,
        Some(Kind::Map(_) | Kind::Object(_)) => Form::Mapping,
    }
}

/// Compares two values by their form.
pub(super) fn compare_dynamic(pair: &Pair<'_>) -> Difference {
    // As in Terraform, values without a fixed type never show that they force replacement.
    let pair = &Pair { replace: Paths::default(), ..pair.clone() };
    sensitive_or(pair, Content::Sensitive, |pair| unknown_or(pair, compare_forms))
}

/// Compares two parts of values without a fixed type.
fn compare_dynamic_part(pair: &Pair<'_>) -> Difference {
    sensitive_or(pair, Content::Sensitive, |pair| unknown_in_value_or(pair, compare_forms))
}

fn compare_forms(pair: &Pair<'_>) -> Difference {
    let (before, after) = (form(pair.before), form(pair.after));
    // An absent value has no form, so the form of the other side decides.
    let is_one_sided = pair.before.is_none() || pair.after.is_none();
    if before == after || is_one_sided {
        return compare_form(pair, if before == Form::Null { after } else { before });
    }
    // Values of different forms have no common parts, so both are shown as a whole.
    let gone = Box::new(compare_form(&pair.as_deletion(), before));
    let come = Box::new(compare_form(&pair.as_creation(), after));
    Difference { change: Change::Update, forces_replacement: false, content: Content::KindChange(gone, come) }
}

fn compare_form(pair: &Pair<'_>, form: Form) -> Difference {
    let (change, content) = match form {
        Form::Mapping => {
            let (change, parts) = entries(pair, compare_dynamic_part);
            (change, Content::Object(parts, Style::Plain))
        }
        Form::Sequence => {
            let (before, after) = (pair.elements_before(), pair.elements_after());
            let is_mapping = |value: Option<&Value>| self::form(value) == Form::Mapping;
            // Only objects can be compared by attribute.
            let pairs = align_values(before, after, |b, a| is_mapping(before.get(b)) && is_mapping(after.get(a)));
            let parts = pairs.into_iter().map(|(before, after)| compare_dynamic_part(&pair.element(before, after)));
            let (change, parts) = gather(pair.change_of_whole(), parts);
            (change, Content::List(parts, Style::Plain))
        }
        Form::Null | Form::Bool | Form::Number | Form::String => (pair.change(), scalar(pair)),
    };
    Difference { change, forces_replacement: false, content }
}
