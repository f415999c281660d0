//! Tests with real processes. This program is its own test plugin: started as one, it serves the provider of `demo`.

#![allow(clippy::unwrap_used, reason = "tests")]

mod cache;
mod demo;
mod end;
mod launch;
mod peer;
mod store;
mod terraform;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use groma_plugin::Protocol;

/// A named test.
type Test = (&'static str, fn());

/// Set to serve a provider without features that version 5 lacks.
const ONLY_V5: &str = "GROMA_TEST_ONLY_V5";

/// Set to serve a provider that requires a schema call in every run.
const MUST_BE_ASKED: &str = "GROMA_TEST_MUST_BE_ASKED";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if std::env::var_os("TF_PLUGIN_MAGIC_COOKIE").is_some() || arguments.iter().any(|argument| argument == "-debug") {
        if std::env::var_os(store::STORE).is_some() {
            return groma_plugin::serve(demo::ADDRESS, std::sync::Arc::new(store::Files::default()));
        }
        let protocol = if std::env::var_os(ONLY_V5).is_some() { Protocol::V5 } else { Protocol::V6 };
        let asking = match std::env::var_os(MUST_BE_ASKED) {
            Some(_) => demo::Asking::Needed,
            None => demo::Asking::Optional,
        };
        return groma_plugin::serve(demo::ADDRESS, demo::provider(protocol, asking));
    }
    if let Some(plugin) = std::env::var_os(end::HOST) {
        end::host(plugin);
        return ExitCode::SUCCESS;
    }
    // Test runners list the tests first. This harness lists none and prints their names when it runs them.
    if arguments.iter().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    // The filter of `cargo test NAME`.
    let wanted = arguments.iter().find(|argument| !argument.starts_with('-'));
    let tests = [launch::TESTS, end::TESTS, cache::TESTS, peer::TESTS, store::TESTS, terraform::TESTS].concat();
    run(tests.into_iter().filter(|(name, _)| wanted.is_none_or(|wanted| name.contains(wanted.as_str()))))
}

fn run(tests: impl Iterator<Item = Test>) -> ExitCode {
    let (mut passed, mut failed) = (0, 0);
    for (name, test) in tests {
        let ok = catch_unwind(AssertUnwindSafe(test)).is_ok();
        *(if ok { &mut passed } else { &mut failed }) += 1;
        println!("test {name} ... {}", if ok { "ok" } else { "FAILED" });
    }
    println!("test result: {}. {passed} passed; {failed} failed", if failed == 0 { "ok" } else { "FAILED" });
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
