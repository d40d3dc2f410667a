#![doc = include_str!("../README.md")]

pub mod history;
pub mod kv;
pub mod storage;

mod check;
mod harness;
mod runner;
mod suite;
mod tools;

pub use harness::{Harness, Instance, Isolation, Unsupported};
pub use runner::{Case, StorageCase, run, run_storage};
pub use tools::{
    Call, Fault, FaultPlan, FaultyKv, ManualClock, Operation, Outcome, RecordedCall, RecordingKv, Script,
};
