//! What servers answer.

use std::sync::OnceLock;

use groma_address::ProviderAddress;
use groma_install::answers::{self, Asked};
use groma_install::http::Url;
use groma_install::providers::{Location, PackageMeta, Platform};

use super::text;

fn asked() -> Option<&'static Asked> {
    static ASKED: OnceLock<Option<Asked>> = OnceLock::new();
    let made = || {
        Some(Asked {
            url: Url::parse("https://registry.example.com/v1/providers/a/b/versions").ok()?,
            provider: ProviderAddress::default_for("example"),
            version: "1.2.3".parse().ok()?,
            platform: Platform::current(),
        })
    };
    ASKED.get_or_init(made).as_ref()
}

/// Every answer is read or refused. Whoever answers has several documents to say it with, a line with a form feed between them.
pub fn answers(bytes: &[u8]) {
    let Some(asked) = asked() else { return };
    let mut parts = bytes.split(|byte| *byte == b'\x0c');
    let mut part = || parts.next().unwrap_or_default();
    let (first, second, third) = (part(), part(), part());
    if let Ok(services) = asked.services(first) {
        for name in ["providers.v1", "modules.v1", "login.v1"] {
            let _ = services.url(name);
            let _ = services.object(name);
        }
    }
    let _ = asked.provider_versions(first);
    let _ = asked.mirror_versions(first);
    let _ = answers::module_versions(first);
    let _ = answers::oci_tags(first);
    for wanted in ["application/vnd.opentofu.provider-target", "application/vnd.opentofu.modulepkg"] {
        let _ = answers::oci_archive(first, wanted);
    }
    if let Some(place) = answers::oci_token_url(text(first)) {
        assert_eq!(place.scheme(), "https", "a password goes there");
    }
    // What nobody has signed is no package of a registry.
    assert!(asked.provider_package(first, second, third).is_err());
    asked.mirror_package(first).into_iter().for_each(|package| told(&package));
    for package in [asked.module_package(first), asked.page_package(text(first))].into_iter().flatten() {
        assert!(!package.address.is_empty());
    }
    for (name, sum) in answers::sums(first).into_iter().flatten() {
        assert!(sum.len() == 64 && !name.contains('\n'));
    }
}

/// Nothing that a mirror says makes a name of a file that leads elsewhere.
fn told(package: &PackageMeta) {
    if let Location::Download { filename, .. } = &package.location {
        assert!(!filename.contains('/'), "{filename}");
    }
}
