//! Modules from servers on loopback and from repositories made here.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod server;
mod workspace;

use std::fs;

use groma_install::modules::Freshness;
use server::{Answer, Server};
use workspace::{Workspace, commit, git, repository, tarball};

/// A registry with one module, whose package is an archive on the same server.
fn registry() -> Server {
    let archive = tarball(&[("top/main.tf", "module \"inner\" {\n  source = \"./sub\"\n}\n"), ("top/sub/main.tf", "")]);
    let versions = br#"{"modules":[{"versions":[{"version":"1.0.0"},{"version":"1.2.3"},{"version":"2.0.0-beta1"}]}]}"#;
    Server::start(vec![
        ("/v1/ns/net/aws/versions", Answer::ok(versions.to_vec())),
        // The wildcard is the form of archives of GitHub, whose top directory has a variable name.
        ("/v1/ns/net/aws/1.2.3/download", Answer::ok(Vec::new()).with("X-Terraform-Get", "/m.tgz//*?archive=tar.gz")),
        ("/v1/ns/net/aws/1.0.0/download", Answer::ok(Vec::new()).with("X-Terraform-Get", "/m.tgz//top")),
        ("/m.tgz", Answer::ok(archive)),
        ("/page", Answer::ok(b"<meta name=\"terraform-get\" content=\"/m.tgz//top\">".to_vec())),
    ])
}

#[test]
fn local_modules_are_recorded_and_reported_once() {
    let space = Workspace::new(&[
        ("main.tf", "module \"vpc\" {\n  source = \"./modules/vpc/\"\n}\n"),
        ("modules/vpc/main.tf", "module \"up\" {\n  source = \"../z\"\n}\n"),
        ("modules/z/main.tf", ""),
    ]);
    assert_eq!(space.install(Freshness::Keep).unwrap(), ["- vpc in modules/vpc", "- vpc.up in modules/z"]);
    assert_eq!(
        space.manifest(),
        concat!(
            r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"vpc","Source":"./modules/vpc","Dir":"modules/vpc"},"#,
            r#"{"Key":"vpc.up","Source":"../z","Dir":"modules/z"}]}"#
        )
    );
    assert!(space.install(Freshness::Keep).unwrap().is_empty());
    // An upgrade reports modules that are not new.
    assert_eq!(space.install(Freshness::Upgrade).unwrap().len(), 2);
}

#[test]
fn newest_allowed_version_is_installed_and_kept() {
    let server = registry();
    let space = Workspace::new(&[(
        "main.tf",
        "module \"r\" {\n  source  = \"example.test/ns/net/aws\"\n  version = \"~> 1.0\"\n}\n",
    )])
    .with_registry("example.test", &server.url("/v1/"));
    assert_eq!(
        space.install(Freshness::Keep).unwrap(),
        [
            "Downloading example.test/ns/net/aws 1.2.3 for r...",
            "- r in .terraform/modules/r/top",
            "- r.inner in .terraform/modules/r/top/sub"
        ]
    );
    assert!(space.manifest().contains(
        r#"{"Key":"r","Source":"example.test/ns/net/aws","Version":"1.2.3","Dir":".terraform/modules/r/top"}"#
    ));
    let asked = server.requests();
    assert!(space.install(Freshness::Keep).unwrap().is_empty());
    assert_eq!(server.requests(), asked, "what is installed is not asked for again");
    space.write("main.tf", "module \"r\" {\n  source  = \"example.test/ns/net/aws\"\n  version = \"1.0.0\"\n}\n");
    assert!(space.install(Freshness::Keep).unwrap().iter().any(|line| line.contains("1.0.0")));
}

#[test]
fn unresolvable_version_error_names_the_newest() {
    let server = registry();
    let call = |version: &str| {
        format!("module \"r\" {{\n  source  = \"example.test/ns/net/aws\"\n  version = \"{version}\"\n}}\n")
    };
    let space = Workspace::new(&[("main.tf", &call("> 5"))]).with_registry("example.test", &server.url("/v1/"));
    let problem = space.install(Freshness::Keep).unwrap_err();
    assert!(problem.contains("Unresolvable module version constraint"), "{problem}");
    assert!(problem.contains("1.2.3"), "{problem}");
    space.write("main.tf", "module \"r\" {\n  source = \"example.test/ns/none/aws\"\n}\n");
    assert!(space.install(Freshness::Keep).unwrap_err().contains("Module not found"));
}

#[test]
fn repositories_are_cloned_and_checked_out() {
    let Some(repository) =
        repository(&[("inner/main.tf", "module \"sib\" {\n  source = \"../other\"\n}\n"), ("other/main.tf", "")])
    else {
        println!("skipped: no git");
        return;
    };
    let address = format!("git::file://{}//in*?ref=v1", repository.path().display());
    let space = Workspace::new(&[("main.tf", &format!("module \"g\" {{\n  source = \"{address}\"\n}}\n"))]);
    let lines = space.install(Freshness::Keep).unwrap();
    assert_eq!(lines[1..], ["- g in .terraform/modules/g/inner", "- g.sib in .terraform/modules/g/other"]);
    assert!(space.manifest().contains("?ref=v1"));
    assert!(space.path(".terraform/modules/g/.git").exists());
    space.write("main.tf", &format!("module \"g\" {{\n  source = \"{}\"\n}}\n", address.replace("v1", "v2")));
    let problem = space.install(Freshness::Keep).unwrap_err();
    assert!(
        problem.contains("Failed to download module") && problem.contains("Could not download module g from"),
        "{problem}"
    );
    assert!(problem.contains("v2"), "{problem}");
}

#[test]
fn git_ref_resolves_to_a_commit_despite_files_of_that_name() {
    let Some(repository) = repository(&[("mods/main.tf", ""), ("only-main/main.tf", "")]) else {
        println!("skipped: no git");
        return;
    };
    // A branch with the name of a directory, and a tag with that of another: git itself would have to guess.
    git(&repository, &["checkout", "-qb", "mods"]).unwrap();
    commit(&repository, &[("mods/first.tf", "")]).unwrap();
    git(&repository, &["tag", "only-main"]).unwrap();
    commit(&repository, &[("mods/second.tf", "")]).unwrap();
    git(&repository, &["checkout", "-q", "main"]).unwrap();
    let files_at = |reference: &str| {
        let call = format!(
            "module \"g\" {{\n  source = \"git::file://{}//mods?ref={reference}\"\n}}\n",
            repository.path().display()
        );
        let space = Workspace::new(&[("main.tf", &call)]);
        space.install(Freshness::Keep).map(|_| {
            ["first.tf", "second.tf"].map(|name| space.path(&format!(".terraform/modules/g/mods/{name}")).exists())
        })
    };
    for (reference, files) in [
        ("mods", [true, true]),
        ("mods%5E", [true, false]),
        ("mods~2", [false, false]),
        ("only-main", [true, false]),
        ("main", [false, false]),
        ("refs/tags/v1", [false, false]),
        ("origin/mods", [true, true]),
    ] {
        assert_eq!(files_at(reference).unwrap(), files, "{reference}");
    }
    // A file of that name is not a reference.
    let problem = files_at("mods/main.tf").unwrap_err();
    assert!(problem.contains("no branch, tag or commit \"mods/main.tf\""), "{problem}");
    let problem = files_at("mods%5E&depth=1").unwrap_err();
    assert!(problem.contains("must be the name of a branch or of a tag"), "{problem}");
}

#[test]
fn package_cannot_reach_outside_of_itself() {
    let Some(repository) = repository(&[("main.tf", "module \"out\" {\n  source = \"../../..\"\n}\n")]) else {
        println!("skipped: no git");
        return;
    };
    let call = format!("module \"g\" {{\n  source = \"git::file://{}\"\n}}\n", repository.path().display());
    let problem = Workspace::new(&[("main.tf", &call)]).install(Freshness::Keep).unwrap_err();
    assert!(problem.contains("Local module path escapes module package"), "{problem}");
}

#[test]
fn archives_and_pages_of_web_servers_are_installed() {
    let server = registry();
    let text = format!(
        "module \"a\" {{\n  source = \"{0}//top/sub\"\n}}\nmodule \"b\" {{\n  source = \"{0}//top\"\n}}\nmodule \"p\" {{\n  source = \"{1}\"\n}}\n",
        server.url("/m.tgz"),
        server.url("/page")
    );
    let space = Workspace::new(&[("main.tf", &text)]);
    let lines = space.install(Freshness::Keep).unwrap();
    assert!(lines.contains(&"- a in .terraform/modules/a/top/sub".to_owned()), "{lines:?}");
    assert!(lines.contains(&"- p in .terraform/modules/p".to_owned()), "{lines:?}");
    assert!(lines.contains(&"- p.inner in .terraform/modules/p/sub".to_owned()), "{lines:?}");
    assert_eq!(
        server.requests().iter().filter(|path| *path == "/m.tgz").count(),
        2,
        "one package is fetched once an address"
    );
}

#[test]
fn public_objects_are_installed() {
    let server = registry();
    let text = format!("module \"s\" {{\n  source = \"s3::{}//top\"\n}}\n", server.url("/m.tgz"));
    let space = Workspace::new(&[("main.tf", &text)]);
    let lines = space.install(Freshness::Keep).unwrap();
    assert!(lines.contains(&"- s in .terraform/modules/s/top".to_owned()), "{lines:?}");
    assert!(space.path(".terraform/modules/s/top/sub").exists());
}

#[test]
fn download_with_another_checksum_is_refused() {
    let server = registry();
    let source = server.url("/m.tgz?checksum=sha256:00");
    let space = Workspace::new(&[("main.tf", &format!("module \"a\" {{\n  source = \"{source}\"\n}}\n"))]);
    let problem = space.install(Freshness::Keep).unwrap_err();
    assert!(problem.contains("checksums did not match"), "{problem}");
    assert!(!space.path(".terraform/modules/a").exists());
}

#[test]
fn sources_may_depend_on_constant_variables() {
    let space = Workspace::new(&[
        (
            "main.tf",
            "variable \"dir\" {\n  const   = true\n  default = \"m\"\n}\nlocals {\n  path = \"./${var.dir}\"\n}\nmodule \"a\" {\n  source = local.path\n}\n",
        ),
        ("m/main.tf", ""),
    ]);
    assert_eq!(space.install(Freshness::Keep).unwrap(), ["- a in m"]);
}

#[test]
fn directories_outside_of_the_configuration_are_linked() {
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("main.tf"), "").unwrap();
    let call = format!("module \"m\" {{\n  source = \"{}\"\n}}\n", other.path().display());
    let space = Workspace::new(&[("main.tf", &call)]);
    // The lines for the beginning and the end of the installation.
    assert_eq!(space.install(Freshness::Keep).unwrap().len(), 2);
    space.install(Freshness::Upgrade).unwrap();
    assert!(other.path().join("main.tf").exists(), "the folder itself is left alone");
    assert!(space.manifest().contains("\"Source\":\"file://"));
}

fn bucket() -> Server {
    let archive = tarball(&[("top/main.tf", "")]);
    Server::start(vec![("/bucket/dir/m.tgz", Answer::ok(archive.clone())), ("/bucket/m", Answer::ok(archive))])
}

fn call(source: &str) -> Workspace {
    Workspace::new(&[("main.tf", &format!("module \"m\" {{\n  source = \"{source}\"\n}}\n"))])
}

#[test]
fn s3_requests_are_signed_with_the_keys_of_the_environment() {
    let server = bucket();
    let source = format!("s3::{}", server.url("/bucket/dir/m.tgz//top?region=eu-west-1"));
    let space = call(&source).with_variable("AWS_ACCESS_KEY_ID", "AKID").with_variable("AWS_SECRET_ACCESS_KEY", "hush");
    assert_eq!(space.install(Freshness::Keep).unwrap()[1], "- m in .terraform/modules/m/top");
    assert!(space.manifest().contains(&format!("\"Source\":\"{source}\"")), "{}", space.manifest());
    let headers = server.credentials().join("\n").to_lowercase();
    assert!(
        headers.contains("aws4-hmac-sha256 credential=akid/") && headers.contains("/eu-west-1/s3/aws4_request"),
        "{headers}"
    );
    assert!(
        headers.contains("signedheaders=host;x-amz-content-sha256;x-amz-date") && !headers.contains("hush"),
        "{headers}"
    );
}

#[test]
fn public_objects_need_no_keys() {
    let server = bucket();
    let space = call(&format!("s3::{}", server.url("/bucket/m?archive=tar.gz")));
    space.install(Freshness::Keep).unwrap();
    assert!(space.path(".terraform/modules/m/top").exists());
    assert!(server.credentials().is_empty());
    let unknown = call(&format!("s3::{}", server.url("/bucket/m"))).install(Freshness::Keep).unwrap_err();
    assert!(unknown.contains("not a supported archive"), "{unknown}");
    let profile = call(&format!("s3::{}", server.url("/bucket/dir/m.tgz?aws_profile=ci"))).install(Freshness::Keep);
    assert!(profile.unwrap_err().contains("the AWS profile \"ci\" does not exist"));
}

#[test]
fn cloud_storage_requests_carry_the_token_of_the_environment() {
    let server = bucket();
    let source = "gcs::https://www.googleapis.com/storage/v1/bucket/dir/m.tgz";
    let space = call(source).with_variable("STORAGE_EMULATOR_HOST", server.url("").trim_start_matches("http://"));
    space.install(Freshness::Keep).unwrap();
    assert!(server.credentials().is_empty());
    let space = space.with_variable("GOOGLE_OAUTH_ACCESS_TOKEN", "ya29.x");
    space.install(Freshness::Upgrade).unwrap();
    assert_eq!(server.credentials().join("\n").to_lowercase(), "authorization: bearer ya29.x");
    assert!(space.path(".terraform/modules/m/top").exists());
}

#[test]
fn unsupported_addresses_are_reported() {
    // A getter that is not implemented, and a URL that needs one.
    for (source, word) in [("hg::http://example.com/x", "Mercurial"), ("ssh://h/x", "ssh")] {
        let space = Workspace::new(&[("main.tf", &format!("module \"m\" {{\n  source = \"{source}\"\n}}\n"))]);
        let problem = space.install(Freshness::Keep).unwrap_err();
        assert!(problem.contains("Failed to download module") && problem.contains(word), "{problem}");
    }
}
