//! How a failure is told: in one line.

use std::{error::Error, fmt, io};

use kubestore::StorageError;

/// A command line that cannot be meant. Exits with 2, as those do that the parser refuses.
#[derive(Debug)]
pub(crate) struct Usage(String);

impl Usage {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Usage {}

/// Some of several things failed, each of which has been told already.
#[derive(Debug)]
pub(crate) struct AlreadyTold;

impl fmt::Display for AlreadyTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not everything was done")
    }
}

impl Error for AlreadyTold {}

/// The line for `error`.
pub(crate) fn line(error: &anyhow::Error) -> String {
    format!("error: {}", chain(error))
}

/// What failed and its causes, each thing said once.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    join(error.chain())
}

/// The same error with what helps after its causes.
pub(crate) fn with_hint(error: impl Into<anyhow::Error>, hint: &str) -> anyhow::Error {
    anyhow::Error::msg(format!("{}; {hint}", chain(&error.into())))
}

/// Why a store could not do something, and the causes of that, without what it was and with which key.
pub(crate) fn causes(error: &StorageError) -> String {
    let (mut causes, mut next) = (Vec::new(), error.source());
    while let Some(cause) = next {
        causes.push(cause);
        next = cause.source();
    }
    let causes = join(causes.into_iter());
    if causes.is_empty() { error.message().to_owned() } else { causes }
}

fn join<'a>(causes: impl Iterator<Item = &'a (dyn Error + 'static)>) -> String {
    let mut line = String::new();
    for cause in causes {
        let text = one_line(&cause.to_string());
        if text.is_empty() || line.contains(&text) {
            continue;
        }
        if !line.is_empty() {
            line.push_str(": ");
        }
        line.push_str(&text);
    }
    line
}

/// The exit code, and whether there is something to tell.
pub(crate) fn exit(error: &anyhow::Error) -> (u8, bool) {
    let is_broken_pipe = |cause: &(dyn Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    if error.is::<AlreadyTold>() {
        (1, false)
    } else if error.chain().any(is_broken_pipe) {
        // The reader of our output has seen enough.
        (0, false)
    } else if error.chain().any(<dyn Error>::is::<Usage>) {
        (2, true)
    } else {
        (1, true)
    }
}

fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(|c: char| c.is_control()) {
        match word.strip_suffix(|c: char| c.is_control()) {
            Some(word) => {
                out.push_str(word.trim_end());
                out.push(' ');
            }
            None => out.push_str(word),
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn causes_follow_and_nothing_is_said_twice() {
        let error =
            anyhow!("connection refused").context("no answer\nfrom a: connection refused").context("get");
        assert_eq!(line(&error), "error: get: no answer from a: connection refused");
        assert_eq!(exit(&error), (1, true));
    }

    #[test]
    fn usage_exits_with_2_and_a_closed_pipe_quietly() {
        assert_eq!(exit(&Usage::new("x").into()), (2, true));
        assert_eq!(exit(&anyhow::Error::from(Usage::new("x")).context("y")), (2, true));
        let closed = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("write");
        assert_eq!(exit(&closed), (0, false));
        assert_eq!(exit(&AlreadyTold.into()), (1, false));
    }
}
