//! Tables in Parquet files: written whole or not at all, read with a reason where they cannot be.

use super::rows::TASK;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use arrow_select::concat::concat_batches;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Key of the schema's metadata by which a file is known to hold rows of a sweep.
const FORMAT_KEY: &str = "prismux";
/// The format that this version writes and reads.
const FORMAT: &str = "sweep 1";

/// A file that cannot be read or written, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

impl FileError {
    pub(super) fn new(path: &Path, reason: impl fmt::Display) -> Self {
        Self { path: path.to_path_buf(), reason: reason.to_string() }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

impl std::error::Error for FileError {}

/// Metadata that marks a table as rows of a sweep over `scenario`.
pub fn metadata(scenario: &str) -> HashMap<String, String> {
    HashMap::from([
        (FORMAT_KEY.to_string(), FORMAT.to_string()),
        ("scenario".to_string(), scenario.to_string()),
        ("version".to_string(), env!("CARGO_PKG_VERSION").to_string()),
    ])
}

/// Writes `table` to `path`: beside it first, then renamed, so that nobody ever sees half a file.
///
/// # Errors
/// [`FileError`] when it cannot be written; `path` is then as it was.
pub fn write(path: &Path, table: &RecordBatch) -> Result<(), FileError> {
    let beside = path.with_extension("parquet-unfinished");
    let written = write_in_place(&beside, table).and_then(|()| fs::rename(&beside, path).map_err(failed));
    written.map_err(|reason| {
        let _ = fs::remove_file(&beside);
        FileError::new(path, format!("cannot write: {reason}"))
    })
}

fn failed(error: impl fmt::Display) -> String {
    error.to_string()
}

fn write_in_place(path: &Path, table: &RecordBatch) -> Result<(), String> {
    let entry = |(key, value): (&String, &String)| KeyValue::new(key.clone(), value.clone());
    let mut entries: Vec<KeyValue> = table.schema_ref().metadata().iter().map(entry).collect();
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    let properties = WriterProperties::builder()
        .set_compression(Compression::LZ4_RAW)
        .set_created_by(format!("prismux {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(entries));
    let file = File::create(path).map_err(failed)?;
    let mut writer = ArrowWriter::try_new(file, table.schema(), Some(properties.build())).map_err(failed)?;
    writer.write(table).map_err(failed)?;
    writer.finish().map_err(failed)?;
    writer.inner().sync_all().map_err(failed)
}

/// Reads the rows of a sweep.
///
/// # Errors
/// [`FileError`] for a file that is missing, damaged, no Parquet, or not of a sweep.
pub fn read(path: &Path) -> Result<RecordBatch, FileError> {
    let fail = |reason: String| FileError::new(path, reason);
    let file = File::open(path).map_err(|error| fail(format!("cannot read: {error}")))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)
        .map_err(|error| fail(format!("this is no whole Parquet file ({error})")))?;
    let schema = builder.schema().clone();
    check_format(&schema).map_err(fail)?;
    let rows = builder.metadata().file_metadata().num_rows();
    let batches: Result<Vec<RecordBatch>, _> =
        builder.build().map_err(|error| fail(damaged(error)))?.collect();
    let batches = batches.map_err(|error| fail(damaged(error)))?;
    let table = concat_batches(&schema, &batches).map_err(|error| fail(damaged(error)))?;
    if table.num_rows() as i64 != rows {
        return Err(fail(damaged("rows are missing")));
    }
    Ok(table)
}

fn damaged(error: impl fmt::Display) -> String {
    format!("the file is damaged ({error})")
}

fn check_format(schema: &SchemaRef) -> Result<(), String> {
    match schema.metadata().get(FORMAT_KEY).map(String::as_str) {
        Some(FORMAT) => {}
        Some(other) => {
            return Err(format!("this file has the format \"{other}\", this version reads \"{FORMAT}\""));
        }
        None => return Err("this is Parquet, but not the result of a sweep".to_string()),
    }
    match schema.field_with_name(TASK).map(|field| field.data_type()) {
        Ok(DataType::Utf8) => Ok(()),
        _ => Err(format!("this file has no column \"{TASK}\" of texts")),
    }
}
