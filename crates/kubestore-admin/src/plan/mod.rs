//! In which order to change a configuration, so that every server can read everything at every time.

mod chain;
mod report;
mod subject;
mod warn;

use kubestore_transform::EncryptionConfig;

pub use report::{Plan, ProviderOrder, Step, StepKind, Warning, WarningKind};

use self::{
    chain::Chain,
    subject::{Subject, subjects},
};
use crate::Census;

/// Says how to get from the configuration in force to a new one, step by step, and what would go wrong otherwise.
///
/// A key that writes must be readable by all servers: with several of them it is first added for reading everywhere, and only
/// then made the first. What was written with an old key must be rewritten before that key is taken away. `census` says what
/// is stored; without it, what may be stored is assumed. `servers` is the number of API servers on this etcd.
///
/// Whether a key has the same secret in both configurations is found out by sealing and opening a few bytes of no meaning.
///
/// ```
/// use kubestore_admin::{StepKind, plan};
/// use kubestore_transform::EncryptionConfig;
///
/// let config = |keys: &str| {
///     let text = format!(
///         "{{apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration, resources: [\
///         {{resources: [secrets], providers: [{{aesgcm: {{keys: [{keys}]}}}}]}}]}}"
///     );
///     EncryptionConfig::from_str(&text, "example")
/// };
/// let old = "{name: key1, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}";
/// let new = "{name: key2, secret: Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=}";
///
/// let plan = plan(&config(old)?, &config(new)?, None, 3);
/// let kinds: Vec<_> = plan.steps.iter().map(|step| step.kind).collect();
/// use StepKind::{AddKeys, ChangeWriter, RemoveKeys, Rewrap, Verify};
/// assert_eq!(kinds, [AddKeys, ChangeWriter, Rewrap, Verify, RemoveKeys]);
/// # Ok::<(), kubestore_transform::ConfigError>(())
/// ```
#[must_use]
pub fn plan(old: &EncryptionConfig, new: &EncryptionConfig, census: Option<&Census>, servers: u32) -> Plan {
    let subjects = subjects(old, new, census);
    let mut warnings = Vec::new();
    for subject in &subjects {
        warn::warn(subject, census, servers, &mut warnings);
    }
    warnings.sort_by_key(|warning: &Warning| !warning.is_danger());
    Plan { steps: steps(&subjects, servers), warnings }
}

/// The configurations on the way, each a step for all resources together.
fn steps(subjects: &[Subject], servers: u32) -> Vec<Step> {
    let paths: Vec<_> = subjects.iter().map(|subject| Path::of(subject, servers)).collect();
    let of = |stage: fn(&Path) -> Option<Chain>| -> Vec<ProviderOrder> {
        let staged = subjects.iter().zip(&paths);
        let staged = staged.filter_map(|(subject, path)| Some(stage(path)?.order(&subject.resource)));
        ProviderOrder::grouped(staged)
    };
    let mut steps = Vec::new();
    steps.extend(Step::new(StepKind::AddKeys, of(|path| path.added.clone())));
    steps.extend(Step::new(StepKind::ChangeWriter, of(|path| path.changed.clone())));
    let mut rewritten: Vec<String> =
        subjects.iter().filter(|s| s.is_rewritten()).map(Subject::name).collect();
    rewritten.sort_unstable();
    if !rewritten.is_empty() {
        steps.push(Step::on(StepKind::Rewrap, rewritten.clone()));
        steps.push(Step::on(StepKind::Verify, rewritten));
    }
    steps.extend(Step::new(StepKind::RemoveKeys, of(|path| path.removed.clone())));
    steps
}

/// The providers of one resource on the way from old to new; what does not differ from the step before is left out.
struct Path {
    /// The old ones and, behind the writer, what is to write.
    added: Option<Chain>,
    /// The new ones, then what is left of the old ones.
    changed: Option<Chain>,
    /// The new ones.
    removed: Option<Chain>,
}

impl Path {
    fn of(subject: &Subject, servers: u32) -> Self {
        let mut last = subject.old.clone();
        let mut stage = |chain: Chain| {
            let differs = chain != last;
            last.clone_from(&chain);
            differs.then_some(chain)
        };
        let needs_adding = servers > 1 && !subject.old_reads_new && !subject.has_other_secrets;
        let added =
            if needs_adding { stage(subject.old.with_behind_writer(subject.new.writer())) } else { None };
        let changed = stage(subject.new.followed_by(&subject.old));
        let removed = stage(subject.new.clone());
        // Where nothing but readers were added, no writer changes.
        match (added, changed) {
            (None, Some(changed)) if subject.old.writer() == subject.new.writer() => {
                Self { added: Some(changed), changed: None, removed }
            }
            (added, changed) => Self { added, changed, removed },
        }
    }
}
