//! The one list of cases, and the macro that makes tests of it.

/// Makes one test per case of the key-value suite, in a module of the backend's name: `memory::create_is_conditional`.
///
/// Takes the module's name and an expression that gives a [`Harness`](crate::Harness), evaluated in every test. There
/// is no way to choose cases, so a backend cannot forget one; what it deliberately does not do is named with its
/// reason, and then shows as ignored:
///
/// ```text
/// kubestore_conformance::kv_suite!(
///     my_backend,
///     crate::MyBackend,
///     skip(restart_keeps_leases, "nothing is kept on disk"),
/// );
/// ```
///
/// The crate's page shows the whole.
#[macro_export]
macro_rules! kv_suite {
    ($backend:ident, $harness:expr $(, skip($skipped:ident, $reason:literal))* $(,)?) => {
        $crate::__suite! {
            run, $backend, $harness, [$(($skipped, $reason))*],
            kv::get {
                get_of_a_missing_key
                get_returns_what_was_put
                get_is_binary_safe
                get_at_a_past_revision
                get_at_a_past_revision_tells_the_newest_head
                get_at_a_future_revision
                get_at_no_positive_revision_is_the_newest
                empty_key_is_refused
                errors_say_where
            }
            kv::list {
                list_is_in_byte_order
                list_keeps_to_its_prefix
                list_of_a_prefix_that_ends_in_ff
                list_of_the_whole_key_space
                list_starts_inclusively
                list_with_a_limit
                list_without_values
                list_at_a_past_revision
                pages_at_one_revision_add_up
                list_at_an_odd_revision
                list_tells_the_head
                count_follows_writes
            }
            kv::chunks {
                chunks_equal_the_list
                chunks_of_a_long_range
                chunks_are_of_one_revision
                chunks_at_a_future_revision
            }
            kv::put {
                create_is_conditional
                update_moves_revision_and_version
                update_with_the_same_bytes_is_a_write
                put_conflicts
                put_on_a_version
                put_after_delete_starts_anew
                each_write_takes_one_revision
            }
            kv::delete {
                delete_removes_the_key
                delete_conflicts
                delete_on_a_version
                delete_of_an_absent_key_writes_nothing
            }
            kv::lease {
                grant_is_at_least_what_was_asked
                grant_has_bounds
                lease_info_tells_what_is_left
                unknown_lease_is_an_error
                conflict_comes_before_unknown_lease
                put_decides_the_lease
                delete_takes_the_key_off_its_lease
                revoke_deletes_in_one_revision
                revoke_of_an_unused_lease_writes_nothing
                lease_expires_by_itself
                lease_info_follows_the_time
            }
            kv::compact {
                compaction_forgets_below_its_revision
                compaction_keeps_the_state
                compaction_keeps_later_history
                compaction_at_the_head
                compaction_errors
                status_tells_head_and_compaction
            }
            kv::watch {
                watch_from_now
                watch_from_a_past_revision
                watch_from_zero_is_from_now
                watch_from_a_future_revision
                put_event_shape
                delete_event_shape
                watch_with_previous
                watch_keeps_to_its_target
                watch_of_odd_prefixes
                refused_writes_are_not_told
            }
            kv::watch_history {
                watch_around_the_compacted_revision
                delete_at_the_compacted_revision_is_told
                previous_is_left_out_when_compacted
                compaction_leaves_a_live_watch_alone
                watch_of_a_long_history
                watch_of_a_large_history
                large_revision_is_not_split
            }
            kv::watch_group {
                progress_on_a_quiet_watch
                progress_is_for_the_group
                progress_of_an_empty_group
                progress_goes_on_after_a_compacted_watch
                progress_is_forgotten_before_the_start
                progress_never_overtakes_events
                watch_under_concurrent_writers
                watch_is_registered_when_it_returns
                dropping_a_watch_ends_it_alone
                unread_watch_holds_up_nobody
            }
            kv::limits {
                large_value_is_taken
                too_large_value_is_refused
                answers_may_be_large
            }
            kv::concurrency {
                one_of_many_creates_wins
                concurrent_updates_lose_nothing
                reads_see_acknowledged_writes
                list_at_its_head_is_complete
                dropped_write_is_whole_or_absent
            }
            kv::restart {
                restart_keeps_acknowledged_writes
                restart_keeps_the_history_for_watches
                restart_keeps_the_compaction
                restart_keeps_leases
            }
        }
    };
}

#[cfg(test)]
mod tests {
    /// Every public case is in the list, and the list is of cases: a case that is written but not listed would never
    /// run.
    #[test]
    fn every_case_is_listed() {
        let listed: Vec<&str> = include_str!("cases.rs")
            .lines()
            .filter_map(|line| line.strip_prefix("                "))
            .filter(|name| name.bytes().all(|letter| letter.is_ascii_lowercase() || letter == b'_'))
            .collect();
        let sources = [
            include_str!("get.rs"),
            include_str!("list.rs"),
            include_str!("chunks.rs"),
            include_str!("put.rs"),
            include_str!("delete.rs"),
            include_str!("lease.rs"),
            include_str!("compact.rs"),
            include_str!("watch.rs"),
            include_str!("watch_history.rs"),
            include_str!("watch_group.rs"),
            include_str!("limits.rs"),
            include_str!("concurrency.rs"),
            include_str!("restart.rs"),
        ];
        let written: Vec<&str> = sources
            .iter()
            .flat_map(|source| source.lines())
            .filter_map(|line| line.strip_prefix("pub async fn ")?.split('(').next())
            .collect();
        assert_eq!(listed, written);
        assert!(listed.len() > 80, "only {} cases were found", listed.len());
    }
}
