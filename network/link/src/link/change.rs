//! Following changes: new rate, delay or loss, going down and coming back.
use super::{DropReason, Dropped, InFlight, Link, State, Waiting};
use crate::channel::Channel;
use crate::config::{LinkChange, LinkConfig, OutagePolicy};
use crate::serialiser::Serialiser;
use alloc::boxed::Box;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant, Rate};

impl<P: Clone> Link<P> {
    /// Changes the link at `now`; see [`LinkChange`] for what that means for packets inside.
    pub fn apply(&mut self, now: Instant, change: LinkChange) {
        if now >= self.next_change {
            self.apply_due(now);
        }
        self.apply_one(now, change);
    }

    /// Applies scheduled changes up to `now`, each at its own time.
    #[cold]
    pub(super) fn apply_due(&mut self, now: Instant) {
        while let Some(next) = self.schedule.last().copied() {
            if next.at > now {
                break;
            }
            self.schedule.pop();
            self.apply_one(next.at, next.change);
        }
        self.next_change = self.schedule.last().map_or(Instant::MAX, |entry| entry.at);
    }

    fn apply_one(&mut self, now: Instant, change: LinkChange) {
        self.drain_started(now);
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
            self.setup.up = up;
        }
        self.set_limit();
        self.enter(now, self.wanted_state());
    }

    /// The state that rate and outage ask for.
    pub(super) fn wanted_state(&self) -> State {
        let stalled = self.setup.rate == Some(Rate::ZERO) && self.setup.trace_rate.is_none();
        match (self.setup.up, self.setup.outage) {
            (false, OutagePolicy::Lose) => State::Dead,
            (false, OutagePolicy::Hold) => State::Stopped,
            (true, _) if stalled => State::Stopped,
            (true, _) => State::Running,
        }
    }

    fn enter(&mut self, now: Instant, state: State) {
        let before = core::mem::replace(&mut self.state, state);
        match (before, state) {
            (State::Running, State::Stopped) => self.stop(now),
            (State::Running | State::Stopped, State::Dead) => self.flush(now),
            (State::Stopped | State::Dead, State::Running) => {
                self.serialiser.restart(now);
                self.reschedule(now);
                // The first packet is in service again and no longer waits.
                self.drain_started(now);
            }
            _ => {}
        }
    }

    fn set_loss(&mut self, loss: crate::LossModel) {
        match &mut self.channel {
            Some(channel) => channel.set_loss(loss),
            None => {
                // The streams of a channel that was perfect so far have not been drawn from.
                let config = LinkConfig { loss, ..LinkConfig::default() };
                self.channel = Some(Box::new(Channel::new(&config, self.setup.seed, &self.setup.name)));
            }
        }
    }

    /// Packets that wait travel with the new delay; the one in service and those under way with the old.
    fn set_delay(&mut self, delay: Duration) {
        let old = core::mem::replace(&mut self.delay, delay);
        if let Some(first) = self.waiting.front().map(|waiting| waiting.order) {
            for entry in self.flight.iter_mut().filter(|entry| entry.order >= first) {
                entry.travels = (entry.travels + delay) - old;
            }
            self.restore_order_of_arrival();
        }
    }

    fn set_rate(&mut self, now: Instant, rate: Rate) {
        let old = self.setup.rate.replace(rate);
        if self.setup.trace_rate.is_some() || old == Some(rate) {
            return;
        }
        if self.state != State::Running || rate == Rate::ZERO {
            // Nothing is scheduled while stopped; `enter` starts from the new rate (or stops).
            if rate != Rate::ZERO {
                self.serialiser = Serialiser::new(Some(rate), None);
            }
            return;
        }
        let in_service_until = match self.waiting.front() {
            Some(next) => next.starts,
            None => self.serialiser.busy_until(),
        };
        let Serialiser::Constant(constant) = &mut self.serialiser else {
            // From "no limit" to a rate: nothing is in service or waits.
            self.serialiser = Serialiser::new(Some(rate), None);
            return;
        };
        let now_until = constant.change(now, rate, in_service_until);
        if in_service_until > now {
            let in_service = self.in_service_order();
            for entry in self.flight.iter_mut().filter(|entry| entry.order == in_service) {
                entry.departs = now_until;
            }
        }
        self.reschedule(now);
    }

    /// The order number of the packet in service, if one is.
    fn in_service_order(&self) -> u64 {
        self.waiting.front().map_or(self.next_order, |next| next.order).wrapping_sub(1)
    }

    /// Stops the serialiser: the packet in service goes back to the head of the queue.
    fn stop(&mut self, now: Instant) {
        let in_service = self.in_service_order();
        let interrupted = self.flight.iter().find(|entry| entry.order == in_service && entry.departs > now);
        if let Some(entry) = interrupted {
            let (order, size_bytes) = (entry.order, entry.size_bytes);
            self.waiting.push_front(Waiting { starts: Instant::MAX, order, size_bytes });
            self.waiting_bytes += u64::from(size_bytes);
        }
        self.waiting.iter_mut().for_each(|waiting| waiting.starts = Instant::MAX);
        for entry in self.flight.iter_mut().filter(|entry| entry.departs > now) {
            entry.departs = Instant::MAX;
        }
        self.restore_order_of_arrival();
    }

    /// Loses everything that has not departed by `now`.
    fn flush(&mut self, now: Instant) {
        let (gone, kept): (Vec<InFlight<P>>, Vec<InFlight<P>>) =
            self.flight.drain(..).partition(|entry| entry.departs > now);
        self.flight.extend(kept);
        self.stats.outage_drops += gone.len() as u64;
        let dropped = |entry: InFlight<P>| Dropped {
            reason: DropReason::Down,
            packet: entry.packet,
            size_bytes: entry.size_bytes,
        };
        self.dropped.extend(gone.into_iter().map(dropped));
        self.waiting.clear();
        self.waiting_bytes = 0;
        self.restore_order_of_arrival();
    }

    /// Gives every waiting packet a new slot, in order, and finds the new order of arrival.
    fn reschedule(&mut self, now: Instant) {
        self.flight.make_contiguous().sort_by_key(|entry| entry.order);
        let mut flight = self.flight.iter_mut().peekable();
        for waiting in &mut self.waiting {
            let slot = self.serialiser.accept(now, waiting.size_bytes);
            waiting.starts = slot.starts;
            // A lost packet takes its turn without being in flight.
            while flight.next_if(|entry| entry.order < waiting.order).is_some() {}
            if let Some(entry) = flight.next_if(|entry| entry.order == waiting.order) {
                entry.departs = slot.departs;
            }
        }
        self.restore_order_of_arrival();
    }

    fn restore_order_of_arrival(&mut self) {
        let flight = self.flight.make_contiguous();
        if self.in_order {
            flight.sort_by_key(|entry| entry.order);
            let mut latest = Instant::ZERO;
            for entry in flight.iter_mut() {
                if entry.arrives() < latest {
                    entry.travels = latest - entry.departs;
                }
                latest = entry.arrives();
            }
        } else {
            flight.sort_by_key(|entry| (entry.arrives(), entry.order));
        }
        let stopped = |entry: &&InFlight<P>| entry.departs < Instant::MAX;
        self.last_arrival = self.flight.iter().rev().find(stopped).map_or(Instant::ZERO, InFlight::arrives);
    }
}
