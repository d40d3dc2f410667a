//! Appears with its issue.

fn main() {}
