//! Members that stand in for one another while the uplink of one is silent.
use crate::network::{Network, SENDER, TOKEN};
use crate::process::{Daemon, ip, wait_for};
use crate::scenarios::udp_packet;
use crate::transfer::{Direction, Transfer};
use prismux_linux::namespace::Namespace;
use std::net::UdpSocket;

/// Where members ask each other, over the receiver's host, which forwards.
fn address(n: usize) -> String {
    format!("10.3.{n}.1:4755")
}

/// Starts member `n` with the other as its neighbour.
fn start_member(network: &Network, n: usize, token: &str) -> Daemon {
    let other = 3 - n;
    ip(&network.members[n - 1], &format!("route add 10.3.{other}.0/24 via 10.3.{n}.2"));
    let config = format!(
        "name = \"m{n}\"\ntoken = \"{TOKEN}\"\nreceivers = [\"10.77.0.2\"]\nstatus_socket = {:?}\n\
         [tunnel]\nproxy = \"udp:10.2.{n}.1:4754\"\nhello = \"400 ms\"\n\
         [neighbours]\nlocal = \"{}\"\nmembers = [\"{}\"]\ntoken_file = {token:?}\n",
        network.socket(&format!("m{n}")),
        address(n),
        address(other),
    );
    network.start(&network.members[n - 1], "member", &format!("m{n}"), &config)
}

fn token_file(network: &Network, name: &str, token: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let file = network.directory.join(name);
    std::fs::write(&file, token).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    file.display().to_string()
}

/// What leaves `space` for `to` gets lost, without anybody being told: it goes to a station that is not there.
fn lose(space: &Namespace, to: &str, device: &str) {
    ip(space, &format!("neighbour replace {to} lladdr 02:00:00:00:00:99 dev {device} nud permanent"));
}

fn pass(space: &Namespace, to: &str, device: &str) {
    ip(space, &format!("neighbour delete {to} dev {device}"));
}

/// Member 1, by which the receiver answers, is silent in both directions for a while.
pub fn stand_in() {
    let network = Network::new("neighbours");
    let proxy = network.start_proxy();
    let token = token_file(&network, "token", "what these neighbours share");
    let members = [start_member(&network, 1, &token), start_member(&network, 2, &token)];
    wait_for("both links are up", || proxy.links_up().len() == 2);
    // Twenty seconds long at the least.
    let bytes = 20 << 20;
    let transfer = Transfer::start(&network, SENDER, Direction::Download, bytes, Some(8_000_000));
    wait_for("it has begun", || transfer.arrived() > 1 << 20);
    let handed = || members[0].number("/neighbours/handed_over_packets");
    goes_by_its_own_link(&transfer, handed);

    lose(&network.members[0], "10.2.1.1", "wwan");
    lose(&network.proxy, "10.2.1.2", "m1");
    wait_for("a neighbour stands in", || members[1].number("/neighbours/stood_in_packets") > 0);
    let before = transfer.arrived();
    wait_for("the download goes on", || transfer.arrived() > before + (3 << 20));
    assert_eq!(members[0].status().unwrap()["neighbours"]["is_silent"], true);
    let told = members[0].events("link_state_changed");
    assert!(told.iter().any(|event| event.contains("silent")), "{told:?}");
    wait_for("the proxy misses it", || proxy.links_up().len() == 1);

    pass(&network.members[0], "10.2.1.1", "wwan");
    pass(&network.proxy, "10.2.1.2", "m1");
    wait_for("it answers again", || members[0].status().unwrap()["neighbours"]["is_silent"] == false);
    goes_by_its_own_link(&transfer, handed);
    transfer.finish(bytes);
    wait_for("both links are up", || proxy.links_up().len() == 2);
}

/// Waits for a megabyte of a download, none of whose answers were handed over. On a busy machine a link that works is
/// silent now and then.
fn goes_by_its_own_link(transfer: &Transfer, handed_over: impl Fn() -> u64) {
    let mut from = (handed_over(), transfer.arrived());
    wait_for("the download goes on by the member's own link", || {
        if handed_over() != from.0 {
            from = (handed_over(), transfer.arrived());
        }
        transfer.arrived() > from.1 + (1 << 20)
    });
}

/// Whoever does not have the neighbours' token is not believed, nor is what is neither from a receiver nor for anybody
/// beyond.
pub fn strangers() {
    let network = Network::new("neighbours-strangers");
    let proxy = network.start_proxy();
    let token = token_file(&network, "token", "what these neighbours share");
    let other = token_file(&network, "other", "what somebody else has heard");
    let members = [start_member(&network, 1, &token), start_member(&network, 2, &other)];
    wait_for("both links are up", || proxy.links_up().len() == 2);
    let transfer = Transfer::start(&network, SENDER, Direction::Download, 2 << 20, Some(8_000_000));
    lose(&network.members[0], "10.2.1.1", "wwan");
    wait_for("its questions are refused", || members[1].number("/drops/bad_token") > 0);
    assert_eq!(members[1].number("/neighbours/stood_in_packets"), 0);
    assert_eq!(members[0].number("/neighbours/handed_over_packets"), 0);
    pass(&network.members[0], "10.2.1.1", "wwan");
    transfer.finish(2 << 20);

    let [first, second] = members;
    first.stop();
    let forge = |from: &str, source: [u8; 4], destination: [u8; 4], reason: &str| {
        let socket = network.members[0].enter(|| UdpSocket::bind(from)).unwrap().unwrap();
        let packet = udp_packet(source, destination, 9, 9, b"forged");
        socket.send_to(&[&[0, 0, 8, 0][..], &packet].concat(), address(2)).unwrap();
        // What the kernel itself sends by the member's device is from foreign sources too.
        wait_for(reason, || second.number(&format!("/drops/{reason}")) > 0);
    };
    let (receiver, server) = ([10, 77, 0, 2], [10, 1, 0, 1]);
    forge("10.3.1.1:4756", receiver, server, "unknown_peer");
    forge(&address(1), [192, 0, 2, 66], server, "foreign_source");
    forge(&address(1), receiver, receiver, "foreign_destination");
    assert_eq!(second.number("/neighbours/stood_in_packets"), 0);
}
