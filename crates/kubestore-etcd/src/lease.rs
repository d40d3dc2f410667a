//! Leases.

use std::time::Duration;

use kubestore_kv::{KvError, KvErrorKind, LeaseGrant, LeaseId, LeaseInfo, MAX_LEASE_TTL};

use crate::kv::Shared;

impl Shared {
    pub(crate) async fn grant_lease(&self, ttl: Duration) -> Result<LeaseGrant, KvError> {
        const GRANT: &str = "grant_lease";
        let seconds = whole_seconds(ttl)?;
        let granted = self
            .write(seconds, |member, ttl| async move { member.lease.clone().grant(ttl, None).await })
            .await
            .map_err(|failure| failure.write(GRANT, None))?;
        Ok(LeaseGrant::new(LeaseId(granted.id()), seconds_of(granted.ttl())))
    }

    pub(crate) async fn revoke_lease(&self, id: LeaseId) -> Result<(), KvError> {
        const REVOKE: &str = "revoke_lease";
        self.write(id.0, |member, id| async move { member.lease.clone().revoke(id).await })
            .await
            .map(|_| ())
            .map_err(|failure| failure.write(REVOKE, None))
    }

    pub(crate) async fn lease_info(&self, id: LeaseId) -> Result<LeaseInfo, KvError> {
        const INFO: &str = "lease_info";
        let answer = self
            .read(INFO, |member| async move { member.lease.clone().time_to_live(id.0, None).await })
            .await
            .map_err(|failure| failure.read(INFO, None))?;
        // etcd answers for a lease it does not know, with a TTL of -1 and nothing granted.
        if answer.granted_ttl() == 0 {
            let message = format!("no lease {id}; it ended, was revoked, or never was");
            return Err(KvError::new(KvErrorKind::LeaseNotFound, INFO, message));
        }
        let remaining = (answer.ttl() >= 0).then(|| seconds_of(answer.ttl()));
        Ok(LeaseInfo::new(seconds_of(answer.granted_ttl()), remaining))
    }
}

/// A TTL as etcd takes it: rounded up, within its bounds.
fn whole_seconds(ttl: Duration) -> Result<i64, KvError> {
    let refuse = |message: String| KvError::new(KvErrorKind::InvalidArgument, "grant_lease", message);
    if ttl.is_zero() {
        return Err(refuse("a lease needs a TTL above zero".to_owned()));
    }
    if ttl > MAX_LEASE_TTL {
        let limit = MAX_LEASE_TTL.as_secs();
        return Err(refuse(format!("a TTL of {} s is above the longest, {limit} s", ttl.as_secs())));
    }
    let seconds = ttl.as_secs() + u64::from(ttl.subsec_nanos() > 0);
    i64::try_from(seconds).map_err(|_| refuse(format!("a TTL of {seconds} s does not fit")))
}

fn seconds_of(seconds: i64) -> Duration {
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ttls_are_rounded_up_and_bounded() {
        for (ttl, seconds) in [
            (Duration::from_nanos(1), 1),
            (Duration::from_secs(1), 1),
            (Duration::from_millis(1001), 2),
            (MAX_LEASE_TTL, 9_000_000_000),
        ] {
            assert_eq!(whole_seconds(ttl).unwrap(), seconds, "{ttl:?}");
        }
        for ttl in [Duration::ZERO, MAX_LEASE_TTL + Duration::from_nanos(1), Duration::MAX] {
            assert_eq!(whole_seconds(ttl).unwrap_err().kind(), KvErrorKind::InvalidArgument, "{ttl:?}");
        }
    }
}
