#![doc = include_str!("../README.md")]

mod clock;

pub use clock::ManualClock;
