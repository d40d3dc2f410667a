//! AES-256-GCM by engine and size: the provider `aesgcm`, the same job done by `ring` and by `aws-lc-rs`, and
//! `openssl speed` where that command exists.
#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::{
    error::Error,
    fs,
    hint::black_box,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use bytes::Buf as _;
use kubestore::transform::{Transformer, ValueContext};
use kubestore_benches::{Bytes, transformers};

const SIZES: [usize; 4] = [1 << 10, 4 << 10, 16 << 10, 64 << 10];

/// A round is short, so that on a busy machine most of them run without being interrupted; their median is told.
const ROUNDS: usize = 401;
const BYTES_A_ROUND: usize = 256 << 10;

const KEY: [u8; 32] = [7; 32];
const HEADER: &[u8] = b"k8s:enc:aesgcm:v1:key1:";
const ETCD_KEY: &[u8] = b"/registry/secrets/default/token";
const NONCE: usize = 12;
const TAG: usize = 16;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Does what the provider does: a random nonce from the system, header, nonce, value and tag in one allocation; opening in
/// place.
trait Engine {
    fn seal(&self, plain: &Bytes) -> Outcome<Bytes>;
    fn open(&self, stored: Bytes) -> Outcome<Bytes>;
}

struct Ours<T>(T);

impl<T: Transformer> Engine for Ours<T> {
    fn seal(&self, plain: &Bytes) -> Outcome<Bytes> {
        let context = ValueContext::new(ETCD_KEY);
        Ok(self.0.transform_to_storage(plain.clone(), context).try_now().map_err(|_| "it waits")??)
    }

    fn open(&self, stored: Bytes) -> Outcome<Bytes> {
        let context = ValueContext::new(ETCD_KEY);
        Ok(self.0.transform_from_storage(stored, context).try_now().map_err(|_| "it waits")??.data)
    }
}

/// `ring` and `aws-lc-rs` have the same names in them.
macro_rules! direct {
    ($name:ident, $library:ident) => {
        struct $name($library::aead::LessSafeKey);

        impl $name {
            fn new() -> Outcome<Self> {
                let key = $library::aead::UnboundKey::new(&$library::aead::AES_256_GCM, &KEY)?;
                Ok(Self($library::aead::LessSafeKey::new(key)))
            }
        }

        impl Engine for $name {
            fn seal(&self, plain: &Bytes) -> Outcome<Bytes> {
                let mut nonce = [0; NONCE];
                getrandom::fill(&mut nonce)?;
                let mut out = Vec::with_capacity(HEADER.len() + NONCE + plain.len() + TAG);
                out.extend_from_slice(HEADER);
                out.extend_from_slice(&nonce);
                out.extend_from_slice(plain);
                let nonce = $library::aead::Nonce::assume_unique_for_key(nonce);
                let text = &mut out[HEADER.len() + NONCE..];
                let authenticated = $library::aead::Aad::from(ETCD_KEY);
                let tag = self.0.seal_in_place_separate_tag(nonce, authenticated, text)?;
                out.extend_from_slice(tag.as_ref());
                Ok(out.into())
            }

            fn open(&self, stored: Bytes) -> Outcome<Bytes> {
                let mut stored = stored.try_into_mut().map_err(|_| "the buffer is shared")?;
                let (front, text) = stored.split_at_mut(HEADER.len() + NONCE);
                let nonce = front[HEADER.len()..].try_into()?;
                let nonce = $library::aead::Nonce::assume_unique_for_key(nonce);
                self.0.open_in_place(nonce, $library::aead::Aad::from(ETCD_KEY), text)?;
                stored.truncate(stored.len() - TAG);
                stored.advance(HEADER.len() + NONCE);
                Ok(stored.freeze())
            }
        }
    };
}

direct!(Ring, ring);
direct!(AwsLc, aws_lc_rs);

fn main() -> Outcome<()> {
    let [_, (_, ours)] = transformers();
    let built_on = if cfg!(feature = "aws-lc-rs") { "aws-lc-rs" } else { "aes-gcm" };
    let ours_name = format!("kubestore on {built_on}");
    let engines: [(&str, &dyn Engine); 3] =
        [(&ours_name, &Ours(ours)), ("ring", &Ring::new()?), ("aws-lc-rs", &AwsLc::new()?)];
    agree(&engines)?;
    println!("medians of {ROUNDS} short rounds, MB/s; in brackets, how often as fast as the first");
    println!("load before: {}", load());
    for (direction, measure) in [("seal", seal as Measure), ("open", open)] {
        println!("\n{:<24}{}", direction, SIZES.map(|size| format!("{:>9} KiB    ", size >> 10)).concat());
        let columns = SIZES.map(|size| medians(&engines, size, measure));
        let columns = columns.into_iter().collect::<Outcome<Vec<_>>>()?;
        for (number, (name, _)) in engines.iter().enumerate() {
            let row = columns.iter().map(|column| (column[number], column[number] / column[0]));
            println!("{name:<24}{}", row.map(cell).collect::<String>());
        }
        let row = SIZES.iter().zip(&columns).map(|(&size, column)| {
            openssl(size, direction)
                .map_or_else(|| format!("{:>17}", "–"), |speed| cell((speed, speed / column[0])))
        });
        println!("{:<24}{}", "openssl speed", row.collect::<String>());
    }
    println!("\nload after: {}", load());
    Ok(())
}

/// Sees that every engine opens what every other seals.
fn agree(engines: &[(&str, &dyn Engine)]) -> Outcome<()> {
    let plain = value(5000);
    for (name, engine) in engines {
        for (other_name, other) in engines {
            if other.open(engine.seal(&plain)?)? != plain {
                return Err(format!("{other_name} does not open what {name} seals").into());
            }
        }
    }
    Ok(())
}

type Measure = fn(&dyn Engine, &Bytes, usize) -> Outcome<Duration>;

/// Megabytes a second of each engine; they take turns.
fn medians(engines: &[(&str, &dyn Engine)], size: usize, measure: Measure) -> Outcome<Vec<f64>> {
    let (plain, times) = (value(size), BYTES_A_ROUND / size);
    let mut rounds = vec![Vec::with_capacity(ROUNDS); engines.len()];
    for _ in 0..ROUNDS {
        for ((_, engine), rounds) in engines.iter().zip(&mut rounds) {
            rounds.push(measure(*engine, &plain, times)?);
        }
    }
    Ok(rounds.iter_mut().map(|rounds| speed(size * times, median(rounds))).collect())
}

fn median(rounds: &mut [Duration]) -> Duration {
    rounds.sort_unstable();
    rounds[rounds.len() / 2]
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn speed(bytes: usize, took: Duration) -> f64 {
    bytes as f64 / took.as_secs_f64() / 1e6
}

fn seal(engine: &dyn Engine, plain: &Bytes, times: usize) -> Outcome<Duration> {
    let started = Instant::now();
    for _ in 0..times {
        black_box(engine.seal(black_box(plain))?);
    }
    Ok(started.elapsed())
}

fn open(engine: &dyn Engine, plain: &Bytes, times: usize) -> Outcome<Duration> {
    let stored = (0..times).map(|_| engine.seal(plain)).collect::<Outcome<Vec<_>>>()?;
    let started = Instant::now();
    for stored in stored {
        black_box(engine.open(black_box(stored))?);
    }
    Ok(started.elapsed())
}

/// The bare cipher: `openssl speed` reuses one buffer, and takes no nonce for each.
fn openssl(size: usize, direction: &str) -> Option<f64> {
    let size = size.to_string();
    let mut command = Command::new("openssl");
    command.args(["speed", "-evp", "aes-256-gcm", "-seconds", "1", "-bytes", &size]);
    if direction == "open" {
        command.args(["-aead", "-decrypt"]);
    }
    let output = command.stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // The last line is the algorithm, and thousands of bytes a second with a k behind them.
    let thousands: f64 = text.lines().last()?.split_whitespace().last()?.strip_suffix('k')?.parse().ok()?;
    Some(thousands / 1e3)
}

fn cell((speed, ratio): (f64, f64)) -> String {
    format!("{speed:>9.0} ({ratio:>4.1}) ")
}

/// Bytes that are not all alike.
fn value(size: usize) -> Bytes {
    (0..=255).cycle().take(size).collect()
}

/// How many processes want to run, where the system tells.
fn load() -> String {
    fs::read_to_string("/proc/loadavg").map_or_else(|_| "unknown".to_owned(), |load| load.trim().to_owned())
}
