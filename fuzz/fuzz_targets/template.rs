//! Templates never fail to parse.

#![no_main]

use groma_diagnostics::Sources;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Some(file) = Sources::new().add("fuzz.tftpl", text) {
        groma_hcl::parse_template(&file);
    }
});
