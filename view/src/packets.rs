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

impl What {
    /// All, in order: an exported step names its own by its place here.
    const ALL: [Self; 8] = [
        Self::Originated,
        Self::Queued,
        Self::Sent,
        Self::Asked,
        Self::Lost,
        Self::Delivered,
        Self::Arrived,
        Self::Dropped,
    ];
}

/// Ways to be put into a page.
#[derive(Debug, Serialize)]
pub(crate) struct Exported {
    /// Of so many packets of a flow one is here.
    one_in: usize,
    /// What steps name by number.
    kinds: [What; 8],
    /// Likewise.
    causes: Vec<String>,
    /// In the order of setting out within each flow.
    ways: Vec<ExportedWay>,
}

/// Number, flow, bytes, bytes of the stream in it, what it acknowledges, time of the first step, steps.
type ExportedWay = (u64, Number, u32, Option<(u64, u64)>, Option<u64>, u64, Vec<ExportedStep>);

/// Time since the first step, place among the kinds, host, neighbour, link, length of a frame, cause: what is not there
/// at the end of the list is left out.
type ExportedStep = Vec<Option<u64>>;

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

impl Packet {
    /// As it stands in a page; `causes` grows by those that it names first.
    fn exported(&self, number: u64, causes: &mut Vec<String>) -> ExportedWay {
        let first = self.steps.first().map_or(0, |step| step.t);
        let mut place = |cause: &String| {
            let known = causes.iter().position(|other| other == cause);
            known.unwrap_or_else(|| {
                causes.push(cause.clone());
                causes.len() - 1
            })
        };
        let mut exported = |step: &Step| -> ExportedStep {
            let kind = What::ALL.iter().position(|what| *what == step.what);
            let number = |number: Option<usize>| number.map(|number| number as u64);
            let mut columns = vec![
                Some(step.t - first),
                number(kind),
                number(Some(step.at)),
                number(step.to),
                number(step.link),
                step.airtime_ns,
                number(step.cause.as_ref().map(&mut place)),
            ];
            let last = columns.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            columns.truncate(last);
            columns
        };
        let steps = self.steps.iter().map(&mut exported).collect();
        (number, self.flow, self.bytes, self.part.data, self.part.ack, first, steps)
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

    /// The flow of a packet that has set out, its bytes, what it is to the flow's stream, and what happened to it last.
    pub(crate) fn known(&self, number: u64) -> Option<(Number, u32, Part, &Step)> {
        let packet = self.packets.get(&number)?;
        Some((packet.flow, packet.bytes, packet.part, packet.steps.last()?))
    }

    /// Something happens to a packet that has set out.
    pub(crate) fn step(&mut self, number: u64, step: Step) {
        if let Some(packet) = self.packets.get_mut(&number) {
            packet.steps.push(step);
        }
    }

    /// The ways of packets of the first `flows`, evenly spread: all, or one in as many as it takes for their text to
    /// stay within `max_bytes`.
    pub(crate) fn export(&self, flows: usize, max_bytes: usize) -> Exported {
        let mut causes = Vec::new();
        let all: Vec<Vec<(usize, ExportedWay)>> = self
            .of_flow
            .range(..flows)
            .map(|(_, numbers)| {
                let ways = numbers.iter().filter_map(|number| {
                    let way = self.packets[number].exported(*number, &mut causes);
                    Some((serde_json::to_string(&way).ok()?.len() + 1, way))
                });
                ways.collect()
            })
            .collect();
        let text_bytes = |one_in: usize| -> usize {
            all.iter().flat_map(|ways| ways.iter().step_by(one_in)).map(|(bytes, _)| bytes).sum()
        };
        let mut one_in = text_bytes(1).div_ceil(max_bytes.max(1)).max(1);
        while text_bytes(one_in) > max_bytes && one_in < self.packets.len() {
            one_in += 1;
        }
        let kept = all.into_iter().flat_map(|ways| ways.into_iter().step_by(one_in)).map(|(_, way)| way);
        Exported { one_in, kinds: What::ALL, causes, ways: kept.collect() }
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

    #[test]
    fn a_page_has_all_ways_or_as_many_as_it_may_hold() {
        let mut record = PacketRecord::default();
        for number in 0..1000 {
            let part = Part { data: Some((number, number + 1)), ack: None };
            record.originate(number, ((number % 2) as Number, 100, part), 10 * number, 7);
            let lost = Step {
                to: Some(8),
                cause: Some("collision".into()),
                ..Step::new(10 * number + 4, What::Lost, 7)
            };
            record.step(number, lost);
        }
        let all = record.export(2, 1 << 20);
        assert_eq!((all.one_in, all.ways.len(), all.causes.len()), (1, 1000, 1));
        let told = serde_json::to_value(&all).unwrap();
        assert_eq!(told["kinds"][4], "lost");
        let steps = serde_json::json!([[0, 0, 7], [4, 4, 7, 8, null, null, 0]]);
        assert_eq!(told["ways"][1], serde_json::json!([2, 0, 100, [2, 3], null, 20, steps]));
        let first_flow = record.export(1, 1 << 20);
        assert_eq!(first_flow.ways.len(), 500);
        let bounded = record.export(2, 10_000);
        let text = serde_json::to_string(&bounded.ways).unwrap();
        assert!((8000..10_000).contains(&text.len()), "{} bytes", text.len());
        let numbers: Vec<u64> = bounded.ways.iter().map(|way| way.0).collect();
        let step = 2 * bounded.one_in as u64;
        assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + step || pair[1] == 1), "{numbers:?}");
    }
}
