//! What a workload asks of either side.

use async_trait::async_trait;
use futures_util::stream::BoxStream;

use crate::Outcome;

/// A store, or a bare client that makes the same requests.
#[async_trait]
pub(crate) trait Side: Send + Sync + 'static {
    /// Makes the objects of the numbers below `count`, so that creating them is all that is measured.
    fn prepare(&self, count: usize) -> Outcome<()>;
    async fn create(&self, number: usize) -> Outcome<()>;
    async fn get(&self, number: usize) -> Outcome<()>;
    /// A whole list in pages of `limit`, of the objects on `node`: how many calls, and how many objects.
    async fn list(&self, limit: i64, node: Option<&str>) -> Outcome<(usize, usize)>;
    /// A whole list that is dropped as it comes: how many parts, and how many objects.
    async fn list_stream(&self) -> Outcome<(usize, usize)>;
    /// Writes `tag` into the object; "" leaves it as it is.
    async fn update(&self, number: usize, tag: &str) -> Outcome<()>;
    async fn delete(&self, number: usize) -> Outcome<()>;
    async fn count(&self) -> Outcome<i64>;
    /// What happens after `revision`; an item is a number of events.
    async fn watch(&self, revision: i64) -> Outcome<BoxStream<'static, Outcome<usize>>>;
}
