//! How long a provider takes by itself for what a plan, an apply and a plan without changes ask it: the calls that Groma makes for
//! each instance are prepared beforehand, and then made over a connection like Groma's, as many at a time. Nothing is evaluated,
//! decoded or checked on the way.
//!
//! `cargo run --release -p groma-plugin --example replay -- PROGRAM TYPE INSTANCES CONFIGURATION [RUNS]` prints a line for each step: its
//! name, the least wall time of all runs in seconds, and the number of calls. In CONFIGURATION, a JSON object, `#` stands for the number of
//! the instance.

mod calls;
mod story;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use futures_util::stream::{self, StreamExt};
use groma_plugin::transport::{Connection, Launch, NoLog, launch};

use calls::{Call, Outcome, ask};
use story::Story;

/// Conversations at once, as many as Groma holds where nothing else is said.
const AT_ONCE: usize = 10;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let told = match &*arguments {
        [program, type_name, count, configuration] => replay(program, type_name, count, configuration, "3"),
        [program, type_name, count, configuration, runs] => replay(program, type_name, count, configuration, runs),
        _ => Err(String::from("replay PROGRAM TYPE INSTANCES CONFIGURATION [RUNS]")),
    };
    match told {
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
    // As Groma's: one thread for all conversations.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let story = runtime.block_on(async {
        let connection = connect(&program).await?;
        let story = Story::prepared(&connection, type_name, count, configuration).await;
        connection.shutdown().await;
        story
    })?;
    let Story { beginning, plan, apply, again } = story;
    for (name, conversations) in [("plan", plan), ("apply", apply), ("no-op plan", again)] {
        let mut least = f64::INFINITY;
        for _ in 0..runs {
            least = runtime.block_on(held(&program, &beginning, conversations.clone()))?.min(least);
        }
        let calls: usize = conversations.iter().map(Vec::len).sum();
        println!("{name}\t{least:.4}\t{calls}");
    }
    Ok(())
}

async fn connect(program: &Path) -> Outcome<Connection> {
    launch(&Launch::new("replay", program), Arc::new(NoLog)).await.map_err(|error| error.to_string())
}

/// Starts the program, holds all conversations, and ends it: how many seconds that took.
async fn held(program: &Path, beginning: &[Call], conversations: Vec<Vec<Call>>) -> Outcome<f64> {
    let start = Instant::now();
    let connection = connect(program).await?;
    for call in beginning {
        ask(&connection, call).await?;
    }
    let talk = async |calls: Vec<Call>| -> Outcome<()> {
        for call in &calls {
            ask(&connection, call).await?;
        }
        Ok(())
    };
    let mut talks = stream::iter(conversations).map(talk).buffer_unordered(AT_ONCE);
    while let Some(outcome) = talks.next().await {
        outcome?;
    }
    drop(talks);
    connection.shutdown().await;
    Ok(start.elapsed().as_secs_f64())
}
