//! Log lines on standard error.

use std::{
    env,
    io::{self, IsTerminal},
};

use tracing_subscriber::EnvFilter;

/// Starts logging if it was asked for, by `-v` or by the variable `RUST_LOG`, which counts more.
pub(crate) fn start(verbose: u8) {
    let by_flag = match verbose {
        0 => None,
        1 => Some("kubestore=info,warn"),
        2 => Some("kubestore=debug,info"),
        _ => Some("trace"),
    };
    let filter = match (env::var("RUST_LOG"), by_flag) {
        (Ok(filter), _) if !filter.is_empty() => EnvFilter::new(filter),
        (_, Some(filter)) => EnvFilter::new(filter),
        (_, None) => return,
    };
    let colours = io::stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(io::stderr).init();
}
