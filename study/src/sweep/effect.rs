//! What the values of a sweep change: points whose seeds make no difference, and axes without effect.
use super::axis::Axis;
use super::merge;
use super::plan::Task;
use super::rows::SETTINGS;
use arrow_array::{Array, RecordBatch};
use std::collections::HashMap;

/// The rows of a sweep, to be compared with one another.
#[derive(Debug)]
pub struct Effects<'a> {
    rows: HashMap<&'a str, usize>,
    /// Columns of what was measured.
    measured: Vec<&'a dyn Array>,
}

impl<'a> Effects<'a> {
    /// Of `table`, whose settings are the columns of `axes`, and those that every sweep has.
    pub fn of(table: &'a RecordBatch, axes: &[Axis]) -> Self {
        let is_setting = |name: &str| SETTINGS.contains(&name) || axes.iter().any(|axis| axis.path == name);
        let fields = table.schema_ref().fields().iter().zip(table.columns());
        let measured =
            fields.filter(|(field, _)| !is_setting(field.name())).map(|(_, column)| column.as_ref());
        let rows = merge::tasks(table).into_iter().enumerate().map(|(row, id)| (id, row)).collect();
        Self { rows, measured: measured.collect() }
    }

    /// Whether both tasks are there and measured the same throughout.
    fn same(&self, a: &Task, b: &Task) -> bool {
        let (Some(&a), Some(&b)) = (self.rows.get(a.id.as_str()), self.rows.get(b.id.as_str())) else {
            return false;
        };
        self.measured.iter().all(|column| column.slice(a, 1).to_data() == column.slice(b, 1).to_data())
    }

    /// Whether `seeds`, several tasks of one point, are one run over and over.
    pub fn is_one_run(&self, seeds: &[Task]) -> bool {
        seeds.len() > 1 && seeds.windows(2).all(|two| self.same(&two[0], &two[1]))
    }

    /// Paths of the axes whose every value gives the same results, seed by seed and whatever the other axes say.
    pub fn axes_without_effect<'b>(&self, tasks: &[Task], axes: &'b [Axis]) -> Vec<&'b str> {
        let inert = |axis: &&Axis| {
            let mut first: HashMap<_, &Task> = HashMap::new();
            axis.values.len() > 1
                && tasks.iter().all(|task| {
                    let others: Vec<_> =
                        task.point.values.iter().filter(|(path, _)| *path != axis.path).collect();
                    let known = *first.entry((&task.point.variant, others, task.seed)).or_insert(task);
                    known.id == task.id || self.same(known, task)
                })
        };
        axes.iter().filter(inert).map(|axis| axis.path.as_str()).collect()
    }
}
