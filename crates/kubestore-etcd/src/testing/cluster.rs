//! Several etcds that are one, and what can happen between them.

use std::io;

use kubestore_kv::Maintenance;

use super::{EtcdProcess, EtcdSetup, Proxy, process::start_all, setup::is_port_taken};
use crate::EtcdKvBuilder;

/// A cluster of its own for a test. Dropping it kills all members and deletes their data.
///
/// Members reach each other through proxies, so that they can be parted; clients reach them directly.
///
/// ```no_run
/// # async fn test() -> std::io::Result<()> {
/// use kubestore_etcd::testing::EtcdSetup;
///
/// let mut cluster = EtcdSetup::new().start_cluster(3).await?;
/// let leader = cluster.leader().await?;
/// cluster.isolate(leader);
/// cluster.heal();
/// cluster.member_mut(leader).kill();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct EtcdCluster {
    members: Vec<EtcdProcess>,
    /// In front of each member, for the others.
    peers: Vec<Proxy>,
    /// The members' own numbers.
    ids: Vec<u64>,
}

impl EtcdCluster {
    pub(super) async fn start(setup: EtcdSetup, count: usize) -> io::Result<Self> {
        let mut attempts = 0;
        loop {
            let mut members = setup.prepare(count)?;
            let mut peers = Vec::with_capacity(count);
            for member in &mut members {
                let proxy = Proxy::to(member.peer_address()).await?;
                member.advertise(proxy.address());
                peers.push(proxy);
            }
            match start_all(&mut members).await {
                Ok(()) => {
                    let mut ids = Vec::with_capacity(count);
                    for member in &members {
                        ids.push(member.id().await?);
                    }
                    return Ok(Self { members, peers, ids });
                }
                Err(error) if is_port_taken(&error, &mut attempts) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The members, in the order of [`endpoints`](Self::endpoints).
    #[must_use]
    pub fn members(&self) -> &[EtcdProcess] {
        &self.members
    }

    /// One member, to kill, freeze or restart it.
    ///
    /// # Panics
    /// There is no such member.
    pub fn member_mut(&mut self, index: usize) -> &mut EtcdProcess {
        &mut self.members[index]
    }

    /// The addresses for clients.
    #[must_use]
    pub fn endpoints(&self) -> Vec<String> {
        self.members.iter().map(EtcdProcess::endpoint).collect()
    }

    /// Settings for a client of all members, with the TLS and the user that they want.
    pub fn client(&self) -> EtcdKvBuilder {
        let builder = self.members.iter().map(EtcdProcess::settings).next().unwrap_or_default();
        builder.endpoints(self.endpoints())
    }

    /// Which member leads, as those that answer say.
    ///
    /// # Errors
    /// None does, or nobody answers.
    pub async fn leader(&self) -> io::Result<usize> {
        let kv = self.client().connect().await.map_err(io::Error::other)?;
        let members = kv.members().await.map_err(io::Error::other)?;
        members.iter().position(|member| member.leader).ok_or_else(|| io::Error::other("no member leads"))
    }

    /// Hands the lead over to the member `to`. Nothing happens if it has it.
    ///
    /// # Errors
    /// The leader is not known, or refused.
    pub async fn move_leader(&self, to: usize) -> io::Result<()> {
        let leader = self.leader().await?;
        if leader == to {
            return Ok(());
        }
        let mut client = self.members[leader].admin().await?;
        client.move_leader(self.ids[to]).await.map(|_| ()).map_err(io::Error::other)
    }

    /// Cuts the member off from the others. Clients still reach it.
    ///
    /// # Panics
    /// There is no such member.
    pub fn isolate(&self, index: usize) {
        for other in (0..self.members.len()).filter(|other| *other != index) {
            self.part(index, other);
        }
    }

    /// Cuts two members off from each other.
    ///
    /// # Panics
    /// There is no such member.
    pub fn part(&self, one: usize, other: usize) {
        self.peers[one].block_peer(self.ids[other]);
        self.peers[other].block_peer(self.ids[one]);
    }

    /// Lets all members speak to each other again.
    pub fn heal(&self) {
        for peer in &self.peers {
            peer.unblock_peers();
        }
    }
}
