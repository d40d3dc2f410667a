//! `kubestore-store` without any of our codecs: it holds objects of a type of one's own, written in a way of one's own.

use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use kubestore_core::{
    BoxError, Codec, CodecError, CreateOptions, Found, InvalidResourceVersion, ListOptions, Storage,
    StorageExt, Versioner, Wanted,
};
use kubestore_embedded::Embedded;
use kubestore_store::Store;

/// A line of text.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Line {
    text: String,
    version: u64,
}

impl Line {
    fn new(text: &str) -> Self {
        Self { text: text.to_owned(), version: 0 }
    }
}

/// Lines as plain UTF-8.
#[derive(Debug)]
struct Plain;

impl Codec<Line> for Plain {
    fn encode(&self, line: &Line) -> Result<Bytes, CodecError> {
        Ok(line.text.clone().into())
    }

    fn decode(&self, data: Bytes) -> Result<Line, CodecError> {
        let text = std::str::from_utf8(&data);
        text.map(Line::new).map_err(|error| CodecError::new("the line is not UTF-8").with_source(error))
    }

    fn skim<'a>(&self, _: &'a [u8], _: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        Ok(None)
    }
}

impl Versioner<Line> for Plain {
    fn resource_version(&self, line: &Line) -> Result<u64, InvalidResourceVersion> {
        Ok(line.version)
    }

    fn set_resource_version(&self, line: &mut Line, version: u64) -> Result<(), BoxError> {
        line.version = version;
        Ok(())
    }

    fn prepare_for_storage(&self, line: &mut Line) -> Result<(), BoxError> {
        line.version = 0;
        Ok(())
    }

    fn uid<'a>(&self, _: &'a Line) -> Cow<'a, str> {
        Cow::Borrowed("")
    }

    fn find<'a>(&self, _: &'a Line, wanted: &Wanted) -> Found<'a> {
        wanted.nothing_found()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let lines = Store::builder(Arc::new(Embedded::in_memory()), Arc::new(Plain), Arc::new(Plain)).build();
    let created = lines.create("/lines/a", Line::new("one"), CreateOptions::default()).await?;
    assert_eq!(created, Line { text: "one".to_owned(), version: 2 });
    lines.create("/lines/b", Line::new("two"), CreateOptions::default()).await?;

    let error = lines
        .create("/lines/a", Line::new("three"), CreateOptions::default())
        .await
        .expect_err("it is there");
    assert!(error.is_exist(), "{error}");

    let page = lines.get_list("/lines", ListOptions::recursive().with_limit(1)).await?;
    assert_eq!(page.items, [created]);
    let token = page.continue_token.ok_or("there is a second page")?;
    let page = lines.get_list("/lines", ListOptions::recursive().with_continue_token(token)).await?;
    assert_eq!(page.items, [Line { text: "two".to_owned(), version: 3 }]);
    assert_eq!(lines.remove("/lines/b").await?.text, "two");
    assert_eq!(lines.count("/lines").await?, 1);
    Ok(())
}
