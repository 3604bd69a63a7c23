//! The `prismux` command.
//!
//! Exit codes: 0 done, 1 failed, 2 usage or a bad file. Results go to standard output, everything else to standard
//! error; a reader that stops reading (a closed pipe) ends the program quietly.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

mod args;
mod commands;
mod failure;
mod jobs;
mod output;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = args::Arguments::parse();
    match commands::dispatch(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
