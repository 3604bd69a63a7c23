//! Datagrams without feedback.
use super::context::{Arrival, FlowContext};
use super::flow::{Flow, Window};
use super::transport::{BuiltFlow, FlowBuild, Transport};
use crate::core::packet::{Content, IPV4_HEADER_BYTES, UDP_HEADER_BYTES};
use prismux_endpoint::random::RandomStream;
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::Ecn;

/// Headers of a datagram.
const OVERHEAD_BYTES: u32 = IPV4_HEADER_BYTES + UDP_HEADER_BYTES;

/// The end that sends.
const SOURCE: usize = 0;

/// Constant bit rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cbr {
    /// Of whole IP packets.
    pub rate: Rate,
    /// Bytes of each packet, its 28 bytes of headers included.
    pub packet_bytes: u32,
}

/// Bursts at a constant rate whose lengths, like the pauses between them, are Pareto distributed.
///
/// As in ns-2: the burst is a whole number of packets, at least one; both settings are the means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParetoOnOff {
    /// Rate within a burst, of whole IP packets.
    pub rate: Rate,
    /// Bytes of each packet, its 28 bytes of headers included.
    pub packet_bytes: u32,
    /// Mean length of a burst.
    pub mean_on: Duration,
    /// Mean pause.
    pub mean_off: Duration,
    /// Shape of both distributions, above 1.
    pub shape: f64,
}

impl Transport for Cbr {
    fn name(&self) -> &str {
        "cbr"
    }

    fn has_end(&self, _: Option<u64>) -> bool {
        false
    }

    fn build(&self, build: &mut FlowBuild<'_>) -> BuiltFlow {
        build.two_ends(UdpFlow::new(build, self.rate, self.packet_bytes, Pattern::Constant))
    }
}

impl Transport for ParetoOnOff {
    fn name(&self) -> &str {
        "pareto"
    }

    fn has_end(&self, _: Option<u64>) -> bool {
        false
    }

    fn build(&self, build: &mut FlowBuild<'_>) -> BuiltFlow {
        let bits = f64::from(self.packet_bytes) * 8.0;
        let pattern = Pattern::ParetoOnOff {
            mean_packets: self.mean_on.as_secs_f64() * self.rate.as_bps() as f64 / bits,
            mean_off: self.mean_off.as_secs_f64(),
            shape: self.shape,
            stream: build.random("bursts"),
            left: 0,
        };
        build.two_ends(UdpFlow::new(build, self.rate, self.packet_bytes, pattern))
    }
}

/// When packets are sent.
#[derive(Debug)]
enum Pattern {
    /// For ever at the same distance.
    Constant,
    /// In bursts: mean packets per burst, mean pause in seconds, shape; packets left of this burst.
    ParetoOnOff { mean_packets: f64, mean_off: f64, shape: f64, stream: RandomStream, left: u64 },
}

/// A datagram of nothing but payload.
#[derive(Debug, Clone, Copy)]
struct Plain;

impl Content for Plain {
    fn header_bytes(&self) -> usize {
        0
    }

    fn emit(&self, _: &mut [u8]) {}
}

/// Sends packets of one size, and counts those that arrive.
#[derive(Debug)]
struct UdpFlow {
    pattern: Pattern,
    /// Within a burst.
    rate: Rate,
    packet_bytes: u32,
    /// Payload bytes still to send.
    bytes_left: u64,
    /// When the next packet leaves; [`Instant::MAX`] when silent.
    due: Instant,
    /// Packets sent since `since`, from which spacing is reckoned so that it does not drift.
    sent_since: u64,
    since: Instant,
    received_bytes: u64,
    /// Packets sent and received.
    packets: [u64; 2],
}

impl UdpFlow {
    fn new(build: &FlowBuild<'_>, rate: Rate, packet_bytes: u32, pattern: Pattern) -> Self {
        Self {
            pattern,
            rate,
            packet_bytes,
            bytes_left: build.bytes().unwrap_or(u64::MAX),
            due: Instant::MAX,
            sent_since: 0,
            since: Instant::ZERO,
            received_bytes: 0,
            packets: [0; 2],
        }
    }

    /// Plans the next packet.
    fn plan(&mut self) {
        self.due = self.since + self.spacing(self.sent_since);
        if let Pattern::ParetoOnOff { left, mean_off, shape, stream, .. } = &mut self.pattern {
            *left -= 1;
            if *left == 0 {
                let pause = Duration::from_secs_f64(stream.pareto(*mean_off, *shape));
                let next = self.due + pause;
                self.begin_burst(next);
            }
        }
    }

    fn begin_burst(&mut self, at: Instant) {
        (self.since, self.sent_since, self.due) = (at, 0, at);
        if let Pattern::ParetoOnOff { mean_packets, shape, stream, left, .. } = &mut self.pattern {
            *left = (stream.pareto(*mean_packets, *shape) + 0.5).max(1.0) as u64;
        }
    }

    /// Time that `packets` take at the source's rate.
    fn spacing(&self, packets: u64) -> Duration {
        let bit_nanos = u128::from(packets) * u128::from(self.packet_bytes) * 8_000_000_000;
        let nanos = bit_nanos / u128::from(self.rate.as_bps().max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl Flow for UdpFlow {
    fn start(&mut self, context: &mut FlowContext<'_>) {
        self.begin_burst(context.now());
        context.wake(SOURCE, self.due);
    }

    /// Falls silent.
    fn stop(&mut self, _: &mut FlowContext<'_>) {
        self.due = Instant::MAX;
    }

    fn deliver(&mut self, _: &mut FlowContext<'_>, _: usize, arrival: Arrival) {
        self.received_bytes += u64::from(arrival.payload_bytes());
        self.packets[1] += 1;
    }

    /// Sends the packet that is due.
    fn timeout(&mut self, context: &mut FlowContext<'_>, _: usize) {
        if self.due != context.now() {
            return;
        }
        let room = self.packet_bytes.saturating_sub(OVERHEAD_BYTES);
        let payload = u64::from(room).min(self.bytes_left) as u32;
        context.send(SOURCE, Plain, payload, Ecn::NotEct);
        self.sent_since += 1;
        self.packets[0] += 1;
        self.bytes_left -= u64::from(payload);
        if self.bytes_left == 0 || payload == 0 {
            self.due = Instant::MAX;
        } else {
            self.plan();
        }
        if self.due < Instant::MAX {
            context.wake(SOURCE, self.due);
        }
    }

    fn delivered_bytes(&self) -> u64 {
        self.received_bytes
    }

    fn datagrams(&self) -> Option<[u64; 2]> {
        Some(self.packets)
    }

    fn window(&self) -> Option<Window> {
        None
    }
}
