//! What the commands about encryption at rest take.

use std::{num::NonZeroU32, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};

/// See which keys encrypt what, encrypt anew what older keys wrote, and prove that everything opens
///
/// All of it works on the stored values themselves, while the cluster runs.
#[derive(Args, Debug)]
#[command(after_help = "\
A rotation, step by step:
  kubestore encryption keygen key2          Make a key
  kubestore encryption plan OLD NEW         See in which order the API servers get it
  kubestore encryption status               See what is stored under which key
  kubestore encryption rewrap               Encrypt anew what the old key wrote
  kubestore encryption verify               Prove that all opens, and take the old key away")]
pub(crate) struct EncryptionArgs {
    #[command(subcommand)]
    pub(crate) command: EncryptionCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EncryptionCommand {
    Status(StatusArgs),
    Rewrap(RewrapArgs),
    Verify(VerifyArgs),
    Plan(PlanArgs),
    Keygen(KeygenArgs),
}

/// Count what is stored, by resource, provider and key
///
/// Needs no key: the name of the key is in front of each value. With --encryption-config it also says what would be read
/// (current or stale) and what not, judged by the names; only verify opens the values.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore encryption status
  kubestore encryption status --resource secrets --encryption-config enc.yaml
  kubestore encryption status -o json | jq '.rows[] | select(.keyName == \"key1\")'")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

/// Encrypt anew what is not stored as it would be written now
///
/// Whatever another key or provider wrote than the first in --encryption-config is decrypted and encrypted again, byte for
/// byte the same inside, only if nobody changed it meanwhile, and with the lease it had. What is right already is only
/// read. It may be stopped at any time and started again. The API servers must be able to read the new key before: see
/// plan.
///
/// Exits with 1 if a value could not be opened or written, or if servers with an older configuration went on writing.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore encryption rewrap --encryption-config enc.yaml --dry-run
  kubestore encryption rewrap --encryption-config enc.yaml --resource secrets --rate 200")]
pub(crate) struct RewrapArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,

    /// Open and encrypt everything, but write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// How many values to work on at once
    #[arg(long, value_name = "VALUES", default_value = "16", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) concurrency: u16,

    /// At most this many writes per second [default: as many as the store takes]
    #[arg(long, value_name = "WRITES")]
    pub(crate) rate: Option<NonZeroU32>,
}

/// Open everything, and write nothing
///
/// Exits with 1 if anything does not open with --encryption-config; which and why is said on standard error.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore encryption verify --encryption-config enc.yaml
  kubestore encryption verify --encryption-config enc.yaml --current   Fail, too, if a rewrap is due")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,

    /// Exit with 1 as well if anything is not stored as it would be written now
    #[arg(long)]
    pub(crate) current: bool,
}

/// Say in which order to get from one configuration to another
///
/// Warns of what would leave an API server unable to read something. What is stored is counted in the store, unless
/// --offline is given; nothing is written.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore encryption plan enc.yaml enc-new.yaml
  kubestore encryption plan enc.yaml enc-new.yaml --servers 1 --offline")]
pub(crate) struct PlanArgs {
    /// The configuration that the API servers have now
    #[arg(value_name = "OLD")]
    pub(crate) old: PathBuf,

    /// The one that they shall have
    #[arg(value_name = "NEW")]
    pub(crate) new: PathBuf,

    /// How many API servers there are; with one, nobody else has to read what it writes
    #[arg(long, value_name = "COUNT", default_value = "3", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) servers: u32,

    /// Do not look at what is stored
    #[arg(long)]
    pub(crate) offline: bool,

    /// How to show it
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output: PlanFormat,
}

/// Make a key and print it, secret included
///
/// Prints an element of the providers of an EncryptionConfiguration, from the operating system's random bytes. It is the
/// only command that shows a secret; see to it that the output goes where only the API servers read it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore encryption keygen key-2026-05
  kubestore encryption keygen --provider secretbox box2 >> providers.yaml")]
pub(crate) struct KeygenArgs {
    /// The name of the key, which goes in front of every value; one that was never used before
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// What encrypts with it
    #[arg(long, value_name = "PROVIDER", default_value = "aesgcm")]
    pub(crate) provider: Provider,
}

/// Which part of the store, and how to show it.
#[derive(Args, Debug)]
pub(crate) struct ScopeArgs {
    /// Only these resources: names as kubectl takes them, patterns such as *.apps, or /path [default: all]
    #[arg(long = "resource", value_name = "RESOURCE,…", value_delimiter = ',')]
    pub(crate) resources: Vec<String>,

    /// How to show it
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output: ReportFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// A table.
    Table,
    /// One JSON object.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// Sentences.
    Text,
    /// One JSON object.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Provider {
    /// AES-GCM, for new data.
    Aesgcm,
    /// AES-CBC, without authentication.
    Aescbc,
    /// XSalsa20-Poly1305.
    Secretbox,
}
