//! What the commands take that work on whole key spaces.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ReportFormat, ScopeArgs};

/// Open and decode everything, and name what is damaged, foreign, or under a key that is not configured
///
/// Exits with 1 if anything is bad. What does not open is tried with the other keys of the configuration, to say which one
/// opens it. Nothing is written.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore check --encryption-config enc.yaml
  kubestore check --snapshot backup.db --encryption-config enc.yaml --resource secrets,*.apps
  kubestore check -o json | jq '.failures.first[].key'")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

/// Repair a data directory that does not open, or has lost something
///
/// Keeps what can be read, and the files that were there before beside it. Nothing is changed if nothing is wrong. --dry-run
/// only says what is wrong, and exits with 1 if anything is.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore repair --dry-run --data-dir data
  kubestore repair --data-dir data")]
pub(crate) struct RepairArgs {
    /// Say what is wrong, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// A directory for a copy while it is looked at, with as much room as the data takes [default: the system's]
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,

    /// How to show what was found and done
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output: ReportFormat,
}

/// Write all keys and values, byte for byte, as lines of JSON
///
/// Values stay as they are stored; encrypted ones stay encrypted. All is of one revision. Leases are noted. The file can be
/// read by its owner only, and is not written over another one.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore export backup.jsonl --endpoints http://127.0.0.1:2379
  kubestore export --snapshot backup.db | kubestore import --data-dir copy
  kubestore export events.jsonl --resource events --resource-version 4711")]
pub(crate) struct ExportArgs {
    /// The file, - for standard output
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,

    /// Only these resources: names as kubectl takes them, patterns such as *.apps, or /path [default: all]
    #[arg(long = "resource", value_name = "RESOURCE,…", value_delimiter = ',')]
    pub(crate) resources: Vec<String>,

    /// As it was at this revision [default: the newest]
    #[arg(long, value_name = "VERSION")]
    pub(crate) resource_version: Option<i64>,
}

/// Write the keys and values of an export into the store
///
/// A key that exists with another value is left alone and named, unless --overwrite is given. It may be stopped at any time
/// and done again: what is there already with the same value is left as it is. Exits with 1 if something was not written.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore import backup.jsonl --data-dir copy
  kubestore export --snapshot backup.db --resource secrets | kubestore import --endpoints http://127.0.0.1:2379")]
pub(crate) struct ImportArgs {
    /// The file, - for standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,

    /// Replace what a key has
    #[arg(long)]
    pub(crate) overwrite: bool,

    /// What becomes of keys that had a lease
    #[arg(long, value_name = "WHAT", default_value = "drop")]
    pub(crate) leases: Leases,

    /// How to show what was done
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output: ReportFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Leases {
    /// They are written without one, and stay.
    Drop,
    /// They get a new one for the time that was left.
    Renew,
    /// They are left out.
    Skip,
}
