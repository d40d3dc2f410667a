//! What the commands take that look at stored values.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{KeyArg, ReportFormat};

/// Say how a value is stored: revisions, lease, size, encryption, encoding, and what it says it is
///
/// Needs no key for what is in front of an encrypted value; with --encryption-config it also opens it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore inspect pod/web -n shop
  kubestore inspect /registry/secrets/shop/payment --encryption-config enc.yaml
  kubestore inspect secret/payment@4711 -o json       As it was at revision 4711")]
pub(crate) struct InspectArgs {
    /// RESOURCE/NAME or a whole key of etcd; with @REVISION as it was then
    #[arg(value_name = "KEY[@REVISION]")]
    pub(crate) target: KeyArg,

    /// How to show it
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output: ReportFormat,
}

/// Show every state of a key that is not compacted yet
///
/// WHEN and BY are what the object's managed fields say last, or when it was created; etcd itself keeps no time.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore history deploy/web -n shop
  kubestore history /registry/secrets/shop/payment --encryption-config enc.yaml -o json")]
pub(crate) struct HistoryArgs {
    /// RESOURCE/NAME or a whole key of etcd
    #[arg(value_name = "KEY")]
    pub(crate) target: KeyArg,

    /// How to show it
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output: ReportFormat,
}

/// Compare two states of an object, or two stores
///
/// Objects are compared as YAML, decrypted and decoded. A state without @REVISION is the newest. With --from a snapshot is
/// compared, key by key and byte by byte, with the store that the other options name: + is there now only, - was there only,
/// ~ has another value.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore diff deploy/web@4711 -n shop              Since revision 4711
  kubestore diff cm/a@40 cm/a@50                      Between two revisions
  kubestore diff cm/a cm/b                            Two objects
  kubestore diff --from monday.db --snapshot tuesday.db
  kubestore diff --from monday.db --endpoints http://127.0.0.1:2379 --resource secrets --encryption-config enc.yaml --patch")]
pub(crate) struct DiffArgs {
    /// RESOURCE/NAME or a whole key of etcd, of a revision; the second one is the first one now, unless given
    #[arg(value_name = "KEY[@REVISION]", num_args = 1..=2, required_unless_present = "from", conflicts_with = "from")]
    pub(crate) keys: Vec<KeyArg>,

    /// Compare this snapshot of an etcd with the store
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,

    /// With --from: only these resources, as kubectl names them, or patterns such as *.apps
    #[arg(long = "resource", value_name = "RESOURCE,…", value_delimiter = ',', requires = "from")]
    pub(crate) resources: Vec<String>,

    /// With --from: show what is different in each object, decrypted and decoded
    #[arg(long, requires = "from")]
    pub(crate) patch: bool,

    /// With --from: how to show the keys
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "table",
        requires = "from",
        conflicts_with = "patch"
    )]
    pub(crate) output: ReportFormat,

    /// Exit with 1 if there is a difference
    #[arg(long)]
    pub(crate) exit_code: bool,
}

/// List keys, or say what takes the space
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore keys                                      All keys below --prefix
  kubestore keys pods -n shop                         Those of a resource in a namespace
  kubestore keys /registry/events/ -o table           Those that begin so, with sizes, revisions and leases
  kubestore keys --sizes                              Which resources and namespaces take how much")]
pub(crate) struct KeysArgs {
    /// The beginning of whole keys (with a slash in front), or a resource [default: all below --prefix]
    #[arg(value_name = "PREFIX|RESOURCE")]
    pub(crate) begin: Option<String>,

    /// Sum up the values by resource and namespace, the largest first
    #[arg(long)]
    pub(crate) sizes: bool,

    /// How to show them [default: name, with --sizes table]
    #[arg(short, long, value_name = "FORMAT")]
    pub(crate) output: Option<KeysFormat>,
}

/// Show the object in a value that was taken from an etcd in some way
///
/// Takes the bare value, base64, hexadecimal, and what etcdctl prints, plain or with -w json; several values from the latter.
/// What a terminal did to line ends is undone and said. An encrypted value needs --encryption-config and its key, which
/// etcdctl's output has; else give it with --etcd-key. No store is opened.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  etcdctl get /registry/pods/shop/web --print-value-only | kubestore decode
  etcdctl get --prefix /registry/secrets/ -w json | kubestore decode --encryption-config enc.yaml
  kubestore decode -o json value.bin
  kubestore decode value.bin --encryption-config enc.yaml --etcd-key /registry/secrets/shop/payment")]
pub(crate) struct DecodeArgs {
    /// The file, - for standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,

    /// The whole key that the value was under
    #[arg(long, value_name = "KEY")]
    pub(crate) etcd_key: Option<String>,

    /// How to show it
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
    pub(crate) output: DocumentFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeysFormat {
    /// The keys alone, one a line.
    Name,
    /// A table.
    Table,
    /// JSON.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocumentFormat {
    /// YAML, one document a value.
    Yaml,
    /// JSON, one value after the other.
    Json,
}
