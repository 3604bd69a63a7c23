//! What happens to single packets that have numbers. Of what goes over the air nothing else tells: a packet of a flow
//! is sent when it sets out, and has arrived when it has reached its host.
use super::{Builder, OnLink};
use crate::description::Number;
use crate::packets::{Part, Step, What};
use prismux_trace::event::{EventKind, Line};

impl Builder {
    /// A packet with a number sets out.
    pub(super) fn take_origin(&mut self, line: &Line<'_>) -> Option<()> {
        let packet = line.packet.as_ref()?;
        let (number, at) = (packet.number?, self.node(&line.node)?);
        let flow = self.network.flow(packet.flow.as_ref()?)?;
        let tracker = &mut self.trackers[flow];
        let segment = packet.segment.as_ref().filter(|_| self.one_sequence[flow]);
        let part = match (segment, at == self.network.flow_ends(flow)[0]) {
            (Some(segment), true) => Part { data: tracker.data(segment), ack: None },
            (Some(segment), false) => Part { data: None, ack: tracker.ack(segment) },
            (None, _) => Part {
                data: packet.stream.map(|part| (part.offset, part.offset.saturating_add(part.bytes.into()))),
                ack: None,
            },
        };
        self.run.packets.originate(number, (flow, packet.bytes, part), line.time_ns, at);
        self.take_on_air(flow, part, line.time_ns, EventKind::PacketSent);
        Some(())
    }

    /// Data of a flow set out, arrived, or were dropped by a host.
    fn take_on_air(&mut self, flow: Number, part: Part, time: u64, event: EventKind) {
        if let Some((start, end)) = part.data {
            self.on_links[flow].push(OnLink { time, link: None, start, end, event });
        }
    }

    /// A packet has come to the host that it is for. What has come there over a link was told of before.
    fn take_arrival(&mut self, number: u64, time: u64, at: Number) {
        let Some((flow, bytes, part, last)) = self.run.packets.known(number) else { return };
        if last.what == What::Delivered {
            return;
        }
        let [from, to] = self.network.flow_ends(flow);
        let (record, tracker) = (&mut self.run.flows[flow], &mut self.trackers[flow]);
        if at == to {
            record.arrived.push(time, u64::from(bytes));
            if let Some((start, end)) = part.data {
                tracker.received.insert(start, end);
                record.waiting.push(time, tracker.received.beyond_gap());
            }
            self.take_on_air(flow, part, time, EventKind::PacketDelivered);
        } else if let (true, Some(ack)) = (at == from, part.ack) {
            tracker.acknowledged = tracker.acknowledged.max(ack);
            record.acknowledged.push(time, tracker.acknowledged);
        }
    }

    /// Something else happens to a packet of which its number is told.
    pub(super) fn take_step(&mut self, line: &Line<'_>) {
        let what = match line.event {
            EventKind::FrameLost => What::Lost,
            EventKind::PacketQueued => What::Queued,
            _ => What::Arrived,
        };
        let at = self.node(&line.node).or_else(|| self.node(&line.from));
        if let (Some(at), Some(number)) = (at, line.number) {
            if what == What::Arrived {
                self.take_arrival(number, line.time_ns, at);
            }
            let (to, cause) = (self.node(&line.to), line.cause.as_ref().map(ToString::to_string));
            self.run.packets.step(number, Step { to, cause, ..Step::new(line.time_ns, what, at) });
        }
    }

    /// A packet with a number is on a link, or goes no further.
    pub(super) fn take_hop(&mut self, line: &Line<'_>) {
        let Some(number) = line.packet.as_ref().and_then(|packet| packet.number) else { return };
        let link = line.link.as_ref().or(line.at.as_ref()).and_then(|name| self.network.link(name));
        let (what, at) = match line.event {
            EventKind::PacketSent => (What::Sent, self.node(&line.from)),
            EventKind::PacketDelivered => (What::Delivered, self.node(&line.to)),
            _ => (What::Dropped, self.node(&line.from).or_else(|| self.node(&line.at))),
        };
        if let Some(at) = at {
            let known = self.run.packets.known(number).map(|(flow, _, part, _)| (flow, part));
            if let (What::Dropped, None, Some((flow, part))) = (what, link, known) {
                self.take_on_air(flow, part, line.time_ns, EventKind::PacketDropped);
            }
            let to = link.filter(|_| what == What::Sent).map(|link| self.network.opposite(link, at));
            let cause = line.reason.map(|reason| reason.name().to_string());
            self.run.packets.step(number, Step { to, link, cause, ..Step::new(line.time_ns, what, at) });
        }
    }
}
