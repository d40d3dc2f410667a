//! Checks whose failure says on which backend.

/// Fails the case unless both sides are equal; the text after them says what was compared.
macro_rules! same {
    ($fixture:expr, $got:expr, $want:expr, $($what:tt)+) => {
        match (&$got, &$want) {
            (got, want) => assert!(
                got == want,
                "[{}] {}: got {got:?}, want {want:?}",
                $fixture.backend(),
                format_args!($($what)+)
            ),
        }
    };
}

/// Fails the case unless the condition holds; the text after it says what should have been.
macro_rules! holds {
    ($fixture:expr, $condition:expr, $($what:tt)+) => {
        assert!($condition, "[{}] {}", $fixture.backend(), format_args!($($what)+))
    };
}

pub(crate) use {holds, same};
