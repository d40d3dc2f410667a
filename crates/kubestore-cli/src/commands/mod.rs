//! What each command does.

mod apply;
mod count;
mod delete;
mod get;
mod list;
mod merge;
mod plan;
mod read;
mod watch;

use anyhow::Result;

use crate::{
    args::{Cli, Command},
    session::{Access, Session},
};

/// Does what the command line says.
pub(crate) async fn run(cli: Cli) -> Result<()> {
    let global = &cli.global;
    match cli.command {
        Command::Apply(args) => apply::run(global, &args).await,
        Command::Get(args) => get::run(&mut Session::open(global, Access::Read).await?, &args).await,
        Command::List(args) => list::run(&mut Session::open(global, Access::Read).await?, &args).await,
        Command::Delete(args) => delete::run(global, &args).await,
        Command::Count(args) => count::run(&mut Session::open(global, Access::Read).await?, &args).await,
        Command::Watch(args) => watch::run(&mut Session::open(global, Access::Read).await?, &args).await,
    }
}
