//! Routes and rules: what daemons take, leave alone and give back.
use crate::network::{Network, TOKEN};
use crate::process::{ip, wait_for};
use crate::scenarios::configuration;
use prismux_linux::interrupted::uninterrupted;
use std::net::UdpSocket;
use std::time::Duration;

/// A proxy that would need somebody else's route does not start, and everything stays as it was.
pub fn foreign_routes() {
    let network = Network::new("foreign-routes");
    ip(&network.proxy, "route add 10.99.0.0/24 via 10.1.0.1");
    ip(&network.proxy, "-6 route add fd99::/64 via fd01::1");
    let before = configuration(&network.proxy);
    for (receivers, found, remedy) in [
        ("0.0.0.0/0", "every address", "the receivers' own addresses"),
        ("::/0", "every address", "the receivers' own addresses"),
        ("10.99.0.0/24", "10.99.0.0/24 via 10.1.0.1", "remove that route"),
        ("fd99::/64", "fd99::/64 via fd01::1", "remove that route"),
        ("10.2.1.0/24", "10.2.1.1/24 of m1", "without the proxy's own"),
        ("10.2.1.1", "10.2.1.1/24 of m1", "without the proxy's own"),
    ] {
        let config = format!(
            "receivers = [\"{receivers}\"]\ntoken = \"{TOKEN}\"\nstatus_socket = {:?}\n[tunnel]\ngre = \"0.0.0.0\"\n",
            network.socket("refused")
        );
        let said = network.refused(&network.proxy, "proxy", &config);
        assert!(said.contains(found) && said.contains(remedy), "{receivers}: {said}");
        assert_eq!(configuration(&network.proxy), before, "{receivers}");
    }
}

/// While no proxy answers, a member's rule is gone, so that another member's may serve the receivers; it comes back.
pub fn way_back_without_proxy() {
    let network = Network::new("way-back");
    let rules = || ip(&network.members[0], "rule").matches("from 10.77.0.2 lookup 4754").count();
    let config = format!(
        "name = \"m1\"\ntoken = \"{TOKEN}\"\nreceivers = [\"10.77.0.2\"]\nstatus_socket = {:?}\n[tunnel]\n\
         proxy = \"udp:10.2.1.1\"\nhello = \"300 ms\"\nkeep_alive = \"300 ms\"\n",
        network.socket("m1")
    );
    let member = network.start(&network.members[0], "member", "m1", &config);
    assert_eq!(rules(), 0, "nobody has answered yet");
    let proxy = network.start_proxy();
    wait_for("it registers", || member.is_registered());
    assert_eq!(rules(), 1);
    proxy.kill();
    wait_for("it misses the proxy", || !member.is_registered());
    assert_eq!(rules(), 0, "{}", ip(&network.members[0], "rule"));
    let told = member.events("registration_changed").pop().unwrap();
    assert!(told.contains("\"registered\":false") && told.contains("no answer for"), "{told}");
    let _proxy = network.start_proxy();
    wait_for("it registers again", || member.is_registered());
    assert_eq!(rules(), 1);
}

/// Receivers that are a whole LAN: the member, which has an address in it, still answers from that address directly.
pub fn own_addresses() {
    let network = Network::new("own-addresses");
    let _proxy = network.start_proxy();
    let config = format!(
        "name = \"m1\"\ntoken = \"{TOKEN}\"\nreceivers = [\"10.3.1.0/24\"]\nstatus_socket = {:?}\n[tunnel]\n\
         proxy = \"udp:10.2.1.1\"\n",
        network.socket("m1")
    );
    let before = configuration(&network.members[0]);
    let member = network.start(&network.members[0], "member", "m1", &config);
    wait_for("it registers", || member.is_registered());
    let bound = |space: &prismux_linux::namespace::Namespace, address: &str| {
        let socket = space.enter(|| UdpSocket::bind(address)).unwrap().unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        socket
    };
    let (own, neighbour) =
        (bound(&network.members[0], "10.3.1.1:7000"), bound(&network.receiver, "10.3.1.2:7001"));
    neighbour.send_to(b"hello", "10.3.1.1:7000").unwrap();
    let (_, from) = uninterrupted(|| own.recv_from(&mut [0; 100])).expect("the neighbour is heard");
    own.send_to(b"answer", from).unwrap();
    assert_eq!(
        uninterrupted(|| neighbour.recv_from(&mut [0; 100])).expect("the answer comes by the LAN").0,
        6
    );
    let forwarded = ip(&network.members[0], "route get 10.1.0.1 from 10.3.1.2 iif wlan");
    assert!(forwarded.contains("dev prism0"), "what receivers send goes into the tunnel: {forwarded}");
    member.stop();
    assert_eq!(configuration(&network.members[0]), before);
}
