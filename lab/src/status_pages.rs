//! What the daemons' status pages say in regular intervals: how many ACKs the proxies hold back for each flow, and
//! events.
use crate::daemon_events::DaemonEvents;
use crate::daemons::Daemon;
use crate::orders::FIRST_PORT;
use prismux_trace::event::{Event, EventSink, SharedLog};
use prismux_trace::results::Named;
use prismux_units::{Duration, Instant};
use serde_json::Value;
use std::net::SocketAddr;

/// What was read from the status pages of a run.
pub(super) struct StatusPages {
    interval: Option<Duration>,
    next: Instant,
    /// Names of the flows, in the order of their ports.
    flows: Vec<String>,
    samples: Named<Vec<u64>>,
    /// Where events go, and when next.
    log: Option<SharedLog>,
    next_event: Instant,
    /// By daemon.
    events: Vec<DaemonEvents>,
}

/// How often the daemons are asked for events.
const EVENT_INTERVAL: Duration = Duration::from_millis(100);

impl StatusPages {
    /// Samples every `interval`, if there is one, and more often for a log of events.
    pub fn new(
        interval: Option<Duration>,
        flows: impl Iterator<Item = String>,
        log: Option<SharedLog>,
    ) -> Self {
        let next = Instant::ZERO + interval.unwrap_or_default();
        Self {
            interval,
            next,
            flows: flows.collect(),
            samples: Named::new(),
            log,
            next_event: Instant::ZERO,
            events: Vec::new(),
        }
    }

    /// Takes the samples that are due; a proxy that does not answer holds nothing that anybody knows of.
    pub fn sample(&mut self, now: Instant, daemons: &[Daemon]) {
        let due = self.interval.filter(|_| now >= self.next);
        let mut log = self.log.as_mut().filter(|_| now >= self.next_event);
        if due.is_none() && log.is_none() {
            return;
        }
        self.events.resize(daemons.len(), DaemonEvents::default());
        let mut held = vec![0; self.flows.len()];
        for (daemon, events) in daemons.iter().zip(&mut self.events) {
            // What happens to packets of hosts that route, their air tells.
            if daemon.is_router() || !daemon.is_proxy() && log.is_none() {
                continue;
            }
            let Some(page) = daemon.status() else { continue };
            if let Some(log) = &mut log {
                events.take(now, &page, log);
            }
            for (index, count) in flows_of(&page) {
                let (Some(sum), Some(flow)) = (held.get_mut(index), self.flows.get(index)) else { continue };
                *sum += count;
                if let Some(log) = &mut log {
                    let (node, flow) = (daemon.name.as_str().into(), flow.as_str().into());
                    log.event(now, &Event::HeldChanged { node, flow, held_acks: count });
                }
            }
        }
        if log.is_some() {
            self.next_event = now + EVENT_INTERVAL;
        }
        let Some(interval) = due else { return };
        // A late sample stands for those that were missed.
        while self.next <= now {
            for (name, count) in self.flows.iter().zip(&held) {
                self.samples.entry(name.clone()).or_default().push(*count);
            }
            self.next += interval;
        }
    }

    /// Asks once more at the end of the run.
    pub fn sample_last(&mut self, now: Instant, daemons: &[Daemon]) {
        self.next_event = now;
        self.sample(now, daemons);
    }

    /// ACKs held, by flow.
    pub fn take_held_acks(&mut self) -> Named<Vec<u64>> {
        std::mem::take(&mut self.samples)
    }
}

/// Index of each flow on a proxy's status page, by the port of its server, and the ACKs held for it.
fn flows_of(page: &Value) -> impl Iterator<Item = (usize, u64)> + '_ {
    let flows = page["flows"].as_array().map_or(&[][..], Vec::as_slice);
    flows.iter().filter_map(|flow| {
        let (source, _) = flow["flow"].as_str()?.split_once(" > ")?;
        let port = source.parse::<SocketAddr>().ok()?.port();
        Some((usize::from(port.checked_sub(FIRST_PORT)?), flow["held_acks"].as_u64()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn flows_are_known_by_the_port_of_their_server() {
        let page = json!({ "flows": [
            { "flow": "10.0.0.1:5003 > 10.33.0.1:40000", "held_acks": 7 },
            { "flow": "10.0.0.1:80 > 10.33.0.1:40000", "held_acks": 9 },
            { "flow": "nonsense", "held_acks": 1 },
        ] });
        assert_eq!(flows_of(&page).collect::<Vec<_>>(), [(2, 7)]);
    }
}
