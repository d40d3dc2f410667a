//! Recordings of the reference and the replayer that holds the store against them; work for many clients, and dice.

pub mod compare;
pub mod dice;
mod differences;
pub mod differential;
mod model;
pub mod recording;
pub mod replay;
pub mod workload;
