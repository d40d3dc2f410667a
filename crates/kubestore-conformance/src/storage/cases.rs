//! The one list of cases, and the macro that makes tests of it.

/// Makes one test per case of the storage suite, in a module of the store's name: `memory::create_with_ttl`.
///
/// Takes the module's name and an expression that gives a [`StorageHarness`](crate::storage::StorageHarness), evaluated
/// in every test. Cases cannot be chosen, only skipped by name with a reason, as in [`kv_suite!`](crate::kv_suite).
#[macro_export]
macro_rules! storage_suite {
    ($backend:ident, $harness:expr $(, skip($skipped:ident, $reason:literal))* $(,)?) => {
        $crate::__suite! {
            run_storage, $backend, $harness, [$(($skipped, $reason))*],
            storage::create {
                create
                create_with_ttl
                create_with_key_exist
                get
                count
                transformation_failure
            }
            storage::delete {
                unconditional_delete
                conditional_delete
                delete_with_suggestion
                delete_with_suggestion_and_conflict
                delete_with_conflict
                delete_with_suggestion_of_deleted_object
                validate_deletion_with_suggestion
                validate_deletion_with_only_suggestion_valid
                preconditional_delete_with_suggestion
                preconditional_delete_with_only_suggestion_pass
            }
            storage::update {
                guaranteed_update
                guaranteed_update_with_ttl
                guaranteed_update_checks_stored_data
                guaranteed_update_with_conflict
                guaranteed_update_with_suggestion_and_conflict
            }
            storage::list {
                list
                consistent_list
                get_list_non_recursive
                get_list_recursive_prefix
            }
            storage::pages {
                list_continuation
                list_pagination_rare_object
                list_continuation_with_filter
                list_inconsistent_continuation
                list_resource_version_match
            }
            storage::watch {
                watch
                watch_from_zero
                delete_trigger_watch
                watch_from_non_zero
                delayed_watch_delivery
                watch_error
                watch_context_cancel
                watcher_timeout
                watch_delete_event_object_have_latest_rv
                watch_initialization_signal
            }
            storage::watch_selectors {
                cluster_scoped_watch
                namespace_scoped_watch
            }
            storage::watch_bookmarks {
                progress_notify
                watch_dispatch_bookmark_events
                optional_watch_bookmarks_with_correct_resource_version
                send_initial_events_backward_compatibility
                watch_semantics
                watch_semantic_initial_events_extended
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
            include_str!("create.rs"),
            include_str!("delete.rs"),
            include_str!("update.rs"),
            include_str!("list.rs"),
            include_str!("pages.rs"),
            include_str!("watch.rs"),
            include_str!("watch_selectors.rs"),
            include_str!("watch_bookmarks.rs"),
        ];
        let written: Vec<&str> = sources
            .iter()
            .flat_map(|source| source.lines())
            .filter_map(|line| line.strip_prefix("pub async fn ")?.split('(').next())
            .collect();
        assert_eq!(listed, written);
        assert_eq!(listed.len(), 48, "the reference has 30 cases of stores and 18 of watches");
    }
}
