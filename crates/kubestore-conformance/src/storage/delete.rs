//! Cases: deleting objects, with and without a cached copy.

use std::sync::Arc;

use async_trait::async_trait;
use kubestore_core::{
    DeleteOptions, ErrorKind, Preconditions, ResponseMeta, Result, Storage, StorageError, UpdateOptions,
    Updated, ValidateDeletion,
};

use super::{
    Pod, StorageHarness,
    fixture::{Fixture, Validate, holds, same},
};

fn named() -> Pod {
    Pod::new("test-ns", "name")
}

/// A delete returns the object as it was, with the resource version of the deletion.
pub async fn unconditional_delete(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&named()).await;
    let deleted = fx.delete(&created.key()).await;
    holds!(fx, deleted.version() > created.version(), "{deleted:?} has no newer version than {created:?}");
    same!(fx, deleted.at(&created.resource_version), created, "the deleted object");
    fx.is_gone(&created.key()).await;
    fx.fails(fx.try_delete("/non-existing", None).await, ErrorKind::KeyNotFound, "delete of nothing");
}

/// A precondition on the UID is checked on what is stored.
pub async fn conditional_delete(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&named().with_uid("A")).await;
    let key = created.key();
    let other = delete_uid(&fx, &key, "B", None).await;
    fx.fails(other, ErrorKind::InvalidObject, "delete with another UID");
    same!(fx, fx.ok(fx.get(&key).await, "get"), Some(created.clone()), "object after the refused delete");
    let deleted = fx.ok(delete_uid(&fx, &key, "A", None).await, "delete with the right UID");
    holds!(fx, deleted.version() > created.version(), "{deleted:?} has no newer version than {created:?}");
    same!(fx, deleted.at(&created.resource_version), created, "the deleted object");
}

async fn delete_uid(fx: &Fixture, key: &str, uid: &str, cached: Option<Pod>) -> Result<Pod> {
    let options = DeleteOptions::default().with_preconditions(Preconditions::uid(uid));
    fx.store().delete(key, options, &mut Validate(|_: &Pod| Ok(())), cached).await
}

/// A right cached copy does.
pub async fn delete_with_suggestion(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&named()).await;
    fx.ok(fx.try_delete(&created.key(), Some(created.clone())).await, "delete with a cached copy");
    fx.is_gone(&created.key()).await;
}

/// An outdated cached copy is found out, and what is deleted and returned is the current object.
pub async fn delete_with_suggestion_and_conflict(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&named()).await;
    let updated = fx.change(&created.key(), |pod| pod.labelled("foo", "bar")).await;
    let deleted =
        fx.ok(fx.try_delete(&created.key(), Some(created.clone())).await, "delete with an old copy");
    fx.is_gone(&created.key()).await;
    let version = deleted.resource_version.clone();
    same!(fx, deleted, updated.at(&version), "the deleted object");
}

/// Changes the object once in the middle of its deletion, on the first validation.
struct Interfere {
    store: Arc<dyn Storage<Pod>>,
    calls: usize,
    updated: Option<Pod>,
}

#[async_trait]
impl ValidateDeletion<Pod> for Interfere {
    async fn validate(&mut self, current: &Pod) -> Result<()> {
        self.calls += 1;
        if self.updated.is_none() {
            let mut label = |pod: Option<Pod>, _: ResponseMeta| {
                Ok(Updated::new(pod.unwrap_or_default().labelled("foo", "bar")))
            };
            let key = current.key();
            let options = UpdateOptions::default();
            self.updated = Some(self.store.guaranteed_update(&key, options, &mut label, None).await?);
        }
        Ok(())
    }
}

/// A change in the middle of a deletion is seen: the new object is validated, and it is what goes.
pub async fn delete_with_conflict(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&named()).await;
    let mut validate = Interfere { store: fx.shared_store(), calls: 0, updated: None };
    let deleted = fx.store().delete(&created.key(), DeleteOptions::default(), &mut validate, None).await;
    let deleted = fx.ok(deleted, "delete");
    same!(fx, validate.calls, 2, "validations");
    fx.is_gone(&created.key()).await;
    let version = deleted.resource_version.clone();
    same!(fx, Some(deleted), validate.updated.map(|pod| pod.at(&version)), "the deleted object");
}

/// A cached copy of what is gone does not bring it back: there is nothing to delete.
pub async fn delete_with_suggestion_of_deleted_object(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&named()).await;
    fx.ok(fx.try_delete(&created.key(), Some(created.clone())).await, "first delete");
    let again = fx.try_delete(&created.key(), Some(created)).await;
    fx.fails(again, ErrorKind::KeyNotFound, "second delete, with the old copy");
}

/// Refuses every object, and counts.
async fn refused_once(fx: &Fixture, created: &Pod) {
    let mut calls = 0;
    let mut refuse = Validate(|_: &Pod| {
        calls += 1;
        Err(StorageError::callback("validation error"))
    });
    let options = DeleteOptions::default();
    let refused = fx.store().delete(&created.key(), options, &mut refuse, Some(created.clone())).await;
    let error = fx.fails(refused, ErrorKind::Callback, "delete that is not allowed");
    let cause = std::error::Error::source(&error).map(ToString::to_string);
    same!(fx, cause.as_deref(), Some("validation error"), "the validation's own error in {error:?}");
    same!(fx, calls, 1, "validations of a current copy");
}

/// Deletes with an old copy, allowing only what is labelled `foo=bar`; gives the number of validations too.
async fn delete_if_labelled(fx: &Fixture, old: &Pod) -> (Result<Pod>, usize) {
    let mut calls = 0;
    let mut validate = Validate(|pod: &Pod| {
        calls += 1;
        let labelled = pod.labels.get("foo").is_some_and(|value| value == "bar");
        if labelled { Ok(()) } else { Err(StorageError::callback("stale object")) }
    });
    let deleted =
        fx.store().delete(&old.key(), DeleteOptions::default(), &mut validate, Some(old.clone())).await;
    (deleted, calls)
}

/// A refusal of a current copy is final; one of an outdated copy is not, the current object is tried.
pub async fn validate_deletion_with_suggestion(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&named()).await;
    refused_once(&fx, &created).await;
    fx.change(&created.key(), |pod| pod.labelled("foo", "bar")).await;
    let (deleted, calls) = delete_if_labelled(&fx, &created).await;
    fx.ok(deleted, "delete with an old copy");
    holds!(fx, calls <= 2, "{calls} validations, want two at most");
    fx.is_gone(&created.key()).await;
}

/// That an outdated copy is allowed to go does not allow the current object to.
pub async fn validate_deletion_with_only_suggestion_valid(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&named().labelled("foo", "bar")).await;
    refused_once(&fx, &created).await;
    let updated = fx.change(&created.key(), |pod| pod.labelled("foo", "barbar")).await;
    let (refused, calls) = delete_if_labelled(&fx, &created).await;
    let error = fx.fails(refused, ErrorKind::Callback, "delete of what is not allowed to go");
    let cause = std::error::Error::source(&error).map(ToString::to_string);
    same!(fx, cause.as_deref(), Some("stale object"), "the validation's own error in {error:?}");
    holds!(fx, calls <= 2, "{calls} validations, want two at most");
    same!(fx, fx.ok(fx.get(&created.key()).await, "get"), Some(updated), "object after the refused delete");
}

/// A precondition that an outdated copy fails is checked again on the current object.
pub async fn preconditional_delete_with_suggestion(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&named()).await;
    let key = created.key();
    fx.change(&key, |pod| pod.with_uid("myUID")).await;
    fx.ok(delete_uid(&fx, &key, "myUID", Some(created)).await, "delete with an old copy");
    fx.is_gone(&key).await;
}

/// A precondition that only an outdated copy passes does not hold.
pub async fn preconditional_delete_with_only_suggestion_pass(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&named().with_uid("myUID")).await;
    let key = created.key();
    let updated = fx.change(&key, |pod| pod.with_uid("otherUID")).await;
    let refused = delete_uid(&fx, &key, "myUID", Some(created)).await;
    fx.fails(refused, ErrorKind::InvalidObject, "delete with an old copy of the right UID");
    same!(fx, fx.ok(fx.get(&key).await, "get"), Some(updated), "object after the refused delete");
}
