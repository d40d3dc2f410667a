//! Running scenarios against a store, and comparing what comes with what was recorded.

mod answers;
mod arguments;
mod backend;
mod direct;
mod errors;
mod functions;
#[cfg(test)]
mod list_revisions;
#[cfg(test)]
mod mutations;
mod report;
mod run;
mod seen;
mod session;
mod step;
mod storage;
mod traced;
mod transformer;
mod watch;

pub(crate) use answers::{Subject, answer, verdict};
pub(crate) use arguments::{Results, StepResult, untyped};
pub use backend::{BackendKind, Backends};
pub(crate) use direct::{missing, raw_bytes};
pub use report::{Report, ScenarioReport, StepFailure};
pub use run::{Options, replay};
pub(crate) use seen::{
    Event, Performed, call_value, event_value, events_value, lease_value, object_value, stored_value,
};
pub(crate) use transformer::transformer;
