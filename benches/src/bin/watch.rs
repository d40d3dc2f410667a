//! Events a second that a store's watchers take, by number of watchers and encryption: `watch [memory|etcd URL]`.
#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::{error::Error, sync::Arc, time::Instant};

use futures_util::StreamExt as _;
use kubestore::{kv::Kv, prelude::*};
use kubestore_benches::{pod, transformers};

/// Changes that each watcher takes.
const EVENTS: usize = 20_000;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let endpoint = std::env::args().nth(2);
    let kv: Arc<dyn Kv> = match &endpoint {
        Some(endpoint) => Arc::new(EtcdKv::connect([endpoint.as_str()]).await?),
        None => Arc::new(Embedded::in_memory()),
    };
    for (name, transformer) in transformers() {
        let prefix = format!("/bench-{}-{name}", std::process::id());
        let stores = Stores::builder(Arc::clone(&kv)).prefix(&prefix).transformer(transformer).build();
        let pods = stores.unstructured("pods");
        let before = pods.current_resource_version().await?.to_string();
        for number in 0..EVENTS {
            pods.create(&format!("/pods/ns/p{number}"), pod(number), CreateOptions::default()).await?;
        }
        for watchers in [1, 10, 100] {
            let started = Instant::now();
            let tasks: Vec<_> =
                (0..watchers).map(|_| tokio::spawn(take(pods.clone(), before.clone()))).collect();
            for task in tasks {
                task.await??;
            }
            let seconds = started.elapsed().as_secs_f64();
            #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
            let rate = (EVENTS * watchers) as f64 / seconds;
            println!("{name:<9} {watchers:>3} watchers: {rate:>9.0} events/s of 3 KiB JSON, {seconds:.2} s");
        }
    }
    Ok(())
}

/// Takes all changes after `version`.
async fn take(pods: Store<Unstructured>, version: String) -> Outcome<()> {
    let mut events = pods.watch("/pods", WatchOptions::recursive().with_resource_version(version)).await?;
    for _ in 0..EVENTS {
        match events.next().await {
            Some(event) => drop(event?),
            None => return Err("the watch ended".into()),
        }
    }
    Ok(())
}
