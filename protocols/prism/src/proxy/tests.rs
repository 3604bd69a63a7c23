//! What is different where many flows wait for the room of full links.
use super::Proxy;
use crate::config::{LinkConfig, ProxyConfig};
use crate::flow::Flow;
use crate::flow::held::HeldAck;
use crate::flow::history::PacketState;
use crate::flow::receiver_model::Range;
use crate::ids::LinkId;
use crate::micros::Micros;
use crate::reverse_path::{delivery, losses, tail_probe};
use crate::shared::{MANY_WAITING, Shared};
use crate::verdict::{DropReason, Verdict};
use crate::{pacing, spurious, transmit, window_limit};
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr};
use prismux_units::{Duration, Instant};
use prismux_wire::{FlowKey, SeqNumber, TcpFlags, TcpHeader};

/// First sequence number of data, and what a packet takes.
const FIRST: u32 = 1000;
const PACKET: u32 = 1400;
/// Bytes that a link may have in flight before anything is known of it.
const FIRST_CAP: u64 = 14_480;

const fn key(number: u32) -> FlowKey {
    FlowKey {
        source: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        destination: IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7)),
        source_port: 80,
        destination_port: 5000 + number as u16,
        protocol: 6,
    }
}

fn header(seq: u32) -> TcpHeader {
    TcpHeader { seq: SeqNumber(seq), flags: TcpFlags::ACK, window: 1000, ..TcpHeader::default() }
}

fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

/// What flows share, so many of which wait, over so many links.
fn shared(waiting: usize, links: u8) -> Shared<u32> {
    let mut shared = Shared::new(ProxyConfig::default());
    for link in (0..links).map(LinkId) {
        shared.links.join(Instant::ZERO, link, LinkConfig::default(), &ProxyConfig::default());
    }
    shared.pacer.waiting.extend(1000..1000 + waiting as u32);
    shared
}

/// A connection that both ends know of, with so many packets in flight.
fn flow(packets: u32, shared: &mut Shared<u32>) -> Flow<u32> {
    let mut flow = Flow::new(Instant::ZERO, key(0), 0);
    flow.open(SeqNumber(FIRST));
    flow.evidence.confirmed = true;
    for start in (0..packets).map(|number| SeqNumber(FIRST + number * PACKET)) {
        transmit::add(&mut flow, start, start + PACKET, LinkId(0), shared, Instant::ZERO);
    }
    flow.sent_end = Some(SeqNumber(FIRST + packets * PACKET));
    flow
}

#[test]
fn none_goes_first_where_a_fair_share_is_less_than_a_segment() {
    let has_room = |waiting: usize| {
        let mut shared = shared(waiting, 1);
        flow((FIRST_CAP / u64::from(PACKET)) as u32, &mut shared);
        let poor = flow(0, &mut shared);
        pacing::has_room(&poor, u64::from(PACKET), &shared)
    };
    assert!(has_room(4), "it has less than a quarter of what the link holds");
    assert!(!has_room(100), "as the other ninety-nine it has nothing under way, and the link is full");
}

#[test]
fn no_ack_leaves_for_having_waited_its_turn() {
    let leaves = |waiting: usize, moved_at: u64| {
        let mut shared = shared(waiting, 1);
        let mut flow = flow(12, &mut shared);
        let ack = HeldAck::new(SeqNumber(FIRST + PACKET), &header(0), None, 0, Micros::at(at(1)), 0);
        flow.acks.push(ack);
        (shared.pacer.turn_of, shared.pacer.moved_at) = (Some(0), at(moved_at));
        pacing::release_ready(&mut flow, &mut shared, at(11));
        flow.acks.is_empty()
    };
    assert!(leaves(3, 11), "ten seconds are too long for one of few");
    assert!(!leaves(MANY_WAITING + 1, 11), "others have been served all the time");
    assert!(leaves(MANY_WAITING + 1, 5), "nobody was served for six seconds: the books are wrong");
}

/// Bytes by which the window of one of so many senders is open, over links of so many bytes per second.
fn window(senders: u32, rate: f64, mss_clamp: Option<u16>, shift: u8) -> u32 {
    let mut shared = shared(MANY_WAITING + 1, 1);
    shared.config.mss_clamp = mss_clamp;
    (shared.totals.senders, shared.pacer.rate, shared.selection.flight_limit) = (senders, rate, Some(1));
    let mut flow = Flow::<u32>::new(Instant::ZERO, key(0), 0);
    flow.window.on_sender_syn(true);
    flow.window.on_receiver_syn(Some(shift));
    let edge = window_limit::edge_limit(&flow, SeqNumber(FIRST), &shared);
    edge.map_or(0, |edge| edge.0 - FIRST)
}

#[test]
fn windows_of_many_are_what_the_proxy_can_keep_and_links_pass_in_time() {
    let clamped = Some(1436);
    assert_eq!(window(100, 1e9, clamped, 0), 20 * 1460);
    // 65,536 copies.
    assert_eq!(window(20_000, 1e9, clamped, 0), 3 * 1460);
    // Half a second of the links: 1460 bytes twice for each.
    assert_eq!(window(100, 584_000.0, clamped, 0), 2 * 1460);
    assert_eq!(window(100, 1.0, clamped, 0), 1460, "one segment at least");
    assert_eq!(window(100, 1.0, clamped, 14), 1 << 14, "or what the window field can say");
    assert_eq!(window(100, 1.0, None, 0), 8960, "or what may be a segment where nothing clamps it");
}

#[test]
fn one_of_many_that_has_nothing_under_way_is_not_modest() {
    let share_bytes = |waiting: usize| {
        let mut shared = shared(waiting, 1);
        flow(10, &mut shared);
        shared.note_backlog();
        shared.links.share_bytes
    };
    assert_eq!(share_bytes(10), u64::from(PACKET));
    assert_eq!(share_bytes(100), 0);
}

#[test]
fn a_probe_of_one_of_many_goes_over_one_link_and_the_next_waits_longer() {
    let probes = |waiting: usize| {
        let mut shared = shared(waiting, 10);
        let mut flow = flow(1, &mut shared);
        flow.copies.keep(SeqNumber(FIRST), PACKET as u16, &7, &mut shared.totals.copies, 100);
        let mut now = at(10);
        let mut copies = Vec::new();
        for _ in 0..5 {
            flow.last_activity = now;
            tail_probe::send(&mut flow, &mut shared, now);
            copies.push(shared.verdicts.len());
            shared.verdicts.clear();
            now += flow.tail_probe.sent.map_or(Duration::ZERO, |(_, interval)| interval);
        }
        (copies, flow.tail_probe.sent.map(|(_, interval)| interval))
    };
    assert_eq!(probes(1), ([8; 5].to_vec(), Some(Duration::from_secs(1))));
    assert_eq!(probes(MANY_WAITING + 1), ([1; 5].to_vec(), Some(Duration::from_secs(4))));
}

#[test]
fn what_can_be_in_flight_no_longer_takes_no_room_from_many() {
    let kept = |waiting: usize, has_copy: bool, seconds: u64| {
        let mut shared = shared(waiting, 1);
        let mut flow = flow(1, &mut shared);
        if has_copy {
            flow.copies.keep(SeqNumber(FIRST), PACKET as u16, &7, &mut shared.totals.copies, 100);
        }
        losses::forget_unheard(&mut flow, &mut shared, at(seconds));
        let in_flight = flow.history.get(0).state() == PacketState::InFlight;
        assert_eq!(
            [flow.bytes_out, shared.links.in_flight_bytes()],
            [u64::from(PACKET) * u64::from(in_flight); 2]
        );
        assert_eq!(shared.counters.losses_detected, 0, "no link is to blame");
        in_flight
    };
    assert!(!kept(MANY_WAITING + 1, false, 20));
    assert!(kept(MANY_WAITING + 1, false, 2), "it may still arrive");
    assert!(kept(MANY_WAITING + 1, true, 20), "the receiver is asked by a probe");
    assert!(kept(MANY_WAITING, false, 20), "few go on as they did");
}

#[test]
fn what_waits_its_turn_among_many_is_not_sent_once_more_for_that() {
    let goes_out = |waiting: usize| {
        let mut shared = shared(waiting, 1);
        let mut flow = flow(2, &mut shared);
        flow.receiver
            .iter_mut()
            .for_each(|receiver| receiver.advance(SeqNumber(FIRST + PACKET), &mut Vec::new()));
        let ack = HeldAck::new(SeqNumber(FIRST + PACKET), &header(0), None, 0, Micros::at(at(1)), 0);
        flow.acks.push(ack);
        !spurious::is_spurious(&flow, SeqNumber(FIRST), SeqNumber(FIRST + PACKET), &shared, at(6))
    };
    assert!(goes_out(MANY_WAITING), "one of few whose ACK has waited for five seconds");
    assert!(!goes_out(MANY_WAITING + 1));
}

#[test]
fn a_copy_of_what_has_arrived_makes_room_where_copies_are_scarce() {
    let kept = |budget: u32| {
        let mut shared = shared(1, 1);
        shared.config.repair_budget_packets = budget;
        let mut flow = flow(2, &mut shared);
        let second = Range { start: SeqNumber(FIRST + PACKET), end: SeqNumber(FIRST + 2 * PACKET) };
        for start in [SeqNumber(FIRST), second.start] {
            flow.copies.keep(start, PACKET as u16, &7, &mut shared.totals.copies, 100);
        }
        shared.buffers.new.push(second);
        delivery::account(&mut flow, &mut shared, at(1));
        assert!(flow.copies.has(SeqNumber(FIRST)), "it may have to be sent again");
        flow.copies.has(second.start)
    };
    assert!(kept(100) && !kept(3));
}

/// A proxy with one link and so many connections, of each of which a packet comes at once.
fn crowd(flows: u32, copies: u32) -> (Proxy<u32>, Vec<Verdict<u32>>) {
    let mut proxy = Proxy::new(ProxyConfig { repair_budget_packets: copies, ..ProxyConfig::default() });
    proxy.join(Instant::ZERO, LinkId(0), LinkConfig::default());
    for number in 0..flows {
        proxy.handle_data(at(1), key(number), &header(FIRST), PACKET, number);
    }
    let said = core::iter::from_fn(|| proxy.poll_verdict()).collect();
    (proxy, said)
}

#[test]
fn data_that_finds_no_room_to_wait_is_no_burden_of_full_links() {
    let (proxy, said) = crowd(300, 150);
    let forwarded = said.iter().filter(|verdict| matches!(verdict, Verdict::Forward { .. })).count();
    let dropped = said
        .iter()
        .filter(|verdict| matches!(verdict, Verdict::Drop { reason: DropReason::NoRoom, .. }))
        .count();
    assert_eq!(forwarded as u64, 4 * FIRST_CAP / u64::from(PACKET), "four times the cap of new data");
    assert_eq!(dropped, 150, "copies are kept of the others");
    assert_eq!(proxy.counters().dropped_no_room, 150);
    // A sender finds out by its timer. Links are as full as before, and its packet is no more welcome than then.
    let mut proxy = proxy;
    proxy.handle_data(at(2), key(299), &header(FIRST), PACKET, 299);
    assert!(matches!(proxy.poll_verdict(), Some(Verdict::Drop { reason: DropReason::NoRoom, .. })));
}

#[test]
fn packets_that_wait_do_not_stand_in_line_with_acks() {
    let (mut proxy, said) = crowd(150, 1000);
    let waiting = proxy.shared.pacer.waiting.len();
    assert_eq!(waiting, 150 - said.len());
    // A thousand flows whose ACKs wait are before them.
    let of_others = 10_000..11_000;
    let places = of_others.chain(proxy.shared.pacer.waiting.drain(..)).collect();
    proxy.shared.pacer.waiting = places;
    // Of what is on the link a part arrives.
    for number in 0..30 {
        let ack = TcpHeader { ack: SeqNumber(FIRST + PACKET), ..header(0) };
        proxy.handle_reverse(at(1) + Duration::from_millis(50), key(number), &ack, 0, 1000 + number);
    }
    let said = core::iter::from_fn(|| proxy.poll_verdict());
    let forwarded = said.filter(|verdict| matches!(verdict, Verdict::Forward { .. })).count();
    assert!(forwarded > 0, "there is room, and nothing goes out");
}
