//! Options that every command takes.

use std::{path::PathBuf, time::Duration};

use clap::{ArgAction, Args};

use super::etcd::EtcdArgs;

/// Where the objects are and how they are kept.
#[derive(Args, Debug)]
#[command(next_help_heading = "Storage options")]
pub(crate) struct GlobalArgs {
    /// Keep the objects in this directory [default: kubestore in the user's data home]
    #[arg(long, global = true, value_name = "DIR", conflicts_with = "endpoints")]
    pub(crate) data_dir: Option<PathBuf>,

    /// Read this snapshot of an etcd (etcdctl snapshot save, or the file member/snap/db of a stopped one)
    #[arg(long, global = true, value_name = "FILE", conflicts_with_all = ["data_dir", "endpoints"])]
    pub(crate) snapshot: Option<PathBuf>,

    /// Read what can be read of a snapshot whose checksum is wrong
    #[arg(long, global = true)]
    pub(crate) ignore_checksum: bool,

    /// The path before every key, as the API server's --etcd-prefix
    #[arg(long, global = true, value_name = "PATH", default_value = "/registry")]
    pub(crate) prefix: String,

    /// Encrypt and decrypt by this EncryptionConfiguration of an API server
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) encryption_config: Option<PathBuf>,

    /// How long to wait for etcd, such as 500ms, 10s or 2m [default: 5s to connect, 60s for a call]
    #[arg(long, global = true, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,

    /// The namespace [default: default]
    #[arg(short, long, global = true, value_name = "NAME")]
    pub(crate) namespace: Option<String>,

    /// Log to standard error; twice for more, three times for everything
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    #[command(flatten)]
    pub(crate) etcd: EtcdArgs,
}

/// A number of seconds, or one with a unit.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("the unit must be ms, s, m or h".to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| "write a number and a unit, such as 10s".to_owned())?;
    match Duration::try_from_secs_f64(number * scale) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("it must be longer than nothing".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit_or_are_seconds() {
        for (text, milliseconds) in
            [("500ms", 500), ("10s", 10_000), ("3", 3000), ("1.5s", 1500), ("2m", 120_000)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "s", "10d", "-1s", "0", "0s", "1e400s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
