//! Packages from OCI registries: a mirror of providers, and a module.

use std::io::{Cursor, Write};

use groma_install::providers::Platform;
use sha2::{Digest, Sha256};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{Answer, Request, Server};

use crate::common::Folder;

fn zipped(name: &str, content: &[u8]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file(name, SimpleFileOptions::default().unix_permissions(0o755)).unwrap();
    writer.write_all(content).unwrap();
    writer.finish().unwrap().into_inner()
}

fn digest(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// A manifest whose one layer is an archive.
fn manifest(kind: &str, archive: &[u8]) -> String {
    format!(
        r#"{{"schemaVersion": 2, "artifactType": "{kind}", "layers": [{{"mediaType": "archive/zip", "digest": "{}", "size": {}}}]}}"#,
        digest(archive),
        archive.len()
    )
}

/// A registry with a provider and a module, which sends everybody for a token first; blobs are damaged by `damage`.
fn registry(damage: fn(Vec<u8>) -> Vec<u8>) -> Server {
    registry_granting(|_| true, damage)
}

/// The same, which gives tokens to those whose request `is_known`.
fn registry_granting(is_known: fn(&Request) -> bool, damage: fn(Vec<u8>) -> Vec<u8>) -> Server {
    Server::start(move |request: &Request| {
        // Tokens come from another address than the packages, which the answer to a request without one names.
        if request.path == "/token" {
            let granted = is_known(request).then(|| Answer::json(r#"{"access_token": "for-everybody"}"#));
            return granted.unwrap_or_else(|| Answer::status("401 Unauthorized"));
        }
        if request.token.as_deref() != Some("for-everybody") {
            let host = request.host.clone();
            let challenge =
                format!("WWW-Authenticate: Bearer realm=\"https://{host}/token\",service=\"{host}\",scope=\"pull\"");
            return Answer { status: "401 Unauthorized", headers: vec![challenge], body: Vec::new(), missing: 0 };
        }
        let (os, machine) = {
            let platform = Platform::current().to_string();
            let (os, machine) = platform.split_once('_').unwrap();
            (os.to_owned(), machine.to_owned())
        };
        let package = zipped("terraform-provider-tool_v1.0.0", b"program");
        let module = zipped("inner/main.tf", b"output \"o\" {\n  value = 1\n}\n");
        let target = manifest("application/vnd.opentofu.provider-target", &package);
        let index = format!(
            r#"{{"schemaVersion": 2, "artifactType": "application/vnd.opentofu.provider", "manifests": [{{"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "{}", "size": {}, "platform": {{"os": "{os}", "architecture": "{machine}"}}}}]}}"#,
            digest(target.as_bytes()),
            target.len()
        );
        let path = request.path.as_str();
        match path {
            "/v2/mirror/acme/tool/tags/list" => Answer::json(r#"{"tags": ["1.0.0", "latest"]}"#),
            "/v2/mirror/acme/tool/manifests/1.0.0" => Answer::json(&index),
            "/v2/modules/vpc/manifests/v1" => Answer::json(&manifest("application/vnd.opentofu.modulepkg", &module)),
            _ if path.ends_with(&format!("/manifests/{}", digest(target.as_bytes()))) => Answer::json(&target),
            _ if path.ends_with(&format!("/blobs/{}", digest(&package))) => Answer::bytes(damage(package)),
            _ if path.ends_with(&format!("/blobs/{}", digest(&module))) => Answer::bytes(damage(module)),
            _ => Answer::status("404 Not Found"),
        }
    })
}

fn folder(server: &Server) -> Folder {
    let folder = Folder::new();
    folder.write(
        "rc",
        &format!("provider_installation {{\n  oci_mirror {{\n    repository_template = \"{}/mirror/${{namespace}}/${{type}}\"\n  }}\n}}\n", server.host()),
    );
    server.write_authority(&folder.path("ca.pem"));
    let path = |name: &str| folder.path(name).to_str().unwrap().to_owned();
    let (authority, rc) = (path("ca.pem"), path("rc"));
    folder.with("SSL_CERT_FILE", &authority).with("TF_CLI_CONFIG_FILE", &rc)
}

const TOOL: &str = "terraform {\n  required_providers {\n    tool = { source = \"example.com/acme/tool\" }\n  }\n}\n";

#[test]
fn provider_is_installed_from_an_oci_mirror() {
    let server = registry(|bytes| bytes);
    let folder = folder(&server);
    folder.write("main.tf", TOOL);
    let text = folder.ok(&["init"]);
    assert!(text.contains("- Installed example.com/acme/tool v1.0.0 (verified checksum)"), "{text}");
    let lock = folder.read(".terraform.lock.hcl");
    assert!(lock.contains("\"h1:") && lock.contains("\"zh:"), "{lock}");
    // A repository that the registry lacks is an error, and no provider without versions.
    folder.write("main.tf", &TOOL.replace("acme/tool", "acme/other"));
    let said = folder.fails(&["init"]);
    assert!(said.contains("Error: Failed to query available provider packages"), "{said}");
}

#[test]
fn module_is_installed_from_an_oci_registry() {
    let server = registry(|bytes| bytes);
    let folder = folder(&server);
    let call = format!("module \"m\" {{\n  source = \"oci://{}/modules/vpc//inner?tag=v1\"\n}}\n", server.host());
    folder.write("main.tf", &call);
    folder.ok(&["init"]);
    assert!(folder.path(".terraform/modules/m/inner/main.tf").exists());
    folder.write("main.tf", &call.replace("tag=v1", "tag=v2"));
    assert!(folder.fails(&["init"]).contains("Error: Failed to download module"));
    // A version may be named once; the format of the archive is the registry's to say.
    for wrong in ["ref=v1&tag=v1", "archive=zip"] {
        folder.write("main.tf", &call.replace("tag=v1", wrong));
        let said = folder.fails(&["init"]);
        assert!(said.contains("has the argument"), "{said}");
    }
}

#[test]
fn blob_with_wrong_digest_is_rejected() {
    let server = registry(|mut bytes| {
        // One bit is enough: the digest names each byte.
        bytes[0] ^= 1;
        bytes
    });
    let folder = folder(&server);
    folder.write("main.tf", TOOL);
    let said = folder.fails(&["init"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("which is not what its manifest says"), "{said}");
    assert!(!folder.path(".terraform/providers/example.com").exists());
}

#[test]
fn identity_token_is_exchanged_for_an_access_token() {
    let known = |request: &Request| {
        let asked: Vec<&str> = request.body.split('&').collect();
        ["grant_type=refresh_token", "refresh_token=who-i-am", "scope=pull"].iter().all(|field| asked.contains(field))
    };
    let server = registry_granting(known, |bytes| bytes);
    let folder = folder(&server);
    folder.write("main.tf", TOOL);
    assert!(folder.fails(&["init"]).contains("401"), "nobody is known without a login");
    // The pair of name and password is a filler here: the identity token counts.
    let written = format!(r#"{{"auths": {{"{}": {{"auth": "YTo=", "identitytoken": "who-i-am"}}}}}}"#, server.host());
    folder.write("home/.docker/config.json", &written);
    folder.ok(&["init"]);

    // A helper returns an identity token under a name of its own.
    let helper = "#!/bin/sh\ncat > /dev/null\nprintf '{\"Username\": \"<token>\", \"Secret\": \"who-i-am\"}'\n";
    folder.write("bin/docker-credential-box", helper);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path("bin/docker-credential-box"), executable).unwrap();
    }
    folder.write("home/.docker/config.json", r#"{"credsStore": "box"}"#);
    std::fs::remove_dir_all(folder.path(".terraform")).unwrap();
    let path = format!("{}:{}", folder.path("bin").display(), std::env::var("PATH").unwrap());
    folder.with("PATH", &path).ok(&["init"]);
}
