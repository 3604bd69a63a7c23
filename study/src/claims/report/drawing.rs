//! Figures that are curves.

use crate::statistics::Summary;
use serde::Serialize;

/// A figure of curves.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drawing {
    /// As in the source: "6a".
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The horizontal axis, with its unit.
    pub x: String,
    /// The vertical axis, with its unit.
    pub y: String,
    /// Its curves.
    pub curves: Vec<Line>,
}

/// A computed curve, and what was simulated of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// What it stands for.
    pub label: String,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
    /// Simulated points of it.
    pub simulated: Vec<Spot>,
}

/// A simulated point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spot {
    /// Where it was simulated, on the other axis.
    pub at: f64,
    /// Which axis `measured` belongs to.
    pub axis: SpotAxis,
    /// What came out.
    pub measured: Summary,
}

/// An axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SpotAxis {
    /// The horizontal one.
    X,
    /// The vertical one.
    Y,
}
