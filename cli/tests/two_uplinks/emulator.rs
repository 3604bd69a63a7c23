//! Lines with a rate, a delay and a queue in each direction, between TUN devices.
use prismux_linux::process::{self, Scheduling};
use prismux_linux::tun::Tun;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// When the lines wait for longer than this, they carry less than they could.
const PROMPT: Duration = Duration::from_millis(5);
/// What is measured says nothing about the lines if they have waited for so long meanwhile.
const MOST_WAITED: Duration = Duration::from_millis(100);

/// One direction.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    pub mbps: f64,
    delay: Duration,
    queue_bytes: usize,
}

impl Line {
    pub const fn new(mbps: f64, delay_ms: u64, queue_bytes: usize) -> Self {
        Self { mbps, delay: Duration::from_millis(delay_ms), queue_bytes }
    }
}

/// What the test and the lines share.
pub struct Emulated {
    lines: Vec<[Line; 2]>,
    /// A line that passes nothing, and tells nobody.
    pub is_dead: Vec<AtomicBool>,
    /// By how much each line is slower than its rate: 1 for as fast.
    pub slowness: Vec<AtomicU64>,
    /// Of so many packets each line loses one, in either direction; 0 for none.
    pub lost_of: Vec<AtomicU64>,
    /// Longer packets vanish on each line, and nobody is told.
    pub widest: Vec<AtomicUsize>,
    /// Bytes that came out: towards the home and from it.
    pub carried: Vec<[AtomicU64; 2]>,
    /// Packets that found a queue full, of all lines: more than the lines carry, or all that a machine that stood
    /// still for a moment hands over at once.
    pub overflowed: AtomicU64,
    /// Microseconds that the lines waited for a machine that stood still, or had too much else to do.
    waited_us: AtomicU64,
    /// The lines are served before ordinary programs.
    pub is_preferred: AtomicBool,
    ends: AtomicBool,
}

impl Emulated {
    pub fn new(lines: Vec<[Line; 2]>) -> Self {
        let is_dead = lines.iter().map(|_| AtomicBool::default()).collect();
        let carried = lines.iter().map(|_| Default::default()).collect();
        let slowness = lines.iter().map(|_| AtomicU64::new(1)).collect();
        let lost_of = lines.iter().map(|_| AtomicU64::default()).collect();
        let widest = lines.iter().map(|_| AtomicUsize::new(usize::MAX)).collect();
        let [overflowed, waited_us] = Default::default();
        let [is_preferred, ends] = Default::default();
        Self { lines, is_dead, slowness, lost_of, widest, carried, overflowed, waited_us, is_preferred, ends }
    }

    /// What a measurement gives, and whether the lines were served meanwhile, so that it says something.
    pub fn while_served<T>(&self, measure: impl FnOnce() -> T) -> (T, bool) {
        let waited = || Duration::from_micros(self.waited_us.load(Ordering::Relaxed));
        let before = waited();
        let measured = measure();
        (measured, waited() - before <= MOST_WAITED)
    }

    /// What lines have carried, in bytes.
    pub fn carried(&self, line: usize, direction: usize) -> u64 {
        self.carried[line][direction].load(Ordering::Relaxed)
    }
}

/// The thread that carries packets.
pub struct Emulator {
    shared: Arc<Emulated>,
    thread: Option<JoinHandle<()>>,
}

impl Emulator {
    pub fn start(ends: Vec<(Tun, Tun)>, shared: Arc<Emulated>) -> Self {
        let theirs = Arc::clone(&shared);
        let work = move || {
            let scheduling = process::prefer_this_thread(process::LINK_PRIORITY);
            theirs.is_preferred.store(scheduling == Scheduling::RealTime, Ordering::Relaxed);
            carry(&ends, &theirs);
        };
        Self { shared, thread: Some(std::thread::spawn(work)) }
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Relaxed);
        let _ = self.thread.take().unwrap().join();
    }
}

/// Packets on their way.
#[derive(Default)]
struct Pipe {
    /// When each has left the queue, when it arrives, and itself.
    packets: VecDeque<(Instant, Instant, Vec<u8>)>,
    /// When those in the queue leave it, and their lengths in bytes, and the sum of these.
    queue: VecDeque<(Instant, usize)>,
    queue_bytes: usize,
    free_at: Option<Instant>,
    /// Packets that came to it.
    came: u64,
}

impl Pipe {
    /// Queues a packet; says whether there was room.
    fn send(&mut self, now: Instant, line: Line, packet: &[u8]) -> bool {
        while let Some((_, bytes)) = self.queue.front().filter(|(leaves, _)| *leaves <= now) {
            self.queue_bytes -= bytes;
            self.queue.pop_front();
        }
        if self.queue_bytes + packet.len() > line.queue_bytes {
            return false;
        }
        let seconds = packet.len() as f64 * 8.0 / (line.mbps * 1e6);
        let leaves = self.free_at.map_or(now, |at| at.max(now)) + Duration::from_secs_f64(seconds);
        self.free_at = Some(leaves);
        self.queue.push_back((leaves, packet.len()));
        self.queue_bytes += packet.len();
        self.packets.push_back((leaves, leaves + line.delay, packet.to_vec()));
        true
    }

    fn arrived(&mut self, now: Instant) -> Option<Vec<u8>> {
        if self.packets.front()?.1 > now {
            return None;
        }
        self.packets.pop_front().map(|(.., packet)| packet)
    }
}

fn carry(ends: &[(Tun, Tun)], shared: &Emulated) {
    let mut pipes: Vec<[Pipe; 2]> = ends.iter().map(|_| Default::default()).collect();
    let mut buffer = [0; 2000];
    let mut served = Instant::now();
    while !shared.ends.load(Ordering::Relaxed) {
        let before = std::mem::replace(&mut served, Instant::now());
        let waited = Some(served - before).filter(|waited| *waited > PROMPT).unwrap_or_default();
        shared.waited_us.fetch_add(waited.as_micros() as u64, Ordering::Relaxed);
        for (n, (core, provider)) in ends.iter().enumerate() {
            for (direction, (from, to)) in [(core, provider), (provider, core)].into_iter().enumerate() {
                let pipe = &mut pipes[n][direction];
                let is_dead = shared.is_dead[n].load(Ordering::Relaxed);
                let mut line = shared.lines[n][direction];
                line.mbps /= shared.slowness[n].load(Ordering::Relaxed) as f64;
                while let Ok(length) = from.read(&mut buffer) {
                    pipe.came += 1;
                    let lost_of = shared.lost_of[n].load(Ordering::Relaxed);
                    let is_too_wide = length > shared.widest[n].load(Ordering::Relaxed);
                    let is_lost = is_too_wide || pipe.came.checked_rem(lost_of) == Some(0);
                    if !is_dead && !is_lost && !pipe.send(Instant::now(), line, &buffer[..length]) {
                        shared.overflowed.fetch_add(1, Ordering::Relaxed);
                    }
                }
                while let Some(packet) = pipe.arrived(Instant::now()) {
                    if !is_dead && to.write(&packet).is_ok() {
                        shared.carried[n][direction].fetch_add(packet.len() as u64, Ordering::Relaxed);
                    }
                }
            }
        }
        std::thread::sleep(Duration::from_micros(300));
    }
}
