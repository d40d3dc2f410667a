//! TLS: what the files hold, as a configuration that is made anew when they change, and the handshake.

mod fault;
mod files;
mod handshake;
mod source;
mod verify;

pub(crate) use self::{handshake::handshake, source::TlsSource};
