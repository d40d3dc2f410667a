//! The key-value suite finds fault: each case here must fail on a backend with one flaw.

#[path = "flaws/backend.rs"]
mod backend;

use kubestore_conformance::{Case, kv, run};

use backend::{Flaw, Flawed};

/// Whether `case` fails on a backend that has `flaw`, and passes on the same without it.
fn finds(flaw: Flaw, case: Case) {
    run("the case on a good backend", Flawed(None), case);
    let failed =
        std::thread::spawn(move || run("the case on a flawed backend", Flawed(Some(flaw)), case)).join();
    assert!(failed.is_err(), "{flaw:?} goes unnoticed");
}

macro_rules! flaws {
    ($($test:ident: $flaw:ident, $group:ident::$case:ident;)*) => {$(
        #[test]
        fn $test() {
            finds(Flaw::$flaw, |harness| Box::pin(kv::$group::$case(harness)));
        }
    )*};
}

flaws! {
    past_revision_ignored_by_get: GetIgnoresRevision, get::get_at_a_past_revision;
    head_of_the_past: HeadIsRevisionAsked, get::get_at_a_past_revision_tells_the_newest_head;
    future_revision_read: FutureIsNow, get::get_at_a_future_revision;
    future_revision_listed: FutureIsNow, list::list_at_an_odd_revision;
    list_out_of_order: ListReversed, list::list_is_in_byte_order;
    prefix_cut_at_the_slash: PrefixWithoutSlash, list::list_keeps_to_its_prefix;
    start_exclusive: StartExclusive, list::list_starts_inclusively;
    limit_ignored: LimitIgnored, list::list_with_a_limit;
    more_never_told: NeverMore, list::list_with_a_limit;
    count_of_the_page: CountIsPage, list::list_with_a_limit;
    values_in_a_key_only_list: KeysOnlyIgnored, list::list_without_values;
    past_revision_ignored_by_list: ListIgnoresRevision, list::list_at_a_past_revision;
    pages_of_different_revisions: ListIgnoresRevision, list::pages_at_one_revision_add_up;
    count_is_off: CountIsOff, list::count_follows_writes;
    parts_without_an_end: ChunksWithoutEnd, chunks::chunks_equal_the_list;
    part_missing: ChunksLoseOne, chunks::chunks_of_a_long_range;
    parts_of_different_revisions: ChunksOfTwoRevisions, chunks::chunks_are_of_one_revision;
    create_overwrites: CreateOverwrites, put::create_is_conditional;
    current_not_shown: ConflictHidesCurrent, put::put_conflicts;
    current_always_shown: ConflictShowsCurrent, put::put_conflicts;
    refused_write_takes_a_revision: ConflictWrites, put::each_write_takes_one_revision;
    same_bytes_not_written: SameBytesSkipped, put::update_with_the_same_bytes_is_a_write;
    absent_delete_writes: AbsentDeleteWrites, delete::delete_of_an_absent_key_writes_nothing;
    deletes_unconditionally: DeleteUnconditional, delete::delete_conflicts;
    lease_ignored: LeaseIgnored, lease::put_decides_the_lease;
    revoke_does_nothing: RevokeDoesNothing, lease::revoke_deletes_in_one_revision;
    revoke_in_two_revisions: RevokeInSteps, lease::revoke_deletes_in_one_revision;
    unknown_lease_taken: LeaseIgnored, lease::unknown_lease_is_an_error;
    time_to_live_without_end: LeaseTtlUnbounded, lease::grant_has_bounds;
    compacted_twice: CompactTwice, compact::compaction_errors;
    compaction_does_nothing: CompactDoesNothing, compact::compaction_forgets_below_its_revision;
    event_lost: WatchLosesEvent, watch::watch_from_now;
    event_repeated: WatchRepeatsEvent, watch::watch_from_a_past_revision;
    events_swapped: WatchSwapsEvents, watch_history::watch_of_a_long_history;
    revision_split: WatchSplitsRevision, lease::revoke_deletes_in_one_revision;
    previous_missing: WatchWithoutPrevious, watch::watch_with_previous;
    previous_unasked: WatchAlwaysPrevious, watch::put_event_shape;
    value_in_a_deletion: WatchDeletionHasVersion, watch::delete_event_shape;
    start_off_by_one: WatchStartsLate, watch::watch_from_a_past_revision;
    compacted_start_taken: WatchForgivesCompacted, watch_history::watch_around_the_compacted_revision;
    watch_registered_late: WatchLazy, watch_group::watch_is_registered_when_it_returns;
    progress_of_the_future: ProgressOvertakes, watch_group::progress_never_overtakes_events;
    progress_for_all: ProgressForAll, watch_group::progress_is_for_the_group;
    limit_on_size_missing: SizeUnlimited, limits::too_large_value_is_refused;
    two_creates_win: RacyCreates, concurrency::one_of_many_creates_wins;
    list_lags_behind: ListLags, concurrency::list_at_its_head_is_complete;
}
