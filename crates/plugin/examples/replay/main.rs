//! Measures the time that a provider itself needs for a plan, an apply and a no-op plan: the calls that Groma makes for
//! each instance are recorded first, and then sent over a connection like Groma's with the same concurrency. Nothing is
//! evaluated, decoded or checked during the measurement.
//!
//! `cargo run --release -p groma-plugin --example replay -- PROGRAM TYPE INSTANCES CONFIGURATION [RUNS]` prints a line
//! for each step: its name, the minimum wall time of all runs in seconds, and the number of calls. In CONFIGURATION, a
//! JSON object, `#` is replaced with the number of the instance.

mod recording;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use futures_util::stream::{self, StreamExt};
use groma_plugin::transport::{Connection, Launch, NoLog, launch};

use recording::{Call, Outcome, Recording, ask};

/// Concurrent call sequences; Groma's default parallelism.
const CONCURRENCY: usize = 10;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match &*arguments {
        [program, type_name, count, configuration] => replay(program, type_name, count, configuration, "3"),
        [program, type_name, count, configuration, runs] => replay(program, type_name, count, configuration, runs),
        _ => Err(String::from("replay PROGRAM TYPE INSTANCES CONFIGURATION [RUNS]")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("replay: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn replay(program: &str, type_name: &str, count: &str, configuration: &str, runs: &str) -> Outcome<()> {
    let program = PathBuf::from(program);
    let number = |text: &str| text.parse::<usize>().map_err(|error| format!("{text}: {error}"));
    let (count, runs) = (number(count)?, number(runs)?);
    // Like Groma's client, which runs all provider calls on one thread.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let recording = runtime.block_on(async {
        let connection = connect(&program).await?;
        let recording = Recording::prepared(&connection, type_name, count, configuration).await;
        connection.shutdown().await;
        recording
    })?;
    let Recording { setup, plan, apply, again } = recording;
    for (name, sequences) in [("plan", plan), ("apply", apply), ("no-op plan", again)] {
        let mut least = f64::INFINITY;
        for _ in 0..runs {
            // The minimum of several runs, because other programs only ever make a run slower.
            least = runtime.block_on(measure(&program, &setup, sequences.clone()))?.min(least);
        }
        let calls: usize = sequences.iter().map(Vec::len).sum();
        println!("{name}\t{least:.4}\t{calls}");
    }
    Ok(())
}

async fn connect(program: &Path) -> Outcome<Connection> {
    launch(&Launch::new("replay", program), Arc::new(NoLog)).await.map_err(|error| error.to_string())
}

/// Starts the program, sends all call sequences, and shuts the program down; returns the elapsed seconds.
async fn measure(program: &Path, setup: &[Call], sequences: Vec<Vec<Call>>) -> Outcome<f64> {
    let start = Instant::now();
    let connection = connect(program).await?;
    for call in setup {
        ask(&connection, call).await?;
    }
    let send = async |calls: Vec<Call>| -> Outcome<()> {
        for call in &calls {
            ask(&connection, call).await?;
        }
        Ok(())
    };
    let mut running = stream::iter(sequences).map(send).buffer_unordered(CONCURRENCY);
    while let Some(outcome) = running.next().await {
        outcome?;
    }
    // The stream borrows the connection, which is shut down next.
    drop(running);
    connection.shutdown().await;
    Ok(start.elapsed().as_secs_f64())
}
