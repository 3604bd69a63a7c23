//! `prismux view`.

use crate::args::ViewArguments;
use crate::failure::Failure;
use crate::output::print;
use prismux_view::{RecordError, Server, Viewed};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Programs that open an address in the reader's browser; the first that there is does it.
const OPENERS: [&str; 3] = ["xdg-open", "open", "wslview"];

pub(crate) fn run(arguments: &ViewArguments) -> Result<(), Failure> {
    let viewed = arguments.runs.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    if let Some(folder) = &arguments.export {
        let written = prismux_view::export(&viewed, folder);
        let file = written
            .map_err(|error| Failure::failed(format!("cannot write {}: {error}", folder.display())))?;
        return Ok(print(file.display())?);
    }
    let port = arguments.port;
    let server = Server::listen(viewed, port).map_err(|error| {
        Failure::failed(format!(
            "cannot listen on 127.0.0.1, port {port}: {error}\n  remedy: another --port, or none"
        ))
    })?;
    print(format!("{}   (Ctrl-C ends it)", server.url()))?;
    if !arguments.no_open {
        open(&server.url());
    }
    Ok(server.serve()?)
}

/// Reads a record and says how it went.
fn read(path: &Path) -> Result<Viewed, Failure> {
    let began = Instant::now();
    let run = prismux_view::read(path).map_err(|error| match error {
        RecordError::Unreadable(..) => Failure::failed(error),
        _ => Failure::Usage(error.to_string()),
    })?;
    let label = path.display().to_string();
    eprintln!("{label}: {} events in {:.2} s", run.events, began.elapsed().as_secs_f64());
    run.warnings.iter().for_each(|warning| eprintln!("warning: {label}: {warning}"));
    Ok(Viewed { label, run })
}

/// Opens the page where there is a desktop; the address stands on the terminal in any case.
fn open(url: &str) {
    let quiet = |program: &&str| {
        Command::new(program)
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .is_ok()
    };
    if !OPENERS.iter().any(quiet) {
        eprintln!("no browser was found to open; type the address into one");
    }
}
