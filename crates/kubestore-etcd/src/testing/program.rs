//! Which etcd the tests use.

use std::{
    env, io,
    path::{Path, PathBuf},
};

/// The one that the variable `KUBESTORE_ETCD` names, else `etcd` on the path, else the newest 3.5 of the cache.
pub(super) fn find_program() -> io::Result<PathBuf> {
    if let Some(named) = env::var_os("KUBESTORE_ETCD") {
        return Ok(named.into());
    }
    let on_path = env::var_os("PATH").and_then(|path| {
        env::split_paths(&path).map(|folder| folder.join("etcd")).find(|program| program.is_file())
    });
    on_path.or_else(newest_in_cache).ok_or_else(|| {
        let message = "these tests need an etcd: run `cargo xtask test`, which provides one, or name one in the \
                       variable KUBESTORE_ETCD";
        io::Error::new(io::ErrorKind::NotFound, message)
    })
}

/// Of those that `cargo xtask etcd` keeps, one folder a version: the newest 3.5, which it gives unless asked for another,
/// else the newest.
fn newest_in_cache() -> Option<PathBuf> {
    let cache = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/etcd-bin");
    let numbers = |path: &Path| -> Vec<u64> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.split('.').map(|part| part.parse().unwrap_or(0)).collect()
    };
    let folders = std::fs::read_dir(cache).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let newest = folders.filter(|folder| folder.join("etcd").is_file()).max_by_key(|folder| {
        let version = numbers(folder);
        (version.starts_with(&[3, 5]), version)
    })?;
    Some(newest.join("etcd"))
}
