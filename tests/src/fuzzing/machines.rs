//! Targets that drive a whole state machine with hostile packets: the input is a little program, one step after
//! another.
use prismux_endpoint::Endpoint;
use prismux_prism::{LinkConfig, LinkId, Proxy, ProxyConfig, ProxyCounters, RpcMode, Verdict};
use prismux_tcp::{Connection, SegmentIn, TcpConfig};
use prismux_tcp_door::{Door, DoorConfig};
use prismux_tcp_ho::{HandoffConfig, HandoffServer, notice_of};
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::{
    DeliveryOrder, Ecn, FlowKey, HandoffNotice, KeepFactor, LossReport, SackBlock, SeqNumber, TcpFlags,
    TcpHeader, Timestamps,
};
use std::collections::BTreeSet;

/// Bytes of one step of a program.
pub(super) const STEP_BYTES: usize = 16;
/// The sequence number around which programs play; high, so that numbers wrap.
const ORIGIN: SeqNumber = SeqNumber(0xffff_f000);

/// One step: an operation with small operands.
struct Step<'a>(&'a [u8]);

impl Step<'_> {
    fn small(&self, at: usize) -> u32 {
        u32::from(self.0[at])
    }

    /// A sequence number: mostly one past the origin and some units of 500, where data would start; now and then one
    /// off that, or anywhere.
    fn seq(&self, at: usize) -> SeqNumber {
        let (unit, odd) = (self.small(at), self.small(at + 1));
        match odd {
            250.. => SeqNumber(unit << 24 | odd << 8),
            225.. => ORIGIN + (unit % 16) * 500 + odd % 2 * 2,
            _ => ORIGIN + 1 + (unit % 16) * 500,
        }
    }

    /// A header whose every field comes from the step.
    fn header(&self) -> TcpHeader {
        let mut header = TcpHeader {
            source_port: 1,
            destination_port: 2,
            flags: TcpFlags(self.0[2]),
            seq: self.seq(3),
            ack: self.seq(5),
            window: (self.small(7) * 257) as u16,
            ..TcpHeader::default()
        };
        let options = &mut header.options;
        if self.0[8] & 1 != 0 {
            options.timestamps = Some(Timestamps { value: self.small(9) * 10, echo: self.small(10) * 10 });
        }
        for block in 0..usize::from(self.0[8] >> 1 & 3) {
            options.sack.push(SackBlock { start: self.seq(9 + block), end: self.seq(11 + block) });
        }
        if self.0[8] & 8 != 0 {
            let keep = KeepFactor((self.small(13) * 257) as u16);
            options.loss_report = Some(LossReport { lost: self.seq(12), link: self.0[14], flags: 0, keep });
        }
        if self.0[8] & 16 != 0 {
            options.mss = Some((self.small(11) * 200) as u16);
            options.window_scale = Some(self.0[12]);
            options.sack_permitted = true;
        }
        if self.0[8] & 32 != 0 {
            // Mostly a rate of everyday links; now and then anything at all.
            let odd = if self.0[12] >= 240 { self.small(11) << 24 } else { 0 };
            options.handoff = Some(HandoffNotice { bandwidth_kbps: odd | (self.small(13) * 40) });
        }
        if self.0[8] & 64 != 0 {
            let (adsn, tpsn) = (self.0[9], (self.small(10) * 257) as u16);
            options.delivery_order = Some(DeliveryOrder {
                adsn: (self.0[14] & 4 != 0).then_some(adsn),
                tpsn: (self.0[14] & 8 != 0).then_some(tpsn),
                out_of_order: self.0[14] & 16 != 0,
            });
        }
        header
    }

    fn payload_bytes(&self) -> u32 {
        [0, 0, 1, 500, 500, 1000, 1436, 65_000][usize::from(self.0[15] & 7)]
    }
}

/// Steps of a program, and the time at which each happens.
fn steps(data: &[u8]) -> impl Iterator<Item = (Instant, Step<'_>)> {
    let mut now = Instant::ZERO;
    data.chunks_exact(STEP_BYTES).take(400).map(move |step| {
        // From no time at all to minutes, in powers of two.
        now += Duration::from_micros((1 << (step[1] & 31)) - 1);
        (now, Step(step))
    })
}

/// A proxy under arbitrary packets from both sides, links that come and go, and time that jumps.
///
/// Every packet towards the receiver leaves at once over a link that is up, is dropped, or waits for room and is
/// counted; no packet appears from nowhere.
pub fn proxy(data: &[u8]) {
    run_proxy(data);
}

/// Runs a program; returns what the proxy counted.
fn run_proxy(data: &[u8]) -> ProxyCounters {
    let Some((first, program)) = data.split_first() else { return ProxyCounters::default() };
    let mut config = if first & 1 == 0 { ProxyConfig::paper() } else { ProxyConfig::default() };
    config.rpc =
        [RpcMode::Full, RpcMode::Resequence, RpcMode::Off, RpcMode::Full][usize::from(first >> 1 & 3)];
    let mut proxy: Proxy<u32> = Proxy::new(config);
    let (mut links, mut given) = (BTreeSet::new(), BTreeSet::new());
    let rate = |bits: u32| (bits > 0).then(|| Rate::from_kbps(u64::from(bits) * 100));
    let mut waited_before = 0;
    for (packet, (now, step)) in steps(program).enumerate() {
        let packet = packet as u32;
        let flow = FlowKey {
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            source_port: 80,
            destination_port: 1000 + u16::from(step.0[0] >= 0xe0),
            protocol: 6,
        };
        let (header, payload) = (step.header(), step.payload_bytes());
        let operation = step.0[0] & 15;
        let link = LinkId(step.0[3] & 3);
        match operation {
            0 | 1 => {
                let config = LinkConfig {
                    name: String::new(),
                    advertised_rate: rate(step.small(4)),
                    round_trip: None,
                };
                proxy.join(now, link, config);
                links.insert(link);
            }
            2 => {
                proxy.leave(now, link);
                links.remove(&link);
            }
            3 => proxy.handle_timeout(now),
            4 => proxy.handle_opaque(step.small(3).into(), packet),
            5..=9 => proxy.handle_data(now, flow, &header, payload, packet),
            _ => proxy.handle_reverse(now, flow, &header, payload, packet),
        }
        if (4..=15).contains(&operation) {
            given.insert(packet);
        }
        let waited = proxy.counters().waited_packets - waited_before;
        waited_before += waited;
        let mut answered = 0;
        while let Some(verdict) = proxy.poll_verdict() {
            let handle = match verdict {
                Verdict::Forward { link, packet: handle, .. } => {
                    assert!(links.contains(&link), "forwarded over {link}, which is not there");
                    answered += u32::from(handle == packet);
                    handle
                }
                Verdict::Drop { packet: handle, .. } => {
                    answered += u32::from(handle == packet);
                    handle
                }
                Verdict::Release { packet, .. } => packet,
            };
            assert!(given.contains(&handle), "packet {handle} was never given");
        }
        if (4..=9).contains(&operation) {
            assert!(answered <= 1, "a packet towards the receiver is answered twice");
            assert!(answered == 1 || waited == 1, "it neither left nor was dropped nor waits");
        }
        assert!(proxy.poll_timeout().is_none_or(|d| d.at < Instant::MAX), "a deadline that never comes");
    }
    *proxy.counters()
}

/// A connection under arbitrary segments, application calls and time that jumps.
///
/// It neither delivers bytes that nobody sent nor takes back what it delivered, and never sends without end.
pub fn connection(data: &[u8]) {
    run_connection(data, Beside::Nothing);
}

/// The same with a sender that believes handoff notices and a host that moves itself.
pub fn handoff(data: &[u8]) {
    run_connection(data, Beside::Handoff);
}

/// The same with TCP-DOOR, which judges the order of whatever arrives.
pub fn door(data: &[u8]) {
    run_connection(data, Beside::Door);
}

/// What a connection has beside TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    Handoff,
    Door,
}

/// Runs a program; returns the bytes of our stream that were acknowledged and of the peer's that were delivered.
fn run_connection(data: &[u8], beside: Beside) -> (u64, u64) {
    let Some((first, program)) = data.split_first() else { return (0, 0) };
    let mut config = if first & 1 == 0 { TcpConfig::modern() } else { TcpConfig::linux_2_4() };
    config.ecn = first & 2 != 0;
    let mut connection = if first & 4 == 0 {
        Connection::connect(config, 2, 1, ORIGIN, Instant::ZERO)
    } else {
        let syn = TcpHeader {
            flags: TcpFlags::SYN,
            seq: ORIGIN,
            source_port: 1,
            destination_port: 2,
            ..TcpHeader::default()
        };
        Connection::accept(config, &syn, ORIGIN, Instant::ZERO)
    };
    let moves = beside == Beside::Handoff;
    match beside {
        Beside::Nothing => {}
        Beside::Handoff => {
            connection.set_extension(Box::new(HandoffServer::new(HandoffConfig::default())));
        }
        Beside::Door => {
            let config = if first & 8 == 0 { DoorConfig::published() } else { DoorConfig::guarded() };
            connection.set_order_watch(Box::new(Door::new(config)));
        }
    }
    let mut delivered = 0;
    for (now, step) in steps(program) {
        let bandwidth = (step.0[3] > 0).then(|| Rate::from_kbps(u64::from(step.small(3)) * 40));
        match step.0[0] & 15 {
            4 if moves => connection.handle_own_handoff(now, bandwidth),
            5 if moves => {
                connection.announce_handoff(notice_of(bandwidth));
            }
            0 => connection.write(u64::from(step.small(3)) * 1000),
            1 => connection.read(u64::from(step.small(3)) * 1000),
            2 if step.0[3] > 200 => connection.close(),
            2 if step.0[3] == 7 => connection.abort(),
            3 => connection.handle_timeout(now),
            _ => {
                let ecn = Ecn::from_bits(step.0[14]);
                let segment = SegmentIn { header: step.header(), payload_bytes: step.payload_bytes(), ecn };
                connection.handle_input(now, segment);
            }
        }
        for sent in 0.. {
            assert!(sent < 100_000, "the connection sends without end");
            let Some(segment) = connection.poll_transmit(now) else { break };
            assert!(segment.header.options.fits());
            assert!(segment.stream_offset + u64::from(segment.payload_bytes) <= connection.stream_written());
        }
        while connection.poll_event().is_some() {}
        assert!(connection.bytes_received_in_order() >= delivered, "delivered bytes are taken back");
        delivered = connection.bytes_received_in_order();
        assert!(connection.stream_acked() <= connection.stream_written());
        assert!(connection.engine().cwnd() > 0, "a window of nothing");
        if let Err(fault) = connection.engine().audit() {
            panic!("{fault}");
        }
    }
    (connection.stream_acked(), delivered)
}

#[cfg(test)]
mod tests {
    use super::{Beside, run_connection, run_proxy};
    use crate::fuzzing::seeds;

    #[test]
    fn the_seeds_reach_the_depths_of_both_machines() {
        let (mut acknowledged, mut delivered) = (0, 0);
        let (mut reports, mut released, mut held) = (0, 0, 0);
        for program in seeds::programs() {
            let (ours, theirs) = run_connection(&program, Beside::Nothing);
            acknowledged += u64::from(ours > 0);
            delivered += u64::from(theirs > 0);
            let counters = run_proxy(&program);
            reports += counters.reports_sent;
            released += counters.acks_corrected;
            held += counters.acks_held;
        }
        assert!(acknowledged >= 2 && delivered >= 4, "{acknowledged} {delivered}");
        assert!(reports > 0 && released > 0 && held > 0, "{reports} {released} {held}");
    }
}
