//! Datagrams on their way to a worker that opens them, and what was in them on its way back.
use super::hand::Hand;
use super::{FEW_PACKETS, Job, LANE_BATCHES, PATIENCE, Workers};
use crate::tunnel::sealing::Sealing;
use prismux_linux::batch::Received;
use prismux_linux::event_loop::BATCH_PACKETS;
use prismux_sealed::{Refusal, SessionKeys, Ticket};
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Datagrams of one socket and one lane, in order.
pub(crate) struct Opening {
    lane: usize,
    /// Sealed payloads, one behind the other, and as much room for what is in them.
    sealed: Vec<u8>,
    opened: Vec<u8>,
    datagrams: Vec<Datagram>,
    reply: SyncSender<Box<Opening>>,
}

struct Datagram {
    from: SocketAddr,
    traffic_class: Option<u8>,
    ticket: Ticket,
    sealed: Range<usize>,
    /// How much was in it; `None` before it is opened, and where it is forged.
    opened_bytes: Option<usize>,
}

/// What has been opened.
pub(crate) struct Opened<'a> {
    pub from: SocketAddr,
    pub traffic_class: Option<u8>,
    pub peer: u16,
    pub payload: &'a [u8],
}

/// What one socket has opened by workers.
pub(crate) struct Openers {
    workers: Workers,
    first: usize,
    lanes: Vec<Lane>,
    replies: Receiver<Box<Opening>>,
    reply: SyncSender<Box<Opening>>,
    /// Buffers that have come back, in the boxes that they travel in.
    #[expect(clippy::vec_box)]
    idle: Vec<Box<Opening>>,
}

#[derive(Default)]
struct Lane {
    /// What has not been handed over.
    open: Option<Box<Opening>>,
    under_way: usize,
}

impl Opening {
    pub fn len(&self) -> usize {
        self.datagrams.len()
    }

    /// Opens all of it.
    pub fn carry_out(&mut self) {
        if self.opened.len() < self.sealed.len() {
            self.opened.resize(self.sealed.len(), 0);
        }
        for datagram in &mut self.datagrams {
            let sealed = self.sealed.get(datagram.sealed.clone());
            let room = self.opened.get_mut(datagram.sealed.clone());
            let Ticket { keys, counter, .. } = &datagram.ticket;
            let open = |(sealed, room)| SessionKeys::open(keys, *counter, sealed, room);
            datagram.opened_bytes = sealed.zip(room).and_then(open);
        }
    }

    /// Goes back to where it came from, unless nobody is there any more.
    pub fn reply(self: Box<Self>) {
        let reply = self.reply.clone();
        let _ = reply.send(self);
    }

    fn push(&mut self, datagram: &Received<'_>, ticket: Ticket, sealed: &[u8]) {
        let begin = self.sealed.len();
        self.sealed.extend_from_slice(sealed);
        self.datagrams.push(Datagram {
            from: datagram.from,
            traffic_class: datagram.traffic_class,
            ticket,
            sealed: begin..self.sealed.len(),
            opened_bytes: None,
        });
    }

    /// Hands over what is in it, in order, and empties it. What the sessions refuse, and signs of life, are not handed
    /// over.
    fn deliver(&mut self, sealing: &Sealing, handle: &mut impl FnMut(Result<Opened<'_>, Refusal>)) {
        for datagram in self.datagrams.drain(..) {
            let Datagram { from, traffic_class, ticket, sealed, opened_bytes } = datagram;
            let accepted = match opened_bytes {
                Some(bytes) => sealing.accept(from, &ticket, bytes).map(|peer| (peer, bytes)),
                None => Err(Refusal::Forged),
            };
            match accepted {
                Ok((_, 0)) => {}
                Ok((peer, bytes)) => {
                    let payload = self.opened.get(sealed.start..sealed.start + bytes).unwrap_or_default();
                    handle(Ok(Opened { from, traffic_class, peer, payload }));
                }
                Err(refusal) => handle(Err(refusal)),
            }
        }
        self.sealed.clear();
    }
}

impl Openers {
    /// `None` without workers.
    pub fn new(workers: &Workers) -> Option<Self> {
        let count = workers.count();
        if count == 0 {
            return None;
        }
        // What one system call brings may come on top of full lanes.
        let (reply, replies) = sync_channel(2 * count * LANE_BATCHES);
        let lanes = (0..count).map(|_| Lane::default()).collect();
        let (workers, first) = (workers.clone(), workers.next_socket());
        Some(Self { workers, first, lanes, replies, reply, idle: Vec::new() })
    }

    /// Whether there is room for whatever one more system call brings, if need be after a moment.
    pub fn has_room(
        &mut self,
        sealing: &Sealing,
        handle: &mut impl FnMut(Result<Opened<'_>, Refusal>),
    ) -> bool {
        self.collect(sealing, handle);
        if self.is_full()
            && let Ok(opening) = self.replies.recv_timeout(PATIENCE)
        {
            self.came_back(opening, sealing, handle);
            self.collect(sealing, handle);
        }
        !self.is_full()
    }

    fn is_full(&self) -> bool {
        let is_full =
            |(number, lane): (usize, &Lane)| lane.under_way >= LANE_BATCHES && !self.workers.is_gone(number);
        self.lanes.iter().enumerate().any(is_full)
    }

    /// Adds a datagram that is to be opened.
    pub fn push(&mut self, datagram: &Received<'_>, ticket: Ticket, sealed: &[u8]) {
        let number = (self.first + usize::from(ticket.peer.0)) % self.lanes.len();
        let Some(lane) = self.lanes.get_mut(number) else { return };
        let new = || match self.idle.pop() {
            Some(mut opening) => {
                opening.lane = number;
                opening
            }
            None => Box::new(Opening {
                lane: number,
                sealed: Vec::new(),
                opened: Vec::new(),
                datagrams: Vec::new(),
                reply: self.reply.clone(),
            }),
        };
        let opening = lane.open.get_or_insert_with(new);
        opening.push(datagram, ticket, sealed);
        if opening.len() >= BATCH_PACKETS {
            self.hand_over(number);
        }
    }

    /// Hands everything over; few datagrams are opened here and now.
    pub fn flush(&mut self, sealing: &Sealing, handle: &mut impl FnMut(Result<Opened<'_>, Refusal>)) {
        for number in 0..self.lanes.len() {
            let Some(lane) = self.lanes.get_mut(number) else { continue };
            let is_little = lane.open.as_ref().is_some_and(|opening| opening.len() <= FEW_PACKETS);
            if lane.under_way > 0 || !is_little {
                self.hand_over(number);
            } else if let Some(mut opening) = lane.open.take() {
                self.workers.note_opened_here(opening.len());
                opening.carry_out();
                opening.deliver(sealing, handle);
                self.idle.push(opening);
            }
        }
    }

    /// Hands over what workers have opened.
    pub fn collect(&mut self, sealing: &Sealing, handle: &mut impl FnMut(Result<Opened<'_>, Refusal>)) {
        while let Ok(opening) = self.replies.try_recv() {
            self.came_back(opening, sealing, handle);
        }
    }

    fn hand_over(&mut self, number: usize) {
        let Some(lane) = self.lanes.get_mut(number) else { return };
        let Some(opening) = lane.open.take() else { return };
        lane.under_way += 1;
        if let Err(job) = self.workers.hand_over(number, Job::Open(opening)) {
            // The worker is gone.
            job.carry_out(&mut Hand::default());
        }
    }

    fn came_back(
        &mut self,
        mut opening: Box<Opening>,
        sealing: &Sealing,
        handle: &mut impl FnMut(Result<Opened<'_>, Refusal>),
    ) {
        if let Some(lane) = self.lanes.get_mut(opening.lane) {
            lane.under_way = lane.under_way.saturating_sub(1);
        }
        opening.deliver(sealing, handle);
        self.idle.push(opening);
    }
}
