//! The key-value suite on every backend.

#[path = "kv/etcd.rs"]
mod etcd_harness;
#[path = "kv/memory.rs"]
mod memory_harness;

kubestore_conformance::kv_suite!(
    memory,
    crate::memory_harness::Memory,
    skip(restart_keeps_acknowledged_writes, "memory ends with its process"),
    skip(restart_keeps_the_history_for_watches, "memory ends with its process"),
    skip(restart_keeps_the_compaction, "memory ends with its process"),
    skip(restart_keeps_leases, "memory ends with its process"),
);

kubestore_conformance::kv_suite!(
    etcd,
    crate::etcd_harness::Etcd,
    skip(revoke_deletes_in_one_revision, "watches over etcd are to come"),
    skip(lease_expires_by_itself, "watches over etcd are to come"),
    skip(watch_from_now, "watches over etcd are to come"),
    skip(watch_from_a_past_revision, "watches over etcd are to come"),
    skip(watch_from_zero_is_from_now, "watches over etcd are to come"),
    skip(watch_from_a_future_revision, "watches over etcd are to come"),
    skip(put_event_shape, "watches over etcd are to come"),
    skip(delete_event_shape, "watches over etcd are to come"),
    skip(watch_with_previous, "watches over etcd are to come"),
    skip(watch_keeps_to_its_target, "watches over etcd are to come"),
    skip(watch_of_odd_prefixes, "watches over etcd are to come"),
    skip(refused_writes_are_not_told, "watches over etcd are to come"),
    skip(watch_around_the_compacted_revision, "watches over etcd are to come"),
    skip(delete_at_the_compacted_revision_is_told, "watches over etcd are to come"),
    skip(previous_is_left_out_when_compacted, "watches over etcd are to come"),
    skip(compaction_leaves_a_live_watch_alone, "watches over etcd are to come"),
    skip(watch_of_a_long_history, "watches over etcd are to come"),
    skip(watch_of_a_large_history, "watches over etcd are to come"),
    skip(large_revision_is_not_split, "watches over etcd are to come"),
    skip(progress_on_a_quiet_watch, "watches over etcd are to come"),
    skip(progress_is_for_the_group, "watches over etcd are to come"),
    skip(progress_of_an_empty_group, "watches over etcd are to come"),
    skip(progress_never_overtakes_events, "watches over etcd are to come"),
    skip(watch_under_concurrent_writers, "watches over etcd are to come"),
    skip(watch_is_registered_when_it_returns, "watches over etcd are to come"),
    skip(dropping_a_watch_ends_it_alone, "watches over etcd are to come"),
    skip(unread_watch_holds_up_nobody, "watches over etcd are to come"),
    skip(restart_keeps_the_history_for_watches, "watches over etcd are to come"),
    skip(restart_keeps_leases, "watches over etcd are to come"),
);
