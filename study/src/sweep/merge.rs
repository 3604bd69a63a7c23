//! Several tables as one: every column that any has, every task once.

use super::rows::TASK;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array, new_null_array};
use arrow_schema::{Field, Schema};
use arrow_select::concat::concat;
use arrow_select::take::take_record_batch;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The ids of a table's tasks.
pub fn tasks(table: &RecordBatch) -> Vec<&str> {
    texts(table, TASK)
}

/// A column of texts, empty where there is none.
pub(super) fn texts<'a>(table: &'a RecordBatch, name: &str) -> Vec<&'a str> {
    match table.column_by_name(name).and_then(|column| column.as_string_opt::<i32>()) {
        Some(texts) => texts.iter().map(Option::unwrap_or_default).collect(),
        None => vec![""; table.num_rows()],
    }
}

/// The rows of all tables. A column that a table lacks is null in its rows; of rows with one id the first stays. Rows
/// stand in the order of `order`; those it does not name follow in the order of the tables.
///
/// # Errors
/// A sentence about a column that has one type here and another there.
pub fn merge(tables: &[RecordBatch], order: &[String]) -> Result<RecordBatch, String> {
    let schema = Arc::new(union(tables)?);
    let columns: Result<Vec<ArrayRef>, String> =
        schema.fields().iter().map(|field| column(tables, field)).collect();
    let all = RecordBatch::try_new(schema, columns?).map_err(|error| error.to_string())?;
    let rank: HashMap<&str, usize> = order.iter().enumerate().map(|(rank, id)| (id.as_str(), rank)).collect();
    let mut seen = HashSet::new();
    let mut rows: Vec<(usize, u32)> = Vec::new();
    for (row, id) in (0..).zip(tasks(&all)) {
        if seen.insert(id) {
            rows.push((rank.get(id).copied().unwrap_or(usize::MAX), row));
        }
    }
    rows.sort_unstable();
    let rows: UInt32Array = rows.into_iter().map(|(_, row)| row).collect();
    take_record_batch(&all, &rows).map_err(|error| error.to_string())
}

/// The rows of `table` whose tasks `order` names, in that order.
///
/// # Errors
/// A sentence about a table that cannot be taken apart.
pub fn select(table: &RecordBatch, order: &[String]) -> Result<RecordBatch, String> {
    let rows: HashMap<&str, u32> = tasks(table).into_iter().zip(0..).collect();
    let rows: UInt32Array = order.iter().filter_map(|id| rows.get(id.as_str()).copied()).collect();
    take_record_batch(table, &rows).map_err(|error| error.to_string())
}

/// The fields of all tables in order of first appearance.
fn union(tables: &[RecordBatch]) -> Result<Schema, String> {
    let mut fields: Vec<Arc<Field>> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut metadata = HashMap::new();
    for table in tables {
        for (key, value) in table.schema_ref().metadata() {
            metadata.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    let all = tables.iter().flat_map(|table| table.schema_ref().fields());
    for field in all {
        match known.get(field.name().as_str()) {
            None => {
                known.insert(field.name(), fields.len());
                fields.push(field.clone());
            }
            Some(&index) if fields[index].data_type() != field.data_type() => {
                return Err(format!(
                    "the column \"{}\" holds {} in one file and {} in another: these sweeps do not belong together",
                    field.name(),
                    fields[index].data_type(),
                    field.data_type()
                ));
            }
            Some(_) => {}
        }
    }
    Ok(Schema::new_with_metadata(fields, metadata))
}

fn column(tables: &[RecordBatch], field: &Field) -> Result<ArrayRef, String> {
    let parts: Vec<ArrayRef> = tables
        .iter()
        .map(|table| match table.column_by_name(field.name()) {
            Some(column) => column.clone(),
            None => new_null_array(field.data_type(), table.num_rows()),
        })
        .collect();
    let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
    concat(&parts).map_err(|error| error.to_string())
}
