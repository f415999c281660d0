//! Plurals of type names, as the existing provider forms them: English rules of the kind Rails has, on the whole name.

/// Endings that stand alone in the table, longest first within a rule; the first rule that fits is used.
const IRREGULAR: [(&str, &str); 6] = [
    ("person", "people"),
    ("man", "men"),
    ("child", "children"),
    ("sex", "sexes"),
    ("move", "moves"),
    ("mombie", "mombies"),
];

/// Words whose plural is the word again get this, because a plural data source needs a name of its own.
const SAME_IN_PLURAL: [&str; 8] = ["efs", "hdfs", "nfs", "zfs", "tions", "issions", "windows", "settings"];

/// The name of the plural data source of a type: `awscc_ec2_instance` gives `awscc_ec2_instances`.
pub fn plural(name: &str) -> String {
    let plural = inflect(name);
    if plural != name {
        return plural;
    }
    if SAME_IN_PLURAL.iter().any(|ending| name.ends_with(ending)) {
        return format!("{name}_plural");
    }
    if name.ends_with(|last: char| last.is_ascii_digit()) {
        return format!("{name}s");
    }
    plural
}

fn inflect(name: &str) -> String {
    for (singular, plural) in IRREGULAR {
        if let Some(stem) = name.strip_suffix(singular) {
            return format!("{stem}{plural}");
        }
    }
    if name.ends_with("quiz") {
        return format!("{name}zes");
    }
    if name.ends_with("lens") {
        return format!("{name}es");
    }
    latin(name).or_else(|| english(name)).unwrap_or_else(|| name.to_owned())
}

fn latin(name: &str) -> Option<String> {
    for ending in ["matrix", "vertix", "indix", "matrex", "vertex", "index"] {
        if name.ends_with(ending) {
            return Some(format!("{}ices", name.get(..name.len() - 2)?));
        }
    }
    None
}

fn english(name: &str) -> Option<String> {
    let replace = |ending: &str, with: &str| name.strip_suffix(ending).map(|stem| format!("{stem}{with}"));
    let before = |ending: &str| name.strip_suffix(ending).and_then(|stem| stem.chars().next_back());
    if ["x", "ch", "ss", "sh"].iter().any(|ending| name.ends_with(ending)) {
        return Some(format!("{name}es"));
    }
    if name.ends_with("quy") || before("y").is_some_and(|letter| !"aeiouy".contains(letter)) {
        return replace("y", "ies");
    }
    if name.ends_with("hive") {
        return Some(format!("{name}s"));
    }
    if before("fe").is_some_and(|letter| letter != 'f') {
        return replace("fe", "ves");
    }
    if before("f").is_some_and(|letter| matches!(letter, 'l' | 'r')) {
        return replace("f", "ves");
    }
    if name.ends_with("sis") {
        return replace("sis", "ses");
    }
    if name.ends_with("ta") || name.ends_with("ia") {
        return Some(name.to_owned());
    }
    if name.ends_with("tum") || name.ends_with("ium") {
        return replace("um", "a");
    }
    if name.ends_with("buffalo") || name.ends_with("tomato") {
        return Some(format!("{name}es"));
    }
    if name.ends_with("bus") || name.ends_with("alias") || name.ends_with("status") {
        return Some(format!("{name}es"));
    }
    if name.ends_with("octopi") || name.ends_with("viri") {
        return Some(name.to_owned());
    }
    if name.ends_with("octopus") || name.ends_with("virus") {
        return replace("us", "i");
    }
    if name.ends_with('s') {
        return Some(name.to_owned());
    }
    name.ends_with(|last: char| last.is_ascii_alphabetic()).then(|| format!("{name}s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cc_02_plurals_of_type_names() {
        for (one, many) in [
            ("awscc_ec2_instance", "awscc_ec2_instances"),
            ("awscc_kms_alias", "awscc_kms_aliases"),
            ("awscc_iam_policy", "awscc_iam_policies"),
            ("awscc_s3_storage_lens", "awscc_s3_storage_lenses"),
            ("awscc_kendra_index", "awscc_kendra_indices"),
            ("awscc_x_settings", "awscc_x_settings_plural"),
            ("awscc_x_v2", "awscc_x_v2s"),
            ("awscc_ec2_key", "awscc_ec2_keys"),
        ] {
            assert_eq!(plural(one), many);
        }
    }
}
