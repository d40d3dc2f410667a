//! Rows in columns.

use std::io::{self, Write};

/// The space between columns.
const GAP: usize = 3;

/// A table whose rows are known, or are still to come.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    widths: Vec<usize>,
}

impl Table {
    /// Adds a row.
    pub(crate) fn push(&mut self, cells: Vec<String>) {
        let cells: Vec<String> = cells.into_iter().map(printable).collect();
        self.widen(&cells);
        self.rows.push(cells);
    }

    /// Makes the columns wide enough for these cells.
    fn widen(&mut self, cells: &[String]) {
        self.widths.resize(self.widths.len().max(cells.len()), 0);
        for (width, cell) in self.widths.iter_mut().zip(cells) {
            *width = (*width).max(cell.chars().count());
        }
    }

    /// Writes the rows that were added since the last call. The columns stay as wide as they have become.
    pub(crate) fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        for row in self.rows.drain(..) {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&self.widths) {
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', width - cell.chars().count() + GAP));
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// The first line of a text, with nothing in it that moves a terminal's cursor.
fn printable(text: String) -> String {
    if !text.contains(char::is_control) {
        return text;
    }
    let (line, more) = text.split_once(['\n', '\r']).map_or((text.as_str(), ""), |(line, _)| (line, "..."));
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        if c.is_control() {
            out.extend(c.escape_debug());
        } else {
            out.push(c);
        }
    }
    out + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_rows_have_no_trailing_space() {
        let mut table = Table::default();
        for row in [["NAME", "DATA", "AGE"], ["long-name", "1", ""], ["é", "a\nb", "\u{1b}[31m"]] {
            table.push(row.map(str::to_owned).into());
        }
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        let wanted = "NAME        DATA   AGE\nlong-name   1\né           a...   \\u{1b}[31m\n";
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }
}
