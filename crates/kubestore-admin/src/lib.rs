#![doc = include_str!("../README.md")]

mod census;
mod diff;
mod error;
mod failure;
mod job_options;
mod key_map;
mod keygen;
mod plan;
mod progress;
mod resource_id;
mod retry;
mod rewrap;
mod rules;
mod scan;
mod scope;
mod stored_form;
mod transfer;
mod verify;

pub use census::{Census, CensusOptions, CensusRow, Standing, census};
pub use diff::{DiffOptions, Difference, diff};
pub use error::AdminError;
pub use failure::{Failure, FailureCause, Failures, MOST_FAILURES, OtherKey};
pub use keygen::{KeyProvider, KeySnippet, keygen};
pub use plan::{Plan, ProviderOrder, Step, StepKind, Warning, WarningKind, plan};
pub use progress::Progress;
pub use resource_id::ResourceId;
pub use rewrap::{RewrapCounts, RewrapOptions, RewrapReport, rewrap};
pub use scope::Scope;
pub use stored_form::PlainEncoding;
pub use transfer::{
    EXPORT_FORMAT, ExportOptions, ImportLeases, ImportOptions, ImportReport, Skipped, export, import,
};
pub use verify::{VerifyCounts, VerifyOptions, VerifyReport, verify};
