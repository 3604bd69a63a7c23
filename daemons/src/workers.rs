//! Threads that seal and send, and open, beside the one that decides where packets go.
//!
//! ```text
//!   deciding thread: link, number -> lane of the link -> worker: seal, join, send
//!                    counts, buffers <- reply        <-
//!   deciding thread: datagram, claimed link -> lane of the link -> worker: open
//!        accept once, handle in order <- reply and wake         <-
//! ```
//!
//! Links are decided on, and numbers given out, on one thread and in order. Each link belongs to one worker, and
//! batches wait for it in one queue: packets of a link leave in the order in which they were decided, so that neither a
//! flow nor the numbers of a session are reordered on it.
//!
//! * [`lanes`]: the deciding thread's part: batches, what is under way, and what happens when a worker does not keep
//!   up. [`opening`]: the same for what arrives.
//! * [`batch`]: what is handed over. [`hand`]: carrying it out, on either side.
pub(crate) mod batch;
pub(crate) mod hand;
pub(crate) mod lanes;
pub(crate) mod opening;
mod report;

pub use report::Report;

use batch::Batch;
use hand::Hand;
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::time::{ClockId, clock_gettime};
use opening::Opening;
use prismux_linux::{capabilities, confinement, process};
use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The most workers that a daemon has.
pub(crate) const MAX_WORKERS: usize = 64;

/// Jobs that wait for one worker: more than the lanes of a home with eight uplinks let pass, both ways.
const QUEUE_JOBS: usize = 1024;

/// Batches under way in a lane: with 64 packets each, what the ring of a network card holds. What arrives beyond that
/// waits in its socket.
const LANE_BATCHES: usize = 16;

/// So many packets are sent or opened by the deciding thread itself when nothing of their lane is under way: waking a
/// worker would take longer.
const FEW_PACKETS: usize = 8;

/// How long the deciding thread waits for a worker that does not keep up, so that packets queue in the kernel, before
/// it drops them or looks after other things.
const PATIENCE: Duration = Duration::from_millis(1);

/// The workers of a daemon, which its sockets share; none when the deciding thread does it all.
#[derive(Clone)]
pub struct Workers(Rc<Crew>);

#[derive(Default)]
struct Crew {
    workers: Vec<Worker>,
    wake: Option<Arc<EventFd>>,
    /// Packets that the deciding thread sent or opened by itself, because there were few and nothing of their link was
    /// under way.
    own_sent_packets: Cell<u64>,
    own_opened_packets: Cell<u64>,
    /// Packets that found their worker's queue full.
    refused_packets: Cell<u64>,
    /// Sockets that send by them.
    sockets: Cell<usize>,
}

struct Worker {
    /// `None` once it is to end.
    queue: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    done: Arc<Done>,
}

/// What a worker has done.
#[derive(Debug, Default)]
struct Done {
    batches: AtomicU64,
    sent_packets: AtomicU64,
    opened_packets: AtomicU64,
    cpu_ns: AtomicU64,
}

/// What a worker does.
pub(crate) enum Job {
    /// Seals what is to be sealed, and sends.
    Send(Box<Batch>),
    /// Opens.
    Open(Box<Opening>),
}

impl Job {
    fn packets(&self) -> usize {
        match self {
            Self::Send(batch) => batch.len(),
            Self::Open(opening) => opening.len(),
        }
    }

    /// Does it, and replies; says whether the deciding thread has to be woken for it.
    pub fn carry_out(self, hand: &mut Hand) -> bool {
        match self {
            Self::Send(mut batch) => {
                hand.carry_out(&mut batch);
                batch.reply();
                false
            }
            Self::Open(mut opening) => {
                opening.carry_out();
                opening.reply();
                true
            }
        }
    }
}

impl Workers {
    /// Starts `count` threads.
    ///
    /// # Errors
    /// When the system gives no more threads.
    pub fn start(count: usize) -> io::Result<Self> {
        let mut crew = Crew::default();
        if count == 0 {
            return Ok(Self::none());
        }
        let wake = Arc::new(EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?);
        for number in 0..count {
            crew.workers.push(Worker::start(number, &wake)?);
        }
        crew.wake = Some(wake);
        Ok(Self(Rc::new(crew)))
    }

    /// No threads.
    pub fn none() -> Self {
        Self(Rc::new(Crew::default()))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.workers.len()
    }

    /// For the status page; `None` without workers.
    pub fn report(&self) -> Option<Report> {
        (self.count() > 0).then(|| report::report(&self.0))
    }

    /// Gives a worker one more job, or back where it does not take it: the worker is gone. Its queue has room for all
    /// that lanes let pass.
    fn hand_over(&self, worker: usize, job: Job) -> Result<(), Job> {
        let Some(queue) = self.0.workers.get(worker).and_then(|worker| worker.queue.as_ref()) else {
            return Err(job);
        };
        queue.try_send(job).map_err(|error| match error {
            TrySendError::Full(job) | TrySendError::Disconnected(job) => job,
        })
    }

    /// What is readable when something that has been opened waits to be collected; `None` without workers.
    pub fn wake(&self) -> Option<&EventFd> {
        self.0.wake.as_deref()
    }

    /// Takes note of it.
    pub fn take_wake(&self) {
        if let Some(wake) = self.wake() {
            // It is non-blocking: an error means that there was nothing to take.
            let _ = wake.read();
        }
    }

    /// A worker has ended, which only an error in it can have done.
    fn is_gone(&self, number: usize) -> bool {
        let thread = self.0.workers.get(number).and_then(|worker| worker.thread.as_ref());
        thread.is_none_or(JoinHandle::is_finished)
    }

    /// The number of a socket, as they come.
    fn next_socket(&self) -> usize {
        self.0.sockets.replace(self.0.sockets.get() + 1)
    }

    fn note_sent_here(&self, packets: usize) {
        self.0.own_sent_packets.set(self.0.own_sent_packets.get() + packets as u64);
    }

    fn note_opened_here(&self, packets: usize) {
        self.0.own_opened_packets.set(self.0.own_opened_packets.get() + packets as u64);
    }

    fn note_refused(&self, packets: usize) {
        self.0.refused_packets.set(self.0.refused_packets.get() + packets as u64);
    }
}

impl Drop for Crew {
    /// What has been handed over is sent, and nothing of the workers is left.
    fn drop(&mut self) {
        for worker in &mut self.workers {
            worker.queue = None;
        }
        for worker in &mut self.workers {
            if worker.thread.take().is_some_and(|thread| thread.join().is_err()) {
                tracing::error!("a worker had ended before its time");
            }
        }
    }
}

impl Worker {
    fn start(number: usize, wake: &Arc<EventFd>) -> io::Result<Self> {
        let (queue, jobs) = sync_channel(QUEUE_JOBS);
        let done = Arc::new(Done::default());
        let (count, wake) = (Arc::clone(&done), Arc::clone(wake));
        let name = format!("prismux-{number}");
        let thread = thread::Builder::new().name(name).spawn(move || work(&jobs, &count, &wake))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), done })
    }
}

/// A worker's life: until there is nobody to hand anything over.
fn work(jobs: &Receiver<Job>, done: &Done, wake: &EventFd) {
    let scheduling = process::prefer_this_thread(process::CARRIER_PRIORITY);
    tracing::debug!(%scheduling, "how soon the system runs a worker");
    give_up_rights();
    let mut hand = Hand::default();
    while let Ok(job) = jobs.recv() {
        done.batches.fetch_add(1, Ordering::Relaxed);
        let packets = match &job {
            Job::Send(_) => &done.sent_packets,
            Job::Open(_) => &done.opened_packets,
        };
        packets.fetch_add(job.packets() as u64, Ordering::Relaxed);
        if job.carry_out(&mut hand) {
            // Fails only when nobody has taken note of very many.
            let _ = wake.write(1);
        }
        done.cpu_ns.store(cpu_time().as_nanos() as u64, Ordering::Relaxed);
    }
}

/// A worker sends through sockets that are open already, and needs neither rights nor files. It gives them up by
/// itself: it began before its daemon did.
fn give_up_rights() {
    if let Err(error) = capabilities::keep_none() {
        tracing::warn!(%error, "a worker's privileges could not be dropped");
    }
    if let Err(error) = confinement::confine(&[]) {
        tracing::warn!(%error, "a worker's files and system calls could not be restricted");
    }
}

/// Processor time of this thread.
fn cpu_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

#[cfg(test)]
mod tests;
