//! The variables of a link that ADAS goes by: NIP, hRTT, W and N (section IV-D), of all flows or of one.
use crate::ids::LinkId;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// What the papers' link-state table holds of a link (section IV-D; NIP follows from N and W), and what our rules by
/// age need beside it. Of all flows, or of the one that is being handled ([`crate::ProxyConfig::link_state`]).
#[derive(Debug, Clone)]
pub struct LinkVariables {
    /// Current weight W.
    pub weight: f64,
    /// Weight W0 without losses.
    pub full_weight: f64,
    /// Packets in flight N.
    pub in_flight_packets: u32,
    /// Bytes of sequence space in flight.
    pub in_flight_bytes: u64,
    pub(super) hrtt: Option<Duration>,
    pub(super) last_rtt: Option<Duration>,
    pub(super) hrtt_updated: Instant,
    recent_max: [Duration; 2],
    recent_since: Instant,
    halved_until: Instant,
}

impl LinkVariables {
    /// Of a link that has carried nothing yet.
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            weight: 1.0,
            full_weight: 1.0,
            in_flight_packets: 0,
            in_flight_bytes: 0,
            hrtt: None,
            last_rtt: None,
            hrtt_updated: now,
            recent_max: [Duration::ZERO; 2],
            recent_since: now,
            halved_until: Instant::ZERO,
        }
    }

    /// Nothing is known any more but W0.
    pub(super) fn renew(&mut self) {
        let Self { full_weight, recent_since, .. } = *self;
        *self = Self { weight: full_weight, full_weight, ..Self::new(recent_since) };
    }

    /// Smoothed round-trip time without ageing; `None` before the first sample.
    pub const fn smoothed_rtt(&self) -> Option<Duration> {
        self.hrtt
    }

    /// Largest round-trip time of the last few hRTT; `None` before the first sample.
    pub(super) fn recent_max_rtt(&self) -> Option<Duration> {
        self.hrtt.map(|_| self.recent_max[0].max(self.recent_max[1]))
    }

    /// A measured round-trip time.
    pub(super) fn on_rtt(&mut self, now: Instant, sample: Duration, gain: f64) {
        let smoothed = match self.hrtt {
            None => sample,
            Some(old) => {
                let (old, new) = (old.as_nanos() as f64, sample.as_nanos() as f64);
                Duration::from_nanos((old + gain * (new - old)) as u64)
            }
        };
        self.hrtt = Some(smoothed);
        self.last_rtt = Some(sample);
        self.hrtt_updated = now;
        let span = (smoothed * 4).max(Duration::from_secs(1));
        if now.saturating_since(self.recent_since) > span {
            self.recent_max = [sample, self.recent_max[0]];
            self.recent_since = now;
        }
        self.recent_max[0] = self.recent_max[0].max(sample);
    }

    /// W0 changes, the present share `W / W0` does not, unless the weight would fall below `floor`.
    pub(super) fn set_full_weight(&mut self, full: f64, floor: f64) {
        self.weight = (full * self.weight / self.full_weight).max(floor.min(full)).min(full);
        self.full_weight = full;
    }

    /// See [`super::Link::grow_weight`].
    pub(super) fn grow_weight(&mut self) {
        if self.weight < self.full_weight {
            self.weight = (self.weight + 1.0 / self.weight).min(self.full_weight);
        }
    }

    /// See [`super::Link::halve_weight`].
    pub(super) fn halve_weight(&mut self, now: Instant, floor: f64) -> bool {
        if now < self.halved_until {
            return false;
        }
        self.weight = (self.weight / 2.0).max(floor).min(self.full_weight);
        self.halved_until = now + self.hrtt.unwrap_or(Duration::ZERO);
        true
    }

    /// A packet of `bytes` goes out here.
    pub(super) fn on_scheduled(&mut self, bytes: u32) {
        self.in_flight_packets += 1;
        self.in_flight_bytes += u64::from(bytes);
    }

    /// A packet of `bytes` is no longer in flight here.
    pub(super) fn on_departed(&mut self, bytes: u32) {
        self.in_flight_packets = self.in_flight_packets.saturating_sub(1);
        self.in_flight_bytes = self.in_flight_bytes.saturating_sub(u64::from(bytes));
    }
}

/// The link-state table of one flow, where each has its own.
///
/// While a flow is handled, its variables stand in the table of links, and those that a new flow begins with wait here:
/// whoever looks at a link then sees it as the flow does.
#[derive(Debug, Default)]
pub(crate) struct FlowVariables {
    /// By number of the link; as many as there were when the flow was last handled.
    links: Vec<LinkVariables>,
    /// Bytes that the flow has in flight on the links that are up.
    in_flight_bytes: u64,
}

impl FlowVariables {
    /// Those of a link that the flow knows.
    pub(crate) fn get(&self, id: LinkId) -> Option<&LinkVariables> {
        self.links.get(usize::from(id.0))
    }

    /// Puts these in the place of those of a table, by number, `None` for one that has never joined. A second time puts
    /// all back.
    pub(super) fn exchange<'a>(
        &mut self,
        table: impl Iterator<Item = Option<&'a mut LinkVariables>>,
        in_flight_bytes: &mut u64,
    ) {
        for (index, there) in table.enumerate() {
            match (self.links.get_mut(index), there) {
                (Some(own), Some(there)) => core::mem::swap(own, there),
                (None, Some(there)) => self.links.push(there.clone()),
                (Some(_), None) => {}
                // A place is all it needs: what stands there is replaced when the link joins.
                (None, None) => self.links.push(LinkVariables::new(Instant::ZERO)),
            }
        }
        core::mem::swap(&mut self.in_flight_bytes, in_flight_bytes);
    }

    /// The rates of links have changed, so weights follow; of `joined`, which is new or has been away, the flow knows
    /// nothing. `up` are the links that are up, and what a new flow begins with.
    pub(super) fn follow<'a>(
        &mut self,
        up: impl Iterator<Item = (LinkId, &'a LinkVariables)>,
        joined: Option<LinkId>,
        floor: f64,
    ) {
        self.in_flight_bytes = 0;
        for (id, new) in up {
            let Some(own) = self.links.get_mut(usize::from(id.0)) else { continue };
            if joined == Some(id) {
                *own = new.clone();
            } else {
                own.set_full_weight(new.full_weight, floor);
            }
            self.in_flight_bytes += own.in_flight_bytes;
        }
    }

    /// Bytes of memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.links.capacity() * size_of::<LinkVariables>()
    }
}

#[cfg(test)]
mod tests;
