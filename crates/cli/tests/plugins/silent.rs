//! Providers that do not respond.

use std::process::Command;
use std::time::{Duration, Instant};

use groma_provider::{Provider, ProviderDiagnostic, ProviderDiagnostics, ProviderSchema, TypeNames};

use super::{MANNER, flowing, folder, nobody_is_left};

/// Says where it listens, takes calls, and never answers.
pub fn listen_only() -> ! {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    println!("1|6|tcp|{}|grpc|", listener.local_addr().unwrap());
    let mut held = Vec::new();
    loop {
        held.push(listener.accept().unwrap());
    }
}

/// Cannot tell what it declares.
pub struct Speechless;

impl Provider for Speechless {
    fn schema(&self) -> Result<ProviderSchema, ProviderDiagnostics> {
        Err(ProviderDiagnostic::error("Speechless", "The words do not come.").into())
    }

    fn type_names(&self) -> TypeNames {
        TypeNames::default()
    }
}

pub fn never_answers() {
    let folder = folder("good").with(MANNER, "mute");
    let child = folder.command(&["plan"]).spawn().unwrap();
    let start = Instant::now();
    while folder.path("noted").metadata().map_or(true, |noted| noted.len() == 0) {
        assert!(start.elapsed() < Duration::from_secs(20), "the provider was not started");
        std::thread::sleep(Duration::from_millis(10));
    }
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(300));
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    }
    let start = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    assert_eq!(output.status.code(), Some(1));
    let reported = flowing(&String::from_utf8_lossy(&output.stderr));
    assert!(reported.contains("Request cancelled"), "{reported}");
    nobody_is_left(&folder);
}

pub fn speechless() {
    let folder = folder("good").with(MANNER, "speechless");
    folder.write("function.tf", "output \"f\" {\n  value = provider::trouble::twice(1)\n}\n");
    let reported = folder.fails(&["validate"]);
    assert_eq!(reported.matches("Error: Speechless").count(), 1, "{reported}");
    assert!(reported.contains("The words do not come.") && !reported.contains("function"), "{reported}");
    // Whoever calls a function and nothing else is reported the same.
    let required = "terraform {\n  required_providers {\n    trouble = { source = \"example/trouble\" }\n  }\n}\n";
    let alone = folder.write("main.tf", required).fails(&["validate"]);
    assert_eq!(alone.matches("Error: Speechless").count(), 1, "{alone}");
}
