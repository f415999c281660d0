//! Whether what an evaluation says of unknown values comes true.

use groma_value::{Kind, Value};

/// Whether `real`, which is known, is one of the values that `promised` may become. Marks are left out.
pub fn kept(promised: &Value, real: &Value) -> bool {
    let (promised, _) = promised.unmark_deep();
    let (real, _) = real.unmark_deep();
    kept_plain(&promised, &real)
}

fn kept_plain(promised: &Value, real: &Value) -> bool {
    if !promised.is_known() {
        return promised.range().includes(real) != Some(false);
    }
    if promised.is_wholly_known() {
        // Without elements the type of them may be found out later.
        return promised == real || promised.is_empty() && real.is_empty();
    }
    let all = |promised: &[Value], real: &[Value]| {
        promised.len() == real.len() && promised.iter().zip(real).all(|(promised, real)| kept_plain(promised, real))
    };
    match (promised.kind(), real.kind()) {
        (Kind::List(promised), Kind::List(real)) | (Kind::Tuple(promised), Kind::Tuple(real)) => all(promised, real),
        (Kind::Map(promised), Kind::Map(real)) => {
            promised.keys() == real.keys() && all(promised.values(), real.values())
        }
        (Kind::Object(promised), Kind::Object(real)) => all(promised.values(), real.values()),
        // Unknown elements may turn out to be equal.
        (Kind::Set(promised), Kind::Set(real)) => real.len() <= promised.len(),
        _ => false,
    }
}
