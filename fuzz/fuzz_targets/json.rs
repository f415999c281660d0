//! The JSON syntax never fails to parse, and its bodies can be read.

#![no_main]

use groma_diagnostics::Sources;
use groma_hcl::BodySchema;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Some(file) = Sources::new().add("fuzz.tf.json", text) {
        let (parsed, _) = groma_hcl::parse_json_file(&file);
        let schema = BodySchema::new().optional("a").required("b").block("c", &[]).block("d", &["type", "name"]);
        let (content, rest, _) = parsed.body.partial_content(&schema);
        rest.attributes();
        for block in &content.blocks {
            block.body.content(&schema);
        }
    }
});
