//! The dumbbell on which simulators are compared: ours and ns-2, the same network, TCP and packets.
use crate::cpu::Stopwatch;
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, QueueLimit};
use prismux_plan::{Flow, Plan, Transport};
use prismux_simulator::{Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::{TcpConfig, TcpProfile};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use std::process::Command;

const NS2_SCRIPT: &str = include_str!("../ns2/dumbbell.tcl");
/// No limit, in segments.
const WINDOW_SEGMENTS: u64 = 100_000;

/// N bulk flows through one bottleneck.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dumbbell {
    /// Name in tables.
    pub name: &'static str,
    /// Flows, a source and a sink node each.
    pub flows: u32,
    /// Rate of the bottleneck.
    pub rate_mbps: u64,
    /// One-way delay of the bottleneck.
    pub delay_ms: u64,
    /// Rate of each access link.
    pub access_rate_mbps: u64,
    /// One-way delay of each access link.
    pub access_delay_ms: u64,
    /// Packets at the bottleneck, the one being sent included.
    pub queue_packets: u32,
    /// Payload of a segment.
    pub segment_bytes: u16,
    /// Seconds simulated.
    pub seconds: u64,
}

/// What one run cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// CPU seconds before simulated time began.
    pub setup_cpu_s: f64,
    /// CPU seconds of the simulation itself.
    pub run_cpu_s: f64,
    /// Segments delivered in order, all flows together.
    pub delivered_packets: u64,
}

impl Cost {
    /// CPU microseconds of the run per packet delivered.
    pub fn micros_per_packet(&self) -> f64 {
        self.run_cpu_s * 1e6 / self.delivered_packets as f64
    }
}

impl Dumbbell {
    /// Twenty flows over 10 Mbit/s and 64 ms.
    pub const S1: Self = Self {
        name: "S1",
        flows: 20,
        rate_mbps: 10,
        delay_ms: 30,
        access_rate_mbps: 20,
        access_delay_ms: 2,
        queue_packets: 100,
        segment_bytes: 1000,
        seconds: 300,
    };
    /// Twenty flows over 1 Gbit/s and 44 ms: windows of thousands of segments.
    pub const S2: Self = Self {
        name: "S2",
        flows: 20,
        rate_mbps: 1000,
        delay_ms: 20,
        access_rate_mbps: 1000,
        access_delay_ms: 1,
        queue_packets: 2500,
        segment_bytes: 1448,
        seconds: 20,
    };
    /// S1 with ten times the flows, rate and queue.
    pub const S1_200: Self =
        Self { name: "S1 x 10", flows: 200, rate_mbps: 100, queue_packets: 1000, seconds: 100, ..Self::S1 };
    /// S1 with a hundred times the flows, rate and queue.
    pub const S1_2000: Self = Self {
        name: "S1 x 100",
        flows: 2000,
        rate_mbps: 1000,
        queue_packets: 10_000,
        seconds: 20,
        ..Self::S1
    };
    /// All of them.
    pub const ALL: [Self; 4] = [Self::S1, Self::S2, Self::S1_200, Self::S1_2000];

    /// The one of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dumbbell| dumbbell.name == name)
    }

    /// Simulates it here, in this thread.
    ///
    /// # Panics
    /// Never: a dumbbell is connected.
    pub fn run(&self) -> Cost {
        let setup = Stopwatch::start();
        let mut plan = Plan::new(self.name, Duration::from_secs(self.seconds));
        let mut options = SimulationOptions { checks: Some(false), ..SimulationOptions::default() };
        let (left, right) = (plan.router("left"), plan.router("right"));
        // ns-2 counts the packet in service into its limit.
        let bottleneck =
            LinkConfig::new(Rate::from_mbps(self.rate_mbps), Duration::from_millis(self.delay_ms))
                .with_queue(QueueLimit::Packets(self.queue_packets - 1));
        plan.symmetric_link("bottleneck", [left, right], bottleneck);
        let access = LinkConfig::new(
            Rate::from_mbps(self.access_rate_mbps),
            Duration::from_millis(self.access_delay_ms),
        )
        .with_queue(QueueLimit::Packets(100_000));
        let tcp = TcpConfig {
            mss: self.segment_bytes,
            receive_buffer: ByteCount::new(WINDOW_SEGMENTS * u64::from(self.segment_bytes)),
            ..TcpProfile::Ns2_2002.config()
        };
        let mut flows = Vec::new();
        for index in 0..self.flows {
            let source = plan.host(&format!("source{index}"));
            let sink = plan.host(&format!("sink{index}"));
            plan.symmetric_link(&format!("up{index}"), [source, left], access.clone());
            plan.symmetric_link(&format!("down{index}"), [right, sink], access.clone());
            let start = Duration::from_secs_f64(f64::from(index) / f64::from(self.flows));
            let flow = Flow::new(&format!("flow{index}"), source, sink, Transport::Tcp).start_at(start);
            flows.push(options.carry(&mut plan, flow, TcpFlow::new(tcp.clone())));
        }
        let mut simulation = Simulation::from_plan(&plan, Seed(1), options).expect("a dumbbell is connected");
        let setup_cpu_s = setup.seconds();
        let run = Stopwatch::start();
        simulation.run_until(Instant::from_secs(self.seconds));
        let run_cpu_s = run.seconds();
        let bytes: u64 = flows.iter().map(|&flow| simulation.delivered_bytes(flow)).sum();
        Cost { setup_cpu_s, run_cpu_s, delivered_packets: bytes / u64::from(self.segment_bytes) }
    }

    fn ns2_arguments(&self) -> Vec<String> {
        vec![
            format!("flows={}", self.flows),
            format!("rate={}Mb", self.rate_mbps),
            format!("delay={}ms", self.delay_ms),
            format!("access_rate={}Mb", self.access_rate_mbps),
            format!("access_delay={}ms", self.access_delay_ms),
            format!("queue={}", self.queue_packets),
            format!("segment={}", self.segment_bytes),
            format!("until={}", self.seconds),
        ]
    }
}

/// ns-2, with its script in a file of its own until it is dropped.
#[derive(Debug)]
pub struct Ns2 {
    script: PathBuf,
}

impl Ns2 {
    /// Finds ns-2.
    ///
    /// # Errors
    /// When there is no `ns` to run, or it is another program of that name, with what to do; or when its script
    /// cannot be written.
    pub fn find() -> io::Result<Self> {
        let script = std::env::temp_dir().join(format!("prismux-dumbbell-{}.tcl", std::process::id()));
        std::fs::write(&script, NS2_SCRIPT)?;
        let ns2 = Self { script };
        let small = Dumbbell { flows: 1, seconds: 1, ..Dumbbell::S1 };
        ns2.run(&small).map_err(|error| {
            let advice = "install ns-2 (on Debian and Ubuntu: apt-get install ns2) to compare against it";
            io::Error::new(error.kind(), format!("no ns-2 here ({error}); {advice}"))
        })?;
        Ok(ns2)
    }

    /// Simulates `dumbbell` in a process of its own.
    ///
    /// # Errors
    /// When it does not run or does not answer.
    pub fn run(&self, dumbbell: &Dumbbell) -> io::Result<Cost> {
        let output = Command::new("ns").arg(&self.script).args(dumbbell.ns2_arguments()).output()?;
        parse(&output)
    }
}

impl Drop for Ns2 {
    fn drop(&mut self) {
        // Nothing is lost if a temporary file stays.
        let _ = std::fs::remove_file(&self.script);
    }
}

/// The cost that a child process printed.
///
/// # Errors
/// When it failed or printed something else.
pub fn parse(output: &std::process::Output) -> io::Result<Cost> {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().rev().find(|line| line.starts_with('{')).unwrap_or_default();
    serde_json::from_str(line).map_err(|_| {
        let complaint = String::from_utf8_lossy(&output.stderr);
        let complaint = complaint.lines().next().unwrap_or("no answer");
        io::Error::new(io::ErrorKind::InvalidData, format!("{}: {complaint}", output.status))
    })
}

#[cfg(test)]
mod tests;
