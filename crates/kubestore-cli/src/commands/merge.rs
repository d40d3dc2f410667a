//! What an object becomes when it is applied.

use anyhow::{Context, Result};
use jiff::Timestamp;
use kubestore::codec::{Map, Unstructured, Value};

use crate::resources::Resource;

/// Metadata that only servers write: the stored object's count.
const OF_THE_SERVER: [&str; 5] =
    ["creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "uid"];
/// Metadata that controllers write: the stored object's count unless the file has its own.
const OF_CONTROLLERS: [&str; 4] = ["finalizers", "generateName", "managedFields", "ownerReferences"];

/// Gives a new object what an API server would give it.
///
/// # Errors
/// The system has no random numbers.
pub(super) fn created(wanted: &Unstructured, resource: &Resource) -> Result<Unstructured> {
    let mut object = wanted.clone();
    object.set_resource_version("");
    object.set_uid(&random_uid()?);
    let now = Timestamp::from_second(Timestamp::now().as_second())?.to_string();
    if let Some(metadata) = object.metadata_mut() {
        for member in ["deletionGracePeriodSeconds", "deletionTimestamp", "generation"] {
            metadata.remove(member);
        }
        metadata.insert("creationTimestamp", now);
        if resource.has_generation() {
            metadata.insert("generation", 1);
        }
    }
    Ok(object)
}

/// What the file says, with what servers and controllers have put into the stored object.
pub(super) fn replaced(wanted: &Unstructured, stored: &Unstructured, replace_status: bool) -> Unstructured {
    let mut object = wanted.clone();
    let old = stored.metadata();
    if let Some(metadata) = object.metadata_mut() {
        for member in OF_THE_SERVER {
            match old.and_then(|old| old.get(member)) {
                Some(value) => metadata.insert(member, value.clone()),
                None => metadata.remove(member),
            };
        }
        for member in OF_CONTROLLERS {
            if let (None, Some(value)) = (metadata.get(member), old.and_then(|old| old.get(member))) {
                metadata.insert(member, value.clone());
            }
        }
    }
    if let (false, Some(status)) = (replace_status, stored.get("status")) {
        object.insert("status", status.clone());
    }
    object.set_resource_version(stored.resource_version());
    count_generation(&mut object, stored);
    object
}

/// A change of anything but metadata and status is a new generation, where generations are counted.
fn count_generation(object: &mut Unstructured, stored: &Unstructured) {
    let Some(generation) = stored.pointer("/metadata/generation").and_then(Value::as_i64) else { return };
    let rest = |map: &Map| -> Map {
        let is_counted = |name: &str| !matches!(name, "apiVersion" | "kind" | "metadata" | "status");
        map.iter().filter(|(name, _)| is_counted(name)).map(|(name, value)| (name, value.clone())).collect()
    };
    if rest(object) != rest(stored)
        && let Some(metadata) = object.metadata_mut()
    {
        metadata.insert("generation", generation.saturating_add(1));
    }
}

/// A random UUID, as text.
fn random_uid() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).context("the system gives no random numbers for a UID")?;
    // Version 4, variant 1.
    let number = u128::from_be_bytes(bytes) & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{number:032x}");
    Ok([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(json: &str) -> Unstructured {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_replaced_object_keeps_what_servers_and_controllers_wrote() {
        let stored = object(
            r#"{"apiVersion": "v1", "kind": "Pod", "spec": {"a": 1}, "status": {"phase": "Running"}, "metadata":
                {"name": "a", "uid": "u1", "creationTimestamp": "2024-01-01T00:00:00Z", "generation": 4,
                 "resourceVersion": "7", "labels": {"old": "1"}, "finalizers": ["f"]}}"#,
        );
        let wanted = object(
            r#"{"apiVersion": "v1", "kind": "Pod", "spec": {"a": 2}, "status": {"phase": "Failed"}, "metadata":
                {"name": "a", "uid": "u2", "generation": 1, "labels": {"new": "1"}}}"#,
        );
        let kept = object(
            r#"{"apiVersion": "v1", "kind": "Pod", "spec": {"a": 2}, "status": {"phase": "Running"}, "metadata":
                {"name": "a", "uid": "u1", "creationTimestamp": "2024-01-01T00:00:00Z", "generation": 5,
                 "resourceVersion": "7", "labels": {"new": "1"}, "finalizers": ["f"]}}"#,
        );
        assert_eq!(replaced(&wanted, &stored, false), kept);
        let status = replaced(&wanted, &stored, true);
        assert_eq!(status.pointer("/status/phase").and_then(Value::as_str), Some("Failed"));
        assert_eq!(
            replaced(&kept, &stored, false).pointer("/metadata/generation").and_then(Value::as_i64),
            Some(5)
        );
        assert_eq!(replaced(&stored, &stored, false), stored);
    }

    #[test]
    fn uids_are_random_and_of_version_4() {
        let (one, two) = (random_uid().unwrap(), random_uid().unwrap());
        assert_ne!(one, two);
        for uid in [one, two] {
            let parts: Vec<_> = uid.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12], "{uid}");
            assert_eq!(&uid[14..15], "4", "{uid}");
            assert!("89ab".contains(&uid[19..20]), "{uid}");
        }
    }
}
