//! The fuzz target that `GROMA_FUZZ_TARGET` names. Without a name it says which there are.

#![no_main]

use std::sync::OnceLock;

use groma_fuzz::TARGETS;
use libfuzzer_sys::fuzz_target;

static TARGET: OnceLock<fn(&[u8])> = OnceLock::new();

fn named() -> fn(&[u8]) {
    let name = std::env::var("GROMA_FUZZ_TARGET").unwrap_or_default();
    if let Some((_, target)) = TARGETS.iter().find(|(known, _)| *known == name) {
        return *target;
    }
    TARGETS.iter().for_each(|(known, _)| println!("{known}"));
    if !name.is_empty() {
        eprintln!("There is no target {name:?}; set GROMA_FUZZ_TARGET to one of these.");
    }
    std::process::exit(i32::from(!name.is_empty()));
}

fuzz_target!(init: TARGET.get_or_init(named), |bytes: &[u8]| TARGET.get_or_init(named)(bytes));
