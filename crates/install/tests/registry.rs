//! Installation from a registry on loopback that behaves well, and from ones that do not.
#![allow(clippy::unwrap_used)] // a test may fail where it is surprised

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use groma_address::ProviderAddress;
use groma_config::version::Constraints;
use groma_install::credentials::Credentials;
use groma_install::discovery::{Discovery, Services};
use groma_install::http::{Http, HttpOptions, Url};
use groma_install::providers::{
    Cache, CacheTrust, Installation, Installer, Locks, Method, Platform, Source, Sources, Store, VersionPolicy,
};
use sha2::{Digest, Sha256};

const KEY: &str = include_str!("signatures/key.asc");
const OTHER_KEY: &str = include_str!("signatures/other.asc");
const PACKAGE: &[u8] = include_bytes!("packages/terraform-provider-tool_1.2.0_linux_amd64.zip");
const EVIL: &[u8] = include_bytes!("packages/evil.zip");
const SUMS: &[u8] = include_bytes!("packages/SHA256SUMS");
const SIGNATURE: &[u8] = include_bytes!("packages/SHA256SUMS.sig");
const NAME: &str = "terraform-provider-tool_1.2.0_linux_amd64.zip";

/// An answer: the status, how many bytes it announces, and its body.
#[derive(Clone)]
struct Answer(u16, usize, Vec<u8>);

fn whole(body: impl Into<Vec<u8>>) -> Answer {
    let body = body.into();
    Answer(200, body.len(), body)
}

/// Serves the answers until the process ends; returns the address.
fn serve(answers: HashMap<String, Answer>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            let _ = reader.read_line(&mut line);
            let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
            while line.trim() != "" {
                line.clear();
                let _ = reader.read_line(&mut line);
            }
            // The announced length is separate from the body, for downloads that end early.
            let Answer(status, length, body) = answers.get(&path).cloned().unwrap_or(Answer(404, 0, Vec::new()));
            let mut stream = reader.into_inner();
            let _ = write!(stream, "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all(&body);
        }
    });
    format!("http://{address}/")
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The answers of a registry with version 1.2.0 of acme/tool.
fn registry(name: &str, sum: &str, key: &str) -> HashMap<String, Answer> {
    let versions =
        r#"{"versions": [{"version": "1.2.0", "protocols": ["6.0"]}, {"version": "2.0.0", "protocols": ["4.0"]}]}"#;
    let download = serde_json::json!({
        "protocols": ["6.0"], "os": "linux", "arch": "amd64", "filename": name, "shasum": sum,
        "download_url": "/files/package.zip", "shasums_url": "/files/SHA256SUMS", "shasums_signature_url": "/files/SHA256SUMS.sig",
        "signing_keys": {"gpg_public_keys": [{"key_id": "x", "ascii_armor": key}]},
    });
    HashMap::from([
        ("/acme/tool/versions".to_owned(), whole(versions)),
        ("/acme/tool/1.2.0/download/linux/amd64".to_owned(), whole(download.to_string())),
        ("/files/SHA256SUMS".to_owned(), whole(SUMS)),
        ("/files/SHA256SUMS.sig".to_owned(), whole(SIGNATURE)),
        ("/files/package.zip".to_owned(), whole(PACKAGE)),
    ])
}

fn install(answers: HashMap<String, Answer>, root: &Path, locks: &Locks) -> Result<Installation, String> {
    let base = serve(answers);
    let services = serde_json::json!({"providers.v1": base});
    let services = Services::of("example.com", services.as_object().unwrap().clone()).unwrap();
    install_from(Source::Direct, vec![services], None, root, locks)
}

fn install_from(
    source: Source,
    services: Vec<Services>,
    cache: Option<Cache>,
    root: &Path,
    locks: &Locks,
) -> Result<Installation, String> {
    let options = HttpOptions {
        // Failed requests are retried; the tests should not wait for that.
        first_pause: Duration::from_millis(1),
        timeout: Duration::from_secs(5),
        ..HttpOptions::default()
    };
    let discovery = Discovery::new(Http::new(options).unwrap(), Arc::new(Credentials::default()), services);
    let installer = Installer {
        sources: Sources { methods: vec![Method::for_all(source)], discovery },
        store: Store::new(root.join("providers")),
        cache,
        // Fixed, because the package of the tests is for this platform.
        platform: Platform { os: "linux".to_owned(), arch: "amd64".to_owned() },
        command: "groma".to_owned(),
    };
    let tool = ProviderAddress::parse("example.com/acme/tool", "example.com").unwrap();
    let needed = BTreeMap::from([(tool, "~> 1.0".parse::<Constraints>().unwrap())]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = runtime.block_on(installer.install(&needed, locks, VersionPolicy::Locked, &mut |_| {}));
    result.map_err(|problems| {
        problems.iter().map(|problem| format!("{}: {}\n", problem.summary, problem.detail)).collect()
    })
}

/// What is refused says why, and leaves nothing behind.
fn refused(answers: HashMap<String, Answer>, reason: &str) {
    let folder = tempfile::tempdir().unwrap();
    let problem = install(answers, folder.path(), &Locks::default()).unwrap_err();
    assert!(problem.contains(reason), "{problem}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn signed_package_is_installed_and_locked() {
    let folder = tempfile::tempdir().unwrap();
    let result = install(registry(NAME, &hex(PACKAGE), KEY), folder.path(), &Locks::default()).unwrap();
    let package = folder.path().join("providers/example.com/acme/tool/1.2.0/linux_amd64");
    assert!(package.join("terraform-provider-tool_v1.2.0").is_file());
    assert!(result.has_third_party);
    assert!(result.hashed_here.is_empty());
    let lock = result.locks.providers.values().next().unwrap();
    let schemes: Vec<&str> = lock.hashes.iter().map(|hash| &hash[..3]).collect();
    assert_eq!(schemes, ["h1:", "zh:", "zh:"]);

    // A second installation downloads nothing, except for a package that was changed.
    std::fs::write(package.join("terraform-provider-tool_v1.2.0"), "changed").unwrap();
    install(registry(NAME, &hex(PACKAGE), KEY), folder.path(), &result.locks).unwrap();
    assert_ne!(std::fs::read(package.join("terraform-provider-tool_v1.2.0")).unwrap(), b"changed");
}

#[test]
fn many_versions_are_compared_quickly() {
    let folder = tempfile::tempdir().unwrap();
    let mut answers = registry(NAME, &hex(PACKAGE), KEY);
    let many: Vec<String> = (0..100_000).map(|patch| format!(r#"{{"version": "0.9.{patch}"}}"#)).collect();
    let versions = format!(r#"{{"versions": [{}, {{"version": "1.2.0"}}]}}"#, many.join(","));
    answers.insert("/acme/tool/versions".to_owned(), whole(versions));
    let begun = std::time::Instant::now();
    install(answers, folder.path(), &Locks::default()).unwrap();
    // A comparison of all pairs would take minutes.
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn package_that_differs_from_the_lock_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut result = install(registry(NAME, &hex(PACKAGE), KEY), folder.path(), &Locks::default()).unwrap();
    for lock in result.locks.providers.values_mut() {
        // A valid hash of something else: "other" in base 64.
        lock.hashes = vec!["h1:b3RoZXI=".into()];
    }
    let empty = tempfile::tempdir().unwrap();
    let problem = install(registry(NAME, &hex(PACKAGE), KEY), empty.path(), &result.locks).unwrap_err();
    assert!(problem.contains("doesn't match any of the checksums previously recorded"), "{problem}");
}

#[test]
fn signatures_of_other_keys_are_refused() {
    refused(registry(NAME, &hex(PACKAGE), OTHER_KEY), "error checking signature");
    let mut answers = registry(NAME, &hex(PACKAGE), KEY);
    // A changed list with the original signature, as an attacker without the key could serve it.
    answers.insert("/files/SHA256SUMS".to_owned(), whole(format!("{}  {NAME}\n", hex(b"else"))));
    refused(answers, "error checking signature: it does not match");
}

#[test]
fn wrong_checksums_are_refused() {
    refused(registry(NAME, &hex(b"else"), KEY), "the signed list of checksums says");
    let mut answers = registry(NAME, &hex(PACKAGE), KEY);
    answers.insert("/files/package.zip".to_owned(), whole(EVIL));
    refused(answers, "archive has incorrect checksum");
}

#[test]
fn signed_archive_with_paths_outside_is_refused() {
    // The signature proves who made the archive, and not that it is harmless.
    let mut answers = registry("evil.zip", &hex(EVIL), KEY);
    answers.insert("/files/package.zip".to_owned(), whole(EVIL));
    refused(answers, "would be written outside");
}

#[test]
fn truncated_downloads_and_failing_servers_are_refused() {
    let mut answers = registry(NAME, &hex(PACKAGE), KEY);
    answers.insert("/files/package.zip".to_owned(), Answer(200, PACKAGE.len(), PACKAGE[..40].to_vec()));
    refused(answers.clone(), "ended after");
    answers.insert("/files/package.zip".to_owned(), Answer(503, 0, Vec::new()));
    refused(answers.clone(), "the request failed after 2 attempts");
    answers.insert("/acme/tool/versions".to_owned(), Answer(500, 0, Vec::new()));
    refused(answers.clone(), "Failed to query available provider packages");
    refused(answers.clone(), "could not query provider registry for example.com/acme/tool: the request failed");
    answers.insert("/acme/tool/versions".to_owned(), whole("no json"));
    refused(answers.clone(), "something else than the protocol asks");
    answers.remove("/acme/tool/versions");
    refused(answers, "does not have a provider named example.com/acme/tool");
}

#[test]
fn invalid_package_documents_are_refused() {
    let download = "/acme/tool/1.2.0/download/linux/amd64";
    let other_version = "terraform-provider-tool_1.3.0_linux_amd64.zip";
    let faults = [
        (download, whole("{}"), "something else than the protocol asks"),
        (download, whole("<html>"), "something else than the protocol asks"),
        (download, Answer(404, 0, Vec::new()), "is not available for linux_amd64"),
        ("/files/SHA256SUMS", Answer(404, 0, Vec::new()), "404"),
        ("/files/SHA256SUMS.sig", Answer(404, 0, Vec::new()), "404"),
        ("/files/SHA256SUMS.sig", whole("no signature"), "error checking signature"),
        ("/files/package.zip", Answer(404, 0, Vec::new()), "404"),
    ];
    for (path, answer, reason) in faults {
        let mut answers = registry(NAME, &hex(PACKAGE), KEY);
        answers.insert(path.to_owned(), answer);
        refused(answers, reason);
    }
    // A signed list of another version.
    refused(registry(other_version, &hex(PACKAGE), KEY), other_version);
}

/// The document about the package, with `change` made to it.
fn download(change: impl FnOnce(&mut serde_json::Map<String, serde_json::Value>)) -> HashMap<String, Answer> {
    let mut answers = registry(NAME, &hex(PACKAGE), KEY);
    let about = answers.get_mut("/acme/tool/1.2.0/download/linux/amd64").unwrap();
    let mut document = serde_json::from_slice::<serde_json::Value>(&about.2).unwrap();
    change(document.as_object_mut().unwrap());
    *about = whole(document.to_string());
    answers
}

#[test]
fn document_about_another_package_is_refused() {
    for field in ["filename", "shasum", "download_url", "shasums_url", "shasums_signature_url"] {
        refused(download(|document| drop(document.remove(field))), "something else than the protocol asks");
        refused(download(|document| document[field] = 3.into()), "something else than the protocol asks");
    }
    let asked = "was asked for the package for linux_amd64, and answered with the one for";
    refused(download(|document| document["os"] = "windows".into()), &format!("{asked} windows_amd64"));
    refused(download(|document| document["arch"] = "arm64".into()), &format!("{asked} linux_arm64"));
    refused(download(|document| drop(document.remove("os"))), &format!("{asked} _amd64"));
    refused(download(|document| document["filename"] = "../x.zip".into()), "no entry for ../x.zip");
    refused(download(|document| document["shasum"] = "abc".into()), "the signed list of checksums says");
    refused(download(|document| document["download_url"] = "::bad".into()), "Failed to install provider");
    refused(download(|document| document["download_url"] = "file:///etc/passwd".into()), "Failed to install provider");
    refused(download(|document| document["signing_keys"] = serde_json::json!({})), "error checking signature");
}

#[test]
fn package_for_other_protocols_or_platforms_is_reported_as_incompatible() {
    let speaks = |protocols: serde_json::Value| download(|document| document["protocols"] = protocols);
    refused(
        speaks(["4.0"].into()),
        "Incompatible provider version: provider example.com/acme/tool 1.2.0 speaks plugin protocol 4.0",
    );
    refused(speaks(["7.0", "x"].into()), "Incompatible provider version");
    let mut answers = registry(NAME, &hex(PACKAGE), KEY);
    answers.remove("/acme/tool/1.2.0/download/linux/amd64");
    refused(
        answers,
        "Incompatible provider version: provider example.com/acme/tool 1.2.0 is not available for linux_amd64",
    );
    // A package without a list of protocols may support any.
    for protocols in [serde_json::Value::Null, serde_json::json!([]), serde_json::json!(["4.0", "5.2"])] {
        let folder = tempfile::tempdir().unwrap();
        install(speaks(protocols), folder.path(), &Locks::default()).unwrap();
    }
}

#[test]
fn invalid_versions_are_not_selected() {
    let listing = |versions: &str| {
        let mut answers = registry(NAME, &hex(PACKAGE), KEY);
        answers.insert("/acme/tool/versions".to_owned(), whole(format!("{{\"versions\": [{versions}]}}")));
        answers
    };
    // No version, other spellings, and a prerelease, which the constraint does not name.
    for none in ["", r#"{"version": "v1.2.0"}"#, r#"{"version": "abc"}"#, r#"{"version": "1.2.0-beta"}"#, "{}"] {
        refused(listing(none), "no available releases match the given constraints");
    }
    let mut nothing = listing("");
    for document in [r#"{"versions": null}"#, "{}"] {
        nothing.insert("/acme/tool/versions".to_owned(), whole(document));
        refused(nothing.clone(), "no available releases match the given constraints");
    }
    refused(listing(r#"{"version": 1.2}"#), "something else than the protocol asks");
    let good = r#"{"version": "1.2.0", "protocols": null}"#;
    // A list without any version for a known protocol does not decide; the description of the package does.
    for listed in [format!("{{}}, {good}, {good}"), r#"{"version": "1.2.0", "protocols": ["4.0"]}"#.to_owned()] {
        let folder = tempfile::tempdir().unwrap();
        install(listing(&listed), folder.path(), &Locks::default()).unwrap();
    }
}

/// The answers of a network mirror that says this hash.
fn mirror(hash: &str) -> HashMap<String, Answer> {
    let archives = serde_json::json!({"archives": {"linux_amd64": {"url": "package.zip", "hashes": [hash]}}});
    HashMap::from([
        ("/example.com/acme/tool/index.json".to_owned(), whole(r#"{"versions": {"1.2.0": {}, "2.0.0": {}}}"#)),
        ("/example.com/acme/tool/1.2.0.json".to_owned(), whole(archives.to_string())),
        ("/example.com/acme/tool/package.zip".to_owned(), whole(PACKAGE)),
    ])
}

#[test]
fn network_mirror_archive_must_match_its_hash() {
    let source = |hash: &str| Source::Network(Url::parse(&serve(mirror(hash))).unwrap());
    let folder = tempfile::tempdir().unwrap();
    // The true hash: the mirror is accepted, and its hash of the archive is not locked.
    let good = source(&format!("zh:{}", hex(PACKAGE)));
    let result = install_from(good, Vec::new(), None, folder.path(), &Locks::default()).unwrap();
    let locked = &result.locks.providers.values().next().unwrap().hashes;
    assert!(
        locked.len() == 1 && locked[0].starts_with("h1:"),
        "only what was signed, or hashed here, is locked: {locked:?}"
    );
    assert_eq!(result.hashed_here.len(), 1);
    let empty = tempfile::tempdir().unwrap();
    let problem = install_from(source("h1:b3RoZXI="), Vec::new(), None, empty.path(), &Locks::default()).unwrap_err();
    assert!(problem.contains("archive has incorrect checksum"), "{problem}");
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0);
}

#[test]
fn shared_cache_serves_locked_packages_only() {
    let shared = tempfile::tempdir().unwrap();
    let cache = || Some(Cache { store: Store::new(shared.path()), trust: CacheTrust::Locked });
    let first = tempfile::tempdir().unwrap();
    let good = Source::Network(Url::parse(&serve(mirror(&format!("zh:{}", hex(PACKAGE))))).unwrap());
    let result = install_from(good, Vec::new(), cache(), first.path(), &Locks::default()).unwrap();
    let package = first.path().join("providers/example.com/acme/tool/1.2.0/linux_amd64");
    assert!(package.is_symlink() && package.join("terraform-provider-tool_v1.2.0").is_file());

    // The mirror is gone, so the second installation can only use the cache.
    let second = tempfile::tempdir().unwrap();
    let gone = || Source::Network(Url::parse(&serve(HashMap::new())).unwrap());
    install_from(gone(), Vec::new(), cache(), second.path(), &result.locks).unwrap();
    // A changed package in the cache is not used.
    std::fs::write(package.join("terraform-provider-tool_v1.2.0"), "changed").unwrap();
    let third = tempfile::tempdir().unwrap();
    assert!(install_from(gone(), Vec::new(), cache(), third.path(), &result.locks).is_err());
}
