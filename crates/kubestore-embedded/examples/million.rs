//! Loads, lists, watches and opens many objects, and tells what that takes in time and memory.
//!
//! `cargo run --release -p kubestore-embedded --example million -- [OBJECTS [BYTES [DIRECTORY]]]`; without a directory
//! a temporary one is made, with `memory` in its place there is none. A directory that is there already, left by an
//! earlier run, is only opened and read.

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::{error::Error, path::PathBuf, time::Instant};

use futures_util::{StreamExt, TryStreamExt, future::try_join_all, stream};
use kubestore_embedded::Embedded;
use kubestore_kv::{
    GetRequest, Kv, KvError, ListRequest, PutRequest, Revision, WatchGroup, WatchItem, WatchRequest,
    WatchTarget,
};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// Requests at the same time while loading.
const LOADING: usize = 512;
const WRITERS: usize = 32;
/// Creates of the 32 writers.
const CREATES: usize = 64_000;

fn key(number: usize) -> String {
    format!("/registry/pods/namespace-{:03}/object-{number:08}", number % 200)
}

fn value(number: usize, bytes: usize) -> Vec<u8> {
    let mut value = format!("{number:016}").into_bytes();
    value.resize(bytes, b'x');
    value
}

/// Megabytes of memory now and at most, as the system counts them.
fn memory() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    (field("VmRSS:").unwrap_or(0) / 1024, field("VmHWM:").unwrap_or(0) / 1024)
}

fn report(what: &str, count: usize, started: Instant) {
    let seconds = started.elapsed().as_secs_f64();
    let (now, most) = memory();
    #[expect(clippy::cast_precision_loss, reason = "a rate is rounded anyway")]
    let rate = count as f64 / seconds;
    println!(
        "{what:<34}{count:>9} in {seconds:>7.2} s {rate:>10.0}/s, memory {now:>5} MB, at most {most:>5} MB"
    );
}

async fn load(kv: &Embedded, objects: usize, bytes: usize) -> Result<()> {
    let puts = stream::iter(0..objects).map(|number| {
        let put = PutRequest::create(key(number), value(number, bytes));
        async move { kv.optimistic_put(put).await.map(|_| ()) }
    });
    Ok(puts.buffer_unordered(LOADING).try_for_each(|()| async { Ok(()) }).await?)
}

/// Creates by 32 tasks, each of which waits for its answer before its next one.
async fn create(kv: &Embedded, bytes: usize) -> Result<()> {
    let tasks = (0..WRITERS).map(|writer| {
        let kv = kv.clone();
        async move {
            for number in 0..CREATES / WRITERS {
                let key = format!("/registry/more/{writer:02}/{number:06}");
                kv.optimistic_put(PutRequest::create(key, value(number, bytes))).await?;
            }
            Ok::<_, KvError>(())
        }
    });
    for task in tasks.map(tokio::spawn).collect::<Vec<_>>() {
        task.await??;
    }
    Ok(())
}

async fn list(kv: &Embedded) -> Result<usize> {
    let mut chunks = kv.list_chunks(ListRequest::new("/registry/pods/"));
    let mut count = 0;
    while let Some(chunk) = chunks.next().await {
        count += chunk?.kvs.len();
    }
    Ok(count)
}

/// Reads `events` events from a revision on, in as many watches at once.
async fn watch(kv: &Embedded, from: i64, events: usize, watches: usize) -> Result<usize> {
    let target = || WatchTarget::Prefix("/registry/pods/".into());
    let all = (0..watches).map(|_| async move {
        let request = WatchRequest::new(WatchGroup::new(), target()).from(Revision(from));
        let mut watch = kv.watch(request).await?;
        let mut seen = 0;
        while seen < events {
            if let WatchItem::Events { events, .. } = watch.next().await.ok_or("the watch ended")?? {
                seen += events.len();
            }
        }
        Ok::<_, Box<dyn Error>>(seen)
    });
    Ok(try_join_all(all).await?.into_iter().sum())
}

async fn read(kv: &Embedded, objects: usize, bytes: usize) -> Result<()> {
    let started = Instant::now();
    report("list, in parts", list(kv).await?, started);
    let started = Instant::now();
    let all = kv.list(ListRequest::new("/registry/pods/")).await?.kvs;
    report("list, whole", all.len(), started);
    drop(all);
    let started = Instant::now();
    for number in (0..objects).step_by((objects / 200_000).max(1)) {
        let found = kv.get(GetRequest::new(key(number))).await?.kv.ok_or("a key is missing")?;
        if found.value != value(number, bytes) {
            return Err("a value is another one".into());
        }
    }
    report("get, one after the other", objects.min(200_000), started);
    for watches in [1, 10] {
        let started = Instant::now();
        report(
            &format!("watch from the start, {watches} at once"),
            watch(kv, 2, objects, watches).await?,
            started,
        );
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let objects = arguments.next().map_or(Ok(1_000_000), |count| count.parse())?;
    let bytes = arguments.next().map_or(Ok(1024), |bytes| bytes.parse())?;
    let directory = arguments.next().map(PathBuf::from);
    let temporary = tempfile::tempdir()?;
    let in_memory = directory.as_deref().is_some_and(|name| name == "memory");
    let directory = directory.unwrap_or_else(|| temporary.path().join("store"));

    let open = async || {
        if in_memory { Ok(Embedded::in_memory()) } else { Embedded::open(&directory).await }
    };
    if directory.exists() {
        let started = Instant::now();
        let kv = open().await?;
        report("open", usize::try_from(kv.count("".into()).await?)?, started);
        read(&kv, objects, bytes).await?;
        kv.close().await;
        return Ok(());
    }
    let kv = open().await?;
    let started = Instant::now();
    load(&kv, objects, bytes).await?;
    report("load, 512 at once", objects, started);
    read(&kv, objects, bytes).await?;
    let started = Instant::now();
    create(&kv, bytes).await?;
    report("create, 32 writers", CREATES, started);
    if in_memory {
        return Ok(());
    }
    println!("{} MB on disk", kv.status().await?.db_size.unwrap_or(0) >> 20);
    let started = Instant::now();
    kv.close().await;
    drop(kv);
    report("close", 1, started);
    Ok(())
}
