//! Text inside of stored bytes.

use std::borrow::Cow;

use bytes::Bytes;

/// Text that is a part of the stored bytes, or that had to be made because they hold it in an escaped form.
#[derive(Clone, Debug)]
pub(super) enum Text {
    /// Where it begins and how long it is. It was checked to be UTF-8.
    Part(u32, u32),
    Made(Box<str>),
}

impl Text {
    /// `text`, which lies in `data` if it is borrowed.
    pub(super) fn new(data: &[u8], text: Cow<'_, str>) -> Self {
        match text {
            Cow::Borrowed(part) => Self::part_of(data, part).unwrap_or_else(|| Self::Made(part.into())),
            Cow::Owned(made) => Self::Made(made.into()),
        }
    }

    fn part_of(data: &[u8], part: &str) -> Option<Self> {
        let start = part.as_ptr().addr().checked_sub(data.as_ptr().addr())?;
        let end = start.checked_add(part.len())?;
        (end <= data.len()).then_some(())?;
        Some(Self::Part(u32::try_from(start).ok()?, u32::try_from(part.len()).ok()?))
    }

    pub(super) fn of<'a>(&'a self, data: &'a Bytes) -> &'a str {
        match self {
            Self::Part(start, length) => {
                let (start, length) = (*start as usize, *length as usize);
                // Out of range and not UTF-8 cannot be: the text was found there.
                data.get(start..start + length)
                    .and_then(|part| std::str::from_utf8(part).ok())
                    .unwrap_or_default()
            }
            Self::Made(text) => text,
        }
    }
}
