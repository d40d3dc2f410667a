//! Recordings of the reference, and the replayer that holds the store against them.

pub mod recording;
