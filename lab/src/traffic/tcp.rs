//! Bulk data over the kernel's TCP or MPTCP.
use super::content::{Content, Verifier};
use super::own_tcp::OwnTcp;
use super::socket::{CONNECT_TIMEOUT, is_pause};
use super::tcp_info::TcpInfo;
use super::window_watch::WindowWatch;
use super::{Arrivals, FlowOutcome, Schedule, WAIT};
use prismux_endpoint::random::Seed;
use prismux_plan::UPDATE_BYTES;
use prismux_trace::event::SharedLog;
use prismux_units::{Duration, Instant};
use socket2::{SockRef, Socket};
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::time;

/// Size of the pieces that the applications read and write.
const PIECE_BYTES: usize = 64 * 1024;

/// A flow's two sockets, each made in its node's namespace, and what is to be done with them.
pub(crate) struct TcpFlow {
    pub name: String,
    pub seed: Seed,
    pub schedule: Schedule,
    pub bytes: Option<u64>,
    /// The receiver writes [`UPDATE_BYTES`] back each time that so many bytes have come.
    pub updates_every: Option<u64>,
    pub sender: SenderEnd,
    pub caller: Socket,
    pub server: SocketAddrV4,
    pub mptcp: bool,
    /// Interval at which the sender's window is sampled.
    pub sample_interval: Option<Duration>,
    /// Where the windows go as events.
    pub events: Option<SharedLog>,
}

/// Who sends.
pub(crate) enum SenderEnd {
    /// The kernel, from connections that come in here.
    Kernel(TcpListener),
    /// Our own TCP.
    Own(Box<OwnTcp>),
}

/// What the sending thread found out.
#[derive(Default)]
pub(super) struct Sent {
    pub infos: Vec<TcpInfo>,
    pub samples: Vec<(u64, Duration)>,
    pub trouble: Option<String>,
}

impl TcpFlow {
    /// Runs the flow to its end and reports.
    pub fn run(self) -> FlowOutcome {
        let flow = &self;
        std::thread::scope(|scope| {
            let send = || match &flow.sender {
                SenderEnd::Kernel(listener) => flow.send(listener),
                SenderEnd::Own(own) => own.run(),
            };
            let sender = scope.spawn(move || match send() {
                Ok(sent) => sent,
                Err(error) => Sent { trouble: Some(format!("sender: {error}")), ..Sent::default() },
            });
            let mut outcome = FlowOutcome::default();
            if let Err(error) = flow.receive(&mut outcome) {
                outcome.trouble = Some(format!("receiver: {error}"));
            }
            let sent = sender.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            outcome.senders = sent.infos;
            outcome.samples = sent.samples;
            outcome.trouble = outcome.trouble.or(sent.trouble);
            outcome
        })
    }

    /// The receiver: opens the connection, reads, checks.
    fn receive(&self, outcome: &mut FlowOutcome) -> io::Result<()> {
        if !self.schedule.wait_until(self.schedule.start) {
            return Ok(());
        }
        let left = time::Duration::from_nanos((self.schedule.stop - self.schedule.now()).as_nanos());
        self.caller.connect_timeout(&self.server.into(), CONNECT_TIMEOUT.min(left))?;
        if self.updates_every.is_some() {
            self.caller.set_tcp_nodelay(true)?;
        }
        outcome.connected_at = Some(self.schedule.now());
        let mut stream: TcpStream = self.caller.try_clone()?.into();
        stream.set_read_timeout(Some(WAIT))?;
        stream.set_write_timeout(Some(WAIT))?;
        let mut updates = self.updates_every.map(|every| Updates { every, due: 0, written: 0 });
        let mut verifier = Verifier::new(self.seed, &self.name);
        let mut arrivals = Arrivals::default();
        let mut buffer = vec![0; PIECE_BYTES];
        let result = loop {
            match stream.read(&mut buffer) {
                Ok(0) => break Ok(()),
                Ok(count) => {
                    arrivals.record(self.schedule.now(), count as u64);
                    verifier.take(&buffer[..count]);
                    if Some(arrivals.total_bytes) == self.bytes {
                        outcome.completed_at = Some(arrivals.last_at);
                    }
                    if let Some(updates) = &mut updates {
                        updates.write(&mut stream, arrivals.total_bytes)?;
                    }
                }
                Err(error) if is_pause(&error) => {}
                Err(error) => break Err(error),
            }
            if self.schedule.is_over() {
                break Ok(());
            }
        };
        // The sender waits for this.
        let _ = stream.shutdown(std::net::Shutdown::Both);
        let (got, expected) = verifier.finish();
        outcome.sha256 = Some(got);
        outcome.expected_sha256 = Some(expected);
        outcome.arrivals = arrivals;
        result
    }

    /// The sender: waits for the receiver, writes, and stays until everything is acknowledged.
    fn send(&self, listener: &TcpListener) -> io::Result<Sent> {
        let mut sent = Sent::default();
        let Some(mut stream) = accept(listener, &self.schedule)? else { return Ok(sent) };
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(WAIT))?;
        let mut sampler = Sampler {
            interval: self.sample_interval,
            next: self.schedule.start,
            watch: WindowWatch::new(self.events.clone(), &self.name, self.schedule.stop),
        };
        let mut content = Content::new(self.seed, &self.name);
        let mut left = self.bytes.unwrap_or(u64::MAX);
        let mut piece = vec![0; PIECE_BYTES];
        let mut unsent = 0..0;
        while left > 0 && !self.schedule.is_over() {
            if unsent.is_empty() {
                unsent = 0..PIECE_BYTES.min(usize::try_from(left).unwrap_or(usize::MAX));
                content.fill(&mut piece[unsent.clone()]);
            }
            match stream.write(&piece[unsent.clone()]) {
                Ok(count) => {
                    unsent.start += count;
                    left -= count as u64;
                }
                Err(error) if is_pause(&error) => {}
                Err(error) => {
                    sent.trouble = Some(format!("sender: {error}"));
                    break;
                }
            }
            if self.updates_every.is_some() {
                read_what_has_come(&stream);
            }
            sampler.look(self, &stream, &mut sent.samples);
        }
        if left == 0 {
            stream.shutdown(std::net::Shutdown::Write)?;
            self.linger(&mut stream, &mut sampler, &mut sent);
        }
        sent.infos = self.infos(&stream)?;
        Ok(sent)
    }

    /// Waits until the receiver has closed its side, so that the counters at the end are final.
    fn linger(&self, stream: &mut TcpStream, sampler: &mut Sampler<'_>, sent: &mut Sent) {
        if stream.set_read_timeout(Some(WAIT)).is_err() {
            return;
        }
        while !self.schedule.is_over() {
            match stream.read(&mut [0; 64]) {
                Ok(1..) => {}
                Err(error) if is_pause(&error) => sampler.look(self, stream, &mut sent.samples),
                _ => return,
            }
        }
    }

    fn infos(&self, stream: &TcpStream) -> io::Result<Vec<TcpInfo>> {
        if self.mptcp { TcpInfo::of_subflows(stream) } else { Ok(vec![TcpInfo::of(stream)?]) }
    }
}

/// What a receiver writes back beside its ACKs.
struct Updates {
    every: u64,
    /// Bytes to write so far,
    due: u64,
    /// and those that the kernel has taken.
    written: u64,
}

impl Updates {
    /// Writes what is due once `received` bytes have come; what the kernel does not take waits for the next call.
    fn write(&mut self, stream: &mut TcpStream, received: u64) -> io::Result<()> {
        self.due = received / self.every * UPDATE_BYTES;
        while self.written < self.due {
            let length = (self.due - self.written).min(UPDATE_BYTES) as usize;
            match stream.write(&[0; UPDATE_BYTES as usize][..length]) {
                Ok(count) => self.written += count as u64,
                Err(error) if is_pause(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Takes what the receiver wrote out of the sender's buffer, so that its window stays open.
fn read_what_has_come(stream: &TcpStream) {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let socket = SockRef::from(stream);
    while matches!(socket.recv_with_flags(&mut buffer, libc::MSG_DONTWAIT), Ok(1..)) {}
}

/// Waits for the other end to call; `None` when the flow's end comes first.
pub(super) fn accept(listener: &TcpListener, schedule: &Schedule) -> io::Result<Option<TcpStream>> {
    loop {
        match listener.accept() {
            Ok((stream, _)) => return Ok(Some(stream)),
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(error),
        }
        if schedule.is_over() {
            return Ok(None);
        }
        std::thread::sleep(time::Duration::from_millis(1));
    }
}

/// Looks at the sender's window once per interval.
struct Sampler<'a> {
    interval: Option<Duration>,
    next: Instant,
    watch: WindowWatch<'a>,
}

impl Sampler<'_> {
    fn look(&mut self, flow: &TcpFlow, stream: &TcpStream, samples: &mut Vec<(u64, Duration)>) {
        self.watch.look(flow.schedule.now(), || flow.infos(stream).ok());
        let Some(interval) = self.interval.filter(|_| flow.schedule.now() >= self.next) else { return };
        let Ok(infos) = flow.infos(stream) else { return };
        let now = flow.schedule.now();
        let window = infos.iter().map(|info| info.cwnd_bytes).sum();
        let srtt = infos.iter().map(TcpInfo::srtt).max().unwrap_or_default();
        // A late look fills the intervals that it missed, so that sample k stays sample k.
        while self.next <= now {
            samples.push((window, srtt));
            self.next += interval;
        }
    }
}
