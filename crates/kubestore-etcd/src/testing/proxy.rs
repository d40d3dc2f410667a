//! A TCP proxy that fails on demand.

use std::{
    collections::HashSet,
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    task::JoinHandle,
    time::sleep,
};

/// Passes bytes between its clients and one address, until it is told to do worse. Dropping it closes all
/// connections.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// use kubestore_etcd::testing::Proxy;
///
/// let proxy = Proxy::to("127.0.0.1:2379").await?;
/// let endpoint = format!("http://{}", proxy.address());
/// proxy.cut();
/// proxy.mend();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Proxy {
    address: String,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    target: String,
    state: watch::Sender<State>,
    delay: AtomicU64,
    sent: Option<Mutex<Vec<u8>>>,
}

#[derive(Clone, Debug, Default)]
struct State {
    mode: Mode,
    /// How often all connections were closed, so that a cut is noticed even if it is mended at once.
    cuts: u64,
    /// Peers of an etcd cluster, by the number that their requests name, whose connections are closed.
    blocked: HashSet<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Pass,
    Cut,
    Stall,
    LoseAnswer,
}

/// How long an answer is swallowed before the connection is closed.
const SWALLOW: Duration = Duration::from_millis(50);

impl Proxy {
    /// A proxy on loopback in front of `target`, which need not be there yet.
    ///
    /// # Errors
    /// No port is free.
    pub async fn to(target: impl Into<String>) -> io::Result<Self> {
        Self::open(target.into(), None).await
    }

    /// One that also remembers what its clients [sent](Self::sent).
    ///
    /// # Errors
    /// No port is free.
    pub async fn recording(target: impl Into<String>) -> io::Result<Self> {
        Self::open(target.into(), Some(Mutex::default())).await
    }

    async fn open(target: String, sent: Option<Mutex<Vec<u8>>>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?.to_string();
        let state = watch::Sender::new(State::default());
        let shared = Arc::new(Shared { target, state, delay: AtomicU64::new(0), sent });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, accepting })
    }

    /// Its address, `host:port`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Its address as an `http` endpoint.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All bytes from clients so far; nothing unless it is [`recording`](Self::recording).
    #[must_use]
    pub fn sent(&self) -> Vec<u8> {
        let sent = self.shared.sent.as_ref();
        sent.map(|sent| sent.lock().unwrap_or_else(PoisonError::into_inner).clone()).unwrap_or_default()
    }

    /// Closes all connections, and new ones at once.
    pub fn cut(&self) {
        self.shared.state.send_modify(|state| {
            state.mode = Mode::Cut;
            state.cuts += 1;
        });
    }

    /// Leaves connections open, takes new ones, and passes nothing on: what is sent meanwhile waits.
    pub fn stall(&self) {
        self.set(Mode::Stall);
    }

    /// Passes the next requests on, swallows what the server answers first, and then closes that connection. After
    /// that bytes pass again.
    pub fn lose_answer(&self) {
        self.set(Mode::LoseAnswer);
    }

    /// Passes bytes on again.
    pub fn mend(&self) {
        self.set(Mode::Pass);
    }

    /// Holds every piece of data back for so long, in both directions.
    pub fn delay(&self, by: Duration) {
        self.shared.delay.store(u64::try_from(by.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Closes the connections of the etcd peer with this member number, and new ones.
    pub(super) fn block_peer(&self, member: u64) {
        self.shared.state.send_modify(|state| {
            state.blocked.insert(member);
        });
    }

    pub(super) fn unblock_peers(&self) {
        self.shared.state.send_modify(|state| state.blocked.clear());
    }

    fn set(&self, mode: Mode) {
        self.shared.state.send_modify(|state| state.mode = mode);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((client, _)) = listener.accept().await {
        if shared.state.borrow().mode != Mode::Cut {
            tokio::spawn(serve(client, Arc::clone(&shared)));
        }
    }
}

/// One connection. It ends with either direction, or when the state says so.
async fn serve(client: TcpStream, shared: Arc<Shared>) {
    let mut state = shared.state.subscribe();
    let cuts = state.borrow().cuts;
    let Ok(server) = TcpStream::connect(&shared.target).await else { return };
    // Refused only for a socket that is closed already.
    let _set = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let peer = Mutex::new(None);
    let is_over = |state: &State| {
        let peer = *peer.lock().unwrap_or_else(PoisonError::into_inner);
        state.cuts != cuts || peer.is_some_and(|peer| state.blocked.contains(&peer))
    };
    tokio::select! {
        _ended = requests(from_client, to_server, &shared, &peer) => {}
        _ended = answers(from_server, to_client, &shared) => {}
        _over = state.wait_for(is_over) => {}
    }
}

async fn requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    shared: &Shared,
    peer: &Mutex<Option<u64>>,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    let mut state = shared.state.subscribe();
    let mut known = false;
    loop {
        let read = from.read(&mut buffer).await?;
        let chunk = &buffer[..read];
        if chunk.is_empty() {
            return Ok(());
        }
        if let Some(sent) = &shared.sent {
            sent.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(chunk);
        }
        // A connection may begin with requests that do not say who sends them.
        if !known && let Some(from) = peer_of(chunk) {
            known = true;
            *peer.lock().unwrap_or_else(PoisonError::into_inner) = Some(from);
            if shared.state.borrow().blocked.contains(&from) {
                return Ok(());
            }
        }
        hold(shared, &mut state).await?;
        to.write_all(chunk).await?;
    }
}

async fn answers(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, shared: &Shared) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    let mut state = shared.state.subscribe();
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        hold(shared, &mut state).await?;
        let lost = shared.state.send_if_modified(|state| {
            let lose = state.mode == Mode::LoseAnswer;
            if lose {
                state.mode = Mode::Pass;
            }
            lose
        });
        if lost {
            // Long enough for a server on this machine to have done what it was asked.
            sleep(SWALLOW).await;
            return Ok(());
        }
        to.write_all(&buffer[..read]).await?;
    }
}

/// Waits while nothing may pass, and then as long as everything is held back.
async fn hold(shared: &Shared, state: &mut watch::Receiver<State>) -> io::Result<()> {
    state.wait_for(|state| state.mode != Mode::Stall).await.map_err(io::Error::other)?;
    let delay = shared.delay.load(Ordering::Relaxed);
    if delay > 0 {
        sleep(Duration::from_micros(delay)).await;
    }
    Ok(())
}

/// Who sent a request of one etcd to another.
fn peer_of(request: &[u8]) -> Option<u64> {
    const HEADER: &str = "x-server-from:";
    const METHODS: [&[u8]; 2] = [b"GET /", b"POST /"];
    if !METHODS.iter().any(|method| request.starts_with(method)) {
        return None;
    }
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let value = text.lines().find_map(|line| line.strip_prefix(HEADER))?;
    u64::from_str_radix(value.trim(), 16).ok()
}
