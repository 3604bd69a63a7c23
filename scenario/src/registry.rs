//! Every name a file, the command line or another language may use: those of plans, and the backends.
pub use prismux_plan::registry::*;

/// Who carries the packets of a run.
pub use prismux_trace::results::Backend;

/// Backends.
pub const BACKENDS: &[Name<Backend>] = &[
    Name { name: "sim", value: Backend::Sim, summary: "the packet simulator, in virtual time" },
    Name { name: "lab", value: Backend::Lab, summary: "Linux network namespaces, in real time" },
];
