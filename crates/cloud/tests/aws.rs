//! The AWS client against doubles of its services on loopback.

#![allow(clippy::unwrap_used)] // the helpers of a test may fail as the test itself may

mod double;

use std::path::Path;
use std::time::{Duration, SystemTime};

use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use double::{Answer, Double, Received, ok, status};
use groma_cloud::Environment;
use groma_cloud::aws::{
    Addressing, AssumeRole, AwsClient, AwsError, AwsKeys, AwsRequest, AwsService, AwsSettings, MetadataService,
    RequestError, WebIdentityRole, WebIdentityToken,
};
use groma_cloud::http::Method;

/// An environment without any source of credentials.
fn bare(home: &Path) -> Environment {
    Environment::default()
        .with("HOME", home.to_string_lossy())
        .with("AWS_EC2_METADATA_DISABLED", "true")
        .with("AWS_REGION", "eu-central-1")
}

fn settings(environment: Environment, endpoint: &Double) -> AwsSettings {
    let endpoints =
        ["s3", "kms", "sts", "dynamodb", "cloudcontrol"].map(|name| (name.to_owned(), endpoint.url.clone()));
    AwsSettings { environment, endpoints: endpoints.into_iter().collect(), ..AwsSettings::default() }
}

fn with_keys(endpoint: &Double) -> AwsSettings {
    let home = Path::new("/nonexistent");
    AwsSettings { keys: Some(AwsKeys::new("AKSTATIC", "s", None)), ..settings(bare(home), endpoint) }
}

fn decrypt() -> AwsRequest {
    AwsRequest::json(AwsService::KMS, "TrentService", "Decrypt", "1.1", b"{}".to_vec())
}

fn in_an_hour() -> String {
    DateTime::from(SystemTime::now() + Duration::from_secs(3600)).fmt(Format::DateTime).unwrap()
}

fn issued(action: &str, id: &str) -> Answer {
    ok(format!(
        "<{action}Response><{action}Result><AssumedRoleUser><Arn>arn:aws:sts::1:assumed-role/r/s</Arn>\
         <AssumedRoleId>x</AssumedRoleId></AssumedRoleUser><Credentials><AccessKeyId>{id}</AccessKeyId>\
         <SecretAccessKey>s</SecretAccessKey><SessionToken>token-{id}</SessionToken><Expiration>{}</Expiration>\
         </Credentials></{action}Result></{action}Response>",
        in_an_hour()
    ))
}

/// A double of STS that issues keys named after the role, and of any other service.
fn cloud() -> Double {
    Double::start(|request, _| {
        let field = |name: &str| {
            let pair = request.body.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
            pair.unwrap_or_default().to_owned()
        };
        let role = field("RoleArn").rsplit("%2F").next().unwrap_or_default().to_uppercase();
        match field("Action").as_str() {
            "AssumeRole" if role == "DENIED" => status(
                403,
                "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not authorized to perform: sts:AssumeRole</Message>\
                 </Error></ErrorResponse>",
            ),
            action @ ("AssumeRole" | "AssumeRoleWithWebIdentity") => issued(action, &format!("AK{role}")),
            "GetCallerIdentity" => {
                ok("<R><Arn>arn:aws:iam::123456789012:user/me</Arn><Account>123456789012</Account></R>")
            }
            _ => ok("{}"),
        }
    })
}

fn last(double: &Double) -> Received {
    double.received().pop().unwrap()
}

#[test]
fn cc_48_static_keys_sign_requests() {
    let cloud = cloud();
    let client = AwsClient::new(with_keys(&cloud)).unwrap();
    client.send_blocking(decrypt()).unwrap();
    let request = last(&cloud);
    assert_eq!((request.key_id(), request.method.as_str(), request.target.as_str()), (Some("AKSTATIC"), "POST", "/"));
    assert_eq!(request.header("x-amz-target"), Some("TrentService.Decrypt"));
    assert!(request.header("authorization").unwrap().contains("/eu-central-1/kms/aws4_request"));
    assert!(request.header("user-agent").unwrap().starts_with("Groma/"));
    assert_eq!(client.caller_identity_blocking().unwrap().account, "123456789012");
}

#[test]
fn cc_48_environment_keys_yield_to_a_profile_of_the_settings() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".aws")).unwrap();
    std::fs::write(
        home.path().join(".aws/credentials"),
        "[default]\naws_access_key_id=AKDEFAULT\naws_secret_access_key=s\n[ci]\naws_access_key_id=AKCI\naws_secret_access_key=s\n",
    )
    .unwrap();
    let cloud = cloud();
    let key = |environment: Environment, profile: Option<&str>| {
        let settings = AwsSettings { profile: profile.map(str::to_owned), ..settings(environment, &cloud) };
        AwsClient::new(settings).unwrap().send_blocking(decrypt()).unwrap();
        last(&cloud).key_id().unwrap().to_owned()
    };
    let bare = bare(home.path());
    let keys = bare.clone().with("AWS_ACCESS_KEY_ID", "AKENV").with("AWS_SECRET_ACCESS_KEY", "s");
    assert_eq!(key(bare.clone(), None), "AKDEFAULT");
    assert_eq!(key(bare.clone().with("AWS_PROFILE", "ci"), None), "AKCI");
    // Keys of the environment precede `AWS_PROFILE`, but not a profile that the configuration names.
    assert_eq!(key(keys.clone().with("AWS_PROFILE", "ci"), None), "AKENV");
    assert_eq!(key(keys.clone(), Some("ci")), "AKCI");
}

#[test]
fn cc_48_profiles_assume_roles_from_other_profiles_and_the_environment() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("config");
    std::fs::write(
        &config,
        "[profile base]\naws_access_key_id=AKBASE\naws_secret_access_key=s\n\
         [profile middle]\nrole_arn=arn:aws:iam::1:role/middle\nsource_profile=base\n\
         [profile top]\nrole_arn=arn:aws:iam::1:role/top\nsource_profile=middle\nexternal_id=ext\n\
         [profile env]\nrole_arn=arn:aws:iam::1:role/viaenv\ncredential_source=Environment\n",
    )
    .unwrap();
    let keys = |profile: &str| {
        let cloud = cloud();
        let environment = bare(home.path()).with("AWS_ACCESS_KEY_ID", "AKENV").with("AWS_SECRET_ACCESS_KEY", "s");
        let settings = AwsSettings {
            profile: Some(profile.to_owned()),
            config_files: vec![config.clone()],
            ..settings(environment, &cloud)
        };
        AwsClient::new(settings).unwrap().send_blocking(decrypt()).unwrap();
        cloud.received().iter().map(|request| request.key_id().unwrap().to_owned()).collect::<Vec<String>>()
    };
    // The first two requests go to STS; each is signed with the keys of the role before.
    assert_eq!(keys("top"), ["AKBASE", "AKMIDDLE", "AKTOP"]);
    // `credential_source=Environment` uses the keys of the environment although the profile is named in the settings.
    assert_eq!(keys("env"), ["AKENV", "AKVIAENV"]);
}

#[test]
fn cc_48_roles_of_the_settings_are_assumed_one_after_the_other() {
    let cloud = cloud();
    let role = |name: &str| AssumeRole { role_arn: format!("arn:aws:iam::1:role/{name}"), ..AssumeRole::default() };
    let first = AssumeRole {
        external_id: Some("e x".to_owned()),
        duration: Some(Duration::from_secs(1800)),
        tags: [("team".to_owned(), "a".to_owned())].into(),
        transitive_tag_keys: vec!["team".to_owned()],
        policy_arns: vec!["arn:p".to_owned()],
        source_identity: Some("me".to_owned()),
        session_name: Some("ci".to_owned()),
        ..role("one")
    };
    let settings = AwsSettings { roles: vec![first, role("two")], ..with_keys(&cloud) };
    let client = AwsClient::new(settings).unwrap();
    client.send_blocking(decrypt()).unwrap();
    client.send_blocking(decrypt()).unwrap();
    let received = cloud.received();
    let keys: Vec<&str> = received.iter().map(|request| request.key_id().unwrap()).collect();
    // The second request needs no call of STS, because the keys of both roles are kept.
    assert_eq!(keys, ["AKSTATIC", "AKONE", "AKTWO", "AKTWO"]);
    for field in [
        "ExternalId=e%20x",
        "DurationSeconds=1800",
        "Tags.member.1.Key=team",
        "TransitiveTagKeys.member.1=team",
        "PolicyArns.member.1.arn=arn%3Ap",
        "SourceIdentity=me",
        "RoleSessionName=ci",
    ] {
        assert!(received[0].body.contains(field), "{field} in {}", received[0].body);
    }
}

#[test]
fn cc_48_web_identity_tokens_give_roles() {
    let cloud = cloud();
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("token");
    std::fs::write(&file, "from-file\n").unwrap();
    let role = |token: WebIdentityToken, arn: Option<&str>| WebIdentityRole {
        role_arn: arn.map(str::to_owned),
        token,
        session_name: None,
        duration: Some(Duration::from_secs(900)),
        policy: None,
        policy_arns: Vec::new(),
    };
    let body = |role: WebIdentityRole, environment: Environment| {
        let settings = AwsSettings { web_identity_role: Some(role), ..settings(environment, &cloud) };
        let client = AwsClient::new(settings).unwrap();
        client.send_blocking(decrypt()).unwrap();
        let received = cloud.received();
        assert_eq!(received[received.len() - 1].key_id(), Some("AKWEB"));
        // The call of STS is not signed: the token is the proof of identity.
        assert_eq!(received[received.len() - 2].header("authorization"), None);
        received[received.len() - 2].body.clone()
    };
    let role_arn = "arn:aws:iam::1:role/web";
    let arn = Some(role_arn);
    let inline = body(role(WebIdentityToken::Inline("hush".to_owned().into()), arn), bare(home.path()));
    assert!(inline.contains("WebIdentityToken=hush") && inline.contains("DurationSeconds=900"), "{inline}");
    assert!(
        body(role(WebIdentityToken::File(file.clone()), arn), bare(home.path())).contains("WebIdentityToken=from-file")
    );
    let environment =
        bare(home.path()).with("AWS_WEB_IDENTITY_TOKEN_FILE", file.to_string_lossy()).with("AWS_ROLE_ARN", role_arn);
    assert!(
        body(role(WebIdentityToken::Environment, None), environment.clone()).contains("WebIdentityToken=from-file")
    );
    // The official chain does the same without any settings.
    AwsClient::new(settings(environment, &cloud)).unwrap().send_blocking(decrypt()).unwrap();
    assert_eq!(last(&cloud).key_id(), Some("AKWEB"));
}

#[test]
fn cc_48_instance_and_container_services_provide_keys() {
    let home = tempfile::tempdir().unwrap();
    let document = |id: &str| {
        format!(
            r#"{{"Code":"Success","Type":"AWS-HMAC","AccessKeyId":"{id}","SecretAccessKey":"s","Token":"t","Expiration":"{}","LastUpdated":"2020-01-01T00:00:00Z"}}"#,
            in_an_hour()
        )
    };
    let imds_document = document("AKIMDS");
    let imds = Double::start(move |request, _| match (request.method.as_str(), request.target.as_str()) {
        ("PUT", "/latest/api/token") => ok("session").with("x-aws-ec2-metadata-token-ttl-seconds", "21600"),
        // Version 2 of the service: every request needs the token of the session.
        ("GET", _) if request.header("x-aws-ec2-metadata-token") != Some("session") => status(401, ""),
        ("GET", "/latest/meta-data/placement/region") => ok("ap-south-1"),
        ("GET", "/latest/meta-data/iam/security-credentials-extended/") => ok("role\n"),
        ("GET", "/latest/meta-data/iam/security-credentials-extended/role") => ok(imds_document.clone()),
        ("GET", "/latest/meta-data/iam/security-credentials/") => ok("role\n"),
        ("GET", "/latest/meta-data/iam/security-credentials/role") => ok(imds_document.clone()),
        _ => status(404, ""),
    });
    let cloud = cloud();
    let instance = AwsSettings {
        metadata: MetadataService { enabled: Some(true), endpoint: Some(imds.url.clone()), endpoint_mode: None },
        ..settings(Environment::default().with("HOME", home.path().to_string_lossy()), &cloud)
    };
    AwsClient::new(instance).unwrap().send_blocking(decrypt()).unwrap();
    assert_eq!(last(&cloud).key_id(), Some("AKIMDS"));
    // The instance also supplies the region, because nothing else names one.
    assert!(last(&cloud).header("authorization").unwrap().contains("/ap-south-1/kms/"));

    let container_document = document("AKPOD");
    let container = Double::start(move |request, _| match request.header("authorization") {
        Some("pod-token") => ok(container_document.clone()),
        _ => status(401, ""),
    });
    let token = home.path().join("pod");
    std::fs::write(&token, "pod-token").unwrap();
    let pod = bare(home.path())
        .with("AWS_CONTAINER_CREDENTIALS_FULL_URI", format!("{}/creds", container.url))
        .with("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token.to_string_lossy());
    AwsClient::new(settings(pod, &cloud)).unwrap().send_blocking(decrypt()).unwrap();
    assert_eq!(last(&cloud).key_id(), Some("AKPOD"));
}

#[cfg(unix)]
#[test]
fn cc_48_credential_processes_and_sso_sessions_provide_keys() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("config");
    std::fs::write(
        &config,
        "[profile process]\ncredential_process = echo '{\"Version\":1,\"AccessKeyId\":\"AKPROC\",\"SecretAccessKey\":\"s\"}'\n\
         [profile sso]\nsso_session = main\nsso_account_id = 123456789012\nsso_role_name = admin\n\
         [sso-session main]\nsso_region = eu-central-1\nsso_start_url = https://d-1.awsapps.com/start\n",
    )
    .unwrap();
    // The file name is the SHA-1 of the session's name, as the AWS CLI writes it after a login.
    let cache = home.path().join(".aws/sso/cache");
    std::fs::create_dir_all(&cache).unwrap();
    let token = format!(
        r#"{{"accessToken":"sso-token","expiresAt":"{}","region":"eu-central-1","startUrl":"https://d-1.awsapps.com/start"}}"#,
        in_an_hour()
    );
    std::fs::write(cache.join("b28b7af69320201d1cf206ebf28373980add1451.json"), token).unwrap();
    let cloud = Double::start(|request, _| match request.target.as_str() {
        target if target.starts_with("/federation/credentials") => {
            assert_eq!(request.header("x-amz-sso_bearer_token"), Some("sso-token"));
            let expiration = (SystemTime::now() + Duration::from_secs(3600)).duration_since(SystemTime::UNIX_EPOCH);
            let expiration = expiration.unwrap().as_millis();
            ok(format!(
                r#"{{"roleCredentials":{{"accessKeyId":"AKSSO","secretAccessKey":"s","sessionToken":"t","expiration":{expiration}}}}}"#
            ))
        }
        _ => ok("{}"),
    });
    for (profile, key) in [("process", "AKPROC"), ("sso", "AKSSO")] {
        let mut settings = AwsSettings {
            profile: Some(profile.to_owned()),
            config_files: vec![config.clone()],
            ..settings(bare(home.path()), &cloud)
        };
        settings.endpoints.insert("sso".to_owned(), cloud.url.clone());
        AwsClient::new(settings).unwrap().send_blocking(decrypt()).unwrap();
        assert_eq!(last(&cloud).key_id(), Some(key), "{profile}");
    }
}

/// A key with which the AWS CLI proves that it owns a session, made for this test.
const DPOP_KEY: &str = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIOhvlYggm9W4idgYQerJKTc4LotTaC6lXlaubY2tYhSooAoGCCqGSM49\nAwEHoUQDQgAECScAfMRhABE1f9eNvOdXxWmy1sEpvvMkV7RCJnHuptShWcyqngoh\n/pvAHLupaJQg3612zSPNx6nVy8J/GwqIZA==\n-----END EC PRIVATE KEY-----\n";

#[test]
fn cc_48_console_logins_provide_keys_and_are_renewed() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("config");
    std::fs::write(&config, "[profile console]\nlogin_session = arn:aws:iam::123456789012:user/dev\n").unwrap();
    // The file name is the SHA-256 of the session, as `aws login` writes it.
    let cache = home.path().join(".aws/login/cache");
    std::fs::create_dir_all(&cache).unwrap();
    let session = cache.join("893f13863f68a08133e541260597f1d60f5bf9b326625782990032cbad201e26.json");
    let login = |expires_at: &str| {
        let document = serde_json::json!({
            "accessToken": {"accessKeyId": "AKLOGIN", "secretAccessKey": "s", "sessionToken": "t",
                "accountId": "123456789012", "expiresAt": expires_at},
            "tokenType": "aws_sigv4", "refreshToken": "refresh-1", "clientId": "arn:aws:signin:::devtools/same-device",
            "dpopKey": DPOP_KEY,
        });
        std::fs::write(&session, document.to_string()).unwrap();
    };
    let cloud = Double::start(|request, _| match request.target.as_str() {
        "/v1/token" => {
            assert!(request.header("dpop").is_some_and(|proof| proof.split('.').count() == 3));
            let asked: serde_json::Value = serde_json::from_str(&request.body).unwrap();
            assert_eq!((&asked["grantType"], &asked["refreshToken"]), (&"refresh_token".into(), &"refresh-1".into()));
            ok(r#"{"accessToken":{"accessKeyId":"AKRENEWED","secretAccessKey":"s","sessionToken":"t2"},
                "tokenType":"aws_sigv4","expiresIn":900,"refreshToken":"refresh-2"}"#)
        }
        _ => ok("{}"),
    });
    let key = || {
        let settings = AwsSettings {
            profile: Some("console".to_owned()),
            config_files: vec![config.clone()],
            ..settings(bare(home.path()).with("AWS_ENDPOINT_URL_SIGNIN", cloud.url.as_str()), &cloud)
        };
        AwsClient::new(settings).unwrap().send_blocking(decrypt()).unwrap();
        last(&cloud).key_id().unwrap().to_owned()
    };
    login(&in_an_hour());
    assert_eq!(key(), "AKLOGIN");
    assert!(cloud.received().iter().all(|request| request.target != "/v1/token"));
    login("2026-01-01T00:00:00Z");
    assert_eq!(key(), "AKRENEWED");
    // The renewed session is kept, so that the AWS CLI and the next run continue with it.
    let renewed: serde_json::Value = serde_json::from_slice(&std::fs::read(&session).unwrap()).unwrap();
    assert_eq!(renewed["refreshToken"], "refresh-2");
}

#[test]
fn cc_48_missing_credentials_list_the_tried_sources() {
    let home = tempfile::tempdir().unwrap();
    let cloud = cloud();
    // Half of a pair of keys counts as none, and the message names the missing half.
    let client = AwsClient::new(settings(bare(home.path()).with("AWS_ACCESS_KEY_ID", "AK"), &cloud)).unwrap();
    let error = client.send_blocking(decrypt()).unwrap_err();
    let RequestError::Client(AwsError::MissingCredentials(_)) = &error else { panic!("{error:?}") };
    let text = error.to_string();
    for part in [
        "AWS_SECRET_ACCESS_KEY not set",
        "profile \"default\" in ~/.aws/config and ~/.aws/credentials",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "switched off by AWS_EC2_METADATA_DISABLED",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let missing = AwsSettings { profile: Some("nope".to_owned()), ..settings(bare(home.path()), &cloud) };
    let error = AwsClient::new(missing).unwrap().send_blocking(decrypt()).unwrap_err();
    assert!(
        matches!(&error, RequestError::Client(AwsError::MissingProfile { profile, .. }) if profile == "nope"),
        "{error}"
    );
    let denied = AssumeRole { role_arn: "arn:aws:iam::1:role/denied".to_owned(), ..AssumeRole::default() };
    let settings = AwsSettings { roles: vec![denied], ..with_keys(&cloud) };
    let error = AwsClient::new(settings).unwrap().send_blocking(decrypt()).unwrap_err().to_string();
    assert!(error.contains("AccessDenied") && error.contains("sts:AssumeRole"), "{error}");
}

#[test]
fn refusing_metadata_service_counts_as_no_credentials() {
    let home = tempfile::tempdir().unwrap();
    // As in containers whose network policy blocks the service: nobody has configured it, so it cannot be "broken".
    let imds = Double::start(|_, _| status(403, ""));
    let cloud = cloud();
    let environment =
        Environment::default().with("HOME", home.path().to_string_lossy()).with("AWS_REGION", "eu-west-1");
    let settings = AwsSettings {
        metadata: MetadataService { enabled: None, endpoint: Some(imds.url.clone()), endpoint_mode: None },
        ..settings(environment, &cloud)
    };
    let client = AwsClient::new(settings).unwrap();
    let error = client.send_blocking(decrypt()).unwrap_err();
    let RequestError::Client(AwsError::MissingCredentials(problem)) = &error else { panic!("{error:?}") };
    assert!(problem.sources.last().unwrap().starts_with("instance metadata (EC2): "), "{error}");
    // Without credentials such a request is sent unsigned.
    client.send_blocking(decrypt().signed_if_possible()).unwrap();
    assert_eq!(last(&cloud).header("authorization"), None);
}

#[test]
fn cc_49_throttled_and_failing_requests_are_repeated() {
    let service = Double::start(|_, number| match number {
        0 => status(400, r#"{"__type":"com.amazonaws.x#ThrottlingException","message":"Rate exceeded"}"#),
        1 => status(503, ""),
        _ => ok("done"),
    });
    let settings = AwsSettings { attempts: Some(3), ..with_keys(&service) };
    let response = AwsClient::new(settings).unwrap().send_blocking(decrypt()).unwrap();
    assert_eq!(response.body, b"done");
    let always = Double::start(|_, _| status(400, r#"{"__type":"ThrottlingException","message":"Rate exceeded"}"#));
    // The limit of the request precedes that of the client.
    let client = AwsClient::new(AwsSettings { attempts: Some(9), ..with_keys(&always) }).unwrap();
    let error = client.send_blocking(decrypt().with_attempts(1)).unwrap_err();
    assert!(matches!(error, RequestError::Throttled(_)), "{error}");
    assert_eq!(always.received().len(), 1);
}

#[test]
fn cc_49_wrong_clock_is_corrected_and_expired_keys_are_renewed() {
    let there = DateTime::from(SystemTime::now() + Duration::from_secs(7200)).fmt(Format::HttpDate).unwrap();
    let service = Double::start(move |request, number| match number {
        0 => status(403, "<Error><Code>RequestTimeTooSkewed</Code></Error>").with("date", there.clone()),
        1 => status(400, r#"{"__type":"ExpiredTokenException","message":"expired"}"#),
        _ => ok(request.header("x-amz-date").unwrap_or_default()),
    });
    // A single attempt: neither correction counts as one.
    let settings = AwsSettings { attempts: Some(1), ..with_keys(&service) };
    let client = AwsClient::new(settings).unwrap();
    client.send_blocking(decrypt()).unwrap();
    let dates: Vec<String> =
        service.received().iter().map(|request| request.header("x-amz-date").unwrap().to_owned()).collect();
    assert_eq!(dates.len(), 3);
    // The clock moved by two hours for the second request and stays corrected for the third.
    assert_ne!(dates[0], dates[1]);
    assert_eq!(dates[1].get(..11), dates[2].get(..11));
}

#[test]
fn refusals_are_typed() {
    let service = Double::start(|request, _| match request.target.as_str() {
        "/bucket/denied" => status(403, "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
            .with("x-amz-request-id", "R1"),
        "/bucket/moved" => {
            status(301, "<Error><Code>PermanentRedirect</Code></Error>").with("x-amz-bucket-region", "eu-west-3")
        }
        _ => status(412, "<Error><Code>PreconditionFailed</Code><Message>a &amp; b</Message></Error>"),
    });
    let client = AwsClient::new(with_keys(&service)).unwrap();
    let get = |key: &str| {
        client
            .send_blocking(AwsRequest::s3(Method::GET, "GetObject", "bucket", key, Addressing::Automatic))
            .map(|response| response.status)
            .unwrap_err()
    };
    let denied = get("denied");
    assert!(matches!(denied, RequestError::AccessDenied(_)), "{denied:?}");
    assert!(denied.to_string().contains("allow s3:GetObject") && denied.to_string().contains("R1"), "{denied}");
    assert!(matches!(get("moved"), RequestError::WrongRegion { expected, .. } if expected == "eu-west-3"));
    let other = get("x y");
    assert_eq!((other.status(), other.code()), (Some(412), Some("PreconditionFailed")));
    assert_eq!(other.service().unwrap().message, "a & b");
    assert_eq!(last(&service).target, "/bucket/x%20y");
    let nobody = AwsSettings { attempts: Some(1), ..with_keys(&service) };
    // Port 9 (discard) has no listener.
    let nobody = AwsSettings { endpoints: [("s3".to_owned(), "http://127.0.0.1:9".to_owned())].into(), ..nobody };
    let error = AwsClient::new(nobody)
        .unwrap()
        .send_blocking(AwsRequest::s3(Method::GET, "GetObject", "bucket", "x", Addressing::Path))
        .map(|response| response.status)
        .unwrap_err();
    assert!(matches!(error, RequestError::Network { .. }), "{error}");
}

#[test]
fn cc_48_endpoints_come_from_settings_environment_and_profile() {
    let home = tempfile::tempdir().unwrap();
    let servers = ["settings", "service", "global", "profile"].map(|name| Double::start(move |_, _| ok(name)));
    let [by_settings, by_service, by_global, by_profile] = &servers;
    let config = home.path().join("config");
    std::fs::write(
        &config,
        format!(
            "[default]\nservices = local\naws_access_key_id=AK\naws_secret_access_key=s\n[services local]\nkms =\n  endpoint_url = {}\n",
            by_profile.url
        ),
    )
    .unwrap();
    let answer = |environment: Environment, endpoint: Option<&str>| {
        let settings = AwsSettings {
            environment,
            config_files: vec![config.clone()],
            endpoints: endpoint.map(|url| ("kms".to_owned(), url.to_owned())).into_iter().collect(),
            ..AwsSettings::default()
        };
        let response = AwsClient::new(settings).unwrap().send_blocking(decrypt()).unwrap();
        String::from_utf8(response.body).unwrap()
    };
    let bare = bare(home.path());
    // From the weakest source to the strongest; each step adds the next one.
    assert_eq!(answer(bare.clone(), None), "profile");
    let global = bare.with("AWS_ENDPOINT_URL", &*by_global.url);
    assert_eq!(answer(global.clone(), None), "global");
    let service = global.with("AWS_ENDPOINT_URL_KMS", &*by_service.url);
    assert_eq!(answer(service.clone(), None), "service");
    assert_eq!(answer(service, Some(&by_settings.url)), "settings");
}
