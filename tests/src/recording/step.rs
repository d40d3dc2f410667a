//! The steps of a scenario.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{TransformerConfig, normalize};

/// One step: what is done, and what came of it when it was recorded.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
#[non_exhaustive]
pub struct Step {
    /// What is done.
    pub action: Action,
    /// What came of it. A nested step without one was never run.
    pub expect: Option<Expectation>,
}

impl TryFrom<Map<String, Value>> for Step {
    type Error = serde_json::Error;

    fn try_from(mut fields: Map<String, Value>) -> Result<Self, Self::Error> {
        let expect = fields.remove("expect").map(serde_json::from_value).transpose()?;
        let mut action = Value::Object(fields);
        normalize(&mut action);
        Ok(Self { action: serde_json::from_value(action)?, expect })
    }
}

/// What came of a step, in the notation of the recordings. What a replay sees has the same form.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Expectation {
    /// The result.
    pub ok: Option<Value>,
    /// The error.
    pub err: Option<Value>,
    /// The backend's revision after the step.
    pub rev: Option<String>,
    /// The requests that reached etcd.
    pub etcd: Option<Vec<String>>,
    /// What an update function was called with.
    pub calls: Option<Vec<Value>>,
    /// What a validation function was called with.
    pub validate_calls: Option<Vec<Value>>,
    /// How far it can be relied on.
    #[serde(skip)]
    pub source: Source,
}

/// Where an expectation comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// It was recorded.
    #[default]
    Recording,
    /// It was derived by a model, which knows nothing of the requests to etcd.
    Model,
    /// Only the revision could be derived.
    RevisionOnly,
}

/// What a step does.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase")]
#[expect(missing_docs, reason = "named as in the files")]
#[non_exhaustive]
pub enum Action {
    Closed(WatchIdStep),
    Compact(CompactStep),
    Count(CountStep),
    Create(CreateStep),
    Delete(DeleteStep),
    Events(EventsStep),
    Get(GetStep),
    LeaseOf(KeyStep),
    List(ListStep),
    Quiet(QuietStep),
    RawCopy(CopyStep),
    RawDelete(KeyStep),
    RawGet(KeyStep),
    RawPut(PutStep),
    Readiness,
    RequestWatchProgress,
    RevokeLease(KeyStep),
    Sleep(SleepStep),
    Stop(WatchIdStep),
    Update(UpdateStep),
    UseTransformer(TransformerStep),
    Watch(WatchStep),
}

impl Action {
    /// The operation and what it is about, for reports.
    #[must_use]
    pub fn title(&self) -> String {
        match self {
            Self::Closed(step) => format!("closed {}", step.id),
            Self::Compact(step) => format!("compact {}", step.revision),
            Self::Count(step) => format!("count {}", step.key),
            Self::Create(step) => format!("create {}", step.key),
            Self::Delete(step) => format!("delete {}", step.key),
            Self::Events(step) => format!("events {}", step.id),
            Self::Get(step) => format!("get {}", step.key),
            Self::LeaseOf(step) => format!("leaseOf {}", step.key),
            Self::List(step) => format!("list {}", step.key),
            Self::Quiet(step) => format!("quiet {}", step.id),
            Self::RawCopy(step) => format!("rawCopy {} to {}", step.from, step.to),
            Self::RawDelete(step) => format!("rawDelete {}", step.key),
            Self::RawGet(step) => format!("rawGet {}", step.key),
            Self::RawPut(step) => format!("rawPut {}", step.key),
            Self::Readiness => "readiness".to_owned(),
            Self::RequestWatchProgress => "requestWatchProgress".to_owned(),
            Self::RevokeLease(step) => format!("revokeLease {}", step.key),
            Self::Sleep(step) => format!("sleep {} ms", step.ms),
            Self::Stop(step) => format!("stop {}", step.id),
            Self::Update(step) => format!("update {}", step.key),
            Self::UseTransformer(_) => "useTransformer".to_owned(),
            Self::Watch(step) => format!("watch {} {}", step.id, step.key),
        }
    }

    /// The steps inside its function.
    #[must_use]
    pub fn nested(&self) -> &[Step] {
        match self {
            Self::Update(step) => &step.attempt.steps,
            Self::Delete(DeleteStep { validate: Some(Validation::Rules(rules)), .. }) => &rules.steps,
            _ => &[],
        }
    }
}

macro_rules! steps {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_attribute:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        #[expect(missing_docs, reason = "named as in the files")]
        #[non_exhaustive]
        pub struct $name { $($(#[$field_attribute])* pub $field: $type,)* }
    )*};
}

steps! {
    /// Create an object.
    CreateStep {
        key: String,
        obj: Value,
        #[serde(default)]
        ttl: i64,
        #[serde(default = "yes")]
        out: bool,
    }

    /// Read an object.
    GetStep {
        key: String,
        #[serde(default)]
        ignore_not_found: bool,
        #[serde(default)]
        resource_version: String,
    }

    /// Delete an object.
    DeleteStep {
        key: String,
        #[serde(default)]
        preconditions: Option<PreconditionsArg>,
        #[serde(default)]
        validate: Option<Validation>,
        #[serde(default)]
        cached: Option<Value>,
    }

    /// Update an object by a function.
    UpdateStep {
        key: String,
        #[serde(default)]
        ignore_not_found: bool,
        #[serde(default)]
        preconditions: Option<PreconditionsArg>,
        #[serde(default)]
        cached: Option<Value>,
        #[serde(rename = "try")]
        attempt: Try,
    }

    /// List objects.
    ListStep {
        key: String,
        #[serde(default)]
        recursive: bool,
        #[serde(default)]
        resource_version: String,
        #[serde(default)]
        resource_version_match: String,
        #[serde(default)]
        label_selector: String,
        #[serde(default)]
        field_selector: String,
        #[serde(default)]
        limit: i64,
        #[serde(default, rename = "continue")]
        continues: Option<Value>,
    }

    /// Count objects.
    CountStep {
        key: String,
    }

    /// Begin to watch.
    WatchStep {
        id: String,
        key: String,
        #[serde(default)]
        recursive: bool,
        #[serde(default)]
        resource_version: String,
        #[serde(default)]
        label_selector: String,
        #[serde(default)]
        field_selector: String,
        #[serde(default)]
        progress_notify: bool,
        #[serde(default)]
        send_initial_events: Option<bool>,
        #[serde(default)]
        allow_watch_bookmarks: bool,
    }

    /// Wait for events.
    EventsStep {
        id: String,
        count: usize,
    }

    /// Wait, and take what has come.
    QuietStep {
        id: String,
        #[serde(default = "quiet_ms")]
        ms: u64,
    }

    /// Something about a watch.
    WatchIdStep {
        id: String,
    }

    /// Compact the backend.
    CompactStep {
        revision: String,
    }

    /// Put a value past the store.
    PutStep {
        key: String,
        #[serde(default)]
        text: Option<String>,
        #[serde(default)]
        value: Option<String>,
    }

    /// Something about a key of the backend.
    KeyStep {
        key: String,
    }

    /// Copy a value past the store.
    CopyStep {
        from: String,
        to: String,
    }

    /// Go on with another transformer.
    TransformerStep {
        transformer: TransformerConfig,
    }

    /// Wait.
    SleepStep {
        ms: u64,
    }

    /// Preconditions of a deletion or an update.
    PreconditionsArg {
        #[serde(default)]
        uid: Option<String>,
        #[serde(default)]
        resource_version: Option<String>,
    }

    /// What a validation function does.
    ValidationRules {
        #[serde(default)]
        steps: Vec<Step>,
        #[serde(default)]
        require: Map<String, Value>,
        #[serde(default)]
        require_msg: Option<String>,
        #[serde(default)]
        deny: Option<String>,
    }

    /// What an update function does.
    Try {
        #[serde(default)]
        steps: Vec<Step>,
        #[serde(default)]
        require: Map<String, Value>,
        #[serde(default)]
        require_msg: Option<String>,
        #[serde(default)]
        error: Option<String>,
        #[serde(default)]
        error_on_call: usize,
        #[serde(default)]
        error_kind: Option<String>,
        #[serde(default)]
        replace: Option<Value>,
        #[serde(default)]
        set: Map<String, Value>,
        #[serde(default)]
        incr: Map<String, Value>,
        #[serde(default)]
        unset: Vec<String>,
        #[serde(default)]
        ttl: Option<i64>,
    }
}

/// The validation function of a deletion.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Validation {
    /// It has rules.
    Rules(Box<ValidationRules>),
    /// `"allow"`.
    Word(String),
}

fn yes() -> bool {
    true
}

fn quiet_ms() -> u64 {
    100
}
