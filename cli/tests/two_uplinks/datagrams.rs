//! Datagrams with numbers between the internet and a host behind the home, at even intervals.
use crate::network::{INTERNET, Machine, Network};
use crate::transfer::Direction;
use crate::{links, page, type_until, wait_for};
use prismux_linux::interrupted::uninterrupted;
use prismux_linux::process;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Ports of the three classes.
pub const RESEQUENCED: u16 = 4433;
pub const DUPLICATED: u16 = 5060;
pub const PINNED: u16 = 7000;

/// What the files of both ends say beyond the guide.
const CLASSES: &str = "\n[datagrams]\nresequence = [\"udp/4433\"]\nduplicate = [\"udp/5060\"]\n";

/// Bytes of payload, and of the whole on a line: IP, UDP, and a sealed tunnel with number and order.
const PAYLOAD_BYTES: usize = 1200;
pub const LINE_BYTES: f64 = 1300.0;

/// A sender that was not served makes up for so much time, and no more.
const CATCH_UP: Duration = Duration::from_millis(20);

/// A flow under way.
pub struct Flow {
    ends: Arc<AtomicBool>,
    arrivals: Arc<Mutex<Vec<(Instant, u32)>>>,
    sender: JoinHandle<u32>,
    receiver: JoinHandle<()>,
}

/// The guide, then both ends with these classes.
pub fn network_with_classes() -> Network {
    let network = Network::new();
    type_until(&network, "prismux status");
    let ends: [(&Machine, &str); 2] =
        [(&network.server, "/etc/prismux/gateway.toml"), (network.home(), "/etc/prismux/home.toml")];
    for (machine, file) in ends {
        machine.append(file, CLASSES);
        machine.run("prismux up --detach --restart");
    }
    wait_for("both uplinks register", || links(network.home(), "up") == 2);
    network
}

impl Flow {
    /// Begins to send so many packets in a second, to a host that has asked for them.
    pub fn start(network: &Network, port: u16, packets_per_second: f64) -> Self {
        Self::towards(network, Direction::Down, port, packets_per_second)
    }

    /// Begins to send so many packets in a second, to a host that has asked for them or from it.
    fn towards(network: &Network, direction: Direction, port: u16, packets_per_second: f64) -> Self {
        let outside = network.internet.enter(|| UdpSocket::bind((INTERNET, port))).unwrap().unwrap();
        let inside = network.sites[0].lan.clone();
        let connect = move || {
            inside.enter(|| {
                let socket = UdpSocket::bind("0.0.0.0:0")?;
                socket.connect((INTERNET, port)).map(|()| socket)
            })
        };
        let inside = std::thread::spawn(connect).join().unwrap().unwrap().expect("a socket");
        outside.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        // A question may get lost as any datagram may.
        let peer = (0..20).find_map(|_| {
            inside.send(b"hello").expect("a way");
            uninterrupted(|| outside.recv_from(&mut [0; 10])).ok()
        });
        outside.connect(peer.expect("the host's question").1).expect("the host's address");
        let (from, to) = match direction {
            Direction::Down => (outside, inside),
            Direction::Up => (inside, outside),
        };
        let (ends, arrivals) = (Arc::new(AtomicBool::new(false)), Arc::<Mutex<Vec<_>>>::default());
        let (stop, has_ended, log) = (Arc::clone(&ends), Arc::clone(&ends), Arc::clone(&arrivals));
        let sender = std::thread::spawn(move || {
            process::prefer_this_thread(process::LINK_PRIORITY);
            let gap = Duration::from_secs_f64(1.0 / packets_per_second);
            let (mut next, mut number, mut packet) = (Instant::now(), 0_u32, [0; PAYLOAD_BYTES]);
            while !stop.load(Ordering::Relaxed) {
                // What a longer time without a processor would have had to send is no longer due: as a burst it would
                // find queues full.
                next = next.max(Instant::now().checked_sub(CATCH_UP).unwrap_or(next));
                while next <= Instant::now() {
                    packet[..4].copy_from_slice(&number.to_be_bytes());
                    // A full queue of this host's own would be a loss like others.
                    let _ = from.send(&packet);
                    (next, number) = (next + gap, number + 1);
                }
                std::thread::sleep(Duration::from_micros(500));
            }
            number
        });
        let receiver = std::thread::spawn(move || {
            process::prefer_this_thread(process::LINK_PRIORITY);
            to.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
            let mut packet = [0; 2 * PAYLOAD_BYTES];
            loop {
                // A pause is an outage, or the end once there is nobody who sends.
                let is_last = has_ended.load(Ordering::Relaxed);
                match uninterrupted(|| to.recv(&mut packet)) {
                    Ok(PAYLOAD_BYTES) => {
                        let number = u32::from_be_bytes(packet[..4].try_into().unwrap());
                        log.lock().unwrap().push((Instant::now(), number));
                    }
                    // A question that was asked again.
                    Ok(_) => {}
                    Err(_) if is_last => return,
                    Err(_) => {}
                }
            }
        });
        Self { ends, arrivals, sender, receiver }
    }

    /// How many packets have come.
    pub fn came(&self) -> usize {
        self.arrivals.lock().unwrap().len()
    }

    /// Ends it: how many packets were sent, and when which came.
    pub fn finish(self) -> (u32, Vec<(Instant, u32)>) {
        self.ends.store(true, Ordering::Relaxed);
        let sent = self.sender.join().expect("the sender");
        self.receiver.join().expect("the receiver");
        let arrivals = std::mem::take(&mut *self.arrivals.lock().unwrap());
        (sent, arrivals)
    }
}

/// Packets that came behind a later one.
pub fn out_of_order(arrivals: &[(Instant, u32)]) -> usize {
    let numbers = arrivals.iter().map(|&(_, number)| number);
    let latest = numbers.clone().scan(0, |latest, number| {
        *latest = number.max(*latest);
        Some(*latest)
    });
    numbers.zip(latest).filter(|(number, latest)| number < latest).count()
}

/// Nine tenths of what both lines carry, in one flow: it uses both, keeps its order, and none comes twice.
pub fn quick_flow() {
    let network = network_with_classes();
    let carried = || [0, 1].map(|line| network.lines.carried(line, 0));
    let before = carried();
    let flow = Flow::start(&network, RESEQUENCED, 0.9 * 30e6 / 8.0 / LINE_BYTES);
    wait_for("it is under way", || flow.came() > 12_000);
    let (sent, arrivals) = flow.finish();
    let after = carried();
    let lesser = (after[0] - before[0]).min(after[1] - before[1]);
    let both = after[0] - before[0] + after[1] - before[1];
    assert!(lesser * 100 >= 20 * both, "the lesser line carried {lesser} of {both} bytes");
    assert!(arrivals.len() as u32 <= sent);
    // How far the lines lie apart is learned by the first packets. A machine that stands still for a moment disturbs
    // the order of those that are under way, and of no others.
    let first = arrivals[0].0;
    let learned = arrivals.partition_point(|&(at, _)| at < first + Duration::from_millis(500));
    let late: Vec<usize> = arrivals[learned..].chunks(1000).map(out_of_order).collect();
    println!("{} of {sent} came, of each thousand {late:?} out of order", arrivals.len());
    let in_order = late.iter().filter(|&&late| late <= 1).count();
    assert!(in_order * 4 >= late.len() * 3, "of each thousand {late:?} out of order");
}

/// A cable is pulled under a flow of the latency class, and under one that is pinned: the first misses nothing, the
/// second goes on.
pub fn pulled_cable() {
    let network = network_with_classes();
    for (port, line) in [(DUPLICATED, 0), (DUPLICATED, 1), (PINNED, 0), (PINNED, 1)] {
        let flow = Flow::start(&network, port, 100.0);
        wait_for("it is under way", || flow.came() > 100);
        network.unplug(line);
        let came = flow.came();
        wait_for("it goes on over the other line", || flow.came() > came + 100);
        network.plug(line);
        let (_, arrivals) = flow.finish();
        let mut numbers: Vec<u32> = arrivals.iter().map(|&(_, number)| number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), arrivals.len(), "none came twice");
        let missing = numbers.last().unwrap() + 1 - numbers.len() as u32;
        assert!(port != DUPLICATED || missing == 0, "{missing} are missing");
        wait_for("it is used again", || links(network.home(), "up") == 2);
    }
}

/// Lines that lose one packet of fifty, and both ends send repairs: most of what is lost is given back, down and up,
/// and nothing comes twice.
pub fn lossy_lines() {
    let network = Network::new();
    type_until(&network, "prismux status");
    let ends: [(&Machine, &str); 2] =
        [(&network.server, "/etc/prismux/gateway.toml"), (network.home(), "/etc/prismux/home.toml")];
    for (machine, file) in ends {
        machine.run(&format!("sed -i 1ifec=true {file}"));
        machine.run("prismux up --detach --restart");
    }
    wait_for("both uplinks register", || links(network.home(), "up") == 2);
    network.lines.lost_of.iter().for_each(|lost_of| lost_of.store(50, Ordering::Relaxed));
    for (direction, sender) in [(Direction::Down, &network.server), (Direction::Up, network.home())] {
        let mut tries = 0;
        while !is_repaired(&network, direction, sender, tries == LOSSY_TRIES) {
            tries += 1;
        }
    }
}

/// Flows that say nothing, since queues overflowed, are not begun more often.
const LOSSY_TRIES: usize = 5;

/// A flow over lossy lines, most of which comes. What a machine that stood still hands over at once is lost in a row,
/// repairs with it: then it says nothing, if it does not have to.
fn is_repaired(network: &Network, direction: Direction, sender: &Machine, has_to_say: bool) -> bool {
    let overflowed = || network.lines.overflowed.load(Ordering::Relaxed) + network.dropped();
    let before = overflowed();
    let flow = Flow::towards(network, direction, PINNED, 300.0);
    wait_for("most of it has come", || flow.came() > 2000);
    let (sent, arrivals) = flow.finish();
    let mut numbers: Vec<u32> = arrivals.iter().map(|&(_, number)| number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), arrivals.len(), "none came twice");
    let missing = sent - numbers.len() as u32;
    let receipts = page(sender)["receipts"].as_array().unwrap().clone();
    let recovered: u64 = receipts.iter().filter_map(|link| link["recovered_packets"].as_u64()).sum();
    let overflowed = overflowed() - before;
    println!("{missing} of {sent} missing, {recovered} recovered, {overflowed} found a queue full");
    if overflowed > 0 && !has_to_say {
        return false;
    }
    // Without repairs a fiftieth is.
    let given_up = u64::from(missing).saturating_sub(overflowed);
    assert!(
        given_up * 100 < u64::from(sent) && recovered > 10,
        "{missing} of {sent}, {recovered}: {receipts:?}"
    );
    true
}
