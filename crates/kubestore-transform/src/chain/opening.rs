//! Trying the providers in turn.

use std::mem;

use bytes::Bytes;

use super::Probe;
use crate::{
    ENVELOPE_PREFIX, MaybeReady, Opened, Provider, TransformError, TransformErrorKind, ValueContext,
};

type Answer = Result<Opened, TransformError>;

/// One value on its way through the providers. It runs without a future as long as the providers answer at once.
#[derive(Debug)]
pub(super) struct Opening<'a> {
    providers: &'a [Provider],
    /// Given away once the last provider that takes it is asked, so that this one can work in place.
    stored: Bytes,
    context: ValueContext<'a>,
    probe: Probe<'a>,
    /// The provider to ask next.
    next: Option<usize>,
    errors: Vec<TransformError>,
}

impl<'a> Opening<'a> {
    pub(super) fn new(
        providers: &'a [Provider],
        stored: Bytes,
        context: ValueContext<'a>,
        probe: Probe<'a>,
    ) -> Self {
        let next = first_taker(providers, 0, &stored);
        Self { providers, stored, context, probe, next, errors: Vec::new() }
    }

    pub(super) fn run(mut self) -> MaybeReady<'a, Answer> {
        while let Some((number, attempt)) = self.ask_next() {
            match attempt.try_now() {
                Ok(answer) => {
                    if let Some(opened) = self.settle(number, answer) {
                        return MaybeReady::ready(Ok(opened));
                    }
                }
                Err(pending) => return MaybeReady::later(Box::pin(self.run_later(number, pending))),
            }
        }
        MaybeReady::ready(Err(self.failed()))
    }

    async fn run_later(mut self, number: usize, pending: MaybeReady<'a, Answer>) -> Answer {
        let answer = pending.await;
        if let Some(opened) = self.settle(number, answer) {
            return Ok(opened);
        }
        while let Some((number, attempt)) = self.ask_next() {
            let answer = attempt.await;
            if let Some(opened) = self.settle(number, answer) {
                return Ok(opened);
            }
        }
        Err(self.failed())
    }

    fn ask_next(&mut self) -> Option<(usize, MaybeReady<'a, Answer>)> {
        let number = self.next?;
        self.next = first_taker(self.providers, number + 1, &self.stored);
        let stored = if self.next.is_none() { mem::take(&mut self.stored) } else { self.stored.clone() };
        Some((number, self.providers[number].open(stored, self.context, self.probe)))
    }

    /// The opened value, or nothing if the next provider is to be asked.
    fn settle(&mut self, number: usize, answer: Answer) -> Option<Opened> {
        let provider = &self.providers[number];
        let prefix = if provider.is_identity() { provider.name() } else { provider.prefix() };
        self.probe.record(prefix, answer.is_ok());
        match answer {
            Ok(opened) => Some(Opened::new(opened.data, opened.stale || number != 0)),
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    fn failed(self) -> TransformError {
        if !self.errors.is_empty() {
            return TransformError::all(self.errors);
        }
        self.probe.record_unknown();
        let kind = if !self.stored.starts_with(ENVELOPE_PREFIX) {
            TransformErrorKind::NotEncrypted
        } else if self.providers.iter().all(Provider::is_identity) {
            TransformErrorKind::EncryptedButIdentity
        } else {
            TransformErrorKind::NoMatchingPrefix
        };
        TransformError::new(kind)
            .found_in(&self.stored)
            .with_tried(self.providers.iter().map(Provider::name))
            .with_status_message("no matching prefix found")
    }
}

fn first_taker(providers: &[Provider], from: usize, stored: &[u8]) -> Option<usize> {
    (from..providers.len()).find(|&number| providers[number].takes(stored))
}
