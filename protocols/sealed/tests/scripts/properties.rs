//! Whatever the network does: nothing twice, nothing forged, and no session that stays mute.
use super::support::{Ends, GATEWAY, MEMBER, PEER, address, ends};
use prismux_endpoint::Endpoint;
use prismux_sealed::{Limits, Opened, Sessions};
use prismux_units::{Duration, Instant};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::net::SocketAddr;

/// What happens to a datagram.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Arrives,
    Lost,
    Twice,
    Late,
    Changed(u16),
    FromElsewhere,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        4 => Just(Fate::Arrives),
        2 => Just(Fate::Lost),
        1 => Just(Fate::Twice),
        1 => Just(Fate::Late),
        1 => any::<u16>().prop_map(Fate::Changed),
        1 => Just(Fate::FromElsewhere),
    ]
}

/// A datagram on its way: when it arrives, at the gateway or at the member, from where.
type OnTheWay = (Instant, bool, SocketAddr, Vec<u8>);

struct Network {
    ends: Ends,
    now: Instant,
    on_the_way: Vec<OnTheWay>,
    fates: Vec<Fate>,
    sent: BTreeSet<Vec<u8>>,
    received: BTreeSet<Vec<u8>>,
    payloads: u32,
}

const DELAY: Duration = Duration::from_millis(50);

impl Network {
    fn end(&mut self, gateway: bool) -> &mut Sessions {
        if gateway { &mut self.ends.gateway } else { &mut self.ends.member }
    }

    fn put(&mut self, from_gateway: bool, bytes: Vec<u8>) {
        let (to_gateway, from) = (!from_gateway, address(if from_gateway { GATEWAY } else { MEMBER }));
        let arrival = self.now + DELAY;
        match self.fates.pop().unwrap_or(Fate::Arrives) {
            Fate::Arrives => self.on_the_way.push((arrival, to_gateway, from, bytes)),
            Fate::Lost => {}
            Fate::Twice => {
                self.on_the_way.push((arrival, to_gateway, from, bytes.clone()));
                self.on_the_way.push((arrival + DELAY * 7, to_gateway, from, bytes));
            }
            Fate::Late => self.on_the_way.push((arrival + DELAY * 100, to_gateway, from, bytes)),
            Fate::Changed(bit) => {
                let mut bytes = bytes;
                let bit = usize::from(bit) % (bytes.len() * 8);
                bytes[bit / 8] ^= 1 << (bit % 8);
                self.on_the_way.push((arrival, to_gateway, from, bytes));
            }
            Fate::FromElsewhere => {
                self.on_the_way.push((arrival, to_gateway, address("203.0.113.66:666"), bytes));
            }
        }
    }

    fn flush(&mut self, gateway: bool) {
        let now = self.now;
        while let Some(transmit) = self.end(gateway).poll_transmit(now) {
            self.put(gateway, transmit.bytes);
        }
        while self.end(gateway).poll_event().is_some() {}
    }

    /// Both ends send a payload of their own, if they can.
    fn speak(&mut self) {
        for gateway in [false, true] {
            self.payloads += 1;
            let payload =
                format!("{} {gateway}, and enough of it to pay for a question", self.payloads).into_bytes();
            let (now, mut out) = (self.now, Vec::new());
            if self.end(gateway).seal(now, PEER, &[&payload], &mut out).is_ok() {
                self.sent.insert(payload);
                self.put(gateway, out);
            }
            self.flush(gateway);
        }
    }

    fn run_until(&mut self, end: Instant) -> Result<(), TestCaseError> {
        loop {
            let arrival = self.on_the_way.iter().map(|packet| packet.0).min();
            let timers =
                [false, true].map(|gateway| self.end(gateway).poll_timeout().map(|deadline| deadline.at));
            let Some(next) =
                arrival.into_iter().chain(timers.into_iter().flatten()).min().filter(|at| *at <= end)
            else {
                break;
            };
            prop_assert!(
                next >= self.now || timers.iter().flatten().all(|at| *at != next),
                "a timer in the past"
            );
            self.now = self.now.max(next);
            let now = self.now;
            let due = self.on_the_way.iter().position(|packet| packet.0 <= now);
            if let Some(at) = due {
                let (_, gateway, from, bytes) = self.on_the_way.remove(at);
                let mut out = Vec::new();
                if let Ok(Opened::Payload { .. }) = self.end(gateway).open(now, from, &bytes, &mut out)
                    && !out.is_empty()
                {
                    prop_assert!(self.sent.contains(&out), "nobody sent {out:?}");
                    prop_assert!(self.received.insert(out), "accepted twice");
                }
                self.flush(gateway);
            }
            for gateway in [false, true] {
                self.end(gateway).handle_timeout(now);
                self.flush(gateway);
            }
        }
        self.now = self.now.max(end);
        Ok(())
    }
}

proptest! {
    #![proptest_config(prismux_properties::cases(48))]
    #[test]
    fn nothing_twice_nothing_forged_and_no_session_stays_mute(
        fates in proptest::collection::vec(fate(), 1..160),
        pauses in proptest::collection::vec(1u64..8000, 1..40),
        restart in proptest::option::of(0usize..40),
    ) {
        // Short lives, so that renewals meet all this.
        let limits = Limits {
            rekey_after: Duration::from_secs(12),
            reject_after: Duration::from_secs(30),
            keepalive_after: Duration::from_secs(3),
            ..Limits::default()
        };
        let mut network = Network {
            ends: ends(limits), now: Instant::ZERO, on_the_way: Vec::new(), fates,
            sent: BTreeSet::new(), received: BTreeSet::new(), payloads: 0,
        };
        for (step, pause) in pauses.iter().enumerate() {
            network.speak();
            if restart == Some(step) {
                // The gateway forgets everything.
                network.ends.gateway = ends(limits).gateway;
            }
            let until = network.now + Duration::from_millis(*pause);
            network.run_until(until)?;
        }
        // The network works from now on.
        network.fates.clear();
        let late = network.now + DELAY * 120;
        network.run_until(late)?;
        for _ in 0..20 {
            network.speak();
            let until = network.now + Duration::from_secs(1);
            network.run_until(until)?;
        }
        let before = network.received.len();
        network.speak();
        let until = network.now + Duration::from_secs(1);
        network.run_until(until)?;
        prop_assert_eq!(network.received.len(), before + 2, "both directions within 20 s");
    }
}
