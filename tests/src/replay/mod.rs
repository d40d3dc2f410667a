//! Running scenarios against a store, and comparing what comes with what was recorded.

mod arguments;
mod backend;
mod direct;
mod errors;
mod functions;
mod report;
mod run;
mod session;
mod step;
mod storage;
mod transformer;
mod traced;
mod watch;

pub use backend::{BackendKind, Backends};
pub use report::{Report, ScenarioReport, StepFailure};
pub use run::{Options, replay};
