//! Schedulers from outside that let packets wait.
use crate::support::{Bench, ack, at};
use prismux_prism::link_table::LinkTable;
use prismux_prism::scheduler::{Choice, PacketView, Scheduler};
use prismux_prism::{LinkId, ProxyConfig};
use prismux_units::Instant;
use std::sync::{Arc, Mutex};

const FIRST: u32 = 1000;
const PACKET: u32 = 1000;

/// Answers as its function does, and remembers what it was asked.
struct Asked<F> {
    answer: F,
    packets: Arc<Mutex<Vec<(Instant, PacketView)>>>,
}

impl<F> std::fmt::Debug for Asked<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Asked")
    }
}

impl<F: FnMut(Instant) -> Choice + Send> Scheduler for Asked<F> {
    fn choose(&mut self, now: Instant, _links: &LinkTable, packet: &PacketView) -> Choice {
        self.packets.lock().unwrap().push((now, *packet));
        (self.answer)(now)
    }
}

type Packets = Arc<Mutex<Vec<(Instant, PacketView)>>>;

/// A proxy with two links whose scheduler answers so, after the handshake.
fn bench(config: ProxyConfig, answer: impl FnMut(Instant) -> Choice + Send + 'static) -> (Bench, Packets) {
    let (mut bench, packets) = (Bench::new(config, &[1000, 1000]), Packets::default());
    bench.proxy.set_scheduler(Box::new(Asked { answer, packets: packets.clone() }));
    bench.handshake(at(0), FIRST, 7);
    packets.lock().unwrap().clear();
    (bench, packets)
}

fn modern() -> ProxyConfig {
    ProxyConfig { standby: false, ..ProxyConfig::default() }
}

const SECOND: LinkId = LinkId(1);

#[test]
fn a_packet_waits_as_long_as_its_scheduler_says_and_what_follows_waits_behind_it() {
    let until = at(60);
    let answer = move |now| if now < until { Choice::Wait(until) } else { Choice::Over(SECOND) };
    let (mut bench, packets) = bench(modern(), answer);
    assert_eq!(bench.send(at(20), FIRST, PACKET), None);
    assert_eq!(packets.lock().unwrap().len(), 1, "asked once, not again in the same moment");
    assert_eq!(bench.send(at(30), FIRST + PACKET, PACKET), None);
    assert_eq!(bench.run_timers(at(59)).forwarded, []);
    // One behind the other, at the pace of the link.
    let said = bench.run_timers(at(100));
    let both = [(u64::from(FIRST), SECOND), (u64::from(FIRST + PACKET), SECOND)];
    assert_eq!((said.forwarded.as_slice(), said.dropped.len()), (both.as_slice(), 0));
    // Nothing waits any more: the next packet leaves at once.
    assert_eq!(bench.send(at(150), FIRST + 2 * PACKET, PACKET), Some(SECOND));
}

#[test]
fn an_ack_brings_the_question_again() {
    let mut asked = 0;
    let answer = move |_| {
        asked += 1;
        // The SYN-ACK, a packet, and the one that waits.
        if asked == 3 { Choice::Wait(Instant::MAX) } else { Choice::Over(SECOND) }
    };
    let (mut bench, _) = bench(modern(), answer);
    assert_eq!(bench.send(at(20), FIRST, PACKET), Some(SECOND));
    assert_eq!(bench.send(at(21), FIRST + PACKET, PACKET), None);
    let said = bench.ack(at(40), &ack(FIRST + PACKET, &[]), 1);
    assert_eq!(said.forwarded, [(u64::from(FIRST + PACKET), SECOND)]);
}

#[test]
fn no_packet_waits_beyond_its_deadline() {
    let (mut bench, packets) = bench(modern(), |_| Choice::Wait(Instant::MAX));
    assert_eq!(bench.send(at(20), FIRST, PACKET), None);
    let (asked_at, packet) = packets.lock().unwrap()[0];
    let deadline = packet.deadline.expect("it may wait");
    assert!(deadline > asked_at && deadline <= at(20 + 200), "{deadline}: before any sender repeats it");
    let just_before = Instant::from_nanos(deadline.as_nanos() - 1_000_000);
    assert_eq!(bench.run_timers(just_before).forwarded, []);
    let said = bench.run_timers(deadline + prismux_units::Duration::from_millis(1));
    assert_eq!(said.forwarded.len(), 1, "it leaves over the quickest link");
}

#[test]
fn a_proxy_that_keeps_no_packets_lets_none_wait() {
    let (mut bench, packets) = bench(ProxyConfig::paper(), |_| Choice::Wait(Instant::MAX));
    assert!(bench.send(at(20), FIRST, PACKET).is_some());
    assert_eq!(packets.lock().unwrap()[0].1.deadline, None);
}

#[test]
fn a_scheduler_sees_the_connection_its_sequence_numbers_and_its_window() {
    let (mut bench, packets) = bench(modern(), |_| Choice::Over(SECOND));
    bench.send(at(20), FIRST, PACKET);
    bench.send(at(21), FIRST + PACKET, PACKET);
    let packets = packets.lock().unwrap();
    let of = |index: usize| packets[index].1;
    assert_eq!(of(0).flow, crate::support::flow());
    assert_eq!([of(0).seq.0, of(1).seq.0], [FIRST, FIRST + PACKET]);
    assert_eq!([of(0).flow_in_flight_bytes, of(1).flow_in_flight_bytes], [0, u64::from(PACKET)]);
    // The receiver's ACK offered 1000 << 7 bytes.
    assert_eq!([of(0).window_bytes, of(1).window_bytes], [Some(127_000), Some(126_000)]);
}
