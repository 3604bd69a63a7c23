//! Flows with their own state of the links decide as flows with a proxy each, whatever happens to them.
use crate::support::{Bench, Receiver, Released, Said, ack, data, flow_number};
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_prism::{LinkConfig, LinkId, LinkStateKept, Proxy, ProxyConfig};
use prismux_units::{Instant, Rate};
use prismux_wire::{SeqNumber, TcpHeader};
use proptest::prelude::*;
use std::collections::VecDeque;

const FLOWS: usize = 3;
const FIRST: u32 = 1000;
const LENGTH: u32 = 1000;
const WINDOW: u32 = 60 * LENGTH;
/// More links than the proxy looks through one by one.
const LINKS: usize = 9;
const RATES_KBPS: [u64; LINKS] = [600, 900, 1500, 600, 700, 800, 1000, 1200, 2000];

/// Sender and receiver of a flow.
struct Ends {
    receiver: Receiver,
    acked: SeqNumber,
    next: SeqNumber,
    again: Vec<SeqNumber>,
}

/// Several flows through one proxy, and the same packets through a proxy for each.
struct Pair {
    joint: Bench,
    each: Vec<Bench>,
    ends: Vec<Ends>,
    /// Packets under way, by link: flow, number, whether it gets lost.
    links: [VecDeque<(usize, SeqNumber, bool)>; LINKS],
    up: [bool; LINKS],
    random: RandomStream,
    now_us: u64,
    /// Verdicts that were not the same.
    different: u32,
}

/// The flow that a tagged packet belongs to, and what to call packet `seq` of it.
fn flow_of(tag: u64) -> usize {
    (tag >> 40) as usize
}

fn tag(flow: usize, seq: SeqNumber) -> u64 {
    (flow as u64) << 40 | u64::from(seq.0)
}

fn of_flow(said: &Said, flow: usize) -> Said {
    Said {
        forwarded: said.forwarded.iter().copied().filter(|(tag, _)| flow_of(*tag) == flow).collect(),
        released: said.released.iter().copied().filter(|ack| flow_of(ack.tag) == flow).collect(),
        dropped: said.dropped.iter().copied().filter(|tag| flow_of(*tag) == flow).collect(),
    }
}

fn key(flow: usize) -> prismux_wire::FlowKey {
    flow_number(5000 + flow as u16)
}

impl Pair {
    fn new(seed: u64, link_state: LinkStateKept) -> Self {
        let mut joint = Bench::new(ProxyConfig { link_state, ..ProxyConfig::paper() }, &RATES_KBPS);
        // A proxy with one flow has one state of the links anyway.
        let own = |_| Bench::new(ProxyConfig::paper(), &RATES_KBPS);
        let mut each: Vec<Bench> = (0..FLOWS).map(own).collect();
        for (flow, own) in each.iter_mut().enumerate() {
            let begins = Instant::from_millis(1 + 20 * flow as u64);
            joint.handshake_of(key(flow), begins, FIRST, 7);
            own.handshake_of(key(flow), begins, FIRST, 7);
        }
        let first = SeqNumber(FIRST);
        let ends = || Ends { receiver: Receiver::new(FIRST), acked: first, next: first, again: Vec::new() };
        Self {
            joint,
            each,
            ends: (0..FLOWS).map(|_| ends()).collect(),
            links: Default::default(),
            up: [true; LINKS],
            random: Seed(seed).stream("own-proxies"),
            now_us: 100_000,
            different: 0,
        }
    }

    fn now(&self) -> Instant {
        Instant::from_nanos(self.now_us * 1000)
    }

    /// Does the same to the one proxy and to the flow's own.
    fn both(&mut self, flow: usize, act: impl Fn(&mut Proxy<u64>)) {
        act(&mut self.joint.proxy);
        act(&mut self.each[flow].proxy);
        let (joint, own) = (self.joint.drain(), self.each[flow].drain());
        self.carry_out(flow, &joint, &own);
    }

    /// Does the same to the one proxy and to all others.
    fn all(&mut self, act: impl Fn(&mut Bench) -> Said) {
        let joint = act(&mut self.joint);
        for flow in 0..FLOWS {
            let own = act(&mut self.each[flow]);
            self.carry_out(flow, &of_flow(&joint, flow), &own);
        }
    }

    /// What the one proxy said is what happens.
    fn carry_out(&mut self, flow: usize, joint: &Said, own: &Said) {
        self.different += u32::from(joint != own);
        for &(tag, link) in &joint.forwarded {
            let lost = self.random.chance(0.02);
            self.links[usize::from(link.0)].push_back((flow, SeqNumber(tag as u32), lost));
        }
        for Released { rewrite, .. } in &joint.released {
            let ends = &mut self.ends[flow];
            ends.acked = ends.acked.max(rewrite.ack);
            ends.again.extend(rewrite.report.map(|report| report.lost));
        }
    }

    fn send(&mut self, flow: usize, seq: SeqNumber) {
        let now = self.now();
        self.both(flow, |proxy| proxy.handle_data(now, key(flow), &data(seq.0), LENGTH, tag(flow, seq)));
    }

    /// What the senders may send and have to repeat.
    fn senders(&mut self) {
        for flow in 0..FLOWS {
            for seq in std::mem::take(&mut self.ends[flow].again) {
                self.send(flow, seq);
            }
            while self.ends[flow].next.before(self.ends[flow].acked + WINDOW) {
                let seq = self.ends[flow].next;
                self.ends[flow].next += LENGTH;
                self.send(flow, seq);
            }
        }
    }

    /// A packet arrives over some link, and its ACK comes back, if nothing is lost.
    fn arrival(&mut self) -> bool {
        let busy: Vec<usize> = (0..LINKS).filter(|&link| !self.links[link].is_empty()).collect();
        if busy.is_empty() {
            return false;
        }
        let link = busy[self.random.below(busy.len() as u64) as usize];
        let Some((flow, seq, false)) = self.links[link].pop_front() else { return true };
        let now = self.now();
        let stamp = (self.now_us / 1000) as u32;
        let header: TcpHeader = self.ends[flow].receiver.receive(seq, LENGTH, stamp, 0);
        if !self.random.chance(0.05) {
            self.both(flow, |proxy| proxy.handle_reverse(now, key(flow), &header, 0, tag(flow, seq)));
        }
        true
    }

    /// A member comes or goes; what it had under way is lost.
    fn member(&mut self) {
        let link = self.random.below(LINKS as u64) as usize;
        let (now, id) = (self.now(), LinkId(link as u8));
        let alone = self.up.iter().filter(|up| **up).count() == 1;
        let kbps = RATES_KBPS[self.random.below(LINKS as u64) as usize];
        if !self.up[link] {
            let rate = Some(Rate::from_kbps(kbps));
            self.all(|bench| {
                let config = LinkConfig { advertised_rate: rate, ..LinkConfig::default() };
                bench.proxy.join(now, id, config);
                bench.drain()
            });
            self.up[link] = true;
        } else if !alone {
            self.links[link].clear();
            self.all(|bench| {
                bench.proxy.leave(now, id);
                bench.drain()
            });
            self.up[link] = false;
        }
    }

    /// Some hundred packets of each flow; how many verdicts differed.
    fn run(mut self) -> u32 {
        for _ in 0..3000 {
            self.now_us += 500 + self.random.below(4000);
            let now = self.now();
            self.all(|bench| bench.run_timers(now));
            self.senders();
            if !self.arrival() {
                // All is quiet: the senders' timers.
                self.now_us += 1_000_000;
                for flow in 0..FLOWS {
                    let seq = self.ends[flow].acked;
                    self.send(flow, seq);
                }
            }
            if self.random.chance(0.01) {
                self.member();
            }
        }
        for flow in 0..FLOWS {
            let ends = &self.ends[flow];
            assert!(
                ends.acked.distance_from(SeqNumber(FIRST)) > 100 * LENGTH as i32,
                "flow {flow} stands still"
            );
        }
        assert!(self.joint.proxy.counters().losses_detected > 20);
        self.books_balance();
        self.different
    }

    /// Once everything has arrived, nothing is in flight.
    fn books_balance(&mut self) {
        let now = self.now();
        for flow in 0..FLOWS {
            let header = ack(self.ends[flow].next.0, &[]);
            self.both(flow, |proxy| proxy.handle_reverse(now, key(flow), &header, 0, tag(flow, header.ack)));
        }
        let status = self.joint.proxy.link_status();
        assert!(
            status.iter().all(|link| (link.in_flight_packets, link.in_flight_bytes) == (0, 0)),
            "{status:?}"
        );
    }
}

proptest! {
    #![proptest_config(prismux_properties::cases(16))]
    #[test]
    fn flows_with_their_own_state_are_as_flows_with_a_proxy_each(seed in any::<u64>()) {
        prop_assert_eq!(Pair::new(seed, LinkStateKept::Flow).run(), 0);
    }
}

#[test]
fn flows_of_a_community_are_not() {
    let different = Pair::new(1, LinkStateKept::Community).run();
    assert!(different > 100, "{different} verdicts");
}
