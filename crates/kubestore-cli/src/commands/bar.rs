//! How far a job has come, on a terminal.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use kubestore_admin::Progress;

/// How often the text beside the bar is made.
const TICK: Duration = Duration::from_millis(100);
const TEMPLATE: &str = "{prefix} [{bar:30}] {human_pos}/{human_len} {msg}";

/// A bar on standard error; nothing if that is no terminal.
pub(super) struct Bar {
    bar: ProgressBar,
    writes: bool,
}

impl Bar {
    /// `writes` is whether the job writes.
    pub(super) fn new(writes: bool) -> Self {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { bar, writes }
    }

    /// What to tell the progress to.
    pub(super) fn observer(&self) -> impl Fn(&Progress) + Send + Sync + use<> {
        let (bar, writes, told) = (self.bar.clone(), self.writes, Mutex::new(None::<Instant>));
        move |progress| {
            if bar.is_hidden() {
                return;
            }
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.is_some_and(|told| told.elapsed() < TICK) && progress.done < progress.total {
                return;
            }
            *told = Some(Instant::now());
            bar.set_prefix(if writes { format!("pass {}", progress.pass) } else { String::new() });
            bar.set_length(progress.total.max(progress.done));
            bar.set_position(progress.done);
            bar.set_message(message(progress, writes));
        }
    }

    /// Writes something while the bar is away.
    pub(super) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn message(progress: &Progress, writes: bool) -> String {
    let mut message = String::new();
    if writes {
        message += &format!(" {} written", progress.written);
    }
    if progress.failed > 0 {
        message += &format!(" {} failed", progress.failed);
    }
    message += &format!(" {:.0}/s", progress.rate());
    match progress.remaining() {
        Some(left) => message + &format!(" {} left", HumanDuration(left)),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_text_has_rate_and_time_left() {
        let (told, hears) = std::sync::mpsc::channel();
        let kv = kubestore::embedded::Embedded::in_memory();
        let options = kubestore_admin::CensusOptions::default().on_progress(move |progress| {
            let _sent = told.send(*progress);
        });
        kubestore_admin::census(&kv, "/registry", &options).await.unwrap();
        let mut progress = hears.recv().unwrap();
        (progress.done, progress.total, progress.written, progress.elapsed) =
            (200, 1000, 150, Duration::from_secs(2));
        assert_eq!(message(&progress, true), " 150 written 100/s 8 seconds left");
        progress.failed = 3;
        assert_eq!(message(&progress, false), " 3 failed 100/s 8 seconds left");
    }
}
