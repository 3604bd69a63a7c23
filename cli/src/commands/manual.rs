//! `prismux completions` and `prismux man`: what shells and manuals know of the command line, from its definition.
use crate::args::{Arguments, CompletionsArguments, ManArguments};
use crate::failure::Failure;
use crate::output::print;
use clap::CommandFactory;

pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "prismux", &mut text);
    Ok(print(String::from_utf8(text).map_err(Failure::failed)?.trim_end())?)
}

pub(crate) fn pages(arguments: &ManArguments) -> Result<(), Failure> {
    std::fs::create_dir_all(&arguments.folder)?;
    Ok(clap_mangen::generate_to(Arguments::command(), &arguments.folder)?)
}
