//! Which members serve. One that failed is left out until it answers a light call again.

use std::{
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use etcd_client::{StatusResponse, proto::PbStatusResponse};
use tokio::{
    task::AbortHandle,
    time::{sleep, timeout},
};

use crate::{backoff::Backoff, error::Failure, pool::Member};

/// The state of one member, and the task that waits for it to serve again. The task ends with the member.
#[derive(Debug, Default)]
pub(crate) struct Health {
    probe: Mutex<Option<AbortHandle>>,
}

/// How long a member may take for the light call.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

impl Health {
    /// Whether nothing is known against the member.
    pub(crate) fn is_good(&self) -> bool {
        let probe = self.probe.lock().unwrap_or_else(PoisonError::into_inner);
        // Finished also when the runtime that it ran on is gone.
        probe.as_ref().is_none_or(AbortHandle::is_finished)
    }

    /// Leaves `member` out until it serves again. `false`: it was left out before.
    pub(crate) fn leave_out(&self, member: &Arc<Member>) -> bool {
        let mut probe = self.probe.lock().unwrap_or_else(PoisonError::into_inner);
        if probe.as_ref().is_some_and(|probe| !probe.is_finished()) {
            return false;
        }
        let waiting = until_it_serves(Arc::downgrade(member), member.url.clone());
        *probe = Some(tokio::spawn(waiting).abort_handle());
        true
    }
}

impl Drop for Health {
    fn drop(&mut self) {
        let probe = self.probe.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(probe) = probe.take() {
            probe.abort();
        }
    }
}

async fn until_it_serves(member: Weak<Member>, url: String) {
    let mut backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(15));
    loop {
        sleep(backoff.pause()).await;
        let Some(member) = member.upgrade() else { return };
        match knock(&member, PATIENCE).await {
            Ok(()) => {
                tracing::info!(endpoint = url, "endpoint serves again");
                return;
            }
            Err(failure) => tracing::debug!(endpoint = url, %failure, "endpoint still does not serve"),
        }
    }
}

/// Whether the member answers and knows a leader.
pub(crate) async fn knock(member: &Member, limit: Duration) -> Result<(), Failure> {
    let asked = timeout(limit, async { member.maintenance.clone().status().await });
    match asked.await.map_err(|_| Failure::deadline(limit))?.map_err(Failure::from) {
        Ok(StatusResponse(status)) => {
            member.learn_version(&status.version);
            if has_no_leader(&status) { Err(Failure::no_leader()) } else { Ok(()) }
        }
        // It answers; what it thinks of the user is for the calls to find out.
        Err(failure) if failure.is_the_users() => Ok(()),
        Err(failure) => Err(failure),
    }
}

/// kine tells neither its member nor a leader.
fn has_no_leader(status: &PbStatusResponse) -> bool {
    status.leader == 0 && status.header.as_ref().is_some_and(|header| header.member_id != 0)
}

#[cfg(test)]
mod tests {
    use etcd_client::proto::PbResponseHeader;

    use super::*;

    #[test]
    fn a_member_without_a_leader_does_not_serve_and_kine_does() {
        let status = |member_id, leader| PbStatusResponse {
            header: Some(PbResponseHeader { member_id, ..PbResponseHeader::default() }),
            leader,
            ..PbStatusResponse::default()
        };
        assert!(!has_no_leader(&status(0, 0)));
        assert!(!has_no_leader(&status(7, 7)));
        assert!(has_no_leader(&status(7, 0)));
    }
}
