//! Plain tables: a header, a rule, rows; the first column to the left, numbers to the right.
use std::fmt;

/// A table of text cells.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these headings.
    pub fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|&column| column.into()).collect(), rows: Vec::new() }
    }

    /// Adds a row; missing cells are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    fn widths(&self) -> Vec<usize> {
        let lines = || std::iter::once(&self.columns).chain(&self.rows);
        let width = |column: usize| {
            lines().filter_map(|line| line.get(column)).map(|cell: &String| cell.chars().count()).max()
        };
        (0..self.columns.len()).map(|column| width(column).unwrap_or(0)).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let line = |cells: &[String]| {
            let padded = widths.iter().enumerate().map(|(column, &width)| {
                let cell = cells.get(column).map_or("", String::as_str);
                if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            padded.collect::<Vec<_>>().join("  ").trim_end().to_string()
        };
        let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
        write!(f, "{}\n{}", line(&self.columns), line(&rule))?;
        self.rows.iter().try_for_each(|row| write!(f, "\n{}", line(row)))
    }
}
