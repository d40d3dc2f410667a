//! `bench load`: each workload by one side after the other on one etcd, round by round, and what came of it as lines, as a
//! table and as a chart.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{chart, figures::Figures, table};
use crate::command::{cargo, command, on_path, read, root, run};
use crate::etcd::{self, Server, Wanted};

/// The workloads by our names, and by those of the reference's program, which has none of some.
const WORKS: [(&str, Option<&str>); 13] = [
    ("create", Some("create")),
    ("get", Some("get")),
    ("list_all", Some("listall")),
    ("list_paged500", Some("listpaged")),
    ("list_stream", None),
    ("list_sel1pct", Some("listsel")),
    ("count", Some("count")),
    ("update", Some("update")),
    ("update_contend16", Some("contend")),
    ("update_noop", Some("noop")),
    ("watch_replay", Some("watch")),
    // The reference's `watch` is both.
    ("watch_live", None),
    ("delete", Some("delete")),
];

/// Changes that each watcher sees.
const MODS: &str = "10000";

/// Memory that looks like a disk, where the system has it: it leaves the disk out of the figures.
const MEMORY: &str = "/dev/shm";

/// What was asked for.
struct Options {
    rounds: usize,
    objects: String,
    works: Vec<String>,
    codec: String,
    transformer: String,
    etcd: Wanted,
    disk: bool,
    peer: Option<PathBuf>,
    to: PathBuf,
}

impl Options {
    fn parse(flags: &[&str]) -> Result<Self> {
        let mut options = Self {
            rounds: 5,
            objects: "10000".to_owned(),
            works: WORKS.map(|(name, _)| name.to_owned()).to_vec(),
            codec: "protobuf".to_owned(),
            transformer: "aesgcm".to_owned(),
            etcd: Wanted::default(),
            disk: false,
            peer: None,
            to: root().join("target/bench"),
        };
        let mut flags = flags.iter().copied();
        while let Some(flag) = flags.next() {
            if flag == "--disk" {
                options.disk = true;
                continue;
            }
            let value = flags.next().with_context(|| format!("`{flag}` lacks its value"))?;
            match flag {
                "--rounds" => options.rounds = value.parse().context("--rounds takes a number")?,
                "--objects" => value.clone_into(&mut options.objects),
                "--work" => options.works = value.split(',').map(str::to_owned).collect(),
                "--codec" => value.clone_into(&mut options.codec),
                "--transformer" => value.clone_into(&mut options.transformer),
                "--etcd" => options.etcd = value.parse()?,
                "--peer" => options.peer = Some(fs::canonicalize(value).context("--peer takes a folder")?),
                "--to" => options.to = PathBuf::from(value),
                other => bail!("`bench load` knows no flag `{other}`"),
            }
        }
        if let Some(unknown) = options.works.iter().find(|work| WORKS.iter().all(|(name, _)| name != work)) {
            bail!("there is no workload `{unknown}`; there are {}", WORKS.map(|(name, _)| name).join(", "));
        }
        Ok(options)
    }
}

/// Who does the work.
struct Side {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<&'static str>,
    is_peer: bool,
}

/// Runs the task.
pub(super) fn run_task(flags: &[&str]) -> Result<()> {
    let options = Options::parse(flags)?;
    let sides = sides(&options)?;
    let binary = etcd::locate(options.etcd)?;
    fs::create_dir_all(&options.to).with_context(|| format!("cannot create {}", options.to.display()))?;
    let mut lines = String::new();
    for round in 0..options.rounds {
        let folder = if options.disk || !Path::new(MEMORY).is_dir() {
            root().join("target/bench-etcd")
        } else {
            Path::new(MEMORY).join(format!("bench-etcd-{}", std::process::id()))
        };
        // A new one for each round: the history of one round does not slow the next.
        let server = Server::start(&binary, &folder)?;
        let measured = measure_round(&options, &sides, &server, round, &mut lines);
        drop(server);
        drop(fs::remove_dir_all(&folder));
        measured?;
        fs::write(options.to.join("load.jsonl"), &lines)?;
    }
    let figures = Figures::read(&lines)?;
    let text = table::markdown(&figures);
    println!("{text}");
    fs::write(options.to.join("load.md"), text)?;
    fs::write(options.to.join("load.svg"), chart::svg(&figures))?;
    eprintln!("bench: load.jsonl, load.md and load.svg are in {}", options.to.display());
    Ok(())
}

fn sides(options: &Options) -> Result<Vec<Side>> {
    run(&mut cargo(&["build", "--release", "--locked", "--package", "kubestore-benches", "--bin", "load"]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let load = target.join("release/load");
    let ours = |name, arguments: &[&'static str]| Side {
        name,
        program: load.clone(),
        arguments: arguments.to_vec(),
        is_peer: false,
    };
    let mut sides = vec![
        ours("typed", &["--impl", "store", "--object", "typed"]),
        ours("prost", &["--impl", "store", "--object", "prost"]),
        ours("lazy", &["--impl", "store", "--object", "lazy"]),
        ours("raw", &["--impl", "raw"]),
    ];
    if options.codec != "protobuf" {
        sides.retain(|side| side.name != "prost");
    }
    match &options.peer {
        Some(folder) if on_path("go").is_some() => {
            let program = options.to.join("peer-bench");
            fs::create_dir_all(&options.to)?;
            run(command("go").current_dir(folder).arg("build").arg("-o").arg(&program).arg("."))?;
            sides.push(Side { name: "go", program, arguments: vec!["--impl", "store"], is_peer: true });
        }
        Some(_) => bail!("--peer needs Go, which is not on the path"),
        None => {}
    }
    Ok(sides)
}

/// One round: each workload by all sides, whose order goes round too.
fn measure_round(
    options: &Options,
    sides: &[Side],
    server: &Server,
    round: usize,
    lines: &mut String,
) -> Result<()> {
    for (name, theirs) in WORKS.iter().filter(|(name, _)| options.works.iter().any(|work| work == name)) {
        for turn in 0..sides.len() {
            let side = &sides[(round + turn) % sides.len()];
            let work = match (side.is_peer, theirs) {
                (false, _) => (*name).to_owned(),
                // It fills the store only where it is told to.
                (true, Some("create")) => "create".to_owned(),
                (true, Some(theirs)) => format!("fill,{theirs}"),
                (true, None) => continue,
            };
            eprintln!("bench: round {round}, {name}, {}", side.name);
            let mut program = command(&side.program);
            program.args(&side.arguments).args(["--endpoint", &server.endpoint(), "--work", &work]);
            program.args(["--objects", &options.objects, "--codec", &options.codec]);
            program.args([
                "--transformer",
                &options.transformer,
                "--prefix",
                &format!("/bench-{}", side.name),
            ]);
            program.args(["--mods", MODS]);
            program.env("ETCD_PID", server.pid().to_string());
            for line in read(&mut program)?.lines() {
                lines.push_str(&labelled(line, side.name, round)?);
                lines.push('\n');
            }
        }
    }
    Ok(())
}

/// The line with its side and its round: each process begins to count anew.
fn labelled(line: &str, side: &str, round: usize) -> Result<String> {
    let mut line: serde_json::Value =
        serde_json::from_str(line).with_context(|| format!("`{side}` printed `{line}`"))?;
    line["side"] = side.into();
    line["round"] = round.into();
    Ok(line.to_string())
}
