//! What the options of all long jobs have in common.

/// Gives options the two settings that every long job has: who is told of the progress (`$when` says when), and how long a backend may
/// be away.
macro_rules! job_options {
    ($options:ident, $when:literal) => {
        impl $options {
            #[doc = concat!("Tells the progress", $when, "; `observe` should be quick.")]
            #[must_use]
            pub fn on_progress(mut self, observe: impl Fn(&crate::Progress) + Send + Sync + 'static) -> Self {
                self.observer = crate::progress::Observer::new(observe);
                self
            }

            /// How long a backend may be away before the job fails; 30 seconds by default.
            #[must_use]
            pub fn retry_for(mut self, patience: std::time::Duration) -> Self {
                self.retry_for = patience;
                self
            }
        }
    };
}

pub(crate) use job_options;
