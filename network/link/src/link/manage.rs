//! Links whose queue is managed: packets wait in the discipline and are taken out when the serialiser is free.
use super::rare::State;
use super::{DropReason, Dropped, InFlight, Link, Tag};
use crate::channel::{Channel, Fate};
use crate::managed::{PacketKind, Verdict, Waiter};
use prismux_units::{ByteCount, Instant};

impl<P: Clone> Link<P> {
    /// Whether the queue drops or marks before it is full: then [`Link::enqueue_kind`] should say what a packet is.
    pub fn is_managed(&self) -> bool {
        self.plain.is_none() && self.rare.managed.is_some()
    }

    /// As [`Link::enqueue`], for a packet of which the queue should know more. Packets that the queue drops later come
    /// out of [`Link::poll_dropped`].
    ///
    /// # Errors
    /// The packet, with why it was dropped.
    pub fn enqueue_kind(
        &mut self,
        now: Instant,
        size_bytes: u32,
        kind: PacketKind,
        packet: P,
    ) -> Result<(), Dropped<P>> {
        match self.is_managed() {
            true => self.enqueue_managed(now, size_bytes, kind, packet),
            false => self.enqueue(now, size_bytes, packet),
        }
    }

    pub(super) fn enqueue_managed(
        &mut self,
        now: Instant,
        size_bytes: u32,
        kind: PacketKind,
        packet: P,
    ) -> Result<(), Dropped<P>> {
        self.apply_due(now);
        self.serve(now);
        if self.rare.state == State::Dead {
            self.rare.count.refused_packets += 1;
            return self.refuse(DropReason::Down, size_bytes, packet);
        }
        let order = self.take_order();
        let bytes = ByteCount::new(u64::from(size_bytes));
        let packet_time_s = self.rate().map_or(0.0, |rate| rate.transmission_time(bytes).as_secs_f64());
        let rare = &mut *self.rare;
        let Some(managed) = &mut rare.managed else { return Ok(()) };
        let (packets, bytes) = managed.waiting();
        if packets > 0 && !rare.limit.admits(packets, bytes, size_bytes) {
            match managed.make_room() {
                Some(waiter) => {
                    rare.count.overflow_drops += 1;
                    rare.drop_waiter(waiter, DropReason::QueueFull);
                }
                None => {
                    rare.count.overflow_drops += 1;
                    return self.refuse(DropReason::QueueFull, size_bytes, packet);
                }
            }
        }
        let Some(managed) = &mut rare.managed else { return Ok(()) };
        let verdict = managed.judge(now, kind, size_bytes, packet_time_s);
        if verdict == Verdict::Drop {
            rare.count.early_drops += 1;
            return self.refuse(DropReason::Early, size_bytes, packet);
        }
        let marked = verdict == Verdict::Mark;
        managed.push(Waiter { packet, order, size_bytes, kind, arrived: now, marked });
        self.serve(now);
        let waits = self.managed_waiting().0 as u64;
        self.rare.count.max_queue_packets = self.rare.count.max_queue_packets.max(waits);
        Ok(())
    }

    fn refuse(&mut self, reason: DropReason, size_bytes: u32, packet: P) -> Result<(), Dropped<P>> {
        self.rare.count.dropped_bytes += u64::from(size_bytes);
        Err(Dropped { reason, packet, size_bytes })
    }

    /// Packets and bytes that wait in a managed queue.
    pub(super) fn managed_waiting(&self) -> (usize, u64) {
        self.rare.managed.as_ref().map_or((0, 0), |managed| managed.waiting())
    }

    /// When the serialiser takes the next packet out of a managed queue.
    pub(super) fn next_service(&self) -> Option<Instant> {
        let waits = self.rare.state == State::Running && self.managed_waiting().0 > 0;
        waits.then(|| self.rare.serialiser.next_start(self.rare.served))
    }

    /// Sends what a managed queue has for the serialiser until `now`.
    pub(super) fn serve(&mut self, now: Instant) {
        if self.rare.managed.is_none() {
            return;
        }
        while let Some(at) = self.next_service().filter(|at| *at <= now) {
            self.rare.served = at;
            self.serve_one(at);
        }
        self.rare.served = self.rare.served.max(now);
    }

    fn serve_one(&mut self, now: Instant) {
        let rare = &mut *self.rare;
        let Some(mut managed) = rare.managed.take() else { return };
        let next = managed.pop(now, &mut |waiter| {
            rare.count.early_drops += 1;
            rare.drop_waiter(waiter, DropReason::Early);
        });
        let slot = next.as_ref().map(|waiter| rare.serialiser.accept(now, waiter.size_bytes));
        if let Some(slot) = slot {
            managed.sends_until(slot.departs);
        }
        rare.managed = Some(managed);
        let Some((Waiter { packet, order, size_bytes, marked, .. }, slot)) = next.zip(slot) else { return };
        rare.count.marked_packets += u64::from(marked);
        let fate = rare.channel.as_mut().map_or(Fate::default(), Channel::draw);
        if fate.lost {
            rare.count.lost_packets += 1;
            rare.count.dropped_bytes += u64::from(size_bytes);
            rare.dropped.push_back(Dropped { reason: DropReason::Lost, packet, size_bytes });
            return;
        }
        let tag = Tag::new(size_bytes)
            .with(Tag::DUPLICATED, fate.duplicated)
            .with(Tag::CORRUPTED, fate.corrupted)
            .with(Tag::MARKED, marked);
        let arrives = slot.departs + (rare.delay + fate.extra_delay);
        rare.launch(InFlight { departs: slot.departs, arrives, order, tag, packet });
    }

    /// An outage loses what waits.
    pub(super) fn flush_managed(&mut self) {
        let rare = &mut *self.rare;
        let Some(mut managed) = rare.managed.take() else { return };
        for waiter in managed.drain() {
            rare.count.flushed_packets += 1;
            rare.drop_waiter(waiter, DropReason::Down);
        }
        rare.managed = Some(managed);
    }
}

impl<P> super::rare::Rare<P> {
    fn drop_waiter(&mut self, waiter: Waiter<P>, reason: DropReason) {
        let Waiter { packet, size_bytes, .. } = waiter;
        self.count.dropped_bytes += u64::from(size_bytes);
        self.dropped.push_back(Dropped { reason, packet, size_bytes });
    }
}
