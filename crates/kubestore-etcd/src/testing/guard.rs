//! Processes that do not outlive the test, however it ends.

use std::{
    io,
    process::{Child, Command, Stdio},
};

/// Beside a process: kills it when this process is gone, even by a signal.
#[derive(Debug)]
pub(super) struct Guard(Child);

impl Guard {
    pub(super) fn of(child: &Child) -> io::Result<Self> {
        // The pipe closes with this process, and only then does the reading end.
        let guard = Command::new("sh")
            .args(["-c", "read _; kill -9 \"$1\"", "sh", &child.id().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self(guard))
    }
}

impl Drop for Guard {
    /// Before the process is reaped, whose number somebody else may get then.
    fn drop(&mut self) {
        let _killed = self.0.kill();
        let _reaped = self.0.wait();
    }
}
