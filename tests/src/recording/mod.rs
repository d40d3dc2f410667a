//! Recordings of the reference: scenario files, and the notation they are written in.

mod edit;
mod json;
mod load;
mod message;
mod pointer;
mod revisions;
mod scenario;
mod step;
mod token;
mod value;

pub(crate) use edit::{absolute, edit, relative, unmet};
pub(crate) use json::go_json;
#[cfg(test)]
pub(crate) use load::committed;
pub use load::{Loaded, load};
pub(crate) use message::Notation;
pub(crate) use pointer::{pointer_get, pointer_set, pointer_unset};
pub(crate) use revisions::Base;
pub use scenario::{Config, KeyConfig, LeaseLimits, ProviderConfig, Scenario, TransformerConfig};
pub use step::{
    Action, CompactStep, CopyStep, CountStep, CreateStep, DeleteStep, EventsStep, Expectation, GetStep,
    KeyStep, ListStep, PreconditionsArg, PutStep, QuietStep, SleepStep, Source, Step, TransformerStep, Try,
    UpdateStep, Validation, ValidationRules, WatchIdStep, WatchStep,
};
pub(crate) use token::Token;
pub(crate) use value::{normalize, same};
