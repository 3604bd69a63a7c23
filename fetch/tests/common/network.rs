//! What happens to datagrams between a client's interfaces and servers.
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// What the network does to datagrams.
#[derive(Clone, Copy)]
pub struct Weather {
    pub loss: f64,
    pub duplicates: f64,
    pub corruption: f64,
    /// Datagrams take from 5 ms to this much longer.
    pub jitter: Duration,
}

pub const CLEAR: Weather =
    Weather { loss: 0.0, duplicates: 0.0, corruption: 0.0, jitter: Duration::from_millis(0) };

pub fn server_address(index: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1 + index as u8], 4717))
}

pub fn client_address(link: usize, moved: u16) -> SocketAddr {
    SocketAddr::from(([198, 51, 100, 1 + link as u8], 5000 + moved))
}

#[derive(Clone, Copy)]
pub enum Destination {
    /// A server, by number.
    Server(usize),
    /// The client, from a server.
    Client(usize),
}

/// A datagram under way.
pub struct UnderWay {
    pub destination: Destination,
    /// The client's interface.
    pub link: usize,
    pub bytes: Vec<u8>,
}

pub struct Network {
    pub weather: Weather,
    /// How fast interfaces receive, with a queue of 100 ms; without limit at first.
    pub rate: Option<Rate>,
    /// Everything that was sent and when, if it is recorded.
    pub record: Option<Vec<(Instant, Vec<u8>)>>,
    /// Interfaces over which nothing comes through.
    pub dark: Vec<bool>,
    free_at: Vec<Instant>,
    air: BTreeMap<(Instant, u64), UnderWay>,
    sent: u64,
    random: RandomStream,
}

impl Network {
    pub fn new(links: usize, weather: Weather, seed: u64) -> Self {
        Self {
            weather,
            rate: None,
            record: None,
            dark: vec![false; links],
            free_at: vec![Instant::ZERO; links],
            air: BTreeMap::new(),
            sent: 0,
            random: Seed(seed).stream("weather"),
        }
    }

    pub fn dispatch(&mut self, now: Instant, under_way: UnderWay) {
        if let Some(record) = &mut self.record {
            record.push((now, under_way.bytes.clone()));
        }
        let copies = 1 + u64::from(self.random.uniform() < self.weather.duplicates);
        for _ in 0..copies {
            if self.random.uniform() < self.weather.loss || self.dark[under_way.link] {
                continue;
            }
            let mut bytes = under_way.bytes.clone();
            if self.random.uniform() < self.weather.corruption {
                let index = self.random.below(bytes.len() as u64) as usize;
                bytes[index] ^= 1 << self.random.below(8);
            }
            let jitter = self.random.below(self.weather.jitter.as_nanos() + 1);
            let mut leaves_at = now;
            if let (Some(rate), Destination::Client(_)) = (self.rate, under_way.destination) {
                let free_at = self.free_at[under_way.link].max(now);
                if free_at - now > Duration::from_millis(100) {
                    continue;
                }
                leaves_at = free_at + rate.transmission_time(ByteCount::new(bytes.len() as u64));
                self.free_at[under_way.link] = leaves_at;
            }
            let at = leaves_at + Duration::from_millis(5) + Duration::from_nanos(jitter);
            self.sent += 1;
            self.air.insert((at, self.sent), UnderWay { bytes, ..under_way });
        }
    }

    /// When the next datagram arrives.
    pub fn next_arrival(&self) -> Option<Instant> {
        self.air.keys().next().map(|&(at, _)| at)
    }

    /// The next datagram that arrives.
    pub fn pop(&mut self) -> Option<UnderWay> {
        self.air.pop_first().map(|(_, under_way)| under_way)
    }
}
