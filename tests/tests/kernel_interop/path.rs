//! What lies between the two: nothing, or a link in each direction that loses, reorders, duplicates and
//! corrupts.
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_link::{Jitter, Link, LinkConfig, LossModel, QueueLimit};
use prismux_units::{Duration, Instant, Probability};

/// One direction.
pub struct Path {
    link: Option<Link<Vec<u8>>>,
    direct: std::collections::VecDeque<Vec<u8>>,
    random: RandomStream,
    pub corrupted: u64,
}

/// 2 % loss, 1 % duplicates, 1 % with a flipped bit, and enough jitter for packets to overtake one another.
fn bad_weather() -> LinkConfig {
    let chance = |p| Probability::new(p).expect("a probability");
    LinkConfig {
        rate: None,
        delay: Duration::from_micros(500),
        jitter: Jitter { max: Duration::from_micros(500), in_order: false },
        loss: LossModel::Bernoulli(chance(0.02)),
        queue: QueueLimit::Unlimited,
        duplicate: chance(0.01),
        corrupt: chance(0.01),
        ..LinkConfig::default()
    }
}

impl Path {
    pub fn new(impaired: bool, seed: Seed, name: &str) -> Self {
        Self {
            link: impaired.then(|| Link::new(&bad_weather(), seed, name)),
            direct: Default::default(),
            random: seed.stream(name),
            corrupted: 0,
        }
    }

    pub fn send(&mut self, now: Instant, packet: &[u8]) {
        match &mut self.link {
            Some(link) => {
                // A loss is the point.
                let _ = link.enqueue(now, packet.len() as u32, packet.to_vec());
            }
            None => self.direct.push_back(packet.to_vec()),
        }
    }

    pub fn receive(&mut self, now: Instant) -> Option<Vec<u8>> {
        let Some(link) = &mut self.link else { return self.direct.pop_front() };
        let delivery = link.poll_delivery(now)?;
        let mut packet = delivery.packet;
        if delivery.corrupted {
            self.corrupted += 1;
            let bit = self.random.below(packet.len() as u64 * 8) as usize;
            packet[bit / 8] ^= 1 << (bit % 8);
        }
        Some(packet)
    }

    pub fn next_wakeup(&self) -> Option<Instant> {
        self.link.as_ref().and_then(Link::next_wakeup)
    }

    pub fn describe(&self) -> String {
        match &self.link {
            Some(link) => format!("{:?}, {} corrupted", link.stats(), self.corrupted),
            None => "no link".to_owned(),
        }
    }
}
