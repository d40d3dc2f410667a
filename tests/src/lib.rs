//! Recordings of the reference, and the replayer that holds the store against them.

pub mod compare;
mod differences;
mod model;
pub mod recording;
pub mod replay;
