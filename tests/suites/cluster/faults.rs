//! What happens to a cluster, at random.

use std::{collections::BTreeMap, fmt, io, time::Duration};

use kubestore_etcd::testing::EtcdCluster;
use kubestore_tests::dice::Dice;
use tokio::time::{Instant, sleep, sleep_until};

/// A cluster and what has happened to it.
#[derive(Debug)]
pub(crate) struct Faults {
    cluster: EtcdCluster,
    dice: Dice,
    counts: BTreeMap<&'static str, usize>,
}

impl Faults {
    pub(crate) fn new(cluster: EtcdCluster, seed: u64) -> Self {
        Self { cluster, dice: Dice::seeded(seed), counts: BTreeMap::new() }
    }

    pub(crate) fn count(&self) -> usize {
        self.counts.values().sum()
    }

    /// One fault after the other for so long, with a pause between them; then all members are well again.
    pub(crate) async fn go_on_for(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            if let Err(error) = self.next_fault().await {
                panic!("the cluster cannot be disturbed: {error}");
            }
            let pause = self.millis(500, 1_500);
            sleep_until(end.min(Instant::now() + pause)).await;
        }
    }

    async fn next_fault(&mut self) -> io::Result<()> {
        // While one is being elected nobody leads; any member will do then.
        let leader = self.cluster.leader().await.unwrap_or_else(|_| self.dice.below(3));
        let member = if self.dice.chance(70) { leader } else { self.dice.below(3) };
        let fault = self.dice.below(4);
        let time = self.millis(1_000, 3_000);
        match fault {
            0 => {
                self.note("lead handed over");
                // Refused where an election is under way, which is as good.
                let _moved = self.cluster.move_leader((leader + 1) % 3).await;
            }
            1 => {
                self.note("killed");
                self.cluster.member_mut(member).kill();
                sleep(time).await;
                self.cluster.member_mut(member).restart().await?;
            }
            2 => {
                self.note("frozen");
                self.cluster.members()[member].freeze()?;
                sleep(time).await;
                self.cluster.members()[member].thaw()?;
            }
            _ => {
                self.note("cut off from the others");
                self.cluster.isolate(member);
                sleep(time).await;
                self.cluster.heal();
            }
        }
        Ok(())
    }

    fn note(&mut self, fault: &'static str) {
        *self.counts.entry(fault).or_default() += 1;
    }

    fn millis(&mut self, least: usize, most: usize) -> Duration {
        Duration::from_millis((least + self.dice.below(most - least)) as u64)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<_> = self.counts.iter().map(|(fault, count)| format!("{count} {fault}")).collect();
        write!(f, "{} faults: {}", self.count(), texts.join(", "))
    }
}
