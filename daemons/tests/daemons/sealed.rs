//! Sealed tunnels: a download through them, and what an attacker on the path, a stranger, or a dishonest member gets.
use crate::network::{Network, SENDER, SENDER_V6};
use crate::process::{Daemon, wait_for};
use crate::scenarios::udp_packet;
use crate::transfer::{Direction, Transfer};
use prismux_daemons::commands::{self, Command};
use prismux_daemons::config::make_private_key;
use prismux_daemons::tunnel::control::{Hello, Message, PROTOCOL_TYPE, Tier, Token};
use prismux_daemons::tunnel::sealing::os_entropy;
use prismux_endpoint::Endpoint;
use prismux_linux::interrupted::uninterrupted;
use prismux_linux::namespace::Namespace;
use prismux_linux::socket_option;
use prismux_sealed::{KeyPair, Limits, PeerId, PublicKey, Sessions};
use prismux_units::{Duration, Instant};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time;

const MEGABYTE: u64 = 1_000_000;
const PEER: PeerId = PeerId(0);

/// Keys of a proxy and two members, in files.
pub struct Keys {
    proxy: PublicKey,
    members: [PublicKey; 2],
}

impl Keys {
    pub fn make(network: &Network) -> Self {
        let make = |name: &str| make_private_key(&network.directory.join(name)).unwrap().parse().unwrap();
        Self { proxy: make("proxy.key"), members: [make("m1.key"), make("m2.key")] }
    }

    fn private(network: &Network, name: &str) -> KeyPair {
        let text = std::fs::read_to_string(network.directory.join(format!("{name}.key"))).unwrap();
        KeyPair::from_private_text(&text).unwrap()
    }
}

fn start_proxy(network: &Network, keys: &Keys) -> Daemon {
    start_proxy_with(network, keys, "")
}

/// As [`start_proxy`], with more at the beginning of its file.
pub fn start_proxy_with(network: &Network, keys: &Keys, first: &str) -> Daemon {
    let [m1, m2] = keys.members;
    let config = format!(
        "{first}receivers = [\"10.77.0.2\", \"fd77::2\"]\nstatus_socket = {:?}\nprivate_key_file = {:?}\n\
         [tunnel]\nsealed = \"[::]:51820\"\n[liveness]\ndead_after = \"1500 ms\"\n\
         [[peers]]\nname = \"m1\"\npublic_key = \"{m1}\"\nreceivers = [\"10.77.0.2\", \"fd77::2\"]\n\
         [[peers]]\nname = \"m2\"\npublic_key = \"{m2}\"\n",
        network.socket("proxy"),
        network.directory.join("proxy.key"),
    );
    network.start(&network.proxy, "proxy", "proxy", &config)
}

/// Starts member `n`, whose proxy is at `proxy`.
fn start_member(network: &Network, keys: &Keys, n: usize, proxy: &str) -> Daemon {
    start_member_with(network, keys, n, proxy, "")
}

/// As [`start_member`], with more at the beginning of its file.
pub fn start_member_with(network: &Network, keys: &Keys, n: usize, proxy: &str, first: &str) -> Daemon {
    let config = format!(
        "{first}name = \"m{n}\"\nreceivers = [\"10.77.0.2\", \"fd77::2\"]\nstatus_socket = {:?}\n\
         private_key_file = {:?}\n[tunnel]\nproxy = \"sealed:{proxy}\"\n\
         proxy_public_key = \"{}\"\nhello = \"400 ms\"\n",
        network.socket(&format!("m{n}")),
        network.directory.join(format!("m{n}.key")),
        keys.proxy,
    );
    network.start(&network.members[n - 1], "member", &format!("m{n}"), &config)
}

/// Both address families inside, and one tunnel over each.
pub fn download() {
    let network = Network::new("sealed");
    let keys = Keys::make(&network);
    let proxy = start_proxy(&network, &keys);
    let _members =
        [start_member(&network, &keys, 1, "10.2.1.1"), start_member(&network, &keys, 2, "[fd02:2::1]:51820")];
    wait_for("both members join", || proxy.links_up().len() == 2);
    for server in [SENDER, SENDER_V6] {
        let bytes = 10 * MEGABYTE;
        Transfer::start(&network, server, Direction::Download, bytes, None).finish(bytes);
    }
    Transfer::start(&network, SENDER, Direction::Upload, 5 * MEGABYTE, None).finish(5 * MEGABYTE);
    for reason in ["malformed_tunnel", "forged", "replayed", "unknown_peer", "send_failed", "foreign_name"] {
        assert_eq!(proxy.number(&format!("/drops/{reason}")), 0, "{reason}");
    }
}

/// The proxy killed in mid-transfer and started again: members notice, and make new keys.
pub fn killed_proxy() {
    let network = Network::new("sealed-restart");
    let keys = Keys::make(&network);
    let proxy = start_proxy(&network, &keys);
    let _members =
        [start_member(&network, &keys, 1, "10.2.1.1"), start_member(&network, &keys, 2, "10.2.2.1")];
    wait_for("both members join", || proxy.links_up().len() == 2);
    let bytes = 20 * MEGABYTE;
    let transfer = Transfer::start(&network, SENDER, Direction::Download, bytes, None);
    wait_for("it is under way", || proxy.number("/counters/data_packets") > 2000);
    proxy.kill();
    let proxy = start_proxy(&network, &keys);
    wait_for("both are back", || proxy.links_up().len() == 2);
    transfer.finish(bytes);
}

/// One of two members loses its rights in the middle of a download, which goes on whole over the other one: nothing
/// of what it says is heard any more, also after a restart of the proxy, until its rights are given back.
pub fn revoked_member() {
    let network = Network::new("sealed-revoked");
    let keys = Keys::make(&network);
    let proxy = start_proxy(&network, &keys);
    let members =
        [start_member(&network, &keys, 1, "10.2.1.1"), start_member(&network, &keys, 2, "10.2.2.1")];
    wait_for("both members join", || proxy.links_up().len() == 2);
    let bytes = 20 * MEGABYTE;
    let transfer = Transfer::start(&network, SENDER, Direction::Download, bytes, None);
    wait_for("it is under way", || proxy.number("/counters/data_packets") > 2000);
    let name = || "m2".to_owned();
    let said = commands::send(proxy.socket(), &Command::Revoke { name: name() }).unwrap();
    assert!(said.starts_with("m2 is out"), "{said}");
    assert_eq!(proxy.links_up(), ["m1"]);
    let told =
        proxy.events("member_left").into_iter().filter(|told| told.contains("its rights have been revoked"));
    assert_eq!(told.count(), 1, "{:?}", proxy.events("member_left"));
    transfer.finish(bytes);
    wait_for("it asks for new keys", || proxy.number("/drops/unknown_peer") > 0);
    wait_for("it has no answer", || !members[1].is_registered());

    proxy.kill();
    let proxy = start_proxy(&network, &keys);
    wait_for("the other one is back", || proxy.links_up() == ["m1"]);
    // In this time it asks for new keys several times.
    std::thread::sleep(time::Duration::from_secs(3));
    assert_eq!((proxy.links_up(), members[1].is_registered()), (vec!["m1".to_owned()], false));
    commands::send(proxy.socket(), &Command::Restore { name: name() }).unwrap();
    wait_for("it is back", || proxy.links_up().len() == 2);
    let again = commands::send(proxy.socket(), &Command::Restore { name: name() }).unwrap_err();
    assert!(again.contains("have not been revoked"), "{again}");
}

/// The owner of a link takes it from the proxy in the middle of a download, which goes on over the other one; the
/// member started again has not forgotten.
pub fn revoked_proxy() {
    let network = Network::new("sealed-unlent");
    let keys = Keys::make(&network);
    let proxy = start_proxy(&network, &keys);
    let m1 = start_member(&network, &keys, 1, "10.2.1.1");
    let m2 = start_member(&network, &keys, 2, "10.2.2.1");
    wait_for("both members join", || proxy.links_up().len() == 2);
    let bytes = 20 * MEGABYTE;
    let transfer = Transfer::start(&network, SENDER, Direction::Download, bytes, None);
    wait_for("it is under way", || proxy.number("/counters/data_packets") > 2000);
    let name = || "proxy".to_owned();
    commands::send(m2.socket(), &Command::Revoke { name: name() }).unwrap();
    wait_for("it has taken its leave", || proxy.links_up() == ["m1"]);
    let rests = |member: &Daemon| member.status().unwrap()["rests"].clone();
    assert_eq!(rests(&m2), "the proxy's rights have been revoked");
    // What was under way when it took its leave may still arrive; no more is sent.
    let sent = || {
        let status = proxy.status().unwrap();
        let link = status["links"].as_array().unwrap().iter().find(|link| link["name"] == "m2").unwrap();
        link["forward_packets"].clone()
    };
    let before = sent();
    transfer.finish(bytes);
    assert_eq!((sent(), rests(&m1)), (before, serde_json::Value::Null));

    m2.kill();
    let m2 = start_member(&network, &keys, 2, "10.2.2.1");
    std::thread::sleep(time::Duration::from_secs(2));
    assert_eq!((proxy.links_up(), m2.is_registered()), (vec!["m1".to_owned()], false));
    let refused = commands::send(m2.socket(), &Command::Restore { name: "m1".to_owned() }).unwrap_err();
    assert!(refused.contains("nobody called m1"), "{refused}");
    commands::send(m2.socket(), &Command::Restore { name: name() }).unwrap();
    wait_for("it is lent again", || proxy.links_up().len() == 2);
}

/// Members that have nothing to say are called by a proxy that has been restarted.
pub fn idle_members_after_a_restart() {
    let network = Network::new("sealed-idle");
    let keys = Keys::make(&network);
    let proxy = start_proxy(&network, &keys);
    let members =
        [start_member(&network, &keys, 1, "10.2.1.1"), start_member(&network, &keys, 2, "10.2.2.1")];
    wait_for("both members join", || {
        proxy.links_up().len() == 2 && members.iter().all(Daemon::is_registered)
    });
    std::thread::sleep(time::Duration::from_millis(600));
    proxy.kill();
    let proxy = start_proxy(&network, &keys);
    let start = time::Instant::now();
    wait_for("both are back", || proxy.links_up().len() == 2);
    assert!(start.elapsed() < time::Duration::from_secs(10), "{:?}", start.elapsed());
}

/// Between a member and its proxy: it passes everything on and keeps a copy of what the member said.
pub struct Tap {
    pub address: SocketAddr,
    /// Towards the proxy, as the member appears there.
    pub uplink: UdpSocket,
    recorded: Arc<Mutex<Vec<Vec<u8>>>>,
    /// The beginnings of what the proxy said, and its length.
    said: Arc<Mutex<Vec<Said>>>,
    /// From the proxy nothing is passed on while this is set.
    stopped: Arc<AtomicBool>,
}

/// A datagram's first bytes, and how many it has.
pub type Said = ([u8; 16], usize);

impl Tap {
    pub fn start(space: &Namespace, address: &str, proxy: &str) -> Self {
        let open = |address: &str| {
            let socket = UdpSocket::bind(address).unwrap();
            socket.set_read_timeout(Some(time::Duration::from_millis(50))).unwrap();
            // What a tap of two threads has not passed on yet. Without the right to it the default has to do.
            let _ = socket_option::set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, 8 << 20);
            socket
        };
        let (member_side, uplink) = space.enter(|| (open(address), open("0.0.0.0:0"))).unwrap();
        uplink.connect(proxy).unwrap();
        let address = member_side.local_addr().unwrap();
        let (said, stopped) = (Arc::default(), Arc::default());
        let tap = Self { address, uplink, recorded: Arc::default(), said, stopped };
        let (recorded, stopped) = (Arc::clone(&tap.recorded), Arc::clone(&tap.stopped));
        let said = Arc::clone(&tap.said);
        let member: Arc<Mutex<Option<SocketAddr>>> = Arc::default();
        let (ups, downs) = (tap.uplink.try_clone().unwrap(), tap.uplink.try_clone().unwrap());
        let (back, known, ended) =
            (member_side.try_clone().unwrap(), Arc::clone(&member), Arc::clone(&stopped));
        std::thread::spawn(move || {
            let mut buffer = [0; 2000];
            while !stopped.load(Ordering::Relaxed) {
                let Ok((length, from)) = member_side.recv_from(&mut buffer) else { continue };
                *member.lock().unwrap() = Some(from);
                recorded.lock().unwrap().push(buffer[..length].to_vec());
                let _ = ups.send(&buffer[..length]);
            }
        });
        std::thread::spawn(move || {
            let mut buffer = [0; 2000];
            while !ended.load(Ordering::Relaxed) {
                let Ok(length) = downs.recv(&mut buffer) else { continue };
                said.lock().unwrap().push((*buffer.first_chunk().unwrap(), length));
                if let Some(to) = *known.lock().unwrap() {
                    let _ = back.send_to(&buffer[..length], to);
                }
            }
        });
        tap
    }

    pub fn recorded(&self) -> Vec<Vec<u8>> {
        self.recorded.lock().unwrap().clone()
    }

    pub fn said(&self) -> Vec<Said> {
        self.said.lock().unwrap().clone()
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// Somebody on the path keeps everything a member says, plays it back and changes it: all is refused and counted, and
/// nothing goes to where it was played from.
pub fn attacker_on_the_path() {
    let network = Network::new("sealed-path");
    let keys = Keys::make(&network);
    let proxy = start_proxy(&network, &keys);
    let tap = Tap::start(&network.proxy, "10.2.1.1:4800", "10.2.1.1:51820");
    let _member = start_member(&network, &keys, 1, &tap.address.to_string());
    wait_for("the member joins", || proxy.links_up() == ["m1"]);
    let bytes = MEGABYTE;
    Transfer::start(&network, SENDER, Direction::Download, bytes, None).finish(bytes);

    let recorded = tap.recorded();
    let legible = recorded.iter().any(|datagram| datagram.windows(4).any(|part| part == [10, 77, 0, 2]));
    assert!(recorded.len() > 50 && !legible, "the receiver's address shows in {} datagrams", recorded.len());
    wait_for("the last ACKs of the download have passed", || {
        let before = proxy.number("/links/0/return_packets");
        std::thread::sleep(time::Duration::from_millis(300));
        proxy.number("/links/0/return_packets") == before
    });
    let (before, peer) =
        (proxy.number("/links/0/return_packets"), proxy.status().unwrap()["links"][0]["peer"].clone());
    let elsewhere = network.members[1].enter(|| UdpSocket::bind("10.2.2.2:9")).unwrap().unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let old = &recorded[..50];
    for datagram in old {
        tap.uplink.send(datagram).unwrap();
        elsewhere.send_to(datagram, "10.2.2.1:51820").unwrap();
    }
    wait_for("all are refused", || {
        proxy.number("/drops/replayed") + proxy.number("/drops/too_many_handshakes") >= 100
    });
    let data = recorded.iter().rev().find(|datagram| datagram[0] == 4).unwrap();
    for bit in [32, 70, 16 * 8, data.len() * 8 - 1] {
        let mut changed = data.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        // A number of its own: else it would be refused as a repetition.
        changed[13] = 1;
        elsewhere.send_to(&changed, "10.2.2.1:51820").unwrap();
    }
    wait_for("these too", || proxy.number("/drops/forged") + proxy.number("/drops/unknown_peer") >= 4);
    assert!(uninterrupted(|| elsewhere.recv(&mut [0; 2000])).is_err(), "an answer to a stranger");
    let status = proxy.status().unwrap();
    assert_eq!(status["links"][0]["peer"], peer, "the member has not moved");
    let after = proxy.number("/links/0/return_packets");
    assert!(after <= before + 5, "played back packets reached the core: {before} {after}");
}

/// Strangers get nothing: no answer to any number of handshakes without the proxy's key, nor with it and an unknown
/// key of their own until it is too much, and then a cookie that is smaller than what it answers.
pub fn strangers() {
    let network = Network::new("sealed-strangers");
    let keys = Keys::make(&network);
    let proxy = start_proxy(&network, &keys);
    let stranger = network.members[1].enter(|| UdpSocket::bind("10.2.2.2:0")).unwrap().unwrap();
    stranger.set_read_timeout(Some(time::Duration::from_millis(200))).unwrap();
    let to: SocketAddr = "10.2.2.1:51820".parse().unwrap();
    let wrong = KeyPair::generate(&mut os_entropy().unwrap());
    let initiation = |proxy_key: PublicKey| {
        let today = time::SystemTime::now().duration_since(time::UNIX_EPOCH).unwrap().as_secs();
        let own = KeyPair::generate(&mut os_entropy().unwrap());
        let mut sessions =
            Sessions::new(own, Limits::default(), Duration::from_secs(today), os_entropy().unwrap());
        sessions.add_peer(proxy_key, Some(to));
        sessions.handle_input(Instant::ZERO, PEER);
        sessions.poll_transmit(Instant::ZERO).unwrap().bytes
    };
    let blind = initiation(wrong.public());
    for _ in 0..2000 {
        stranger.send_to(&blind, to).unwrap();
    }
    wait_for("they are counted", || proxy.number("/drops/unknown_peer") >= 1000);
    assert!(uninterrupted(|| stranger.recv(&mut [0; 2000])).is_err(), "an answer to a stranger");

    let knowing = initiation(keys.proxy);
    for _ in 0..50 {
        stranger.send_to(&knowing, to).unwrap();
    }
    assert!(uninterrupted(|| stranger.recv(&mut [0; 2000])).is_err(), "an answer to an unknown key");
    for _ in 0..500 {
        stranger.send_to(&knowing, to).unwrap();
    }
    wait_for("it is too much", || proxy.number("/drops/too_many_handshakes") > 0);
    assert_eq!(uninterrupted(|| stranger.recv(&mut [0; 2000])).unwrap(), 64, "a cookie");
    // Meanwhile a member gets in.
    let _member = start_member(&network, &keys, 1, "10.2.1.1");
    wait_for("the member joins", || proxy.links_up() == ["m1"]);
}

/// A member with a key of its own speaks for itself only: neither in another's name, nor for addresses of nobody.
pub fn dishonest_member() {
    let network = Network::new("sealed-liar");
    let keys = Keys::make(&network);
    let proxy = start_proxy(&network, &keys);
    let _honest = start_member(&network, &keys, 2, "10.2.2.1");
    wait_for("the honest member joins", || proxy.links_up() == ["m2"]);

    let socket = network.members[0].enter(|| UdpSocket::bind("10.2.1.2:0")).unwrap().unwrap();
    socket.set_read_timeout(Some(time::Duration::from_secs(5))).unwrap();
    let to: SocketAddr = "10.2.1.1:51820".parse().unwrap();
    let start = time::Instant::now();
    let now = || Instant::from_nanos(start.elapsed().as_nanos() as u64);
    let today = time::SystemTime::now().duration_since(time::UNIX_EPOCH).unwrap().as_secs();
    let own = Keys::private(&network, "m1");
    let mut liar = Sessions::new(own, Limits::default(), Duration::from_secs(today), os_entropy().unwrap());
    liar.add_peer(keys.proxy, Some(to));
    liar.handle_input(now(), PEER);
    socket.send_to(&liar.poll_transmit(now()).unwrap().bytes, to).unwrap();
    let mut buffer = [0; 2000];
    let (length, from) = uninterrupted(|| socket.recv_from(&mut buffer)).unwrap();
    liar.open(now(), from, &buffer[..length], &mut Vec::new()).unwrap();
    let mut say = |header: [u8; 4], payload: &[u8]| {
        let mut out = Vec::new();
        liar.seal(now(), PEER, &[&header, payload], &mut out).unwrap();
        socket.send_to(&out, to).unwrap();
    };
    let [high, low] = PROTOCOL_TYPE.to_be_bytes();
    let hello = |name: &str| {
        let message = Message::Hello(Hello {
            session: 0,
            counter: 1,
            next_within: Duration::from_secs(1),
            rate: None,
            tier: Tier::Primary,
            limit: None,
            name: name.to_owned(),
        });
        message.emit(&Token::inside_a_session())
    };
    for name in ["m2", "m3"] {
        say([0, 0, high, low], &hello(name));
    }
    wait_for("both are refused", || proxy.number("/drops/foreign_name") == 2);
    let packet = udp_packet([10, 77, 0, 2], [10, 1, 0, 1], 7000, 7000, b"not registered");
    say([0, 0, 8, 0], &packet);
    wait_for("who has not registered has no link", || proxy.number("/drops/unknown_peer") == 1);
    let told = proxy.events("registration_refused");
    assert!(told.iter().any(|event| event.contains("foreign_name")), "{told:?}");
    assert_eq!(proxy.links_up(), ["m2"], "the honest member stays");
}
