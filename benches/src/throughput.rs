//! How fast the datapath is without emulated limits, and what it costs: kernel TCP between two namespaces, once
//! through a bare TUN-to-TUN [`crate::forwarder`], once through proxy, tunnel and member.
//!
//! Everything runs in this process, so that its CPU time is all there is to count: the kernel's TCP at both ends,
//! which is the same in both measurements, included.
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
use prismux_linux::tun::Tun;
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

/// Both ways side by side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Throughput {
    /// The bare forwarder.
    pub forwarder: Path,
    /// Proxy, GRE tunnel, member.
    pub prism_gre: Path,
    /// Proxy, GRE-in-UDP tunnel, member.
    pub prism_udp: Path,
    /// The same through sealed tunnels.
    pub prism_sealed: Path,
}

impl Path {
    /// Goodput as a fraction of `baseline`'s. Both ends and the datapath share the processors, so this swings with
    /// whatever else runs there.
    pub fn goodput_ratio(&self, baseline: &Self) -> f64 {
        self.goodput_bps / baseline.goodput_bps
    }

    /// Bytes moved per second of processor time as a fraction of `baseline`'s: steady also on a busy machine.
    pub fn efficiency_ratio(&self, baseline: &Self) -> f64 {
        baseline.cpu_s_per_gb / self.cpu_s_per_gb
    }
}

/// Measures each way for `duration`. Call [`prismux_linux::privileges::ensure_privileges`] before.
pub fn measure(duration: Duration) -> Result<Throughput, Box<dyn std::error::Error + Send + Sync>> {
    Ok(Throughput {
        forwarder: through_forwarder(duration)?,
        prism_gre: through_prism(duration, Transport::Gre)?,
        prism_udp: through_prism(duration, Transport::Udp)?,
        prism_sealed: through_prism(duration, Transport::Sealed)?,
    })
}

type AnyError = Box<dyn std::error::Error + Send + Sync>;

fn through_forwarder(duration: Duration) -> Result<Path, AnyError> {
    let (sender, receiver) = (Namespace::create()?, Namespace::create()?);
    // The MTU that GRE leaves of 1500.
    let device = |space: &Namespace, own: &'static str, other: &'static str| {
        space.enter(move || -> Result<Tun, AnyError> {
            let tun = Tun::create("bare0")?;
            netconf::set_up("bare0", 1476)?;
            netconf::add_address("bare0", own.parse()?)?;
            netconf::add_route("bare0", other.parse()?)?;
            Ok(tun)
        })
    };
    let (first, second) = (device(&sender, SENDER, RECEIVER)??, device(&receiver, RECEIVER, SENDER)??);
    let stop = StopHandle::new()?;
    let stopper = stop.clone();
    let worker = std::thread::spawn(move || forwarder::run(&first, &second, stop));
    let path = download(&sender, &receiver, duration);
    stopper.stop();
    join(worker)??;
    path
}

fn through_prism(duration: Duration, transport: Transport) -> Result<Path, AnyError> {
    let (sender, receiver) = (Namespace::create()?, Namespace::create()?);
    let other = format!("/proc/{}/fd/{}", std::process::id(), receiver.as_fd().as_raw_fd());
    sender.enter(|| -> Result<(), AnyError> {
        ip(&format!("link add wwan type veth peer name wwan netns {other}"))?;
        ip("address add 10.2.0.1/24 dev wwan")?;
        ip(&format!("address add {SENDER}/32 dev lo"))?;
        ip("link set lo up")?;
        ip("link set wwan up")?;
        Ok(())
    })??;
    receiver.enter(|| -> Result<(), AnyError> {
        ip("address add 10.2.0.2/24 dev wwan")?;
        ip(&format!("address add {RECEIVER}/32 dev lo"))?;
        ip("link set lo up")?;
        ip("link set wwan up")?;
        Ok(())
    })??;
    let directory = std::env::temp_dir().join(format!("prismux-throughput-{}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    let keys = ["proxy.key", "member.key"].map(|name| directory.join(name));
    let public = [make_private_key(&keys[0])?, make_private_key(&keys[1])?];
    let proxy = start_proxy(&sender, transport, directory.join("proxy.sock"), (&keys[0], &public[1]))?;
    let member = start_member(&receiver, transport, directory.join("member.sock"), (&keys[1], &public[0]))?;
    let path = download(&sender, &receiver, duration);
    for (stop, worker) in [member, proxy] {
        stop.stop();
        join(worker)??;
    }
    let _ = std::fs::remove_dir_all(directory);
    path
}

type Worker = (StopHandle, JoinHandle<Result<(), DaemonError>>);

fn start_proxy(
    space: &Namespace,
    transport: Transport,
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
        ProxyConfig { status_socket, ..ProxyConfig::new(vec![RECEIVER.parse()?], TOKEN, tunnel) };
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
    transport: Transport,
    status_socket: PathBuf,
    (own_key, other_key): (&std::path::Path, &str),
) -> Result<Worker, AnyError> {
    let proxy = match transport {
        Transport::Gre => Peer::gre([10, 2, 0, 1]),
        Transport::Udp => Peer::udp(([10, 2, 0, 1], GRE_IN_UDP_PORT).into()),
        Transport::Sealed => Peer::sealed(([10, 2, 0, 1], SEALED_PORT).into(), 0),
    };
    let mut config =
        MemberConfig { status_socket, ..MemberConfig::new("bench", TOKEN, vec![RECEIVER.parse()?], proxy) };
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

/// Downloads for `duration` after a second of warming up.
fn download(sender: &Namespace, receiver: &Namespace, duration: Duration) -> Result<Path, AnyError> {
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
    let (cpu, start) = (cpu_time()?, Instant::now());
    let bytes = receive_for(&mut stream, &mut block, duration)?;
    let (cpu, elapsed) = (cpu_time()? - cpu, start.elapsed());
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

/// User and system time of this process.
fn cpu_time() -> io::Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let micros = |time: nix::sys::time::TimeVal| (time.tv_sec() * 1_000_000 + time.tv_usec()) as u64;
    Ok(Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time())))
}

fn join<T>(thread: JoinHandle<T>) -> Result<T, AnyError> {
    thread.join().map_err(|_| "a thread panicked".into())
}
