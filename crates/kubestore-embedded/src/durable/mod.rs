//! The durable form: a directory that holds every version which is not compacted, and the thread that writes it.
//!
//! `base` is what is asked of the embedded database underneath, `fjall` the only file that names one. `ledger` turns
//! changes into its entries and proves on opening that none is missing; `load` rebuilds the state; `thread` is the
//! handle of the writer, `worker` what it does.

mod base;
mod check;
mod codec;
mod directory;
mod fjall;
mod journal;
mod ledger;
mod load;
mod manifest;
mod mark;
mod reserve;
mod thread;
mod trouble;
mod worker;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

pub use check::{CheckOptions, CheckReport, Problem, ProblemKind, RepairReport};
pub(crate) use check::{check, repair};
pub(crate) use thread::Thread;
