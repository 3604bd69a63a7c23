//! What happened to each numbered packet on its way from host to host.
use crate::description::Number;
use serde::Serialize;
use std::collections::BTreeMap;

/// The ways of all packets of a run that have numbers.
#[derive(Debug, Default)]
pub struct PacketRecord {
    /// By number of the packet.
    packets: BTreeMap<u64, Packet>,
    /// By flow: its packets in the order of setting out.
    of_flow: BTreeMap<Number, Vec<u64>>,
}

/// A packet: what it is, and what happened to it, in order of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Packet {
    flow: Number,
    /// Its place among the packets of the flow.
    place: usize,
    bytes: u32,
    #[serde(flatten)]
    part: Part,
    steps: Vec<Step>,
}

/// What a packet is to the flow's stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Part {
    /// The bytes of the stream in it.
    pub data: Option<(u64, u64)>,
    /// What it acknowledges.
    pub ack: Option<u64>,
}

/// One thing that happened to a packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Step {
    /// When, in nanoseconds.
    pub t: u64,
    /// What.
    pub what: What,
    /// The host where it happened: of frames and links the sender.
    pub at: Number,
    /// The neighbour, of a frame for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Number>,
    /// The link, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Number>,
    /// How long a frame lasted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub airtime_ns: Option<u64>,
    /// Why it was lost or dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// What can happen to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    /// It sets out.
    Originated,
    /// It waits for a medium.
    Queued,
    /// A frame with it begins, or it is given to a link.
    Sent,
    /// A frame asks the neighbour whether it may be sent.
    Asked,
    /// The frame did not become one at the neighbour, or was not answered.
    Lost,
    /// It comes out of a link.
    Delivered,
    /// It reaches the host that it is for.
    Arrived,
    /// It goes no further.
    Dropped,
}

/// The way of one packet, and its neighbours among the packets of its flow.
#[derive(Debug, Serialize)]
pub(crate) struct Way<'a> {
    number: u64,
    #[serde(flatten)]
    packet: &'a Packet,
    before: Option<u64>,
    after: Option<u64>,
}

impl Step {
    /// A step without neighbour, link or cause.
    pub const fn new(t: u64, what: What, at: Number) -> Self {
        Self { t, what, at, to: None, link: None, airtime_ns: None, cause: None }
    }
}

impl PacketRecord {
    /// Whether no packet has a number.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// A packet of a flow sets out from a host.
    pub(crate) fn originate(
        &mut self,
        number: u64,
        (flow, bytes, part): (Number, u32, Part),
        time_ns: u64,
        at: Number,
    ) {
        let numbers = self.of_flow.entry(flow).or_default();
        let steps = vec![Step::new(time_ns, What::Originated, at)];
        let packet = Packet { flow, place: numbers.len(), bytes, part, steps };
        if self.packets.insert(number, packet).is_none() {
            numbers.push(number);
        }
    }

    /// Something happens to a packet that has set out.
    pub(crate) fn step(&mut self, number: u64, step: Step) {
        if let Some(packet) = self.packets.get_mut(&number) {
            packet.steps.push(step);
        }
    }

    /// What happened to a packet.
    pub(crate) fn way(&self, number: u64) -> Option<Way<'_>> {
        let packet = self.packets.get(&number)?;
        let numbers = &self.of_flow[&packet.flow];
        let before = packet.place.checked_sub(1).map(|place| numbers[place]);
        Some(Way { number, packet, before, after: numbers.get(packet.place + 1).copied() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_has_its_steps_and_its_neighbours_in_the_flow() {
        let mut record = PacketRecord::default();
        for (number, flow) in [(3, 0), (4, 1), (9, 0)] {
            let part = Part { data: Some((number, number + 1)), ack: None };
            record.originate(number, (flow, 100, part), number, 7);
        }
        record.step(3, Step { cause: Some("collision".into()), to: Some(8), ..Step::new(5, What::Lost, 7) });
        record.step(5, Step::new(6, What::Arrived, 8));
        let way = record.way(3).unwrap();
        assert_eq!((way.before, way.after), (None, Some(9)));
        let told: serde_json::Value = serde_json::to_value(&way).unwrap();
        assert_eq!(told["data"], serde_json::json!([3, 4]));
        assert_eq!(
            told["steps"][1],
            serde_json::json!({ "t": 5, "what": "lost", "at": 7, "to": 8, "cause": "collision" })
        );
        assert_eq!(record.way(9).unwrap().before, Some(3));
        assert!(record.way(5).is_none(), "it never set out");
    }
}
