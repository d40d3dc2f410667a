//! What a backend's author provides so that the suites can run on it.

use std::{error::Error, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use kubestore_kv::Kv;

/// A backend under test: starts instances of it.
///
/// A case asks for what it needs with [`Isolation`] and through the hooks of [`Instance`]. A harness answers
/// [`Unsupported`] to what it cannot do, and the case then fails with a text that says how to skip it by name; no case
/// ever passes unrun.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use async_trait::async_trait;
/// use kubestore_conformance::{Harness, Instance, Isolation, Unsupported};
/// use kubestore_kv::Kv;
///
/// #[derive(Debug)]
/// struct Remote(Arc<dyn Kv>);
///
/// #[async_trait]
/// impl Harness for Remote {
///     fn name(&self) -> &str {
///         "remote"
///     }
///
///     async fn start(&self, isolation: Isolation) -> Result<Box<dyn Instance>, Unsupported> {
///         match isolation {
///             Isolation::Shared => Ok(Box::new(Tenant(Arc::clone(&self.0)))),
///             _ => Err(Unsupported::new("a remote backend has other users")),
///         }
///     }
/// }
///
/// #[derive(Debug)]
/// struct Tenant(Arc<dyn Kv>);
///
/// #[async_trait]
/// impl Instance for Tenant {
///     fn kv(&self) -> Arc<dyn Kv> {
///         Arc::clone(&self.0)
///     }
///
///     async fn advance_time(&self, by: Duration) -> Result<(), Unsupported> {
///         tokio::time::sleep(by).await;
///         Ok(())
///     }
///
///     async fn restart(&mut self) -> Result<(), Unsupported> {
///         Err(Unsupported::new("a remote backend is not ours to restart"))
///     }
/// }
/// ```
#[async_trait]
pub trait Harness: fmt::Debug + Send + Sync + 'static {
    /// The backend's name in failure texts.
    fn name(&self) -> &str;

    /// How long a case waits for what must happen before it fails. 10 seconds by default; a far or busy backend may need
    /// more.
    fn patience(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// Gives an instance that stays usable until it is dropped.
    ///
    /// # Errors
    /// The harness cannot isolate to this degree. Anything else that goes wrong is a panic: it fails the case.
    async fn start(&self, isolation: Isolation) -> Result<Box<dyn Instance>, Unsupported>;
}

/// How alone a case is on its instance.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// Others may write to the same instance meanwhile, under other prefixes. Nobody compacts.
    Shared,
    /// Nobody else writes or compacts while the case runs. The instance may hold older data and be compacted.
    Exclusive,
}

/// A running backend.
///
/// Every case works under a key prefix of its own, chosen by the suite, so an instance may hold other data.
#[async_trait]
pub trait Instance: fmt::Debug + Send + Sync + 'static {
    /// The backend.
    fn kv(&self) -> Arc<dyn Kv>;

    /// Lets `by` pass for the backend: moves its clock, or waits.
    ///
    /// # Errors
    /// The backend's time can neither be moved nor waited for.
    async fn advance_time(&self, by: Duration) -> Result<(), Unsupported>;

    /// Stops the backend, as abruptly as the harness can, and starts it again on the same data. Asked for on
    /// [`Isolation::Exclusive`] instances only; what [`kv`](Self::kv) gave before has been dropped, and it is asked
    /// for again afterwards.
    ///
    /// # Errors
    /// The backend keeps nothing, or is not the harness's to restart.
    async fn restart(&mut self) -> Result<(), Unsupported>;
}

/// A harness cannot do what a case needs; says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    reason: String,
}

impl Unsupported {
    /// It cannot be done because of `reason`.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not supported: {}", self.reason)
    }
}

impl Error for Unsupported {}
