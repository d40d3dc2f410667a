//! A TCP proxy that can be cut, and remembers what clients sent.

use std::{
    io,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

/// Passes bytes on to one address until it is cut.
#[derive(Debug)]
pub(crate) struct Proxy {
    address: String,
    up: watch::Sender<bool>,
    sent: Arc<Mutex<Vec<u8>>>,
    task: JoinHandle<()>,
}

impl Proxy {
    pub(crate) async fn to(target: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (up, state) = watch::channel(true);
        let target = target.to_owned();
        let sent = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&sent);
        let task = tokio::spawn(async move {
            loop {
                let Ok((client, _)) = listener.accept().await else { return };
                let (target, mut state, record) = (target.clone(), state.clone(), Arc::clone(&record));
                if !*state.borrow_and_update() {
                    continue;
                }
                tokio::spawn(async move {
                    let Ok(server) = TcpStream::connect(target).await else { return };
                    tokio::select! {
                        _ = pass(client, server, &record) => {}
                        _ = state.changed() => {}
                    }
                });
            }
        });
        Self { address, up, sent, task }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All bytes from clients so far.
    pub(crate) fn sent(&self) -> Vec<u8> {
        self.sent.lock().unwrap().clone()
    }

    /// Closes all connections, and new ones at once.
    pub(crate) fn cut(&self) {
        self.up.send_replace(false);
    }

    /// Passes bytes on again.
    pub(crate) fn mend(&self) {
        self.up.send_replace(true);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
        self.cut();
    }
}

/// Both directions, until one of them ends.
async fn pass(client: TcpStream, server: TcpStream, record: &Mutex<Vec<u8>>) -> io::Result<()> {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let there = async {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = from_client.read(&mut buffer).await?;
            if read == 0 {
                return io::Result::Ok(());
            }
            record.lock().unwrap().extend_from_slice(&buffer[..read]);
            to_server.write_all(&buffer[..read]).await?;
        }
    };
    tokio::select! {
        ended = there => ended,
        ended = copy(&mut from_server, &mut to_client) => ended.map(|_| ()),
    }
}
