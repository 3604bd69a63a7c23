//! A link measured by receipts, against what a relay did to its packets.
use crate::network::{Network, SENDER};
use crate::process::{Daemon, wait_for};
use crate::relay::{DELAY, EXTRA_DELAY, Relay};
use prismux_linux::socket_option;
use prismux_namespaces::dropped_by_sockets;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

const PACKETS: u64 = 4000;
const PACKET_BYTES: usize = 1000;
/// So many repairs, at least, go out where delays are the relay's alone.
const USUAL_REPAIRS: u64 = 600;
/// 8 Mbit/s.
const GAP: Duration = Duration::from_millis(1);

/// When the next datagram is due: not at once for all those for which this thread had no processor.
struct Pace(Instant);

impl Pace {
    fn wait(&mut self) {
        std::thread::sleep(self.0.saturating_duration_since(Instant::now()));
        self.0 = (self.0 + GAP).max(Instant::now());
    }
}

/// What has become of the packets with numbers, once each has a fate.
struct Fates {
    /// Datagrams that the proxy has put on the link.
    sent: u64,
    /// What the proxy says of it.
    link: serde_json::Value,
    /// Packets, repairs included, that found no room in a socket before the relay or after it.
    overflowed: u64,
    /// Packets, repairs included, that the relay has dropped.
    dropped: u64,
}

impl Fates {
    fn wait_for(network: &Network, proxy: &Daemon, relay: &Relay, mut meanwhile: impl FnMut()) -> Self {
        let look = || {
            let status = proxy.status().unwrap();
            (status["links"][0]["forward_packets"].as_u64().unwrap(), status["receipts"][0].clone())
        };
        wait_for("every packet has a fate", || {
            meanwhile();
            let (sent, link) = look();
            let number = |name: &str| link[name].as_u64().unwrap_or_default();
            number("delivered_packets") + number("lost_packets") == sent + number("repairs")
        });
        meanwhile();
        let ((sent, link), (seen, dropped)) = (look(), relay.truth());
        let numbered = sent + link["repairs"].as_u64().unwrap_or_default();
        let overflowed = numbered.saturating_sub(seen) + dropped_by_sockets(&network.members[0]);
        Self { sent, link, overflowed, dropped }
    }

    fn number(&self, name: &str) -> u64 {
        self.link[name].as_u64().unwrap()
    }
}

/// Datagrams, which no ACK tells of: what was lost, how late packets came and at which rate.
pub fn measured() {
    let network = Network::new("receipts");
    let proxy = network.start_proxy();
    let relay = Relay::start(&network.proxy, "10.2.1.1:4755", "10.2.1.1:4754");
    let member = network.start_member_at(1, &format!("udp:{}", relay.address));
    wait_for("the member joins", || proxy.links_up() == ["m1"]);
    wait_for("receipts are agreed on", || proxy.status().unwrap()["receipts"][0]["loss"].is_number());

    let socket = network.sender.enter(|| UdpSocket::bind((SENDER, 7000))).unwrap().unwrap();
    let start = Instant::now();
    let mut pace = Pace(start);
    for _ in 0..PACKETS {
        socket.send_to(&[0; PACKET_BYTES], "10.77.0.2:7000").unwrap();
        pace.wait();
    }
    let took = start.elapsed().as_secs_f64();
    let fates = Fates::wait_for(&network, &proxy, &relay, || ());
    let (link, number) = (&fates.link, |name: &str| fates.link[name].as_f64().unwrap_or(-1.0));
    assert_eq!(fates.number("lost_packets"), fates.dropped + fates.overflowed, "{link}");
    assert!(
        fates.sent > PACKETS * 9 / 10 && fates.dropped >= fates.sent / 60,
        "{} {}",
        fates.sent,
        fates.dropped
    );

    let share = fates.dropped as f64 / fates.sent as f64;
    // Of the packets of late: sockets overflow now and then, the relay drops all the time.
    assert!(fates.overflowed > 0 || (share * 0.7..share * 1.4).contains(&number("loss")), "{link}");
    // The relay delays by its clock. A busy machine adds to that as much as it likes, and takes nothing away.
    assert!(number("rtt_s") >= 2.0 * DELAY.as_secs_f64(), "{link}");
    assert!(number("reordering_s") >= 0.8 * EXTRA_DELAY.as_secs_f64(), "{link}");
    // Bytes on the link: IP, UDP and GRE headers, a number, the datagram in IP.
    let bytes = (20 + 8 + 8 + 28 + PACKET_BYTES) as f64;
    let rate = PACKETS as f64 * bytes * 8.0 / took * (1.0 - share);
    // The relay has no rate of its own: what a busy machine holds up comes as fast as it will, and shows that.
    assert!(number("capacity_bps") >= rate * 0.8, "{rate} {link}");
    let receipt_bytes = member.number("/receipt_bytes") as f64;
    let allowed = 0.005 * PACKETS as f64 * bytes + 1500.0;
    assert!(receipt_bytes > 0.0 && receipt_bytes < allowed, "{receipt_bytes} {allowed}");
}

/// Datagrams over a link that drops every fiftieth packet, with repairs: what comes comes once and with its own bytes,
/// and of what is dropped most is given back. A machine so busy that its delays look like a queue sends fewer repairs,
/// and gives fewer packets back.
pub fn repaired() {
    let network = Network::new("repairs");
    let proxy = network.start_proxy_repairing();
    let relay = Relay::start(&network.proxy, "10.2.1.1:4755", "10.2.1.1:4754");
    let member = network.start_member_at(1, &format!("udp:{}", relay.address));
    wait_for("the member joins", || proxy.links_up() == ["m1"]);
    wait_for("receipts are agreed on", || proxy.status().unwrap()["receipts"][0]["loss"].is_number());
    assert_eq!(proxy.number("/mtu_bytes"), 1448);

    let receiver = network.receiver.enter(|| UdpSocket::bind("10.77.0.2:7000")).unwrap().unwrap();
    let socket = network.sender.enter(|| UdpSocket::bind((SENDER, 7000))).unwrap().unwrap();
    let mut came = vec![0_u32; PACKETS as usize];
    receiver.set_nonblocking(true).unwrap();
    // For what comes while a busy machine gives this thread no processor; without the right to it the default will do.
    let _ = socket_option::set(&receiver, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, 8 << 20);
    let mut buffer = [0; 2000];
    let mut take = |came: &mut Vec<u32>| {
        while let Ok(length) = receiver.recv(&mut buffer) {
            let (head, body) = buffer[..length].split_first_chunk::<4>().unwrap();
            let packet = u32::from_be_bytes(*head);
            assert_eq!(length, length_of(packet));
            assert!(body.iter().all(|&byte| byte == packet as u8), "packet {packet}");
            came[packet as usize] += 1;
        }
    };
    let mut pace = Pace(Instant::now());
    for packet in 0..PACKETS as u32 {
        let mut bytes = vec![packet as u8; length_of(packet)];
        bytes[..4].copy_from_slice(&packet.to_be_bytes());
        socket.send_to(&bytes, "10.77.0.2:7000").unwrap();
        take(&mut came);
        pace.wait();
    }
    let fates = Fates::wait_for(&network, &proxy, &relay, || take(&mut came));
    assert!(came.iter().all(|&times| times <= 1));
    // Of those that went over the link; what the receiver's socket had no room for had come all the same.
    let elsewhere = (PACKETS - fates.sent) + dropped_by_sockets(&network.receiver);
    let missing = (came.iter().filter(|&&times| times == 0).count() as u64).saturating_sub(elsewhere);
    let (settled, dropped, recovered) = (&fates.link, fates.dropped, fates.number("recovered_packets"));
    println!("dropped {dropped}, missing {missing}: {settled}");
    assert!(missing <= fates.number("lost_packets"), "{missing}: {settled}");
    assert!(missing + recovered <= dropped + fates.overflowed, "{missing} of {dropped}: {settled}");
    let repairs = fates.number("repairs");
    assert!(recovered * 3 * USUAL_REPAIRS > dropped * repairs.min(USUAL_REPAIRS), "{dropped}: {settled}");
    assert!(repairs < PACKETS / 4, "{settled}");
    // An original that comes after its repair, the relay's reordered packets among them, was not lost: the member takes
    // it back from its count at once, the proxy with the next receipt.
    wait_for("both ends count the same", || {
        proxy.status().unwrap()["receipts"][0]["recovered_packets"].as_u64()
            == Some(member.number("/recovered_packets"))
    });
}

/// Datagrams of many lengths.
const fn length_of(packet: u32) -> usize {
    4 + (packet as usize * 37) % 1396
}

/// A proxy that asks for none gets none, and its packets carry no numbers.
pub fn declined() {
    let network = Network::new("no-receipts");
    let proxy = network.start_proxy_declining();
    let relay = Relay::start(&network.proxy, "10.2.1.1:4755", "10.2.1.1:4754");
    let _member = network.start_member_at(1, &format!("udp:{}", relay.address));
    wait_for("the member joins", || proxy.links_up() == ["m1"]);
    let socket = network.sender.enter(|| UdpSocket::bind((SENDER, 7000))).unwrap().unwrap();
    for _ in 0..20 {
        socket.send_to(&[0; PACKET_BYTES], "10.77.0.2:7000").unwrap();
    }
    wait_for("they are sent", || proxy.number("/links/0/forward_packets") == 20);
    std::thread::sleep(2 * DELAY);
    assert_eq!(relay.truth(), (0, 0));
    assert_eq!(proxy.status().unwrap()["receipts"], serde_json::json!([]));
    assert_eq!(proxy.number("/mtu_bytes"), 1468);
}
