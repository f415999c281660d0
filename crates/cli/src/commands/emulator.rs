//! `emulator`: serves the Cloud Control API on a port, and changes its objects from outside to simulate drift.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use groma_cloudcontrol::EMULATOR_FILE;
use groma_cloudcontrol::api::{ApiError, Fault};
use groma_cloudcontrol::emulator::http::Server;
use groma_cloudcontrol::emulator::{Faults, Settings, Store};
use groma_cloudcontrol::schema::Catalogue;
use groma_diagnostics::{Diagnostics, io_reason};
use groma_duration::parse_unsigned;
use groma_engine::Stop;

use super::context::Context;
use super::outcome::{Outcome, fail, no_thread};
use crate::arguments::{Emulator, EmulatorData, EmulatorServe, Flag};
use crate::terminal::Interrupts;
use crate::views::json::pretty;

pub(super) fn run(context: &mut Context, arguments: &Emulator) -> Outcome {
    let text = match arguments {
        Emulator::Serve(arguments) => return serve(context, arguments),
        Emulator::List(arguments) => {
            let objects = open_existing(&arguments.data)?.objects(arguments.type_name.as_deref()).map_err(refused)?;
            objects.iter().map(|location| format!("{} {}\n", location.type_name, location.identifier)).collect()
        }
        Emulator::Get(object) => {
            let properties =
                open_existing(&object.data)?.show(&object.type_name, &object.identifier).map_err(refused)?;
            format!("{}\n", pretty(&properties))
        }
        Emulator::Patch(arguments) => {
            let object = &arguments.object;
            let store = open_existing(&object.data)?;
            let properties = store.patch(&object.type_name, &object.identifier, &arguments.patch).map_err(refused)?;
            format!("{}\n", pretty(&properties))
        }
        Emulator::Delete(object) => {
            open_existing(&object.data)?.delete(&object.type_name, &object.identifier).map_err(refused)?;
            format!("Deleted {} {}.\n", object.type_name, object.identifier)
        }
    };
    context.streams.print(&text);
    Ok(0)
}

fn file(data: &EmulatorData) -> PathBuf {
    data.data.clone().unwrap_or_else(|| PathBuf::from(EMULATOR_FILE))
}

fn open(data: &EmulatorData, settings: Settings) -> Result<Store, Diagnostics> {
    let path = file(data);
    Store::open(&path, Arc::clone(Catalogue::shipped()), settings)
        .map_err(|problem| fail("Emulator file cannot be used", format!("{}: {problem}", path.display())))
}

/// Opens the data file only if it exists: reading objects must not create an empty file.
fn open_existing(data: &EmulatorData) -> Result<Store, Diagnostics> {
    let path = file(data);
    if !path.exists() {
        return Err(fail(
            "No emulator file",
            format!("The file {} does not exist. Set the data file of the emulator with -data=FILE.", path.display()),
        ));
    }
    open(data, Settings::default())
}

fn refused(problem: ApiError) -> Diagnostics {
    let next = match problem.fault {
        Fault::TypeNotFound => {
            " Use the AWS name (AWS::S3::Bucket) or the resource type (awscc_s3_bucket). \"emulator list\" lists all objects with their \
             types."
        }
        Fault::ResourceNotFound => " \"emulator list\" lists all objects with their identifiers.",
        _ => "",
    };
    fail("Emulator request failed", format!("{:?}: {}{next}", problem.fault, problem.message))
}

/// Reads the behavior that the flags of `serve` ask for.
fn settings(arguments: &EmulatorServe) -> Result<Settings, Diagnostics> {
    let default = Settings::default();
    let rate = arguments.rate;
    if let Some(rate) = rate.filter(|rate| !rate.is_finite() || *rate <= 0.0) {
        return Err(fail(
            "Invalid rate",
            format!("-rate={rate} is not a number above zero. Use a value such as -rate=20."),
        ));
    }
    for fault in &arguments.fault {
        if !Catalogue::shipped().contains(&fault.type_name) {
            let name = &fault.type_name;
            return Err(fail(
                "Unknown resource type",
                format!("-fault names the type {name:?}. Use a type such as AWS::S3::Bucket."),
            ));
        }
    }
    let seed = arguments.seed.unwrap_or(default.seed);
    let faults = Faults {
        rate,
        requests: arguments.fault.clone(),
        hooks: arguments.hook.clone(),
        latency: span("latency", arguments.latency.as_deref())?,
        shuffle: arguments.shuffle.is_some_and(Flag::is_on),
        seed,
        ..Faults::default()
    };
    Ok(Settings { delay: span("delay", arguments.delay.as_deref())?, seed, faults, ..default })
}

fn span(flag: &str, text: Option<&str>) -> Result<Duration, Diagnostics> {
    let Some(text) = text else { return Ok(Duration::ZERO) };
    parse_unsigned(text).ok_or_else(|| {
        fail(
            "Invalid duration",
            format!("-{flag}={text} is not a duration. Use a number with a unit, such as 500ms, 2s or 1m30s."),
        )
    })
}

fn serve(context: &mut Context, arguments: &EmulatorServe) -> Outcome {
    let address: SocketAddr = arguments.listen.parse().map_err(|_| {
        fail(
            "Invalid address to listen on",
            format!("{:?} is not an IP address with a port. Use a value such as 127.0.0.1:4599.", arguments.listen),
        )
    })?;
    let store = Arc::new(open(&arguments.data, settings(arguments)?)?);
    // The messages about interrupts speak of a run, which a server is not.
    let interrupts = Interrupts::listen_silently().map_err(|error| no_thread(&error))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|problem| {
        fail("Cannot start the async runtime", format!("{problem}.", problem = io_reason(&problem)))
    })?;
    runtime.block_on(async {
        let cannot = |problem: std::io::Error| {
            fail(
                "Cannot listen",
                format!("{address}: {problem}. Choose another address with -listen.", problem = io_reason(&problem)),
            )
        };
        let server = Server::bind(address, store).await.map_err(cannot)?;
        let bound = server.address().map_err(cannot)?;
        context.streams.print(&format!("Emulating AWS Cloud Control on http://{bound}. Press Control-C to stop.\n"));
        // The server runs until it is interrupted.
        tokio::select! {
            result = server.run() => result.map_err(cannot)?,
            () = interrupts.cancellation().at_least(Stop::Gracefully) => {}
        }
        Ok(0)
    })
}
