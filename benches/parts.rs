//! The parts of an operation on a Pod of 4 KiB: encoding, decoding, skimming, sealing, opening.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use kubestore::{
    codec::UnstructuredCodec,
    core::{Codec as _, Predicate},
    transform::{Transformer as _, ValueContext},
};
use kubestore_benches::{key, pod, transformers};

fn codec(c: &mut Criterion) {
    let pod = pod(1);
    let Ok(data) = UnstructuredCodec.encode(&pod) else { unreachable!("the Pod has a kind") };
    let mut group = c.benchmark_group("json");
    group.throughput(Throughput::Bytes(data.len() as u64));
    group.bench_function("encode", |b| b.iter(|| UnstructuredCodec.encode(black_box(&pod))));
    group.bench_function("decode", |b| b.iter(|| UnstructuredCodec.decode(black_box(data.clone()))));
    let Ok(fields) = "spec.nodeName=node-1".parse() else { unreachable!("the selector is a good one") };
    let wanted = Predicate::new(Default::default(), fields).wanted();
    group.bench_function("skim", |b| b.iter(|| UnstructuredCodec.skim(black_box(&data), &wanted).is_ok()));
    group.finish();
}

fn transform(c: &mut Criterion) {
    let Ok(data) = UnstructuredCodec.encode(&pod(1)) else { unreachable!("the Pod has a kind") };
    let key = format!("/registry{}", key(1));
    let context = ValueContext::new(key.as_bytes());
    for (name, transformer) in transformers() {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Bytes(data.len() as u64));
        let seal = || transformer.transform_to_storage(data.clone(), context).try_now();
        group.bench_function("seal", |b| b.iter(|| black_box(seal()).is_ok()));
        let Ok(Ok(sealed)) = seal() else { unreachable!("local ciphers answer at once") };
        group.bench_function("open", |b| {
            let copy = || bytes_of(&sealed);
            b.iter_batched(
                copy,
                |sealed| transformer.transform_from_storage(sealed, context).try_now().is_ok(),
                BatchSize::SmallInput,
            );
        });
        group.finish();
    }
}

/// The same bytes in a buffer of their own, as they come from the wire.
fn bytes_of(bytes: &[u8]) -> kubestore_benches::Bytes {
    kubestore_benches::Bytes::copy_from_slice(bytes)
}

criterion_group!(benches, codec, transform);
criterion_main!(benches);
