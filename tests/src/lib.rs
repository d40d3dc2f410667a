//! Recordings of the reference and the replayer that holds the store against them; scenarios and steps at random; work for many clients.

pub mod compare;
pub mod dice;
mod differences;
pub mod differential;
mod model;
pub mod random;
pub mod recording;
pub mod replay;
pub mod workload;
