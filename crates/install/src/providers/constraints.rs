//! Version constraints of providers, which differ from those of modules and of the program.

use groma_config::version::{Constraint, Constraints, Operator, Version};

use crate::discovery::is_named;

/// Normalizes constraints: without duplicates, sorted by version, then by operator.
pub fn constraints_text(constraints: &Constraints) -> String {
    let mut list: Vec<&Constraint> = constraints.iter().collect();
    list.sort_by(|a, b| {
        let narrower_first = || b.version.written_segments().cmp(&a.version.written_segments());
        a.version.cmp(&b.version).then(a.operator.cmp(&b.operator)).then_with(narrower_first)
    });
    let mut texts: Vec<String> = list.into_iter().map(constraint_text).collect();
    // Equal constraints are neighbors after sorting.
    texts.dedup();
    texts.join(", ")
}

fn constraint_text(constraint: &Constraint) -> String {
    match (constraint.operator, constraint.version.written_segments()) {
        // The equivalent form, which lock files of Terraform contain.
        (Operator::Pessimistic, 1) => {
            let dash = if constraint.version.is_prerelease() { "-" } else { "" };
            format!("~> {}.0{dash}{}", constraint.version.segment(0), constraint.version.prerelease())
        }
        _ => constraint.to_string(),
    }
}

/// Whether a version satisfies the constraints. Pre-releases must be requested by their exact number.
///
/// For modules, `~> 2` allows all later versions; for providers it means `~> 2.0`, and `~> 2.0.0-rc1` allows later
/// versions too.
pub(super) fn allows(constraints: &Constraints, version: &Version) -> bool {
    constraints.iter().all(|constraint| is_within(constraint, version))
        && (!version.is_prerelease() || is_named(constraints, version))
}

fn is_within(Constraint { operator, version: bound }: &Constraint, version: &Version) -> bool {
    match operator {
        Operator::Equal => version == bound,
        Operator::NotEqual => version != bound,
        Operator::Greater => version > bound,
        Operator::GreaterOrEqual => version >= bound,
        Operator::Less => version < bound,
        Operator::LessOrEqual => version <= bound,
        Operator::Pessimistic => {
            // All segments but the last written one; `~> 2` fixes the first, unlike for modules.
            let fixed = bound.written_segments().saturating_sub(1).max(1);
            version >= bound && (0..fixed).all(|index| version.segment(index) == bound.segment(index))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constraints(text: &str) -> Constraints {
        text.parse().unwrap()
    }

    #[test]
    fn ranges_of_providers_are_those_of_terraform() {
        for (text, allowed, refused) in [
            ("~> 1", "1.3.0", "2.0.0"),
            ("~> 1.2", "1.3.0", "2.0.0"),
            ("~> 1.2.0", "1.2.3", "1.3.0"),
            ("~> 2.0.0-rc1", "2.0.0", "2.1.0"),
            ("> 1.3.0-beta1", "1.3.0", "1.3.0-beta1"),
            (">= 2.0.0-rc1", "2.1.0", "2.0.0-rc1"),
            ("2.0.0-rc1", "2.0.0-rc1", "2.0.0"),
            ("< 2", "1.3.0", "2.0.0-rc1"),
        ] {
            let range = constraints(text);
            assert!(allows(&range, &allowed.parse().unwrap()), "{text} allows {allowed}");
            assert!(!allows(&range, &refused.parse().unwrap()), "{text} refuses {refused}");
        }
    }

    #[test]
    fn constraints_have_one_form() {
        for (text, form) in [
            ("~> 1", "~> 1.0"),
            ("~> 1-beta", "~> 1.0-beta"),
            ("~> 1, ~> 1.2", "~> 1.0, ~> 1.2"),
            ("!= 1.13.0, ~> 1.13", "~> 1.13, != 1.13.0"),
            ("= 1.2, > 1.2.0, >= 1.2.0", "> 1.2.0, >= 1.2.0, 1.2.0"),
            ("< 1.0, 1.0.0, <= 1.0.0, ~> 1.0", "1.0.0, ~> 1.0, <= 1.0.0, < 1.0.0"),
            (">= 1, >= 1.0.0", ">= 1.0.0"),
            ("~> 1.2, ~> 1.2.0", "~> 1.2.0, ~> 1.2"),
        ] {
            assert_eq!(constraints_text(&constraints(text)), form);
        }
    }
}
