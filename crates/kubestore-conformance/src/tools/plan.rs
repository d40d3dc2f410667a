//! Faults by chance, the same ones in every run with the same seed.

use std::time::Duration;

use kubestore_kv::KvErrorKind;

use super::{Call, Fault, Operation, Script};

/// A [`Script`] of faults that come by chance.
///
/// What happens to the n-th call depends on the seed, on n and on the operation alone, so a run that makes the same
/// calls in the same order meets the same faults. Rules are asked in the order they were added; those that fail a call
/// or lose its answer exclude each other, delays add to them.
///
/// ```
/// use std::time::Duration;
/// use kubestore_conformance::{FaultPlan, Operation};
/// use kubestore_kv::KvErrorKind;
///
/// let plan = FaultPlan::seeded(7)
///     .fail(Operation::ALL, 0.05, KvErrorKind::Unavailable)
///     .lose_answers([Operation::OptimisticPut, Operation::OptimisticDelete], 0.01)
///     .delay(Operation::ALL, 0.5, Duration::from_millis(3))
///     .cut([Operation::Watch], 0.2, 10, KvErrorKind::Unavailable);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct FaultPlan {
    seed: u64,
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    operations: Vec<Operation>,
    probability: f64,
    effect: Effect,
}

#[derive(Clone, Debug)]
enum Effect {
    Fail(KvErrorKind),
    LoseAnswer,
    Late { longest: Duration },
    Delay { longest: Duration },
    DelayAnswer { longest: Duration },
    Cut { most: usize, kind: KvErrorKind },
}

impl FaultPlan {
    /// A plan without rules: all goes through.
    pub fn seeded(seed: u64) -> Self {
        Self { seed, rules: Vec::new() }
    }

    /// Fails calls of `operations` with `probability` (0 to 1) before the backend hears of them.
    pub fn fail(
        self,
        operations: impl IntoIterator<Item = Operation>,
        probability: f64,
        kind: KvErrorKind,
    ) -> Self {
        self.rule(operations, probability, Effect::Fail(kind))
    }

    /// Loses answers; see [`Fault::lose_answer`].
    pub fn lose_answers(self, operations: impl IntoIterator<Item = Operation>, probability: f64) -> Self {
        self.rule(operations, probability, Effect::LoseAnswer)
    }

    /// Loses answers, and applies the calls up to `longest` later on tokio's timer; see [`Fault::late`].
    pub fn apply_late(
        self,
        operations: impl IntoIterator<Item = Operation>,
        probability: f64,
        longest: Duration,
    ) -> Self {
        self.rule(operations, probability, Effect::Late { longest })
    }

    /// Delays calls by up to `longest` on tokio's timer, which lets later calls overtake them.
    pub fn delay(
        self,
        operations: impl IntoIterator<Item = Operation>,
        probability: f64,
        longest: Duration,
    ) -> Self {
        self.rule(operations, probability, Effect::Delay { longest })
    }

    /// Delays answers by up to `longest` on tokio's timer, so that callers learn of writes in another order than they
    /// happened.
    pub fn delay_answers(
        self,
        operations: impl IntoIterator<Item = Operation>,
        probability: f64,
        longest: Duration,
    ) -> Self {
        self.rule(operations, probability, Effect::DelayAnswer { longest })
    }

    /// Cuts streams after 0 to `most` items; see [`Fault::cut_after`].
    pub fn cut(
        self,
        operations: impl IntoIterator<Item = Operation>,
        probability: f64,
        most: usize,
        kind: KvErrorKind,
    ) -> Self {
        self.rule(operations, probability, Effect::Cut { most, kind })
    }

    fn rule(
        mut self,
        operations: impl IntoIterator<Item = Operation>,
        probability: f64,
        effect: Effect,
    ) -> Self {
        self.rules.push(Rule { operations: operations.into_iter().collect(), probability, effect });
        self
    }
}

impl Script for FaultPlan {
    fn fault(&self, call: &Call) -> Fault {
        let mut dice = Dice::new(self.seed, call.number);
        let mut fault = Fault::none();
        for rule in self.rules.iter().filter(|rule| rule.operations.contains(&call.operation)) {
            let (hit, size) = (unit(dice.roll()) < rule.probability, dice.roll());
            if hit {
                fault = rule.effect.add_to(fault, size);
            }
        }
        fault
    }
}

impl Effect {
    fn add_to(&self, fault: Fault, size: u64) -> Fault {
        match self {
            Self::Fail(_) | Self::LoseAnswer | Self::Late { .. }
                if fault.fail.is_some() || fault.lose_answer || fault.late.is_some() =>
            {
                fault
            }
            Self::Fail(kind) => Fault { fail: Some(*kind), ..fault },
            Self::LoseAnswer => Fault { lose_answer: true, ..fault },
            Self::Late { longest } => {
                let wait = tokio::time::sleep(longest.mul_f64(unit(size)));
                Fault { late: Some(Box::pin(wait)), ..fault }
            }
            Self::Delay { longest } => fault.delay(longest.mul_f64(unit(size))),
            Self::DelayAnswer { longest } => fault.after(tokio::time::sleep(longest.mul_f64(unit(size)))),
            Self::Cut { most, kind } => {
                let items = usize::try_from(size >> 33).unwrap_or_default() % most.saturating_add(1);
                fault.cut_after(items, *kind)
            }
        }
    }
}

/// Random numbers by SplitMix64, which needs no state beyond a counter.
struct Dice(u64);

impl Dice {
    fn new(seed: u64, call: u64) -> Self {
        Self(mixed(seed) ^ mixed(call.wrapping_mul(STEP)))
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }
}

/// `roll` as a number from 0 up to but not including 1.
fn unit(roll: u64) -> f64 {
    (roll >> 11) as f64 / (1_u64 << 53) as f64
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: u64, operation: Operation) -> Call {
        Call { number, ..Call::plain(operation) }
    }

    fn fates(plan: &FaultPlan, operation: Operation) -> Vec<String> {
        (0..1_000).map(|number| format!("{:?}", plan.fault(&call(number, operation)))).collect()
    }

    fn plan(seed: u64) -> FaultPlan {
        FaultPlan::seeded(seed)
            .fail([Operation::Get], 0.25, KvErrorKind::Unavailable)
            .lose_answers([Operation::Get, Operation::OptimisticPut], 0.1)
            .cut([Operation::Watch], 0.5, 3, KvErrorKind::Unavailable)
    }

    #[test]
    fn same_seed_same_faults() {
        assert_eq!(fates(&plan(7), Operation::Get), fates(&plan(7), Operation::Get));
        assert_ne!(fates(&plan(7), Operation::Get), fates(&plan(8), Operation::Get));
    }

    #[test]
    fn rules_apply_to_their_operations_as_often_as_asked() {
        let plan = plan(1);
        let count = |operation, wanted: fn(&Fault) -> bool| {
            (0..10_000).filter(|number| wanted(&plan.fault(&call(*number, operation)))).count()
        };
        let failed = count(Operation::Get, |fault| fault.fail == Some(KvErrorKind::Unavailable));
        assert!((2_300..2_700).contains(&failed), "{failed} of 10,000 failed, a quarter was asked for");
        let lost = count(Operation::OptimisticPut, |fault| fault.lose_answer);
        assert!((850..1_150).contains(&lost), "{lost} of 10,000 lost their answer, a tenth was asked for");
        assert_eq!(count(Operation::Get, |fault| fault.lose_answer && fault.fail.is_some()), 0);
        assert_eq!(count(Operation::Status, |fault| !fault.is_none()), 0);
    }

    #[test]
    fn cuts_are_of_every_length() {
        let plan = plan(1);
        let mut lengths = [0; 4];
        for number in 0..10_000 {
            if let Some((items, KvErrorKind::Unavailable)) = plan.fault(&call(number, Operation::Watch)).cut {
                lengths[items] += 1;
            }
        }
        assert!(
            lengths.iter().all(|count| (1_050..1_450).contains(count)),
            "{lengths:?} of about 5,000 cuts"
        );
    }
}
