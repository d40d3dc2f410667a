//! Whole operations of a store on the engine in memory.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kubestore::prelude::*;
use kubestore_benches::{key, pod, transformers};
use tokio::runtime::Runtime;

/// Objects of a list.
const OBJECTS: usize = 1_000;

fn store(c: &mut Criterion) {
    let Ok(runtime) = Runtime::new() else { unreachable!("a runtime can be had") };
    for (name, transformer) in transformers() {
        let pods =
            Stores::builder(Embedded::in_memory()).transformer(transformer).build().unstructured("pods");
        runtime.block_on(async {
            for number in 0..OBJECTS {
                let created = pods.create(&key(number), pod(number), CreateOptions::default()).await;
                assert!(created.is_ok(), "{created:?}");
            }
        });
        let mut group = c.benchmark_group(format!("memory/{name}"));
        group.measurement_time(Duration::from_secs(3));
        group.bench_function("get", |b| b.to_async(&runtime).iter(|| pods.read("/pods/ns-7/web-000007")));
        let next = AtomicUsize::new(OBJECTS * 1_000);
        group.bench_function("create", |b| {
            b.to_async(&runtime).iter(|| async {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let key = key(number).replace("/pods/", "/others/");
                pods.create(&key, pod(1), CreateOptions::default()).await
            });
        });
        group.throughput(Throughput::Elements(OBJECTS as u64));
        group.sample_size(20);
        group.bench_function("list", |b| {
            b.to_async(&runtime).iter(|| pods.get_list("/pods", ListOptions::recursive()));
        });
        let selector = || "spec.nodeName=node-7".parse().unwrap_or_default();
        group.bench_function("list 1 %", |b| {
            b.to_async(&runtime).iter(|| {
                let wanted = Predicate::new(Default::default(), selector());
                pods.get_list("/pods", ListOptions::recursive().with_predicate(wanted))
            });
        });
        group.finish();
    }
}

criterion_group!(benches, store);
criterion_main!(benches);
