#![doc = include_str!("../README.md")]

mod builder;
mod counts;
#[cfg(feature = "durable")]
mod durable;
mod embedded;
mod engine;
mod lease;
mod log;
mod read;
mod record;
mod state;
mod watch;

pub use builder::EmbeddedBuilder;
#[cfg(feature = "durable")]
pub use durable::{CheckOptions, CheckReport, Problem, ProblemKind, RepairReport};
pub use embedded::Embedded;
