//! What applications do when their connections have news.
use super::Simulation;
use crate::endpoint::{ENDLESS, Endpoint, Notes, Role};
use crate::fabric::Target;
use crate::ids::{EndpointId, FlowId};
use prismux_tcp::Connection;
use prismux_trace::event::Event;
use prismux_units::{Duration, Instant};

/// Shares of a flow's bytes between which its steady goodput is measured: slow start and tail left out. The first one
/// counts only where no warm-up time is set.
const STEADY_FROM: f64 = 0.2;
const STEADY_TO: f64 = 0.95;

impl Simulation {
    /// Lets the application of `id` act on `notes`, and on the notes that its acts produce, until it is content.
    #[cold]
    pub(super) fn serve_application(&mut self, id: EndpointId, mut notes: Notes) {
        loop {
            let next = self.act(id, notes);
            let Endpoint::Tcp(tcp) = &self.endpoints[id.index()] else { return };
            match next {
                Some(more) if !tcp.is_quiet(&more) => notes = more,
                _ => return,
            }
        }
    }

    fn act(&mut self, id: EndpointId, notes: Notes) -> Option<Notes> {
        if self.checks {
            self.refresh_check(id);
        }
        let more = if notes.ended { None } else { self.act_on_data(id, notes) };
        let Endpoint::Tcp(tcp) = &mut self.endpoints[id.index()] else { return None };
        match notes.peer_closed && !notes.ended {
            true => Some(tcp.with_connection(&mut self.fabric, Connection::close)),
            false => more,
        }
    }

    fn act_on_data(&mut self, id: EndpointId, notes: Notes) -> Option<Notes> {
        let now = self.fabric.now;
        let Endpoint::Tcp(tcp) = &mut self.endpoints[id.index()] else { return None };
        let flow = &mut self.flows[tcp.site.flow.index()];
        let received = tcp.received();
        match &mut tcp.role {
            Role::Source { bytes } if notes.connected && *bytes < ENDLESS => {
                Some(tcp.with_connection(&mut self.fabric, Connection::close))
            }
            Role::Source { .. } => None,
            Role::Sink => {
                tcp.next_mark = flow.pass_marks(now, received);
                let id = tcp.site.flow;
                self.settle(id);
                None
            }
            Role::Server { request_bytes, response_bytes, answered } => {
                let due = received / *request_bytes - *answered;
                *answered += due;
                let bytes = due * *response_bytes;
                tcp.next_mark = (*answered + 1) * *request_bytes;
                (due > 0).then(|| tcp.with_connection(&mut self.fabric, |tcp, now| tcp.write(now, bytes)))
            }
            Role::Client(client) => {
                if client.answered == client.asked || received < client.response_bytes * client.asked {
                    return None;
                }
                client.answered = client.asked;
                flow.answers.note(now - client.asked_at);
                tcp.next_mark = u64::MAX;
                if client.answered == client.exchanges {
                    flow.finish(now);
                    let id = tcp.site.flow;
                    let notes = tcp.with_connection(&mut self.fabric, Connection::close);
                    self.settle(id);
                    return Some(notes);
                }
                self.fabric.queue.push(now + client.think, Target::Application(id));
                None
            }
        }
    }

    /// Notes the end of a flow that has come to it.
    pub(super) fn settle(&mut self, flow: FlowId) {
        if self.flows[flow.index()].take_finished() {
            self.unfinished -= 1;
            let bytes = self.delivered_bytes(flow);
            self.fabric.observe(|names| Event::FlowFinished { flow: names.flow(flow), bytes });
        }
    }

    /// A client has thought long enough.
    pub(super) fn take_application(&mut self, id: EndpointId) {
        let now = self.fabric.now;
        if self.checks {
            self.refresh_check(id);
        }
        let Endpoint::Tcp(tcp) = &mut self.endpoints[id.index()] else { return };
        let open = tcp.is_open();
        let Role::Client(client) = &mut tcp.role else { return };
        if client.asked > client.answered || !open {
            return;
        }
        client.asked += 1;
        client.asked_at = now;
        tcp.next_mark = client.asked * client.response_bytes;
        let bytes = client.request_bytes;
        let notes = tcp.with_connection(&mut self.fabric, |tcp, now| tcp.write(now, bytes));
        if !tcp.is_quiet(&notes) {
            self.serve_application(id, notes);
        }
    }
}

impl super::FlowRecord {
    /// Notes the marks that `bytes` in-order bytes have reached, and returns the next one.
    pub(crate) fn pass_marks(&mut self, now: Instant, bytes: u64) -> u64 {
        let Some(total) = self.bytes else { return u64::MAX };
        let mark = |share: f64| ((total as f64 * share) as u64).max(1);
        let (from, to) = (mark(STEADY_FROM), mark(STEADY_TO));
        if self.steady_from.is_none() && bytes >= from && !self.warms_up {
            self.steady_from = Some((now, bytes));
        }
        if self.steady_to.is_none() && bytes >= to {
            self.steady_to = Some((now, bytes));
        }
        if bytes >= total {
            self.finish(now);
        }
        [from, to, total].into_iter().find(|&mark| bytes < mark).unwrap_or(u64::MAX)
    }

    /// The flow has carried what it had to.
    pub(crate) fn finish(&mut self, now: Instant) {
        self.finished_at.get_or_insert(now);
    }

    /// True once, after the flow with an end has reached it.
    pub(crate) fn take_finished(&mut self) -> bool {
        let finished = self.counts && self.finished_at.is_some();
        self.counts &= !finished;
        finished
    }

    /// Time from start to end, or to `now`.
    pub(crate) fn active_time(&self, now: Instant) -> Duration {
        let end = self.finished_at.or(self.stopped_at).unwrap_or(now);
        self.started_at.map_or(Duration::ZERO, |start| end - start)
    }
}
