//! A machine that stands still: what waits is heard before anybody is judged.
use crate::network::{Network, SENDER};
use crate::process::{Daemon, wait_for};
use crate::transfer::{Direction, Transfer};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::time::Duration;

/// Longer than a proxy of these tests waits for a member.
const PAUSE: Duration = Duration::from_secs(6);

fn signal(daemon: &Daemon, signal: Signal) {
    kill(Pid::from_raw(daemon.id().cast_signed()), signal).unwrap();
}

/// A proxy that is stopped for a while (a virtual machine that moves, a laptop's lid) finds its members' hellos
/// waiting, behind a flood of other packets too, and holds nobody for gone; the download goes on.
pub fn proxy() {
    let network = Network::new("paused-proxy");
    let proxy = network.start_proxy();
    let members = [network.start_member(1, "udp"), network.start_member(2, "udp")];
    wait_for("both members join", || {
        proxy.links_up().len() == 2 && members.iter().all(Daemon::is_registered)
    });
    let bytes = 12_000_000;
    let transfer = Transfer::start(&network, SENDER, Direction::Download, bytes, Some(16_000_000));
    wait_for("it has begun", || transfer.arrived() > 1 << 20);
    signal(&proxy, Signal::SIGSTOP);
    let stranger = network.members[1].enter(|| std::net::UdpSocket::bind("10.2.2.2:0")).unwrap().unwrap();
    for _ in 0..150 {
        stranger.send_to(&[0, 0, 8], "10.2.2.1:4754").unwrap();
    }
    std::thread::sleep(PAUSE);
    signal(&proxy, Signal::SIGCONT);
    transfer.finish(bytes);
    assert_eq!(proxy.events("member_left"), Vec::<String>::new());
    assert_eq!(proxy.links_up(), ["m1", "m2"]);
    wait_for("members hear of it again", || members.iter().all(Daemon::is_registered));
}
