//! A transport from outside the simulator: stop-and-wait, one packet under way at a time.
//!
//! `cargo run -p prismux-simulator --example new_transport`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // A program, not a core: it prints.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, LossModel};
use prismux_plan::Plan;
use prismux_simulator::{
    Arrival, BuiltFlow, Content, Flow, FlowBuild, FlowContext, Simulation, SimulationOptions, Transport,
};
use prismux_trace::results::RunResult;
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};
use prismux_wire::Ecn;

const SENDER: usize = 0;
const RECEIVER: usize = 1;
const PACKET_BYTES: u32 = 1000;
const TIMEOUT: Duration = Duration::from_millis(200);

/// The description: what the options of a simulation take.
#[derive(Debug)]
struct StopAndWait;

impl Transport for StopAndWait {
    fn name(&self) -> &str {
        "stop-and-wait"
    }

    fn build(&self, build: &mut FlowBuild<'_>) -> BuiltFlow {
        let packets = build.bytes().unwrap_or(u64::MAX) / u64::from(PACKET_BYTES);
        build.two_ends(Pair { packets, sent: 0, expected: 0, deadline: Instant::MAX })
    }
}

/// What its datagrams carry: the number of a packet, or of the one that is wanted next.
#[derive(Debug, Clone, Copy)]
struct Number(u64);

impl Content for Number {
    fn header_bytes(&self) -> usize {
        8
    }

    fn emit(&self, bytes: &mut [u8]) {
        bytes[..8].copy_from_slice(&self.0.to_be_bytes());
    }
}

/// Both ends.
#[derive(Debug)]
struct Pair {
    packets: u64,
    /// The packet under way, and when it counts as lost.
    sent: u64,
    deadline: Instant,
    /// The packet that the receiver waits for.
    expected: u64,
}

impl Pair {
    fn send(&mut self, context: &mut FlowContext<'_>) {
        if self.sent < self.packets {
            context.send(SENDER, Number(self.sent), PACKET_BYTES, Ecn::NotEct);
            self.deadline = context.now() + TIMEOUT;
            context.wake(SENDER, self.deadline);
        }
    }
}

impl Flow for Pair {
    fn start(&mut self, context: &mut FlowContext<'_>) {
        self.send(context);
    }

    fn stop(&mut self, _: &mut FlowContext<'_>) {
        self.packets = self.sent;
    }

    fn deliver(&mut self, context: &mut FlowContext<'_>, end: usize, arrival: Arrival) {
        let Some(Number(number)) = context.take(&arrival) else { return };
        if end == RECEIVER {
            self.expected = self.expected.max(number + 1);
            context.progress(self.delivered_bytes());
            context.send(RECEIVER, Number(self.expected), 0, Ecn::NotEct);
        } else if number == self.sent + 1 {
            (self.sent, self.deadline) = (number, Instant::MAX);
            self.send(context);
        }
    }

    fn timeout(&mut self, context: &mut FlowContext<'_>, _: usize) {
        if context.now() == self.deadline {
            self.send(context);
        }
    }

    fn delivered_bytes(&self) -> u64 {
        self.expected * u64::from(PACKET_BYTES)
    }
}

fn run() -> RunResult {
    let mut plan = Plan::new("stop and wait", Duration::from_secs(600));
    let (server, client) = (plan.host("server"), plan.host("client"));
    let loss = LossModel::Bernoulli(Probability::new(0.01).expect("a probability"));
    let link = LinkConfig { loss, ..LinkConfig::new(Rate::from_mbps(10), Duration::from_millis(20)) };
    plan.symmetric_link("link", [server, client], link);
    // Whatever transport the plan names, the options have the one that carries the flow.
    let file = prismux_plan::Flow::new("file", server, client, prismux_plan::Transport::Tcp);
    let mut options = SimulationOptions::checked();
    options.carry(&mut plan, file.bytes(ByteCount::new(1_000_000)), StopAndWait);
    let mut simulation = Simulation::from_plan(&plan, Seed(1), options).expect("two hosts and a link");
    assert!(simulation.run_to_completion(Instant::from_secs(600)), "every packet arrives in the end");
    assert_eq!(simulation.faults(), Vec::<String>::new());
    simulation.result()
}

fn main() {
    println!("{}", run().to_json());
}

#[test]
fn a_packet_takes_a_round_trip_and_a_lost_one_a_timeout() {
    let result = run();
    let file = &result.flows["file"];
    assert_eq!((file.transport.as_str(), file.bytes), ("stop-and-wait", 1_000_000));
    // A thousand round trips of 41 ms, and some twenty timeouts.
    let seconds = file.completion_s.expect("it has an end");
    assert!((41.0..50.0).contains(&seconds), "{seconds} s");
}
