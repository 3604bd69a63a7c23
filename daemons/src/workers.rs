//! Threads that seal and send beside the one that decides where packets go.
//!
//! ```text
//!   deciding thread: link, number -> lane of the link -> worker: seal, join, send
//!                    counts, buffers <- reply        <-
//! ```
//!
//! Links are decided on, and numbers given out, on one thread and in order. Each link belongs to one worker, and
//! batches wait for it in one queue: packets of a link leave in the order in which they were decided, so that neither a
//! flow nor the numbers of a session are reordered on it.
//!
//! * [`lanes`]: the deciding thread's part: batches, what is under way, and what happens when a worker does not keep
//!   up.
//! * [`batch`]: what is handed over. [`hand`]: carrying it out, on either side.
pub(crate) mod batch;
pub(crate) mod hand;
pub(crate) mod lanes;
mod report;

pub use report::Report;

use batch::Batch;
use hand::Hand;
use nix::time::{ClockId, clock_gettime};
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

/// Batches that wait for one worker, of all sockets. Those of one socket are bounded by its lanes.
const QUEUE_BATCHES: usize = 64;

/// The workers of a daemon, which its sockets share; none when the deciding thread does it all.
#[derive(Clone)]
pub struct Workers(Rc<Crew>);

#[derive(Default)]
struct Crew {
    workers: Vec<Worker>,
    /// Packets that the deciding thread sent by itself, because there were few and nothing of their link was under way.
    own_packets: Cell<u64>,
    /// Packets that found their worker's queue full.
    refused_packets: Cell<u64>,
    /// Sockets that send by them.
    sockets: Cell<usize>,
}

struct Worker {
    /// `None` once it is to end.
    queue: Option<SyncSender<Box<Batch>>>,
    thread: Option<JoinHandle<()>>,
    done: Arc<Done>,
}

/// What a worker has done.
#[derive(Debug, Default)]
struct Done {
    batches: AtomicU64,
    packets: AtomicU64,
    cpu_ns: AtomicU64,
}

/// Why a batch was not taken.
pub(crate) enum Untaken {
    /// The worker has enough to do.
    Full(Box<Batch>),
    /// The worker is gone.
    Gone(Box<Batch>),
}

impl Workers {
    /// Starts `count` threads.
    ///
    /// # Errors
    /// When the system gives no more threads.
    pub fn start(count: usize) -> io::Result<Self> {
        let mut crew = Crew::default();
        for number in 0..count {
            crew.workers.push(Worker::start(number)?);
        }
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

    fn hand_over(&self, worker: usize, batch: Box<Batch>) -> Result<(), Untaken> {
        let Some(queue) = self.0.workers.get(worker).and_then(|worker| worker.queue.as_ref()) else {
            return Err(Untaken::Gone(batch));
        };
        queue.try_send(batch).map_err(|error| match error {
            TrySendError::Full(batch) => Untaken::Full(batch),
            TrySendError::Disconnected(batch) => Untaken::Gone(batch),
        })
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

    fn note_own(&self, packets: usize) {
        self.0.own_packets.set(self.0.own_packets.get() + packets as u64);
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
    fn start(number: usize) -> io::Result<Self> {
        let (queue, batches) = sync_channel(QUEUE_BATCHES);
        let done = Arc::new(Done::default());
        let count = Arc::clone(&done);
        let name = format!("prismux-{number}");
        let thread = thread::Builder::new().name(name).spawn(move || work(&batches, &count))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), done })
    }
}

/// A worker's life: until there is nobody to hand anything over.
fn work(batches: &Receiver<Box<Batch>>, done: &Done) {
    let scheduling = process::prefer_this_thread(process::CARRIER_PRIORITY);
    tracing::debug!(%scheduling, "how soon the system runs a worker");
    give_up_rights();
    let mut hand = Hand::default();
    while let Ok(mut batch) = batches.recv() {
        done.batches.fetch_add(1, Ordering::Relaxed);
        done.packets.fetch_add(batch.len() as u64, Ordering::Relaxed);
        hand.carry_out(&mut batch);
        done.cpu_ns.store(cpu_time().as_nanos() as u64, Ordering::Relaxed);
        batch.reply();
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
