//! One etcd, on loopback and in a temporary folder.

use std::{
    fs::File,
    io,
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use etcd_client::{Channel, Client};
use kubestore_kv::Kv;
use tempfile::TempDir;

use super::{EtcdSetup, guard::Guard};
use crate::{EtcdKv, EtcdKvBuilder, TlsOptions};

/// One etcd of its own for a test; see [`EtcdSetup`] for how it can be. Dropping it kills the process and deletes its
/// data; so does the end of the test's process, however it ends.
///
/// ```no_run
/// # async fn test() -> std::io::Result<()> {
/// use kubestore_etcd::testing::EtcdProcess;
///
/// let etcd = EtcdProcess::start().await?;
/// let kv = etcd.client().connect().await.map_err(std::io::Error::other)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct EtcdProcess {
    program: PathBuf,
    setup: EtcdSetup,
    name: String,
    /// All members, as etcd's `--initial-cluster` wants them.
    cluster: String,
    folder: TempDir,
    client: String,
    peer: String,
    /// Where other members reach it.
    advertised: String,
    /// Authentication is on.
    has_users: bool,
    running: Option<Running>,
}

/// The guard goes first.
#[derive(Debug)]
struct Running {
    guard: Guard,
    child: Child,
}

/// How long a fresh etcd may take to answer.
const STARTUP: Duration = Duration::from_secs(20);

impl EtcdProcess {
    /// Starts an etcd with default settings and waits until it answers.
    ///
    /// # Errors
    /// No etcd was found, or it did not come up; the error says which, and shows the end of its log.
    pub async fn start() -> io::Result<Self> {
        EtcdSetup::new().start().await
    }

    /// Starts an etcd with more arguments, such as `--max-request-bytes=10485760`.
    ///
    /// # Errors
    /// As for [`start`](Self::start).
    pub async fn start_with<I>(args: I) -> io::Result<Self>
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        EtcdSetup::new().args(args).start().await
    }

    /// Starts a cluster of so many members and waits until each of them answers. See [`EtcdSetup::start_cluster`] for
    /// one whose members can be parted.
    ///
    /// # Errors
    /// As for [`start`](Self::start).
    pub async fn start_cluster<I>(members: usize, args: I) -> io::Result<Vec<Self>>
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        EtcdSetup::new().args(args).start_members(members).await
    }

    pub(super) fn prepare(program: PathBuf, setup: EtcdSetup, number: usize) -> io::Result<Self> {
        let peer = free_address()?;
        Ok(Self {
            program,
            setup,
            name: format!("m{number}"),
            cluster: String::new(),
            folder: TempDir::with_prefix("kubestore-etcd-")?,
            client: free_address()?,
            advertised: peer.clone(),
            peer,
            has_users: false,
            running: None,
        })
    }

    /// Its address for clients.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("{}://{}", self.scheme(), self.client)
    }

    /// Its address without the scheme.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.client
    }

    /// Settings for a client, with the TLS and the user that it wants.
    pub fn client(&self) -> EtcdKvBuilder {
        self.settings().endpoints([self.endpoint()])
    }

    /// The same without an endpoint.
    pub(super) fn settings(&self) -> EtcdKvBuilder {
        let mut builder = EtcdKv::builder();
        if let Some(tls) = &self.setup.tls {
            let mut options = TlsOptions::new().ca_file(tls.authority.ca_file());
            if let Some(client) = &tls.client {
                options = options.identity(&client.cert_file, &client.key_file);
            }
            builder = builder.tls(options);
        }
        match &self.setup.root_password {
            Some(password) if self.has_users => builder.user("root", password),
            _ => builder,
        }
    }

    /// Its process number, while it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.running.as_ref().map(|running| running.child.id())
    }

    /// Kills it (`SIGKILL`) and keeps its data.
    pub fn kill(&mut self) {
        if let Some(Running { guard, mut child }) = self.running.take() {
            drop(guard);
            // Both fail only if it has gone already.
            let _killed = child.kill();
            let _reaped = child.wait();
        }
    }

    /// Kills it if it runs, starts it again with its data and on its address, and waits until it answers.
    ///
    /// # Errors
    /// As for [`start`](Self::start).
    pub async fn restart(&mut self) -> io::Result<()> {
        self.kill();
        self.spawn()?;
        self.wait_until_it_answers().await
    }

    /// Starts it again after [`kill`](Self::kill) without waiting, as when it cannot answer without other members.
    ///
    /// # Errors
    /// The program could not be started.
    pub fn spawn(&mut self) -> io::Result<()> {
        self.kill();
        let log = File::create(self.log())?;
        let client = self.endpoint();
        let (peer, advertised) = (format!("http://{}", self.peer), format!("http://{}", self.advertised));
        let mut command = Command::new(&self.program);
        command
            .args(["--name", &self.name])
            .arg("--data-dir")
            .arg(self.folder.path().join("data"))
            .args([format!("--listen-client-urls={client}"), format!("--advertise-client-urls={client}")])
            .args([
                format!("--listen-peer-urls={peer}"),
                format!("--initial-advertise-peer-urls={advertised}"),
            ])
            .args(["--initial-cluster", &self.cluster])
            .args(["--log-level=warn", "--unsafe-no-fsync"]);
        if let Some(tls) = &self.setup.tls {
            command.arg("--cert-file").arg(&tls.server.cert_file).arg("--key-file").arg(&tls.server.key_file);
            if tls.client.is_some() {
                command.arg("--client-cert-auth").arg("--trusted-ca-file").arg(tls.authority.ca_file());
            }
        }
        let mut child = command
            .args(&self.setup.args)
            .stdin(Stdio::null())
            .stdout(Stdio::from(log.try_clone()?))
            .stderr(Stdio::from(log))
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.program.display())))?;
        match Guard::of(&child) {
            Ok(guard) => {
                self.running = Some(Running { guard, child });
                Ok(())
            }
            Err(error) => {
                let _killed = child.kill();
                let _reaped = child.wait();
                Err(error)
            }
        }
    }

    /// Freezes it (`SIGSTOP`): connections stay open and nothing is answered.
    ///
    /// # Errors
    /// It does not run, or the signal could not be sent.
    pub fn freeze(&self) -> io::Result<()> {
        self.signal("STOP")
    }

    /// Lets a frozen one go on (`SIGCONT`).
    ///
    /// # Errors
    /// It does not run, or the signal could not be sent.
    pub fn thaw(&self) -> io::Result<()> {
        self.signal("CONT")
    }

    fn signal(&self, name: &str) -> io::Result<()> {
        let id = self.pid().ok_or_else(|| io::Error::other("this etcd does not run"))?.to_string();
        let status = Command::new("sh").args(["-c", "kill -s \"$1\" \"$2\"", "sh", name, &id]).status()?;
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("kill -s {name} {id} failed"))) }
    }

    async fn wait_until_it_answers(&mut self) -> io::Result<()> {
        let until = tokio::time::Instant::now() + STARTUP;
        loop {
            if let Some(running) = &mut self.running
                && let Some(status) = running.child.try_wait()?
            {
                self.running = None;
                return Err(self.failed(&format!("etcd ended at once with {status}")));
            }
            if let Ok(kv) = self.reach().await
                && kv.status().await.is_ok()
            {
                return Ok(());
            }
            if tokio::time::Instant::now() > until {
                return Err(self.failed(&format!("etcd did not answer within {STARTUP:?}")));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// A client that does not mind what the server's certificate says: it may be meant to be bad.
    async fn reach(&self) -> Result<EtcdKv, kubestore_kv::KvError> {
        let mut builder = self
            .settings()
            .endpoints([self.endpoint()])
            .dial_timeout(Duration::from_millis(500))
            .retry_for(Duration::ZERO);
        if let Some(tls) = &self.setup.tls {
            let mut options = TlsOptions::new().skip_verify(true);
            if let Some(client) = &tls.client {
                options = options.identity(&client.cert_file, &client.key_file);
            }
            builder = builder.tls(options);
        }
        builder.connect().await
    }

    /// A client of the whole protocol, for what the contract does not have.
    pub(super) async fn admin(&self) -> io::Result<Client> {
        let kv = self.reach().await.map_err(io::Error::other)?;
        let channel = Channel::Custom(kv.shared.pool.current().transport.clone());
        Box::pin(Client::from_channel(channel, None)).await.map_err(io::Error::other)
    }

    /// The number that the cluster knows it by.
    pub(super) async fn id(&self) -> io::Result<u64> {
        let status = self.admin().await?.status().await.map_err(io::Error::other)?;
        Ok(status.header().map_or(0, etcd_client::ResponseHeader::member_id))
    }

    pub(super) fn peer_address(&self) -> &str {
        &self.peer
    }

    /// Tells the other members to reach it at `address`.
    pub(super) fn advertise(&mut self, address: &str) {
        address.clone_into(&mut self.advertised);
    }

    fn scheme(&self) -> &'static str {
        if self.setup.tls.is_some() { "https" } else { "http" }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn failed(&self, what: &str) -> io::Error {
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        let end = lines[lines.len().saturating_sub(10)..].join("\n");
        let kind = if log.contains("address already in use") {
            io::ErrorKind::AddrInUse
        } else {
            io::ErrorKind::Other
        };
        io::Error::new(kind, format!("{what}; its log ends with:\n{end}"))
    }
}

impl Drop for EtcdProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts the members of one cluster, and its users.
pub(super) async fn start_all(cluster: &mut [EtcdProcess]) -> io::Result<()> {
    let all: Vec<_> =
        cluster.iter().map(|member| format!("{}=http://{}", member.name, member.advertised)).collect();
    for member in &mut *cluster {
        member.cluster = all.join(",");
        member.spawn()?;
    }
    for member in &mut *cluster {
        member.wait_until_it_answers().await?;
    }
    let Some(first) = cluster.first() else { return Ok(()) };
    if let Some(password) = first.setup.root_password.clone() {
        let mut client = first.admin().await?;
        client.user_add("root", password, None).await.map_err(io::Error::other)?;
        client.user_grant_role("root", "root").await.map_err(io::Error::other)?;
        client.auth_enable().await.map_err(io::Error::other)?;
        for member in &mut *cluster {
            member.has_users = true;
            // Members learn of users one after the other.
            member.wait_until_it_answers().await?;
        }
    }
    Ok(())
}

/// An address on loopback that nobody listens on at the moment.
///
/// # Errors
/// No port is free.
pub fn free_address() -> io::Result<String> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.to_string())
}
