//! A child process that ends with the test, whatever becomes of either.

use std::{
    io::{BufRead, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// The same test binary, running one of its functions. It is killed when this is dropped, and it ends by itself when
/// the process that started it is gone.
pub struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    // Its end is how the child notices the end of this process.
    _leash: ChildStdin,
}

impl Running {
    /// Runs `function` with one environment variable, which tells it that it is the child.
    pub fn start(function: &str, variable: &str, value: &std::ffi::OsStr) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", function, "--nocapture", "--include-ignored"])
            .env(variable, value)
            .stderr(Stdio::null());
        Self::spawn(command)
    }

    /// Runs a command that runs a child in the end.
    pub fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let leash = child.stdin.take().unwrap();
        Self { child, lines, _leash: leash }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line that it tells; `None` once it is gone.
    pub fn line(&mut self) -> Option<String> {
        self.lines.next().map(Result::unwrap)
    }

    /// Waits until it tells `wanted`. Whether it did before it ended.
    pub fn tells(&mut self, wanted: &str) -> bool {
        self.lines.any(|line| line.unwrap() == wanted)
    }

    /// Kills it at once; what it told before can still be read.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// For the child: ends this process as soon as the one that started it is gone.
pub fn die_with_parent() {
    std::thread::spawn(|| {
        let _ = std::io::stdin().lock().read_line(&mut String::new());
        std::process::abort();
    });
}

/// For the child: one line, whole, since a write to a pipe is atomic up to 4 KiB.
pub fn tell(line: &str) {
    use std::io::Write;
    std::io::stdout().lock().write_all(format!("{line}\n").as_bytes()).unwrap();
}
