//! A table under construction, column by column.

use super::{Quantity, Reader};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchOptions, StringArray, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use std::collections::HashMap;
use std::sync::Arc;

/// Columns of equal length, in order.
#[derive(Debug, Default)]
pub struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    /// Adds a column of texts.
    pub fn text<'a>(&mut self, name: &str, about: &str, values: impl IntoIterator<Item = Option<&'a str>>) {
        let values: StringArray = values.into_iter().collect();
        self.add(name, "", about, DataType::Utf8, Arc::new(values));
    }

    /// Adds a column of truths.
    pub fn flag(&mut self, name: &str, about: &str, values: impl IntoIterator<Item = Option<bool>>) {
        let values: BooleanArray = values.into_iter().collect();
        self.add(name, "", about, DataType::Boolean, Arc::new(values));
    }

    /// Adds a column of doubles.
    pub fn float(
        &mut self,
        name: &str,
        unit: &str,
        about: &str,
        values: impl IntoIterator<Item = Option<f64>>,
    ) {
        let values: Float64Array = values.into_iter().collect();
        self.add(name, unit, about, DataType::Float64, Arc::new(values));
    }

    /// Adds a column of whole numbers.
    pub fn whole(
        &mut self,
        name: &str,
        unit: &str,
        about: &str,
        values: impl IntoIterator<Item = Option<u64>>,
    ) {
        let values: UInt64Array = values.into_iter().collect();
        self.add(name, unit, about, DataType::UInt64, Arc::new(values));
    }

    /// Adds the column called `name` of a measured quantity, one value for each of `rows`.
    pub fn quantity<'a, T>(
        &mut self,
        quantity: &Quantity<T>,
        name: &str,
        rows: impl IntoIterator<Item = &'a T>,
    ) {
        match quantity.of {
            Reader::Float(of) => self.float(name, quantity.unit, quantity.about, rows.into_iter().map(of)),
            Reader::Whole(of) => self.whole(name, quantity.unit, quantity.about, rows.into_iter().map(of)),
        }
    }

    /// The same where some rows have no such thing.
    pub fn optional_quantity<'a, T>(
        &mut self,
        quantity: &Quantity<T>,
        name: &str,
        rows: impl IntoIterator<Item = Option<&'a T>>,
    ) {
        let (unit, about) = (quantity.unit, quantity.about);
        let rows = rows.into_iter();
        match quantity.of {
            Reader::Float(of) => self.float(name, unit, about, rows.map(|row| row.and_then(of))),
            Reader::Whole(of) => self.whole(name, unit, about, rows.map(|row| row.and_then(of))),
        }
    }

    fn add(&mut self, name: &str, unit: &str, about: &str, kind: DataType, values: ArrayRef) {
        debug_assert!(self.arrays.iter().all(|array| array.len() == values.len()), "{name}");
        let mut metadata = HashMap::from([("about".to_string(), about.to_string())]);
        if !unit.is_empty() {
            metadata.insert("unit".to_string(), unit.to_string());
        }
        self.fields.push(Field::new(name, kind, true).with_metadata(metadata));
        self.arrays.push(values);
    }

    /// The table, with `metadata` in its schema.
    pub fn finish(self, metadata: HashMap<String, String>) -> RecordBatch {
        let schema = Arc::new(Schema::new_with_metadata(self.fields, metadata));
        let rows = self.arrays.first().map_or(0, |array| array.len());
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        // Types and lengths agree by construction, so the empty table never is the answer.
        RecordBatch::try_new_with_options(schema.clone(), self.arrays, &options)
            .unwrap_or_else(|_| RecordBatch::new_empty(schema))
    }
}
