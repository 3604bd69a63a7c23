use super::{birth, flow_series, flows, link_series, links};
use crate::run::{self, RunOptions};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use prismux_scenario::registry::Backend;
use prismux_scenario::shipped;
use prismux_trace::results::RunResult;
use serde_json::Value;

fn result(set: &[&str]) -> RunResult {
    let file = shipped::find("two-members").unwrap().file();
    let scenario = file.scenario(None, &[&["duration=5 s", "events=[]"], set].concat()).unwrap();
    run::run(&scenario, Backend::Sim, &RunOptions { seed: 7, ..RunOptions::default() }).unwrap()
}

/// Where a column is in the JSON form.
fn pointer(column: &str) -> String {
    format!("/{}", column.replace('.', "/"))
}

fn floats(batch: &RecordBatch, name: &str) -> Vec<Option<f64>> {
    batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().iter().collect()
}

#[test]
fn tables_hold_what_the_json_form_holds() {
    let result = result(&[]);
    let (flows, links) = (flows(&result), links(&result));
    assert_eq!((flows.num_rows(), links.num_rows()), (result.flows.len(), result.links.len()));
    let json = serde_json::to_value(&result).unwrap();
    for (table, rows) in [(&flows, &json["flows"]), (&links, &json["links"])] {
        let rows: Vec<_> =
            table.column(0).as_string::<i32>().iter().map(|name| &rows[name.unwrap()]).collect();
        for (field, array) in table.schema().fields().iter().zip(table.columns()).skip(2) {
            let found: Vec<Option<f64>> = match array.as_primitive_opt::<UInt64Type>() {
                Some(whole) => whole.iter().map(|value| value.map(|n| n as f64)).collect(),
                None => array.as_primitive::<Float64Type>().iter().collect(),
            };
            let expected: Vec<Option<f64>> =
                rows.iter().map(|row| row.pointer(&pointer(field.name())).and_then(Value::as_f64)).collect();
            assert_eq!(found, expected, "{}", field.name());
        }
    }
}

#[test]
fn every_measured_column_says_its_unit_and_every_table_its_birth() {
    let result = result(&["measure.interval=1 s"]);
    for table in [flows(&result), links(&result), flow_series(&result), link_series(&result)] {
        let schema = table.schema();
        assert_eq!(schema.metadata(), &birth(&result));
        assert_eq!(schema.metadata()["seed"], "7");
        assert_eq!(schema.metadata()["scenario_hash"].len(), 64);
        for field in schema.fields() {
            assert!(!field.metadata()["about"].is_empty());
            let is_number = field.data_type().is_numeric();
            assert_eq!(field.metadata().contains_key("unit"), is_number, "{}", field.name());
        }
    }
}

#[test]
fn series_have_one_row_for_each_name_and_sample_and_are_empty_unless_asked_for() {
    let sampled = result(&["measure.interval=1 s"]);
    let series = sampled.series.as_ref().unwrap();
    let table = link_series(&sampled);
    assert_eq!(table.num_rows(), series.links.len() * series.len());
    assert_eq!(floats(&table, "time_s")[..2], [Some(1.0), Some(2.0)]);
    let first = series.links.values().next().unwrap();
    assert_eq!(floats(&table, "throughput_bps")[0], Some(first.throughput_bps[0]));
    // A link outside the community has no share.
    assert!(table.column_by_name("share").unwrap().null_count() > 0);

    let plain = result(&[]);
    assert_eq!((flow_series(&plain).num_rows(), link_series(&plain).num_rows()), (0, 0));
    assert_eq!(flow_series(&plain).num_columns(), flow_series(&sampled).num_columns());
}
