//! The scanner loses nothing, and the parser never fails.

#![no_main]

use groma_diagnostics::Sources;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let put_together: String = groma_hcl::tokenize(text).iter().map(|(_, range)| &text[range]).collect();
    assert_eq!(put_together, text);
    if let Some(file) = Sources::new().add("fuzz.tf", text) {
        groma_hcl::parse_file(&file);
        groma_hcl::parse_expression(&file);
        groma_hcl::parse_traversal(&file);
    }
});
