//! What the suites' macros expand to.

/// One module with one test per case; see [`kv_suite!`](crate::kv_suite).
///
/// An inner macro is told each case's name and knows which of them are to be ignored, since names cannot be compared
/// in any other way.
#[doc(hidden)]
#[macro_export]
macro_rules! __suite {
    (
        $run:ident, $backend:ident, $harness:expr, [$(($skipped:ident, $reason:literal))*],
        $($level:ident :: $group:ident { $($case:ident)* })*
    ) => {
        #[cfg(test)]
        mod $backend {
            macro_rules! test_of {
                $((($skipped) $body:expr) => {
                    #[test]
                    #[ignore = $reason]
                    fn $skipped() {
                        $body
                    }
                };)*
                (($named:ident) $body:expr) => {
                    #[test]
                    fn $named() {
                        $body
                    }
                };
            }

            $($(test_of! {
                ($case) $crate::$run(stringify!($case), $harness, |harness| {
                    ::std::boxed::Box::pin($crate::$level::$group::$case(harness))
                })
            })*)*

            // Fails to compile when what is skipped is not a case.
            $(const _: fn() = $skipped;)*
        }
    };
}
