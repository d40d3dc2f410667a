//! Tests of the durable form that look below its surface: at a disk that fails, and at one that loses power.

mod faults;
mod full;
mod power;
mod rig;
mod torn;
