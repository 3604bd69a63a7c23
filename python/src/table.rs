//! A table that any reader of the Arrow PyCapsule interface takes without copying.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::BTreeMap;

/// A table of results. `polars.DataFrame(table)`, `pyarrow.table(table)` and `pandas.DataFrame.from_arrow(table)`
/// read it without copying (Arrow PyCapsule interface).
#[pyclass(frozen, module = "prismux")]
pub(crate) struct Table(pub(crate) RecordBatch);

#[pymethods]
impl Table {
    /// The schema as an Arrow C schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.schema_ref().as_ref()).map_err(failed)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The rows as an Arrow C stream of one batch. The schema is always the table's own: a requested one is left to the
    /// reader to cast to, as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Number of rows.
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> =
            self.0.schema_ref().fields().iter().map(|field| field.name().as_str()).collect();
        format!("<prismux.Table of {} rows: {}>", self.0.num_rows(), names.join(", "))
    }

    /// The table as a pandas.DataFrame: by pandas itself from version 3 on, else by pyarrow.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let frame = py.import("pandas")?.getattr("DataFrame")?;
        match frame.hasattr("from_arrow")? {
            true => frame.call_method1("from_arrow", (slf,)),
            false => py.import("pyarrow")?.call_method1("table", (slf,))?.call_method0("to_pandas"),
        }
    }

    /// The first rows, for notebooks.
    fn _repr_html_(&self) -> String {
        let cells = |tag: &str, texts: &mut dyn Iterator<Item = String>| -> String {
            texts.map(|text| format!("<{tag}>{text}</{tag}>")).collect()
        };
        let fields = self.0.schema_ref().fields();
        let head = cells("th", &mut fields.iter().map(|field| escaped(field.name())));
        let rows = (0..self.0.num_rows().min(SHOWN_ROWS)).map(|row| {
            let values = &mut self.0.columns().iter().map(|column| escaped(&cell_text(column, row)));
            format!("<tr>{}</tr>", cells("td", values))
        });
        let rows: String = rows.collect();
        let more = match self.0.num_rows().saturating_sub(SHOWN_ROWS) {
            0 => String::new(),
            more => format!("<p>and {more} more rows</p>"),
        };
        format!("<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}")
    }

    /// Names of the columns, in order.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Unit of every column that has one, by name: "bit/s", "s", "B", "1" for counts and fractions.
    #[getter]
    fn units(&self) -> BTreeMap<String, String> {
        self.field_metadata("unit")
    }

    /// Meaning of every column, by name.
    #[getter]
    fn about(&self) -> BTreeMap<String, String> {
        self.field_metadata("about")
    }

    /// Where the table comes from: scenario, scenario_hash, backend, seed, version.
    #[getter]
    fn metadata(&self) -> BTreeMap<String, String> {
        let metadata = self.0.schema_ref().metadata();
        metadata.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

/// Rows that a notebook shows.
const SHOWN_ROWS: usize = 20;

/// A value for people; nothing for one that is unknown.
fn cell_text(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return String::new();
    }
    if let Some(texts) = column.as_string_opt::<i32>() {
        return texts.value(row).to_string();
    }
    if let Some(truths) = column.as_boolean_opt() {
        return truths.value(row).to_string();
    }
    if let Some(numbers) = column.as_primitive_opt::<UInt64Type>() {
        return numbers.value(row).to_string();
    }
    let number = column.as_primitive_opt::<Float64Type>().map(|numbers| numbers.value(row));
    number.map_or_else(String::new, |number| number.to_string())
}

/// A text in HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

impl Table {
    fn field_metadata(&self, key: &str) -> BTreeMap<String, String> {
        let fields = self.0.schema_ref().fields();
        let entry = |field: &arrow_schema::FieldRef| {
            field.metadata().get(key).map(|value| (field.name().clone(), value.clone()))
        };
        fields.iter().filter_map(entry).collect()
    }
}

fn failed(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
