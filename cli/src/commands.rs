//! One file for each command.

mod check;
mod compare;
mod run;
mod scenarios;

use crate::args::{Arguments, Command};
use crate::failure::Failure;

/// Does what the command line asks.
pub(crate) fn dispatch(arguments: Arguments) -> Result<(), Failure> {
    match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Scenarios(arguments) => scenarios::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Reproduce(arguments) => crate::reproduce::run(&arguments),
        _ => Err(Failure::Failed("this command is not part of this build".to_string())),
    }
}
