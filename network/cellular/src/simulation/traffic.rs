//! When flows have packets.
use prismux_endpoint::random::RandomStream;
use prismux_units::{ByteCount, Duration, Rate};

/// What every source writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Traffic {
    /// Always another packet.
    Backlogged,
    /// At equal intervals, beginning at a random time within the first.
    Constant(Rate),
    /// Bursts at a constant rate and pauses, both of Pareto-distributed length (the thesis's web traffic: shape 1.5,
    /// bursts of 1 s, pauses of 2 s).
    OnOff {
        /// Rate within a burst.
        rate: Rate,
        /// Mean length of a burst.
        burst: Duration,
        /// Mean length of a pause.
        pause: Duration,
        /// Shape of both distributions, above 1.
        shape: f64,
    },
}

impl Traffic {
    /// The thesis's web traffic at a rate within bursts.
    pub fn web(rate: Rate) -> Self {
        Self::OnOff { rate, burst: Duration::from_secs(1), pause: Duration::from_secs(2), shape: 1.5 }
    }

    pub(super) fn is_valid(&self) -> bool {
        match *self {
            Self::Backlogged => true,
            Self::Constant(rate) => rate.as_bps() > 0,
            Self::OnOff { rate, burst, pause, shape } => {
                rate.as_bps() > 0 && !burst.is_zero() && !pause.is_zero() && shape > 1.0
            }
        }
    }
}

/// One flow's source. Times are slots.
#[derive(Debug)]
pub(super) struct Source {
    traffic: Traffic,
    packet: ByteCount,
    slots_per_s: f64,
    next: f64,
    burst_ends: f64,
    random: RandomStream,
}

impl Source {
    pub fn new(traffic: Traffic, packet: ByteCount, slot: Duration, mut random: RandomStream) -> Self {
        let phase = random.uniform();
        let mut source = Self {
            traffic,
            packet,
            slots_per_s: 1.0 / slot.as_secs_f64(),
            next: 0.0,
            burst_ends: 0.0,
            random,
        };
        source.next = match traffic {
            Traffic::Backlogged => 0.0,
            Traffic::Constant(rate) => phase * source.interval(rate),
            Traffic::OnOff { burst, pause, .. } => {
                phase * (burst.as_secs_f64() + pause.as_secs_f64()) * source.slots_per_s
            }
        };
        source
    }

    fn interval(&self, rate: Rate) -> f64 {
        rate.transmission_time(self.packet).as_secs_f64() * self.slots_per_s
    }

    /// Packets written until the end of `slot`, of which `waiting` have not left yet.
    pub fn written(&mut self, slot: u64, waiting: usize) -> usize {
        /// Packets that a backlogged source keeps ready.
        const READY: usize = 200;
        let end = slot as f64 + 1.0;
        let rate = match self.traffic {
            Traffic::Backlogged => return READY.saturating_sub(waiting),
            Traffic::Constant(rate) | Traffic::OnOff { rate, .. } => rate,
        };
        let interval = self.interval(rate);
        let mut packets = 0;
        while self.next < end {
            if let Traffic::OnOff { burst, pause, shape, .. } = self.traffic
                && self.next >= self.burst_ends
            {
                let length = self.random.pareto(burst.as_secs_f64(), shape) * self.slots_per_s;
                let rest = self.random.pareto(pause.as_secs_f64(), shape) * self.slots_per_s;
                self.next = self.burst_ends.max(self.next) + rest;
                self.burst_ends = self.next + length;
                continue;
            }
            packets += 1;
            self.next += interval;
        }
        packets
    }
}
