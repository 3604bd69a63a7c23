//! Updates of neighbours, and neighbours that are lost.
use crate::dsdv::Dsdv;
use crate::table::Route;
use crate::update::{Advertised, DsdvHeader, INFINITE_METRIC};
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_routing::{Packet, RoutingEvent};
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

impl<P> Dsdv<P> {
    /// Takes an update of the neighbour `from`.
    pub(crate) fn learn(&mut self, now: Instant, from: Ipv4Addr, entries: &[Advertised]) {
        for entry in entries {
            if entry.destination == self.address {
                self.contradict(now, entry);
            } else if !entry.destination.is_broadcast() {
                self.consider(now, from, entry);
            }
        }
        self.hear(now, from);
    }

    /// Somebody says that this host is out of reach: it has the last word about itself.
    fn contradict(&mut self, now: Instant, entry: &Advertised) {
        if entry.metric >= INFINITE_METRIC {
            if !entry.seq.before(self.seq) {
                self.seq = SeqNumber(entry.seq.0 & !1);
            }
            self.next_full_update = now;
        }
    }

    /// Takes a route that is newer, or shorter under the same number.
    fn consider(&mut self, now: Instant, from: Ipv4Addr, entry: &Advertised) {
        let metric = if entry.metric < INFINITE_METRIC { entry.metric + 1 } else { INFINITE_METRIC };
        let metric = metric.min(INFINITE_METRIC);
        let Some(old) = self.table.get(entry.destination) else {
            if metric < INFINITE_METRIC {
                self.adopt_first(now, from, entry, metric);
            }
            return;
        };
        let was_reachable = old.is_reachable();
        let (is_newer, is_same) = (entry.seq.after(old.seq), entry.seq == old.seq);
        let is_better = is_newer || is_same && metric < old.metric;
        if !is_better {
            if !is_same && metric == INFINITE_METRIC && was_reachable {
                self.teach(now, entry.destination);
            }
            return;
        }
        let mut route = old.clone();
        if is_newer {
            let measured = old.changed_at.saturating_since(old.new_seq_at);
            route.settling_time = self.average(old.settling_time, measured);
            route.new_seq_at = now;
            route.is_seq_untold = true;
        }
        let has_metric_changed = metric != old.last_told_metric;
        route.is_metric_untold = has_metric_changed;
        (route.next_hop, route.metric, route.seq, route.changed_at) = (from, metric, entry.seq, now);
        route.tell_from = self.tell_from(now, old, &route);
        let is_significant = has_metric_changed && (is_same || !self.config.new_number_delays);
        if is_significant || is_newer && self.config.trigger_on_sequence_number {
            route.trigger_at = Some(route.tell_from);
        } else if is_same {
            route.trigger_at = None;
        }
        self.table.set(entry.destination, route);
        if metric < INFINITE_METRIC {
            self.release(entry.destination);
        }
    }

    /// From when on `new`, which replaces `old`, may be told: breaks and what mends them at once, other routes once
    /// they have settled.
    fn tell_from(&self, now: Instant, old: &Route, new: &Route) -> Instant {
        if !new.is_reachable() || !old.is_reachable() {
            return now;
        }
        let is_as_before = new.seq != old.seq && (new.next_hop, new.metric) == (old.next_hop, old.metric);
        if is_as_before && !self.config.new_number_delays {
            return old.tell_from.max(now);
        }
        now + new.settling_time * 2
    }

    /// A destination that was not known.
    fn adopt_first(&mut self, now: Instant, from: Ipv4Addr, entry: &Advertised, metric: u32) {
        let settling_time = self.config.first_settling_time;
        let tell_from = now + settling_time * 2;
        let route = Route {
            next_hop: from,
            metric,
            seq: entry.seq,
            changed_at: now,
            new_seq_at: now,
            settling_time,
            tell_from,
            is_seq_untold: false,
            is_metric_untold: true,
            last_told_metric: INFINITE_METRIC,
            trigger_at: Some(tell_from),
            silent_at: None,
        };
        self.table.set(entry.destination, route);
        self.release(entry.destination);
    }

    /// A neighbour believes under an older number that `destination` is out of reach: it is told otherwise at once.
    fn teach(&mut self, now: Instant, destination: Ipv4Addr) {
        if let Some(route) = self.table.get_mut(destination) {
            route.tell_from = now;
            route.is_metric_untold = true;
            route.trigger_at = Some(now);
        }
    }

    fn average(&self, settling_time: Duration, measured: Duration) -> Duration {
        let weight = self.config.settling_weight_eighths.min(8);
        (settling_time * weight + measured * (8 - weight)) / 8
    }

    /// The neighbour `from` is there: it may be silent for so many updates. One that has not told of itself is known
    /// under the number 0, which it beats with its first own word.
    fn hear(&mut self, now: Instant, from: Ipv4Addr) {
        let silent_at = now + self.config.update_interval * u64::from(self.config.missed_updates);
        match self.table.get_mut(from) {
            Some(route) => route.silent_at = Some(silent_at),
            None => {
                let route = Route {
                    next_hop: from,
                    metric: 1,
                    seq: SeqNumber(0),
                    changed_at: now,
                    new_seq_at: now,
                    settling_time: self.config.first_settling_time,
                    tell_from: Instant::MAX,
                    is_seq_untold: false,
                    is_metric_untold: false,
                    last_told_metric: INFINITE_METRIC,
                    trigger_at: None,
                    silent_at: Some(silent_at),
                };
                self.table.set(from, route);
                self.release(from);
            }
        }
    }

    /// Neighbours that have been silent for too long are gone.
    pub(crate) fn notice_silence(&mut self, now: Instant) {
        let is_silent = |route: &Route| route.silent_at.is_some_and(|at| at <= now);
        let silent: Vec<Ipv4Addr> =
            self.table.iter().filter(|(_, route)| is_silent(route)).map(|(neighbour, _)| neighbour).collect();
        for neighbour in silent {
            self.lose(now, neighbour);
        }
    }

    fn lose(&mut self, now: Instant, neighbour: Ipv4Addr) {
        self.outbox.statistics.link_failures += 1;
        self.outbox.tell(RoutingEvent::LinkBroken { neighbour });
        self.table.break_link(now, neighbour);
    }

    /// The MAC layer gave up sending `packet` to `neighbour`.
    pub(crate) fn link_failed(&mut self, now: Instant, neighbour: Ipv4Addr, packet: Packet<DsdvHeader, P>) {
        if self.config.link_layer_feedback {
            self.lose(now, neighbour);
        }
        self.send_again(packet);
    }
}
