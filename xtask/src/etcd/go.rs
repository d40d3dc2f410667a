//! etcd built from its Go modules. The server's module names its neighbours by path in `replace` lines, which `go install` refuses; a
//! module of our own that imports etcd's entry point gets the published neighbours instead.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::version::{Version, Wanted};
use crate::command::{command, on_path, read, run_aside};

const MODULE: &str = "go.etcd.io/etcd/server/v3";

const MAIN: &str = r#"package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
"#;

/// How many releases are tried, from the newest on, before giving up.
const ATTEMPTS: usize = 3;

/// The path of a freshly built etcd.
pub(super) fn build(scratch: &Path, wanted: Wanted) -> Result<PathBuf> {
    on_path("go").context("no go on this machine")?;
    let mut failures = Vec::new();
    for version in candidates(scratch, wanted)?.into_iter().take(ATTEMPTS) {
        match build_release(scratch, version) {
            Ok(binary) => return Ok(binary),
            Err(error) => failures.push(format!("{error:#}")),
        }
    }
    if failures.is_empty() {
        bail!("the module proxy has no {wanted}");
    }
    bail!("{}", failures.join("; "));
}

/// The releases to try, best first.
fn candidates(scratch: &Path, wanted: Wanted) -> Result<Vec<Version>> {
    if let Wanted::Release(release) = wanted {
        return Ok(vec![release]);
    }
    // Asked for anything, take the oldest line, which is what the tests are first of all run on.
    let wanted = if wanted == Wanted::Supported { Wanted::Line(3, 5) } else { wanted };
    let list = read(command("go").current_dir(scratch).args(["list", "-m", "-versions", MODULE]))?;
    Ok(releases(&list, wanted))
}

/// The accepted versions in the output of `go list -m -versions`, newest first; pre-releases are not among them.
fn releases(list: &str, wanted: Wanted) -> Vec<Version> {
    let versions = list.split_whitespace().filter_map(|word| word.strip_prefix('v')?.parse().ok());
    let mut versions: Vec<Version> = versions.filter(|version| wanted.accepts(*version)).collect();
    versions.sort_unstable();
    versions.reverse();
    versions
}

fn build_release(scratch: &Path, version: Version) -> Result<PathBuf> {
    let folder = scratch.join(version.to_string());
    fs::create_dir_all(&folder)?;
    fs::write(
        folder.join("go.mod"),
        format!("module etcd-build\n\ngo 1.21\n\nrequire {MODULE} v{version}\n"),
    )?;
    fs::write(folder.join("main.go"), MAIN)?;
    eprintln!("etcd: building {version}, which takes a minute or two");
    let mut go = command("go");
    go.current_dir(&folder).env("CGO_ENABLED", "0").env("GOFLAGS", "-mod=mod").env("GOWORK", "off");
    run_aside(go.args(["build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", "etcd", "."]))
        .with_context(|| format!("etcd {version} does not build"))?;
    Ok(folder.join("etcd"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_of_a_line_are_listed_newest_first_without_previews() {
        let list = "go.etcd.io/etcd/server/v3 v3.5.9 v3.5.13 v3.6.0-rc.1 v3.6.9 v3.6.10 v3.7.0-beta.0\n";
        let names = |wanted: &str| -> Vec<String> {
            releases(list, wanted.parse().unwrap()).iter().map(Version::to_string).collect()
        };
        assert_eq!(names("3.6"), ["3.6.10", "3.6.9"]);
        assert_eq!(names("3.5"), ["3.5.13"]);
        assert_eq!(names("3.7"), Vec::<String>::new());
    }
}
