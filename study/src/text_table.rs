//! Plain tables: a header, a rule, rows; numbers to the right.

use std::fmt;

/// Side to which a column is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A table of text cells.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table whose first column is text and whose others are numbers.
    pub fn new(columns: &[&str]) -> Self {
        let align = |index: usize| if index == 0 { Align::Left } else { Align::Right };
        let columns = columns.iter().enumerate().map(|(index, name)| ((*name).to_string(), align(index)));
        Self { columns: columns.collect(), rows: Vec::new() }
    }

    /// Aligns the column at `index`.
    #[must_use]
    pub fn align(mut self, index: usize, align: Align) -> Self {
        self.columns[index].1 = align;
        self
    }

    /// Adds a row; missing cells are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |text: &str| text.chars().count();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| width(cell)).chain([width(&self.columns[column].0)]).max().unwrap_or(0)
            })
            .collect();
        let line = |cells: &dyn Fn(usize) -> String| {
            let mut text = String::new();
            for (column, (_, align)) in self.columns.iter().enumerate() {
                let cell = cells(column);
                let padding = " ".repeat(widths[column].saturating_sub(width(&cell)));
                let gap = if column == 0 { "" } else { "  " };
                match align {
                    Align::Left => text.extend([gap, &cell, &padding]),
                    Align::Right => text.extend([gap, &padding, &cell]),
                }
            }
            text.trim_end().to_string()
        };
        writeln!(f, "{}", line(&|column| self.columns[column].0.clone()))?;
        write!(f, "{}", line(&|column| "-".repeat(widths[column])))?;
        for row in &self.rows {
            write!(f, "\n{}", line(&|column| row.get(column).cloned().unwrap_or_default()))?;
        }
        Ok(())
    }
}
