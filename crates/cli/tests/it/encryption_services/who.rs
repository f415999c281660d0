//! Identities of callers: machines, containers, profiles, certificates and other clouds.

use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use super::*;

/// The caller of the last request for a key, by the name of the key at AWS.
fn asker(server: &Server) -> String {
    let asked = server.requests("/");
    let last = asked.iter().rev().find(|request| request.header("x-amz-target").starts_with("TrentService"));
    let who = last.unwrap().header("authorization").to_owned();
    let (_, rest) = who.split_once("Credential=").unwrap();
    rest.split('/').next().unwrap().to_owned()
}

/// For AWS and the server in its place, by somebody who has no keys.
fn without_keys(server: &Server, more: &str) -> Folder {
    folder(Folder::new(), "aws_kms", &rolled(more)).with("AWS_ENDPOINT_URL", &server.address())
}

#[test]
fn aws_credentials_come_from_instance_metadata() {
    let server = Server::start();
    let url = server.address();
    let named = without_keys(&server, &format!("ec2_metadata_service_endpoint = \"{url}\""));
    plans_and_applies(&named);
    assert_eq!(asker(&server), "MACHINE");
    let asked = &server.requests("/latest/meta-data/iam")[0];
    assert_eq!(asked.header("x-aws-ec2-metadata-token"), "machine-token");
    let at = |url: &str| without_keys(&server, "").with("AWS_EC2_METADATA_SERVICE_ENDPOINT", url);
    for not_asked in [
        at(&url).with("AWS_EC2_METADATA_DISABLED", "true"),
        without_keys(&server, "skip_metadata_api_check = true").with("AWS_EC2_METADATA_SERVICE_ENDPOINT", &url),
    ] {
        let said = refused(&not_asked, &["apply", "-auto-approve"]);
        assert!(said.contains("instance metadata (EC2): switched off"), "{said}");
    }
    let said =
        refused(&without_keys(&server, "ec2_metadata_service_endpoint_mode = \"IPv5\""), &["apply", "-auto-approve"]);
    assert!(said.contains("\"IPv4\" or \"IPv6\", not \"IPv5\""), "{said}");
    // Nobody is there.
    let said = refused(&at("http://127.0.0.1:1"), &["apply", "-auto-approve"]);
    assert!(said.contains("no valid credential sources found"), "{said}");
}

#[test]
fn aws_credentials_come_from_container_metadata() {
    let server = Server::start();
    let url = format!("{}/container", server.address());
    let at = |url: &str| without_keys(&server, "").with("AWS_CONTAINER_CREDENTIALS_FULL_URI", url);
    plans_and_applies(&at(&url).with("AWS_CONTAINER_AUTHORIZATION_TOKEN", "may"));
    assert_eq!(asker(&server), "CONTAINER");
    let here = at(&url).with("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "token");
    plans_and_applies(here.write("token", "may"));
    let said = refused(&at(&url).with("AWS_CONTAINER_AUTHORIZATION_TOKEN", "s3cret"), &["apply", "-auto-approve"]);
    assert!(said.contains("did not supply a key") && !said.contains("s3cret"), "{said}");
    let said = refused(&at("http://keys.example/"), &["apply", "-auto-approve"]);
    assert!(said.contains("did not supply a key"), "{said}");
}

#[test]
fn profiles_assume_roles() {
    let server = Server::start();
    let config = "[profile base]\naws_access_key_id = BASE\naws_secret_access_key = hush\n\
                  [profile hop]\nrole_arn = arn:hop\nsource_profile = base\nrole_session_name = jumping\nexternal_id = e\nduration_seconds = 1800\n\
                  [profile far]\nrole_arn = arn:far\nsource_profile = hop\n\
                  [profile self]\nrole_arn = arn:self\nsource_profile = self\naws_access_key_id = SELF\naws_secret_access_key = hush\n\
                  [profile machine]\nrole_arn = arn:machine\ncredential_source = Ec2InstanceMetadata\n\
                  [profile set]\nrole_arn = arn:set\ncredential_source = Environment\n\
                  [profile web]\nrole_arn = arn:web\nweb_identity_token_file = token.jwt\n\
                  [profile program]\ncredential_process = cat keys.json\n\
                  [profile a]\nrole_arn = arn:a\nsource_profile = b\n[profile b]\nrole_arn = arn:b\nsource_profile = a\n\
                  [profile code]\nrole_arn = arn:c\nsource_profile = base\nmfa_serial = arn:mfa\n\
                  [profile both]\nrole_arn = arn:c\nsource_profile = base\ncredential_source = Environment\n\
                  [profile sign]\nsso_session = s\n\
                  [profile broken]\ncredential_process = echo '{\"Version\":1,\"SecretAccessKey\":\"hush\"}'\n\
                  [profile failing]\ncredential_process = echo why >&2; false\n";
    let keys = r#"{"Version":1,"AccessKeyId":"PROGRAM","SecretAccessKey":"hush","SessionToken":"t"}"#;
    let of = |profile: &str| {
        let here = without_keys(&server, "shared_config_files = [\"config\"]")
            .with("AWS_PROFILE", profile)
            .with("AWS_EC2_METADATA_SERVICE_ENDPOINT", &server.address());
        here.write("config", config).write("token.jwt", "a.b.c").write("keys.json", keys);
        here
    };
    for (profile, expected, roles) in [
        ("base", "BASE", &[][..]),
        ("hop", "ROLE", &["arn:hop by BASE"][..]),
        ("far", "ROLE", &["arn:hop by BASE", "arn:far by ROLE"]),
        ("self", "ROLE", &["arn:self by SELF"]),
        ("machine", "ROLE", &["arn:machine by MACHINE"]),
        ("web", "WEB", &["arn:web by "]),
        ("program", "PROGRAM", &[]),
    ] {
        let before = server.requests("/").len();
        plans_and_applies(&of(profile));
        assert_eq!(asker(&server), expected, "{profile}");
        let asked = server.requests("/").split_off(before);
        let taken: Vec<String> = asked.iter().filter_map(role_and_asker).take(roles.len()).collect();
        assert_eq!(taken, roles, "{profile}");
    }
    let hop =
        server.requests("/").into_iter().find(|request| request.body.contains("RoleSessionName=jumping")).unwrap();
    assert!(hop.body.contains("&ExternalId=e"), "{hop:?}");
    for (profile, expected) in [
        ("a", "did not supply a key"),
        ("code", "(mfa_serial), which cannot be entered here"),
        ("both", "did not supply a key"),
        ("sign", "did not supply a key"),
        ("broken", "did not supply a key"),
        ("failing", "did not supply a key"),
        ("set", "did not supply a key"),
        ("none", "the AWS profile \"none\" does not exist"),
    ] {
        let said = refused(&of(profile), &["apply", "-auto-approve"]);
        assert!(said.contains(expected) && !said.contains("hush"), "{profile}: {said}");
    }
}

/// The role that is asked for, and by whom.
fn role_and_asker(request: &server::Request) -> Option<String> {
    let arn = request.body.split('&').find_map(|field| field.strip_prefix("RoleArn="))?.replace("%3A", ":");
    let who =
        request.header("authorization").split_once("Credential=").map(|(_, rest)| rest.split('/').next().unwrap());
    Some(format!("{arn} by {}", who.unwrap_or_default()))
}

#[test]
fn aws_credentials_are_for_the_role_of_the_environment() {
    let server = Server::start();
    let here = without_keys(&server, "")
        .with("AWS_ROLE_ARN", "arn:environment")
        .with("AWS_ROLE_SESSION_NAME", "s")
        .with("AWS_WEB_IDENTITY_TOKEN_FILE", "token.jwt");
    here.write("token.jwt", "a.b.c\n");
    plans_and_applies(&here);
    assert_eq!(asker(&server), "WEB");
    assert!(
        server.requests("/")[0].body.contains("RoleArn=arn%3Aenvironment&RoleSessionName=s&WebIdentityToken=a.b.c")
    );
}

#[test]
fn azure_accepts_client_certificates() {
    let server = Server::start();
    let vault = format!(
        "vault_uri = \"{}/\"\nvault_key_name = \"the-key\"\nkey_length = 32\ntenant_id = \"tenant\"\nclient_id = \"c\"\n",
        server.address()
    );
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../cloud/tests/pfx/modern.pfx");
    let content = BASE64_STANDARD.encode(std::fs::read(file).unwrap());
    let at = |more: &str| {
        let here = Folder::new().with("AZURE_AUTHORITY_HOST", &server.address());
        folder(here, "azure_vault", &format!("{vault}{more}"))
    };
    plans_and_applies(&at(&format!("client_certificate_path = \"{file}\"\nclient_certificate_password = \"pass\"\n")));
    plans_and_applies(
        &at(&format!("client_certificate = \"{content}\"\n")).with("ARM_CLIENT_CERTIFICATE_PASSWORD", "pass"),
    );
    let form = &server.requests("/tenant")[0].body;
    assert!(
        form.contains("&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&"),
        "{form}"
    );
    let (_, word) = form.split_once("&client_assertion=").unwrap();
    let parts: Vec<Json> = word
        .split('.')
        .take(2)
        .map(|part| serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap())
        .collect();
    assert_eq!((&parts[0]["alg"], &parts[0]["typ"]), (&json!("PS256"), &json!("JWT")));
    assert_eq!(parts[0]["x5t#S256"].as_str().unwrap().len(), 43);
    assert_eq!((&parts[1]["iss"], &parts[1]["sub"]), (&json!("c"), &json!("c")));
    assert_eq!(parts[1]["aud"], json!(format!("{}/tenant/oauth2/v2.0/token", server.address())));
    let wrong = format!("client_certificate_path = \"{file}\"\nclient_certificate_password = \"hush\"\n");
    let said = refused(&at(&wrong), &["apply", "-auto-approve"]);
    assert!(said.contains("the password is wrong") && !said.contains("hush"), "{said}");
}

/// `gcp_kms` with these credentials of another place.
fn federated(server: &Server, credentials: Json) -> Folder {
    let url = format!("{}/google/", server.address());
    let arguments = "kms_encryption_key = \"projects/p/key\"\nkey_length = 32\ncredentials = \"federation.json\"\n";
    let here = folder(Folder::new().with("GOOGLE_KMS_CUSTOM_ENDPOINT", &url), "gcp_kms", arguments);
    let mut document = json!({
        "type": "external_account", "audience": "//iam/pool", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": format!("{url}sts"),
        "service_account_impersonation_url": format!("{url}impersonate"),
    });
    document["credential_source"] = credentials;
    here.write("federation.json", &document.to_string());
    here
}

#[test]
fn google_federates_aws_identities() {
    let server = Server::start();
    let url = server.address();
    let source = json!({
        "environment_id": "aws1",
        "region_url": format!("{url}/latest/zone"),
        "url": format!("{url}/latest/meta-data/iam/security-credentials/"),
        "imdsv2_session_token_url": format!("{url}/latest/api/token"),
        "regional_cred_verification_url": "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15",
    });
    plans_and_applies(&federated(&server, source.clone()));
    let subject = |at: usize| -> Json {
        let form = server.requests("/google/sts")[at].body.clone();
        let token = form.split('&').find_map(|field| field.strip_prefix("subject_token=")).unwrap();
        serde_json::from_str(&unescaped(&unescaped(token))).unwrap()
    };
    let header = |subject: &Json, name: &str| {
        let headers = subject["headers"].as_array().unwrap();
        let found = headers.iter().find(|header| header["key"].as_str().unwrap().eq_ignore_ascii_case(name));
        found.map(|header| header["value"].as_str().unwrap().to_owned()).unwrap_or_default()
    };
    let reported = subject(0);
    assert_eq!(reported["url"], "https://sts.us-west-2.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15");
    assert_eq!(
        (header(&reported, "host"), header(&reported, "x-goog-cloud-target-resource")),
        ("sts.us-west-2.amazonaws.com".to_owned(), "//iam/pool".to_owned())
    );
    let who = header(&reported, "authorization");
    assert!(who.contains("Credential=MACHINE/") && who.contains("/us-west-2/sts/aws4_request"), "{who}");
    assert!(who.contains("SignedHeaders=host;x-amz-date;x-amz-security-token;x-goog-cloud-target-resource"), "{who}");
    let before = server.requests("/google/sts").len();
    let set = federated(&server, source).with("AWS_REGION", "eu-west-1").with("AWS_ACCESS_KEY_ID", "AKID");
    plans_and_applies(&set.with("AWS_SECRET_ACCESS_KEY", "hush"));
    assert!(header(&subject(before), "authorization").contains("Credential=AKID/"));
    let other = federated(&server, json!({ "environment_id": "aws2" }));
    assert!(refused(&other, &["apply", "-auto-approve"]).contains("only \"aws1\" is supported"));
}

/// A text of a form, as it was.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend(part[2..].bytes());
    }
    String::from_utf8(bytes).unwrap()
}

#[cfg(unix)]
#[test]
fn google_runs_allowed_credential_programs() {
    let server = Server::start();
    let source = json!({ "executable": { "command": "sh identity.sh x", "timeout_millis": 5000 } });
    let at = |script: &str| {
        let here = federated(&server, source.clone());
        here.write("identity.sh", script);
        here
    };
    let answer = "echo '{\"version\":1,\"success\":true,\"token_type\":\"urn:ietf:params:oauth:token-type:jwt\",\"id_token\":\"from elsewhere\"}'\n";
    let script = format!("[ \"$GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE$1\" = //iam/poolx ] || exit 3\n{answer}");
    let said = refused(&at(&script), &["apply", "-auto-approve"]);
    assert!(said.contains("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1 if you trust them"), "{said}");
    let allowed = |script: &str| at(script).with("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES", "1");
    plans_and_applies(&allowed(&script));
    for (script, expected) in [
        (
            "echo '{\"version\":1,\"success\":false,\"code\":\"401\",\"message\":\"who?\"}'",
            "code 401 and message \"who?\"",
        ),
        ("echo hush; echo broken >&2; exit 3", "broken"),
        ("echo hush", "is not JSON"),
    ] {
        let said = refused(&allowed(script), &["apply", "-auto-approve"]);
        assert!(said.contains(expected) && !said.contains("hush"), "{said}");
    }
}
