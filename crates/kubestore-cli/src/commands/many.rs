//! Doing the same to many objects.

use std::{
    cell::Cell,
    future,
    io::{self, Write},
};

use anyhow::Result;
use futures_util::{StreamExt, stream};

use crate::failure::{self, AlreadyTold};

/// How many are under way at once: enough for a directory to write them with one flush to the disk.
const AT_ONCE: usize = 32;

/// Does `work` on each item and gives the results to `told`, in the order of the items. After an error nothing new is
/// begun, but what was under way is ended and told, so that nothing happens unseen.
///
/// # Errors
/// [`AlreadyTold`] when an item failed, and what `told` says.
pub(super) async fn each<I, T>(
    items: Vec<I>,
    one_by_one: bool,
    work: impl AsyncFn(&I) -> Result<T>,
    mut told: impl FnMut(&I, T) -> Result<()>,
) -> Result<()> {
    let has_failed = Cell::new(false);
    let (work, has_failed) = (&work, &has_failed);
    let mut results = stream::iter(items)
        .take_while(|_| future::ready(!has_failed.get()))
        .map(async |item| {
            let result = work(&item).await;
            has_failed.set(has_failed.get() || result.is_err());
            (item, result)
        })
        .buffered(if one_by_one { 1 } else { AT_ONCE });
    while let Some((item, result)) = results.next().await {
        match result {
            Ok(value) => told(&item, value)?,
            Err(error) => writeln!(io::stderr(), "{}", failure::line(&error))?,
        }
    }
    if has_failed.get() { Err(AlreadyTold.into()) } else { Ok(()) }
}
