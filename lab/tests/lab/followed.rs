//! Packets that a record follows from host to host.
use crate::plans::{recorded_steadily, seconds};
use crate::radio::{line, routing};
use prismux_lab::LabOutcome;
use prismux_plan::{Flow, Traffic, Transport};
use prismux_trace::event::{Event, Packet, Record};
use prismux_units::{ByteCount, Rate};
use std::collections::{BTreeMap, BTreeSet};

/// What was told of one packet.
#[derive(Debug, Clone, Default)]
pub struct Way {
    pub flow: String,
    /// For TCP: sequence number and payload bytes.
    segment: Option<(u32, u32)>,
    origin: Option<String>,
    /// Hosts and links that it has come to, in order of time, each hop once.
    pub hops: Vec<String>,
    /// Data frames from host to host, and how many of them were lost.
    frames: BTreeMap<(String, String), [u64; 2]>,
    pub arrived: Vec<String>,
    dropped: usize,
}

impl Way {
    /// It is at a host from now on.
    fn reaches(&mut self, host: &str) {
        if !self.hops.iter().any(|known| known == host) {
            self.hops.push(host.to_owned());
        }
    }

    fn has_been_at(&self, host: &str) -> bool {
        let came = |((_, to), [sent, lost]): (&(String, String), &[u64; 2])| to == host && sent > lost;
        self.hops.iter().any(|known| known == host) || self.frames.iter().any(came)
    }

    /// Hosts on its way, if it has arrived.
    pub fn is_over(&self, hops: &[&str]) -> bool {
        self.arrived.len() == 1 && self.hops == hops
    }
}

/// The ways of all packets with a number. Fails when one is somewhere without having come there.
pub fn ways(events: &[Record<'static>]) -> BTreeMap<u64, Way> {
    let mut ways: BTreeMap<u64, Way> = BTreeMap::new();
    let mut events: Vec<&Record<'_>> = events.iter().collect();
    events.sort_by_key(|record| record.time_ns);
    for record in events {
        match &record.event {
            Event::PacketOriginated { node, packet } => {
                let way = ways.entry(packet.number.expect("a number")).or_default();
                assert!(way.origin.is_none(), "it sets out once: {way:?}");
                way.flow = packet.flow.as_deref().expect("a flow").to_owned();
                way.segment = packet.segment.as_ref().map(|segment| (segment.seq, segment.payload_bytes));
                way.origin = Some(node.to_string());
                way.reaches(node);
            }
            Event::PacketQueued { node, number } => {
                let way = ways.get_mut(number).expect("it has set out");
                assert!(way.has_been_at(node), "{number} waits at {node}: {way:?}");
                way.reaches(node);
            }
            Event::FrameSent { from, to: Some(to), kind, flow: Some(_), number, .. } if kind == "data" => {
                let way = ways.get_mut(&number.expect("a number")).expect("it has set out");
                assert!(way.hops.iter().any(|host| host == from), "{from} has it: {way:?}");
                way.frames.entry((from.to_string(), to.to_string())).or_default()[0] += 1;
            }
            Event::FrameLost { from, to, number, .. } => {
                let frames = &mut ways.get_mut(number).expect("it has set out").frames;
                // Requests to send get lost too, before any frame.
                if let Some(frames) = frames.get_mut(&(from.to_string(), to.to_string())) {
                    frames[1] += u64::from(frames[0] > frames[1]);
                }
            }
            Event::PacketSent { from, packet: Packet { number: Some(number), .. }, .. } => {
                let way = ways.get_mut(number).expect("it has set out");
                assert!(way.has_been_at(from), "{from} has it: {way:?}");
                way.reaches(from);
            }
            Event::PacketDelivered { to, packet: Packet { number: Some(number), .. }, .. } => {
                ways.get_mut(number).expect("it has set out").reaches(to);
            }
            Event::PacketArrived { node, number } => {
                let way = ways.get_mut(number).expect("it has set out");
                assert!(way.has_been_at(node), "{number} arrives at {node}: {way:?}");
                way.reaches(node);
                way.arrived.push(node.to_string());
            }
            Event::PacketDropped { packet: Packet { number: Some(number), .. }, .. } => {
                ways.get_mut(number).expect("it has set out").dropped += 1;
            }
            _ => {}
        }
    }
    ways
}

/// How many packets of a flow arrived over these hops and no others, of how many that arrived.
pub fn over(ways: &BTreeMap<u64, Way>, flow: &str, end: &str, hops: &[&str]) -> [usize; 2] {
    let ended = |way: &&Way| way.flow == flow && way.arrived.iter().any(|host| host == end);
    let (all, so) = (ways.values().filter(ended), ways.values().filter(ended));
    [so.filter(|way| way.is_over(hops)).count(), all.count()]
}

/// A relay between two hosts that do not hear each other: what one sends the other can be followed over both hops, and
/// so can what comes back.
pub fn over_a_relay() {
    for (name, load_kbps) in [("dsr", 100), ("aodv", 900)] {
        let mut plan = line(3, 6.0, routing(name), |from, to| Flow::new("ftp", from, to, Transport::Tcp));
        // In the second run more than the air carries: queues overflow, and frames collide.
        let traffic = Traffic::Cbr { rate: Rate::from_kbps(load_kbps), packet: ByteCount::new(500) };
        let hosts = plan.media[0].attached.clone();
        let calls = Flow::new("calls", hosts[2], hosts[0], Transport::Udp).traffic(traffic);
        plan.flow(calls.start_at(seconds(1.0)));
        // Its sources fill the hosts' queues after a standstill, of which no log tells.
        let (outcome, events) = recorded_steadily(&plan);
        let ways = ways(&events);
        let (there, back) = (["h0", "h1", "h2"], ["h2", "h1", "h0"]);
        for (flow, end, hops) in [("ftp", "h2", there), ("ftp", "h0", back), ("calls", "h0", back)] {
            let [so, all] = over(&ways, flow, end, &hops);
            assert!(so > 20 && so == all, "{name}, {flow} to {end}: {so} of {all}");
        }
        conserved(&outcome, &ways, load_kbps < 500);
    }
}

/// Every packet has one end at most, and what arrived is what the applications have.
fn conserved(outcome: &LabOutcome, ways: &BTreeMap<u64, Way>, gently: bool) {
    let of = |flow: &'static str| ways.values().filter(move |way| way.flow == flow);
    let [sent, received] = outcome.flows["calls"].packets.expect("packets");
    let (set_out, came) = (of("calls").count() as u64, of("calls").filter(|way| !way.arrived.is_empty()));
    let came = came.count() as u64;
    assert!(set_out <= sent && sent - set_out <= 20, "{set_out} of {sent} packets set out");
    assert!(came.abs_diff(received) <= 10, "{came} packets arrived, the application has {received}");
    let dropped = of("calls").filter(|way| way.arrived.is_empty() && way.dropped > 0).count() as u64;
    // Queues of two hosts, and what waits for a route.
    let under_way = set_out - came - dropped;
    assert!(under_way <= 200, "{under_way} of {set_out} are under way");
    assert!(if gently { came * 2 > sent } else { dropped > 50 }, "{came} came, {dropped} were dropped");
    assert!(ways.values().all(|way| way.arrived.len() <= 1), "no packet arrives twice");
    let segments: BTreeSet<(u32, u32)> =
        of("ftp").filter(|way| way.arrived == ["h2"]).filter_map(|way| way.segment).collect();
    let payload: u64 = segments.iter().map(|(_, bytes)| u64::from(*bytes)).sum();
    let bytes = outcome.flows["ftp"].arrivals.total_bytes;
    assert!(payload >= bytes && bytes > 10_000, "{payload} bytes arrived, the application has {bytes}");
}
