//! A throw-away etcd for tests, on loopback and in a temporary folder.

use std::{
    env,
    fs::File,
    io,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use kubestore_kv::Kv;
use tempfile::TempDir;

use crate::EtcdKv;

/// One etcd of its own for a test. Dropping it kills the process and deletes its data.
///
/// The program is the one that the variable `KUBESTORE_ETCD` names, else `etcd` on the path, else the newest 3.5 that
/// `cargo xtask etcd` left under `target/etcd-bin`. Writes are not flushed to the disk: they survive [`kill`](Self::kill),
/// not a power cut.
///
/// ```no_run
/// # async fn test() -> std::io::Result<()> {
/// use kubestore_etcd::{EtcdKv, testing::EtcdProcess};
///
/// let etcd = EtcdProcess::start().await?;
/// let kv = EtcdKv::connect([etcd.endpoint()]).await.map_err(std::io::Error::other)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct EtcdProcess {
    program: PathBuf,
    args: Vec<String>,
    name: String,
    /// All members, as etcd's `--initial-cluster` wants them.
    cluster: String,
    folder: TempDir,
    client: String,
    peer: String,
    child: Option<Child>,
}

/// How long a fresh etcd may take to answer.
const STARTUP: Duration = Duration::from_secs(20);

impl EtcdProcess {
    /// Starts an etcd with default settings and waits until it answers.
    ///
    /// # Errors
    /// No etcd was found, or it did not come up; the error says which, and shows the end of its log.
    pub async fn start() -> io::Result<Self> {
        Self::start_with(Vec::<String>::new()).await
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
        let mut members = Self::start_cluster(1, args).await?;
        members.pop().ok_or_else(|| io::Error::other("a cluster of one has one member"))
    }

    /// Starts a cluster of so many members and waits until each of them answers.
    ///
    /// # Errors
    /// As for [`start`](Self::start).
    pub async fn start_cluster<I>(members: usize, args: I) -> io::Result<Vec<Self>>
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let program = find_program()?;
        let args: Vec<String> = args.into_iter().map(Into::into).collect();
        let mut attempts = 0;
        loop {
            let mut cluster = (0..members)
                .map(|number| Self::prepare(program.clone(), args.clone(), number))
                .collect::<io::Result<Vec<_>>>()?;
            match start_all(&mut cluster).await {
                Ok(()) => return Ok(cluster),
                // Somebody took a port between its choice and its use.
                Err(error) if error.kind() == io::ErrorKind::AddrInUse && attempts < 5 => attempts += 1,
                Err(error) => return Err(error),
            }
        }
    }

    fn prepare(program: PathBuf, args: Vec<String>, number: usize) -> io::Result<Self> {
        Ok(Self {
            program,
            args,
            name: format!("m{number}"),
            cluster: String::new(),
            folder: TempDir::with_prefix("kubestore-etcd-")?,
            client: free_address()?,
            peer: free_address()?,
            child: None,
        })
    }

    /// Its address for clients.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.client)
    }

    /// Its address without the scheme.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.client
    }

    /// Kills it (`SIGKILL`) and keeps its data.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
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
        let (client, peer) = (format!("http://{}", self.client), format!("http://{}", self.peer));
        let child = Command::new(&self.program)
            .args(["--name", &self.name])
            .arg("--data-dir")
            .arg(self.folder.path().join("data"))
            .args([format!("--listen-client-urls={client}"), format!("--advertise-client-urls={client}")])
            .args([format!("--listen-peer-urls={peer}"), format!("--initial-advertise-peer-urls={peer}")])
            .args(["--initial-cluster", &self.cluster])
            .args(["--log-level=warn", "--unsafe-no-fsync"])
            .args(&self.args)
            .stdin(Stdio::null())
            .stdout(Stdio::from(log.try_clone()?))
            .stderr(Stdio::from(log))
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.program.display())))?;
        self.child = Some(child);
        Ok(())
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
        let child = self.child.as_ref().ok_or_else(|| io::Error::other("this etcd does not run"))?;
        let id = child.id().to_string();
        let status = Command::new("sh").args(["-c", "kill -s \"$1\" \"$2\"", "sh", name, &id]).status()?;
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("kill -s {name} {id} failed"))) }
    }

    async fn wait_until_it_answers(&mut self) -> io::Result<()> {
        let until = tokio::time::Instant::now() + STARTUP;
        loop {
            if let Some(child) = &mut self.child
                && let Some(status) = child.try_wait()?
            {
                self.child = None;
                return Err(self.failed(&format!("etcd ended at once with {status}")));
            }
            let connecting = EtcdKv::builder()
                .endpoints([self.endpoint()])
                .dial_timeout(Duration::from_millis(200))
                .retry_for(Duration::ZERO)
                .connect();
            if let Ok(kv) = connecting.await
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

async fn start_all(cluster: &mut [EtcdProcess]) -> io::Result<()> {
    let all: Vec<_> =
        cluster.iter().map(|member| format!("{}=http://{}", member.name, member.peer)).collect();
    for member in &mut *cluster {
        member.cluster = all.join(",");
        member.spawn()?;
    }
    for member in cluster {
        member.wait_until_it_answers().await?;
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

fn find_program() -> io::Result<PathBuf> {
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
