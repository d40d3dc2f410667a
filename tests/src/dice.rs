//! Chance that is the same in every run with the same seed.

/// Random numbers by SplitMix64.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Dice that fall alike for the same seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        // Neighbouring seeds shall not give neighbouring sequences.
        Self(mixed(seed.wrapping_mul(STEP)))
    }

    /// Dice of their own for somebody with this number.
    #[must_use]
    pub fn of(&self, number: u64) -> Self {
        Self(mixed(self.0 ^ mixed(number.wrapping_add(1).wrapping_mul(STEP))))
    }

    /// Any number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// A number below `end`, which is not 0.
    ///
    /// # Panics
    /// `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        assert!(end > 0, "there is no number below 0");
        // The remainder fits, since `end` does.
        usize::try_from(self.roll() % end as u64).unwrap_or_default()
    }

    /// True in so many of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `all`, which is not empty.
    ///
    /// # Panics
    /// `all` is empty.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
