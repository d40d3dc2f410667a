//! Running the command.

use std::{
    fs::{self, File},
    io::Write,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use flate2::read::GzDecoder;
use kubestore::etcd::EtcdKv;
use kubestore_etcd::testing::EtcdProcess;
use tar::Archive;
use tempfile::TempDir;

/// The command on a store of its own.
pub(crate) struct Kubestore {
    storage: Vec<String>,
    folder: TempDir,
    _etcd: Option<EtcdProcess>,
}

/// What came of running it.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl Kubestore {
    /// On a directory that does not exist yet.
    pub(crate) fn durable() -> Self {
        let folder = TempDir::new().unwrap();
        let data = folder.path().join("data").display().to_string();
        Self { storage: vec!["--data-dir".to_owned(), data], folder, _etcd: None }
    }

    /// On an etcd.
    pub(crate) async fn etcd() -> Self {
        let etcd = EtcdProcess::start().await.unwrap();
        let storage = vec!["--endpoints".to_owned(), etcd.endpoint()];
        Self { storage, folder: TempDir::new().unwrap(), _etcd: Some(etcd) }
    }

    /// On the snapshot of a real cluster, with its configuration; the folder has all of its files.
    pub(crate) fn cluster() -> Self {
        Self::packed("cluster")
    }

    /// The same of a cluster that has objects of nearly every kind, and custom resources in CBOR.
    pub(crate) fn kinds() -> Self {
        Self::packed("kinds")
    }

    fn packed(name: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
        let pack = format!("{data}/{name}.tar.gz");
        let pack = GzDecoder::new(File::open(pack).unwrap());
        Archive::new(pack).unpack(folder.path()).unwrap();
        let file = |name: &str| folder.path().join("cluster").join(name).display().to_string();
        let storage = ["--snapshot".to_owned(), file("snapshot.db")];
        let keys = ["--encryption-config".to_owned(), file("encryption.yaml")];
        Self { storage: storage.into_iter().chain(keys).collect(), folder, _etcd: None }
    }

    /// The same files, on another store and still with the configuration.
    pub(crate) fn with_storage(mut self, storage: &[&str]) -> Self {
        self.storage.splice(..2, storage.iter().map(|&word| word.to_owned()));
        self
    }

    /// The etcd itself.
    pub(crate) async fn kv(&self) -> EtcdKv {
        EtcdKv::connect([self.storage[1].clone()]).await.unwrap()
    }

    /// A path in the folder of this test.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The data directory.
    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    fn command<S: AsRef<str>>(&self, storage: &[String], words: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubestore"));
        command.args(words.iter().map(AsRef::as_ref)).args(storage);
        for variable in ["KUBESTORE_ENDPOINTS", "ETCDCTL_ENDPOINTS", "RUST_LOG"] {
            command.env_remove(variable);
        }
        command.env("HOME", self.folder.path());
        command.env("XDG_DATA_HOME", self.path("home")).current_dir(self.folder.path());
        command
    }

    /// Runs the command with the words of a line.
    pub(crate) fn run(&self, line: &str) -> Ran {
        self.run_words(&words(line), "")
    }

    /// Runs the command with these words, some of which may have spaces in them, and this standard input.
    pub(crate) fn run_words<S: AsRef<str>>(&self, words: &[S], input: &str) -> Ran {
        ran(self.command(&self.storage, words), input)
    }

    /// Runs the command without naming a store.
    pub(crate) fn run_without_store(&self, line: &str) -> Ran {
        ran(self.command(&[], &words(line)), "")
    }

    /// Runs the command with a variable set, without naming a store.
    pub(crate) fn run_with_variable(&self, line: &str, name: &str, value: &str) -> Ran {
        self.run_with_variables(line, &[(name, value)])
    }

    /// Runs the command with variables set, without naming a store.
    pub(crate) fn run_with_variables(&self, line: &str, variables: &[(&str, &str)]) -> Ran {
        let mut command = self.command(&[], &words(line));
        command.envs(variables.iter().copied());
        ran(command, "")
    }

    /// Runs the command with the words of a line and bytes as its standard input.
    pub(crate) fn run_with_input(&self, line: &str, input: &[u8]) -> Ran {
        ran_with(self.command(&self.storage, &words(line)), input)
    }

    /// Starts the command and leaves it running.
    pub(crate) fn start(&self, line: &str) -> Child {
        let mut command = self.command(&self.storage, &words(line));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Applies a text.
    pub(crate) fn apply(&self, text: &str) -> String {
        self.run_words(&["apply", "-f", "-"], text).ok()
    }

    /// Where the store is, as the command line says it.
    pub(crate) fn storage(&self) -> &[String] {
        &self.storage
    }
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn ran(command: Command, input: &str) -> Ran {
    ran_with(command, input.as_bytes())
}

fn ran_with(mut command: Command, input: &[u8]) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It may have failed without reading; then that is what the test sees.
    let _written = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    Ran {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().expect("ended by a signal"),
    }
}

impl Ran {
    /// What it printed, if all went well and it had nothing else to say.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{self:?}");
        self.stdout
    }

    /// What it printed, and what it said besides, if all went well.
    #[track_caller]
    pub(crate) fn noted(self) -> (String, String) {
        assert_eq!(self.code, 0, "{self:?}");
        (self.stdout, self.stderr)
    }

    /// The error, which must be one line and all there is.
    #[track_caller]
    pub(crate) fn error(self) -> String {
        self.error_with_code(1)
    }

    /// The error about the command line, which must be one line and all there is.
    #[track_caller]
    pub(crate) fn usage(self) -> String {
        self.error_with_code(2)
    }

    #[track_caller]
    fn error_with_code(self, code: i32) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (code, ""), "{self:?}");
        let line = self.stderr.strip_prefix("error: ").and_then(|line| line.strip_suffix('\n'));
        let line = line.unwrap_or_else(|| panic!("not one line: {self:?}"));
        assert!(!line.contains('\n') && !line.contains("panicked"), "{self:?}");
        line.to_owned()
    }
}

/// A pod.
pub(crate) fn pod(name: &str, labels: &str, node: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\n  labels: {{{labels}}}\nspec:\n  nodeName: \
         {node}\n  containers:\n  - {{name: c, image: nginx}}\n"
    )
}

/// A config map.
pub(crate) fn config_map(name: &str, value: &str) -> String {
    format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{key: '{value}'}}\n")
}
