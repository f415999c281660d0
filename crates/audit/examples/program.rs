//! Audits a provider executable: `cargo run -p groma-audit --example program -- PATH [-apply] [TYPE...]`.

use std::process::ExitCode;
use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_audit::{Extent, Options, audit};
use groma_plugin::client::{Plugin, PluginHost, Start};
use groma_plugin::transport::{Launch, NoLog};
use groma_provider::{Provider, ProviderDiagnostic};

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let apply = words.iter().position(|word| word == "-apply").map(|at| words.remove(at));
    let Some(program) = words.first().cloned() else {
        eprintln!("Usage: program PATH [-apply] [TYPE...]");
        return ExitCode::FAILURE;
    };
    let options = Options {
        extent: if apply.is_some() { Extent::Full } else { Extent::Plan },
        types: words.split_off(1),
        ..Options::default()
    };
    let start = || {
        let address = ProviderAddress::parse("checked/checked", "registry.terraform.io")
            .map_err(|problem| ProviderDiagnostic::error("Invalid address", problem.to_string()))?;
        let launch = Launch::new("checked", &program);
        Ok(Arc::new(Plugin::start(&PluginHost::new(), address, Start::Launch(launch), Arc::new(NoLog)))
            as Arc<dyn Provider>)
    };
    match audit(&start, &options, &mut |name| eprintln!("{name}")) {
        Ok(report) => {
            print!("{report}");
            ExitCode::from(u8::from(report.has_errors()))
        }
        Err(problems) => {
            problems.iter().for_each(|problem| eprintln!("{problem}"));
            ExitCode::FAILURE
        }
    }
}
