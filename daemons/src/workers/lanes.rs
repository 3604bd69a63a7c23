//! The deciding thread's part: one lane of a socket for each worker.
use super::batch::{Batch, Exit, Failure};
use super::hand::Hand;
use super::{FEW_PACKETS, Job, LANE_BATCHES, PATIENCE, Workers};
use crate::tunnel::{Peer, Transport};
use prismux_linux::event_loop::BATCH_PACKETS;
use prismux_sealed::Reserved;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Instant;

/// What one socket sends by workers.
pub(crate) struct Lanes {
    workers: Workers,
    exit: Arc<Exit>,
    lanes: Vec<Lane>,
    /// Where the first peer's lane is: sockets with one peer each have different ones.
    first: usize,
    replies: Receiver<Box<Batch>>,
    reply: SyncSender<Box<Batch>>,
    /// Buffers that have come back, in the boxes that they travel in.
    #[expect(clippy::vec_box)]
    idle: Vec<Box<Batch>>,
    hand: Hand,
    failures: Vec<Failure>,
}

/// The way through one worker.
#[derive(Default)]
struct Lane {
    /// What has not been handed over.
    open: Option<Box<Batch>>,
    under_way: usize,
    /// It has been waited for, in vain, since it last gave something back.
    is_stuck: bool,
}

impl Lanes {
    /// For what leaves by `exit`; `None` without workers.
    pub fn new(workers: &Workers, exit: &Arc<Exit>) -> Option<Self> {
        let count = workers.count();
        if count == 0 {
            return None;
        }
        let (reply, replies) = sync_channel(count * LANE_BATCHES);
        Some(Self {
            workers: workers.clone(),
            exit: Arc::clone(exit),
            lanes: (0..count).map(|_| Lane::default()).collect(),
            first: workers.next_socket(),
            replies,
            reply,
            idle: Vec::new(),
            hand: Hand::default(),
            failures: Vec::new(),
        })
    }

    /// Adds a packet as it is.
    pub fn push_plain(&mut self, peer: Peer, to: SocketAddr, class: u8, parts: (&[u8], &[u8])) {
        self.push(self.lane_of(peer), |batch| batch.push_plain(to, class, parts));
    }

    /// Adds a packet that is to be sealed.
    pub fn push_sealed(
        &mut self,
        peer: Peer,
        reserved: Reserved,
        (to, class): (SocketAddr, u8),
        parts: (&[u8], &[u8]),
    ) {
        self.push(self.lane_of(peer), |batch| batch.push_sealed(reserved, to, class, parts));
    }

    /// Hands everything over.
    pub fn flush(&mut self) {
        self.take_replies();
        (0..self.lanes.len()).for_each(|number| self.submit(number));
    }

    /// What did not leave, as far as it is known.
    pub fn failures(&mut self) -> impl Iterator<Item = Failure> {
        self.failures.drain(..)
    }

    /// The lane of everything that goes to a peer.
    fn lane_of(&self, peer: Peer) -> usize {
        let sum = |octets: &[u8]| octets.iter().map(|&octet| usize::from(octet)).sum();
        let place: usize = match (peer.transport, peer.address.ip().to_canonical()) {
            // Wherever it is.
            (Transport::Sealed, _) => usize::from(peer.number),
            (_, IpAddr::V4(ip)) => sum(&ip.octets()),
            (_, IpAddr::V6(ip)) => sum(&ip.octets()),
        };
        (self.first + place) % self.lanes.len()
    }

    /// Puts a packet into a lane, and hands over what is enough for one batch.
    fn push(&mut self, number: usize, push: impl FnOnce(&mut Batch)) {
        let Some(lane) = self.lanes.get_mut(number) else { return };
        let new = || match self.idle.pop() {
            Some(mut batch) => {
                batch.lane = number;
                batch
            }
            None => Box::new(Batch::new(Arc::clone(&self.exit), number, self.reply.clone())),
        };
        let batch = lane.open.get_or_insert_with(new);
        push(batch);
        if batch.len() >= BATCH_PACKETS {
            self.take_replies();
            self.submit(number);
        }
    }

    fn submit(&mut self, number: usize) {
        let Some(lane) = self.lanes.get_mut(number) else { return };
        let Some(batch) = lane.open.take() else { return };
        if lane.under_way == 0 && batch.len() <= FEW_PACKETS {
            return self.carry_out(batch);
        }
        if !self.has_room(number) {
            return self.refuse(batch);
        }
        if let Some(lane) = self.lanes.get_mut(number) {
            lane.under_way += 1;
        }
        if let Err(job) = self.workers.hand_over(number, Job::Send(batch)) {
            // The worker is gone.
            job.carry_out(&mut self.hand);
            self.take_replies();
        }
    }

    /// Sends a batch on this thread.
    fn carry_out(&mut self, mut batch: Box<Batch>) {
        self.workers.note_sent_here(batch.len());
        self.hand.carry_out(&mut batch);
        self.take_back(batch);
    }

    fn refuse(&mut self, mut batch: Box<Batch>) {
        self.workers.note_refused(batch.len());
        batch.refuse();
        self.take_back(batch);
    }

    fn take_replies(&mut self) {
        while let Ok(batch) = self.replies.try_recv() {
            self.came_back(batch);
        }
    }

    /// Whether a worker takes one more; waits for that once, and not for long.
    fn has_room(&mut self, number: usize) -> bool {
        let end = Instant::now() + PATIENCE;
        loop {
            let Some(lane) = self.lanes.get_mut(number) else { return false };
            if lane.under_way >= LANE_BATCHES && self.workers.is_gone(number) {
                // What was under way there will not come back.
                lane.under_way = 0;
            }
            if lane.under_way < LANE_BATCHES || lane.is_stuck {
                return lane.under_way < LANE_BATCHES;
            }
            match self.replies.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(batch) => self.came_back(batch),
                Err(_) => lane.is_stuck = true,
            }
        }
    }

    fn came_back(&mut self, batch: Box<Batch>) {
        if let Some(lane) = self.lanes.get_mut(batch.lane) {
            lane.under_way = lane.under_way.saturating_sub(1);
            lane.is_stuck = false;
        }
        self.take_back(batch);
    }

    fn take_back(&mut self, mut batch: Box<Batch>) {
        self.failures.append(&mut batch.failures);
        self.idle.push(batch);
    }
}
