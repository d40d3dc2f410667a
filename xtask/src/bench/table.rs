//! Figures as a table.

use super::figures::{Figures, Row, Samples, median, spread};

/// A Markdown table: medians with their spread, and ratios to the yardstick.
pub(super) fn markdown(figures: &Figures) -> String {
    let (sides, yardstick) = (figures.sides(), figures.yardstick());
    let mut head = vec!["workload".to_owned(), "at once".to_owned()];
    for side in &sides {
        head.push(format!("{side}: items/s"));
        head.push("CPU µs".to_owned());
        head.push("peak MB".to_owned());
        if *side != yardstick {
            head.push(format!("rate, CPU, peak to {yardstick}"));
        }
    }
    let mut lines = vec![row(&head), format!("|{}", "---|".repeat(head.len()))];
    for figures in figures.rows() {
        let mut cells = vec![figures.work.clone(), figures.conc.to_string()];
        for side in &sides {
            cells.extend(measured(figures.samples(side)));
            if *side != yardstick {
                cells.push(ratios(figures, side, yardstick));
            }
        }
        lines.push(row(&cells));
    }
    lines.join("\n") + "\n"
}

fn row(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

fn measured(samples: Option<&Samples>) -> [String; 3] {
    let Some(samples) = samples else { return ["–"; 3].map(str::to_owned) };
    let cell = |values: &[f64], digits: usize| {
        let (smallest, largest) = spread(values);
        format!("{:.digits$} [{smallest:.digits$}..{largest:.digits$}]", median(values))
    };
    [cell(&samples.rate, 0), cell(&samples.cpu, 1), format!("{:.0}", median(&samples.peak))]
}

fn ratios(row: &Row, side: &str, yardstick: &str) -> String {
    let ratio = |of: fn(&Samples) -> &[f64]| {
        row.ratio(side, yardstick, of).map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"))
    };
    let [rate, cpu, peak] =
        [ratio(|samples| &samples.rate), ratio(|samples| &samples.cpu), ratio(|samples| &samples.peak)];
    format!("{rate}, {cpu}, {peak}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_row_for_each_workload() {
        let line = |side: &str, rate: u32| {
            format!(
                r#"{{"work":"get","conc":1,"side":"{side}","items_per_s":{rate},"cpu_us_item":10.0,"peak_rss_mb":8.0}}"#
            )
        };
        let lines = [line("raw", 100), line("typed", 90)].join("\n");
        let Ok(figures) = Figures::read(&lines) else { unreachable!("the lines are good ones") };
        let expected = "\
            | workload | at once | typed: items/s | CPU µs | peak MB | rate, CPU, peak to raw | raw: items/s | CPU µs | peak MB |\n\
            |---|---|---|---|---|---|---|---|---|\n\
            | get | 1 | 90 [90..90] | 10.0 [10.0..10.0] | 8 | 0.90, 1.00, 1.00 | 100 [100..100] | 10.0 [10.0..10.0] | 8 |\n";
        assert_eq!(markdown(&figures), expected);
    }
}
