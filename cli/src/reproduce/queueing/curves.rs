//! The figures as files: a table for each, and all of them with their axes in one JSON file.

use crate::failure::Failure;
use prismux_theory::queueing::figures::{self, Figure};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const SOURCE: &str = "H.-Y. Hsieh, PhD thesis, Georgia Institute of Technology, 2004, section 3.3";

/// Writes `queueing-6a.csv` to `queueing-7d.csv` and `queueing.json` into `folder`, which is made if needed.
pub(in crate::reproduce) fn write(folder: &Path) -> Result<(), Failure> {
    let figures = figures::all();
    fs::create_dir_all(folder).map_err(|error| cannot(folder, &error))?;
    for figure in &figures {
        write_file(&folder.join(format!("queueing-{}.csv", figure.name)), &csv(figure))?;
    }
    let all = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "source": SOURCE,
        "figures": figures.iter().map(as_json).collect::<Vec<_>>(),
    });
    write_file(&folder.join("queueing.json"), &format!("{all}\n"))
}

fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| cannot(path, &error))
}

fn cannot(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Failed(format!("cannot write {}: {error}", path.display()))
}

/// One line a point; the first lines say what the columns are.
fn csv(figure: &Figure) -> String {
    let mut text = format!(
        "# figure {}: {}; prismux {}; {SOURCE}\n# x: {}; y: {}\ncurve,x,y\n",
        figure.name,
        figure.title,
        env!("CARGO_PKG_VERSION"),
        figure.x,
        figure.y
    );
    for curve in &figure.curves {
        for (x, y) in &curve.points {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\"{}\",{x},{y}", curve.label);
        }
    }
    text
}

fn as_json(figure: &Figure) -> Value {
    let curves: Vec<Value> =
        figure.curves.iter().map(|curve| json!({ "label": curve.label, "points": curve.points })).collect();
    json!({ "name": figure.name, "title": figure.title, "x": figure.x, "y": figure.y, "curves": curves })
}
