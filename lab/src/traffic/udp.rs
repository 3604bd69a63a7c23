//! Background load over UDP.
use super::stamped::StampedSocket;
use super::{Arrivals, FlowOutcome, Schedule, WAIT};
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_plan::{Traffic, UDP_HEADER_BYTES};
use prismux_trace::results::DelayMeter;
use prismux_units::{ByteCount, Duration, Instant, Rate};
use std::io;
use std::net::{SocketAddr, UdpSocket};

/// A UDP flow's two sockets, each made in its node's namespace, and what is to be done with them.
pub(crate) struct UdpFlow {
    pub schedule: Schedule,
    pub sender: UdpSocket,
    pub receiver: UdpSocket,
    pub to: SocketAddr,
    pub pattern: Pattern,
    /// The packets' delays are taken: each carries the time at which it was sent.
    pub delays: bool,
}

/// Bytes of a time stamp.
const STAMP_BYTES: usize = size_of::<u64>();

/// When packets are sent.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    rate: Rate,
    packet_bytes: u32,
    bursts: Option<Bursts>,
}

/// Pareto bursts and pauses, ns-2 semantics: the configured lengths are means, and a burst has at least one
/// packet. With the same seed they are those of the simulator.
#[derive(Debug, Clone)]
struct Bursts {
    stream: RandomStream,
    mean_packets: f64,
    mean_pause: Duration,
    shape: f64,
    /// Packets of this burst that have not been sent.
    left: u64,
}

impl Bursts {
    fn begin(&mut self) {
        self.left = (self.stream.pareto(self.mean_packets, self.shape) + 0.5).max(1.0) as u64;
    }
}

impl Pattern {
    /// The pattern of datagrams; `None` for other traffic. `flow` names the random stream.
    pub fn of(traffic: &Traffic, seed: Seed, flow: &str) -> Option<Self> {
        match *traffic {
            Traffic::Cbr { rate, packet } => {
                Some(Self { rate, packet_bytes: packet.as_u64() as u32, bursts: None })
            }
            Traffic::ParetoOnOff { rate, packet, on, off, shape } => {
                let packet_bytes = packet.as_u64() as u32;
                let mean_packets = on.as_secs_f64() * rate.as_bps() as f64 / (f64::from(packet_bytes) * 8.0);
                let stream = seed.stream(&format!("flow/{flow}/bursts"));
                let mut bursts = Bursts { stream, mean_packets, mean_pause: off, shape, left: 0 };
                bursts.begin();
                Some(Self { rate, packet_bytes, bursts: Some(bursts) })
            }
            _ => None,
        }
    }

    /// Time from one packet to the next.
    pub fn next_gap(&mut self) -> Duration {
        let interval = self.rate.transmission_time(ByteCount::new(u64::from(self.packet_bytes)));
        let Some(bursts) = &mut self.bursts else { return interval };
        bursts.left -= 1;
        if bursts.left > 0 {
            return interval;
        }
        let pause = bursts.stream.pareto(bursts.mean_pause.as_secs_f64(), bursts.shape);
        bursts.begin();
        interval + Duration::from_secs_f64(pause)
    }

    fn payload_bytes(&self) -> usize {
        self.packet_bytes.saturating_sub(UDP_HEADER_BYTES as u32) as usize
    }
}

impl UdpFlow {
    /// Runs the flow to its end and reports.
    pub fn run(mut self) -> FlowOutcome {
        let mut pattern = self.pattern.clone();
        let flow = &mut self;
        std::thread::scope(|scope| {
            let flow = &*flow;
            let sender = scope.spawn(move || flow.send(&mut pattern));
            let mut outcome = FlowOutcome::default();
            let mut meter = DelayMeter::default();
            let received = flow.receive(&mut outcome.arrivals, &mut meter);
            let sent = sender.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match received {
                Ok(received) => outcome.packets = Some([sent, received]),
                Err(error) => outcome.trouble = Some(format!("receiver: {error}")),
            }
            outcome.delay = meter.result();
            outcome
        })
    }

    /// Sends by the clock, so that a late wake-up does not lower the rate.
    fn send(&self, pattern: &mut Pattern) -> u64 {
        let mut payload = vec![0; pattern.payload_bytes()];
        let (mut at, mut sent): (Instant, u64) = (self.schedule.start, 0);
        while self.schedule.wait_until(at) {
            if let Some(stamp) = payload.first_chunk_mut::<STAMP_BYTES>().filter(|_| self.delays) {
                *stamp = self.schedule.now().as_nanos().to_be_bytes();
            }
            // An unreachable receiver is as good as a lost packet to a source that expects no answer.
            let _ = self.sender.send_to(&payload, self.to);
            sent += 1;
            at += pattern.next_gap();
        }
        sent
    }

    /// Takes the packets that the kernel has before the flow is over, however late they are read; how many there were.
    fn receive(&self, arrivals: &mut Arrivals, meter: &mut DelayMeter) -> io::Result<u64> {
        let mut socket = StampedSocket::new(&self.receiver, WAIT)?;
        let mut buffer = vec![0; 65_536];
        let (mut received, mut end) = (0, None);
        loop {
            if end.is_none() && self.schedule.is_over() {
                end = Some(self.schedule.now().min(self.schedule.stop));
            }
            let arrival = socket.receive(&mut buffer, end.is_none())?;
            let came = arrival.map(|arrival| (arrival.bytes, self.schedule.now() - arrival.age));
            let Some((bytes, at)) = came.filter(|(_, at)| *at < end.unwrap_or(self.schedule.stop)) else {
                // None so far, or one that is too late.
                if end.is_some() {
                    return Ok(received);
                }
                continue;
            };
            arrivals.record(at, bytes as u64);
            received += 1;
            if let Some(stamp) = buffer[..bytes].first_chunk::<STAMP_BYTES>().filter(|_| self.delays) {
                meter.arrived(at.saturating_since(Instant::from_nanos(u64::from_be_bytes(*stamp))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_rate_means_equal_gaps_of_packet_over_rate() {
        let cbr = Traffic::Cbr { rate: Rate::from_kbps(448), packet: ByteCount::new(210) };
        let mut pattern = Pattern::of(&cbr, Seed(1), "f").unwrap();
        for _ in 0..3 {
            assert_eq!(pattern.next_gap(), Duration::from_micros(3750));
        }
    }

    #[test]
    fn bursts_are_those_that_the_simulator_has_with_the_same_seed() {
        let pareto = Traffic::ParetoOnOff {
            rate: Rate::from_mbps(2),
            packet: ByteCount::new(1000),
            on: Duration::from_millis(300),
            off: Duration::from_millis(300),
            shape: 1.5,
        };
        // What a flow called "load" has sent in the simulator within 10 s.
        for (seed, packets) in [(1, 1547), (2, 1020), (3, 1251)] {
            let mut pattern = Pattern::of(&pareto, Seed(seed), "load").unwrap();
            let mut at = Duration::ZERO;
            let mut sent = 0;
            while at < Duration::from_secs(10) {
                sent += 1;
                at += pattern.next_gap();
            }
            assert_eq!(sent, packets, "seed {seed}");
        }
    }

    #[test]
    fn pareto_bursts_send_the_on_share_of_the_rate() {
        let (on, off) = (Duration::from_millis(500), Duration::from_millis(500));
        let pareto = Traffic::ParetoOnOff {
            rate: Rate::from_kbps(400),
            packet: ByteCount::new(500),
            on,
            off,
            shape: 2.5,
        };
        let mut pattern = Pattern::of(&pareto, Seed(1), "f").unwrap();
        let packets = 1_000_000;
        let time: f64 = (0..packets).map(|_| pattern.next_gap().as_secs_f64()).sum();
        let mean_bps = f64::from(packets) * 500.0 * 8.0 / time;
        assert!((mean_bps / 200_000.0 - 1.0).abs() < 0.03, "{mean_bps}");
    }
}
