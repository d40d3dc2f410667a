//! A TCP proxy that can be cut.

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

/// Passes bytes on to one address until it is cut.
#[derive(Debug)]
pub(crate) struct Proxy {
    address: String,
    up: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Proxy {
    pub(crate) async fn to(target: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (up, state) = watch::channel(true);
        let target = target.to_owned();
        let task = tokio::spawn(async move {
            loop {
                let Ok((mut client, _)) = listener.accept().await else { return };
                let (target, mut state) = (target.clone(), state.clone());
                if !*state.borrow_and_update() {
                    continue;
                }
                tokio::spawn(async move {
                    let Ok(mut server) = TcpStream::connect(target).await else { return };
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
                        _ = state.changed() => {}
                    }
                });
            }
        });
        Self { address, up, task }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
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
