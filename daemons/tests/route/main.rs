//! Routing daemons as a user runs them: processes in network namespaces, whose interfaces are ports of bridges.
//!
//! `cargo test --test route [-- NAME]`. Works as root, and without where user namespaces are allowed.

mod hostile;
mod hosts;
mod mesh;
#[path = "../support/process.rs"]
mod process;

use prismux_daemons::route::config::RouteConfig;
use prismux_daemons::{logging, route};
use prismux_namespaces::Test;
use std::process::ExitCode;

const TESTS: &[Test] = &[
    ("hosts_in_a_line_reach_each_other_by_dsdv", mesh::line_by_dsdv),
    ("hosts_in_a_line_reach_each_other_by_dsr", mesh::line_by_dsr),
    ("hosts_in_a_line_reach_each_other_by_aodv", mesh::line_by_aodv),
    ("hosts_on_one_bridge_are_neighbours", mesh::neighbours),
    ("another_way_is_found_when_a_relay_is_killed", mesh::killed_relay),
    ("a_clean_end_leaves_nothing", mesh::clean_end),
    ("malformed_and_forged_frames_are_counted", hostile::frames),
    ("malformed_messages_of_an_air_are_counted", hostile::messages),
    ("mistakes_are_told_with_a_remedy", mesh::mistakes),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let ["route", protocol, address, radio, socket] =
        arguments.iter().map(String::as_str).collect::<Vec<_>>()[..]
    {
        return daemon(protocol, address, radio, socket);
    }
    prismux_namespaces::run(&[(TESTS, 3)])
}

/// This process is a daemon that a test has started.
fn daemon(protocol: &str, address: &str, radio: &str, socket: &str) -> ExitCode {
    let level = std::env::var("PRISMUX_LOG").ok().and_then(|level| level.parse().ok()).unwrap_or_default();
    logging::init(logging::LogFormat::Text, level);
    let config = RouteConfig {
        protocol: protocol.parse().expect("a protocol"),
        address: address.parse().expect("an address"),
        radio: radio.parse().expect("a radio"),
        device: "mesh0".to_owned(),
        mtu_bytes: None,
        status_socket: socket.into(),
    };
    match route::run(config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
