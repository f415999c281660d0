//! A layout is stable, and a text without mistakes stays without mistakes.

#![no_main]

use groma_diagnostics::Sources;
use libfuzzer_sys::fuzz_target;

fn has_mistakes(text: &str) -> bool {
    Sources::new().add("fuzz.tf", text).is_none_or(|file| groma_hcl::parse_file(&file).1.has_errors())
}

fuzz_target!(|text: &str| {
    let once = groma_hcl::format(text);
    assert_eq!(groma_hcl::format(&once), once);
    assert_eq!(has_mistakes(&once), has_mistakes(text));
});
