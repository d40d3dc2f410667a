//! Tools to test with: a clock, and wrappers that watch and disturb a backend.

mod call;
mod clock;
mod fault;
mod faulty;
mod plan;
mod recording;

pub use call::{Call, Operation};
pub use clock::ManualClock;
pub use fault::{Fault, Script};
pub use faulty::FaultyKv;
pub use plan::FaultPlan;
pub use recording::{Outcome, RecordedCall, RecordingKv};
