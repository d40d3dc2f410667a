//! etcd from Debian's unstable suite, unpacked and not installed. A configuration of apt of its own in the scratch folder leaves the
//! machine's lists and packages alone and needs no rights; the mirror is the one the machine is set up with.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::version::{Version, Wanted};
use crate::command::{command, on_path, read, run_aside};

/// Where Debian's own keys are; without that file apt uses the keys it trusts anyway.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// The path of an unpacked etcd.
pub(super) fn fetch(scratch: &Path, wanted: Wanted) -> Result<PathBuf> {
    for tool in ["apt-get", "dpkg"] {
        on_path(tool).with_context(|| format!("no {tool} on this machine"))?;
    }
    let mirrors = mirrors(&sources(Path::new("/etc/apt")));
    let mut failures = Vec::new();
    for mirror in &mirrors {
        match fetch_from(mirror, scratch, wanted) {
            Ok(binary) => return Ok(binary),
            Err(error) => failures.push(format!("{error:#}")),
        }
    }
    if failures.is_empty() {
        bail!("apt is set up with no mirror");
    }
    bail!("{}", failures.join("; "));
}

fn fetch_from(mirror: &str, scratch: &Path, wanted: Wanted) -> Result<PathBuf> {
    let configuration = configure(mirror, scratch)?;
    let apt = |arguments: &[&str]| -> Command {
        let mut apt = command("apt-get");
        apt.current_dir(scratch).arg("--config-file").arg(&configuration).arg("--quiet").args(arguments);
        apt
    };
    run_aside(&mut apt(&["update"])).context("apt cannot read the list of the unstable suite")?;
    let offered =
        read(&mut apt(&["download", "--print-uris", "etcd-server"])).context("no package etcd-server")?;
    if let Some(version) = version_of_package(&offered).filter(|version| !wanted.accepts(*version)) {
        bail!("the unstable suite has etcd {version}");
    }
    run_aside(&mut apt(&["download", "etcd-server"])).context("apt cannot fetch the package etcd-server")?;
    let package = fs::read_dir(scratch)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .context("apt left no package")?;
    let unpacked = scratch.join("unpacked");
    run_aside(command("dpkg").arg("--extract").arg(package).arg(&unpacked))?;
    Ok(unpacked.join("usr/bin/etcd"))
}

/// The version in a line as `'http://…' etcd-server_3.5.30-2_amd64.deb 12 SHA256:…`, with an epoch and the packaging left out.
fn version_of_package(offered: &str) -> Option<Version> {
    let file = offered.split_whitespace().find_map(|word| word.strip_prefix("etcd-server_"))?;
    let version = file.split('_').next()?;
    let version = version.rsplit_once("%3a").map_or(version, |split| split.1);
    version.split(['-', '+', '~']).next()?.parse().ok()
}

/// Writes a configuration whose folders are all in the scratch folder. It is read after the machine's own, so that a proxy set
/// there stays in force; hooks set there are cleared, since they are about the machine's packages.
fn configure(mirror: &str, scratch: &Path) -> Result<PathBuf> {
    for folder in ["state/lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(scratch.join(folder))?;
    }
    let option = if Path::new(KEYRING).exists() { format!("[signed-by={KEYRING}] ") } else { String::new() };
    let sources = scratch.join("sources.list");
    fs::write(&sources, format!("deb {option}{mirror} sid main\n"))?;
    let status = scratch.join("state/status");
    fs::write(&status, "")?;
    let mut text = String::new();
    for hook in ["APT::Update::Pre-Invoke", "APT::Update::Post-Invoke", "APT::Update::Post-Invoke-Success"] {
        writeln!(text, "#clear {hook};")?;
    }
    for (key, value) in [
        ("Dir::State", scratch.join("state").as_path()),
        ("Dir::State::status", &status),
        ("Dir::Cache", &scratch.join("cache")),
        ("Dir::Etc::sourcelist", &sources),
        ("Dir::Etc::sourceparts", Path::new("/dev/null")),
        ("Acquire::Languages", Path::new("none")),
        ("Acquire::IndexTargets::deb::DEP-11::DefaultEnabled", Path::new("false")),
        ("APT::Sandbox::User", Path::new("root")),
    ] {
        writeln!(text, "{key} \"{}\";", value.display())?;
    }
    let path = scratch.join("apt.conf");
    fs::write(&path, text)?;
    Ok(path)
}

/// The text of the files that say where apt fetches from.
fn sources(folder: &Path) -> String {
    let mut files = vec![folder.join("sources.list")];
    let parts = fs::read_dir(folder.join("sources.list.d")).into_iter().flatten().filter_map(Result::ok);
    files.extend(parts.map(|entry| entry.path()).filter(|path| {
        path.extension().is_some_and(|extension| extension == "sources" || extension == "list")
    }));
    files.sort();
    files.iter().filter_map(|file| fs::read_to_string(file).ok()).collect::<Vec<_>>().join("\n")
}

/// The archives named there, each once, without those that hold only security updates.
fn mirrors(sources: &str) -> Vec<String> {
    let mut mirrors: Vec<String> = Vec::new();
    for line in sources.lines().map(str::trim) {
        let uris = match line.split_once(char::is_whitespace) {
            Some((key, uris)) if key.eq_ignore_ascii_case("uris:") => uris,
            Some(("deb", entry)) => {
                let entry = entry.trim();
                let entry = if entry.starts_with('[') {
                    entry.split_once(']').map_or("", |split| split.1)
                } else {
                    entry
                };
                entry.split_whitespace().next().unwrap_or("")
            }
            _ => continue,
        };
        for uri in uris.split_whitespace().map(|uri| uri.trim_end_matches('/')) {
            if !uri.ends_with("-security") && !mirrors.iter().any(|mirror| mirror == uri) {
                mirrors.push(uri.to_owned());
            }
        }
    }
    mirrors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_come_from_both_forms_of_source_files() {
        let sources = "Types: deb\nURIs: http://mirror.example/debian/\nSuites: stable\n\n\
            deb [arch=amd64 signed-by=/x] https://other.example/debian stable main\n\
            # deb http://commented.example/debian stable main\n\
            deb-src http://source.example/debian stable main\n\
            deb http://mirror.example/debian stable-updates main\n\
            URIs: http://mirror.example/debian-security\n";
        assert_eq!(mirrors(sources), ["http://mirror.example/debian", "https://other.example/debian"]);
    }

    #[test]
    fn no_sources_give_no_mirror() {
        assert_eq!(mirrors(""), Vec::<String>::new());
        assert_eq!(mirrors("deb\nURIs:\n"), Vec::<String>::new());
    }

    #[test]
    fn the_offered_version_is_read_from_the_name_of_the_package() {
        let offered = "'http://mirror.example/p/etcd-server_3.5.30-2%2bb1_amd64.deb' etcd-server_3.5.30-2+b1_amd64.deb 1 SHA256:0\n";
        assert_eq!(version_of_package(offered), "3.5.30".parse().ok());
        let epoch = "'http://mirror.example/p' etcd-server_1%3a3.6.1~rc1-1_amd64.deb 1 SHA256:0";
        assert_eq!(version_of_package(epoch), "3.6.1".parse().ok());
        assert_eq!(version_of_package("nothing"), None);
    }
}
