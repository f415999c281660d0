//! `init` with packages from a network mirror.

use std::io::{Cursor, Write};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{Answer, Request, Server};

use crate::common::{Folder, kill, start_run};

const INDEX: &str = "/p/example.com/acme/tool/index.json";
const ARCHIVE: &str = "/files/tool.zip";

fn archive() -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("terraform-provider-tool_v1.0.0", SimpleFileOptions::default().unix_permissions(0o755)).unwrap();
    writer.write_all(&vec![b'x'; 100_000]).unwrap();
    writer.finish().unwrap().into_inner()
}

/// A mirror that answers as it should.
fn good(request: &Request) -> Answer {
    let platform = groma_install::providers::Platform::current();
    match &*request.path {
        INDEX => Answer::json(r#"{"versions": {"1.0.0": {}}}"#),
        "/p/example.com/acme/tool/1.0.0.json" => {
            Answer::json(&format!(r#"{{"archives": {{"{platform}": {{"url": "{ARCHIVE}"}}}}}}"#))
        }
        ARCHIVE => Answer::bytes(archive()),
        _ => Answer::status("404 Not Found"),
    }
}

fn folder(server: &Server) -> Folder {
    let folder = Folder::new();
    let url = format!("https://{}/p/", server.host());
    folder.write("rc", &format!("provider_installation {{ network_mirror {{ url = \"{url}\" }} }}\n")).write(
        "main.tf",
        "terraform {\n  required_providers {\n    tool = { source = \"example.com/acme/tool\" }\n  }\n}\n",
    );
    server.write_authority(&folder.path("ca.pem"));
    let path = |name: &str| folder.path(name).to_str().unwrap().to_owned();
    let (authority, rc) = (path("ca.pem"), path("rc"));
    folder.with("SSL_CERT_FILE", &authority).with("TF_CLI_CONFIG_FILE", &rc)
}

#[test]
fn mirror_with_private_certificate_authority() {
    let server = Server::start(good);
    let folder = folder(&server);
    folder.ok(&["init"]);
    // The archive was hashed by its content, as the mirror names no hash of its own.
    assert!(folder.read(".terraform.lock.hcl").contains("\"h1:"));
    let other = Server::start(good);
    // A certificate of another authority, for the same name.
    other.write_authority(&folder.path("ca.pem"));
    std::fs::remove_dir_all(folder.path(".terraform")).unwrap();
    let said = folder.fails(&["init"]);
    assert!(said.to_lowercase().contains("certificate"), "{said}");
}

#[test]
fn failed_request_is_retried() {
    let count = AtomicUsize::new(0);
    let server = Server::start(move |request| match &*request.path {
        INDEX if count.fetch_add(1, Ordering::SeqCst) == 0 => Answer::status("500 Internal Server Error"),
        _ => good(request),
    });
    folder(&server).ok(&["init"]);
    // The failed request and its repetition.
    assert_eq!(server.requests(INDEX).len(), 2);
}

#[test]
fn persistent_failure_is_reported() {
    let server = Server::start(|_| Answer::status("503 Service Unavailable"));
    let folder = folder(&server).with("TF_REGISTRY_DISCOVERY_RETRY", "0");
    let said = folder.fails(&["init"]);
    assert!(said.contains("Error: Failed to query available provider packages"), "{said}");
    assert!(said.contains("503"), "{said}");
    assert_eq!(server.requests(INDEX).len(), 1);
}

#[test]
fn slow_server_times_out() {
    let server = Server::start(|request| {
        std::thread::sleep(Duration::from_secs(5));
        good(request)
    });
    let folder = folder(&server).with("TF_REGISTRY_DISCOVERY_RETRY", "0").with("TF_REGISTRY_CLIENT_TIMEOUT", "1");
    let said = folder.fails(&["init"]);
    assert!(
        said.split_whitespace().collect::<Vec<_>>().join(" ").contains("tcp timeout, no answer within 1 seconds"),
        "{said}"
    );
}

#[test]
fn redirects_are_followed() {
    let server = Server::start(|request| match &*request.path {
        ARCHIVE => Answer {
            status: "302 Found",
            headers: vec!["Location: /elsewhere.zip".to_owned()],
            body: Vec::new(),
            missing: 0,
        },
        "/elsewhere.zip" => Answer::bytes(archive()),
        _ => good(request),
    });
    folder(&server).ok(&["init"]);
    assert_eq!(server.requests("/elsewhere.zip").len(), 1);
}

/// The archive, announced whole and not sent to its end.
fn cut() -> Answer {
    let whole = archive();
    let missing = whole.len() - 50;
    Answer { missing, ..Answer::bytes(whole[..50].to_vec()) }
}

#[test]
fn interrupted_download_is_retried() {
    let count = AtomicUsize::new(0);
    let server = Server::start(move |request| match &*request.path {
        ARCHIVE if count.fetch_add(1, Ordering::SeqCst) == 0 => cut(),
        _ => good(request),
    });
    folder(&server).ok(&["init"]);
    assert_eq!(server.requests(ARCHIVE).len(), 2);
}

#[test]
fn failed_download_leaves_no_files() {
    let server = Server::start(|request| match &*request.path {
        ARCHIVE => cut(),
        _ => good(request),
    });
    let folder = folder(&server);
    assert!(folder.fails(&["init"]).contains("Error: Failed to install provider"));
    assert!(!folder.path(".terraform/providers/example.com").exists());
    assert!(!folder.path(".terraform.lock.hcl").exists());
}

#[test]
fn killed_download_leaves_no_temporary_file() {
    let server = Server::start(|request| {
        if request.path == ARCHIVE {
            std::thread::sleep(Duration::from_secs(2));
        }
        good(request)
    });
    let temporary = tempfile::tempdir().unwrap();
    let folder = folder(&server).with("TMPDIR", temporary.path().to_str().unwrap());
    let child = start_run(&folder, &["init"]);
    let begin = Instant::now();
    while server.requests(ARCHIVE).is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(20), "{}", folder.read("said"));
        std::thread::sleep(Duration::from_millis(10));
    }
    kill(child);
    // The archive has no name in the directory while it is read, so that nothing is left to clean up.
    let left: Vec<_> = std::fs::read_dir(temporary.path()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn concurrent_inits_share_one_cache() {
    let server = Server::start(|request| {
        if request.path == ARCHIVE {
            std::thread::sleep(Duration::from_millis(300));
        }
        good(request)
    });
    let cache = tempfile::tempdir().unwrap();
    let cache_path = cache.path().to_str().unwrap();
    // Without this setting, a package from the cache must match a lock file, and each directory would fetch its own.
    let folders: Vec<Folder> = (0..5)
        .map(|_| {
            folder(&server)
                .with("TF_PLUGIN_CACHE_DIR", cache_path)
                // Without this setting, a package from the cache must match a lock file, and each directory would fetch
                // its own.
                .with("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE", "1")
        })
        .collect();
    let start = |folder: &Folder| folder.command(&["init"]).stdin(Stdio::null()).spawn().unwrap();
    let children: Vec<_> = folders.iter().map(start).collect();
    let texts: Vec<String> = children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        })
        .collect();
    assert_eq!(server.requests(ARCHIVE).len(), 1, "one of them fetches, the others wait for it");
    let cached = texts.iter().filter(|text| text.contains("tool v1.0.0 from the shared cache directory")).count();
    assert_eq!(cached, 4, "{texts:?}");
    for folder in &folders {
        assert!(folder.path(".terraform/providers/example.com/acme/tool/1.0.0").exists());
        assert!(folder.read(".terraform.lock.hcl").contains("\"h1:"));
    }
}

#[test]
fn cached_package_is_used_only_if_locked() {
    let server = Server::start(good);
    let cache = tempfile::tempdir().unwrap();
    let cached = || folder(&server).with("TF_PLUGIN_CACHE_DIR", cache.path().to_str().unwrap());
    let first = cached();
    first.ok(&["init"]);
    cached().ok(&["init"]);
    assert_eq!(server.requests(ARCHIVE).len(), 2, "without a lock file the cache proves nothing");
    // The lock file stays, and has the hash that the cached package must have.
    std::fs::remove_dir_all(first.path(".terraform")).unwrap();
    assert!(first.ok(&["init"]).contains("from the shared cache directory"));
    assert_eq!(server.requests(ARCHIVE).len(), 2);
}
