//! The durable form: a directory that holds every version which is not compacted, and the thread that writes it.
//!
//! `base` is what is asked of the embedded database underneath, `fjall` the only file that names one. `ledger` turns
//! changes into its entries and proves on opening that none is missing; `load` rebuilds the state; `journal` and `manifest`
//! look at what `fjall` would believe or give up on, before it does; `thread` is the handle of the writer, `worker` what
//! it does; `check` looks into closed directories.

mod base;
mod check;
mod codec;
mod directory;
mod draft;
mod fjall;
mod journal;
mod ledger;
mod load;
mod manifest;
mod mark;
mod opening;
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
