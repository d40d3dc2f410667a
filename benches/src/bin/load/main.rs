//! `load`: the workloads of a Kubernetes store against a running etcd or an engine in this process, one JSON line each, with
//! rate, latency, the CPU time of this process for an item, and its peak of memory.
#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

mod arguments;
mod backend;
mod codecs;
mod measure;
mod raw;
mod side;
mod stored;
mod watch;
mod work;

use std::{error::Error, process::ExitCode, sync::Arc};

use clap::Parser as _;

use crate::{
    arguments::{Arguments, Impl},
    backend::Backend,
    side::Side,
    stored::Encoded,
    work::Bench,
};

/// What most programs of some size bring: decoding an object is hundreds of small allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut chain = vec![error.to_string()];
            let mut cause = error.source();
            while let Some(error) = cause {
                chain.push(error.to_string());
                cause = error.source();
            }
            println!("{}", serde_json::json!({ "error": chain }));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Outcome<()> {
    let mut runtime = match arguments.threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        threads => {
            let mut runtime = tokio::runtime::Builder::new_multi_thread();
            if threads > 1 {
                runtime.worker_threads(threads);
            }
            runtime
        }
    };
    // On a worker, as every task of a program is, and not beside them.
    runtime.enable_all().build()?.block_on(async { tokio::spawn(measured(arguments)).await? })
}

async fn measured(arguments: Arguments) -> Outcome<()> {
    let backend = Backend::open(&arguments).await?;
    let encoded = Encoded::new(&arguments)?;
    if arguments.writer {
        return watch::write_when_told(&backend, &encoded, &arguments).await;
    }
    let side: Arc<dyn Side> = match arguments.r#impl {
        Impl::Store => stored::side(&backend, &arguments)?,
        Impl::Raw => raw::side(&backend, &arguments, &encoded)?,
    };
    let works = arguments.work.clone();
    let mut bench = Bench { arguments, backend, encoded, side, round: 0 };
    for round in 0..bench.arguments.rounds {
        bench.round = round;
        for work in &works {
            bench.run(*work).await?;
        }
    }
    bench.backend.close().await
}
