//! Lines of `load`, by workload and by side.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

/// What was measured, in the order of the lines.
pub(super) struct Figures {
    rows: Vec<Row>,
    sides: Vec<String>,
}

/// A workload at one concurrency.
pub(super) struct Row {
    pub(super) work: String,
    pub(super) conc: u64,
    sides: BTreeMap<String, Samples>,
}

/// What one side did, round by round.
#[derive(Default)]
pub(super) struct Samples {
    pub(super) rate: Vec<f64>,
    pub(super) cpu: Vec<f64>,
    pub(super) peak: Vec<f64>,
}

impl Figures {
    pub(super) fn read(lines: &str) -> Result<Self> {
        let mut figures = Self { rows: Vec::new(), sides: Vec::new() };
        for line in lines.lines() {
            figures.add(&serde_json::from_str(line)?).with_context(|| format!("in the line {line}"))?;
        }
        Ok(figures)
    }

    fn add(&mut self, line: &Value) -> Result<()> {
        let text = |field: &str| line[field].as_str().with_context(|| format!("`{field}` is missing"));
        let number = |field: &str| line[field].as_f64().with_context(|| format!("`{field}` is missing"));
        let (work, side) = (text("work")?, text("side")?);
        let conc = line["conc"].as_u64().context("`conc` is missing")?;
        if !self.sides.iter().any(|known| known == side) {
            self.sides.push(side.to_owned());
        }
        let row = match self.rows.iter().position(|row| row.work == work && row.conc == conc) {
            Some(row) => &mut self.rows[row],
            None => {
                self.rows.push(Row { work: work.to_owned(), conc, sides: BTreeMap::new() });
                let last = self.rows.len() - 1;
                &mut self.rows[last]
            }
        };
        let samples = row.sides.entry(side.to_owned()).or_default();
        samples.rate.push(number("items_per_s")?);
        samples.cpu.push(number("cpu_us_item")?);
        samples.peak.push(number("peak_rss_mb")?);
        Ok(())
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Ours first, then the bare client, then the reference.
    pub(super) fn sides(&self) -> Vec<&str> {
        let order = ["typed", "prost", "lazy", "raw", "go"];
        order.into_iter().filter(|side| self.sides.iter().any(|known| known == side)).collect()
    }

    /// What the others are compared with: the reference, or the bare client without it.
    pub(super) fn yardstick(&self) -> &'static str {
        if self.sides.iter().any(|side| side == "go") { "go" } else { "raw" }
    }
}

impl Row {
    pub(super) fn samples(&self, side: &str) -> Option<&Samples> {
        self.sides.get(side)
    }

    /// How many times the median of `side` is that of `other`.
    pub(super) fn ratio(&self, side: &str, other: &str, of: impl Fn(&Samples) -> &[f64]) -> Option<f64> {
        let (side, other) = (self.samples(side)?, self.samples(other)?);
        let ratio = median(of(side)) / median(of(other));
        ratio.is_finite().then_some(ratio)
    }
}

/// The middle of the values, or between the two in the middle.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (below, above) = (sorted.len().saturating_sub(1) / 2, sorted.len() / 2);
    match (sorted.get(below), sorted.get(above)) {
        (Some(below), Some(above)) => (below + above) / 2.0,
        _ => f64::NAN,
    }
}

/// The smallest and the largest.
pub(super) fn spread(values: &[f64]) -> (f64, f64) {
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    (smallest, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_medians_and_ratios() -> Result<()> {
        let line = |side: &str, rate: f64| {
            let line = serde_json::json!({"work": "get", "conc": 1, "side": side, "items_per_s": rate, "cpu_us_item": 10.0, "peak_rss_mb": 1.0});
            line.to_string() + "\n"
        };
        let lines = line("go", 100.0) + &line("typed", 120.0) + &line("go", 90.0) + &line("typed", 260.0);
        let figures = Figures::read(&lines)?;
        assert_eq!((figures.sides(), figures.yardstick()), (vec!["typed", "go"], "go"));
        let [row] = figures.rows() else { anyhow::bail!("one workload") };
        assert_eq!(row.ratio("typed", "go", |samples| &samples.rate), Some(2.0));
        assert_eq!(row.ratio("lazy", "go", |samples| &samples.rate), None);
        assert_eq!(row.samples("typed").map(|samples| spread(&samples.rate)), Some((120.0, 260.0)));
        assert!(Figures::read("{\"work\":\"get\"}").is_err());
        Ok(())
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]).to_bits(), 2.0_f64.to_bits());
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]).to_bits(), 2.5_f64.to_bits());
        assert!(median(&[]).is_nan());
    }
}
