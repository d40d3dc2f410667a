//! What can be asked for.

use clap::{Parser, ValueEnum};

/// Runs workloads of a Kubernetes store and prints one JSON line for each.
#[derive(Clone, Debug, Parser)]
#[command(name = "load")]
pub(crate) struct Arguments {
    /// Address of a running etcd, whose keys under the prefix are replaced and deleted
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:2379")]
    pub(crate) endpoint: String,

    /// What the objects are kept in; `durable` makes a directory and removes it
    #[arg(long, value_enum, default_value = "etcd")]
    pub(crate) backend: BackendKind,

    /// Where `durable` makes its directory; the system's folder for temporary files by default
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<std::path::PathBuf>,

    /// Workloads, in this order
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = ALL)]
    pub(crate) work: Vec<Work>,

    /// How many calls at once, for get, create, update and delete; several run one after another
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,32")]
    pub(crate) conc: Vec<usize>,

    /// Objects
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) objects: usize,

    /// Calls of a workload that runs one at a time; a fifth of the objects by default
    #[arg(long, value_name = "N")]
    pub(crate) writes: Option<usize>,

    /// The path before every key
    #[arg(long, default_value = "/registry")]
    pub(crate) prefix: String,

    /// How objects are written
    #[arg(long, value_enum, default_value = "protobuf")]
    pub(crate) codec: CodecKind,

    /// Encryption at rest
    #[arg(long, value_enum, default_value = "identity")]
    pub(crate) transformer: TransformerKind,

    /// What objects are read as
    #[arg(long, value_enum, default_value = "typed")]
    pub(crate) object: ObjectKind,

    /// The store, or the bare client of etcd doing the same calls
    #[arg(long, value_enum, default_value = "store")]
    pub(crate) r#impl: Impl,

    /// How often the workloads run
    #[arg(long, default_value_t = 1)]
    pub(crate) rounds: usize,

    /// Number of the first round
    #[arg(long, default_value_t = 0)]
    pub(crate) first_round: usize,

    /// Changes that each watcher sees
    #[arg(long, default_value_t = 10_000)]
    pub(crate) mods: usize,

    /// Changes that are one revision; etcd only
    #[arg(long, default_value_t = 20)]
    pub(crate) batch: usize,

    /// Numbers of watchers
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,10")]
    pub(crate) watchers: Vec<usize>,

    /// Threads of the runtime; 0 is one for each core
    #[arg(long, default_value_t = 0)]
    pub(crate) threads: usize,

    /// A word for the version of etcd, as it shall stand in the lines
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) etcd: String,

    /// Process of etcd whose CPU time is told too
    #[arg(long, value_name = "PID", env = "ETCD_PID")]
    pub(crate) etcd_pid: Option<u32>,

    /// Writes what the watches of another process see
    #[arg(long, hide = true)]
    pub(crate) writer: bool,
}

const ALL: &str = "create,get,list_all,list_paged500,list_stream,list_sel1pct,count,update,update_contend16,update_noop,\
                   watch_replay,watch_live,delete";

/// A workload. All but `create` fill the store first, where that was not done yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Work {
    /// Creates every object.
    Create,
    /// Reads objects one by one.
    Get,
    /// Lists everything by one call and keeps it.
    ListAll,
    /// Lists everything in pages of 500.
    #[value(name = "list_paged500")]
    ListPaged500,
    /// Lists everything in parts that are dropped as they come.
    ListStream,
    /// Lists what a field selector matches, in pages of 500.
    #[value(name = "list_sel1pct")]
    ListSel1Pct,
    /// Counts.
    Count,
    /// Changes objects.
    Update,
    /// 16 writers change one object.
    #[value(name = "update_contend16")]
    UpdateContend16,
    /// Updates that change nothing.
    UpdateNoop,
    /// Watches what happened before.
    WatchReplay,
    /// Watches what another process writes.
    WatchLive,
    /// Deletes every object.
    Delete,
}

impl Work {
    pub(crate) fn name(self) -> String {
        word(&self)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BackendKind {
    Etcd,
    Memory,
    Durable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CodecKind {
    Json,
    Protobuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransformerKind {
    Identity,
    Aesgcm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObjectKind {
    /// Every field decoded into the type of `k8s-openapi`.
    Typed,
    /// Every field decoded into the type of `k8s-pb`; with protobuf only.
    Prost,
    /// The metadata decoded, the rest left as bytes until somebody looks.
    Lazy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Impl {
    Store,
    Raw,
}

/// The word of a choice.
pub(crate) fn word<V: ValueEnum>(value: &V) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
