//! Watches: who is waiting for what, and the streams that read the log.

mod hub;
mod stream;

pub(crate) use hub::Hub;
pub(crate) use stream::{WatchStream, closed};
