//! The `kubestore` command.

mod args;
mod commands;
mod failure;
mod input;
mod logging;
mod object;
mod output;
mod resources;
mod session;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;

use crate::args::Cli;

fn main() -> ExitCode {
    let cli = Cli::parse();
    logging::start(cli.global.verbose);
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let (code, is_told) = failure::exit(&error);
            if is_told {
                // Nobody is left to be told if this fails.
                let _told = writeln!(io::stderr(), "{}", failure::line(&error));
            }
            ExitCode::from(code)
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(commands::run(cli));
    // A connection that hangs must not hold up the end.
    runtime.shutdown_background();
    result
}
