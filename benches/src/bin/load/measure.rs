//! Time, CPU and memory of a workload, as one JSON line.

use std::{fs, time::Duration, time::Instant};

use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeValLike as _,
};
use serde::Serialize;

use crate::{
    Outcome,
    arguments::{Arguments, Impl, word},
};

/// One line. A field that does not apply is left out.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Line {
    work: String,
    r#impl: String,
    object: String,
    codec: String,
    transformer: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    etcd: String,
    conc: usize,
    round: usize,
    /// Calls.
    ops: usize,
    /// Objects or events.
    items: usize,
    wall_s: f64,
    ops_per_s: f64,
    items_per_s: f64,
    p50_us: f64,
    p99_us: f64,
    /// User and system time of this process.
    cpu_s: f64,
    cpu_us_item: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    etcd_cpu_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    etcd_cpu_us_item: Option<f64>,
    peak_rss_mb: f64,
    /// What the peak was above what was there before.
    grown_mb: f64,
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
}

/// A workload under way.
pub(crate) struct Meter {
    line: Line,
    etcd_pid: Option<u32>,
    began: Instant,
    cpu: Duration,
    etcd_cpu: Option<Duration>,
    rss_kb: u64,
    /// How long each call took.
    pub(crate) latencies: Vec<Duration>,
}

impl Meter {
    /// Begins to measure.
    pub(crate) fn start(work: &str, conc: usize, round: usize, arguments: &Arguments) -> Outcome<Self> {
        let object = match arguments.r#impl {
            Impl::Store => word(&arguments.object),
            Impl::Raw => "bytes".to_owned(),
        };
        let line = Line {
            work: work.to_owned(),
            r#impl: word(&arguments.r#impl),
            object,
            codec: word(&arguments.codec),
            transformer: word(&arguments.transformer),
            etcd: if arguments.etcd.is_empty() { word(&arguments.backend) } else { arguments.etcd.clone() },
            conc,
            round: arguments.first_round + round,
            ..Line::default()
        };
        // The peak begins anew.
        fs::write("/proc/self/clear_refs", "5")?;
        Ok(Self {
            line,
            etcd_pid: arguments.etcd_pid,
            rss_kb: memory_kb("VmRSS:")?,
            latencies: Vec::new(),
            etcd_cpu: arguments.etcd_pid.map(cpu_of).transpose()?,
            cpu: cpu()?,
            began: Instant::now(),
        })
    }

    pub(crate) fn note(&mut self, note: String) {
        self.line.note = note;
    }

    /// Prints the line of `ops` calls that handled `items` things.
    pub(crate) fn stop(self, ops: usize, items: usize) -> Outcome<()> {
        let wall = self.began.elapsed();
        self.stop_after(wall, ops, items)
    }

    /// As [`stop`](Self::stop) of what took `wall`.
    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    pub(crate) fn stop_after(mut self, wall: Duration, ops: usize, items: usize) -> Outcome<()> {
        let cpu = (cpu()? - self.cpu).as_secs_f64();
        let etcd_cpu = match (self.etcd_pid, self.etcd_cpu) {
            (Some(pid), Some(before)) => Some(cpu_of(pid)?.saturating_sub(before).as_secs_f64()),
            _ => None,
        };
        let line = &mut self.line;
        let peak_kb = memory_kb("VmHWM:")?;
        (line.ops, line.items, line.wall_s) = (ops, items, wall.as_secs_f64());
        (line.ops_per_s, line.items_per_s) = (ops as f64 / line.wall_s, items as f64 / line.wall_s);
        (line.cpu_s, line.cpu_us_item) = (cpu, cpu * 1e6 / items as f64);
        (line.etcd_cpu_s, line.etcd_cpu_us_item) = (etcd_cpu, etcd_cpu.map(|cpu| cpu * 1e6 / items as f64));
        line.peak_rss_mb = peak_kb as f64 / 1024.0;
        line.grown_mb = peak_kb.saturating_sub(self.rss_kb) as f64 / 1024.0;
        self.latencies.sort_unstable();
        let at = |rank: usize| {
            let latency = self.latencies.get(rank).copied().unwrap_or_default();
            latency.as_secs_f64() * 1e6
        };
        (line.p50_us, line.p99_us) = (at(self.latencies.len() / 2), at(self.latencies.len() * 99 / 100));
        println!("{}", serde_json::to_string(line)?);
        Ok(())
    }
}

/// CPU time of this process.
fn cpu() -> Outcome<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(micros.unsigned_abs()))
}

/// CPU time of another process, in steps of 10 ms.
fn cpu_of(pid: u32) -> Outcome<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name, in parentheses, may have spaces in it.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks = fields.skip(11).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    Ok(Duration::from_millis(ticks * 10))
}

fn memory_kb(field: &str) -> Outcome<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let value = status.lines().find_map(|line| line.strip_prefix(field));
    Ok(value.and_then(|value| value.split_whitespace().next()).unwrap_or("0").parse()?)
}
