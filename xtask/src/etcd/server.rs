//! An etcd on free ports of the loopback, for as long as it is held.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::command::command;

/// How long a start may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running etcd. Dropping it ends the process.
pub(crate) struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// Starts the etcd at `binary` with its data and its log in `folder`, which is emptied first, and waits until it takes connections.
    pub(crate) fn start(binary: &Path, folder: &Path) -> Result<Self> {
        super::remove(folder)?;
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let log = File::create(folder.join("log"))?;
        let (port, peers) = free_ports()?;
        let (client_url, peer_url) = (url(port), url(peers));
        let mut etcd = command(binary);
        etcd.stdout(Stdio::null()).stderr(log).arg("--data-dir").arg(folder.join("data"));
        etcd.args(["--listen-client-urls", &client_url, "--advertise-client-urls", &client_url]);
        etcd.args(["--listen-peer-urls", &peer_url, "--initial-advertise-peer-urls", &peer_url]);
        etcd.args(["--initial-cluster", &format!("default={peer_url}"), "--unsafe-no-fsync"]);
        let process = etcd.spawn().with_context(|| format!("cannot start {}", binary.display()))?;
        let mut server = Self { process, port };
        server.wait(folder)?;
        Ok(server)
    }

    /// Where clients connect to.
    pub(crate) fn endpoint(&self) -> String {
        url(self.port)
    }

    /// The number of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    fn wait(&mut self, folder: &Path) -> Result<()> {
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            if let Some(status) = self.process.try_wait()? {
                bail!("etcd ended as it started ({status}); see {}", folder.join("log").display());
            }
            if start.elapsed() > PATIENCE {
                bail!("etcd takes no connections after {PATIENCE:?}; see {}", folder.join("log").display());
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, in which case there is nothing left to do.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

/// Two ports that were free a moment ago; both are bound before either is given back, so that they differ.
fn free_ports() -> Result<(u16, u16)> {
    let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot bind a port of the loopback");
    let (first, second) = (bind()?, bind()?);
    Ok((first.local_addr()?.port(), second.local_addr()?.port()))
}
