//! Figures as a chart: bars of the rate as a ratio to the yardstick, on a logarithmic scale.

use std::fmt::Write as _;

use super::figures::Figures;

const WIDTH: f64 = 900.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 70.0;
const TOP: f64 = 48.0;
const BAR: f64 = 12.0;
const GAP: f64 = 10.0;

/// From a quarter to sixteen times; what is beyond is cut off at the edge.
const SCALE: (f64, f64) = (-2.0, 4.0);

const COLOURS: [(&str, &str); 4] =
    [("typed", "#3b6ea8"), ("prost", "#c98a2b"), ("lazy", "#57a773"), ("raw", "#b0b0b0")];

/// An SVG document.
pub(super) fn svg(figures: &Figures) -> String {
    let yardstick = figures.yardstick();
    let sides: Vec<_> = COLOURS.iter().filter(|(side, _)| *side != yardstick).collect();
    let mut bars = String::new();
    let mut y = TOP + GAP;
    for row in figures.rows() {
        let begun = y;
        for (side, colour) in &sides {
            let Some(ratio) = row.ratio(side, yardstick, |samples| &samples.rate) else { continue };
            let (from, to) = if ratio < 1.0 { (x(ratio), x(1.0)) } else { (x(1.0), x(ratio)) };
            let width = (to - from).max(1.0);
            _ = writeln!(
                bars,
                r#"<rect x="{from:.1}" y="{y:.1}" width="{width:.1}" height="{BAR}" fill="{colour}"/>"#
            );
            let (label, baseline) = (to + 4.0, y + BAR - 2.0);
            _ = writeln!(bars, r#"<text x="{label:.1}" y="{baseline:.1}">{ratio:.2}</text>"#);
            y += BAR;
        }
        if y > begun {
            let middle = f64::midpoint(begun, y) + 4.0;
            let (work, conc, right) = (&row.work, row.conc, LEFT - 8.0);
            _ = writeln!(
                bars,
                r#"<text x="{right}" y="{middle:.1}" text-anchor="end">{work}, {conc} at once</text>"#
            );
            y += GAP;
        }
    }
    let mut out = String::new();
    let height = y + GAP;
    _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0}" font-family="sans-serif" font-size="11">"#
    );
    _ = writeln!(out, r#"<rect width="100%" height="100%" fill="white"/>"#);
    _ = writeln!(out, r#"<text x="{LEFT}" y="16" font-size="13">Rate as a ratio to `{yardstick}`</text>"#);
    legend(&mut out, &sides.iter().map(|(side, colour)| (*side, *colour)).collect::<Vec<_>>());
    grid(&mut out, y);
    out + &bars + "</svg>\n"
}

fn x(ratio: f64) -> f64 {
    let share = (ratio.log2().clamp(SCALE.0, SCALE.1) - SCALE.0) / (SCALE.1 - SCALE.0);
    LEFT + share * (WIDTH - LEFT - RIGHT)
}

fn legend(out: &mut String, sides: &[(&str, &str)]) {
    let mut left = LEFT + 260.0;
    for (side, colour) in sides {
        _ = writeln!(out, r#"<rect x="{left}" y="7" width="10" height="10" fill="{colour}"/>"#);
        _ = writeln!(out, r#"<text x="{}" y="16">{side}</text>"#, left + 14.0);
        left += 70.0;
    }
}

fn grid(out: &mut String, bottom: f64) {
    for ratio in [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0] {
        let (x, colour) = (x(ratio), if ratio == 1.0 { "#404040" } else { "#dddddd" });
        _ = writeln!(
            out,
            r#"<line x1="{x:.1}" y1="{}" x2="{x:.1}" y2="{bottom:.1}" stroke="{colour}"/>"#,
            TOP - 6.0
        );
        _ = writeln!(out, r#"<text x="{x:.1}" y="{}" text-anchor="middle">{ratio}</text>"#, TOP - 10.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_ratio() {
        let line = |side: &str, rate: u32| {
            format!(
                r#"{{"work":"get","conc":1,"side":"{side}","items_per_s":{rate},"cpu_us_item":1.0,"peak_rss_mb":1.0}}"#
            )
        };
        let lines = [line("go", 100), line("typed", 200), line("lazy", 50)].join("\n");
        let Ok(figures) = Figures::read(&lines) else { unreachable!("the lines are good ones") };
        let chart = svg(&figures);
        let step = (WIDTH - LEFT - RIGHT) / (SCALE.1 - SCALE.0);
        let bars: Vec<_> = chart.lines().filter(|line| line.contains(r#"height="12""#)).collect();
        assert_eq!(bars.len(), 2);
        assert!(bars.iter().all(|bar| bar.contains(&format!(r#"width="{step:.1}""#))), "{bars:?}");
        assert!(chart.contains(">2.00</text>") && chart.contains(">0.50</text>"));
        assert!(chart.ends_with("</svg>\n"));
    }
}
