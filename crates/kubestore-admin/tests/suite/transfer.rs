//! Out of one backend and into another: byte for byte, and nothing overwritten unasked.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use kubestore_admin::{
    AdminError, ExportOptions, FailureCause, ImportLeases, ImportOptions, ImportReport, Progress, Scope,
    export, import,
};
use kubestore_conformance::{Call, Fault, FaultyKv, Operation};
use kubestore_embedded::Embedded;
use kubestore_kv::{BoxError, DeleteRequest, KeyValue, Kv, LeaseId, PutRequest, Revision};

use crate::common::{Backend, CANARY, all, done, get, head, put};

async fn exported(kv: &dyn Kv, options: &ExportOptions) -> Vec<u8> {
    let parts: Vec<_> = export(kv, "/registry", options).try_collect().await.unwrap();
    parts.concat()
}

async fn imported(kv: &dyn Kv, export: &[u8], options: &ImportOptions) -> Result<ImportReport, AdminError> {
    // In pieces that have nothing to do with lines.
    let pieces: Vec<_> =
        export.chunks(1000).map(|piece| Ok::<_, BoxError>(Bytes::copy_from_slice(piece))).collect();
    import(kv, stream::iter(pieces), options).await
}

fn content(kvs: Vec<KeyValue>) -> Vec<(Bytes, Bytes)> {
    kvs.into_iter().map(|kv| (kv.key, kv.value)).collect()
}

/// Values of all kinds of bytes, one of them large, and keys that are no text.
async fn fill(kv: &dyn Kv, count: usize) {
    for number in 0..count {
        let bytes: Vec<u8> =
            (0..number * 7 % 2000).map(|at| u8::try_from((at + number) % 256).unwrap()).collect();
        put(kv, &format!("/registry/secrets/ns/{number:05}"), bytes).await;
    }
    put(kv, "/registry/configmaps/ns/large", vec![b'x'; 1_000_000]).await;
    put(kv, "/registry/configmaps/ns/empty", "").await;
    let strange = PutRequest::create(&b"/registry/strange/\xff\x00\n"[..], "odd");
    done(kv.optimistic_put(strange).await.unwrap());
    put(kv, "/elsewhere/a", "not exported").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_etcd_to_a_directory_and_back_nothing_changes() {
    let (first, second, third) = (Backend::etcd().await, Backend::durable().await, Backend::etcd().await);
    fill(&*first.kv, 3000).await;
    let there = exported(&*first.kv, &ExportOptions::default()).await;
    let report = imported(&*second.kv, &there, &ImportOptions::default()).await.unwrap();
    assert_eq!((report.seen, report.created, report.is_success()), (3003, 3003, true));
    assert_eq!((report.scope.as_str(), report.revision), ("/registry/", head(&*first.kv).await.0));
    let back = exported(&*second.kv, &ExportOptions::default()).await;
    let report = imported(&*third.kv, &back, &ImportOptions::default()).await.unwrap();
    assert_eq!(report.created, 3003);

    let expected = content(all(&*first.kv).await);
    assert_eq!(expected.len(), 3003);
    assert_eq!(content(all(&*second.kv).await), expected);
    assert_eq!(content(all(&*third.kv).await), expected);
    assert_eq!(get(&*third.kv, "/elsewhere/a").await, None);
}

#[tokio::test]
async fn a_line_says_all_about_a_key() {
    let kv = Embedded::in_memory();
    let lease = kv.grant_lease(Duration::from_secs(3600)).await.unwrap();
    let leased = PutRequest::create("/registry/events/ns/a", "one").with_lease(Some(lease.id));
    done(kv.optimistic_put(leased).await.unwrap());
    let created = put(&kv, "/registry/secrets/ns/b", "one").await;
    let changed =
        done(kv.optimistic_put(PutRequest::update("/registry/secrets/ns/b", "two", created)).await.unwrap());
    let text = String::from_utf8(exported(&kv, &ExportOptions::default()).await).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let id = lease.id.to_string();
    let remaining = lines[1]["lease"]["remaining"].as_u64().unwrap();
    assert!((3590..=3600).contains(&remaining), "{remaining}");
    let expected = [
        serde_json::json!({"export":
            {"format": 1, "prefix": "/registry/", "scope": "/registry/", "revision": changed.0, "keys": 2}}),
        serde_json::json!({"lease": {"id": id, "granted": 3600, "remaining": remaining}}),
        serde_json::json!({"kv": {"key": "/registry/events/ns/a", "createRevision": created.0 - 1,
            "modRevision": created.0 - 1, "version": 1, "lease": id, "value": "b25l"}}),
        serde_json::json!({"kv": {"key": "/registry/secrets/ns/b", "createRevision": created.0,
            "modRevision": changed.0, "version": 2, "value": "dHdv"}}),
        serde_json::json!({"end": {"keys": 2, "revision": changed.0}}),
    ];
    assert_eq!(lines, expected);

    let some = Scope::new("/registry").only(["secrets"]).unwrap();
    let options = ExportOptions::default().at(created);
    let parts: Vec<_> = export(&kv, some, &options).try_collect().await.unwrap();
    let text = String::from_utf8(parts.concat()).unwrap();
    assert!(text.contains("b25l") && !text.contains("events"), "{text}");
    assert!(
        text.starts_with(r#"{"export":{"format":1,"prefix":"/registry/","scope":"/registry/ (secrets)","#)
    );
}

#[tokio::test]
async fn nothing_is_overwritten_unasked() {
    let (from, to) = (Embedded::in_memory(), Embedded::in_memory());
    for name in ["a", "b", "c"] {
        put(&from, &format!("/registry/secrets/ns/{name}"), format!("theirs {name}")).await;
    }
    put(&to, "/registry/secrets/ns/a", "theirs a").await;
    put(&to, "/registry/secrets/ns/b", "ours").await;
    let export = exported(&from, &ExportOptions::default()).await;
    let report = imported(&to, &export, &ImportOptions::default()).await.unwrap();
    assert_eq!((report.created, report.same, report.skipped.total, report.overwritten), (1, 1, 1, 0));
    assert_eq!((report.skipped.first[0].as_str(), report.is_success()), ("/registry/secrets/ns/b", false));
    assert_eq!(get(&to, "/registry/secrets/ns/b").await.unwrap().value, "ours");
    assert_eq!(get(&to, "/registry/secrets/ns/a").await.unwrap().version, 1);

    let report = imported(&to, &export, &ImportOptions::default().overwrite(true)).await.unwrap();
    assert_eq!((report.created, report.same, report.skipped.total, report.overwritten), (0, 2, 0, 1));
    assert_eq!(get(&to, "/registry/secrets/ns/b").await.unwrap().value, "theirs b");
    assert!(report.is_success());
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!((&json["overwritten"], &json["leasesGranted"]), (&1.into(), &0.into()));
}

#[tokio::test]
async fn leases_are_dropped_renewed_or_a_reason_to_leave_out() {
    let from = Embedded::in_memory();
    let lease = from.grant_lease(Duration::from_secs(5000)).await.unwrap();
    for name in ["a", "b"] {
        let put = PutRequest::create(format!("/registry/events/ns/{name}"), "one").with_lease(Some(lease.id));
        done(from.optimistic_put(put).await.unwrap());
    }
    put(&from, "/registry/secrets/ns/c", "one").await;
    let export = exported(&from, &ExportOptions::default()).await;
    for (leases, created, left_out, dropped, granted) in [
        (ImportLeases::Drop, 3, 0, 2, 0),
        (ImportLeases::Renew, 3, 0, 0, 1),
        (ImportLeases::Skip, 1, 2, 0, 0),
    ] {
        let to = Embedded::in_memory();
        let report = imported(&to, &export, &ImportOptions::default().leases(leases)).await.unwrap();
        assert_eq!(
            (report.created, report.left_out, report.leases_dropped, report.leases_granted),
            (created, left_out, dropped, granted),
            "{leases:?}"
        );
        let kvs = all(&to).await;
        let of: Vec<LeaseId> = kvs.iter().filter_map(|kv| kv.lease).collect();
        assert_eq!(of.len(), if granted == 1 { 2 } else { 0 });
        if let [first, second] = of[..] {
            assert_eq!(first, second);
            let ttl = to.lease_info(first).await.unwrap().granted.as_secs();
            assert!((4990..=5000).contains(&ttl), "{ttl}");
        }
    }
    // One that had ended cannot be renewed.
    let text = String::from_utf8(export).unwrap();
    let remaining = text.split(r#""remaining":"#).nth(1).unwrap().split('}').next().unwrap();
    let ended = text.replace(&format!(r#""remaining":{remaining}"#), r#""remaining":0"#);
    let to = Embedded::in_memory();
    let options = ImportOptions::default().leases(ImportLeases::Renew);
    let report = imported(&to, ended.as_bytes(), &options).await.unwrap();
    assert_eq!((report.created, report.left_out, report.leases_granted), (1, 2, 0));
}

#[tokio::test]
async fn what_is_no_whole_export_is_told_by_its_line() {
    let from = Embedded::in_memory();
    for number in 0..5 {
        put(&from, &format!("/registry/secrets/ns/{number}"), CANARY).await;
    }
    let export = String::from_utf8(exported(&from, &ExportOptions::default()).await).unwrap();
    let lines: Vec<&str> = export.lines().collect();
    let newer = lines[0].replace(r#""format":1"#, r#""format":2"#);
    let both = lines[1].replace(r#"{"key":"#, r#"{"keyBase64":"YQ==","key":"#);
    let not_base64 = lines[1].replace(r#""value":""#, r#""value":"?"#);
    for (text, line, reason) in [
        (String::new(), 1, "the export is empty"),
        ("{\"other\":1}".to_owned(), 1, "it is none of an export"),
        (format!("{}\n{{\"kv\"", lines[0]), 2, "it is no JSON"),
        (newer, 1, "the export has format 2, and this version knows 1"),
        (lines[1..].join("\n"), 1, "an export begins with"),
        (lines[..4].join("\n"), 5, "ends before its last line"),
        ([&lines[..3], &lines[4..]].concat().join("\n"), 6, "there should be 5 keys, and there were 4"),
        ([lines[0], lines[0]].join("\n"), 2, "a second export"),
        ([lines[0], &both].join("\n"), 2, "either key or keyBase64"),
        ([lines[0], &not_base64].join("\n"), 2, "value is no base64"),
    ] {
        let error =
            imported(&Embedded::in_memory(), text.as_bytes(), &ImportOptions::default()).await.unwrap_err();
        let AdminError::BadExport { line: told, .. } = &error else { panic!("{error}") };
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(*told, line, "{error}");
        assert!(!error.to_string().contains(CANARY) && !format!("{error:?}").contains("Y2FuYXJ5"));
    }
    let broken =
        stream::iter([Ok(Bytes::from(format!("{}\n", lines[0]))), Err(BoxError::from("pipe closed"))]);
    let error = import(&Embedded::in_memory(), broken, &ImportOptions::default()).await.unwrap_err();
    assert!(matches!(&error, AdminError::Input { line: 1, .. }), "{error}");
}

#[tokio::test]
async fn a_compaction_ends_an_export_unless_it_may_go_on() {
    let kv: Arc<dyn Kv> = Arc::new(Embedded::in_memory());
    for number in 0..1200 {
        put(&*kv, &format!("/registry/secrets/ns/{number:05}"), "one").await;
    }
    let old = head(&*kv).await;
    let last = get(&*kv, "/registry/secrets/ns/01199").await.unwrap();
    done(kv.optimistic_delete(DeleteRequest::new(last.key, last.mod_revision)).await.unwrap());
    kv.compact(head(&*kv).await).await.unwrap();
    let options = ExportOptions::default().at(old);
    let parts: Vec<_> = export(&*kv, "/registry", &options).collect().await;
    let error = parts.into_iter().next_back().unwrap().unwrap_err();
    assert!(
        matches!(&error, AdminError::Compacted { job: "export", revision, .. } if *revision == old.0),
        "{error}"
    );
    let going_on = options.go_on_at_newer_revisions(true);
    let text = String::from_utf8(exported(&*kv, &going_on).await).unwrap();
    let end = text.lines().next_back().unwrap();
    assert_eq!(end, format!(r#"{{"end":{{"keys":1199,"revision":{}}}}}"#, old.0 + 1));
}

#[tokio::test]
async fn lost_answers_and_large_values_do_not_stop_an_import() {
    let from = Embedded::builder().max_request_bytes(10 << 20).in_memory();
    for number in 0..20 {
        put(&from, &format!("/registry/secrets/ns/{number:02}"), format!("one {number}")).await;
    }
    put(&from, "/registry/secrets/ns/large", vec![b'x'; 2_000_000]).await;
    let export = exported(&from, &ExportOptions::default()).await;
    let to = Arc::new(Embedded::in_memory());
    let puts = AtomicUsize::new(0);
    let faulty = FaultyKv::new(Arc::clone(&to) as Arc<dyn Kv>, move |call: &Call| {
        let is_lost = call.operation == Operation::OptimisticPut
            && matches!(puts.fetch_add(1, Ordering::Relaxed), 2 | 5 | 6);
        if is_lost { Fault::lose_answer() } else { Fault::none() }
    });
    let seen = Arc::new(Mutex::new(Vec::<Progress>::new()));
    let observed = Arc::clone(&seen);
    let options =
        ImportOptions::default().on_progress(move |progress| observed.lock().unwrap().push(*progress));
    let report = imported(&faulty, &export, &options).await.unwrap();
    assert_eq!((report.seen, report.created, report.same, report.failures.total), (21, 20, 0, 1));
    assert_eq!(report.failures.first[0].cause, FailureCause::TooLarge);
    assert_eq!(report.failures.first[0].resource.to_string(), "secrets");
    assert_eq!(all(&*to).await.len(), 20);
    let last = *seen.lock().unwrap().last().unwrap();
    assert_eq!((last.done, last.total, last.written, last.failed), (21, 21, 20, 1));
    assert!(Revision(0) < head(&*to).await);
}
