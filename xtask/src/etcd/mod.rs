//! `etcd`: finds an etcd that is new enough, or provisions one under `target/etcd-bin`, and prints its path.
//!
//! Tried in this order: the variable `KUBESTORE_ETCD`, `etcd` on the path, what an earlier run left under `target/etcd-bin`,
//! the package of the distribution (unpacked, never installed), and a build from the Go module proxy.

mod debian;
mod go;
mod server;
mod version;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

pub(crate) use self::server::Server;
use self::version::Version;
pub(crate) use self::version::Wanted;
use crate::command::{command, on_path, read, root};

/// Names an etcd to use instead of any other.
pub(crate) const VARIABLE: &str = "KUBESTORE_ETCD";

/// Runs the task with its flags.
pub(crate) fn run_task(flags: &[&str]) -> Result<()> {
    let wanted = match flags {
        [] => Wanted::default(),
        ["--version", wanted] => wanted.parse()?,
        [flag] if flag.starts_with("--version=") => flag["--version=".len()..].parse()?,
        _ => bail!("unknown flags {flags:?}; usage: cargo xtask etcd [--version 3.6]"),
    };
    println!("{}", locate(wanted)?.display());
    Ok(())
}

/// The path of an etcd of the wanted version. Runs that want one at the same time provision it once.
pub(crate) fn locate(wanted: Wanted) -> Result<PathBuf> {
    if let Some(found) = from_variable(wanted)? {
        return Ok(found);
    }
    let mut tried = Vec::new();
    if let Some(found) = noted(&mut tried, "etcd on the path", from_path(wanted)) {
        return Ok(found);
    }
    let cache = root().join("target/etcd-bin");
    let _lock = lock(&cache)?;
    if let Some(found) = noted(&mut tried, "target/etcd-bin", from_cache(&cache, wanted)) {
        return Ok(found);
    }
    type Source = fn(&Path, Wanted) -> Result<PathBuf>;
    let sources: [(&str, Source); 2] =
        [("the distribution's package", debian::fetch), ("the Go module proxy", go::build)];
    for (name, source) in sources {
        let scratch = cache.join(".scratch");
        remove(&scratch)?;
        fs::create_dir_all(&scratch).with_context(|| format!("cannot create {}", scratch.display()))?;
        let found = source(&scratch, wanted).and_then(|binary| keep(&cache, &binary, wanted));
        remove(&scratch)?;
        if let Some(found) = noted(&mut tried, name, found) {
            return Ok(found);
        }
    }
    bail!("found no {wanted}\n  {}\nInstall etcd, or set {VARIABLE} to the path of one.", tried.join("\n  "));
}

/// Keeps the reason of a failure for the last message.
fn noted(tried: &mut Vec<String>, source: &str, found: Result<PathBuf>) -> Option<PathBuf> {
    found.map_err(|error| tried.push(format!("{source}: {error:#}"))).ok()
}

/// A variable that is set must be right: falling back to another etcd would hide the mistake. Only a release that was asked for
/// by number goes past it.
fn from_variable(wanted: Wanted) -> Result<Option<PathBuf>> {
    let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) else { return Ok(None) };
    let path = std::path::absolute(path)?;
    let version = version_of(&path).with_context(|| format!("{VARIABLE} does not name a working etcd"))?;
    if wanted.accepts(version) {
        return Ok(Some(path));
    }
    if wanted == Wanted::default() {
        bail!("{VARIABLE} names etcd {version}, but {wanted} is needed");
    }
    eprintln!("etcd: {VARIABLE} names etcd {version}, not {wanted}; looking further");
    Ok(None)
}

fn from_path(wanted: Wanted) -> Result<PathBuf> {
    let path = on_path("etcd").context("none there")?;
    checked(path, wanted)
}

/// The lowest version that will do, so that a cache filled for other lines does not change what the tests run on.
fn from_cache(cache: &Path, wanted: Wanted) -> Result<PathBuf> {
    let entries = fs::read_dir(cache)?.filter_map(Result::ok);
    let mut versions: Vec<Version> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|v| wanted.accepts(*v))
        .collect();
    versions.sort_unstable();
    for version in versions {
        if let Ok(found) = checked(binary(cache, version), wanted) {
            return Ok(found);
        }
    }
    bail!("none there yet");
}

/// Moves a provisioned binary to its place in the cache in one step, so that no other run sees half of it.
fn keep(cache: &Path, found: &Path, wanted: Wanted) -> Result<PathBuf> {
    let version = version_of(found)?;
    if !wanted.accepts(version) {
        bail!("provides etcd {version}, not {wanted}");
    }
    let place = binary(cache, version);
    let folder = cache.join(version.to_string());
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    fs::rename(found, &place).with_context(|| format!("cannot move etcd to {}", place.display()))?;
    checked(place, wanted)
}

fn binary(cache: &Path, version: Version) -> PathBuf {
    cache.join(version.to_string()).join("etcd")
}

fn checked(path: PathBuf, wanted: Wanted) -> Result<PathBuf> {
    let version = version_of(&path)?;
    if !wanted.accepts(version) {
        bail!("{} is etcd {version}, not {wanted}", path.display());
    }
    Ok(path)
}

fn version_of(path: &Path) -> Result<Version> {
    let text = read(command(path).arg("--version"))?;
    version::from_output(&text).with_context(|| format!("`{} --version` names no version", path.display()))
}

/// Held while a version is looked for in the cache or provisioned into it; given back when the file is closed.
fn lock(cache: &Path) -> Result<File> {
    fs::create_dir_all(cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let path = cache.join(".lock");
    let file = File::create(&path).with_context(|| format!("cannot open {}", path.display()))?;
    if file.try_lock().is_err() {
        eprintln!("etcd: waiting for another run to finish");
        file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    }
    Ok(file)
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}
