//! Work that the Python package does: clusters, and policies written in Python.

use crate::args::PolicyArguments;
use crate::failure::Failure;
use std::process::{Command, ExitStatus};

/// A module of the package as a command, in the interpreter that has it.
pub(crate) struct InPython {
    interpreter: String,
    pub command: Command,
}

impl InPython {
    /// `module` with `scenario`, what to change in it, its variants and the policies.
    pub(crate) fn new(
        module: &str,
        scenario: &str,
        set: &[String],
        variants: &[String],
        policies: &PolicyArguments,
    ) -> Self {
        let interpreter = std::env::var("PRISMUX_PYTHON").unwrap_or_else(|_| "python3".to_string());
        let mut command = Command::new(&interpreter);
        command.args(["-m", module, scenario]);
        command.args(set.iter().map(|value| format!("--set={value}")));
        command.args(variants.iter().map(|name| format!("--variant={name}")));
        command.args(policies.given().iter().map(|(option, value)| format!("{option}={value}")));
        Self { interpreter, command }
    }

    /// Says of an interpreter that does not start what it is needed for.
    pub(crate) fn cannot_start(&self, error: &std::io::Error) -> Failure {
        Failure::Failed(format!(
            "cannot start {}: {error}\n  remedy: clusters and policies written in Python need the Python package \
             prismux; PRISMUX_PYTHON names the interpreter that has it",
            self.interpreter
        ))
    }

    /// Fails when the command did; it has said why.
    pub(crate) fn check(&self, what: &str, status: ExitStatus) -> Result<(), Failure> {
        match status.success() {
            true => Ok(()),
            false => Err(Failure::Failed(format!("{what} in {} failed ({status})", self.interpreter))),
        }
    }
}
