#![doc = include_str!("../README.md")]

pub mod kv;

mod clock;
mod harness;
mod runner;
mod suite;

pub use clock::ManualClock;
pub use harness::{Harness, Instance, Isolation, Unsupported};
pub use runner::{Case, run};
