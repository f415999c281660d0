//! The key services of state encryption.

use groma_cloud::Environment;
use groma_key_services::CloudKeyServices;

use crate::settings::Settings;

/// Returns the key services, which read their settings in the environment of this run.
pub(super) fn key_services(settings: &Settings) -> CloudKeyServices {
    CloudKeyServices::new(environment(settings))
}

/// Returns the environment for clients of clouds.
pub(super) fn environment(settings: &Settings) -> Environment {
    let environment: Environment = settings.environment.texts().into_iter().collect();
    match &settings.home {
        Some(home) => environment.with("HOME", home.to_string_lossy()),
        None => environment,
    }
}
