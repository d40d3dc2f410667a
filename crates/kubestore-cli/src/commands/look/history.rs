//! `kubestore history`.

use std::time::Duration;

use anyhow::{Result, bail};
use futures_util::StreamExt;
use jiff::Timestamp;
use kubestore::{
    codec::{Unstructured, Value},
    kv::{
        GetRequest, KeyValue, KvError, KvErrorKind, KvEvent, KvEventKind, Revision, WatchGroup, WatchItem,
        WatchRequest, WatchTarget,
    },
};
use serde::Serialize;
use tokio::time::timeout;

use super::found;
use crate::{
    args::{HistoryArgs, ReportFormat},
    commands::show,
    failure::Usage,
    object::{Envelope, Opener},
    session::Session,
};

/// How long a watch may say nothing before it is asked how far it is.
const PATIENCE: Duration = Duration::from_millis(250);
/// How often it is asked.
const MOST_QUESTIONS: u32 = 120;
/// How often the beginning may be compacted away while it is read.
const MOST_COMPACTIONS: u32 = 5;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct History {
    key: String,
    head_revision: i64,
    /// Nothing is known of what was before it.
    compacted_revision: i64,
    states: Vec<State>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct State {
    revision: i64,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i64>,
    /// The last time that the object itself names.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    /// Who the managed fields say changed it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    manager: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stored_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease: Option<String>,
}

pub(super) async fn run(session: &mut Session, args: &HistoryArgs) -> Result<()> {
    if args.target.revision.is_some() {
        return Err(Usage::new("history is of all revisions; leave out the @ and the number").into());
    }
    let key = found::whole_key(session, &args.target.name).await?;
    let kept = kept(session, &key).await?;
    let opener = session.opener();
    let mut states = Vec::with_capacity(kept.events.len());
    for event in &kept.events {
        states.push(state(opener, event).await);
    }
    if states.is_empty() {
        bail!(
            "nothing is left of {key}: it is not there, nor was it after the compacted revision {}; `kubestore keys` shows \
             what there is",
            kept.compacted
        );
    }
    let history = History { key, head_revision: kept.head.0, compacted_revision: kept.compacted.0, states };
    match args.output {
        ReportFormat::Json => show::json(&history),
        ReportFormat::Table => {
            const COLUMNS: [&str; 8] =
                ["REVISION", "CHANGE", "VERSION", "WHEN", "BY", "BYTES", "ENCRYPTION", "LEASE"];
            show::table(&COLUMNS, history.states.iter().map(row))
        }
    }
}

/// All that is left of a key.
struct Kept {
    events: Vec<KvEvent>,
    head: Revision,
    compacted: Revision,
}

async fn kept(session: &Session, key: &str) -> Result<Kept> {
    let mut compacted = session.kv().status().await?.compacted.unwrap_or_default();
    for _ in 0..MOST_COMPACTIONS {
        match events_since(session, key, compacted).await {
            Err(error) if error.kind() == KvErrorKind::Compacted => {
                compacted =
                    error.revision().filter(|revision| *revision > compacted).unwrap_or(compacted.next());
            }
            Err(error) => return Err(error.into()),
            Ok((events, head)) => return Ok(Kept { events, head, compacted }),
        }
    }
    bail!("{key}: the store is compacted faster than it can be read; try again")
}

/// The state at the compacted revision, and what happened since.
async fn events_since(
    session: &Session,
    key: &str,
    compacted: Revision,
) -> Result<(Vec<KvEvent>, Revision), KvError> {
    let kv = session.kv();
    let head = kv.get(GetRequest::new(key.to_owned())).await?.head;
    let mut events = Vec::new();
    if compacted > Revision(0) {
        let then = kv.get(GetRequest::new(key.to_owned()).at(compacted)).await?.kv;
        events.extend(then.map(|kv| KvEvent::put(kv, None)));
    }
    if head <= compacted {
        return Ok((events, head));
    }
    let group = WatchGroup::new();
    let target = WatchTarget::Key(key.to_owned().into());
    let mut watch = kv.watch(WatchRequest::new(group, target).from(compacted.next())).await?;
    kv.request_progress(group).await?;
    let mut questions = 0;
    loop {
        match timeout(PATIENCE, watch.next()).await {
            Err(_) if questions < MOST_QUESTIONS => {
                questions += 1;
                kv.request_progress(group).await?;
            }
            Err(_) | Ok(None) => {
                return Err(KvError::new(
                    KvErrorKind::DeadlineExceeded,
                    "watch",
                    "the store does not say how far its watch is; try again",
                ));
            }
            Ok(Some(Err(error))) => return Err(error),
            Ok(Some(Ok(WatchItem::Progress(through)))) if through >= head => return Ok((events, head)),
            Ok(Some(Ok(WatchItem::Events { events: more, through }))) => {
                events.extend(more.into_iter().filter(|event| event.kv.mod_revision <= head));
                if through >= head {
                    return Ok((events, head));
                }
            }
            Ok(Some(Ok(_))) => {}
        }
    }
}

async fn state(opener: &Opener, event: &KvEvent) -> State {
    let kv = &event.kv;
    if event.kind == KvEventKind::Delete {
        return State {
            revision: kv.mod_revision.0,
            change: "deleted",
            version: None,
            time: None,
            manager: None,
            stored_bytes: None,
            provider: None,
            key_name: None,
            lease: None,
        };
    }
    let envelope = Envelope::of(&kv.value);
    let (time, manager) = last_change(opener, kv).await;
    State {
        revision: kv.mod_revision.0,
        change: if kv.version == 1 { "created" } else { "modified" },
        version: Some(kv.version),
        time,
        manager,
        stored_bytes: Some(kv.value.len()),
        provider: Some(envelope.provider),
        key_name: envelope.key_name,
        lease: kv.lease.map(|lease| lease.to_string()),
    }
}

/// When and by whom the object says that it was changed last. A value that does not open says nothing.
async fn last_change(opener: &Opener, kv: &KeyValue) -> (Option<String>, Option<String>) {
    let Ok(object) = found::object(opener, kv).await else { return (None, None) };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let managers = object.pointer("/metadata/managedFields").and_then(Value::as_array);
    let times = managers.into_iter().flatten().filter_map(|entry| {
        let entry = entry.as_object()?;
        let time = text(entry.get("time"))?;
        let at: Timestamp = time.parse().ok()?;
        Some((at, time, text(entry.get("manager"))))
    });
    match times.max_by_key(|(at, ..)| *at) {
        Some((_, time, manager)) => (Some(time), manager),
        // Without managed fields only the time of the first state is known.
        None => (created(&object).filter(|_| kv.version == 1), None),
    }
}

fn created(object: &Unstructured) -> Option<String> {
    object.pointer("/metadata/creationTimestamp").and_then(Value::as_str).map(str::to_owned)
}

fn row(state: &State) -> Vec<String> {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let encryption = state
        .provider
        .clone()
        .map(|provider| Envelope { provider, version: None, key_name: state.key_name.clone() }.short());
    vec![
        state.revision.to_string(),
        state.change.to_owned(),
        or_none(state.version.map(|version| version.to_string())),
        or_none(state.time.clone()),
        or_none(state.manager.clone()),
        or_none(state.stored_bytes.map(|bytes| bytes.to_string())),
        or_none(encryption),
        or_none(state.lease.clone()),
    ]
}
