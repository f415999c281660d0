//! `providers lock` and `providers mirror`: provider packages for other platforms and machines.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_config::Configuration;
use groma_config::version::Constraints;
use groma_diagnostics::{Diagnostics, io_reason};
use groma_install::http::Url;
use groma_install::providers::{
    Cache, LOCK_FILE, Lock, Locks, Method, Platform, Source, SourceError, Sources, cached_package, constraints_text,
    write_mirror_documents,
};

use super::builtin_providers::preference;
use super::cli_configuration::default_registry;
use super::configuration::{Purpose, load, load_with_tests, test_folder};
use super::context::Context;
use super::outcome::{Outcome, fail, misuse};
use super::packages::{builtin, cache, locks, methods, needed};
use super::servers::{discovery, wait};
use crate::arguments::{Flag, ProvidersLock, ProvidersMirror};
use crate::views::wording::Wording;

/// Providers and platforms to process, with their package sources.
struct Work {
    wanted: BTreeMap<ProviderAddress, Constraints>,
    locks: Locks,
    platforms: Vec<Platform>,
    sources: Sources,
    cache: Option<Cache>,
}

pub(super) fn lock(context: &mut Context, arguments: &ProvidersLock) -> Outcome {
    context.configure_view(&arguments.common.view);
    context.configure_json(&arguments.json)?;
    let given = given_source(arguments)?;
    let tests = test_folder(arguments.test_directory.as_deref());
    let (configuration, warnings) = load_with_tests(context, Purpose::Blocks, tests)?;
    context.show(&warnings);
    let mut work = work(context, &configuration, &arguments.platform, given)?;
    if arguments.enable_plugin_cache.is_some_and(Flag::is_on) {
        work.cache = cache(context);
    }
    let only = addresses(context, &arguments.rest)?;
    if let Some(unknown) = only.iter().find(|address| !work.wanted.contains_key(address)) {
        let detail = format!("The configuration does not require the provider {unknown}, so it cannot be locked.");
        return Err(fail("Invalid provider argument", detail));
    }
    if !only.is_empty() {
        work.wanted.retain(|address, _| only.contains(address));
    }
    let before = work.locks.clone();
    let mut locks = before.clone();
    wait(learn_all(context, &work, &mut locks))??;
    // Terraform also writes the file when it has no changes, which normalizes its format.
    locks.write(Path::new(".")).map_err(|error| {
        fail(
            "Failed to save dependency lock file",
            format!("{LOCK_FILE} cannot be written: {error}.", error = io_reason(&error)),
        )
    })?;
    context.report_worded(|Wording { product, .. }| match locks == before {
        true => format!("\nSuccess! {product} has validated the lock file and found no need for changes.\n"),
        false => format!(
            "\nSuccess! {product} has updated the lock file.\n\nReview the changes in {LOCK_FILE} and then commit to your\nversion control \
             system to retain the new checksums.\n\n"
        ),
    });
    Ok(0)
}

fn given_source(arguments: &ProvidersLock) -> Result<Option<Source>, Diagnostics> {
    match (&arguments.fs_mirror, &arguments.net_mirror) {
        (Some(_), Some(_)) => Err(fail(
            "Invalid installation method options",
            "The -fs-mirror and -net-mirror command line options are mutually-exclusive.",
        )),
        (Some(folder), None) => Ok(Some(Source::Filesystem(folder.clone()))),
        (None, Some(text)) => {
            // A URL without the final slash would lose its last segment when paths are joined to it.
            let url = Url::parse(&format!("{}/", text.trim_end_matches('/'))).ok();
            let url = url.filter(|url| url.scheme() == "https").ok_or_else(|| {
                fail("Invalid network mirror URL", "The -net-mirror option requires a URL with the https: scheme.")
            })?;
            Ok(Some(Source::Network(url)))
        }
        (None, None) => Ok(None),
    }
}

fn work(
    context: &Context,
    configuration: &Configuration,
    platforms: &[String],
    given: Option<Source>,
) -> Result<Work, Diagnostics> {
    let platforms = parsed_platforms(platforms)?;
    let mut problems = Diagnostics::new();
    let locks = locks(context, &mut problems);
    // Rewriting a lock file with errors would lose what could not be read.
    if problems.has_errors() {
        return Err(problems);
    }
    let mut wanted = needed(configuration);
    // Built-in providers have no packages. One whose version is constrained or locked has a plugin, whose checksums other
    // members of a team need.
    for address in builtin(&wanted.clone(), &context.cli, &locks, preference(&context.settings)?) {
        let has_version = wanted.get(&address).is_some_and(|constraints| !constraints.is_empty());
        if !has_version && !locks.providers.contains_key(&address) {
            wanted.remove(&address);
        }
    }
    let methods = match given {
        Some(source) => vec![Method::for_all(source)],
        // Checksums for other platforms come from the registry, which signs them; mirrors need not have them.
        None => vec![Method::for_all(Source::Direct)],
    };
    Ok(Work { wanted, locks, platforms, sources: Sources { methods, discovery: discovery(context)? }, cache: None })
}

fn parsed_platforms(texts: &[String]) -> Result<Vec<Platform>, Diagnostics> {
    if texts.is_empty() {
        return Ok(vec![Platform::current()]);
    }
    let parse = |text: &String| {
        text.parse().map_err(|error| {
            fail(
                "Invalid target platform",
                format!("The string {text:?} given in the -platform option is not a valid target platform: {error}."),
            )
        })
    };
    texts.iter().map(parse).collect()
}

fn addresses(context: &Context, texts: &[String]) -> Result<Vec<ProviderAddress>, Diagnostics> {
    let registry = default_registry(&context.settings);
    let parse = |text: &String| {
        ProviderAddress::parse(text, &registry).map_err(|error| fail("Invalid provider source address", error.message))
    };
    texts.iter().map(parse).collect()
}

async fn learn_all(context: &Context, work: &Work, locks: &mut Locks) -> Result<(), Diagnostics> {
    let mut obtained = String::new();
    // Errors are collected for each platform, so that one run lists all missing providers.
    for platform in &work.platforms {
        let mut failed = Vec::new();
        for (address, constraints) in &work.wanted {
            match learn(context, work, (address, constraints, platform), locks).await {
                Ok(message) => obtained.push_str(&message),
                Err(problem) => failed.push(format!("- {address}: {problem}")),
            }
        }
        if !failed.is_empty() {
            return Err(could_not(platform, &failed));
        }
    }
    // Reported at the end, after the lines about the downloads.
    context.report(&obtained);
    Ok(())
}

/// Obtains the checksums of one package; returns the message about the added checksums.
async fn learn(
    context: &Context,
    work: &Work,
    (address, constraints, platform): (&ProviderAddress, &Constraints, &Platform),
    locks: &mut Locks,
) -> Result<String, SourceError> {
    // Locks of earlier platforms count: all platforms get the same version.
    let known = locks.providers.get(address);
    let version = work.sources.resolve(address, constraints, known, platform).await?;
    let shown = address.display_short();
    context.report(&format!("- Fetching {shown} {version} for {platform}...\n"));
    let cached = work.cache.as_ref();
    let cached = cached.and_then(|cache| cached_package(cache, address, &version, platform, known));
    let obtained_hashes = match cached {
        Some(obtained_hashes) => obtained_hashes,
        None => work.sources.learn(address, &version, platform).await?,
    };
    context.report(&format!("- Retrieved {shown} {version} for {platform} ({})\n", obtained_hashes.authentication));
    let lock = locks.providers.entry(address.clone()).or_insert_with(|| Lock {
        version: version.clone(),
        constraints: constraints.clone(),
        hashes: Vec::new(),
    });
    // Compared with the file on disk, because another platform may have added checksums in this run.
    let before = work.locks.providers.get(address).map(|lock| lock.hashes.as_slice()).unwrap_or_default();
    let message = obtained_message(before, &obtained_hashes.hashes, &shown.to_string(), platform);
    lock.constraints = constraints.clone();
    lock.add_hashes(obtained_hashes.hashes);
    Ok(message)
}

/// Returns the message about checksums that the lock file gains.
fn obtained_message(before: &[Arc<str>], obtained_hashes: &[Arc<str>], shown: &str, platform: &Platform) -> String {
    let is_tracked = obtained_hashes.iter().all(|hash| before.contains(hash));
    let what = match (before, is_tracked) {
        ([], _) => "This was a new provider and the checksums for this platform are now tracked in the lock file",
        (_, true) => "All checksums for this platform were already tracked in the lock file",
        (_, false) => "Additional checksums for this platform are now tracked in the lock file",
    };
    format!("- Obtained {shown} checksums for {platform}; {what}\n")
}

fn could_not(platform: &Platform, failed: &[String]) -> Diagnostics {
    fail(
        "Could not retrieve providers for locking",
        format!(
            "The checksums for {platform} are incomplete, because some providers could not be installed:\n{}",
            failed.join("\n")
        ),
    )
}

pub(super) fn mirror(context: &mut Context, arguments: &ProvidersMirror) -> Outcome {
    context.configure_view(&arguments.common.view);
    context.configure_json(&arguments.json)?;
    let [folder] = &arguments.rest[..] else {
        return Err(misuse(
            &context.wording.command,
            "providers mirror",
            "No output directory specified",
            "The providers mirror command requires an output directory as a command-line argument.",
        ));
    };
    let (configuration, _) = load(context, Purpose::Blocks)?;
    let mut work = work(context, &configuration, &arguments.platform, None)?;
    // A mirror is filled from where packages are normally installed.
    work.sources.methods = methods(context, &work.wanted);
    if !arguments.lock_file.is_none_or(Flag::is_on) {
        // -lock-file=false selects the newest versions that the constraints allow.
        work.locks = Locks::default();
    }
    wait(mirror_all(context, &work, folder))??;
    Ok(0)
}

/// Mirrors all available packages, and reports the others.
async fn mirror_all(context: &Context, work: &Work, folder: &Path) -> Result<(), Diagnostics> {
    // Other providers are mirrored although one fails.
    let mut problems = Diagnostics::new();
    for (address, constraints) in &work.wanted {
        if let Err(found) = mirror_one(context, work, (address, constraints), folder).await {
            problems.append(found);
        }
    }
    if problems.has_errors() { Err(problems) } else { Ok(()) }
}

async fn mirror_one(
    context: &Context,
    work: &Work,
    (address, constraints): (&ProviderAddress, &Constraints),
    folder: &Path,
) -> Result<(), Diagnostics> {
    context.report(&format!("- Mirroring {}...\n", address.display_short()));
    let lock = work.locks.providers.get(address);
    for platform in &work.platforms {
        let failed = |problem: SourceError| {
            fail("Provider not available", format!("{address} for {platform} cannot be mirrored: {problem}."))
        };
        let version = work.sources.resolve(address, constraints, lock, platform).await.map_err(failed)?;
        match lock {
            Some(_) => context.report(&format!("  - Selected v{version} to match dependency lock file\n")),
            None if constraints.is_empty() => context.report(&format!("  - Selected v{version} with no constraints\n")),
            None => context
                .report(&format!("  - Selected v{version} to meet constraints {}\n", constraints_text(constraints))),
        }
        context.report(&format!("  - Downloading package for {platform}...\n"));
        // The lock file need not contain checksums for other platforms.
        let allowed = lock.filter(|_| *platform == Platform::current()).map(|lock| lock.hashes.as_slice());
        let authentication = work
            .sources
            .mirror(address, &version, platform, allowed.unwrap_or_default(), folder)
            .await
            .map_err(failed)?;
        context.report(&format!("  - Package authenticated: {authentication}\n"));
    }
    // Written after the packages, so that the index never names one that is missing.
    write_mirror_documents(folder, address).map_err(|error| {
        fail(
            "Failed to update indexes",
            format!("The index files of the mirror cannot be written: {error}.", error = io_reason(&error)),
        )
    })
}
