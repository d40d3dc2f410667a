#![doc = include_str!("../README.md")]

mod config;
mod grant;
mod manager;
mod state;

pub use config::LeaseManagerConfig;
pub use manager::LeaseManager;
