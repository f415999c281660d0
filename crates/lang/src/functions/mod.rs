//! The built-in functions: those of Terraform 1.15 and those that only OpenTofu has.

mod aggregate;
mod assume;
mod cidr;
mod conversion;
mod crypto;
mod csv;
mod date_pattern;
mod descriptions;
mod digits;
mod elements;
mod encoding;
mod filesystem;
mod format;
mod glob;
mod gzip;
mod mapping;
mod network;
mod number;
mod openssh;
mod outside;
mod paths;
mod pattern;
mod pattern_class;
mod pattern_syntax;
mod pattern_text;
mod sequence;
mod set;
mod signature;
mod string;
mod template;
mod time;
mod timestamp;
mod yaml;

use std::collections::HashMap;
use std::sync::LazyLock;

pub use descriptions::{description, parameter_description};
pub use outside::signature;
pub(crate) use signature::{CallSite, Function};

struct Table {
    functions: Vec<Function>,
    positions: HashMap<&'static str, usize>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let themes = [
        assume::functions,
        conversion::functions,
        crypto::functions,
        encoding::functions,
        filesystem::functions,
        format::functions,
        mapping::functions,
        network::functions,
        number::functions,
        pattern::functions,
        sequence::functions,
        elements::functions,
        aggregate::functions,
        set::functions,
        string::functions,
        template::functions,
        time::functions,
    ];
    let functions: Vec<Function> = themes.iter().flat_map(|theme| theme()).collect();
    let positions = functions.iter().enumerate().map(|(position, function)| (function.name, position)).collect();
    Table { functions, positions }
});

/// The functions that are evaluated in a way of their own: their arguments are expressions, not values.
const SPECIAL: [&str; 3] = ["can", "convert", "try"];

/// The function of the given name.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    let table = &*TABLE;
    table.functions.get(*table.positions.get(name)?)
}

/// The names of all functions, sorted.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = TABLE.functions.iter().map(|function| function.name).chain(SPECIAL).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_functions_of_both_languages_are_there() {
        let wanted = "abs abspath alltrue anytrue base64decode base64encode base64gzip base64sha256 base64sha512 basename \
            bcrypt can ceil chomp chunklist cidrhost cidrnetmask cidrsubnet cidrsubnets coalesce coalescelist compact concat \
            contains convert csvdecode dirname distinct element endswith ephemeralasnull file filebase64 filebase64sha256 \
            filebase64sha512 fileexists filemd5 fileset filesha1 filesha256 filesha512 flatten floor format formatdate \
            formatlist indent index issensitive join jsondecode jsonencode keys length list log lookup lower map matchkeys \
            max md5 merge min nonsensitive one parseint pathexpand plantimestamp pow range regex regexall replace reverse \
            rsadecrypt sensitive setintersection setproduct setsubtract setunion sha1 sha256 sha512 signum slice sort split \
            startswith strcontains strrev substr sum templatefile templatestring textdecodebase64 textencodebase64 timeadd \
            timecmp timestamp title tobool tolist tomap tonumber toset tostring transpose trim trimprefix trimspace \
            trimsuffix try upper urlencode uuid uuidv5 values yamldecode yamlencode zipmap base64gunzip cidrcontains \
            urldecode assumeequal assumenotnull assumestringprefix assumelistlength assumelistlengthmin assumelistlengthmax \
            assumemaplength assumemaplengthmin assumemaplengthmax assumesetlength assumesetlengthmin assumesetlengthmax";
        let mut wanted: Vec<&str> = wanted.split_whitespace().collect();
        wanted.sort_unstable();
        assert_eq!(names(), wanted);
        for name in wanted.iter().filter(|name| !SPECIAL.contains(name)) {
            assert!(signature(name).is_some(), "{name}");
        }
    }
}
