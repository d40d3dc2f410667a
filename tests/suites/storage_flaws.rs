//! The storage suite finds fault: each case here must fail on a store with one flaw.

#[path = "flaws/store.rs"]
mod flawed;
#[path = "storage/mod.rs"]
#[expect(dead_code, reason = "one backend of them is enough here")]
mod store_harness;
mod support;

use kubestore_conformance::{StorageCase, run_storage, storage};

use flawed::{Flaw, Flawed};

/// Whether `case` fails on a store that has `flaw`, and passes on the same without it.
fn finds(flaw: Flaw, case: StorageCase) {
    run_storage("the case on a good store", Flawed(None), case);
    let run = move || run_storage("the case on a flawed store", Flawed(Some(flaw)), case);
    assert!(std::thread::spawn(run).join().is_err(), "{flaw:?} goes unnoticed");
}

macro_rules! flaws {
    ($($test:ident: $flaw:ident, $group:ident::$case:ident;)*) => {$(
        #[test]
        fn $test() {
            finds(Flaw::$flaw, |harness| Box::pin(storage::$group::$case(harness)));
        }
    )*};
}

flaws! {
    create_takes_a_resource_version: CreateTakesVersion, create::create;
    create_replaces: CreateReplaces, create::create_with_key_exist;
    ttl_ignored: TtlIgnored, create::create_with_ttl;
    missing_is_an_error_always: MissingAlwaysFails, create::get;
    future_read: FutureIsNow, create::get;
    count_of_the_neighbour: CountByText, create::count;
    delete_returns_the_old_version: DeleteReturnsOldVersion, delete::unconditional_delete;
    delete_ignores_preconditions: DeleteIgnoresPreconditions, delete::conditional_delete;
    delete_trusts_the_cached_validation: DeleteTrustsCached, delete::validate_deletion_with_only_suggestion_valid;
    refusal_of_an_old_copy_is_final: DeleteNeverRetries, delete::validate_deletion_with_suggestion;
    delete_misses_a_conflict: DeleteValidatesOnce, delete::delete_with_conflict;
    update_always_writes: UpdateAlwaysWrites, update::guaranteed_update;
    update_ignores_preconditions: UpdateIgnoresPreconditions, update::guaranteed_update;
    update_loses_a_conflict: UpdateCallsOnce, update::guaranteed_update_with_conflict;
    list_ignores_the_limit: ListIgnoresLimit, list::list;
    list_never_tells_what_remains: ListHidesRemaining, list::list;
    list_ignores_the_selector: ListIgnoresPredicate, list::list;
    list_at_an_older_revision: ListVersionIsStale, list::consistent_list;
    list_by_text: ListIsAlwaysRecursive, list::get_list_recursive_prefix;
    page_repeats: TokenIgnored, pages::list_continuation;
    list_at_another_revision: ExactIsNewest, list::get_list_non_recursive;
    deletion_not_told: WatchHidesDeletions, watch::delete_trigger_watch;
    deletion_with_the_old_version: WatchDeletionIsOld, watch::watch_delete_event_object_have_latest_rv;
    changes_told_as_added: WatchAddsAlways, watch::watch;
    selector_ignored_by_watch: WatchIgnoresPredicate, watch_selectors::namespace_scoped_watch;
    zero_is_now: WatchFromZeroIsFromNow, watch::watch_from_zero;
    watch_begins_late: WatchIsLazy, watch_bookmarks::watch_semantics;
    end_not_marked: WatchHidesBookmarks, watch_bookmarks::watch_semantic_initial_events_extended;
}
