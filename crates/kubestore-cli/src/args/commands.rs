//! What each command takes.

use std::path::PathBuf;

use clap::Args;

use crate::output::Format;

/// Store the objects of files: create what is missing, replace what differs
///
/// An object that exists is replaced by what the file says, but keeps what servers and controllers put there: UID, creation
/// time and the rest of their metadata, and its status. There is no three-way merge: a field taken out of the file is taken
/// out of the object. All files are read and checked before anything is written.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore apply -f pod.yaml
  kubestore apply -f manifests/ -n prod
  kubestore get cm -A -o yaml | kubestore --data-dir copy apply -f -")]
pub(crate) struct ApplyArgs {
    /// A file of YAML or JSON, a directory of such files, or - for standard input; may be given several times
    #[arg(short, long = "filename", value_name = "FILE|DIR|-", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Look into the directories of a directory too
    #[arg(short = 'R', long)]
    pub(crate) recursive: bool,

    /// Replace the status too by what the file says
    #[arg(long)]
    pub(crate) replace_status: bool,

    /// Show the objects as they were stored
    #[arg(short, long, value_name = "FORMAT")]
    pub(crate) output: Option<Format>,
}

/// Show objects
///
/// RESOURCE is a name as kubectl takes it: plural, singular, kind or short name, with or without its group. Of a custom
/// resource its CustomResourceDefinition must be stored under the same prefix.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore get pods                        All pods of the namespace
  kubestore get pod/a cm/b -o yaml          These two
  kubestore get deploy.apps,svc -A          Two resources in all namespaces
  kubestore get secret a -o json            One secret, its data as stored: in base64
  kubestore get pods -A --limit 100         A page; how to get the next is said on standard error
  kubestore get pods --resource-version 42 --resource-version-match Exact
                                            As they were
  kubestore get pods -w                     And what happens to them")]
pub(crate) struct GetArgs {
    /// RESOURCE[,RESOURCE…] [NAME…], or RESOURCE/NAME…
    #[arg(value_name = "RESOURCE[/NAME]", required = true)]
    pub(crate) targets: Vec<String>,

    #[command(flatten)]
    pub(crate) select: SelectArgs,
    #[command(flatten)]
    pub(crate) listing: ListingArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Say nothing of names that do not exist
    #[arg(long)]
    pub(crate) ignore_not_found: bool,

    /// Go on showing changes until interrupted
    #[arg(short, long)]
    pub(crate) watch: bool,

    /// With --watch: say what kind of change it was
    #[arg(long, requires = "watch")]
    pub(crate) output_watch_events: bool,
}

/// Show the objects of one resource, page by page if asked
///
/// Like get, for all objects of one resource: prints as well the resource version that the list was read at.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore list pods -A
  kubestore list pods -A --limit 500        The first 500; the token for the next is on standard error
  kubestore list pods -A --limit 500 --continue TOKEN
  kubestore list secrets --field-selector type=Opaque -o name")]
pub(crate) struct ListArgs {
    /// What to list
    #[arg(value_name = "RESOURCE")]
    pub(crate) resource: String,

    #[command(flatten)]
    pub(crate) select: SelectArgs,
    #[command(flatten)]
    pub(crate) listing: ListingArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Delete objects
///
/// The key is removed at once: no finalizer runs, nothing that an object owns is deleted with it, and a namespace leaves
/// its objects behind. Objects with finalizers are therefore refused without --force.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore delete pod a b
  kubestore delete pod/a cm/b
  kubestore delete -f manifests/
  kubestore delete pods -l app=old -n prod
  kubestore delete events --all -A
  kubestore delete secret/db --only-if-corrupt --encryption-config enc.yaml")]
pub(crate) struct DeleteArgs {
    /// RESOURCE[,RESOURCE…] NAME…, or RESOURCE/NAME…
    #[arg(value_name = "RESOURCE[/NAME]", required_unless_present = "files", conflicts_with = "files")]
    pub(crate) targets: Vec<String>,

    /// Delete the objects that a file, directory or standard input (-) names
    #[arg(short, long = "filename", value_name = "FILE|DIR|-", conflicts_with_all = ["all", "selector", "field_selector"])]
    pub(crate) files: Vec<PathBuf>,

    /// Look into the directories of a directory too
    #[arg(short = 'R', long, requires = "files")]
    pub(crate) recursive: bool,

    #[command(flatten)]
    pub(crate) select: SelectArgs,

    /// Delete all objects of the resource in the namespace
    #[arg(long)]
    pub(crate) all: bool,

    /// Say nothing of objects that do not exist
    #[arg(long)]
    pub(crate) ignore_not_found: bool,

    /// Delete objects with finalizers too; with --only-if-corrupt, also those for which no key is configured
    #[arg(long)]
    pub(crate) force: bool,

    /// Delete objects only if they cannot be decrypted or decoded, unread and whatever their finalizers
    #[arg(long, conflicts_with_all = ["files", "all", "selector", "field_selector", "all_namespaces"])]
    pub(crate) only_if_corrupt: bool,

    /// Print the names alone
    #[arg(short, long, value_name = "FORMAT", value_parser = ["name"])]
    pub(crate) output: Option<String>,
}

/// Count objects without reading them
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore count pods                      In the namespace
  kubestore count pods,secrets -A           Everywhere, one line for each")]
pub(crate) struct CountArgs {
    /// What to count
    #[arg(value_name = "RESOURCE[,RESOURCE…]")]
    pub(crate) resources: String,

    /// In all namespaces
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,
}

/// Show changes as they happen
///
/// From now on, or after --resource-version. In table form each line begins with the kind of change; as JSON each change is
/// one line. Ends on Ctrl-C. A data directory belongs to one process at a time, so only an etcd shows the changes of others.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubestore watch pods -A -l app=web
  kubestore watch pods --initial-events     What exists first
  kubestore watch pod/a -o json             One pod, one line of JSON for each change
  kubestore watch secrets -A --resource-version 4711")]
pub(crate) struct WatchArgs {
    /// RESOURCE [NAME], or RESOURCE/NAME
    #[arg(value_name = "RESOURCE[/NAME]", required = true, num_args = 1..=2)]
    pub(crate) targets: Vec<String>,

    #[command(flatten)]
    pub(crate) select: SelectArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Begin after this resource version
    #[arg(long, value_name = "VERSION", conflicts_with = "initial_events")]
    pub(crate) resource_version: Option<u64>,

    /// Show what exists first, as added
    #[arg(long)]
    pub(crate) initial_events: bool,
}

/// Which objects.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Selection")]
pub(crate) struct SelectArgs {
    /// In all namespaces
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,

    /// With these labels: app=web,tier in (front,back),!canary
    #[arg(short = 'l', long, value_name = "LABELS", default_value = "", hide_default_value = true)]
    pub(crate) selector: String,

    /// With these fields: metadata.name=a,status.phase!=Running
    #[arg(long, value_name = "FIELDS", default_value = "", hide_default_value = true)]
    pub(crate) field_selector: String,
}

/// Which part of a list, and as of when.
#[derive(Args, Debug)]
#[command(next_help_heading = "Paging")]
pub(crate) struct ListingArgs {
    /// At most this many; the token for the rest is said on standard error
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) limit: Option<i64>,

    /// On from where an earlier list left off
    #[arg(long = "continue", value_name = "TOKEN", default_value = "", hide_default_value = true)]
    pub(crate) continue_token: String,

    /// As of this resource version, or not older (see --resource-version-match)
    #[arg(long, value_name = "VERSION")]
    pub(crate) resource_version: Option<u64>,

    /// How the resource version is meant
    #[arg(long, value_name = "MATCH", value_parser = ["Exact", "NotOlderThan"], requires = "resource_version")]
    pub(crate) resource_version_match: Option<String>,
}

/// How to show objects.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// How to show them
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output: Format,

    /// Without the line of column names
    #[arg(long)]
    pub(crate) no_headers: bool,

    /// With a column of all labels
    #[arg(long)]
    pub(crate) show_labels: bool,

    /// With a column for each of these labels
    #[arg(short = 'L', long, value_name = "LABEL,…", value_delimiter = ',')]
    pub(crate) label_columns: Vec<String>,
}
