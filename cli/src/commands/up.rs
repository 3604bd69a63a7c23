//! `prismux up` and `prismux down`.
use super::status::STANDARD_SOCKETS;
use crate::args::{DownArguments, UpArguments};
use crate::failure::Failure;
use crate::output::print;
use clap::ValueEnum;
use prismux_daemons::config::{ConfigError, Role};
use prismux_daemons::{commands, footprint, gateway, home, logging, status};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Where `join` and `invite` write.
const STANDARD_FILES: [&str; 2] = ["/etc/prismux/home.toml", "/etc/prismux/gateway.toml"];

/// A daemon starts and ends within this time.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked at meanwhile.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) fn up(arguments: &UpArguments) -> Result<(), Failure> {
    let file = match &arguments.config {
        Some(file) => file.clone(),
        None => standard_file()?,
    };
    let role = Role::load(&file).map_err(|error: ConfigError| Failure::Usage(error.to_string()))?;
    let role = role.with_workers(arguments.workers);
    if arguments.restart {
        remove_present(role.status_socket())?;
    }
    if arguments.detach {
        return detach(arguments, &file, role.status_socket());
    }
    logging::init(arguments.log_format.into(), arguments.log_level);
    match role {
        Role::Home(config) => home::run(*config).map_err(Failure::failed),
        Role::Gateway(config) => gateway::run(&config).map_err(Failure::failed),
    }
}

fn standard_file() -> Result<PathBuf, Failure> {
    let mut present = STANDARD_FILES.iter().map(PathBuf::from).filter(|file| file.exists());
    match (present.next(), present.next()) {
        (Some(file), None) => Ok(file),
        (Some(_), Some(_)) => Err(Failure::Usage(format!(
            "{} are both there: say which, with --config",
            STANDARD_FILES.join(" and ")
        ))),
        _ => Err(Failure::Usage(format!(
            "there is no {}\n  remedy: `prismux invite NAME` at the server, then `prismux join INVITATION` here",
            STANDARD_FILES.join(" and no ")
        ))),
    }
}

/// Ends the daemon that runs, if there is one, and leaves everything that it has set up to the next.
fn remove_present(socket: &Path) -> Result<(), Failure> {
    if status::kill(socket).is_ok() {
        let start = Instant::now();
        while status::query(socket).is_ok() {
            if start.elapsed() > PATIENCE {
                return Err(Failure::failed(format!("the daemon at {} does not end", socket.display())));
            }
            std::thread::sleep(PAUSE);
        }
    }
    Ok(())
}

/// Starts the same in the background, and waits until it answers.
fn detach(arguments: &UpArguments, file: &Path, socket: &Path) -> Result<(), Failure> {
    if status::query(socket).is_ok() {
        return Err(Failure::failed(format!(
            "it is up already ({}). To have it read its file anew: prismux up --restart",
            socket.display()
        )));
    }
    let log = socket.with_extension("log");
    if let Some(directory) = log.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let out = std::fs::File::create(&log)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("up").arg("--config").arg(file).arg("--log-level").arg(arguments.log_level.to_string());
    if let Some(format) = arguments.log_format.to_possible_value() {
        command.arg("--log-format").arg(format.get_name());
    }
    if let Some(workers) = arguments.workers {
        command.arg("--workers").arg(workers.to_string());
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(out);
    // A group of its own: what is typed at this terminal does not reach it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    let start = Instant::now();
    while status::query(socket).is_err() {
        if child.try_wait()?.is_some() {
            return Err(Failure::Failed(std::fs::read_to_string(&log)?.trim().to_owned()));
        }
        if start.elapsed() > PATIENCE {
            return Err(Failure::failed(format!("it does not answer; see {}", log.display())));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(print(format!("up; log: {}; how it is: prismux status; end it: prismux down", log.display()))?)
}

pub(crate) fn down(arguments: &DownArguments) -> Result<(), Failure> {
    let sockets: Vec<PathBuf> = match &arguments.socket {
        Some(socket) => vec![socket.clone()],
        // Of proxy and member nothing is left when they are killed.
        None => STANDARD_SOCKETS.iter().take(2).map(PathBuf::from).filter(|socket| socket.exists()).collect(),
    };
    if sockets.is_empty() {
        return Ok(print("nothing is up")?);
    }
    for socket in sockets {
        take_down(&socket)?;
    }
    Ok(())
}

fn take_down(socket: &Path) -> Result<(), Failure> {
    let shown = socket.display();
    if status::end(socket).is_ok() {
        let start = Instant::now();
        while socket.exists() {
            if start.elapsed() > PATIENCE {
                return Err(Failure::failed(format!("the daemon at {shown} does not end")));
            }
            std::thread::sleep(PAUSE);
        }
        return Ok(print(format!("down: {shown}"))?);
    }
    let undone = footprint::undo_left(&socket.with_extension("undo"));
    let _ = std::fs::remove_file(socket);
    let _ = std::fs::remove_file(commands::socket_beside(socket));
    Ok(print(format!("no daemon answered at {shown}; undid {undone} changes that it had left"))?)
}
