//! The web page while the uplinks have something to do: for those who look at it, and for pictures.
use crate::network::{Machine, Network};
use crate::transfer::{Direction, Transfer};
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Traffic before something happens, and after it.
const WARM_UP: Duration = Duration::from_secs(25);
/// The second line says nothing for so long.
const SILENCE: Duration = Duration::from_secs(8);

/// Runs a command where a host's page is `http://127.0.0.1:9587`: `home` or `server`, and the command's words.
pub fn show(arguments: &[String]) {
    let [host, program, words @ ..] = arguments else { panic!("expected: home|server COMMAND") };
    let network = Network::new();
    crate::type_until(&network, "prismux status");
    let machine: &Machine = if host == "server" { &network.server } else { network.home() };
    let down = Transfer::start(&network, Direction::Down, 1_000_000_000);
    std::thread::sleep(WARM_UP);
    let up = Transfer::start(&network, Direction::Up, 14_000_000);
    std::thread::sleep(SILENCE);
    network.lines.is_dead[1].store(true, Ordering::Relaxed);
    std::thread::sleep(SILENCE);
    network.lines.is_dead[1].store(false, Ordering::Relaxed);
    std::thread::sleep(WARM_UP);
    let mut command = Command::new(program);
    machine.space.host(command.args(words));
    let status = command.status().expect("the command");
    assert!(status.success(), "{program}: {status}");
    println!("{} bytes came down, {} went up", down.arrived(), up.arrived());
    std::process::exit(0);
}
