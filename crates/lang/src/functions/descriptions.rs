//! One-sentence descriptions of functions, which editors show with the name.

/// A sentence about the function `name`; none if there is no such function.
pub fn description(name: &str) -> Option<&'static str> {
    let at = DESCRIPTIONS.binary_search_by_key(&name, |(known, _)| known).ok()?;
    DESCRIPTIONS.get(at).map(|(_, text)| *text)
}

/// A sentence about a parameter of the function `name`, where its own name does not say enough.
pub fn parameter_description(name: &str, parameter: &str) -> Option<&'static str> {
    let at = PARAMETERS.binary_search_by_key(&(name, parameter), |(function, known, _)| (function, known)).ok()?;
    PARAMETERS.get(at).map(|(_, _, text)| *text)
}

/// In the order of the functions and of the parameters' names.
const PARAMETERS: &[(&str, &str, &str)] = &[
    ("bcrypt", "cost", "How much work the hash takes: twice as much for each step, 10 where nothing is given."),
    ("chunklist", "size", "How many elements each list gets; the last one may get fewer."),
    ("cidrcontains", "contained_ip_or_prefix", "The address, or a range in CIDR notation."),
    ("cidrcontains", "containing_prefix", "The range, in CIDR notation."),
    ("cidrhost", "hostnum", "The number of the host; a negative one counts from the end of the range."),
    ("cidrhost", "prefix", "The range, in CIDR notation."),
    ("cidrnetmask", "prefix", "The IPv4 range, in CIDR notation."),
    ("cidrsubnet", "netnum", "The number of the subnet, which has to fit into the new bits."),
    ("cidrsubnet", "newbits", "How many bits longer the prefix of the subnet is."),
    ("cidrsubnet", "prefix", "The range, in CIDR notation."),
    ("cidrsubnets", "prefix", "The range, in CIDR notation."),
    ("coalescelist", "vals", "Lists or tuples; the first one that is not empty counts."),
    ("indent", "spaces", "How many spaces each line but the first gets."),
    ("join", "lists", "Lists of strings."),
    ("join", "separator", "What stands between the strings."),
    ("keys", "inputMap", "A map or an object."),
    ("setproduct", "sets", "Sets or lists; the order of lists is kept."),
    ("templatestring", "template", "A reference to a string, which is the text of the template."),
    ("templatestring", "vars", "An object or a map with what the template may name."),
    ("trim", "cutset", "Characters; every one of them is taken off."),
];

/// In the order of the names.
const DESCRIPTIONS: &[(&str, &str)] = &[
    ("abs", "Gives the distance of a number from zero."),
    ("abspath", "Makes a path absolute, seen from the working directory."),
    ("alltrue", "Tells whether all elements of a list are true; those of an empty list are."),
    ("anytrue", "Tells whether at least one element of a list is true."),
    ("assumeequal", "Promises that two values are equal, so that the second is known as far as the first is."),
    ("assumelistlength", "Promises how many elements a list will have that is not known yet."),
    ("assumelistlengthmax", "Promises how many elements a list that is not known yet will have at most."),
    ("assumelistlengthmin", "Promises how many elements a list that is not known yet will have at least."),
    ("assumemaplength", "Promises how many elements a map will have that is not known yet."),
    ("assumemaplengthmax", "Promises how many elements a map that is not known yet will have at most."),
    ("assumemaplengthmin", "Promises how many elements a map that is not known yet will have at least."),
    ("assumenotnull", "Promises that a value that is not known yet will not be null."),
    ("assumesetlength", "Promises how many elements a set will have that is not known yet."),
    ("assumesetlengthmax", "Promises how many elements a set that is not known yet will have at most."),
    ("assumesetlengthmin", "Promises how many elements a set that is not known yet will have at least."),
    ("assumestringprefix", "Promises how a string that is not known yet will begin."),
    ("base64decode", "Reads Base64 whose content is text in UTF-8."),
    ("base64encode", "Writes the UTF-8 bytes of a string as Base64."),
    ("base64gunzip", "Reads Base64, and unpacks the text that gzip packed in it."),
    ("base64gzip", "Packs a string with gzip and writes the result as Base64."),
    ("base64sha256", "Writes the SHA-256 hash of a string as Base64."),
    ("base64sha512", "Writes the SHA-512 hash of a string as Base64."),
    ("basename", "Gives the last part of a path."),
    ("bcrypt", "Hashes a password with bcrypt. Each call uses a new salt, so results differ."),
    ("can", "Tells whether an expression can be evaluated without an error."),
    ("ceil", "Rounds up to the nearest whole number."),
    ("chomp", "Takes the line ends off the end of a string."),
    ("chunklist", "Cuts a list into lists of at most so many elements."),
    ("cidrcontains", "Tells whether an address or a range lies within a range in CIDR notation."),
    ("cidrhost", "Gives the address of a host by its number within a range in CIDR notation."),
    ("cidrnetmask", "Gives the netmask of an IPv4 range in CIDR notation."),
    ("cidrsubnet", "Gives one subnet of a range in CIDR notation, by its number."),
    ("cidrsubnets", "Gives subnets of a range in CIDR notation that lie side by side, with a size for each."),
    ("coalesce", "Gives the first argument that is neither null nor an empty string."),
    ("coalescelist", "Gives the first argument that is not an empty list."),
    ("compact", "Leaves out the null and empty strings of a list."),
    ("concat", "Puts lists one after the other into one list."),
    ("contains", "Tells whether a list or a set has a value as an element."),
    ("convert", "Converts a value to the type that is written as the second argument."),
    ("csvdecode", "Reads CSV with a line of headings, and gives an object for each further line."),
    ("dirname", "Gives a path without its last part."),
    ("distinct", "Keeps the first of equal elements of a list."),
    (
        "element",
        "Returns one element of a list. Indexes wrap around after the last element, and negative indexes count from the end.",
    ),
    ("endswith", "Tells whether a string ends with another."),
    ("ephemeralasnull", "Replaces all ephemeral parts of a value by null."),
    ("file", "Gives the content of a file, which is text in UTF-8."),
    ("filebase64", "Gives the content of a file as Base64."),
    ("filebase64sha256", "Gives the SHA-256 hash of a file as Base64."),
    ("filebase64sha512", "Gives the SHA-512 hash of a file as Base64."),
    ("fileexists", "Tells whether there is a file at a path."),
    ("filemd5", "Gives the MD5 hash of a file in hexadecimal digits."),
    ("fileset", "Gives the paths of the files under a directory that match a pattern."),
    ("filesha1", "Gives the SHA-1 hash of a file in hexadecimal digits."),
    ("filesha256", "Gives the SHA-256 hash of a file in hexadecimal digits."),
    ("filesha512", "Gives the SHA-512 hash of a file in hexadecimal digits."),
    ("flatten", "Puts the elements of lists within a list into its own place, however deep they are."),
    ("floor", "Rounds down to the nearest whole number."),
    ("format", "Writes values into a string where its verbs, such as %s and %d, say."),
    ("formatdate", "Writes a timestamp in another form, such as \"DD MMM YYYY\"."),
    ("formatlist", "Writes values into a string for each element of the lists among them."),
    ("indent", "Puts spaces before all lines of a string but the first."),
    ("index", "Gives the index of the first element of a list that equals a value."),
    ("issensitive", "Tells whether a value is marked as sensitive."),
    ("join", "Puts strings together, with a separator between them."),
    ("jsondecode", "Reads a value from JSON."),
    ("jsonencode", "Writes a value as JSON."),
    ("keys", "Gives the keys of a map or an object in their order."),
    ("length", "Counts the elements of a collection, or the characters of a string."),
    ("list", "Was replaced by tolist, and is an error now."),
    ("log", "Gives the logarithm of a number to a base."),
    ("lookup", "Returns the map element with the given key, or a default if the key is missing."),
    ("lower", "Writes all letters of a string small."),
    ("map", "Was replaced by tomap, and is an error now."),
    ("matchkeys", "Keeps the elements of a list whose counterparts in a second list are in a third."),
    ("max", "Gives the greatest of several numbers."),
    ("md5", "Gives the MD5 hash of a string in hexadecimal digits."),
    ("merge", "Puts maps or objects together; later ones win."),
    ("min", "Gives the least of several numbers."),
    ("nonsensitive", "Takes the mark of sensitive values off, so that a value is shown."),
    ("one", "Gives the element of a collection that has one, and null for an empty collection."),
    ("parseint", "Reads a whole number in a base from 2 to 62."),
    ("pathexpand", "Replaces \"~\" at the start of a path by the home directory."),
    ("plantimestamp", "Gives the time at which the plan was made."),
    ("pow", "Raises a number to a power."),
    ("range", "Counts from a start up to a limit in steps."),
    ("regex", "Gives what a regular expression matches first in a string, or what its groups caught."),
    ("regexall", "Gives all matches of a regular expression in a string."),
    ("replace", "Replaces each occurrence of a substring. A search string between slashes is a regular expression."),
    ("reverse", "Gives the elements of a list from the last to the first."),
    ("rsadecrypt", "Decrypts Base64 with a private RSA key."),
    ("sensitive", "Marks a value as sensitive, so that it is not shown."),
    ("setintersection", "Gives the elements that all of several sets have."),
    ("setproduct", "Gives all combinations of one element of each of several collections."),
    ("setsubtract", "Gives the elements of a set that a second one does not have."),
    ("setunion", "Gives the elements that at least one of several sets has."),
    ("sha1", "Gives the SHA-1 hash of a string in hexadecimal digits."),
    ("sha256", "Gives the SHA-256 hash of a string in hexadecimal digits."),
    ("sha512", "Gives the SHA-512 hash of a string in hexadecimal digits."),
    ("signum", "Gives the sign of a number: -1, 0 or 1."),
    ("slice", "Gives the elements of a list from one index up to, not including, another."),
    ("sort", "Puts the strings of a list into their order."),
    ("split", "Cuts a string at each separator."),
    ("startswith", "Tells whether a string begins with another."),
    ("strcontains", "Tells whether a string holds another."),
    ("strrev", "Gives the characters of a string from the last to the first."),
    ("substr", "Gives a part of a string, by where it begins and how many characters it has."),
    ("sum", "Adds the numbers of a collection."),
    ("templatefile", "Reads a file as a template, with values for the names in it."),
    ("templatestring", "Takes a string as a template, with values for the names in it."),
    ("textdecodebase64", "Reads Base64 whose content is text in a named encoding."),
    ("textencodebase64", "Writes a string in a named encoding, as Base64."),
    ("timeadd", "Moves a timestamp by a duration, such as \"1h30m\"."),
    ("timecmp", "Tells which of two timestamps is earlier: -1, 0 or 1."),
    ("timestamp", "Gives the present time; known only while applying."),
    ("title", "Writes the first letter of each word large."),
    ("tobool", "Converts a value to a truth value."),
    ("tolist", "Converts a value to a list."),
    ("tomap", "Converts a value to a map."),
    ("tonumber", "Converts a value to a number."),
    ("toset", "Converts a value to a set, which has no order and no equal elements."),
    ("tostring", "Converts a value to a string."),
    ("transpose", "Exchanges the keys and the values of a map of lists of strings."),
    ("trim", "Takes the given characters off both ends of a string."),
    ("trimprefix", "Takes a prefix off a string that begins with it."),
    ("trimspace", "Takes white space off both ends of a string."),
    ("trimsuffix", "Takes a suffix off a string that ends with it."),
    ("try", "Gives the value of the first expression that can be evaluated without an error."),
    ("upper", "Writes all letters of a string large."),
    ("urldecode", "Reads a string in which characters are escaped as in URLs."),
    ("urlencode", "Escapes characters that mean something in URLs."),
    ("uuid", "Makes a random UUID; each call gives another."),
    ("uuidv5", "Makes the UUID of a name within a namespace, always the same."),
    ("values", "Gives the values of a map or an object in the order of their keys."),
    ("yamldecode", "Reads a value from YAML."),
    ("yamlencode", "Writes a value as YAML."),
    ("zipmap", "Makes a map of a list of keys and a list of values."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_one_and_only_functions_have() {
        let described: Vec<&str> = DESCRIPTIONS.iter().map(|(name, _)| *name).collect();
        assert_eq!(described, super::super::names());
    }

    #[test]
    fn the_described_parameters_are_there_and_in_order() {
        assert!(PARAMETERS.is_sorted_by_key(|(function, parameter, _)| (*function, *parameter)));
        for (function, parameter, text) in PARAMETERS {
            let signature = super::super::signature(function).expect(function);
            let mut parameters = signature.parameters.iter().chain(&signature.variadic);
            assert!(parameters.any(|known| known.name == *parameter), "{function} has no {parameter}");
            assert_eq!(parameter_description(function, parameter), Some(*text));
        }
    }
}
