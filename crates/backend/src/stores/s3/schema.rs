//! The arguments of the backend `s3`.

use std::sync::LazyLock;

use groma_value::Type;

use crate::schema::{Argument, BackendSchema, Product};

/// Returns the argument schema.
pub(super) fn schema() -> &'static BackendSchema {
    static SCHEMA: LazyLock<BackendSchema> = LazyLock::new(|| {
        let groups = [object(), lock(), credentials(), roles(), flat_role(), endpoints(), network(), checks()];
        BackendSchema::new(groups.into_iter().flatten())
    });
    &SCHEMA
}

fn text(name: &'static str) -> Argument {
    Argument::optional(name, Type::String)
}

fn flag(name: &'static str) -> Argument {
    Argument::optional(name, Type::Bool)
}

fn texts(name: &'static str) -> Argument {
    Argument::optional(name, Type::set(Type::String))
}

fn tags(name: &'static str) -> Argument {
    Argument::optional(name, Type::map(Type::String))
}

fn object() -> Vec<Argument> {
    vec![
        Argument::required("bucket", Type::String),
        Argument::required("key", Type::String),
        text("region").env(&["AWS_REGION", "AWS_DEFAULT_REGION"]),
        // No default: an empty prefix puts the workspaces at the top of the bucket.
        text("workspace_key_prefix"),
        text("acl"),
        flag("encrypt"),
        text("kms_key_id"),
        text("sse_customer_key").env(&["AWS_SSE_CUSTOMER_KEY"]).sensitive(),
        tags("state_tags").only(Product::OpenTofu),
    ]
}

fn lock() -> Vec<Argument> {
    vec![
        flag("use_lockfile"),
        text("dynamodb_table")
            .deprecated("Set use_lockfile instead. The lock file needs no table, and Groma checks the state's ETag."),
        tags("lock_tags").only(Product::OpenTofu),
    ]
}

fn credentials() -> Vec<Argument> {
    vec![
        text("access_key"),
        text("secret_key").sensitive(),
        text("token").sensitive(),
        text("profile"),
        texts("shared_config_files"),
        texts("shared_credentials_files"),
        text("shared_credentials_file").deprecated("Set shared_credentials_files instead."),
    ]
}

fn roles() -> Vec<Argument> {
    let session = || {
        [
            Argument::required("role_arn", Type::String),
            text("duration"),
            text("policy"),
            texts("policy_arns"),
            text("session_name"),
        ]
    };
    let chosen = [
        text("external_id"),
        text("source_identity").only(Product::Terraform),
        tags("tags"),
        texts("transitive_tag_keys"),
    ];
    // The variables AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE alone are a source of the credential chain, so they do not
    // make an object here.
    let token = [text("web_identity_token").sensitive(), text("web_identity_token_file")];
    let of_token = session().map(|argument| match argument.name() {
        "role_arn" => text("role_arn"),
        _ => argument,
    });
    vec![
        Argument::object("assume_role", session().into_iter().chain(chosen)),
        Argument::object("assume_role_with_web_identity", of_token.into_iter().chain(token)),
    ]
}

/// The arguments of the role before there was an object for it.
fn flat_role() -> Vec<Argument> {
    const ADVICE: &str = "Set the attribute of assume_role instead.";
    let arguments = [
        text("role_arn"),
        text("session_name"),
        text("external_id"),
        Argument::optional("assume_role_duration_seconds", Type::Number),
        text("assume_role_policy"),
        texts("assume_role_policy_arns"),
        tags("assume_role_tags"),
        texts("assume_role_transitive_tag_keys"),
    ];
    arguments.into_iter().map(|argument| argument.only(Product::OpenTofu).deprecated(ADVICE)).collect()
}

fn endpoints() -> Vec<Argument> {
    const ADVICE: &str = "Set the attribute of endpoints instead.";
    vec![
        // AWS_ENDPOINT_URL_S3 and the others like it belong to the shared configuration of AWS.
        Argument::object(
            "endpoints",
            [text("dynamodb"), text("iam"), text("s3"), text("sso").only(Product::Terraform), text("sts")],
        ),
        text("endpoint").env(&["AWS_S3_ENDPOINT"]).deprecated(ADVICE),
        text("dynamodb_endpoint").env(&["AWS_DYNAMODB_ENDPOINT"]).deprecated(ADVICE),
        text("iam_endpoint").env(&["AWS_IAM_ENDPOINT"]).deprecated(ADVICE),
        text("sts_endpoint").env(&["AWS_STS_ENDPOINT"]).deprecated(ADVICE),
    ]
}

fn network() -> Vec<Argument> {
    vec![
        flag("use_path_style"),
        flag("force_path_style").deprecated("Set use_path_style instead."),
        flag("use_fips_endpoint"),
        flag("use_dualstack_endpoint"),
        text("sts_region"),
        text("http_proxy"),
        text("https_proxy"),
        text("no_proxy"),
        flag("insecure"),
        text("custom_ca_bundle"),
        text("ec2_metadata_service_endpoint"),
        text("ec2_metadata_service_endpoint_mode"),
        Argument::optional("max_retries", Type::Number).default("5"),
        text("retry_mode"),
    ]
}

fn checks() -> Vec<Argument> {
    vec![
        flag("skip_credentials_validation"),
        flag("skip_requesting_account_id"),
        flag("skip_metadata_api_check"),
        flag("skip_region_validation"),
        flag("skip_s3_checksum"),
        texts("allowed_account_ids"),
        texts("forbidden_account_ids"),
    ]
}

#[cfg(test)]
mod tests {
    use groma_value::Value;

    use super::*;
    use crate::schema::record_hash;

    fn block(more: Vec<(&'static str, Value)>) -> Value {
        let text = |text: &str| Value::string(text);
        let given = [
            ("bucket", text("states")),
            ("key", text("a.tfstate")),
            ("region", text("us-east-1")),
            ("access_key", text("k")),
            ("secret_key", text("s")),
            ("skip_credentials_validation", Value::bool(true)),
            ("skip_requesting_account_id", Value::bool(true)),
            ("skip_metadata_api_check", Value::bool(true)),
            ("use_path_style", Value::bool(true)),
            ("use_lockfile", Value::bool(true)),
        ];
        let url = text("http://127.0.0.1:47011");
        let endpoints = Value::object([("s3", url.clone()), ("sts", url)]);
        Value::object(given.into_iter().chain([("endpoints", endpoints)]).chain(more))
    }

    fn hash(more: Vec<(&'static str, Value)>) -> u32 {
        let config = schema().conform(&block(more)).unwrap();
        record_hash("s3", schema(), &config, Product::Terraform)
    }

    #[test]
    fn hashes_equal_those_that_terraform_records() {
        let arn = || ("role_arn", Value::string("arn:aws:iam::123456789012:role/x"));
        assert_eq!(hash(vec![("assume_role", Value::object([arn()]))]), 1_167_211_720);
        let file = ("web_identity_token_file", Value::string("/tmp/f1/tf/tok"));
        let role = Value::object([arn(), file]);
        assert_eq!(hash(vec![("assume_role_with_web_identity", role)]), 3_328_403_203);
    }

    #[test]
    fn arguments_of_one_product_keep_the_block_out_of_the_record_of_the_other() {
        let config = schema().conform(&block(vec![("role_arn", Value::string("arn"))])).unwrap();
        assert!(schema().to_record(&config, Product::Terraform).is_none());
        assert!(schema().to_record(&config, Product::OpenTofu).is_some());
    }
}
