//! Segments that somebody else made up, with the right addresses and ports and the wrong numbers: whatever they are,
//! the connection goes on as if they had never come. And what ends or renews a connection in truth does.
use crate::support::world::{FIRST, PACKET, WINDOW, World};
use crate::support::{Said, ack, data, flow};
use prismux_prism::{LinkConfig, LinkId, Proxy, ProxyConfig, ReverseState};
use prismux_units::Instant;
use prismux_wire::{SackBlock, SeqNumber, TcpFlags, TcpHeader, Timestamps};
use proptest::prelude::*;

/// The packet that carries a forged segment.
const FORGED: u64 = u64::MAX;
/// Numbers this far from the true ones may belong to the connection; 2^24 and the flight of the world.
const NEAR: i32 = (1 << 24) + 2 * (WINDOW * PACKET) as i32;

#[derive(Debug, Clone)]
struct Forged {
    from_sender: bool,
    header: TcpHeader,
    payload_bytes: u32,
}

fn segment() -> impl Strategy<Value = Forged> {
    let flags = prop_oneof![
        Just(TcpFlags::SYN),
        Just(TcpFlags::SYN | TcpFlags::ACK),
        Just(TcpFlags::RST),
        Just(TcpFlags::RST | TcpFlags::ACK),
        Just(TcpFlags::FIN | TcpFlags::ACK),
        Just(TcpFlags::ACK),
        Just(TcpFlags::default()),
    ];
    let options = (any::<Option<(u32, u32)>>(), any::<Option<(u32, u32)>>(), any::<Option<u8>>());
    (any::<bool>(), flags, any::<u32>(), any::<u32>(), any::<u16>(), 0..1461_u32, options).prop_map(
        |(from_sender, flags, seq, ack, window, payload_bytes, (stamps, block, scale))| {
            let mut header =
                TcpHeader { seq: SeqNumber(seq), ack: SeqNumber(ack), flags, window, ..TcpHeader::default() };
            header.options.timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
            header.options.window_scale = scale;
            if let Some((start, end)) = block {
                header.options.sack.push(SackBlock { start: SeqNumber(start), end: SeqNumber(end) });
            }
            Forged { from_sender, header, payload_bytes }
        },
    )
}

/// True for numbers that nobody outside the connection would hit: all but those near the true ones.
fn is_blind(world: &World, forged: &Forged) -> bool {
    let (header, far) = (&forged.header, |a: SeqNumber, b: u32| a.distance_from(SeqNumber(b)).abs() > NEAR);
    let data = if forged.from_sender { header.seq } else { header.ack };
    let back = if forged.from_sender { header.ack } else { header.seq };
    far(data, world.next) && far(back, 1)
}

impl World {
    /// A forged segment comes in; says what became of it.
    fn forge(&mut self, forged: &Forged) -> Said {
        let Forged { from_sender, header, payload_bytes } = forged;
        match from_sender {
            true => self.bench.proxy.handle_data(self.now, flow(), header, *payload_bytes, FORGED),
            false => self.bench.proxy.handle_reverse(self.now, flow(), header, *payload_bytes, FORGED),
        }
        self.bench.drain()
    }
}

proptest! {
    #![proptest_config(prismux_properties::cases(200))]
    #[test]
    fn no_forged_segment_changes_anything(
        forged in prop::collection::vec(segment(), 1..5),
        begin in 0..400_u64,
        dead in any::<bool>(),
    ) {
        let (mut attacked, mut alone) = (World::new(), World::new());
        for world in [&mut attacked, &mut alone] {
            world.run(begin);
            world.alive[1] = !dead;
        }
        for forged in &forged {
            if is_blind(&attacked, forged) {
                let said = attacked.forge(forged);
                let carried = said.forwarded.iter().map(|(tag, _)| *tag);
                let tags: Vec<u64> = carried.chain(said.released.iter().map(|r| r.tag)).collect();
                prop_assert_eq!(tags, [FORGED], "carried, for the ends to decide, and nothing else");
                prop_assert!(said.released.iter().all(|r| r.rewrite.ack == forged.header.ack));
            }
            attacked.run(40);
            alone.run(40);
        }
        attacked.run(300);
        alone.run(300);
        let differs = attacked.said.iter().zip(&alone.said).find(|(attacked, alone)| attacked != alone);
        prop_assert!(differs.is_none(), "{differs:?}");
    }
}

/// A SYN, and a data segment, 0x3000_0000 before or after what was sent last: either made every later packet look
/// like a retransmission or every ACK impossible, and bonding was off for the rest of the connection.
#[test]
fn one_blind_segment_does_not_turn_bonding_off() {
    for (flags, payload_bytes) in [(TcpFlags::SYN, 0), (TcpFlags::ACK, 1000)] {
        for offset in [0x3000_0000, 0_u32.wrapping_sub(0x3000_0000)] {
            let mut world = World::new();
            let before = world.run(2000);
            let header = TcpHeader {
                seq: SeqNumber(world.next) + offset,
                ack: SeqNumber(1),
                flags,
                ..TcpHeader::default()
            };
            world.forge(&Forged { from_sender: true, header, payload_bytes });
            let after = world.run(2000);
            assert!(after >= before, "{flags:?} {offset:x}: {before} packets in two seconds, then {after}");
            let status = world.bench.proxy.flow_status(&flow()).unwrap();
            assert_eq!(status.state, ReverseState::Normal);
            assert_eq!(world.bench.proxy.counters().retransmissions, 0);
        }
    }
}

/// A sender that has lost its memory opens the same connection again: the receiver's SYN-ACK shows that it is a new
/// one.
#[test]
fn the_receivers_answer_renews_a_flow() {
    let mut world = World::new();
    world.run(300);
    let now = world.now;
    let syn = TcpHeader { seq: SeqNumber(70_000), flags: TcpFlags::SYN, ..TcpHeader::default() };
    world.bench.proxy.handle_data(now, flow(), &syn, 0, 1);
    let live = world.bench.proxy.flow_status(&flow()).unwrap();
    assert!(live.recorded_packets > 10, "a SYN alone renews nothing: {live:?}");
    // The old connection still lives at the receiver: its challenge ACK (RFC 5961 section 4) is no answer.
    world.bench.ack(now, &ack(world.receiver.next.0, &[]), 2);
    assert!(world.bench.proxy.flow_status(&flow()).unwrap().recorded_packets > 10);
    let mut answer = ack(70_001, &[]);
    answer.flags = TcpFlags::SYN | TcpFlags::ACK;
    world.bench.proxy.handle_reverse(now, flow(), &answer, 0, 3);
    assert_eq!(world.bench.drain().released.last().map(|r| r.tag), Some(3));
    let renewed = world.bench.proxy.flow_status(&flow()).unwrap();
    assert_eq!((renewed.recorded_packets, renewed.flight_bytes), (0, 0));
    assert!(world.bench.proxy.links().iter().all(|(_, link)| link.variables.in_flight_packets == 0));
    world.bench.send(now, 70_001, PACKET);
    assert_eq!(world.bench.proxy.flow_status(&flow()).unwrap().recorded_packets, 1);
}

/// A receiver that opens the same connection again: its acknowledgement of the sender's SYN-ACK is the evidence of
/// both.
#[test]
fn a_receiver_that_opens_anew_renews_a_flow_when_its_handshake_is_complete() {
    let mut world = World::new();
    world.run(300);
    let now = world.now;
    let syn = TcpHeader { seq: SeqNumber(5000), flags: TcpFlags::SYN, ..TcpHeader::default() };
    world.bench.proxy.handle_reverse(now, flow(), &syn, 0, 1);
    let mut answer = data(90_000);
    (answer.flags, answer.ack) = (TcpFlags::SYN | TcpFlags::ACK, SeqNumber(5001));
    world.bench.proxy.handle_data(now, flow(), &answer, 0, 2);
    assert!(world.bench.proxy.flow_status(&flow()).unwrap().recorded_packets > 10);
    let third = TcpHeader { seq: SeqNumber(5001), ..ack(90_001, &[]) };
    world.bench.ack(now, &third, 3);
    assert_eq!(world.bench.proxy.flow_status(&flow()).unwrap().recorded_packets, 0);
    let mut first = data(90_001);
    first.ack = SeqNumber(5001);
    world.bench.proxy.handle_data(now, flow(), &first, PACKET, 4);
    assert_eq!(world.bench.proxy.flow_status(&flow()).unwrap().recorded_packets, 1);
}

/// A receiver closes its window in mid-download: what is under way is nobody's loss, and nothing is repaired for it.
#[test]
fn a_reset_ends_repairs_and_gives_the_links_back_what_was_in_flight() {
    for from_sender in [true, false] {
        let mut world = World::new();
        world.run(1000);
        let before = *world.bench.proxy.counters();
        let (seq, number) = if from_sender { (world.next, 1) } else { (1, world.receiver.next.0) };
        let header = TcpHeader {
            seq: SeqNumber(seq),
            ack: SeqNumber(number),
            flags: TcpFlags::RST | TcpFlags::ACK,
            ..TcpHeader::default()
        };
        world.forge(&Forged { from_sender, header, payload_bytes: 0 });
        let in_flight = |world: &World| {
            world.bench.proxy.links().iter().map(|(_, l)| l.variables.in_flight_packets).sum::<u32>()
        };
        assert_eq!(in_flight(&world), 0);
        // What the sender had under way before it heard of the reset is carried and not recorded.
        world.bench.send(world.now, world.next, PACKET);
        assert_eq!(in_flight(&world), 0);
        let now = world.now;
        world.bench.run_timers(now + prismux_units::Duration::from_secs(10));
        let after = world.bench.proxy.counters();
        assert_eq!(after.losses_detected, before.losses_detected);
        assert_eq!(after.local_repairs, before.local_repairs);
        assert_eq!(world.bench.proxy.flow_count(), 0, "forgotten after a few seconds");
    }
}

/// Half-open connections leave room for others.
#[test]
fn a_flow_that_nobody_answers_is_forgotten_after_ten_seconds() {
    let mut world = World::new();
    world.run(100);
    for port in 1..=1000 {
        let syn = TcpHeader { seq: SeqNumber(FIRST), flags: TcpFlags::SYN, ..TcpHeader::default() };
        world.bench.proxy.handle_data(world.now, crate::support::flow_number(port), &syn, 0, 1);
    }
    assert_eq!(world.bench.proxy.flow_count(), 1001);
    let now = world.now;
    world.bench.run_timers(now + prismux_units::Duration::from_secs(11));
    assert_eq!(world.bench.proxy.flow_count(), 1);
}

/// Connections that nobody answers fill the table: a new one that somebody answers is bonded all the same, and those
/// that live stay.
#[test]
fn a_full_table_of_half_open_flows_leaves_room_for_others() {
    let mut world = World::new();
    world.run(100);
    let max_flows = world.bench.proxy.config().max_flows;
    let syn = TcpHeader { seq: SeqNumber(FIRST), flags: TcpFlags::SYN, ..TcpHeader::default() };
    for port in 1..=(max_flows + 5000) as u16 {
        world.bench.proxy.handle_data(world.now, crate::support::flow_number(port), &syn, 0, 1);
        while world.bench.proxy.poll_verdict().is_some() {}
    }
    assert_eq!(world.bench.proxy.flow_count(), max_flows as usize);
    let opaque = world.bench.proxy.counters().opaque_packets;
    let late = crate::support::flow_number(60_000);
    world.bench.proxy.handle_data(world.now, late, &syn, 0, 1);
    assert!(world.bench.proxy.flow_status(&late).is_some());
    assert_eq!(world.bench.proxy.counters().opaque_packets, opaque, "none was carried whole");
    world.run(200);
    assert!(world.bench.proxy.flow_status(&crate::support::flow_number(1)).is_none(), "the oldest went");
}

/// A proxy as published with one link, and packets that nobody ever acknowledges.
fn flood(packets: impl Iterator<Item = (u16, u32)>) -> Proxy<u64> {
    let mut proxy = Proxy::new(ProxyConfig::paper());
    let now = Instant::from_secs(1);
    proxy.join(now, LinkId(0), LinkConfig::default());
    for (port, seq) in packets {
        proxy.handle_data(now, crate::support::flow_number(port), &data(seq), 40, FORGED);
        while proxy.poll_verdict().is_some() {}
    }
    proxy
}

/// Packets without end over many flows, never answered: what is kept of them is bounded in all, not for each flow only.
#[test]
fn memory_is_bounded_over_all_flows() {
    const EACH: u32 = 16_000;
    let proxy = flood((1..=90).flat_map(|port| (0..EACH).map(move |packet| (port, FIRST + 40 * packet))));
    let memory_bytes = proxy.flow_memory_bytes();
    assert!(memory_bytes < 32 << 20, "{memory_bytes} bytes for {} packets", 90 * EACH);
}

/// One segment again and again.
#[test]
fn a_segment_repeated_without_end_takes_no_more_memory() {
    let repeated = |times| flood((0..times).map(|_| (1, FIRST))).flow_memory_bytes();
    let (some, many) = (repeated(40_000), repeated(400_000));
    assert!(many <= some && some < 1 << 20, "{some} {many}");
}
