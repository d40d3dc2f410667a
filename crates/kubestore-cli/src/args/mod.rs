//! The command line.

mod commands;
mod encryption;
mod etcd;
mod global;
mod key;
mod look;
mod transfer;

use clap::{Parser, Subcommand};

pub(crate) use commands::{
    ApplyArgs, CountArgs, DeleteArgs, GetArgs, ListArgs, ListingArgs, OutputArgs, SelectArgs, WatchArgs,
};
pub(crate) use encryption::{
    EncryptionArgs, EncryptionCommand, KeygenArgs, PlanArgs, PlanFormat, Provider, ReportFormat, RewrapArgs,
    ScopeArgs, StatusArgs, VerifyArgs,
};
pub(crate) use global::GlobalArgs;
pub(crate) use key::KeyArg;
pub(crate) use look::{DecodeArgs, DiffArgs, DocumentFormat, HistoryArgs, InspectArgs, KeysArgs, KeysFormat};
pub(crate) use transfer::{CheckArgs, ExportArgs, ImportArgs, Leases, RepairArgs};

/// Reads and writes Kubernetes objects where an API server keeps them: in etcd, or in a directory of your own.
#[derive(Debug, Parser)]
#[command(name = "kubestore", version, max_term_width = 100, after_help = EXAMPLES, long_about = ABOUT)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Apply(ApplyArgs),
    Get(GetArgs),
    List(ListArgs),
    Delete(DeleteArgs),
    Count(CountArgs),
    Watch(WatchArgs),
    Inspect(InspectArgs),
    History(HistoryArgs),
    Diff(DiffArgs),
    Keys(KeysArgs),
    Decode(DecodeArgs),
    Check(CheckArgs),
    Repair(RepairArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Encryption(EncryptionArgs),
}

const ABOUT: &str = "\
Reads and writes Kubernetes objects where an API server keeps them: in etcd, or in a directory of your own.

Objects are stored under the keys, in the encoding and with the encryption of a real API server. No server is needed; \
none is asked either: what is written here passes no admission and no validation but that of names.";

const EXAMPLES: &str = "\
Examples:
  kubestore apply -f pods.yaml              Store the objects of a file
  kubestore get pods -A                     Show the pods of all namespaces
  kubestore get deploy/web -o yaml          Show one object
  kubestore get pods -l app=web --limit 50  Show the first 50 that match
  kubestore --endpoints http://127.0.0.1:2379 --encryption-config enc.yaml get secrets -n prod
                                            Show what a cluster has in its etcd, decrypted
  kubestore --snapshot backup.db keys --sizes
                                            Show what takes the space in a backup, without an etcd";
