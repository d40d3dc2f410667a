//! One counter for equal keys.

use std::sync::Arc;

use crate::{Key, usage::Usage};

/// The keys of a configuration. A key that stands in several rules is one key, and its writes are counted together.
#[derive(Default)]
pub(super) struct KeyPool(Vec<(&'static str, Key, Arc<Usage>)>);

impl KeyPool {
    pub(super) fn usage(&mut self, provider: &'static str, key: &Key) -> Arc<Usage> {
        if let Some((.., usage)) = self.0.iter().find(|(name, known, _)| *name == provider && known == key) {
            return Arc::clone(usage);
        }
        let usage = Arc::<Usage>::default();
        self.0.push((provider, key.clone(), Arc::clone(&usage)));
        usage
    }
}
