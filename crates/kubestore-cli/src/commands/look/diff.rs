//! `kubestore diff` of two objects.

use std::io::{self, Write};

use anyhow::{Context, Result};

use super::{found, patch};
use crate::{
    args::{DiffArgs, KeyArg},
    failure::{AlreadyTold, Usage},
    output::to_yaml,
    session::Session,
};

pub(super) async fn run(session: &mut Session, args: &DiffArgs) -> Result<()> {
    let (before, after) = match args.keys.as_slice() {
        [before, after] => (before.clone(), after.clone()),
        [before] if before.revision.is_some() => {
            (before.clone(), KeyArg { name: before.name.clone(), revision: None })
        }
        _ => {
            let message = "say since when: KEY@REVISION (see `kubestore history`), or name two keys";
            return Err(Usage::new(message).into());
        }
    };
    let (before, after) = (side(session, &before).await?, side(session, &after).await?);
    let patch = patch::unified((&before.name, &before.text), (&after.name, &after.text));
    io::stdout().write_all(patch.as_bytes())?;
    if args.exit_code && !patch.is_empty() { Err(AlreadyTold.into()) } else { Ok(()) }
}

struct Side {
    name: String,
    text: String,
}

async fn side(session: &mut Session, arg: &KeyArg) -> Result<Side> {
    let key = found::whole_key(session, &arg.name).await?;
    let (kv, _) = found::read(session, &key, arg.revision).await?;
    // A key that was never there is more likely to be a slip than one that was there before or after.
    let kv = kv.ok_or_else(|| found::missing(&key, arg))?;
    let object = found::object(session.opener(), &kv).await.with_context(|| arg.to_string())?;
    Ok(Side { name: format!("{key}@{}", kv.mod_revision), text: to_yaml(&object) })
}
