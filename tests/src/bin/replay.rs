//! `replay`: holds the store against recordings of the reference.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use std::{path::PathBuf, process::ExitCode};

use clap::{CommandFactory as _, Parser, error::ErrorKind};
use kubestore_tests::{
    recording::load,
    replay::{BackendKind, Backends, Options, replay},
};

/// Replays recorded scenarios on a backend and compares what comes with what was recorded.
///
/// Exit code: 0 if all passed, 1 if one failed, 2 if nothing could be run.
#[derive(Debug, Parser)]
#[command(name = "replay")]
struct Arguments {
    /// What the store runs on; etcd is started unless endpoints are given
    #[arg(long, value_enum, default_value = "memory")]
    backend: BackendKind,

    /// Addresses of a running etcd to which nothing else may write. What is under the prefixes of the scenarios is deleted
    #[arg(long, value_name = "URL,…", value_delimiter = ',')]
    endpoints: Vec<String>,

    /// Only scenarios whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// How many scenarios at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Compare the requests that reach etcd too, where they were recorded
    #[arg(long)]
    trace: bool,

    /// Revisions to put before each scenario
    #[arg(long, value_name = "N", default_value_t = 1)]
    pad: u32,

    /// Name the scenarios that pass too
    #[arg(short, long)]
    verbose: bool,

    /// Scenario files, folders of them, and packs of them (.tar.gz)
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if !arguments.endpoints.is_empty() && arguments.backend != BackendKind::Etcd {
        let message = "--endpoints go with --backend etcd";
        Arguments::command().error(ErrorKind::ArgumentConflict, message).exit();
    }
    let mut scenarios = match load(&arguments.paths) {
        Ok(scenarios) => scenarios,
        Err(error) => {
            eprintln!("error: {error:#}");
            return ExitCode::from(2);
        }
    };
    if let Some(only) = &arguments.only {
        scenarios.retain(|loaded| loaded.scenario.name.contains(only));
        if scenarios.is_empty() {
            eprintln!("error: no scenario has a name with {only:?} in it");
            return ExitCode::from(2);
        }
    }
    let backends = Backends::new(arguments.backend).at(arguments.endpoints);
    let options = Options::default()
        .with_jobs(arguments.jobs.map(usize::from))
        .with_trace(arguments.trace)
        .with_pad(arguments.pad);
    let verbose = arguments.verbose;
    let report = replay(scenarios, &backends, options, move |scenario| {
        if verbose || !scenario.passed() {
            println!("{scenario}");
        }
    })
    .await;
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            eprintln!("error: {error:#}");
            return ExitCode::from(2);
        }
    };
    println!("{report}");
    if report.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
