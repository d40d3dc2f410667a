//! The command as its users see it: what it prints, on which stream, and how it exits.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod apply;
mod cluster;
mod command;
mod custom;
mod decode;
mod delete;
mod encryption;
mod errors;
mod get;
mod input;
mod large;
mod look;
mod paging;
mod readme;
mod repair;
mod rotation;
mod selectors;
mod tls;
mod tour;
mod transfer;
mod watch;
