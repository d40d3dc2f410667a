//! The workloads of watches.

use std::{
    io::{Read as _, Write as _},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::StreamExt as _;
use tokio::task::JoinSet;

use crate::{
    Outcome,
    arguments::{Arguments, BackendKind, Work, word},
    backend::Backend,
    stored::Encoded,
    work::Bench,
};

/// Watches are in place by then.
const SETTLED: Duration = Duration::from_millis(300);

/// Everything has happened before the watches begin.
pub(crate) async fn replay(bench: &Bench) -> Outcome<()> {
    let from = bench.backend.head().await?;
    write(&bench.backend, &bench.encoded, &bench.arguments).await?;
    for watchers in bench.arguments.watchers.iter().copied() {
        let meter = bench.meter(Work::WatchReplay, watchers)?;
        let began = Instant::now();
        let seen = watch(bench, watchers, from).await?;
        // From the start of the watches: a whole backlog can come in one answer.
        meter.stop_after(last(&seen).duration_since(began), watchers, watchers * bench.arguments.mods)?;
    }
    Ok(())
}

/// Another process writes while the watchers watch; with an engine in this process it is a task.
pub(crate) async fn live(bench: &Bench) -> Outcome<()> {
    for watchers in bench.arguments.watchers.iter().copied() {
        let from = bench.backend.head().await?;
        let writer = match bench.arguments.backend {
            BackendKind::Etcd => Some(Writer::start(&bench.arguments)?),
            _ => None,
        };
        let mut meter = bench.meter(Work::WatchLive, watchers)?;
        let writing = async {
            tokio::time::sleep(SETTLED).await;
            match writer {
                Some(writer) => tokio::task::spawn_blocking(|| writer.write()).await?,
                None => write(&bench.backend, &bench.encoded, &bench.arguments).await,
            }
        };
        let (seen, written) = tokio::join!(watch(bench, watchers, from), writing);
        written?;
        let seen = seen?;
        if bench.arguments.backend != BackendKind::Etcd {
            meter.note("the CPU time is that of the writer too".to_owned());
        }
        let first = seen.iter().map(|seen| seen.0).min().unwrap_or_else(Instant::now);
        meter.stop_after(last(&seen).duration_since(first), watchers, watchers * bench.arguments.mods)?;
    }
    Ok(())
}

fn last(seen: &[(Instant, Instant)]) -> Instant {
    seen.iter().map(|seen| seen.1).max().unwrap_or_else(Instant::now)
}

/// When each of the watchers saw its first and its last event.
async fn watch(bench: &Bench, watchers: usize, from: i64) -> Outcome<Vec<(Instant, Instant)>> {
    let (mut tasks, mods) = (JoinSet::new(), bench.arguments.mods);
    for _ in 0..watchers {
        let side = Arc::clone(&bench.side);
        tasks.spawn(async move {
            let mut events = side.watch(from).await?;
            let (mut count, mut first) = (0, None);
            while let Some(more) = events.next().await {
                count += more?;
                let now = Instant::now();
                if count > 0 {
                    first.get_or_insert(now);
                }
                if count >= mods {
                    return Ok::<_, Box<dyn std::error::Error + Send + Sync>>((first.unwrap_or(now), now));
                }
            }
            Err("the watch ended".into())
        });
    }
    let mut seen = Vec::new();
    while let Some(times) = tasks.join_next().await {
        seen.push(times??);
    }
    Ok(seen)
}

/// Changes objects, as fast as it goes.
async fn write(backend: &Backend, encoded: &Encoded, arguments: &Arguments) -> Outcome<()> {
    backend.put_all(encoded.pairs(arguments.mods), arguments.batch).await
}

/// The process of a [`Writer`]: says that it is ready, and waits to be told.
pub(crate) async fn write_when_told(
    backend: &Backend,
    encoded: &Encoded,
    arguments: &Arguments,
) -> Outcome<()> {
    println!("ready");
    std::io::stdin().read_exact(&mut [0])?;
    write(backend, encoded, arguments).await
}

/// This program again, as a process that writes.
struct Writer(Child);

impl Writer {
    fn start(arguments: &Arguments) -> Outcome<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let options = [
            ("--endpoint", arguments.endpoint.clone()),
            ("--prefix", arguments.prefix.clone()),
            ("--objects", arguments.objects.to_string()),
            ("--mods", arguments.mods.to_string()),
            ("--batch", arguments.batch.to_string()),
            ("--codec", word(&arguments.codec)),
            ("--transformer", word(&arguments.transformer)),
        ];
        for (option, value) in options {
            command.args([option, &value]);
        }
        let mut child = command.arg("--writer").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.as_mut().ok_or("the writer has no output")?;
        stdout.read_exact(&mut [0])?;
        Ok(Self(child))
    }

    /// Tells it to write, and waits until it has.
    fn write(mut self) -> Outcome<()> {
        self.0.stdin.take().ok_or("the writer has no input")?.write_all(b"g")?;
        let status = self.0.wait()?;
        if status.success() { Ok(()) } else { Err(format!("the writer ended with {status}").into()) }
    }
}
