//! The cluster's state, and calls that are meant for one member.

use std::sync::Arc;

use async_trait::async_trait;
use etcd_client::{AlarmAction, AlarmType, proto::PbStatusResponse};
use futures_util::future::join_all;
use kubestore_kv::{KvError, KvErrorKind, KvStatus, Maintenance, MemberStatus, Revision};
use tokio::time::timeout;

use crate::{
    EtcdKv, error::Failure, health::PATIENCE, kv::Shared, pool::Member, version::answers_progress_requests,
};

impl Shared {
    pub(crate) async fn status(&self) -> Result<KvStatus, KvError> {
        const STATUS: &str = "status";
        let head = match self.head(STATUS).await {
            Ok(head) => Some(head),
            // The cluster answered; it only does not show this user that key.
            Err(failure) if failure.kind == KvErrorKind::PermissionDenied => None,
            Err(failure) => return Err(failure.read(STATUS, None)),
        };
        let members = self.members_to_ask();
        let answers = join_all(members.iter().map(|member| self.of_member(|| member_status(member)))).await;
        let mut failed = None;
        let mut told = None;
        for answer in answers {
            match answer {
                Ok(answer) if told.is_none() => told = Some(answer),
                Ok(_) => {}
                Err(failure) => failed = Some(failure),
            }
        }
        let head = match (head, &told, failed) {
            (Some(head), ..) => head,
            (None, Some(told), _) => Revision(told.header.as_ref().map_or(0, |header| header.revision)),
            // Nor does it show its state, so what other answers told has to do.
            (None, None, Some(failure))
                if failure.kind == KvErrorKind::PermissionDenied && self.history.newest() > Revision(0) =>
            {
                self.history.newest()
            }
            (None, None, Some(failure)) => return Err(failure.read(STATUS, None)),
            (None, None, None) => return Err(Failure::malformed("no member").read(STATUS, None)),
        };
        let mut status = KvStatus::new(head);
        status.db_size = told.and_then(|told| u64::try_from(told.db_size).ok()).filter(|size| *size > 0);
        status.progress_requests = self
            .pool
            .members()
            .iter()
            .all(|member| member.version().is_some_and(|version| answers_progress_requests(&version)));
        Ok(status)
    }

    /// The member in use first, for its size; others only until they have told their version.
    fn members_to_ask(&self) -> Vec<Arc<Member>> {
        let current = self.pool.current();
        let others = self.pool.members().iter().filter(|member| !Arc::ptr_eq(member, current));
        let unknown = others.filter(|member| member.version().is_none());
        std::iter::once(current).chain(unknown).map(Arc::clone).collect()
    }
}

/// What one member says of itself; also its version for later. A connection that broke is made anew once: of a member
/// that nobody has asked for long it may be one from before its restart.
async fn member_status(member: &Member) -> Result<PbStatusResponse, Failure> {
    match ask_status(member).await {
        Err(failure) if failure.is_the_members() => ask_status(member).await,
        answered => answered,
    }
}

async fn ask_status(member: &Member) -> Result<PbStatusResponse, Failure> {
    let mut client = member.maintenance.clone();
    let status = timeout(PATIENCE, client.status()).await.map_err(|_| Failure::deadline(PATIENCE))??;
    member.learn_version(status.version());
    Ok(status.0)
}

/// Alarms of the whole cluster, by member.
async fn alarms(member: &Member) -> Result<Vec<(u64, String)>, Failure> {
    let mut client = member.maintenance.clone();
    let call = client.alarm(AlarmAction::Get, AlarmType::None, None);
    let answer = timeout(PATIENCE, call).await.map_err(|_| Failure::deadline(PATIENCE))??;
    let name = |alarm: i32| match AlarmType::try_from(alarm) {
        Ok(AlarmType::Nospace) => "NOSPACE".to_owned(),
        Ok(AlarmType::Corrupt) => "CORRUPT".to_owned(),
        _ => format!("ALARM-{alarm}"),
    };
    Ok(answer.0.alarms.iter().map(|alarm| (alarm.member_id, name(alarm.alarm))).collect())
}

#[async_trait]
impl Maintenance for EtcdKv {
    /// As the contract says; an endpoint that did not answer within 2 s has an empty version.
    async fn members(&self) -> Result<Vec<MemberStatus>, KvError> {
        const MEMBERS: &str = "members";
        let members = self.shared.pool.members();
        let answers = join_all(members.iter().map(|member| async move {
            let status = self.shared.of_member(|| member_status(member)).await?;
            // kine has no alarms, and an unknown alarm is no reason to hide the rest.
            Ok::<_, Failure>((status, alarms(member).await.unwrap_or_default()))
        }))
        .await;
        let mut failed = None;
        let mut answered = false;
        let mut all = Vec::with_capacity(members.len());
        for (member, answer) in members.iter().zip(answers) {
            let mut shown = MemberStatus::default();
            match answer {
                Ok((status, alarms)) => {
                    answered = true;
                    fill(&mut shown, &status, &alarms);
                }
                Err(failure) => {
                    tracing::debug!(endpoint = member.url, %failure, "endpoint does not tell its state");
                    failed = Some(failure);
                }
            }
            shown.endpoint.clone_from(&member.url);
            all.push(shown);
        }
        match failed {
            Some(failure) if !answered => Err(failure.read(MEMBERS, None)),
            _ => Ok(all),
        }
    }

    /// As the contract says, without a deadline: a large file takes minutes.
    async fn defragment(&self, endpoint: &str) -> Result<(), KvError> {
        const DEFRAGMENT: &str = "defragment";
        let wanted = endpoint.trim_end_matches('/');
        let is_wanted =
            |url: &str| url == wanted || url.split_once("://").is_some_and(|(_, host)| host == wanted);
        let Some(member) = self.shared.pool.members().iter().find(|member| is_wanted(&member.url)) else {
            let message =
                format!("{endpoint} is not one of the endpoints, which are {}", self.shared.pool.describe());
            return Err(KvError::new(KvErrorKind::InvalidArgument, DEFRAGMENT, message));
        };
        let done = self.shared.of_member(|| async {
            let mut client = member.maintenance.clone();
            client.defragment().await.map_err(Failure::from)
        });
        done.await.map(|_| ()).map_err(|failure| failure.read(DEFRAGMENT, None))
    }
}

fn fill(shown: &mut MemberStatus, status: &PbStatusResponse, alarms: &[(u64, String)]) {
    let bytes = |size: i64| u64::try_from(size).unwrap_or(0);
    let header = status.header.as_ref();
    let id = header.map_or(0, |header| header.member_id);
    shown.leader = id != 0 && status.leader == id;
    shown.version.clone_from(&status.version);
    shown.head = Revision(header.map_or(0, |header| header.revision));
    shown.db_size = bytes(status.db_size);
    shown.db_in_use = bytes(status.db_size_in_use);
    shown.quota = Some(bytes(status.db_size_quota)).filter(|quota| *quota > 0);
    shown.alarms = alarms.iter().filter(|(member, _)| *member == id).map(|(_, name)| name.clone()).collect();
}
