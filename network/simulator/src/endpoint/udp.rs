//! Datagrams without feedback.
use super::Site;
use crate::fabric::Fabric;
use crate::packet::{Body, IPV4_HEADER_BYTES, Packet, UDP_HEADER_BYTES};
use prismux_endpoint::random::RandomStream;
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::Ecn;

/// When packets are sent.
#[derive(Debug)]
pub(crate) enum Pattern {
    /// For ever at the same distance.
    Constant,
    /// In bursts: mean packets per burst, mean pause in seconds, shape; packets left of this burst.
    ParetoOnOff { mean_packets: f64, mean_off: f64, shape: f64, stream: RandomStream, left: u64 },
}

/// Sends packets of one size.
#[derive(Debug)]
pub(crate) struct UdpSource {
    pub site: Site,
    pub pattern: Pattern,
    /// Within a burst.
    pub rate: Rate,
    pub packet_bytes: u32,
    /// Payload bytes still to send.
    pub bytes_left: u64,
    /// When the next packet leaves; [`Instant::MAX`] when silent.
    pub due: Instant,
    /// Packets sent, ever and since `since`, from which spacing is reckoned so that it does not drift.
    pub sent: u64,
    pub since: Instant,
    pub sent_since: u64,
}

/// Counts packets.
#[derive(Debug)]
pub(crate) struct UdpSink {
    pub site: Site,
    pub packets: u64,
    pub bytes: u64,
    /// Packets that arrived after one sent later.
    pub reordered: u64,
    pub highest: Option<u64>,
}

/// Headers of a datagram.
pub(crate) const UDP_OVERHEAD_BYTES: u32 = IPV4_HEADER_BYTES + UDP_HEADER_BYTES;

impl UdpSource {
    /// Begins at `now`; returns when the first packet is due.
    pub fn start(&mut self, now: Instant) -> Instant {
        self.begin_burst(now);
        self.due
    }

    /// Falls silent.
    pub fn stop(&mut self) {
        self.due = Instant::MAX;
    }

    /// Sends the packet that is due and returns when the next one is.
    pub fn fire(&mut self, fabric: &mut Fabric) -> Instant {
        let room = self.packet_bytes.saturating_sub(UDP_OVERHEAD_BYTES);
        let payload = u64::from(room).min(self.bytes_left) as u32;
        let packet = Packet {
            body: Body::Udp { number: self.sent },
            payload_bytes: payload,
            endpoint: self.site.peer,
            flow: self.site.flow,
            source: self.site.node,
            destination: self.site.peer_node,
            ecn: Ecn::NotEct,
            tunnelled: false,
            damaged: false,
        };
        fabric.inject(self.site.node, self.site.exit, packet);
        self.sent += 1;
        self.sent_since += 1;
        self.bytes_left -= u64::from(payload);
        if self.bytes_left == 0 || payload == 0 {
            self.due = Instant::MAX;
        } else {
            self.plan();
        }
        self.due
    }

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

impl UdpSink {
    /// A packet has arrived.
    pub fn receive(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.payload_bytes);
        if let Body::Udp { number } = packet.body {
            if self.highest.is_some_and(|highest| number < highest) {
                self.reordered += 1;
            }
            self.highest = self.highest.max(Some(number));
        }
    }
}
