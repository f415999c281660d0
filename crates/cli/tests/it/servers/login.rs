//! `login` and `logout`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use groma_install::http::Url;
use sha2::{Digest, Sha256};

use super::{Answer, Server};

use crate::common::Folder;

const KEPT: &str = "home/.terraform.d/credentials.tfrc.json";

fn folder(server: &Server) -> Folder {
    let folder = Folder::new();
    folder.write("home/.keep", "");
    server.write_authority(&folder.path("ca.pem"));
    let authority = folder.path("ca.pem").to_str().unwrap().to_owned();
    folder.with("SSL_CERT_FILE", &authority)
}

fn host_with_oauth() -> Server {
    Server::start(|request| match &*request.path {
        "/.well-known/terraform.json" => Answer::json(
            r#"{"login.v1": {"client": "cli", "grant_types": ["authz_code"], "authz": "/authorize", "token": "/token", "ports": [20000, 40000]}}"#,
        ),
        "/token" if request.body.contains("code=the-code") => {
            Answer::json(r#"{"access_token": "t0k3n", "token_type": "bearer"}"#)
        }
        _ => Answer::status("404 Not Found"),
    })
}

/// The page that the program shows; its output goes on in the reader.
fn page(out: &mut impl BufRead) -> Url {
    loop {
        let mut line = String::new();
        assert!(out.read_line(&mut line).unwrap() > 0, "no page was shown");
        if let Ok(page) = Url::parse(line.trim()) {
            return page;
        }
    }
}

fn visit(url: &Url) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", url.port().unwrap())).unwrap();
    let target = format!("{}?{}", url.path(), url.query().unwrap_or_default());
    stream.write_all(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn oauth_token_is_stored_readable_only_by_its_owner() {
    let server = host_with_oauth();
    let folder = folder(&server);
    let mut child = folder.command(&["login", &server.host()]).stderr(Stdio::inherit()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"yes\n").unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let page = page(&mut out);
    let value = |name: &str| page.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
    let back = |state: &str| {
        let mut back = Url::parse(&value("redirect_uri")).unwrap();
        back.query_pairs_mut().append_pair("code", "the-code").append_pair("state", state);
        back
    };
    // A page of somebody else could send the browser here with a code of its own.
    assert!(visit(&back("somebody-else")).starts_with("HTTP/1.1 404"), "who does not know the state is not heard");
    assert!(visit(&back(&value("state"))).starts_with("HTTP/1.1 200"));
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success(), "{rest}");
    assert!(rest.contains("Success!") && !rest.contains("t0k3n"), "{rest}");

    let redeemed = &server.requests("/token")[0].body;
    let form: Url = Url::parse(&format!("http://form/?{redeemed}")).unwrap();
    // The proof: only who began the login knows the text behind the digest that the page was given.
    let verifier = form.query_pairs().find(|(key, _)| key == "code_verifier").unwrap().1.into_owned();
    assert_eq!(URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier)), value("code_challenge"), "the proof fits");
    assert!((43..=128).contains(&verifier.len()));

    assert_eq!(
        folder.read(KEPT),
        format!(
            "{{\n  \"credentials\": {{\n    \"{}\": {{\n      \"token\": \"t0k3n\"\n    }}\n  }}\n}}",
            server.host()
        )
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(folder.path(KEPT)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let text = folder.ok(&["logout", &server.host()]);
    // The second logout finds nothing, which is no error.
    assert!(text.contains("Success!") && text.contains(KEPT), "{text}");
    assert!(!folder.read(KEPT).contains("t0k3n"));
    assert!(folder.ok(&["logout", &server.host()]).contains("No credentials for localhost:"));
}

#[test]
fn login_reports_the_reason_of_a_rejection() {
    let server = host_with_oauth();
    let folder = folder(&server);
    let mut child = folder.command(&["login", &server.host()]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"yes\n").unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let page = page(&mut out);
    let value = |name: &str| page.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
    let mut back = Url::parse(&value("redirect_uri")).unwrap();
    back.query_pairs_mut().append_pair("error", "access_denied").append_pair("state", &value("state"));
    visit(&back);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("Error: Failed to obtain an API token") && said.contains("access_denied"), "{said}");
    assert!(!folder.path(KEPT).exists());
}

#[test]
fn login_requires_consent() {
    let server = host_with_oauth();
    let folder = folder(&server);
    let ran = folder.run_with_input(&["login", &server.host()], "no\n");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("Error: Login cancelled"), "{}", ran.err);
    for host in ["a b", "", "a/b", "a..b", "a:b", "-", "http://a"] {
        for command in ["login", "logout"] {
            assert!(folder.run(&[command, host]).err.contains("Error: Invalid hostname"), "{command} {host:?}");
        }
    }
}

#[test]
fn pasted_token_is_verified_before_it_is_stored() {
    let server = Server::start(|request| match (&*request.path, request.token.as_deref()) {
        ("/.well-known/terraform.json", _) => Answer::json(r#"{"tfe.v2": "/api/v2/"}"#),
        ("/api/v2/account/details", Some("good")) => {
            Answer::json(r#"{"data": {"attributes": {"username": "surveyor"}}}"#)
        }
        _ => Answer::status("401 Unauthorized"),
    });
    let folder = folder(&server);
    let ran = folder.run_with_input(&["login", &server.host()], "yes\nbad\n");
    // A token is tried before it is kept, so that a later run does not fail on a typing error.
    assert!(ran.err.contains("Error: Token is invalid"), "{}", ran.err);
    assert!(!folder.path(KEPT).exists());
    let ran = folder.run_with_input(&["login", &server.host()], "yes\ngood\n");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("Retrieved token for user surveyor"), "{}", ran.out);
    assert!(folder.read(KEPT).contains("good"));
}

#[test]
fn login_rejects_host_without_service_and_configured_token() {
    let server = Server::start(|_| Answer::json("{}"));
    let folder = folder(&server);
    let ran = folder.run(&["login", &server.host()]);
    assert!(ran.err.contains("Error: Host does not support Terraform tokens API"), "{}", ran.err);
    // A file that the user wrote is not edited; the token must be removed there.
    folder.write("home/.terraformrc", &format!("credentials \"{}\" {{ token = \"x\" }}\n", server.host()));
    for command in ["login", "logout"] {
        let ran = folder.run(&[command, &server.host()]);
        assert!(ran.err.contains("are manually configured"), "{command}: {}", ran.err);
    }
}

#[cfg(unix)]
#[test]
fn credentials_helper_stores_and_deletes_tokens() {
    use std::os::unix::fs::PermissionsExt;
    let server = Server::start(|request| match &*request.path {
        "/.well-known/terraform.json" => Answer::json(r#"{"tfe.v2": "/api/"}"#),
        _ => Answer::json("{}"),
    });
    let folder = folder(&server);
    let helper = "home/.terraform.d/plugins/terraform-credentials-box";
    folder.write(
        helper,
        "#!/bin/sh\nf=$HOME/box\necho \"$@\" >> $HOME/calls\ncase $2 in\n  get) cat $f 2>/dev/null || echo '{}' ;;\n  store) cat > $f ;;\n  forget) rm -f $f ;;\nesac\n",
    );
    std::fs::set_permissions(folder.path(helper), std::fs::Permissions::from_mode(0o755)).unwrap();
    folder.write("home/.terraformrc", "credentials_helper \"box\" { args = [\"--red\"] }\n");
    let ran = folder.run_with_input(&["login", &server.host()], "yes\nsecret\n");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(folder.read("home/box"), r#"{"token":"secret"}"#);
    // The helper is the only store then: no second copy of the token in a file.
    assert!(!folder.path(KEPT).exists());
    folder.ok(&["logout", &server.host()]);
    assert!(!folder.path("home/box").exists());
    assert!(folder.read("home/calls").contains(&format!("--red store {}\n", server.host())));
}

#[test]
fn missing_helper_is_an_error_only_if_a_token_is_needed() {
    let server = Server::start(|request| match &*request.path {
        "/.well-known/terraform.json" => Answer::json(r#"{"providers.v1": "/v1/"}"#),
        "/v1/acme/open/versions" => Answer::json(r#"{"versions": []}"#),
        _ => Answer::status("401 Unauthorized"),
    });
    let folder = folder(&server);
    folder.write("home/.terraformrc", "credentials_helper \"box\" {}\n");
    let asks_for = |name: &str| {
        let source = format!("{}/acme/{name}", server.host());
        let text = format!("terraform {{\n  required_providers {{\n    x = {{ source = \"{source}\" }}\n  }}\n}}\n");
        let said = folder.write("main.tf", &text).fails(&["init"]);
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let said = asks_for("open");
    // The registry answered without a token, so nobody missed the helper.
    assert!(said.contains("has no released versions") && !said.contains("helper"), "{said}");
    let said = asks_for("closed");
    assert!(
        said.contains("asks for credentials") && said.contains("the executable terraform-credentials-box"),
        "{said}"
    );
}
