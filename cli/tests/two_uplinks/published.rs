//! What mqvpn has published, on lines as it describes them: uploads of a home over prismux, over the kernel's MPTCP
//! between both ends, without a tunnel, and over the better line alone.
//!
//! Source: mqvpn's README and its `docs/benchmarks_netns.md` of 2026: network namespaces, netem with its default queue,
//! iperf3 from the client to the server for 10 s, and for 60 s with a path that goes down at 20 s and returns at 40 s.
use crate::emulator::Line;
use crate::network::{INTERNET, Network, ip};
use crate::transfer::{CONTROL, Transfer};
use crate::type_until;
use prismux_linux::namespace::Namespace;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The queue of a line: of netem's 1,000 packets those that are not on their way.
const fn line(mbps: f64, delay_ms: u64) -> Line {
    let under_way_bytes = (mbps * 125.0) as usize * delay_ms as usize;
    Line::new(mbps, delay_ms, 1_500_000 - under_way_bytes)
}

/// Both lines, the same in both directions, and how many uploads at a time were measured.
const UNEQUAL: Lines = Lines {
    name: "300 Mbit/s 10 ms + 80 Mbit/s 30 ms",
    lines: [line(300.0, 10), line(80.0, 30)],
    uploads: &[1, 4, 8, 16, 32],
};
const EQUAL: Lines = Lines {
    name: "twice 100 Mbit/s 25 ms",
    lines: [line(100.0, 25), line(100.0, 25)],
    uploads: &[1, 2, 4, 8, 16],
};

/// An upload takes so long, connecting included.
const MEASURED: Duration = Duration::from_secs(10);
const RUNS: usize = 3;
/// Uploads at a time while a line fails, and in which span it does.
const UPLOADS_OF_FAILURE: usize = 4;
const FAILS: [Duration; 2] = [Duration::from_secs(20), Duration::from_secs(40)];
const SAMPLE: Duration = Duration::from_millis(500);
/// What is told of a failure, by when it begins and ends.
const PHASES: [(&str, u64, u64); 4] =
    [("before", 0, 20), ("without the line", 20, 40), ("10 s after its return", 40, 50), ("then", 50, 60)];

struct Lines {
    name: &'static str,
    lines: [Line; 2],
    uploads: &'static [usize],
}

/// How both lines, or one of them, are used.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// By a home and its gateway, sealed, TCP from end to end.
    Prismux,
    /// By a connection of the kernel's MPTCP, with this congestion control.
    Mptcp(&'static str),
    /// The better line alone, with the kernel's TCP.
    OneLine,
}

/// A transfer, and who waits for more subflows of its connection.
struct Upload {
    transfer: Transfer,
    _listener: TcpListener,
}

const WAYS: [Way; 4] = [Way::Prismux, Way::Mptcp("cubic"), Way::Mptcp("bbr"), Way::OneLine];

/// Measures what has `part` in its name.
pub fn print(part: &str) {
    for (name, lines) in [("published, unequal lines", UNEQUAL), ("published, equal lines", EQUAL)] {
        if name.contains(part) {
            table(&lines);
        }
    }
    if "published, failure".contains(part) {
        for (line, way) in [0, 1].into_iter().flat_map(|line| WAYS[..3].iter().map(move |&way| (line, way))) {
            failure(line, way);
        }
    }
}

/// Uploads at a time against ways: the median of the runs, and all of them.
fn table(lines: &Lines) {
    println!("{}: Mbit/s of payload, {} s", lines.name, MEASURED.as_secs());
    for &uploads in lines.uploads {
        for way in WAYS {
            let mut runs: Vec<(f64, bool)> =
                (0..RUNS).map(|_| goodput_mbps(lines.lines, way, uploads)).collect();
            runs.sort_by(|a, b| a.0.total_cmp(&b.0));
            let all: Vec<String> = runs.iter().map(|(mbps, _)| format!("{mbps:.0}")).collect();
            let unserved = runs.iter().filter(|(_, was_served)| !was_served).count();
            println!(
                "{uploads:2} uploads, {way:?}: {:.0} Mbit/s, of runs {}; lines not served in time: {unserved} runs",
                runs[RUNS / 2].0,
                all.join(" ")
            );
        }
    }
}

/// What so many uploads get together, and whether the lines were served meanwhile.
fn goodput_mbps(lines: [Line; 2], way: Way, uploads: usize) -> (f64, bool) {
    let network = way.network(lines);
    network.lines.while_served(|| {
        let begin = Instant::now();
        let uploads: Vec<_> = (0..uploads).map(|_| way.upload(&network)).collect();
        std::thread::sleep((begin + MEASURED).saturating_duration_since(Instant::now()));
        let bytes: u64 = uploads.iter().map(|upload| upload.transfer.arrived()).sum();
        let seconds = begin.elapsed().as_secs_f64();
        uploads.into_iter().for_each(|upload| upload.transfer.give_up());
        bytes as f64 * 8e-6 / seconds
    })
}

/// A line passes nothing for a while, and nobody is told.
fn failure(line: usize, way: Way) {
    let network = way.network(UNEQUAL.lines);
    let begin = Instant::now();
    let uploads: Vec<_> = (0..UPLOADS_OF_FAILURE).map(|_| way.upload(&network)).collect();
    let sum = || uploads.iter().map(|upload| upload.transfer.arrived()).sum::<u64>();
    let mut at = vec![(Duration::ZERO, 0)];
    let end = Duration::from_secs(PHASES[3].2);
    while begin.elapsed() < end {
        std::thread::sleep(SAMPLE);
        let is_dead = FAILS[0] <= begin.elapsed() && begin.elapsed() < FAILS[1];
        network.lines.is_dead[line].store(is_dead, Ordering::Relaxed);
        at.push((begin.elapsed(), sum()));
    }
    let told = PHASES.map(|(name, from, to)| {
        let sample = |seconds| {
            let index = at.partition_point(|(at, _)| *at < Duration::from_secs(seconds));
            at[index.min(at.len() - 1)]
        };
        let (first, last) = (sample(from), sample(to));
        let mbps = (last.1 - first.1) as f64 * 8e-6 / (last.0 - first.0).as_secs_f64();
        format!("{name} {mbps:.0}")
    });
    let during = [begin + FAILS[0], begin + FAILS[1]];
    let pauses = uploads.iter().map(|upload| upload.transfer.longest_pause(during[0], during[1]));
    let longest = pauses.max().unwrap_or_default();
    println!(
        "line {line} fails, {way:?}: {} Mbit/s; longest pause of one of the uploads {longest:.0?}",
        told.join(", ")
    );
    uploads.into_iter().for_each(|upload| upload.transfer.give_up());
}

impl Way {
    /// A network that is ready for it.
    fn network(self, lines: [Line; 2]) -> Network {
        let network = Network::with_lines(lines.map(|line| [line, line]));
        match self {
            Self::Prismux => drop(type_until(&network, "prismux status")),
            Self::Mptcp(_) => {
                let home = &network.home().space;
                ip(home, "rule add from 192.168.1.3 lookup 101");
                ip(home, "route add default via 192.168.1.1 dev wan1 table 101");
                ip(home, "mptcp limits set subflows 2 add_addr_accepted 2");
                ip(home, "mptcp endpoint add 192.168.1.3 dev wan1 id 1 subflow");
                ip(&network.internet, "mptcp limits set subflows 2 add_addr_accepted 2");
            }
            Self::OneLine => {}
        }
        network
    }

    /// One more upload, which ends when it is given up.
    fn upload(self, network: &Network) -> Upload {
        let home = &network.home().space;
        let (inside, protocol, control) = match self {
            Self::Prismux => (&network.sites[0].lan, Protocol::TCP, CONTROL),
            Self::Mptcp(control) => (home, Protocol::MPTCP, control),
            Self::OneLine => (home, Protocol::TCP, CONTROL),
        };
        let listener = listen(&network.internet, protocol).expect("a host that listens");
        let (inside, outside) = connect(inside, &listener, protocol).expect("a connection");
        let transfer = Transfer::between(inside, outside, control, u64::MAX);
        Upload { transfer, _listener: listener }
    }
}

/// A host of the internet that waits for connections.
fn listen(internet: &Namespace, protocol: Protocol) -> io::Result<TcpListener> {
    internet.enter(|| {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(protocol))?;
        let any = SocketAddr::new(INTERNET.parse().expect("an address"), 0);
        socket.bind(&any.into())?;
        socket.listen(1)?;
        Ok(TcpListener::from(socket))
    })?
}

/// A connection from a host to the internet: its end inside, and the one outside.
fn connect(
    inside: &Namespace,
    listener: &TcpListener,
    protocol: Protocol,
) -> io::Result<(TcpStream, TcpStream)> {
    let address = listener.local_addr()?.into();
    let host = inside.clone();
    let connecting = std::thread::spawn(move || {
        host.enter(|| {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(protocol))?;
            socket.connect_timeout(&address, Duration::from_secs(10))?;
            io::Result::Ok(TcpStream::from(socket))
        })
    });
    let near = connecting.join().expect("no panic")??;
    Ok((near, listener.accept()?.0))
}
