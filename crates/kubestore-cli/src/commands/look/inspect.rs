//! `kubestore inspect`.

use std::io::{self, Write};

use anyhow::Result;
use kubestore::{
    codec::ResourceTable,
    kv::{KeyValue, KvErrorKind, LeaseId, Revision},
};
use serde::Serialize;

use super::found;
use crate::{
    args::{InspectArgs, ReportFormat},
    commands::show,
    failure::{self, AlreadyTold},
    object::{self, Envelope, Summary},
    output::span,
    session::Session,
};

/// What is known of a value.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Inspection {
    key: String,
    resource: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    /// The newest revision of the store.
    head_revision: i64,
    create_revision: i64,
    mod_revision: i64,
    version: i64,
    lease: Option<Lease>,
    stored_bytes: usize,
    provider: String,
    provider_version: Option<String>,
    key_name: Option<String>,
    /// Whether it would be written otherwise now; not known if it was not opened.
    stale: Option<bool>,
    plain_bytes: Option<usize>,
    encoding: Option<&'static str>,
    api_version: Option<String>,
    kind: Option<String>,
    /// Of a later release.
    unknown_fields: Vec<String>,
    problem: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Lease {
    id: String,
    granted_seconds: Option<u64>,
    /// 0 when it has ended and its keys are about to go.
    remaining_seconds: Option<u64>,
}

pub(super) async fn run(session: &mut Session, args: &InspectArgs) -> Result<()> {
    let key = found::whole_key(session, &args.target.name).await?;
    let (kv, head) = found::read(session, &key, args.target.revision).await?;
    let kv = kv.ok_or_else(|| found::missing(&key, &args.target))?;
    let inspection = inspect(session, key, kv, head).await?;
    match args.output {
        ReportFormat::Json => show::json(&inspection)?,
        ReportFormat::Table => write_lines(&inspection)?,
    }
    match &inspection.problem {
        // Without a configuration nobody expects it to be opened.
        Some(problem) if session.opener().has_keys() || inspection.encoding.is_some() => {
            show::note(&format!("error: {problem}"))?;
            Err(AlreadyTold.into())
        }
        _ => Ok(()),
    }
}

async fn inspect(session: &Session, key: String, kv: KeyValue, head: Revision) -> Result<Inspection> {
    let place = ResourceTable::builtin().locate(session.prefix(), &key);
    let envelope = Envelope::of(&kv.value);
    let lease = match kv.lease {
        Some(id) => Some(lease(session, id).await?),
        None => None,
    };
    let mut inspection = Inspection {
        resource: place.as_ref().map(|place| place.group_resource.to_string()),
        namespace: place.as_ref().and_then(|place| place.namespace.clone()),
        name: place.map(|place| place.name),
        key,
        head_revision: head.0,
        create_revision: kv.create_revision.0,
        mod_revision: kv.mod_revision.0,
        version: kv.version,
        lease,
        stored_bytes: kv.value.len(),
        provider: envelope.provider,
        provider_version: envelope.version,
        key_name: envelope.key_name,
        stale: None,
        plain_bytes: None,
        encoding: None,
        api_version: None,
        kind: None,
        unknown_fields: Vec::new(),
        problem: None,
    };
    look_inside(&mut inspection, session, kv).await;
    Ok(inspection)
}

async fn look_inside(inspection: &mut Inspection, session: &Session, kv: KeyValue) {
    let opener = session.opener();
    let opened = match opener.open(&kv.key, kv.value).await {
        Ok(opened) => opened,
        Err(error) => {
            inspection.problem = Some(failure::chain(&error.into()));
            return;
        }
    };
    let text = |text: String| (!text.is_empty()).then_some(text);
    let summary = Summary::of(&opened.data);
    inspection.stale = opener.has_keys().then_some(opened.stale);
    inspection.plain_bytes = Some(opened.data.len());
    inspection.encoding = Some(object::encoding(&opened.data));
    inspection.api_version = text(summary.api_version);
    inspection.kind = text(summary.kind);
    match opener.decode(opened.data) {
        Ok(object) => inspection.unknown_fields = object::unknown_fields(&object),
        Err(error) => inspection.problem = Some(failure::chain(&error.into())),
    }
}

async fn lease(session: &Session, id: LeaseId) -> Result<Lease> {
    let mut lease = Lease { id: id.to_string(), granted_seconds: None, remaining_seconds: None };
    match session.kv().lease_info(id).await {
        Ok(info) => {
            lease.granted_seconds = Some(info.granted.as_secs());
            lease.remaining_seconds = Some(info.remaining.unwrap_or_default().as_secs());
        }
        // Of a state of the past the lease may be gone; and not every server tells.
        Err(error) if matches!(error.kind(), KvErrorKind::LeaseNotFound | KvErrorKind::Unsupported) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(lease)
}

fn write_lines(inspection: &Inspection) -> Result<()> {
    let Inspection { version, mod_revision, create_revision, head_revision, .. } = inspection;
    let none = || "-".to_owned();
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(none);
    let envelope = Envelope {
        provider: inspection.provider.clone(),
        version: inspection.provider_version.clone(),
        key_name: inspection.key_name.clone(),
    };
    let standing = match inspection.stale {
        Some(true) => ", stale: written otherwise now",
        Some(false) => ", current",
        None => "",
    };
    let inside = match (inspection.plain_bytes, inspection.encoding) {
        (Some(bytes), Some(encoding)) => format!("{encoding}, {bytes} bytes"),
        _ => none(),
    };
    let lines = [
        ("Key", inspection.key.escape_debug().to_string()),
        ("Resource", or_none(&inspection.resource)),
        ("Namespace", or_none(&inspection.namespace)),
        ("Name", or_none(&inspection.name)),
        ("Created", format!("revision {create_revision}")),
        ("Modified", format!("revision {mod_revision}, version {version} (newest revision {head_revision})")),
        ("Lease", inspection.lease.as_ref().map_or_else(none, lease_words)),
        ("Stored", format!("{} bytes", inspection.stored_bytes)),
        ("Encryption", format!("{}{standing}", envelope.words())),
        ("Encoding", inside),
        ("apiVersion", or_none(&inspection.api_version)),
        ("Kind", or_none(&inspection.kind)),
    ];
    let mut stdout = io::stdout().lock();
    for (name, value) in lines {
        writeln!(stdout, "{:<12} {value}", format!("{name}:"))?;
    }
    Ok(())
}

fn lease_words(lease: &Lease) -> String {
    let seconds = |seconds: u64| span(i64::try_from(seconds).unwrap_or(i64::MAX));
    match (lease.granted_seconds, lease.remaining_seconds) {
        (Some(_), Some(0)) => format!("{}, ended", lease.id),
        (Some(granted), Some(left)) => {
            format!("{}, {} left of {}", lease.id, seconds(left), seconds(granted))
        }
        _ => format!("{}, gone", lease.id),
    }
}
