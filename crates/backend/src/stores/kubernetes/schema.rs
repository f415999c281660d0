//! The arguments of the backend `kubernetes`.

use std::sync::LazyLock;

use groma_value::Type;

use crate::schema::{Argument, BackendSchema, Nesting, Product};

/// Returns the argument schema.
pub(super) fn schema() -> &'static BackendSchema {
    static SCHEMA: LazyLock<BackendSchema> = LazyLock::new(|| {
        let text = |name, environment| Argument::optional(name, Type::String).env(environment);
        let flag = |name, environment| Argument::optional(name, Type::Bool).env(environment);
        let strings = |ty: fn(Type) -> Type, name| Argument::optional(name, ty(Type::String));
        BackendSchema::new([
            Argument::required("secret_suffix", Type::String),
            text("namespace", &["KUBE_NAMESPACE"]).default("default"),
            strings(Type::map, "labels"),
            flag("in_cluster_config", &["KUBE_IN_CLUSTER_CONFIG"]),
            flag("load_config_file", &["KUBE_LOAD_CONFIG_FILE"]).default("true"),
            text("config_path", &["KUBE_CONFIG_PATH"]),
            // Its variable holds a list like PATH, which is split where the paths are read.
            strings(Type::list, "config_paths"),
            text("config_context", &["KUBE_CTX"]),
            text("config_context_auth_info", &["KUBE_CTX_AUTH_INFO"]),
            text("config_context_cluster", &["KUBE_CTX_CLUSTER"]),
            text("host", &["KUBE_HOST"]),
            text("username", &["KUBE_USER"]),
            text("password", &["KUBE_PASSWORD"]).sensitive(),
            flag("insecure", &["KUBE_INSECURE"]),
            text("client_certificate", &["KUBE_CLIENT_CERT_DATA"]),
            text("client_key", &["KUBE_CLIENT_KEY_DATA"]).sensitive(),
            text("cluster_ca_certificate", &["KUBE_CLUSTER_CA_CERT_DATA"]),
            text("token", &["KUBE_TOKEN"]).sensitive(),
            text("proxy_url", &["KUBE_PROXY_URL"]).only(Product::Terraform),
            Argument::block(
                "exec",
                Nesting::SingleInTerraform,
                [
                    Argument::required("api_version", Type::String),
                    Argument::required("command", Type::String),
                    strings(Type::list, "args"),
                    strings(Type::map, "env"),
                ],
            ),
        ])
    });
    &SCHEMA
}
