//! How far packets came beside how far they would have had to.
use super::networks::Network;
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant};
use prismux_wireless::{Air, AirConfig, HostConfig, HostId, MacConfig, Position, RadioConfig, parse_ns2};
use std::error::Error;

/// Hops of datagrams that arrived.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hops {
    pub packets: u64,
    pub made: u64,
    pub fewest: u64,
    pub packets_at_fewest: u64,
}

impl Hops {
    /// Counts a datagram; one that came by fewer hops than are possible at its end left when they were.
    pub fn count(&mut self, made: u32, fewest: Option<u32>) {
        let fewest = fewest.unwrap_or(made).min(made);
        self.packets += 1;
        self.made += u64::from(made);
        self.fewest += u64::from(fewest);
        self.packets_at_fewest += u64::from(made == fewest);
    }

    /// Hops above the fewest, in the mean; and the packets without one above, in percent.
    pub fn above_and_percent(&self) -> [f64; 2] {
        let packets = self.packets as f64;
        [(self.made - self.fewest) as f64 / packets, 100.0 * self.packets_at_fewest as f64 / packets]
    }
}

/// Where the hosts of a network are.
pub struct Places {
    air: Air<()>,
    hosts: u32,
    range_m: f64,
}

impl Places {
    pub fn new(network: &Network) -> Result<Self, Box<dyn Error>> {
        let hosts = network.kind.hosts();
        let radio = RadioConfig::wavelan();
        let config = AirConfig::new(radio, MacConfig::ns2());
        let movements = parse_ns2("movements", &network.movements, hosts as usize)?;
        let host = |(index, mobility)| HostConfig::new(format!("h{index}"), mobility);
        let air = Air::new(&config, movements.into_iter().enumerate().map(host).collect(), Seed(1))?;
        Ok(Self { air, hosts, range_m: radio.range_m() })
    }

    /// The fewest hops from one host to another at a moment that is no earlier than those before it.
    pub fn fewest_hops(&mut self, at_s: f64, from: u32, to: u32) -> Option<u32> {
        let now = Instant::ZERO + Duration::from_secs_f64(at_s);
        let places: Vec<Position> =
            (0..self.hosts).map(|host| self.air.position(now, HostId(host))).collect();
        let mut farther: Vec<u32> = (0..self.hosts).filter(|host| *host != from).collect();
        let (mut front, mut hops) = (vec![from], 0);
        while !front.is_empty() && !front.contains(&to) {
            let near = |host: &mut u32| {
                let reaches =
                    |other: &u32| places[*other as usize].distance_m(places[*host as usize]) <= self.range_m;
                front.iter().any(reaches)
            };
            front = farther.extract_if(.., near).collect();
            hops += 1;
        }
        (!front.is_empty()).then_some(hops)
    }
}
