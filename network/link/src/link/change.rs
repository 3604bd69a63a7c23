//! Following changes: new rate, delay or loss, going down and coming back.
use super::rare::{State, Waiting};
use super::{DropReason, Dropped, InFlight, Link};
use crate::LossModel;
use crate::channel::Channel;
use crate::config::{LinkChange, LinkConfig};
use crate::serialiser::Serialiser;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant, Rate};

impl<P: Clone> Link<P> {
    /// Changes the link at `now`; see [`LinkChange`] for what that means for packets inside.
    pub fn apply(&mut self, now: Instant, change: LinkChange) {
        self.make_special(now);
        self.apply_due(now);
        self.serve(now);
        self.apply_one(now, change);
        self.serve(now);
    }

    /// Applies scheduled changes up to `now`, each at its own time.
    pub(super) fn apply_due(&mut self, now: Instant) {
        while self.rare.next_change().is_some_and(|at| at <= now) {
            if let Some(due) = self.rare.schedule.pop() {
                self.serve(due.at);
                self.apply_one(due.at, due.change);
            }
        }
    }

    fn apply_one(&mut self, now: Instant, change: LinkChange) {
        self.rare.drain_started(now);
        if let Some(loss) = change.loss {
            self.set_loss(loss);
        }
        if let Some(delay) = change.delay {
            self.set_delay(delay);
        }
        if let Some(rate) = change.rate {
            self.set_rate(now, rate);
        }
        if let Some(up) = change.up {
            self.rare.up = up;
        }
        self.rare.set_limit();
        self.enter(now, self.rare.wanted_state());
    }

    fn enter(&mut self, now: Instant, state: State) {
        if state == State::Dead {
            self.flush_managed();
        }
        let before = core::mem::replace(&mut self.rare.state, state);
        match (before, state) {
            (State::Running, State::Stopped) => self.stop(now),
            (State::Running | State::Stopped, State::Dead) => self.flush(now),
            (State::Stopped | State::Dead, State::Running) => {
                self.rare.serialiser.restart(now);
                self.reschedule(now);
                // The first packet is in service again and no longer waits.
                self.rare.drain_started(now);
            }
            _ => {}
        }
    }

    fn set_loss(&mut self, loss: LossModel) {
        let rare = &mut *self.rare;
        match &mut rare.channel {
            Some(channel) => channel.set_loss(loss),
            None => {
                // The streams of a channel that was perfect so far have not been drawn from.
                let config = LinkConfig { loss, ..LinkConfig::default() };
                rare.channel = Some(Channel::new(&config, rare.seed, &rare.name));
            }
        }
    }

    /// Packets that wait travel with the new delay; the one in service and those under way with the old.
    fn set_delay(&mut self, delay: Duration) {
        let old = core::mem::replace(&mut self.rare.delay, delay);
        let Some(first) = self.rare.waiting.front().map(|waiting| waiting.order) else { return };
        self.with_flight(|flight| {
            for entry in flight.iter_mut().filter(|entry| is_not_before(entry.order, first)) {
                if entry.departs < Instant::MAX {
                    entry.arrives = entry.departs + (((entry.arrives - entry.departs) + delay) - old);
                }
            }
        });
    }

    fn set_rate(&mut self, now: Instant, rate: Rate) {
        let rare = &mut *self.rare;
        let old = rare.rate.replace(rate);
        if rare.trace_rate.is_some() || old == Some(rate) {
            return;
        }
        if rare.state != State::Running || rate == Rate::ZERO {
            // Nothing is scheduled while stopped; `enter` starts from the new rate (or stops).
            if rate != Rate::ZERO {
                rare.serialiser = Serialiser::new(Some(rate), None);
            }
            return;
        }
        let until = rare.waiting.front().map_or(rare.serialiser.busy_until(), |next| next.starts);
        let Serialiser::Constant(constant) = &mut rare.serialiser else {
            // From "no limit" to a rate: nothing is in service or waits.
            rare.serialiser = Serialiser::new(Some(rate), None);
            return;
        };
        let now_until = constant.change(now, rate, until);
        if until > now {
            let first_waiting = self.first_waiting();
            self.with_flight(|flight| {
                for entry in flight.iter_mut().filter(|entry| entry.in_service(now, first_waiting)) {
                    let travels = entry.arrives - entry.departs;
                    (entry.departs, entry.arrives) = (now_until, now_until + travels);
                }
            });
        }
        self.reschedule(now);
    }

    /// An order number not above any in use: the origin for comparisons, since order numbers wrap.
    fn oldest_order(&self) -> u32 {
        self.accepted.wrapping_sub(1 << 31)
    }

    /// The order number of the first packet that waits, or of the next to come.
    fn first_waiting(&self) -> u32 {
        self.rare.waiting.front().map_or(self.accepted, |next| next.order)
    }

    /// Stops the serialiser: the packet in service goes back to the head of the queue.
    fn stop(&mut self, now: Instant) {
        let first_waiting = self.first_waiting();
        let interrupted = self.rare.flight.iter().find(|entry| entry.in_service(now, first_waiting));
        if let Some(entry) = interrupted {
            let (order, size_bytes) = (entry.order, entry.tag.size_bytes());
            self.rare.waiting.push_front(Waiting { starts: Instant::MAX, order, size_bytes });
            self.rare.waiting_bytes += u64::from(size_bytes);
        }
        self.rare.waiting.iter_mut().for_each(|waiting| waiting.starts = Instant::MAX);
        self.with_flight(|flight| {
            for entry in flight.iter_mut().filter(|entry| entry.departs > now) {
                (entry.departs, entry.arrives) = (Instant::MAX, Instant::MAX);
            }
        });
    }

    /// Loses everything that has not departed by `now`.
    fn flush(&mut self, now: Instant) {
        let mut gone = Vec::new();
        self.with_flight(|flight| {
            let (lost, kept): (Vec<_>, Vec<_>) = flight.drain(..).partition(|entry| entry.departs > now);
            gone = lost;
            flight.extend(kept);
        });
        let rare = &mut *self.rare;
        rare.count.flushed_packets += gone.len() as u64;
        for InFlight { packet, tag, .. } in gone {
            let size_bytes = tag.size_bytes();
            rare.count.dropped_bytes += u64::from(size_bytes);
            rare.dropped.push_back(Dropped { reason: DropReason::Down, packet, size_bytes });
        }
        rare.waiting.clear();
        rare.waiting_bytes = 0;
    }

    /// Gives every waiting packet a new slot, in order, and finds the new order of arrival. A packet that was
    /// stopped gets the present delay; its jitter is forgotten.
    fn reschedule(&mut self, now: Instant) {
        let mut waiting = core::mem::take(&mut self.rare.waiting);
        let mut slots = Vec::with_capacity(waiting.len());
        for waiting in &mut waiting {
            let slot = self.rare.serialiser.accept(now, waiting.size_bytes);
            waiting.starts = slot.starts;
            slots.push((waiting.order, slot.departs));
        }
        self.rare.waiting = waiting;
        let (delay, oldest) = (self.rare.delay, self.oldest_order());
        let mut slots = slots.into_iter().peekable();
        self.with_flight(|flight| {
            flight.sort_by_key(|entry| entry.order.wrapping_sub(oldest));
            for entry in flight {
                // A lost packet takes its turn without being in flight.
                while slots
                    .next_if(|&(order, _)| order != entry.order && is_not_before(entry.order, order))
                    .is_some()
                {}
                if let Some((_, departs)) = slots.next_if(|&(order, _)| order == entry.order) {
                    let stopped = entry.departs == Instant::MAX;
                    let travels = if stopped { delay } else { entry.arrives - entry.departs };
                    (entry.departs, entry.arrives) = (departs, departs + travels);
                }
            }
        });
    }

    /// Lets `action` change all packets under way, then puts them back in order of arrival.
    fn with_flight(&mut self, action: impl FnOnce(&mut Vec<InFlight<P>>)) {
        let oldest = self.oldest_order();
        let mut flight: Vec<_> = core::mem::take(&mut self.rare.flight).into();
        action(&mut flight);
        if self.rare.in_order {
            flight.sort_by_key(|entry| entry.order.wrapping_sub(oldest));
            let mut latest = Instant::ZERO;
            for entry in &mut flight {
                entry.arrives = entry.arrives.max(latest);
                latest = entry.arrives;
            }
        } else {
            flight.sort_by_key(|entry| (entry.arrives, entry.order.wrapping_sub(oldest)));
        }
        let moving = |entry: &&InFlight<P>| entry.arrives < Instant::MAX;
        self.rare.last_arrival =
            flight.iter().rev().find(moving).map_or(Instant::ZERO, |entry| entry.arrives);
        self.rare.flight = flight.into();
    }
}

impl<P> InFlight<P> {
    /// Being sent at `now`, where packets from `first_waiting` on wait.
    fn in_service(&self, now: Instant, first_waiting: u32) -> bool {
        self.departs > now && !is_not_before(self.order, first_waiting)
    }
}

/// Compares order numbers, which wrap; those in use at one time lie close together.
fn is_not_before(order: u32, other: u32) -> bool {
    order.wrapping_sub(other) < 1 << 31
}
