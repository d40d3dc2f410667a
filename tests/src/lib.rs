//! Fixtures and the replayer of recordings.
