//! Jobs on a whole key space, through the public interface, on all backends.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod census;
mod common;
mod diff;
mod faults;
mod keygen;
mod plan;
mod rotation;
mod rules;
mod secrecy;
mod snapshot;
mod transfer;
mod verify;
mod writers;
