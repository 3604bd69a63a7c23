//! `prismux revoke`: a running gateway, proxy or member takes somebody's rights away, or gives them back.
use crate::args::RevokeArguments;
use crate::failure::Failure;
use crate::output::print;
use prismux_daemons::commands::{self, Command};
use std::path::{Path, PathBuf};

/// Status sockets of those who give rights to others.
const GIVERS: [&str; 3] =
    ["/run/prismux/gateway.sock", "/run/prismux/proxy.sock", "/run/prismux/member.sock"];

pub(crate) fn run(arguments: &RevokeArguments) -> Result<(), Failure> {
    let socket = match &arguments.socket {
        Some(socket) => socket.clone(),
        None => standard_socket()?,
    };
    let name = arguments.name.clone();
    let command = if arguments.undo { Command::Restore { name } } else { Command::Revoke { name } };
    Ok(print(commands::send(&socket, &command).map_err(Failure::Failed)?)?)
}

fn standard_socket() -> Result<PathBuf, Failure> {
    let present: Vec<&Path> = GIVERS.iter().map(Path::new).filter(|socket| socket.exists()).collect();
    match present[..] {
        [socket] => Ok(socket.to_owned()),
        [] => Err(Failure::Failed(format!(
            "no daemon listens at {}\n  remedy: start it first, or name its status socket with --socket; what its file \
             does not list is not let in either",
            GIVERS.join(" or ")
        ))),
        _ => Err(Failure::Usage(format!(
            "of {} several are there: say which, with --socket",
            GIVERS.join(", ")
        ))),
    }
}
