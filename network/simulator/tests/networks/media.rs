//! A medium that several nodes share: what one sends, all hear.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, QueueLimit};
use prismux_plan::{Flow, MediumId, MediumModel, NodeId, Plan, Transport};
use prismux_simulator::{
    Bus, Cbr, Content, Frame, Medium, MediumEvent, Node, NodeContext, Simulation, SimulationOptions, Transit,
};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use std::collections::VecDeque;

/// Counts what passes by.
#[derive(Debug, Default)]
struct Listener {
    overheard: u64,
    taken: u64,
}

impl Node for Listener {
    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        self.taken += 1;
        match context.ends_here(&packet) {
            true => context.deliver(packet),
            false => context.discard(packet),
        }
    }

    fn overhear(&mut self, _: &mut NodeContext<'_>, _: MediumId, _: &Frame) {
        self.overheard += 1;
    }
}

/// Sends everything to everybody.
#[derive(Debug)]
struct Flooder(MediumId);

impl Node for Flooder {
    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        context.broadcast(self.0, packet);
    }
}

fn shared_link() -> LinkConfig {
    LinkConfig::new(Rate::from_mbps(10), Duration::from_millis(1)).with_queue(QueueLimit::Packets(100))
}

#[test]
fn two_hosts_share_the_rate_of_a_bus_and_a_third_hears_every_frame() {
    let (mut plan, mut options) = (Plan::new("bus", Duration::from_secs(20)), SimulationOptions::checked());
    let [a, b, listener] = ["a", "b", "listener"].map(|name| plan.router(name));
    let bus = plan.medium("bus", &[a, b, listener], MediumModel::Bus(shared_link()));
    options.forward_by("listener", Listener::default());
    let flows = [("there", a, b), ("back", b, a)]
        .map(|(name, from, to)| plan.flow(Flow::new(name, from, to, Transport::Tcp)));
    let mut simulation = Simulation::from_plan(&plan, Seed(1), options).unwrap();
    simulation.run_until(Instant::from_secs(20));
    let goodput = flows.map(|flow| simulation.delivered_bytes(flow) as f64 * 8.0 / 20.0);
    // Headers and the ACKs of the other direction take their share of the one 10 Mbit/s.
    let sum = goodput[0] + goodput[1];
    assert!((8.5e6..9.6e6).contains(&sum), "{goodput:?}");
    let (frames, heard) = (
        simulation.medium_as::<Bus>(bus).unwrap().stats().delivered_packets,
        simulation.node_as::<Listener>(listener).unwrap(),
    );
    assert_eq!(
        (heard.overheard, heard.taken),
        (frames, 0),
        "every frame passes the listener, none is for it"
    );
    assert_eq!(simulation.faults(), Vec::<String>::new());
}

#[test]
fn a_frame_for_all_reaches_every_node_once() {
    let (mut plan, mut options) = (Plan::new("bus", Duration::from_secs(20)), SimulationOptions::checked());
    let nodes = ["flooder", "wanted", "listener", "host"];
    let [flooder, wanted, listener, host] = nodes.map(|name| plan.router(name));
    let bus = plan.medium("bus", &[flooder, wanted, listener, host], MediumModel::Bus(shared_link()));
    options.forward_by("flooder", Flooder(bus));
    options.forward_by("listener", Listener::default());
    let cbr = Cbr { rate: Rate::from_mbps(1), packet_bytes: 1028 };
    let flow = Flow::new("cbr", flooder, wanted, Transport::Tcp).bytes(ByteCount::new(100_000));
    let flow = options.carry(&mut plan, flow, cbr);
    let mut simulation = Simulation::from_plan(&plan, Seed(1), options).unwrap();
    simulation.run_until(Instant::from_secs(5));
    assert_eq!(simulation.delivered_bytes(flow), 100_000, "the host that they are for takes them");
    assert_eq!(simulation.medium_as::<Bus>(bus).unwrap().stats().delivered_packets, 100);
    let heard = simulation.node_as::<Listener>(listener).unwrap();
    assert_eq!((heard.taken, heard.overheard), (100, 0));
    assert_eq!(simulation.counters().copied, 100, "one more for the listener; the other host ignores them");
    assert_eq!(simulation.faults(), Vec::<String>::new());
}

/// A medium that carries one frame at a time in a millisecond, and gives up those for nodes that are out of reach.
#[derive(Debug)]
struct Turns {
    attached: Vec<NodeId>,
    out_of_reach: NodeId,
    crossing: Option<(Instant, Frame)>,
    /// Who is still to hear that the medium is free.
    freed: VecDeque<NodeId>,
    /// The hearer that the frame on the medium reaches next.
    reached: usize,
    carried: u64,
}

impl Turns {
    fn new(attached: &[NodeId], out_of_reach: NodeId) -> Self {
        let attached = attached.to_vec();
        Self { attached, out_of_reach, crossing: None, freed: VecDeque::new(), reached: 0, carried: 0 }
    }
}

impl Medium for Turns {
    fn send(&mut self, now: Instant, frame: Frame) -> Result<(), Frame> {
        if self.crossing.is_some() {
            return Err(frame);
        }
        (self.crossing, self.reached) = (Some((now + Duration::from_millis(1), frame)), 0);
        Ok(())
    }

    /// Hearers are reached one by one, the last of them ends the frame.
    fn poll_event(&mut self, now: Instant, hearers: &mut Vec<NodeId>) -> Option<MediumEvent> {
        if let Some(node) = self.freed.pop_front() {
            return Some(MediumEvent::Free(node));
        }
        let (_, frame) = self.crossing.filter(|(at, _)| *at <= now)?;
        let in_reach = self.attached.iter().filter(|&&node| node != frame.from && node != self.out_of_reach);
        let in_reach: Vec<NodeId> = in_reach.copied().collect();
        if frame.to != Some(self.out_of_reach) {
            hearers.push(in_reach[self.reached]);
            self.reached += 1;
            if self.reached < in_reach.len() {
                return Some(MediumEvent::Heard(frame));
            }
        }
        (self.crossing, self.freed) = (None, self.attached.iter().copied().collect());
        self.carried += 1;
        match frame.to == Some(self.out_of_reach) {
            true => Some(MediumEvent::Undelivered(frame)),
            false => Some(MediumEvent::Crossed(frame)),
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.crossing.map(|(at, _)| at)
    }

    fn frames_inside(&self) -> usize {
        usize::from(self.crossing.is_some())
    }

    fn is_busy(&self, _: NodeId) -> bool {
        self.crossing.is_some()
    }

    fn joins_all(&self) -> bool {
        false
    }

    fn counters(&self, _: Instant) -> Vec<(NodeId, &'static str, u64)> {
        vec![(self.attached[0], "frames_carried", self.carried)]
    }
}

/// A message and a header of a small routing protocol: who has passed the packet on, in order.
#[derive(Debug, Clone, PartialEq)]
struct Trail(Vec<u32>);

impl Content for Trail {
    fn header_bytes(&self) -> usize {
        4 * self.0.len()
    }

    fn emit(&self, bytes: &mut [u8]) {
        for (place, node) in bytes.chunks_mut(4).zip(&self.0) {
            place.copy_from_slice(&node.to_be_bytes());
        }
    }
}

/// A router with an interface queue of its own. Packets leave with a header that grows from hop to hop.
#[derive(Debug)]
struct Hop {
    medium: MediumId,
    next: Option<NodeId>,
    queue: VecDeque<(Option<NodeId>, Transit)>,
    hellos_heard: Vec<Trail>,
    trails_ended: Vec<Trail>,
    undelivered: u64,
}

impl Hop {
    fn new(medium: MediumId, next: Option<NodeId>) -> Self {
        let (queue, hellos_heard, trails_ended) = (VecDeque::new(), Vec::new(), Vec::new());
        Self { medium, next, queue, hellos_heard, trails_ended, undelivered: 0 }
    }

    fn send(&mut self, context: &mut NodeContext<'_>) {
        while let Some((to, packet)) = self.queue.pop_front() {
            if context.is_busy(self.medium) {
                return self.queue.push_front((to, packet));
            }
            if let Err(packet) = context.transmit(self.medium, to, packet, context.priority(&packet)) {
                return self.queue.push_front((to, packet));
            }
        }
    }
}

impl Node for Hop {
    fn start(&mut self, context: &mut NodeContext<'_>) {
        context.wake(Instant::from_secs(1) + Duration::from_millis(10) * u64::from(context.node().0));
    }

    fn timeout(&mut self, context: &mut NodeContext<'_>) {
        let hello = context.originate(Trail(vec![context.node().0]), None, 0);
        self.queue.push_back((None, hello));
        self.send(context);
    }

    fn arrive(&mut self, context: &mut NodeContext<'_>, mut packet: Transit) {
        let mut trail = context.take_header::<Trail>(&mut packet).unwrap_or(Trail(Vec::new()));
        if context.ends_here(&packet) {
            self.trails_ended.push(trail);
            return context.deliver(packet);
        }
        trail.0.push(context.node().0);
        context.put_header(&mut packet, trail);
        self.queue.push_back((self.next, packet));
        self.send(context);
    }

    fn receive(&mut self, context: &mut NodeContext<'_>, _: MediumId, from: NodeId, packet: Transit) {
        match context.take::<Trail>(&packet) {
            Some(hello) => {
                assert_eq!(hello, Trail(vec![from.0]));
                self.hellos_heard.push(hello);
            }
            None => self.arrive(context, packet),
        }
    }

    fn undelivered(&mut self, context: &mut NodeContext<'_>, _: MediumId, to: NodeId, packet: Transit) {
        assert_eq!((Some(to), context.header::<Trail>(&packet)), (self.next, Some(&Trail(vec![to.0 - 1]))));
        self.undelivered += 1;
        context.discard(packet);
    }

    fn medium_free(&mut self, context: &mut NodeContext<'_>, _: MediumId) {
        self.send(context);
    }

    fn packets_inside(&self) -> usize {
        self.queue.len()
    }
}

/// a - b - c - d - e in turn over one medium that reaches everybody but e.
#[test]
fn nodes_with_queues_route_by_headers_of_their_own_and_hear_what_a_medium_gives_up() {
    let (mut plan, mut options) = (Plan::new("hops", Duration::from_secs(20)), SimulationOptions::checked());
    let nodes = ["a", "b", "c", "d", "e"].map(|name| plan.router(name));
    let air = plan.medium("air", &nodes, MediumModel::External);
    options.media.insert("air".into(), Box::new(Turns::new(&nodes, nodes[4])));
    for (index, name) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
        options.forward_by(name, Hop::new(air, nodes.get(index + 1).copied()));
    }
    let cbr = Cbr { rate: Rate::from_kbps(80), packet_bytes: 1028 };
    let flows = [("there", nodes[0], nodes[3]), ("lost", nodes[3], nodes[4])].map(|(name, from, to)| {
        let flow = Flow::new(name, from, to, Transport::Tcp).bytes(ByteCount::new(50_000));
        options.carry(&mut plan, flow, cbr)
    });
    let mut simulation = Simulation::from_plan(&plan, Seed(1), options).unwrap();
    simulation.run_until(Instant::from_secs(20));
    assert_eq!(flows.map(|flow| simulation.delivered_bytes(flow)), [50_000, 0]);
    let hop = |index: usize| simulation.node_as::<Hop>(nodes[index]).unwrap();
    assert!(
        hop(3).trails_ended.iter().all(|trail| *trail == Trail(vec![0, 1, 2])),
        "headers grow and travel"
    );
    assert_eq!((hop(3).trails_ended.len(), hop(3).undelivered), (50, 50));
    for index in 0..4 {
        let from = |other: usize| Trail(vec![other as u32]);
        let expected: Vec<Trail> = (0..5).filter(|&other| other != index).map(from).collect();
        assert_eq!(hop(index).hellos_heard, expected, "node {index} hears each other's hello once");
    }
    // Three hops for each of 50 packets, 50 that e does not hear, and five hellos.
    assert_eq!(simulation.result().nodes["a"]["frames_carried"], 3 * 50 + 50 + 5);
    assert_eq!(simulation.faults(), Vec::<String>::new());
}

#[test]
fn a_medium_from_outside_that_the_options_lack_is_refused() {
    let mut plan = Plan::new("lacking", Duration::from_secs(1));
    let nodes = [plan.host("a"), plan.host("b")];
    plan.medium("air", &nodes, MediumModel::External);
    let error = Simulation::from_plan(&plan, Seed(1), SimulationOptions::default()).unwrap_err();
    assert!(error.to_string().contains("medium \"air\" comes from outside"), "{error}");
    plan.media.clear();
    let mut options = SimulationOptions::default();
    options.forward_by("c", Listener::default());
    let error = Simulation::from_plan(&plan, Seed(1), options).unwrap_err();
    assert!(error.to_string().contains("\"c\", and the plan has no such node"), "{error}");
}
