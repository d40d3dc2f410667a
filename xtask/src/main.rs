//! The tasks of this workspace: `cargo xtask TASK`. One module for each task; `cargo xtask ci` runs what a change must pass.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool speaks on its standard streams"
)]

mod command;
mod etcd;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask TASK

  etcd [--version V]   finds or provisions an etcd (3.5.13 or newer) and prints its path as the last line;
                       V is a line as 3.6 or a release as 3.5.30";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["etcd", rest @ ..] => etcd::run(rest),
        [] | ["help" | "-h" | "--help"] => {
            println!("{USAGE}");
            Ok(())
        }
        [other, ..] => bail!("no task or unknown flags: `{other}`\n\n{USAGE}"),
    }
}
