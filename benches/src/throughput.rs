//! How fast the datapath is without emulated limits, and what it costs: kernel TCP between two namespaces, through a
//! bare TUN-to-TUN [`crate::forwarder`], through proxy, tunnel and member, and through another program's tunnel.
//!
//! Processor time is that of this process, in which daemons and the kernel's TCP at both ends run, and of the programs
//! that it started.
mod wireguard;

use crate::forwarder;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::socket::{setsockopt, sockopt};
use prismux_daemons::config::{MemberConfig, ProxyConfig, SealedPeer, TunnelListeners, make_private_key};
use prismux_daemons::daemon::DaemonError;
use prismux_daemons::member::MemberDaemon;
use prismux_daemons::proxy::ProxyDaemon;
use prismux_daemons::tunnel::{Peer, SEALED_PORT, Transport};
use prismux_linux::event_loop::StopHandle;
use prismux_linux::namespace::Namespace;
use prismux_linux::netconf::{self, ip};
use prismux_linux::tun::{Tun, TunError};
use prismux_wire::gre::GRE_IN_UDP_PORT;
use serde::Serialize;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const SENDER: &str = "10.1.0.1";
const RECEIVER: &str = "10.77.0.2";
const TOKEN: &str = "a token for benchmarks";

/// What one way between the namespaces achieved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Path {
    /// Payload delivered, in bit/s.
    pub goodput_bps: f64,
    /// Processor time of everything, the kernel's TCP included, in seconds per 10^9 bytes of payload.
    pub cpu_s_per_gb: f64,
}

/// What lies between the namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// A bare forwarder, packet by packet.
    Forwarder,
    /// A bare forwarder with offloads: TCP is not cut at all.
    OffloadForwarder,
    /// Proxy, GRE tunnel, member.
    PrismGre,
    /// Proxy, GRE-in-UDP tunnel, member.
    PrismUdp,
    /// The same with two workers at each end.
    PrismUdpWorkers2,
    /// Proxy, sealed tunnel, member.
    PrismSealed,
    /// The same with one worker at each end.
    PrismSealedWorkers1,
    /// The same with two.
    PrismSealedWorkers2,
    /// The same with four.
    PrismSealedWorkers4,
    /// Two processes of wireguard-go, where it is installed.
    WireguardGo,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Forwarder,
        Self::OffloadForwarder,
        Self::PrismGre,
        Self::PrismUdp,
        Self::PrismUdpWorkers2,
        Self::PrismSealed,
        Self::PrismSealedWorkers1,
        Self::PrismSealedWorkers2,
        Self::PrismSealedWorkers4,
        Self::WireguardGo,
    ];

    /// What a table calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forwarder => "bare forwarder",
            Self::OffloadForwarder => "bare forwarder with offloads",
            Self::PrismGre => "PRISM by GRE",
            Self::PrismUdp => "PRISM by GRE-in-UDP",
            Self::PrismUdpWorkers2 => "PRISM by GRE-in-UDP, 2 workers",
            Self::PrismSealed => "PRISM by sealed tunnels",
            Self::PrismSealedWorkers1 => "PRISM by sealed tunnels, 1 worker",
            Self::PrismSealedWorkers2 => "PRISM by sealed tunnels, 2 workers",
            Self::PrismSealedWorkers4 => "PRISM by sealed tunnels, 4 workers",
            Self::WireguardGo => "wireguard-go",
        }
    }
}

/// Measures one way for `duration`; `None` when it needs a program that is not there. Call
/// [`prismux_linux::privileges::ensure_privileges`] before.
///
/// # Errors
/// What could not be set up, or failed.
pub fn measure(way: Way, duration: Duration) -> Result<Option<Path>, AnyError> {
    let path = match way {
        Way::Forwarder => through_forwarder(duration, Tun::create)?,
        Way::OffloadForwarder => through_forwarder(duration, Tun::create_with_offloads)?,
        Way::PrismGre => through_prism(duration, Transport::Gre, 0)?,
        Way::PrismUdp => through_prism(duration, Transport::Udp, 0)?,
        Way::PrismUdpWorkers2 => through_prism(duration, Transport::Udp, 2)?,
        Way::PrismSealed => through_prism(duration, Transport::Sealed, 0)?,
        Way::PrismSealedWorkers1 => through_prism(duration, Transport::Sealed, 1)?,
        Way::PrismSealedWorkers2 => through_prism(duration, Transport::Sealed, 2)?,
        Way::PrismSealedWorkers4 => through_prism(duration, Transport::Sealed, 4)?,
        Way::WireguardGo => return wireguard::measure(duration),
    };
    Ok(Some(path))
}

/// Anything that can go wrong.
pub type AnyError = Box<dyn std::error::Error + Send + Sync>;

fn through_forwarder(
    duration: Duration,
    create: fn(&str) -> Result<Tun, TunError>,
) -> Result<Path, AnyError> {
    let (sender, receiver) = (Namespace::create()?, Namespace::create()?);
    // The MTU that GRE leaves of 1500.
    let device = |space: &Namespace, own: &'static str, other: &'static str| {
        space.enter(move || -> Result<Tun, AnyError> {
            let tun = create("bare0")?;
            netconf::set_up("bare0", 1476)?;
            netconf::add_address("bare0", own.parse()?)?;
            netconf::add_routes("bare0", &[other.parse()?])?;
            Ok(tun)
        })
    };
    let (first, second) = (device(&sender, SENDER, RECEIVER)??, device(&receiver, RECEIVER, SENDER)??);
    let stop = StopHandle::new()?;
    let stopper = stop.clone();
    let worker = std::thread::spawn(move || forwarder::run(&first, &second, stop));
    let path = download(&sender, &receiver, duration, &[]);
    stopper.stop();
    join(worker)??;
    path
}

fn through_prism(duration: Duration, transport: Transport, workers: usize) -> Result<Path, AnyError> {
    let [sender, receiver] = namespaces()?;
    let directory = std::env::temp_dir().join(format!("prismux-throughput-{}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    let keys = ["proxy.key", "member.key"].map(|name| directory.join(name));
    let public = [make_private_key(&keys[0])?, make_private_key(&keys[1])?];
    let proxy =
        start_proxy(&sender, (transport, workers), directory.join("proxy.sock"), (&keys[0], &public[1]))?;
    let member =
        start_member(&receiver, (transport, workers), directory.join("member.sock"), (&keys[1], &public[0]))?;
    let path = download(&sender, &receiver, duration, &[]);
    for (stop, worker) in [member, proxy] {
        stop.stop();
        join(worker)??;
    }
    let _ = std::fs::remove_dir_all(directory);
    path
}

/// Two namespaces with a link between them.
fn namespaces() -> Result<[Namespace; 2], AnyError> {
    let (sender, receiver) = (Namespace::create()?, Namespace::create()?);
    let other = format!("/proc/{}/fd/{}", std::process::id(), receiver.as_fd().as_raw_fd());
    sender.enter(|| ip(&format!("link add wwan type veth peer name wwan netns {other}")))??;
    let ends = [(&sender, "10.2.0.1/24", SENDER), (&receiver, "10.2.0.2/24", RECEIVER)];
    for (space, on_link, own) in ends {
        space.enter(|| -> Result<(), AnyError> {
            ip(&format!("address add {on_link} dev wwan"))?;
            ip(&format!("address add {own}/32 dev lo"))?;
            ip("link set lo up")?;
            ip("link set wwan up")?;
            Ok(())
        })??;
    }
    Ok([sender, receiver])
}

type Worker = (StopHandle, JoinHandle<Result<(), DaemonError>>);

fn start_proxy(
    space: &Namespace,
    (transport, workers): (Transport, usize),
    status_socket: PathBuf,
    (own_key, other_key): (&std::path::Path, &str),
) -> Result<Worker, AnyError> {
    let local = Ipv4Addr::new(10, 2, 0, 1);
    let tunnel = match transport {
        Transport::Gre => TunnelListeners { gre: Some(local), ..TunnelListeners::default() },
        Transport::Udp => {
            TunnelListeners { udp: Some((local, GRE_IN_UDP_PORT).into()), ..TunnelListeners::default() }
        }
        Transport::Sealed => {
            TunnelListeners { sealed: Some((local, SEALED_PORT).into()), ..TunnelListeners::default() }
        }
    };
    let mut config =
        ProxyConfig { status_socket, workers, ..ProxyConfig::new(vec![RECEIVER.parse()?], TOKEN, tunnel) };
    if transport == Transport::Sealed {
        config.private_key_file = Some(own_key.to_owned());
        let public_key = other_key.parse()?;
        let name = "bench".to_owned();
        config.peers.push(SealedPeer { name, public_key, receivers: Vec::new(), home: None });
    }
    start_worker(space, move |stop, started| {
        let daemon = ProxyDaemon::start(config, stop)?;
        let _ = started.send(());
        daemon.run()
    })
}

fn start_member(
    space: &Namespace,
    (transport, workers): (Transport, usize),
    status_socket: PathBuf,
    (own_key, other_key): (&std::path::Path, &str),
) -> Result<Worker, AnyError> {
    let proxy = match transport {
        Transport::Gre => Peer::gre([10, 2, 0, 1]),
        Transport::Udp => Peer::udp(([10, 2, 0, 1], GRE_IN_UDP_PORT).into()),
        Transport::Sealed => Peer::sealed(([10, 2, 0, 1], SEALED_PORT).into(), 0),
    };
    let mut config = MemberConfig {
        status_socket,
        workers,
        ..MemberConfig::new("bench", TOKEN, vec![RECEIVER.parse()?], proxy)
    };
    if transport == Transport::Sealed {
        config.private_key_file = Some(own_key.to_owned());
        config.tunnel.proxy_public_key = Some(other_key.parse()?);
    }
    start_worker(space, move |stop, started| {
        let daemon = MemberDaemon::start(config, stop)?;
        let _ = started.send(());
        daemon.run()
    })
}

/// Starts a daemon on a thread of its own inside `space` and waits until it is ready.
fn start_worker(
    space: &Namespace,
    run: impl FnOnce(StopHandle, mpsc::Sender<()>) -> Result<(), DaemonError> + Send + 'static,
) -> Result<Worker, AnyError> {
    let (stop, space) = (StopHandle::new()?, space.clone());
    let stopper = stop.clone();
    let (started, ready) = mpsc::channel();
    let worker =
        std::thread::spawn(move || space.enter(move || run(stop, started)).map_err(DaemonError::Io)?);
    if ready.recv().is_err() {
        join(worker)??;
        return Err("the daemon ended before it was ready".into());
    }
    Ok((stopper, worker))
}

/// Downloads for `duration` after a second of warming up, with the help of other processes.
fn download(
    sender: &Namespace,
    receiver: &Namespace,
    duration: Duration,
    helpers: &[u32],
) -> Result<Path, AnyError> {
    let listener = sender.enter(|| TcpListener::bind((SENDER, 0)))??;
    // In every kernel, and not slowed down by pacing timers.
    setsockopt(&listener, sockopt::TcpCongestion, &"reno".into())?;
    let address = listener.local_addr()?;
    let source = std::thread::spawn(move || -> io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        let block = [0x5a; 256 * 1024];
        // Ends when the other side has had enough.
        while stream.write_all(&block).is_ok() {}
        Ok(())
    });
    let mut stream = receiver.enter(|| connect(address))??;
    let mut block = vec![0; 256 * 1024];
    receive_for(&mut stream, &mut block, Duration::from_secs(1))?;
    let (cpu, start) = (cpu_time(helpers)?, Instant::now());
    let bytes = receive_for(&mut stream, &mut block, duration)?;
    let (cpu, elapsed) = (cpu_time(helpers)? - cpu, start.elapsed());
    drop(stream);
    join(source)??;
    Ok(Path {
        goodput_bps: bytes as f64 * 8.0 / elapsed.as_secs_f64(),
        cpu_s_per_gb: cpu.as_secs_f64() / (bytes as f64 / 1e9),
    })
}

/// Connects from the receiver's own address. There is no route back before the member has joined.
fn connect(server: SocketAddr) -> io::Result<TcpStream> {
    const PATIENCE: Duration = Duration::from_secs(10);
    let local: Ipv4Addr = RECEIVER.parse().map_err(io::Error::other)?;
    let start = Instant::now();
    loop {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)?;
        socket.bind(&SocketAddr::from((local, 0)).into())?;
        match socket.connect_timeout(&server.into(), PATIENCE) {
            Ok(()) => {
                let stream = TcpStream::from(socket);
                stream.set_read_timeout(Some(Duration::from_secs(5)))?;
                return Ok(stream);
            }
            Err(error) if error.kind() != io::ErrorKind::NetworkUnreachable || start.elapsed() > PATIENCE => {
                return Err(error);
            }
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn receive_for(stream: &mut TcpStream, block: &mut [u8], duration: Duration) -> io::Result<u64> {
    let start = Instant::now();
    let mut bytes = 0;
    while start.elapsed() < duration {
        bytes += stream.read(block)? as u64;
    }
    Ok(bytes)
}

/// User and system time of this process and of others.
fn cpu_time(others: &[u32]) -> io::Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let micros = |time: nix::sys::time::TimeVal| (time.tv_sec() * 1_000_000 + time.tv_usec()) as u64;
    let own = Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time()));
    others.iter().try_fold(own, |sum, &process| Ok(sum + wireguard::cpu_time_of(process)?))
}

fn join<T>(thread: JoinHandle<T>) -> Result<T, AnyError> {
    thread.join().map_err(|_| "a thread panicked".into())
}
