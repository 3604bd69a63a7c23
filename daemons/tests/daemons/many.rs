//! A proxy with as many members as it takes.
use super::network::{Network, SENDER, TOKEN};
use super::scenarios::gre_socket;
use super::transfer::{Direction, Transfer};
use crate::process::{ip, wait_for};
use nix::poll::{PollFd, PollFlags};
use prismux_daemons::proxy::members::MAX_MEMBERS;
use prismux_daemons::tunnel::control::{Hello, Message, Tier, Token};
use prismux_linux::interrupted::uninterrupted;
use prismux_linux::tun::Tun;
use prismux_units::Duration;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Read};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

const ROUTERS: usize = 200;
/// An IPv4 header without options, and a GRE header without anything.
const IP_BYTES: usize = 20;
const GRE_BYTES: usize = 4;

/// Routers with plain GRE tunnels, all of them on one host: what comes out of a tunnel goes to the receiver, and its
/// answers go back through the first one.
struct Routers {
    /// Packets that came through the tunnel of each, by the last number of its address.
    carried: Arc<[AtomicU64; 256]>,
    has_ended: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Routers {
    fn start(network: &Network) -> Self {
        let space = network.members[0].clone();
        for router in 1..ROUTERS {
            ip(&space, &format!("address add {}/24 dev wwan", address(router)));
        }
        let open = || {
            let out = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::from(libc::IPPROTO_RAW))).unwrap();
            let back = gre_socket();
            back.bind(&SocketAddr::from(([10, 2, 1, 2], 0)).into()).unwrap();
            (gre_socket(), out, Tun::create("answers").unwrap(), back)
        };
        let (tunnels, out, tun, back) = space.enter(open).unwrap();
        ip(&space, "link set answers up");
        ip(&space, "rule add iif wlan lookup 99");
        ip(&space, "route add default dev answers table 99");
        let carried = Arc::new([const { AtomicU64::new(0) }; 256]);
        let has_ended = Arc::new(AtomicBool::new(false));
        let (counts, receiver) = (Arc::clone(&carried), SocketAddr::from(([10, 77, 0, 2], 0)).into());
        let there = relay(
            &has_ended,
            tunnels,
            |mut tunnels, bytes| tunnels.read(bytes),
            move |bytes| {
                counts[usize::from(bytes[19])].fetch_add(1, Ordering::Relaxed);
                let _ = out.send_to(bytes.get(IP_BYTES + GRE_BYTES..).unwrap_or_default(), &receiver);
            },
        );
        let proxy = SocketAddr::from(([10, 2, 1, 1], 0)).into();
        let here = relay(&has_ended, tun, Tun::read, move |bytes| {
            let _ = back.send_to(&[&[0, 0, 0x08, 0], bytes].concat(), &proxy);
        });
        Self { carried, has_ended, threads: vec![there, here] }
    }
}

impl Drop for Routers {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// Hands on what comes from somewhere, until the end.
fn relay<S: AsFd + Send + 'static>(
    has_ended: &Arc<AtomicBool>,
    from: S,
    read: impl Fn(&S, &mut [u8]) -> io::Result<usize> + Send + 'static,
    hand_on: impl Fn(&[u8]) + Send + 'static,
) -> JoinHandle<()> {
    let has_ended = Arc::clone(has_ended);
    std::thread::spawn(move || {
        let mut bytes = [0; 2000];
        while !has_ended.load(Ordering::Relaxed) {
            let mut ready = [PollFd::new(from.as_fd(), PollFlags::POLLIN)];
            if nix::poll::poll(&mut ready, 100_u8).is_ok_and(|count| count > 0)
                && let Ok(length) = read(&from, &mut bytes)
            {
                hand_on(&bytes[..length]);
            }
        }
    })
}

fn address(router: usize) -> String {
    format!("10.2.1.{}", router + 2)
}

/// Two hundred members are let in, a download over them arrives whole, and takes more than a few of them.
pub fn two_hundred_routers() {
    let network = Network::new("many");
    let routers = Routers::start(&network);
    let listed: String = (0..ROUTERS)
        .map(|n| {
            format!("[[members]]\nname = \"r{n}\"\npeer = \"gre:{}\"\nrate = \"20 Mbit/s\"\n", address(n))
        })
        .collect();
    let proxy = network.start_proxy_with("0.0.0.0:4754", &listed);
    assert_eq!(proxy.links_up().len(), ROUTERS);
    let bytes = 20_000_000;
    Transfer::start(&network, SENDER, Direction::Download, bytes, None).finish(bytes);
    let carried = routers.carried.iter().filter(|packets| packets.load(Ordering::Relaxed) > 0).count();
    assert!(carried > 8, "only {carried} routers carried something");
    assert_eq!(proxy.number("/drops/no_link"), 0);
}

/// As many members register as the core has numbers for; one more is told from them.
pub fn full_house() {
    let network = Network::new("full");
    let proxy = network.start_proxy();
    let token = Token::new(TOKEN).unwrap();
    let bind = || UdpSocket::bind("10.2.1.2:0").unwrap();
    let members: Vec<UdpSocket> =
        network.members[0].enter(|| (0..=MAX_MEMBERS).map(|_| bind()).collect()).unwrap();
    let say = |socket: &UdpSocket, number: usize, session: u64, counter: u64| {
        let hello = Hello {
            session,
            counter,
            next_within: Duration::from_secs(25),
            rate: None,
            tier: Tier::Primary,
            limit: None,
            name: format!("m{number}"),
        };
        let frame = [&[0, 0, 0x88, 0xb5][..], &Message::Hello(hello).emit(&token)].concat();
        socket.send_to(&frame, "10.2.1.1:4754").unwrap();
    };
    let mut session = 0;
    for (number, socket) in members.iter().enumerate() {
        socket.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
        let mut buffer = [0; 100];
        if session == 0 {
            say(socket, number, 0, 1);
            let length = uninterrupted(|| socket.recv(&mut buffer)).unwrap();
            let Ok(Message::Challenge(challenge)) = Message::parse(&buffer[4..length], &token) else {
                panic!("no session")
            };
            session = challenge.session;
        }
        say(socket, number, session, 2);
        if number < MAX_MEMBERS {
            let length = uninterrupted(|| socket.recv(&mut buffer)).unwrap();
            let answer = Message::parse(&buffer[4..length], &token);
            assert!(matches!(answer, Ok(Message::Welcome(_))), "{number}: {answer:?}");
        }
    }
    wait_for("one too many is refused", || proxy.number("/drops/too_many_members") == 1);
    assert_eq!(proxy.links_up().len(), MAX_MEMBERS);
    assert_eq!(proxy.events("registration_refused").len(), 1);
}

/// A list of more members than there are numbers is no configuration.
pub fn too_many_listed() {
    let network = Network::new("listed");
    let listed: String = (0..=MAX_MEMBERS)
        .map(|n| format!("[[members]]\nname = \"r{n}\"\npeer = \"gre:10.9.{}.{}\"\n", n / 200, n % 200 + 1))
        .collect();
    let config =
        format!("receivers = [\"10.77.0.2\"]\ntoken = \"{TOKEN}\"\n[tunnel]\ngre = \"0.0.0.0\"\n{listed}");
    let said = network.refused(&network.proxy, "proxy", &config);
    assert!(said.contains("256 are too many, expected 255 at most"), "{said}");
}
