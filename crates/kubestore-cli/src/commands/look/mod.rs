//! Looking at stored values: how they are stored, what they were, what is different.

mod decode;
mod diff;
mod found;
mod history;
mod inspect;
mod keys;
mod patch;
mod sizes;
mod stores;

use anyhow::Result;

use crate::{
    args::{DecodeArgs, DiffArgs, GlobalArgs, HistoryArgs, InspectArgs, KeysArgs},
    session::Session,
};

pub(super) async fn inspect(session: &mut Session, args: &InspectArgs) -> Result<()> {
    inspect::run(session, args).await
}

pub(super) async fn history(session: &mut Session, args: &HistoryArgs) -> Result<()> {
    history::run(session, args).await
}

pub(super) async fn diff(session: &mut Session, args: &DiffArgs) -> Result<()> {
    match &args.from {
        Some(from) => stores::run(session, from, args).await,
        None => diff::run(session, args).await,
    }
}

pub(super) async fn keys(session: &mut Session, args: &KeysArgs) -> Result<()> {
    keys::run(session, args).await
}

pub(super) async fn decode(global: &GlobalArgs, args: &DecodeArgs) -> Result<()> {
    decode::run(global, args).await
}
