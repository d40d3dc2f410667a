//! What is reported, and that a remote transformer may take its time.
#![cfg(feature = "aes-gcm")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use kubestore_metrics::{Event, Recorder};
use kubestore_transform::{
    Key, MaybeReady, Opened, Provider, ProviderChain, ProviderError, TransformError, TransformErrorKind,
    Transformer, ValueContext,
};

const HERE: ValueContext<'_> = ValueContext::new(b"/registry/secrets/default/token");

/// Writes down what it is told, without the times.
#[derive(Debug, Default)]
struct Lines(Mutex<Vec<String>>);

impl Recorder for Lines {
    fn record(&self, event: Event<'_>) {
        let line = match event {
            Event::Transformation { resource, direction, prefix, status, .. } => {
                let resource = resource.map_or_else(String::new, |labels| format!("{labels} "));
                format!("{resource}{} {prefix:?} {status}", direction.label())
            }
            Event::KeyWrite { provider, key } => format!("write {provider} {key}"),
            other => panic!("{other:?}"),
        };
        self.0.lock().unwrap().push(line);
    }
}

impl Lines {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn gcm(name: &str, byte: u8) -> Provider {
    Provider::aes_gcm([Key::new(name, [byte; 32]).unwrap()]).unwrap()
}

fn recorded(providers: impl IntoIterator<Item = Provider>) -> (Arc<Lines>, ProviderChain) {
    let lines = Arc::<Lines>::default();
    let chain = ProviderChain::new(providers).unwrap().with_recorder(Arc::clone(&lines) as _);
    (lines, chain)
}

#[test]
fn transformations_are_counted_as_by_kubernetes() {
    let (lines, chain) = recorded([gcm("k", 1), gcm("other", 2), Provider::identity()]);
    let write = chain.transform_to_storage("v".into(), HERE).try_now().unwrap().unwrap();
    assert_eq!(
        lines.take(),
        [r#"to_storage "k:" OK"#, "write aesgcm k", r#"to_storage "k8s:enc:aesgcm:v1:" OK"#]
    );
    let read = |stored: Bytes| chain.transform_from_storage(stored, HERE).try_now().unwrap().is_ok();

    assert!(read(write.clone()));
    assert_eq!(lines.take(), [r#"from_storage "k:" OK"#, r#"from_storage "k8s:enc:aesgcm:v1:" OK"#]);

    assert!(read("plain".into()));
    assert_eq!(lines.take(), [r#"from_storage "identity" OK"#]);

    assert!(!read(write.slice(..write.len() - 1)));
    assert_eq!(
        lines.take(),
        [
            r#"from_storage "k:" unknown-non-grpc"#,
            r#"from_storage "k8s:enc:aesgcm:v1:" unknown-non-grpc"#,
            r#"from_storage "unknown" unknown-non-grpc"#,
            r#"from_storage "k8s:enc:aesgcm:v1:" unknown-non-grpc"#,
        ]
    );

    assert!(!read("k8s:enc:aescbc:v1:k:".into()));
    assert_eq!(lines.take(), [r#"from_storage "unknown" unknown-non-grpc"#]);

    let chain = chain.for_resource("apps", "deployments");
    chain.transform_from_storage("plain".into(), HERE).try_now().unwrap().unwrap();
    assert_eq!(lines.take(), [r#"deployments.apps from_storage "identity" OK"#]);
}

#[test]
fn identity_first_writes_under_an_empty_prefix() {
    let (lines, chain) = recorded([Provider::identity(), gcm("k", 1)]);
    assert_eq!(chain.transform_to_storage("v".into(), HERE).try_now().unwrap().unwrap(), "v");
    assert_eq!(lines.take(), [r#"to_storage "" OK"#]);
}

/// Answers when asked a second time, by turning bytes around; fails on what begins with `!`.
#[derive(Debug)]
struct Remote;

struct SecondPoll(bool);

impl Future for SecondPoll {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

fn turned(bytes: &Bytes) -> Bytes {
    bytes.iter().rev().copied().collect()
}

impl Transformer for Remote {
    fn transform_from_storage<'a>(
        &'a self,
        stored: Bytes,
        _: ValueContext<'a>,
    ) -> MaybeReady<'a, Result<Opened, TransformError>> {
        MaybeReady::later(Box::pin(async move {
            SecondPoll(false).await;
            if stored.starts_with(b"!") {
                return Err(TransformError::new(TransformErrorKind::Remote).with_status_message("down"));
            }
            Ok(Opened::new(turned(&stored), false))
        }))
    }

    fn transform_to_storage<'a>(
        &'a self,
        plain: Bytes,
        _: ValueContext<'a>,
    ) -> MaybeReady<'a, Result<Bytes, TransformError>> {
        MaybeReady::later(Box::pin(async move {
            SecondPoll(false).await;
            Ok(turned(&plain))
        }))
    }

    fn output_is_unique(&self) -> bool {
        false
    }
}

/// Polls to the end; says how often that was.
fn wait<T>(future: impl Future<Output = T>) -> (T, usize) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for polls in 1..100 {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return (value, polls);
        }
    }
    panic!("never ready");
}

#[test]
fn remote_transformer_is_awaited_and_local_ones_are_not() {
    let remote = Provider::custom("k8s:enc:kms:v2:plugin:", Arc::new(Remote)).unwrap();
    let (lines, chain) = recorded([remote.clone(), gcm("k", 1), Provider::identity()]);

    let pending = chain.transform_to_storage("abc".into(), HERE).try_now().unwrap_err();
    let (stored, polls) = wait(pending);
    assert_eq!((stored.unwrap(), polls), (Bytes::from("k8s:enc:kms:v2:plugin:cba"), 2));
    assert_eq!(lines.take(), [r#"to_storage "k8s:enc:kms:v2:plugin:" OK"#]);

    let (opened, polls) = wait(chain.transform_from_storage("k8s:enc:kms:v2:plugin:cba".into(), HERE));
    assert_eq!((opened.unwrap().data, polls), (Bytes::from("abc"), 2));

    let local = ProviderChain::new([gcm("k", 1)]).unwrap();
    let stored = local.transform_to_storage("v".into(), HERE).try_now().unwrap().unwrap();
    let (opened, polls) = wait(chain.transform_from_storage(stored, HERE));
    assert_eq!((opened.unwrap().stale, polls), (true, 1));

    let twice = ProviderChain::new([remote.clone(), remote]).unwrap();
    let (failed, polls) = wait(twice.transform_from_storage("k8s:enc:kms:v2:plugin:!".into(), HERE));
    let failed = failed.unwrap_err();
    assert_eq!((failed.kind(), polls), (TransformErrorKind::Remote, 3));
    assert_eq!(failed.status_message(), "down");
    assert_eq!(failed.attempts().len(), 2);
    assert!(!twice.output_is_unique());
}

#[test]
fn prefix_of_a_custom_provider_must_be_an_envelopes() {
    for prefix in
        ["", "k8s:enc:", "k8s:enc:kms:", "k8s:enc:kms:v2", "k8s:enc::v1:", "kms:v2:", "k8s:enc:kms:v2:a"]
    {
        let error = Provider::custom(prefix, Arc::new(Remote)).unwrap_err();
        assert_eq!(error, ProviderError::BadPrefix { prefix: prefix.into() });
    }
    for prefix in ["k8s:enc:kms:v2:", "k8s:enc:kms:v2:plugin:"] {
        let provider = Provider::custom(prefix, Arc::new(Remote)).unwrap();
        assert_eq!((provider.name(), provider.prefix()), ("kms", prefix));
    }
}

/// Counts warnings, and shows what each says.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>, Arc<AtomicU64>);

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(self.1.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Text(String);
        impl tracing::field::Visit for Text {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0 += &format!("{field}={value:?} ");
            }
        }
        let mut text = Text(String::new());
        event.record(&mut text);
        self.0.lock().unwrap().push(text.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn key_that_has_written_much_is_warned_about_once() {
    let warnings = Warnings::default();
    tracing::subscriber::with_default(warnings.clone(), || {
        let providers = [gcm("k", 1).with_write_warning(Some(3))];
        let chain = ProviderChain::new(providers).unwrap();
        let silent = ProviderChain::new([gcm("silent", 1).with_write_warning(None)]).unwrap();
        for written in 1..=10 {
            for chain in [&chain, &silent] {
                chain.transform_to_storage("v".into(), HERE).try_now().unwrap().unwrap();
            }
            assert_eq!(warnings.0.lock().unwrap().len(), usize::from(written >= 3), "after {written} writes");
        }
        assert_eq!(chain.writes()[0].writes, 10);
    });
    let said = warnings.0.lock().unwrap().join("");
    for part in [r#"provider="aesgcm""#, r#"key="k""#, "writes=3", "bound=4294967296", "put a new key first"]
    {
        assert!(said.contains(part), "{part} is not in {said}");
    }
}
