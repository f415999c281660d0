//! States that are encrypted with keys of services, as OpenTofu's key providers get them. The services are on loopback.
//!
//! With `GROMA_TOFU` the files are handed to that OpenTofu and back.

mod server;
mod who;

use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value as Json, json};
use server::Server;

use crate::common::Folder;
use crate::servers;

const RESOURCE: &str = "resource \"terraform_data\" \"a\" {\n  input = \"what nobody may see\"\n}\noutput \"o\" {\n  value = terraform_data.a.output\n}\n";

fn configuration(kind: &str, arguments: &str) -> String {
    format!(
        "terraform {{\n  encryption {{\n    key_provider \"{kind}\" \"k\" {{\n{arguments}\n    }}\n    method \"aes_gcm\" \"m\" {{\n      keys = \
         key_provider.{kind}.k\n    }}\n    state {{\n      method = method.aes_gcm.m\n    }}\n    plan {{\n      method = method.aes_gcm.m\n    \
         }}\n  }}\n}}\n"
    )
}

fn folder(folder: Folder, kind: &str, arguments: &str) -> Folder {
    folder.write("main.tf", RESOURCE).write("encryption.tf", &configuration(kind, arguments));
    folder
}

/// Metadata of the key in a state.
fn notes(folder: &Folder, kind: &str) -> Json {
    let state: Json = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    assert_eq!(state["encryption_version"], "v0", "{state}");
    let notes = state["meta"][format!("key_provider.{kind}.k")].as_str().unwrap();
    serde_json::from_slice(&BASE64_STANDARD.decode(notes).unwrap()).unwrap()
}

/// Makes a state and a plan, and reads both again with keys that were asked for.
fn plans_and_applies(folder: &Folder) {
    folder.ok(&["plan", "-out=p"]);
    assert!(!folder.read("p").contains("nobody may see"));
    folder.ok(&["apply", "p"]);
    assert!(!folder.read("terraform.tfstate").contains("nobody may see"));
    assert!(folder.ok(&["plan"]).contains("No changes"));
    assert!(folder.ok(&["output"]).contains("what nobody may see"));
}

fn refused(folder: &Folder, arguments: &[&str]) -> String {
    folder.fails(arguments).split_whitespace().collect::<Vec<&str>>().join(" ")
}

fn openbao(server: &Server) -> String {
    format!(
        "address = \"{}\"\ntoken = \"s.token\"\nkey_name = \"the-key\"\ntransit_engine_path = \"/my/transit\"\n",
        server.address()
    )
}

const AWS: &str = "kms_key_id = \"alias/mine\"\nkey_spec = \"AES_256\"\nregion = \"eu-west-1\"\nencryption_context = {\n  Application = \"mine\"\n}\n";

/// For AWS and the server in its place.
fn at_aws(folder: Folder, server: &Server) -> Folder {
    folder
        .with("AWS_ENDPOINT_URL_KMS", &server.address())
        .with("AWS_ACCESS_KEY_ID", "AKID")
        .with("AWS_SECRET_ACCESS_KEY", "hush")
        .with("AWS_SESSION_TOKEN", "lent")
}

#[test]
fn openbao_generates_and_decrypts_data_keys() {
    let server = Server::start();
    let folder = folder(Folder::new(), "openbao", &(openbao(&server) + "associated_data = \"bWluZQ==\"\n"));
    plans_and_applies(&folder);
    let notes = notes(&folder, "openbao");
    let sealed = BASE64_STANDARD.decode(notes["ciphertext"].as_str().unwrap()).unwrap();
    assert!(String::from_utf8(sealed).unwrap().starts_with("vault:v1:"));
    assert_eq!(notes["associated_data"], "bWluZQ==");
    let made: Json = serde_json::from_str(&server.requests("/v1/my/transit/datakey")[0].body).unwrap();
    assert_eq!(made, json!({ "bits": 256, "associated_data": "bWluZQ==" }));
    let opened: Json = serde_json::from_str(&server.requests("/v1/my/transit/decrypt")[0].body).unwrap();
    assert_eq!(opened["associated_data"], "bWluZQ==");
}

#[test]
fn openbao_is_configured_by_environment_and_reports_refusals() {
    let server = Server::start();
    let named = "key_name = \"the-key\"\ntransit_engine_path = \"my/transit\"\n";
    let here = folder(Folder::new().with("BAO_ADDR", &server.address()).with("BAO_TOKEN", "s.token"), "openbao", named);
    plans_and_applies(&here);
    let other =
        folder(Folder::new().with("BAO_ADDR", &server.address()).with("BAO_TOKEN", "s.other"), "openbao", named);
    let said = refused(&other, &["apply", "-auto-approve"]);
    assert!(said.contains("Unable to fetch encryption key data") && said.contains("permission denied"), "{said}");
    assert!(!other.path("terraform.tfstate").exists());
    let nowhere = folder(Folder::new().with("BAO_ADDR", "http://127.0.0.1:1"), "openbao", named);
    assert!(refused(&nowhere, &["apply", "-auto-approve"]).contains("key_provider.openbao.k did not supply a key"));
}

#[test]
fn aws_kms_generates_keys_for_signed_requests() {
    let server = Server::start();
    let here = at_aws(folder(Folder::new(), "aws_kms", AWS), &server);
    plans_and_applies(&here);
    assert_eq!(notes(&here, "aws_kms")["encryption_context"], json!({ "Application": "mine" }));
    let asked = &server.requests("/")[0];
    let who = asked.header("authorization");
    assert!(
        who.starts_with("AWS4-HMAC-SHA256 Credential=AKID/") && who.contains("/eu-west-1/kms/aws4_request"),
        "{who}"
    );
    assert!(who.contains("SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target"), "{who}");
    assert_eq!(
        (asked.header("x-amz-security-token"), asked.header("content-type")),
        ("lent", "application/x-amz-json-1.1")
    );
    let body: Json = serde_json::from_str(&asked.body).unwrap();
    let wanted = json!({ "KeyId": "alias/mine", "KeySpec": "AES_256", "EncryptionContext": { "Application": "mine" } });
    assert_eq!(body, wanted);
    let none = at_aws(folder(Folder::new(), "aws_kms", &AWS.replace("mine", "none")), &server);
    assert!(refused(&none, &["apply", "-auto-approve"]).contains("Alias alias/none is not found"));
    let nobody = folder(Folder::new().with("AWS_EC2_METADATA_DISABLED", "true"), "aws_kms", AWS);
    assert!(refused(&nobody, &["apply", "-auto-approve"]).contains("AWS_ACCESS_KEY_ID"));
}

#[test]
fn google_encrypts_local_data_keys() {
    let server = Server::start();
    let url = format!("{}/google/", server.address());
    let arguments =
        "kms_encryption_key = \"projects/p/key\"\nkey_length = 32\nadditional_authenticated_data = \"bWluZQ==\"\n";
    let here = Folder::new().with("GOOGLE_KMS_CUSTOM_ENDPOINT", &url).with("GOOGLE_CREDENTIALS", "user.json");
    let here = folder(here, "gcp_kms", arguments);
    let user = json!({
        "type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r&r",
        "token_uri": format!("{url}token"),
    });
    here.write("user.json", &user.to_string());
    plans_and_applies(&here);
    assert!(notes(&here, "gcp_kms")["ciphertext"].is_string());
    let token = &server.requests("/google/token")[0].body;
    assert_eq!(token, "grant_type=refresh_token&client_id=c&client_secret=s&refresh_token=r%26r");
    let asked = &server.requests("/google/projects")[0];
    assert_eq!(asked.header("authorization"), "Bearer a token for Google");
    let body: Json = serde_json::from_str(&asked.body).unwrap();
    assert_eq!(body["additionalAuthenticatedData"], "bWluZQ==");
}

#[test]
fn azure_encrypts_local_data_keys_with_named_version() {
    let server = Server::start();
    let arguments = format!(
        "vault_uri = \"{}/\"\nvault_key_name = \"the-key\"\nkey_length = 32\ntenant_id = \"tenant\"\nclient_id = \"c\"\nclient_secret = \
         \"s\"\n",
        server.address()
    );
    let here = Folder::new().with("AZURE_AUTHORITY_HOST", &server.address());
    let here = folder(here, "azure_vault", &arguments);
    plans_and_applies(&here);
    let notes = notes(&here, "azure_vault");
    assert_eq!((&notes["key_version"], &notes["algo"]), (&json!("version7"), &json!("RSA-OAEP-256")));
    assert_eq!(notes["iv"], Json::Null);
    let token = &server.requests("/tenant")[0].body;
    let scope = "https%3A%2F%2Fvault.azure.net%2F.default";
    assert_eq!(token, &format!("grant_type=client_credentials&client_id=c&scope={scope}&client_secret=s"));
    let asked = &server.requests("/keys/the-key/encrypt")[0];
    assert_eq!(asked.header("authorization"), "Bearer a token for Azure");
}

/// `aws_kms` with a further argument.
fn rolled(more: &str) -> String {
    format!("{AWS}{more}\n")
}

#[test]
fn aws_assumes_roles() {
    let server = Server::start();
    let role = "{\n  role_arn = \"arn:aws:iam::1:role/r\"\n  session_name = \"s\"\n  external_id = \"e&f\"\n  duration = \"1h\"\n  \
                policy_arns = [\"arn:aws:iam::1:policy/p\"]\n  tags = { k = \"v\" }\n  transitive_tag_keys = [\"k\"]\n}\n";
    let sts = format!("endpoints {{\n  sts = \"{}\"\n}}\nsts_region = \"us-east-1\"\n", server.address());
    for role in [format!("assume_role = {role}"), format!("assume_role {role}")] {
        let here = at_aws(folder(Folder::new(), "aws_kms", &rolled(&(role + &sts))), &server);
        plans_and_applies(&here);
        let asked = server.requests("/");
        let sts_request = asked.iter().find(|request| request.body.starts_with("Action=AssumeRole&")).unwrap();
        let mut fields: Vec<&str> = sts_request.body.split('&').collect();
        fields.sort_unstable();
        assert_eq!(
            fields,
            [
                "Action=AssumeRole",
                "DurationSeconds=3600",
                "ExternalId=e%26f",
                "PolicyArns.member.1.arn=arn%3Aaws%3Aiam%3A%3A1%3Apolicy%2Fp",
                "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr",
                "RoleSessionName=s",
                "Tags.member.1.Key=k",
                "Tags.member.1.Value=v",
                "TransitiveTagKeys.member.1=k",
                "Version=2011-06-15",
            ]
        );
        let who = sts_request.header("authorization");
        assert!(who.contains("Credential=AKID/") && who.contains("/us-east-1/sts/aws4_request"), "{who}");
        let key = asked.iter().find(|request| request.header("x-amz-target").ends_with("GenerateDataKey")).unwrap();
        assert!(key.header("authorization").contains("Credential=ROLE/"), "{key:?}");
        assert_eq!(key.header("x-amz-security-token"), "session ROLE");
    }
    let at_sts = |more: &str| {
        let here = folder(Folder::new(), "aws_kms", &rolled(more));
        at_aws(here, &server).with("AWS_ENDPOINT_URL_STS", &server.address())
    };
    let said = refused(&at_sts("assume_role = { role_arn = \"forbidden\" }"), &["apply", "-auto-approve"]);
    assert!(
        said.contains("AWS STS refuses the role: AccessDenied") && said.contains("not & never authorized"),
        "{said}"
    );
    plans_and_applies(&at_sts("allowed_account_ids = [\"111122223333\"]"));
    let said = refused(&at_sts("forbidden_account_ids = [\"111122223333\"]"), &["apply", "-auto-approve"]);
    assert!(said.contains("the AWS account 111122223333"), "{said}");
}

#[test]
fn aws_sts_accepts_web_identity() {
    let server = Server::start();
    let here = folder(Folder::new(), "aws_kms", &rolled("assume_role_with_web_identity = { role_arn = \"r\" }"));
    let here = here.with("AWS_ENDPOINT_URL", &server.address()).with("AWS_WEB_IDENTITY_TOKEN_FILE", "token.jwt");
    here.write("token.jwt", "a.b.c\n");
    plans_and_applies(&here);
    let sts_request = &server.requests("/")[0];
    assert!(sts_request.body.starts_with("Action=AssumeRoleWithWebIdentity&"), "{}", sts_request.body);
    for field in ["RoleArn=r", "RoleSessionName=groma-", "WebIdentityToken=a.b.c"] {
        assert!(sts_request.body.contains(field), "{field} in {}", sts_request.body);
    }
    assert_eq!(sts_request.header("authorization"), "");
    assert!(server.requests("/").last().unwrap().header("authorization").contains("Credential=WEB/"));
}

#[test]
fn aws_uses_proxy_and_named_credential_files() {
    let server = Server::start();
    let more =
        format!("http_proxy = \"{}\"\nshared_credentials_files = [\"keys\"]\nprofile = \"ci\"\n", server.address());
    let here = folder(Folder::new(), "aws_kms", &rolled(&more)).with("AWS_ENDPOINT_URL_KMS", "http://kms.example/");
    here.write("keys", "[ci]\naws_access_key_id = FILE\naws_secret_access_key = s\n");
    plans_and_applies(&here);
    let asked = &server.requests("http://kms.example/")[0];
    assert!(asked.header("authorization").contains("Credential=FILE/"), "{asked:?}");
    let here = folder(Folder::new(), "aws_kms", &rolled(&format!("{more}no_proxy = \"localhost\"\n")));
    let here = at_aws(here, &server);
    here.write("keys", "[ci]\naws_access_key_id = FILE\naws_secret_access_key = s\n");
    plans_and_applies(&here);
    assert!(!server.requests("/").is_empty());
}

#[test]
fn aws_trusts_the_named_certificate_authorities() {
    let server = servers::Server::start(|_| {
        let key = BASE64_STANDARD.encode([7; 32]);
        servers::Answer::json(&json!({ "Plaintext": key, "CiphertextBlob": "c2VhbGVk" }).to_string())
    });
    let at = |more: &str| {
        let here = folder(Folder::new(), "aws_kms", &rolled(more))
            .with("AWS_ENDPOINT_URL_KMS", &format!("https://{}", server.host()));
        let here = here.with("AWS_ACCESS_KEY_ID", "AKID").with("AWS_SECRET_ACCESS_KEY", "hush");
        server.write_authority(&here.path("authority.pem"));
        here
    };
    let said = refused(&at(""), &["apply", "-auto-approve"]);
    assert!(said.contains("key_provider.aws_kms.k did not supply a key") && said.contains("certificate"), "{said}");
    plans_and_applies(&at("custom_ca_bundle = \"authority.pem\""));
    plans_and_applies(&at("").with("AWS_CA_BUNDLE", "authority.pem"));
    plans_and_applies(&at("insecure = true"));
}

#[test]
fn google_exchanges_external_identity_tokens() {
    let server = Server::start();
    let url = format!("{}/google/", server.address());
    let arguments = "kms_encryption_key = \"projects/p/key\"\nkey_length = 32\ncredentials = \"federation.json\"\n";
    let sources = [
        json!({ "file": "identity.txt" }),
        json!({
            "url": format!("{}/identity", server.address()), "headers": { "metadata": "true" },
            "format": { "type": "json", "subject_token_field_name": "word" },
        }),
    ];
    for source in sources {
        let here = Folder::new().with("GOOGLE_KMS_CUSTOM_ENDPOINT", &url);
        let here = folder(here, "gcp_kms", arguments);
        let federation = json!({
            "type": "external_account", "audience": "//iam/pool", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "token_url": format!("{url}sts"), "credential_source": source,
            "service_account_impersonation_url": format!("{url}impersonate"),
        });
        here.write("federation.json", &federation.to_string()).write("identity.txt", "from elsewhere\n");
        plans_and_applies(&here);
    }
    let exchanged = &server.requests("/google/sts")[0].body;
    assert!(exchanged.starts_with("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&audience="));
    assert_eq!(server.requests("/google/impersonate")[0].header("authorization"), "Bearer an exchanged token");
    assert_eq!(server.requests("/identity")[0].header("metadata"), "true");
    let here = folder(Folder::new(), "gcp_kms", arguments);
    let certificate = json!({
        "type": "external_account", "audience": "a", "subject_token_type": "t", "credential_source": { "certificate": {} },
    });
    here.write("federation.json", &certificate.to_string());
    assert!(
        refused(&here, &["apply", "-auto-approve"]).contains("use a file, a url, an executable or an environment_id")
    );
}

#[test]
fn custom_azure_clouds_provide_their_endpoints() {
    let server = Server::start();
    let arguments = format!(
        "vault_uri = \"{0}/\"\nvault_key_name = \"the-key\"\nkey_length = 32\ntenant_id = \"tenant\"\nclient_id = \"c\"\nclient_secret = \
         \"s\"\nmetadata_host = \"{0}\"\n",
        server.address()
    );
    plans_and_applies(&folder(Folder::new(), "azure_vault", &arguments));
    let token = &server.requests("/tenant")[0].body;
    assert!(token.contains("scope=https%3A%2F%2Fvault.azure.example%2F.default"), "{token}");
}

#[test]
fn invalid_arguments_are_rejected_without_requests() {
    for (kind, arguments, expected) in [
        ("aws_kms", "key_spec = \"AES_256\"\n", "kms_key_id"),
        ("aws_kms", "kms_key_id = \"a\"\nkey_spec = \"RSA\"\n", "key_spec must be AES_256 or AES_128"),
        ("aws_kms", &rolled("assume_role = { session_name = \"r\" }"), "requires the attribute \"role_arn\""),
        ("aws_kms", &rolled("assume_role {\n  session_name = \"r\"\n}"), "\"role_arn\" is required"),
        ("aws_kms", &rolled("assume_role = { role_arm = \"r\" }"), "Did you mean \"role_arn\"?"),
        ("aws_kms", &rolled("assume_role = { role_arn = [] }"), "\"assume_role.role_arn\" must be a string"),
        ("aws_kms", &rolled("assume_role = \"r\""), "\"assume_role\" must be an object"),
        (
            "aws_kms",
            &rolled("assume_role = { role_arn = \"r\", duration = \"1m\" }"),
            "duration must be from 15m to 12h",
        ),
        (
            "aws_kms",
            &rolled("assume_role = { role_arn = \"r\" }\nassume_role {\n  role_arn = \"r\"\n}"),
            "more than once",
        ),
        ("aws_kms", &rolled("custom_ca_bundle = \"none.pem\""), "the certificate bundle none.pem cannot be used"),
        ("aws_kms", &rolled("allowed_account_ids = [\"1\"]\nforbidden_account_ids = [\"2\"]"), "conflicts with"),
        (
            "azure_vault",
            "vault_uri = \"https://v.x\"\nvault_key_name = \"k\"\nkey_length = 32\nclient_certificate_path = \"c.pfx\"\n",
            "cannot read the client certificate \"c.pfx\"",
        ),
        ("openbao", "key_name = \"k\"\nkey_length = 20\n", "key_length must be 16, 32 or 64"),
        ("openbao", "key_name = \"k\"\nassociated_data = \"?\"\n", "not valid Base64"),
        ("gcp_kms", "kms_encryption_key = \"k\"\nkey_length = 2000\n", "from 1 to 1024"),
        ("azure_vault", "vault_uri = \"v\"\nvault_key_name = \"k\"\nkey_length = 32\n", "vault_uri must be a URL"),
        (
            "azure_vault",
            "vault_uri = \"https://v.x\"\nvault_key_name = \"k/l\"\nkey_length = 32\n",
            "letters, digits and hyphens",
        ),
        (
            "azure_vault",
            "vault_uri = \"https://v.x\"\nvault_key_name = \"k\"\nkey_length = 32\nsymmetric = true\n",
            "symmetric_key_size",
        ),
        ("openbau", "key_name = \"k\"\n", "Did you mean \"openbao\"?"),
    ] {
        let here = Folder::new().with("AWS_ACCESS_KEY_ID", "AKID").with("AWS_SECRET_ACCESS_KEY", "hush");
        let here = folder(here, kind, arguments);
        let said = refused(&here, &["apply", "-auto-approve"]);
        assert!(said.contains(expected), "{kind} {arguments}: {said}");
        assert!(!here.path("terraform.tfstate").exists());
    }
}

#[test]
fn encrypted_files_are_shared_with_opentofu() {
    let Some(tofu) = std::env::var_os("GROMA_TOFU").filter(|path| !path.is_empty()) else {
        println!("skipped: no OpenTofu");
        return;
    };
    let server = Server::start();
    let aws = format!("{AWS}skip_credentials_validation = true\nskip_requesting_account_id = true\n");
    // The context is newer than the oldest OpenTofu that has the key provider.
    let aws = aws.replace("encryption_context = {\n  Application = \"mine\"\n}\n", "");
    for (kind, arguments) in [("openbao", openbao(&server)), ("aws_kms", aws)] {
        let ours = at_aws(folder(Folder::new(), kind, &arguments), &server);
        let theirs = at_aws(ours.also_for(Path::new(&tofu)), &server);
        theirs.ok(&["init"]);
        ours.ok(&["apply", "-auto-approve"]);
        assert!(theirs.ok(&["plan"]).contains("No changes"), "{kind}");
        theirs.ok(&["apply", "-auto-approve", "-replace=terraform_data.a"]);
        assert!(ours.ok(&["output"]).contains("what nobody may see"), "{kind}");
        assert!(ours.ok(&["plan"]).contains("No changes"), "{kind}");
    }
}
