//! What fails, and what becomes of a download, an upload, a flow of datagrams and an idle connection meanwhile, all at
//! once.
use crate::datagrams::{Flow, PINNED, network_with_classes};
use crate::measure::tell;
use crate::network::{INTERNET, LINES, Machine, Network, wait_for};
use crate::transfer::{Direction, Transfer, longest_pause};
use crate::{links, page, type_until};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What fails.
#[derive(Debug, Clone, Copy)]
pub enum Failure {
    /// A cable is pulled: the kernel knows.
    Unplugged,
    /// A line passes nothing any more and tells nobody.
    Silent,
    /// The home's daemon is killed, and started again.
    HomeKilled,
    /// The gateway's is.
    GatewayKilled,
    /// An uplink gets another address.
    Readdressed,
    /// A line carries only one part of so many that it did.
    Collapsed(u64),
    /// An uplink loses its address, and with it its route.
    Away,
}

const ALL: [Failure; 6] = [
    Failure::Unplugged,
    Failure::Silent,
    Failure::HomeKilled,
    Failure::GatewayKilled,
    Failure::Readdressed,
    Failure::Collapsed(20),
];

/// By how much collapsed lines are slower, where that alone is measured.
const COLLAPSES: [u64; 3] = [20, 200, 4];
/// Runs of each, in networks of their own: a line that was slow a short while ago may not be in full use again.
const COLLAPSE_RUNS: usize = 10;
/// Runs of each failure in the table.
const RUNS: usize = 5;
/// An idle connection answers within this time, or is lost.
const PATIENCE: Duration = Duration::from_secs(20);

impl Failure {
    /// Fails; returns when.
    pub fn begin(self, network: &Network, line: usize) -> Instant {
        let machine = if matches!(self, Self::GatewayKilled) { &network.server } else { network.home() };
        let pid = page(machine)["pid"].clone();
        let at = Instant::now();
        match self {
            Self::Unplugged => network.unplug(line),
            Self::Silent => network.lines.is_dead[line].store(true, Ordering::Relaxed),
            Self::HomeKilled | Self::GatewayKilled => kill_and_start(machine, &pid),
            Self::Readdressed => network.readdress(line, line + 2, line + 12),
            Self::Collapsed(by) => network.lines.slowness[line].store(by, Ordering::Relaxed),
            Self::Away => network.take_address(line, line + 2),
        }
        at
    }

    /// Mends what has failed.
    pub fn end(self, network: &Network, line: usize) {
        match self {
            Self::Unplugged => network.plug(line),
            Self::Silent => network.lines.is_dead[line].store(false, Ordering::Relaxed),
            Self::HomeKilled | Self::GatewayKilled => {}
            Self::Readdressed => network.readdress(line, line + 12, line + 2),
            Self::Collapsed(_) => network.lines.slowness[line].store(1, Ordering::Relaxed),
            Self::Away => network.give_address(line, line + 2),
        }
    }
}

/// As a unit does that restarts what has died, at once.
fn kill_and_start(machine: &Machine, pid: &serde_json::Value) {
    machine.run(&format!("kill -KILL {pid}"));
    wait_for("it is up again", || machine.try_run("prismux up --detach").0);
}

/// A connection over which nothing passes until a key is typed.
pub struct Idle {
    inside: TcpStream,
    outside: TcpStream,
}

impl Idle {
    pub fn start(network: &Network) -> Self {
        let listener = network.internet.enter(|| TcpListener::bind((INTERNET, 0))).unwrap().unwrap();
        let address = listener.local_addr().unwrap();
        let lan = network.sites[0].lan.clone();
        let connect = move || lan.enter(|| TcpStream::connect_timeout(&address, PATIENCE)).unwrap();
        let inside = std::thread::spawn(connect).join().unwrap().expect("a connection");
        let (outside, _) = listener.accept().expect("a connection");
        for end in [&inside, &outside] {
            end.set_read_timeout(Some(PATIENCE)).unwrap();
            end.set_nodelay(true).unwrap();
        }
        Self { inside, outside }
    }

    /// Types a key: how long until its echo is there; `None` when the connection is lost.
    pub fn echo(&mut self) -> Option<Duration> {
        let (start, mut key) = (Instant::now(), [b'x']);
        self.inside.write_all(&key).ok()?;
        self.outside.read_exact(&mut key).ok()?;
        self.outside.write_all(&key).ok()?;
        self.inside.read_exact(&mut key).ok()?;
        Some(start.elapsed())
    }
}

/// How long nothing came in each, or that it was lost, in this order.
const WHAT: [&str; 4] = ["download", "upload", "datagrams", "idle connection"];

/// Fails `line` under all of them after `warm_up`, and mends it after `window`.
fn fail(network: &Network, failure: Failure, warm_up: Duration, window: Duration) -> [Option<Duration>; 4] {
    let line = 0;
    let bytes = |direction: Direction| {
        let sum: f64 = LINES.iter().map(|line| line[direction as usize].mbps).sum();
        (sum * 1e6 / 8.0 * (warm_up + window).as_secs_f64()) as u64
    };
    let both = [Direction::Down, Direction::Up];
    let transfers = both.map(|direction| Transfer::start(network, direction, bytes(direction)));
    let flow = Flow::start(network, PINNED, 100.0);
    let mut idle = Idle::start(network);
    std::thread::sleep(warm_up);
    let at = failure.begin(network, line);
    // A key is typed in the first moments, another one once all is over.
    let echo = idle.echo();
    std::thread::sleep((at + window).saturating_duration_since(Instant::now()));
    let end = Instant::now();
    failure.end(network, line);
    let [down, up] = transfers.map(|transfer| {
        let arrivals = catch_unwind(AssertUnwindSafe(|| transfer.finish())).ok()?;
        Some(longest_pause(&arrivals, at, end))
    });
    let came = flow.came();
    let goes_on = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        flow.came() > came + 20
    });
    let times: Vec<_> = flow.finish().1.iter().map(|&(at, number)| (at, u64::from(number))).collect();
    let datagrams = goes_on.then(|| longest_pause(&times, at, end));
    let idle = echo.filter(|_| idle.echo().is_some());
    wait_for("both uplinks are used again", || links(network.home(), "up") == 2);
    [down, up, datagrams, idle]
}

/// For each failure: how long nothing came, and how many connections were lost.
pub fn table(network: &Network) {
    for failure in ALL {
        let runs: Vec<_> = (0..RUNS)
            .map(|_| fail(network, failure, Duration::from_secs(3), Duration::from_secs(3)))
            .collect();
        tell_all(failure, &runs);
    }
}

/// The same for lines that become slow, each time in a new network.
pub fn collapses() {
    for failure in COLLAPSES.map(Failure::Collapsed) {
        let run = |_| {
            let network = network_with_classes();
            fail(&network, failure, Duration::from_secs(4), Duration::from_secs(3))
        };
        tell_all(failure, &(0..COLLAPSE_RUNS).map(run).collect::<Vec<_>>());
    }
}

fn tell_all(failure: Failure, runs: &[[Option<Duration>; 4]]) {
    for (place, what) in WHAT.iter().enumerate() {
        let gaps: Vec<Duration> = runs.iter().filter_map(|run| run[place]).collect();
        let lost = runs.len() - gaps.len();
        tell(&format!("{failure:?}, {what}, {lost} of {} lost", runs.len()), gaps);
    }
}

/// One after the other, and whatever it is, everything goes on.
pub fn nothing_is_lost() {
    let network = Network::new();
    type_until(&network, "prismux status");
    for failure in ALL {
        let gaps = fail(&network, failure, Duration::from_secs(1), Duration::from_secs(2));
        for (what, gap) in WHAT.iter().zip(gaps) {
            assert!(gap.is_some(), "{failure:?}: the {what} is lost");
        }
    }
}
