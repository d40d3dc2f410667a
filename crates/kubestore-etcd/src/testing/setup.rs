//! How the etcds of a test are to be.

use std::{io, path::PathBuf, sync::Arc};

use super::{EtcdCluster, EtcdProcess, Identity, TestAuthority, process::start_all, program::find_program};

/// What kind of etcd to start. The default is one without TLS and without users.
///
/// The program is the one that the variable `KUBESTORE_ETCD` names, else `etcd` on the path, else the newest 3.5 that
/// `cargo xtask etcd` left under `target/etcd-bin`. Writes are not flushed to the disk: they survive
/// [`kill`](EtcdProcess::kill), not a power cut.
///
/// ```no_run
/// # async fn test() -> std::io::Result<()> {
/// use std::sync::Arc;
/// use kubestore_etcd::testing::{EtcdSetup, TestAuthority};
///
/// let authority = Arc::new(TestAuthority::new()?);
/// let server = authority.server("server", ["127.0.0.1"])?;
/// let client = authority.client("client")?;
/// let cluster = EtcdSetup::new().mutual_tls(&authority, server, client).root("secret").start_cluster(3).await?;
/// let kv = cluster.client().connect().await.map_err(std::io::Error::other)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is started yet"]
pub struct EtcdSetup {
    pub(super) args: Vec<String>,
    pub(super) tls: Option<Tls>,
    pub(super) root_password: Option<String>,
}

/// The certificates of a server, and those its own clients use.
#[derive(Clone, Debug)]
pub(super) struct Tls {
    pub(super) authority: Arc<TestAuthority>,
    pub(super) server: Identity,
    /// Wanted from clients, if any is.
    pub(super) client: Option<Identity>,
}

impl EtcdSetup {
    /// Plain, without users.
    pub fn new() -> Self {
        Self::default()
    }

    /// More arguments of the program, such as `--max-request-bytes=10485760`.
    pub fn args<I>(mut self, args: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Serves `https` with the certificate `server`, and wants none from clients.
    pub fn tls(mut self, authority: &Arc<TestAuthority>, server: Identity) -> Self {
        self.tls = Some(Tls { authority: Arc::clone(authority), server, client: None });
        self
    }

    /// Serves `https` with the certificate `server`, and wants certificates of the authority from clients. `client` is
    /// the one that [`EtcdProcess::client`] shows.
    pub fn mutual_tls(mut self, authority: &Arc<TestAuthority>, server: Identity, client: Identity) -> Self {
        self.tls = Some(Tls { authority: Arc::clone(authority), server, client: Some(client) });
        self
    }

    /// Switches authentication on, with the user `root` and this password.
    pub fn root(mut self, password: impl Into<String>) -> Self {
        self.root_password = Some(password.into());
        self
    }

    /// Starts one etcd and waits until it answers.
    ///
    /// # Errors
    /// No etcd was found, or it did not come up; the error says which, and shows the end of its log.
    pub async fn start(self) -> io::Result<EtcdProcess> {
        let mut members = self.start_members(1).await?;
        members.pop().ok_or_else(|| io::Error::other("a cluster of one has one member"))
    }

    /// Starts a cluster of so many members, whose traffic among each other can be cut, and waits until each answers.
    ///
    /// # Errors
    /// As for [`start`](Self::start).
    pub async fn start_cluster(self, members: usize) -> io::Result<EtcdCluster> {
        EtcdCluster::start(self, members).await
    }

    /// Members that speak to each other directly.
    pub(super) async fn start_members(self, members: usize) -> io::Result<Vec<EtcdProcess>> {
        let mut attempts = 0;
        loop {
            let mut cluster = self.prepare(members)?;
            match start_all(&mut cluster).await {
                Ok(()) => return Ok(cluster),
                Err(error) if is_port_taken(&error, &mut attempts) => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn prepare(&self, members: usize) -> io::Result<Vec<EtcdProcess>> {
        let program: PathBuf = find_program()?;
        (0..members).map(|number| EtcdProcess::prepare(program.clone(), self.clone(), number)).collect()
    }
}

/// Whether somebody took a port between its choice and its use, and it is worth another attempt.
pub(super) fn is_port_taken(error: &io::Error, attempts: &mut usize) -> bool {
    *attempts += 1;
    error.kind() == io::ErrorKind::AddrInUse && *attempts <= 5
}
