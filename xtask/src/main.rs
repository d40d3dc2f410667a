//! The tasks of this workspace: `cargo xtask TASK`. One module for each task; `cargo xtask ci` runs what a change must pass.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool speaks on its standard streams"
)]

mod bench;
mod ci;
mod command;
mod deny;
mod docs;
mod etcd;
mod features;
mod fmt;
mod layers;
mod lines;
mod lint;
mod metadata;
mod schema;
mod test;
mod tidy;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask TASK

  ci                   all of the below, in order, up to the first failure, with the time of each
  fmt [--check]        formats every file, or says which are not formatted
  tidy                 checks the rules of the repository that no other tool knows
  lint                 clippy on everything; a warning is an error
  docs                 builds the documentation and runs its examples; a warning is an error
  test                 every test with a real etcd, the recordings on each backend, and `layers`
  layers               builds and runs the programs that use one layer alone
  bench [--smoke]      runs the benchmarks, or each of them once
  bench load [FLAGS]   measures the store beside the bare client of etcd, and beside the reference with --peer FOLDER;
                       more flags: --rounds N, --objects N, --work LIST, --codec C, --transformer T, --etcd V, --disk, --to DIR
  features             checks each library without default features and with each feature alone
  deny                 checks licences and sources of dependencies, where cargo-deny is installed

  schema [--check]     writes the table of Kubernetes' protobuf, or says whether it is up to date
  etcd [--version V]   finds or provisions an etcd (3.5.13 or newer) and prints its path as the last line;
                       V is a line as 3.6 or a release as 3.5.30
  lines                prints how long each crate is";

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
        ["bench", flags @ ..] => bench::run_task(flags),
        ["ci"] => ci::run_task(),
        ["deny"] => deny::run_task().map(|_| ()),
        ["docs"] => docs::run_task(),
        ["etcd", flags @ ..] => etcd::run_task(flags),
        ["features"] => features::run_task(),
        ["fmt"] => fmt::run_task(false),
        ["fmt", "--check"] => fmt::run_task(true),
        ["layers"] => layers::run_task(&etcd::locate(etcd::Wanted::default())?),
        ["lines"] => lines::run_task(),
        ["lint"] => lint::run_task(),
        ["schema"] => schema::run_task(false),
        ["schema", "--check"] => schema::run_task(true),
        ["test"] => test::run_task(),
        ["tidy"] => tidy::run_task(),
        [] | ["help" | "-h" | "--help"] => {
            println!("{USAGE}");
            Ok(())
        }
        other => bail!("no such task: `{}`\n\n{USAGE}", other.join(" ")),
    }
}
