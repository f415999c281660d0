#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| groma_fuzz::answers(bytes));
